"""Ensemble: r base clusterings of the same n objects, validated once and never changed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.core.checks import (
    allowed,
    check_clustering_names,
    check_columns,
    check_memberships,
    check_names,
    check_shape,
)
from partita.core.coding import NOTHING_SAID, Label, MissingRule, code_integers
from partita.core.distinct import Distinct, distinct_rows
from partita.core.errors import Note, TableError
from partita.core.fields import check_counts, check_ids, check_weights, fingerprint
from partita.core.showing import ensemble_html
from partita.core.suggest import suggests_names
from partita.core.tables import as_table, code_table
from partita.core.types import MISSING, FloatArray, FrozenArrays, IntArray, frozen


@dataclass(frozen=True, eq=False)
class Ensemble(FrozenArrays):
    """r base clusterings of the same n objects. Build it with `from_labels`; it never changes.

    >>> ensemble = Ensemble.from_labels([["a", 1], ["a", 2], ["b", None]])
    >>> ensemble.labels.tolist(), ensemble.sizes, ensemble.classes
    ([[0, 0], [0, 1], [1, -1]], (2, 2), (('a', 'b'), (1, 2)))
    """

    labels: IntArray
    """(n, r), read-only, in the smallest type; column j holds 0..sizes[j]-1, MISSING where unobserved."""
    sizes: tuple[int, ...]
    """Labels per column; `rows` keeps them, so every part of a split table agrees on shapes."""
    names: tuple[str, ...]
    """Column names, for messages and reports."""
    classes: tuple[tuple[Label, ...], ...]
    """Per column, the original value of each code."""
    weights: FloatArray
    """(r,) how much each clustering counts."""
    ids: NDArray[Any] | None = None
    """(n,) what the objects are called."""
    multiplicity: FloatArray | None = None
    """(n,) how many objects each row stands for; None when each stands for one."""
    missing: MissingRule = NOTHING_SAID
    """Which label values mean unobserved, for tables of new objects."""
    notes: tuple[Note, ...] = ()
    """Findings of the checks of the input, which were issued as warnings."""
    id_name: str = "id"
    """Name of the column that held the ids."""

    @classmethod
    @suggests_names
    def from_labels(
        cls,
        table: Any,
        names: Sequence[str] | None = None,
        *,
        weights: Any = None,
        ids: Any = None,
        missing: Any = None,
        transpose: bool | None = None,
        allow: Any = (),
    ) -> "Ensemble":
        """Create an ensemble from a table of labels: check it and encode its columns.

        Parameters
        ----------
        table : array, nested list, mapping of columns, or dataframe (pandas, polars, Arrow)
            One row per object, one column per clustering. Labels are integers, strings, booleans or categories. None,
            NaN, masked values of NumPy arrays and the strings "", NA, N/A, NaN, null, None are missing labels.
        names : list of str, optional
            Names of the clusterings. Default: the names of the columns, or c0, c1, …
        weights : sequence or mapping of float, optional
            Weight of each clustering, at least 0, in order or by name. Default: 1.
        ids : sequence, or str, optional
            Ids of the objects, or the name of the column that holds them. The index of a pandas dataframe is used if it
            does not just count the rows. With `transpose=True` also the column with the names of the clusterings.
        missing : label or list of labels, optional
            Values that mean a missing label, such as -1. `()` declares that there is none.
        transpose : bool, optional
            True if the clusterings are in rows. False confirms that they are in columns. Default: they are in columns,
            but a table with more columns than rows is reported.
        allow : str or list of str, default ()
            Codes of checks to switch off: "id-like-column", "transposed", "partita-output", "memberships" (errors),
            "more-columns-than-rows", "looks-like-features", "all-missing-column", "constant-column" (warnings). See
            docs/checks.md.

        Returns
        -------
        Ensemble
            Its `notes` repeat the warnings that were issued.

        Raises
        ------
        CheckError
            If a column looks like ids, if the table looks transposed, or if it is output of Partita.

        Examples
        --------
        >>> table = {"customer": ["x", "y", "z"], "region": ["n", "s", "s"], "spending": [1, 2, 2]}
        >>> ensemble = Ensemble.from_labels(table, ids="customer")
        >>> ensemble.names, ensemble.ids.tolist()
        (('region', 'spending'), ['x', 'y', 'z'])
        """
        skipped = allowed(allow)
        found = as_table(table)
        if transpose is True:
            if isinstance(ids, str) and ids in found.names:
                found, ids = found.with_row_names(ids), None
            if found.ids is None and found.matrix is None:
                check_clustering_names(found.names, found.lists(), skipped)
            found = found.turned()
        found = found.renamed(names)
        id_name = found.id_name
        if isinstance(ids, str):
            id_name = ids
            found, ids = found.without(ids)
        check_names(found.names, skipped)
        check_memberships(found.names, found.columns, skipped)
        checked_weights = check_weights(weights, found.names)
        notes = check_shape(found.rows, int((checked_weights > 0).sum()), transpose, skipped)
        checked_ids = check_ids(found.ids if ids is None else ids, found.rows)
        rule = MissingRule.of(missing)
        labels, classes = code_table(found, rule)
        sizes = tuple(len(column) for column in classes)
        notes += check_columns(found.names, labels, classes, checked_weights, skipped)
        fields: dict[str, Any] = {"missing": rule, "notes": tuple(notes), "id_name": id_name}
        return cls(labels, sizes, found.names, classes, checked_weights, checked_ids, **fields)

    def __len__(self) -> int:
        return int(self.labels.shape[0])

    def __repr__(self) -> str:
        share = f", {self.missing_share:.1%} missing" if self.missing_share else ""
        return f"Ensemble({len(self)} objects, {len(self.names)} clusterings of {_span(self.sizes)} labels{share})"

    def _repr_html_(self) -> str:
        return ensemble_html(self)

    @cached_property
    def missing_share(self) -> float:
        """The share of cells that are unobserved."""
        return float(np.count_nonzero(self.labels == MISSING) / max(self.labels.size, 1))

    @cached_property
    def counts(self) -> FloatArray:
        """(n,) how many objects each row stands for."""
        if self.multiplicity is not None:
            return self.multiplicity
        return frozen(np.ones(len(self)))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """(r + 1,) where each column's labels begin among the t labels of all columns."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @cached_property
    def distinct(self) -> Distinct:
        """The distinct rows and the way back, found once."""
        return distinct_rows(self.labels)

    @cached_property
    def fingerprint(self) -> str:
        """Names the data whatever the labels and columns are called: equal for equal partitions, weights and counts."""
        labels, _ = code_integers(self.labels, MISSING, self.names, MissingRule(said=True))
        return fingerprint("hard", labels, self.weights, self.multiplicity)

    def rows(self, index: Any) -> "Ensemble":
        """The same clusterings of some of the objects; codes and sizes stay."""
        index = [index] if isinstance(index, (int, np.integer)) else index
        ids = None if self.ids is None else frozen(self.ids[index])
        counts = None if self.multiplicity is None else frozen(self.multiplicity[index])
        return replace(self, labels=frozen(self.labels[index]), ids=ids, multiplicity=counts)

    def columns(self, index: Any) -> "Ensemble":
        """Some of the clusterings of the same objects, by position or by name."""
        picks = chosen_places(index, self.names)
        return replace(
            self,
            labels=frozen(np.ascontiguousarray(self.labels[:, picks])),
            sizes=tuple(self.sizes[j] for j in picks),
            names=tuple(self.names[j] for j in picks),
            classes=tuple(self.classes[j] for j in picks),
            weights=check_weights(self.weights[picks], [self.names[j] for j in picks]),
            notes=(),
        )

    def with_counts(self, counts: Any) -> "Ensemble":
        """The same rows, each standing for `counts[i]` objects; equal to a table with the rows repeated."""
        return replace(self, multiplicity=check_counts(counts, len(self)))


def chosen_places(index: Any, names: tuple[str, ...]) -> list[int]:
    """Positions of clusterings given by position, by name, or by a mask."""
    given = np.asarray(index)
    if given.dtype == bool and given.shape == (len(names),):
        index = np.flatnonzero(given).tolist()
    places, place_of = [], {name: j for j, name in enumerate(names)}
    for pick in index:
        place = place_of.get(pick, pick) if isinstance(pick, str) else pick
        if isinstance(place, (str, bool, np.bool_)) or not -len(names) <= int(place) < len(names):
            raise TableError(f"there is no clustering {pick!r}; there are {len(names)}: {', '.join(names[:8])}")
        places.append(int(place))
    if not places:
        raise TableError("no clustering was chosen; give at least one")
    return places


def _span(sizes: Sequence[int]) -> str:
    return str(min(sizes)) if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
