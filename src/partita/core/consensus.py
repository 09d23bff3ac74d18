"""Consensus: what every method returns."""

from __future__ import annotations  # short types in help()

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from partita.core.coding import MissingRule, code_integers
from partita.core.columns import code_column
from partita.core.draws import Draws
from partita.core.errors import MissingExtraError, Note
from partita.core.fields import check_length, index_of, places_of
from partita.core.k_choice import KChoice
from partita.core.model import ColumnModel, warn_unseen
from partita.core.prepare import Prepared
from partita.core.recipe import Recipe
from partita.core.showing import consensus_html
from partita.core.soft import AnyEnsemble
from partita.core.suggest import RESULT, did_you_mean
from partita.core.types import (
    MISSING,
    FloatArray,
    FrozenArrays,
    FrozenDict,
    IntArray,
    PerCluster,
    frozen,
    smallest_type,
)


@dataclass(frozen=True, eq=False)
class Consensus(FrozenArrays):
    """Result of a consensus: one clustering of n objects, with the confidence of each assignment.

    `partita.consensus` and the other functions return it; its arrays are read-only. Clusters are numbered 0 to k - 1 by
    first appearance.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Cluster of each object; -1 for an object without a label in any clustering.
    confidence : ndarray of shape (n,) or None
        Confidence of each object in its cluster, between 0 and 1; NaN where it is not defined. It has the same
        definition for every method; see `partita.metrics.confidence`.
    second : ndarray of shape (n,) or None
        Nearest other cluster of each object, the one with the largest item consensus; -1 if there is none.
    second_item_consensus : ndarray of shape (n,) or None
        Item consensus of each object with that cluster: its mean co-association with the members; NaN if there is none.
    membership : ndarray of shape (n, k) or None
        Membership probabilities of the method's model, or shares of its vote; rows sum to 1, NaN for objects without
        labels. They are not the confidence. There may be columns of empty clusters after the k-th.
    k : int
        Number of clusters.
    sizes : ndarray of shape (k,)
        Number of objects in each cluster.
    unknown : int
        Number of objects with the label -1.
    mean_confidence : float or None
        Mean of the defined confidences.
    scores : mapping of str to float
        Agreement with the base clusterings: "anmi" is the mean NMI. Methods add scores of their own.
    agreement : tuple of mappings
        Table with a row per base clustering: "clustering", "clusters", "missing" (share of the objects), "weight" and
        "nmi" (agreement with the consensus). `pandas.DataFrame(result.agreement)` shows it, as the other tables.
    candidates : tuple of mappings
        Table with a row per candidate of a method that chooses one (`auto`, `supra`): "method", "k", "anmi",
        "covariance", "seconds", "refused" (the reason if there is no result) and "chosen".
    candidate_labels : mapping of str to ndarray of shape (n,)
        Labels of each candidate of `auto`, if `candidate_labels=True` was set.
    k_choice : KChoice or None
        The choice of k with its reason; `k_choice.table()` has the criterion for each k. None if one k was given or the
        method inferred the number of clusters.
    k_asked : int or None
        Number of clusters that was requested or chosen; None if the method inferred it.
    notes : tuple of str
        Remarks on the input and on the result. Each is a `Note` with a `code`; warnings are among them.
    detail : mapping
        Further results of the method, described in docs/methods.md and in the pages of the methods. Entries with one
        value per cluster, such as "alpha" of `bce-vb`, are in the order of the cluster numbers.
    per_object : mapping of str to ndarray of shape (n,)
        Further numbers per object, such as "association" of `mcla`.
    trace : tuple of float
        Objective after each iteration of the best run.
    converged : bool or None
        True if the iterations converged; None for a method that does not iterate.
    model : ColumnModel or None
        Model that predicts new objects; see `model.approximate`.
    recipe : Recipe or None
        Metadata to reproduce the result: method, parameters, k, seed, version, fingerprint of the input.
    ids : ndarray of shape (n,) or None
        Ids of the objects, if the input has them.
    id_name : str
        Name of the column that held the ids.
    draws : Draws or None
        Partitions sampled by `bce-gibbs` and `nbce-gibbs`.
    ensemble : Ensemble, SoftEnsemble or None
        The base clusterings. `save` stores them only if `include_ensemble=True`.

    Examples
    --------
    >>> import partita
    >>> result = partita.consensus({"a": [1, 1, 2, 2], "b": ["x", "x", "y", "y"]}, "voting", k=2)
    >>> result.labels.tolist(), result.sizes.tolist()
    ([0, 0, 1, 1], [2, 2])
    """

    labels: IntArray
    membership: FloatArray | None = None
    confidence: FloatArray | None = None
    k_asked: int | None = None
    k_choice: KChoice | None = None
    trace: tuple[float, ...] = ()
    converged: bool | None = None
    scores: Mapping[str, float] = field(default_factory=FrozenDict)
    detail: Mapping[str, Any] = field(default_factory=FrozenDict)
    per_object: Mapping[str, FloatArray] = field(default_factory=FrozenDict)
    notes: tuple[str, ...] = ()
    model: ColumnModel | None = None
    recipe: Recipe | None = None
    ids: NDArray[Any] | None = None
    id_name: str = "id"
    draws: Draws | None = None
    candidate_labels: Mapping[str, IntArray] = field(default_factory=FrozenDict)
    second: IntArray | None = None
    second_item_consensus: FloatArray | None = None
    agreement: tuple[Mapping[str, Any], ...] = ()
    candidates: tuple[Mapping[str, Any], ...] = ()
    ensemble: AnyEnsemble | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(map(Note, self.notes)))
        super().__post_init__()

    @classmethod
    def hard(cls, labels: Any, **fields: Any) -> Consensus:
        """Create a result from labels alone."""
        return cls(np.asarray(labels, dtype=np.int32), **fields)

    @classmethod
    def soft(cls, membership: FloatArray, **fields: Any) -> Consensus:
        """Create a result from memberships; each object gets its most probable cluster, ties go to the first."""
        return cls(membership.argmax(axis=1).astype(np.int32), membership=membership, **fields)

    @property
    def k(self) -> int:
        """Number of clusters."""
        return int(self.labels.max(initial=MISSING)) + 1

    @property
    def sizes(self) -> IntArray:
        """(k,) number of objects in each cluster."""
        return np.bincount(self.labels[self.labels != MISSING], minlength=self.k)

    @property
    def unknown(self) -> int:
        """Number of objects without a consensus label, because they have no label in any clustering."""
        return int(np.count_nonzero(self.labels == MISSING))

    @property
    def mean_confidence(self) -> float | None:
        """Mean confidence of the objects for which it is defined; None if there are none."""
        known = np.empty(0) if self.confidence is None else self.confidence[np.isfinite(self.confidence)]
        return float(known.mean()) if len(known) else None

    def __len__(self) -> int:
        return len(self.labels)

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError, with a suggestion for a public name; called for attributes that do not exist."""
        known = () if name.startswith("_") else [one for one in dir(type(self)) if not one.startswith("_")]
        guess = did_you_mean(name, [*known, *self.__dataclass_fields__], RESULT) if known else ""
        raise AttributeError(f"Consensus has no attribute {name!r}; {guess}help(result) lists the attributes")

    def __repr__(self) -> str:
        return "\n".join([*headline(self), *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return consensus_html(self)

    def to_arrow(self, id_name: str | None = None) -> Any:
        """Return the result as an Arrow table with one row per object.

        Parameters
        ----------
        id_name : str, optional
            Name of the column of ids. Default: its name in the input, or "id".

        Returns
        -------
        pyarrow.Table
            Columns: the ids, if there are any (as text if they have several types); "consensus" (-1 for an object
            without labels); "confidence"; "second", the nearest other cluster, and "second_item_consensus";
            "consensus:0", "consensus:1", … if the method has memberships. Values that are not defined are null. The
            metadata has the schema version, the fingerprint of the input and the recipe.

        Examples
        --------
        >>> import partita
        >>> result = partita.consensus({"who": ["x", "y", "z"], "a": [1, 1, 2], "b": [1, 1, 3]}, k=2, ids="who")
        >>> result.to_arrow().select(["who", "consensus"]).to_pydict()
        {'who': ['x', 'y', 'z'], 'consensus': [0, 0, 1]}
        """
        from partita.io.result_table import result_tables

        return next(result_tables(self, id_name=id_name))

    def to_frame(self, id_name: str | None = None) -> Any:
        """Return the result as a pandas DataFrame with one row per object and the columns of `to_arrow`.

        Parameters
        ----------
        id_name : str, optional
            Name of the column of ids. Default: its name in the input, or "id".

        Returns
        -------
        pandas.DataFrame
            For example, to add the consensus to a table: `table.merge(result.to_frame(), on="customer")`.

        Examples
        --------
        >>> import partita
        >>> result = partita.consensus({"a": [1, 1, 2], "b": [1, 1, 3]}, k=2)
        >>> result.to_frame()["consensus"].tolist()
        [0, 0, 1]
        """
        try:
            import_module("pandas")  # which to_pandas needs
        except ImportError:
            raise MissingExtraError("to_frame() needs pandas: pip install pandas, or use to_arrow()") from None
        table = self.to_arrow(id_name)
        frame = table.to_pandas()
        if self.ids is not None:  # Arrow has ids of several types as text, which would not match those of the input
            frame[table.column_names[0]] = self.ids
        return frame

    def summary(self) -> dict[str, Any]:
        """Return the result without its objects as plain values, as `partita run --json` prints them.

        Returns
        -------
        dict
            Numbers of objects and clusters, sizes, scores, mean confidence, agreement with each base clustering,
            candidates, the choice of k, notes with their codes, and the recipe.

        Examples
        --------
        >>> import partita
        >>> partita.consensus({"a": [1, 1, 2], "b": [1, 1, 3]}, k=2).summary()["cluster sizes"]
        [2, 1]
        """
        from partita.report.summary import summary

        return summary(self)

    def plot(self, ax: Any = None, *, theme: str = "light", title: str = "") -> Any:
        """Draw the result with matplotlib.

        If the result has its `ensemble`, the plot shows the base clusterings ordered by the consensus, the confidence
        of each object, and the agreement of each clustering. Otherwise, for example after `partita.load`, it shows the
        sizes of the clusters, the confidence in each, and the agreement.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; several panels divide its place. Default: a new figure.
        theme : {"light", "dark"}, default "light"
            Colors.
        title : str, optional
            Title of the plot.

        Returns
        -------
        ConsensusDisplay or ResultDisplay
            Its `figure_` is the figure; `save(path)` writes it as PNG, SVG or PDF. Notebooks show it.
        """
        from partita.report.displays.consensus import ConsensusDisplay
        from partita.report.displays.result import ResultDisplay

        if self.ensemble is not None:
            return ConsensusDisplay.from_consensus(self.ensemble, self, title).plot(ax, theme=theme)
        return ResultDisplay.from_result(self, title).plot(ax, theme=theme)

    def number_by_size(self) -> Consensus:
        """Return the same result with clusters numbered by size, the largest first; ties keep their order.

        Examples
        --------
        >>> import partita
        >>> result = partita.consensus({"a": [1, 2, 2], "b": [1, 3, 3]}, k=2)
        >>> result.labels.tolist(), result.number_by_size().labels.tolist()
        ([0, 1, 1], [1, 0, 0])
        """
        return self._numbered(np.argsort(-self.sizes, kind="stable"))

    def match_to(self, labels: Any) -> Consensus:
        """Return the same result with clusters numbered after a reference, such as an earlier consensus.

        Clusters are matched one to one with the labels of the reference so that as many objects as possible are in
        matched clusters. A cluster that matches label l of the reference gets the number l if the reference has the
        labels 0, 1, …, and otherwise the position of l in the order of first appearance. Clusters without a match, and
        those whose number is not below k, get the free numbers in order.

        Parameters
        ----------
        labels : Consensus or array-like of shape (n,)
            Reference labels of the same objects; -1, None and NaN are missing. If the result has ids, and the reference
            is a result with ids or a pandas Series with an index, objects are matched by id.

        Returns
        -------
        Consensus
            With labels, memberships, `second`, model and the entries of `detail` that have one value per cluster
            renumbered.

        Examples
        --------
        >>> import partita
        >>> result = partita.consensus({"a": [1, 1, 2, 2], "b": [1, 1, 3, 3]}, k=2)
        >>> result.match_to([1, 1, 0, 0]).labels.tolist()
        [1, 1, 0, 0]
        """
        from scipy.optimize import linear_sum_assignment  # takes a tenth of a second to import

        reference = labels.labels if isinstance(labels, Consensus) else reference_codes(labels)
        others = labels.ids if isinstance(labels, Consensus) else index_of(labels)
        if others is not None and self.ids is not None:
            reference = reference[places_of(self.ids, others, "the reference")]
        check_length("labels", len(reference), "the result", len(self))
        known = (self.labels != MISSING) & (reference >= 0)
        shared = np.zeros((self.k, int(reference.max(initial=MISSING)) + 1))
        np.add.at(shared, (self.labels[known], reference[known]), 1)
        rows, columns = linear_sum_assignment(shared, maximize=True)
        pairs = [(int(c), int(label)) for c, label in zip(rows, columns, strict=True) if shared[c, label] > 0]
        number = {c: label for c, label in pairs if label < self.k}
        free = (c for c in range(self.k) if c not in number.values())
        numbers = [number[c] if c in number else next(free) for c in range(self.k)]
        return self._numbered(np.argsort(numbers))

    def _numbered(self, order: IntArray) -> Consensus:
        """Return the same result in which the cluster `order[c]` has the number c."""
        width = max(self.k, 0 if self.membership is None else self.membership.shape[1])
        width = max(width, 0 if self.model is None else self.model.width)
        order = np.concatenate([order, np.arange(len(order), width)])
        return replace(
            self,
            labels=renumber(self.labels, order),
            second=None if self.second is None else renumber(self.second, order),
            membership=None
            if self.membership is None
            else np.ascontiguousarray(self.membership[:, order[: self.membership.shape[1]]]),
            model=None if self.model is None else self.model.in_order(order),
            detail=renumber_detail(self.detail, order),
            candidate_labels=FrozenDict(
                {
                    name: renumber(labels, order) if np.array_equal(labels, self.labels) else labels
                    for name, labels in self.candidate_labels.items()
                }
            ),
        )

    def predict(self, table: Any) -> IntArray:
        """Return the clusters of new objects that were labeled by the same clusterings.

        Parameters
        ----------
        table : Ensemble, SoftEnsemble, dataframe, array or nested list
            Labels of the new objects. Clusterings are matched by name, or by position in a table without names.

        Returns
        -------
        ndarray of shape (n_new,)
            Clusters; -1 for an object without a known label. Labels that did not occur in training are treated as
            missing, with a warning.

        Examples
        --------
        >>> import partita
        >>> result = partita.consensus({"a": [1, 1, 2, 2], "b": ["x", "x", "y", "y"]}, "voting", k=2)
        >>> result.predict({"a": [2, None], "b": ["y", "x"]}).tolist()
        [1, 0]
        """
        return self._placing().predict(table)

    def predict_proba(self, table: Any) -> FloatArray:
        """Return the membership probabilities of new objects; tables as in `predict`.

        Returns
        -------
        ndarray of shape (n_new, k)
            NaN in rows without a known label.
        """
        return self._placing().predict_proba(table)

    def log_likelihood(self, table: Any, exact: bool = False) -> float:
        """Return the log-likelihood of the labels of new objects, for methods that model it.

        Parameters
        ----------
        table : Ensemble, SoftEnsemble, dataframe, array or nested list
            Labels of the new objects, as in `predict`.
        exact : bool, default False
            The log-likelihood of `bce-vb` and `bce-gibbs` is a lower bound (`model.likelihood_is_bound`) unless
            `exact=True`, which is possible for few clusters and clusterings; see `ColumnModel.log_likelihood`.

        Examples
        --------
        >>> import partita
        >>> result = partita.consensus([["a", 1], ["a", 1], ["b", 2], ["b", 2]], "bce-vb", 2, smoothing=0.5)
        >>> result.model.likelihood_is_bound
        True
        >>> result.log_likelihood([["b", 1]]) < result.log_likelihood([["b", 1]], exact=True)
        True
        """
        return self._placing().log_likelihood(table, exact)

    def perplexity(self, table: Any, exact: bool = False) -> float:
        """Return exp(-log-likelihood / number of known labels) of new objects; at least 1, lower is better.

        Parameters as in `log_likelihood`; for `bce-vb` and `bce-gibbs` it is an upper bound unless `exact=True`.
        """
        return self._placing().perplexity(table, exact)

    def save(self, path: str | Path, include_ensemble: bool = False) -> None:
        """Write the whole result to one file, which `partita.load` reads.

        The file has all fields, with exact numbers, and the model. Partita reads it without pickle, so that nothing in
        the file is executed. It is written completely or not at all; an existing file is replaced.

        Parameters
        ----------
        path : str or path
            The file. The format does not depend on the suffix; `.partita` is the usual one. Suffixes of tables, such as
            `.csv`, are refused; `partita.write` writes tables.
        include_ensemble : bool, default False
            Store the base clusterings too. Otherwise the loaded result has no `ensemble`.

        Raises
        ------
        FileError
            If the file cannot be written, or a label or an id has a type that cannot be saved.

        Examples
        --------
        >>> import partita, tempfile, pathlib
        >>> result = partita.consensus([["a", 1], ["a", 1], ["b", 2]], "voting", 2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.save(pathlib.Path(folder) / "result.partita")
        ...     partita.load(pathlib.Path(folder) / "result.partita").labels.tolist()
        [0, 0, 1]
        """
        from partita.io.results import save

        save(self, path, include_ensemble)

    def _placing(self) -> ColumnModel:
        if self.model is None:
            raise AttributeError("this consensus has no model; use the result of partita.consensus to predict")
        return self.model


def headline(result: Consensus) -> list[str]:
    """Return the result in up to two lines: clusters with their sizes, method, agreement and seed."""
    sizes = result.sizes.tolist()
    listed = ", ".join(map(str, sizes[:MAX_SIZES])) + (", …" if len(sizes) > MAX_SIZES else "")
    clusterings = f" of {len(result.agreement)} clusterings" if result.agreement else ""
    requested = f" of {result.k_asked} requested" if result.k_asked not in (None, result.k) else ""
    clusters = "1 cluster" if result.k == 1 else f"{result.k} clusters"
    first = f"Consensus{clusterings} of {len(result)} objects: {clusters}{requested}"
    first += f" ({listed})" if sizes else ""
    if result.mean_confidence is not None:
        first += f", mean confidence {result.mean_confidence:.2f}"
    second = []
    if result.recipe is not None:
        chosen = f" ({result.detail['chosen']})" if "chosen" in result.detail else ""
        second.append(f"method {result.recipe.method}{chosen}")
    if "anmi" in result.scores:
        second.append(f"mean NMI with the clusterings {result.scores['anmi']:.3f}")
    if result.recipe is not None:
        second.append(f"seed {result.recipe.seed}")
    return [first, ", ".join(second)] if second else [first]


def reference_codes(labels: Any) -> IntArray:
    """Return reference labels as cluster numbers: as they are if they count from 0, else by first appearance.

    >>> reference_codes([2, -1, 0]).tolist(), reference_codes(["b", None, "a", "b"]).tolist()
    ([2, -1, 0], [0, -1, 1, 0])
    """
    codes, (classes,) = code_column(labels, "labels")
    whole = all(isinstance(value, int) and not isinstance(value, bool) for value in classes)
    if not whole or not classes or min(classes) != 0 or max(classes) >= 2 * len(classes) + 10:
        return codes
    return np.append(np.array(classes, np.int32), MISSING)[codes]


def by_appearance(labels: IntArray, width: int) -> tuple[IntArray, IntArray]:
    """Labels renumbered by first appearance, and the order of the old ones (those that do not occur come last).

    >>> by_appearance(np.array([3, 3, -1, 0]), 4)[0].tolist()
    [0, 0, -1, 1]
    """
    narrow = labels[:, None].astype(smallest_type(width))
    codes, (order,) = code_integers(narrow, MISSING, ["labels"], MissingRule(said=True))
    absent = np.setdiff1d(np.arange(width), order)
    return codes[:, 0].astype(np.int32), np.concatenate([np.array(order, np.int64), absent])


def renumber(labels: IntArray, order: IntArray) -> IntArray:
    """Return cluster numbers in which cluster `order[c]` has the number c; MISSING stays.

    >>> renumber(np.array([2, 0, -1]), np.array([2, 0, 1])).tolist()
    [0, 1, -1]
    """
    number = np.full(len(order) + 1, MISSING, np.int32)
    number[order] = np.arange(len(order))
    return frozen(number[labels])


def renumber_detail(detail: Mapping[str, Any], order: IntArray) -> FrozenDict:
    """Return `detail` for clusters in a new order: cluster `order[c]` has the number c. Only `PerCluster` changes.

    >>> renumber_detail({"bound": -3.0, "alpha": PerCluster([0.1, 0.2])}, np.array([1, 0]))
    {'bound': -3.0, 'alpha': (0.2, 0.1)}
    """

    def renumbered(value: Any) -> Any:
        if isinstance(value, PerCluster):
            return value.in_order(order)
        return renumber_detail(value, order) if isinstance(value, FrozenDict) else value

    return FrozenDict({name: renumbered(value) for name, value in detail.items()})


def restore(result: Consensus, prepared: Prepared, ensemble: Any) -> Consensus:
    """A method's result for its own rows as the result for the user's objects."""
    width = int(result.labels.max(initial=0)) + 1
    width = max(width, 0 if result.membership is None else result.membership.shape[1])
    width = max(width, 0 if result.model is None else result.model.width)
    labels, order = by_appearance(prepared.expand(result.labels, MISSING), width)
    membership, confidence, model, second = result.membership, result.confidence, result.model, result.second
    if membership is not None:
        membership = frozen(prepared.expand(membership, np.nan, order[: membership.shape[1]]))
    if confidence is not None:
        confidence = frozen(prepared.expand(confidence, np.nan))
    if second is not None:
        second = renumber(prepared.expand(second, MISSING), order)
    if model is not None:
        model = model.restored(prepared, ensemble, order, result.recipe)
        if membership is None and model.link == "share" and not model.approximate:
            membership = frozen(model.memberships(model.coded(ensemble).rows))
    return replace(
        result,
        labels=frozen(labels),
        membership=membership,
        confidence=confidence,
        model=model,
        detail=renumber_detail(result.detail, order),
        per_object=FrozenDict(
            {name: frozen(prepared.expand(values, np.nan)) for name, values in result.per_object.items()}
        ),
        second=second,
        second_item_consensus=None
        if result.second_item_consensus is None
        else frozen(prepared.expand(result.second_item_consensus, np.nan)),
        notes=(*ensemble.notes, *result.notes, *usual_notes(labels, result.k_asked, confidence)),
        ids=ensemble.ids,
        id_name=ensemble.id_name,
        ensemble=ensemble,
        draws=None if result.draws is None else result.draws.for_objects(prepared.inverse),
        candidate_labels=FrozenDict(
            {
                name: frozen(by_appearance(prepared.expand(found, MISSING), int(found.max()) + 1)[0])
                for name, found in result.candidate_labels.items()
            }
        ),
    )


def placed(model: ColumnModel, table: Any, exact: bool = False) -> Consensus:
    """Predict labels, memberships and confidence of new objects; clusters keep the model's numbers.

    `detail` has the number of labels never seen in training, whether the model is approximate and, for models with
    probabilities, the log-likelihood and the perplexity of the known labels, or their bounds (see
    `ColumnModel.log_likelihood` for `exact`).
    """
    rows, unseen = model.coded(table)
    found = model.assign(rows)
    detail: dict[str, Any] = {"labels never seen": unseen, "approximate": model.approximate}
    confidence = model.confidence(rows, found.labels)
    second = None if model.label_counts is None else model.label_counts.second(rows, found.labels)
    notes = usual_notes(found.labels, None, confidence, NO_COMPANY_NEW)
    notes = (*warn_unseen(unseen), *notes)
    if model.approximate:
        notes += (APPROXIMATE,)
    if found.log_chances is not None and found.known.any():
        likelihood = model.likelihood(rows, found, exact)
        detail |= likelihood.record
        notes += (likelihood.note,) if likelihood.note else ()
    return Consensus(
        found.labels,
        membership=found.membership,
        confidence=confidence,
        detail=FrozenDict(detail),
        notes=notes,
        second=None if second is None else second[0],
        second_item_consensus=None if second is None else second[1],
        recipe=model.recipe,
        ids=rows.ids,
        id_name=rows.id_name,
    )


MAX_SIZES: Final = 12
"""Number of cluster sizes that `repr` lists."""
NO_COMPANY: Final = "alone in their cluster or never labeled together with another member"
NO_COMPANY_NEW: Final = "never labeled together with a member of their cluster"
APPROXIMATE: Final = (
    "the model is approximate: it predicts by a weighted vote of the base labels, because the method has no model, "
    "or because its labels were polished"
)


def usual_notes(
    labels: IntArray, asked: int | None, confidence: FloatArray | None = None, reason: str = NO_COMPANY
) -> tuple[str, ...]:
    """Notes that any result may have: another number of clusters than requested, no label, undefined confidence."""
    undefined = 0
    if confidence is not None:
        undefined = int(np.count_nonzero(np.isnan(confidence) & (labels != MISSING)))
    found, unknown = int(labels.max(initial=MISSING)) + 1, int(np.count_nonzero(labels == MISSING))
    return notes_on(found, asked, unknown, undefined, reason)


def notes_on(
    found: int, asked: int | None, unknown: int, undefined: int = 0, reason: str = NO_COMPANY
) -> tuple[str, ...]:
    """Return `usual_notes` from counts: clusters found and requested, objects without label or defined confidence."""
    notes = []
    if asked is not None and found != asked:
        notes.append(Note(f"requested {asked} clusters, found {found}", "number-of-clusters"))
    if unknown:
        who = "1 object has" if unknown == 1 else f"{unknown} objects have"
        text = f"{who} no label in any clustering with non-zero weight: consensus label {MISSING}"
        notes.append(Note(text, "no-label"))
    if undefined:
        who = "1 object" if undefined == 1 else f"{undefined} objects"
        notes.append(Note(f"confidence is not defined for {who}, {reason}", "undefined-confidence"))
    return tuple(notes)
