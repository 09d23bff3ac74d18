"""SoftEnsemble: base clusterings given as memberships, also mixed with hard ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from partita.core.checks import SUM_TOLERANCE, allowed, check_blocks, check_shape
from partita.core.coding import Label, MissingRule
from partita.core.distinct import Distinct, distinct_rows
from partita.core.ensemble import Ensemble, chosen_places
from partita.core.errors import CheckError, LabelError, Note, ParameterError, TableError
from partita.core.fields import check_counts, check_ids, check_weights, fingerprint
from partita.core.showing import ensemble_html
from partita.core.suggest import suggests_names
from partita.core.tables import as_table, code_table
from partita.core.texts import WAY_OUT, first_invalid
from partita.core.types import MISSING, BoolArray, FloatArray, FrozenArrays, filled, frozen, is_sequence, smallest_type
from partita.core.ways_out import MEMBERSHIPS, offering


@dataclass(frozen=True, eq=False)
class SoftEnsemble(FrozenArrays):
    """r base clusterings as memberships. Build it with `from_memberships` or `from_hard`; it never changes.

    >>> soft = SoftEnsemble.from_memberships({"a": [[0.9, 0.1], [0.2, 0.8]], "b": ["x", None]})
    >>> soft.matrix.tolist(), soft.sizes
    ([[0.9, 0.1, 1.0], [0.2, 0.8, 0.0]], (2, 1))
    """

    matrix: FloatArray
    """(n, t), read-only: the blocks side by side, rows of a block sum to 1, or are 0 where unobserved."""
    sizes: tuple[int, ...]
    names: tuple[str, ...]
    classes: tuple[tuple[Label, ...], ...]
    weights: FloatArray
    ids: NDArray[Any] | None = None
    multiplicity: FloatArray | None = None
    notes: tuple[Note, ...] = ()
    """Findings of the checks of the input, which were issued as warnings."""
    id_name: str = "id"
    """Name of the column that held the ids."""

    @classmethod
    @suggests_names
    def from_memberships(
        cls,
        blocks: Mapping[str, Any] | Sequence[Any],
        names: Sequence[str] | None = None,
        *,
        weights: Any = None,
        ids: Any = None,
        missing: Any = None,
        allow: Any = (),
    ) -> "SoftEnsemble":
        """The only way in for memberships: one (n, k_j) matrix a clustering, or one list of n labels for a hard one.

        An all-NaN or all-zero row is unobserved. Other rows must be non-negative and sum to 1 (to within 0.001, so that
        rounded files pass; they are then scaled to sum to 1). `missing` and `allow` are as in `Ensemble.from_labels`:
        a list of labels that are all different is an error, clusterings without labels or with one cluster are
        reported in a warning.
        """
        skipped = allowed(allow)
        called, found = _named(blocks, names)
        rule = MissingRule.of(missing)
        parts = [_block(values, name, rule) for values, name in zip(found, called, strict=True)]
        lengths = {len(part) for part, _ in parts}
        if len(lengths) > 1 or lengths == {0}:
            raise TableError(f"the clusterings have {sorted(lengths)} objects; give memberships of the same objects")
        weights = check_weights(weights, called)
        used = np.flatnonzero(weights > 0)
        with offering(MEMBERSHIPS):
            notes = check_shape(lengths.pop(), len(used), None, skipped)
            notes += check_blocks([called[j] for j in used], [parts[j][0] for j in used], skipped)
        matrix = np.concatenate([part for part, _ in parts], axis=1)
        return cls(
            frozen(matrix),
            tuple(part.shape[1] for part, _ in parts),
            called,
            tuple(classes for _, classes in parts),
            weights,
            check_ids(ids, len(matrix)),
            notes=tuple(notes),
        )

    @classmethod
    def from_hard(cls, ensemble: Ensemble) -> "SoftEnsemble":
        """A hard ensemble as a soft one with one-hot rows."""
        blocks = [_one_hot(ensemble.labels[:, j], size) for j, size in enumerate(ensemble.sizes)]
        matrix = frozen(np.concatenate(blocks, axis=1))
        fields = (
            ensemble.sizes,
            ensemble.names,
            ensemble.classes,
            ensemble.weights,
            ensemble.ids,
            ensemble.multiplicity,
        )
        return cls(matrix, *fields, notes=ensemble.notes, id_name=ensemble.id_name)

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __repr__(self) -> str:
        share = f", {self.missing_share:.1%} missing" if self.missing_share else ""
        return f"SoftEnsemble({len(self)} objects, {len(self.names)} clusterings of {list(self.sizes)} clusters{share})"

    def _repr_html_(self) -> str:
        return ensemble_html(self)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """(r + 1,) where each clustering's block of columns begins and ends."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    def block(self, j: int) -> FloatArray:
        """The memberships (n, k_j) of clustering j."""
        return self.matrix[:, self.offsets[j] : self.offsets[j + 1]]

    @cached_property
    def known(self) -> BoolArray:
        """(n, r) where something is known of an object in a clustering."""
        return frozen(np.stack([self.block(j).any(axis=1) for j in range(len(self.names))], axis=1))

    @cached_property
    def is_one_hot(self) -> bool:
        """True if every membership is 0 or 1."""
        return bool(((self.matrix == 0) | (self.matrix == 1)).all())

    @cached_property
    def missing_share(self) -> float:
        """The share of (object, clustering) pairs that are unobserved."""
        return float(1 - self.known.mean())

    @cached_property
    def counts(self) -> FloatArray:
        """(n,) how many objects each row stands for."""
        if self.multiplicity is not None:
            return self.multiplicity
        return frozen(np.ones(len(self)))

    @cached_property
    def distinct(self) -> Distinct:
        """The distinct rows and the way back, found once."""
        return distinct_rows(self.matrix)

    @cached_property
    def fingerprint(self) -> str:
        """Names the data: equal for equal memberships, weights and counts."""
        return fingerprint(f"soft {self.sizes}", self.matrix, self.weights, self.multiplicity)

    def columns(self, index: Any) -> "SoftEnsemble":
        """Some of the clusterings of the same objects, by position or by name."""
        picks = chosen_places(index, self.names)
        return replace(
            self,
            matrix=frozen(np.concatenate([self.block(j) for j in picks], axis=1)),
            sizes=tuple(self.sizes[j] for j in picks),
            names=tuple(self.names[j] for j in picks),
            classes=tuple(self.classes[j] for j in picks),
            weights=check_weights(self.weights[picks], [self.names[j] for j in picks]),
            notes=(),
        )

    def harden(self) -> Ensemble:
        """The hard ensemble of likeliest labels; ties go to the lowest index."""
        picks = [
            np.where(known, self.block(j).argmax(axis=1) if self.sizes[j] else MISSING, MISSING)
            for j, known in enumerate(self.known.T)
        ]
        labels = np.stack(picks, axis=1).astype(smallest_type(max(self.sizes)))
        fields = (self.sizes, self.names, self.classes, self.weights, self.ids, self.multiplicity)
        return Ensemble(frozen(labels), *fields, notes=self.notes, id_name=self.id_name)

    def rows(self, index: Any) -> "SoftEnsemble":
        """The same clusterings of some of the objects."""
        ids = None if self.ids is None else frozen(self.ids[index])
        counts = None if self.multiplicity is None else frozen(self.multiplicity[index])
        return replace(self, matrix=frozen(self.matrix[index]), ids=ids, multiplicity=counts)

    def with_counts(self, counts: Any) -> "SoftEnsemble":
        """The same rows, each standing for `counts[i]` objects."""
        return replace(self, multiplicity=check_counts(counts, len(self)))


AnyEnsemble: TypeAlias = Ensemble | SoftEnsemble
"""Hard or soft: what most of the library takes."""


def hard_if_one_hot(ensemble: AnyEnsemble) -> AnyEnsemble:
    """Return a soft ensemble whose memberships are all 0 or 1 as a hard one, and any other ensemble as it is."""
    return ensemble.harden() if isinstance(ensemble, SoftEnsemble) and ensemble.is_one_hot else ensemble


def as_ensemble(table: Any, **reading: Any) -> Ensemble | SoftEnsemble:
    """Return an ensemble as it is, and any other table by `Ensemble.from_labels` with the options in `reading`."""
    if not isinstance(table, (Ensemble, SoftEnsemble)):
        try:
            return Ensemble.from_labels(table, **reading)
        except CheckError as error:
            if reading:
                raise
            raise error.reworded(
                f"{error}; set these options in partita.Ensemble.from_labels and give its result in place of the table"
            ) from None
    given = [
        name for name, value in reading.items() if value is not None and not (isinstance(value, tuple) and not value)
    ]
    if given:
        raise ParameterError(
            f"{given[0]}= is an option for reading a table, but an {type(table).__name__} was given; set it in "
            "Ensemble.from_labels or partita.read"
        )
    return table


def _named(blocks: Any, names: Any) -> tuple[tuple[str, ...], list[Any]]:
    """The clusterings and what they are called."""
    if not isinstance(blocks, Mapping) and (
        isinstance(blocks, (str, bytes))
        or hasattr(blocks, "toarray")
        or not hasattr(blocks, "__len__")
        or getattr(blocks, "shape", (1,)) == ()
    ):
        raise TableError("memberships come as a list or a mapping of clusterings; give one matrix a clustering")
    found = list(blocks.values()) if isinstance(blocks, Mapping) else list(blocks)
    if not found:
        raise TableError("no clustering was given; give one membership matrix or list of labels a clustering")
    given = list(blocks) if isinstance(blocks, Mapping) and names is None else names
    if given is not None and not (is_sequence(given) and all(isinstance(name, (str, int)) for name in given)):
        raise TableError(f"names={names!r} is not a list of names; give one name a clustering")
    called = tuple(map(str, given)) if given is not None else tuple(f"c{j}" for j in range(len(found)))
    bad = first_invalid(called)
    if bad is not None:
        raise TableError(f"the name of clustering {bad + 1} has an invalid code point; {WAY_OUT}")
    if len(called) != len(found) or len(set(called)) != len(called):
        raise TableError(f"{len(found)} clusterings need {len(found)} different names; {list(called)} were given")
    return called, found


def _one_hot(codes: NDArray[Any], size: int) -> FloatArray:
    block = np.zeros((len(codes), size))
    known = np.flatnonzero(codes != MISSING)
    block[known, codes[known]] = 1.0
    return block


def _block(values: Any, name: str, rule: MissingRule) -> tuple[FloatArray, tuple[Label, ...]]:
    """One clustering as a checked membership block and its cluster names."""
    if _is_hard(values):
        labels, classes = code_table(as_table({name: values}), rule)
        return _one_hot(labels[:, 0], len(classes[0])), classes[0]
    try:
        plain = filled(values)
        if plain.dtype.kind not in "biufO":
            raise TypeError
        block = plain.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise LabelError(
            f"clustering {name!r}: memberships are numbers, one row an object and one column a cluster"
        ) from None
    if block.ndim != 2 or 0 in block.shape:
        raise LabelError(
            f"clustering {name!r}: memberships of shape {block.shape}; give one row an object, one column a cluster"
        )
    return _scaled(block, name), tuple(range(block.shape[1]))


def _is_hard(values: Any) -> bool:
    """Whether a clustering comes as one label an object."""
    if hasattr(values, "shape"):
        return len(values.shape) == 1
    cells = list(values) if isinstance(values, (list, tuple)) else []
    return not any(hasattr(cell, "__len__") and not isinstance(cell, (str, bytes)) for cell in cells)


def _scaled(block: FloatArray, name: str) -> FloatArray:
    """Rows that sum to 1 exactly, 0 where unobserved; a bad row raises."""
    empty = np.isnan(block).all(axis=1) | (block == 0).all(axis=1)
    block[empty] = 0.0
    bad = ~empty & ~(np.isfinite(block) & (block >= 0)).all(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.sort(block, axis=1).sum(axis=1)  # sorted, so that the order of the clusters cannot change a bit
        off = ~empty & ~bad & (np.abs(sums - 1) > SUM_TOLERANCE)
    if bad.any():
        row = int(np.argmax(bad))
        raise LabelError(
            f"clustering {name!r}, row {row + 1}: memberships {block[row].tolist()} are not all numbers >= 0; "
            "leave every cell of the row empty if it is unobserved"
        )
    if off.any():
        row = int(np.argmax(off))
        raise LabelError(
            f"clustering {name!r}, row {row + 1}: memberships sum to {sums[row]:.6g}, not 1; divide each row by its "
            f"sum, or rename the columns if {name}:0, {name}:1, … are separate clusterings"
        )
    block /= np.where(empty, 1.0, sums)[:, None]
    return block + 0.0  # turns -0.0 into 0.0, so that equal rows have equal bytes
