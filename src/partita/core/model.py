"""ColumnModel: a fitted consensus that can place new objects by the labels they carry."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.coding import NOTHING_SAID, Label, MissingRule
from partita.core.confidence import LabelCounts
from partita.core.counting import column_scores, label_columns
from partita.core.dirichlet import known_weight
from partita.core.ensemble import Ensemble
from partita.core.errors import LikelihoodWarning, Note, UnseenLabelWarning, warn
from partita.core.likelihood import FAINT, Likelihood
from partita.core.links import EXACT, LABELS_ONLY, LINKS, PROBABILITIES, Placed, nearest
from partita.core.newrows import Clusterings, NewRows, code_rows
from partita.core.recipe import Recipe
from partita.core.soft import AnyEnsemble
from partita.core.threads import map_chunks
from partita.core.types import MISSING, BoolArray, FloatArray, FrozenArrays, IntArray, sealed
from partita.kernels.scores import pick_winners

if TYPE_CHECKING:
    from partita.core.prepare import Prepared

LOST: Final = 1e-200
"""Below it a row's share of all clusters together is lost in rounding, and is taken among the clusters alone."""


def warn_unseen(unseen: int) -> tuple[Note, ...]:
    """Warn of labels that never occurred in training, and return the warning as a note."""
    if not unseen:
        return ()
    what, are = ("1 label was", "is") if unseen == 1 else (f"{unseen} labels were", "are")
    return (warn(UnseenLabelWarning(f"{what} never seen in training and {are} treated as missing")),)


class Assignment(NamedTuple):
    """Where a model places rows."""

    labels: IntArray
    """(n,) the best cluster, MISSING where nothing is known."""
    membership: FloatArray | None
    """(n, k) NaN rows where nothing is known; None where it was not asked for or the model tells labels alone."""
    log_chances: FloatArray | None
    """(n,) log-probabilities, 0 where nothing is known; None for a model without probabilities."""
    known: FloatArray
    """(n,) how many labels are known of a row, each counting with the weight of its clustering."""


@dataclass(frozen=True, eq=False)
class ColumnModel(FrozenArrays):
    """A fitted consensus as one number for each cluster and one for each label of each clustering in each cluster.

    How they place a row is told by the link: most add up `bias + sum over known labels of tables[j][:, label]`. A model
    with `shares` has such numbers for each of m components, which belong to the clusters in shares.
    `partita.save_model` and `partita.load_model` keep it in a file.

    >>> import partita
    >>> model = partita.consensus([["a", 1], ["a", 1], ["b", 2], ["b", 2]], "mm", 2, smoothing=0.5).model
    >>> model.predict([["b", 2], [None, 1]]).tolist()
    [1, 0]
    """

    bias: FloatArray
    """(k,), or (m,) with shares."""
    tables: tuple[FloatArray, ...]
    """Per clustering j: (k, labels of j), or (m, labels of j) with shares."""
    link: str
    """How rows become memberships; a name in `core.links.LINKS`."""
    names: tuple[str, ...] = ()
    classes: tuple[tuple[Label, ...], ...] = ()
    """Per clustering the labels seen in training; none where it took no part, being empty or of weight 0."""
    missing: MissingRule = NOTHING_SAID
    strength: FloatArray | None = None
    """(k,) which of several best clusters wins; without it the first does."""
    reference: FloatArray | None = None
    """(k, t) above 0 where one of all labels pleads for a cluster among the best, before strength decides."""
    weights: FloatArray | None = None
    """(r,) weights of the clusterings, 1 on average; None: all are 1."""
    recipe: Recipe | None = None
    """How it was made."""
    shares: FloatArray | None = None
    """(m, k) the share of each component that belongs to each cluster; a row of zeros belongs to none of them. Every
    component then counts in the probability of labels, and a row's memberships are its components' shares, of those
    that belong to clusters. Without it component and cluster are the same."""
    centers: FloatArray | None = None
    """(k, m) for the link "nearest": where the clusters lie in the space into which the tables carry a row."""
    counts: tuple[FloatArray, ...] = ()
    """Per clustering j: (k, labels of j) training objects of each cluster with each label, from which the confidence of
    predicted labels is computed; empty where they may not be stored."""
    approximate: bool = False
    """True if the model was made from the labels of a method that has no model of its own: a weighted vote, which may
    give some of the training objects another label than the method did."""

    def __repr__(self) -> str:
        by = f" by {self.recipe.method}" if self.recipe else ""
        vote = ", approximate" if self.approximate else ""
        return f"ColumnModel({self.width} clusters from {len(self.tables)} clusterings{by}{vote})"

    @property
    def width(self) -> int:
        """The number of clusters, with those that hold no object of training."""
        if self.centers is not None:
            return len(self.centers)
        return len(self.bias) if self.shares is None else self.shares.shape[1]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """(r + 1,) where each clustering's labels begin among all labels."""
        return np.concatenate([[0], np.cumsum([table.shape[1] for table in self.tables])]).astype(np.int64)

    @cached_property
    def stacked(self) -> FloatArray:
        """(t, k) the tables one below the other."""
        return np.ascontiguousarray(np.concatenate(self.tables, axis=1).T)

    @cached_property
    def label_counts(self) -> LabelCounts | None:
        """The training counts as a sparse table; None where the model has none."""
        weights = np.ones(len(self.counts)) if self.weights is None else self.weights
        return LabelCounts.of(self.counts, weights) if self.counts else None

    def confidence(self, rows: AnyEnsemble, labels: IntArray) -> FloatArray | None:
        """(n,) confidence of new rows under the model's codes in the clusters `labels`; None if there are no counts.

        See `partita.metrics.confidence`; no row is excluded from its cluster, since new objects are not in the counts.
        """
        return None if self.label_counts is None else self.label_counts.confidence(rows, labels, counted=False)

    def predict(self, table: Any) -> IntArray:
        """(n,) the best cluster of each new object, MISSING where none of its labels is known.

        `table` is an `Ensemble`, a `SoftEnsemble` or any table of labels. Clusterings are found by name, or by place in
        a table without names. A label never seen in training is treated as missing, with a warning that counts them.
        """
        return self.assign(self.encode(table), membership=False).labels

    def predict_proba(self, table: Any) -> FloatArray:
        """(n, k) memberships of new objects, NaN rows where none of its labels is known; tables as in `predict`.

        Memberships are the probabilities of the model, or the shares of a vote. They are not the confidence of a label,
        which is computed in one way for every method; see `partita.metrics.confidence`.
        """
        if self.link in LABELS_ONLY:
            raise AttributeError("this method gives labels for new objects, not memberships; use predict")
        found = self.assign(self.encode(table)).membership
        assert found is not None
        return found

    @property
    def likelihood_is_bound(self) -> bool:
        """True if `log_likelihood` and `perplexity` return bounds unless `exact=True` (`bce-vb` and `bce-gibbs`)."""
        return self.link in EXACT

    def log_likelihood(self, table: Any, exact: bool = False) -> float:
        """Return the log-probability of the known labels, or a lower bound of it if `likelihood_is_bound`.

        A row without known labels adds 0. The result is -inf, with a warning, if some row is impossible under the
        model. A clustering of weight w counts as if each of its labels were seen w times.

        Parameters
        ----------
        table : Ensemble, SoftEnsemble or table
            Objects, as in `predict`.
        exact : bool, default False
            Compute the log-likelihood instead of its bound. For m known labels in a row and k clusters this sums over
            (m + k - 1 choose k - 1) count vectors, of which there may be at most 1,000,000, and it needs clusterings of
            equal weight. Models whose log-likelihood is no bound return the same value with and without it.
        """
        return self._warned_likelihood(table, exact).total

    def perplexity(self, table: Any, exact: bool = False) -> float:
        """Return exp(-log-likelihood / number of known labels), an upper bound of it if `likelihood_is_bound`.

        Parameters as in `log_likelihood`. A model that gives each of m labels the same probability has perplexity m.
        """
        return self._warned_likelihood(table, exact).perplexity

    def likelihood(self, rows: AnyEnsemble, found: Assignment, exact: bool = False) -> Likelihood:
        """Return the likelihood of rows under the model's codes and the labels that `assign` gave them."""
        if found.log_chances is None:
            raise AttributeError(
                f"{self._method} gives no probabilities of labels; choose a method that does, such as mm"
            )
        log_chances, is_bound = found.log_chances, self.likelihood_is_bound and not exact
        if self.likelihood_is_bound and exact:
            log_chances = EXACT[self.link](self.bias, self.stacked, self._unit_weights, rows)
        excluded = int(np.count_nonzero(np.isneginf(log_chances)))
        total, known = float((rows.counts * log_chances).sum()), float((rows.counts * found.known).sum())
        return Likelihood(total, known, excluded, self._faint(rows, found.labels), is_bound)

    def _faint(self, rows: AnyEnsemble, labels: IntArray) -> int:
        """How many rows carry a label that their cluster hardly ever gives, where the fit was not smoothed."""
        smoothed = self.recipe is None or self.recipe.params.get("smoothing") != 0
        if smoothed or self.link != "softmax" or self.weights is None or self.shares is not None:
            return 0
        limits = np.log(FAINT) * self.weights[label_columns(self.offsets)]
        rare = self.stacked < limits[:, None]
        if not rare.any():
            return 0

        def part(start: int, stop: int) -> int:
            found = column_scores(rare.astype(np.float64), rows.rows(slice(start, stop)), np.zeros(len(self.bias)))
            own = np.maximum(labels[start:stop], 0)
            return int(np.count_nonzero(np.take_along_axis(found, own[:, None], axis=1)))

        return sum(map_chunks(part, len(rows)))

    def _warned_likelihood(self, table: Any, exact: bool) -> Likelihood:
        rows = self.encode(table)
        found = self.likelihood(rows, self.assign(rows, membership=False), exact)
        if found.note:
            warn(LikelihoodWarning(found.note))
        return found

    @property
    def _unit_weights(self) -> FloatArray:
        return np.ones(len(self.tables)) if self.weights is None else self.weights

    @property
    def _method(self) -> str:
        return self.recipe.method if self.recipe else "this method"

    def coded(self, table: Any) -> NewRows:
        """New rows under the training codes, and how many of their labels were never seen."""
        return code_rows(table, Clusterings(self.names, self.classes, self.missing))

    def encode(self, table: Any) -> AnyEnsemble:
        """New rows under the training codes, with a warning that counts labels never seen."""
        rows, unseen = self.coded(table)
        warn_unseen(unseen)
        return rows

    def scores(self, rows: AnyEnsemble) -> FloatArray:
        """(n, k) the bias plus what the labels of each row add."""
        return column_scores(self.stacked, rows, self.bias)

    def place(self, rows: AnyEnsemble) -> Placed:
        """Memberships and log-probabilities of rows under the model's codes."""
        if self.centers is not None:
            return Placed(nearest(self.stacked, self.centers, rows))
        found = self._linked(np.ones(len(self.bias), np.bool_), rows)
        return found if self.shares is None else Placed(self._gathered(self.shares, found, rows), found.log_chances)

    def _linked(self, which: BoolArray, rows: AnyEnsemble) -> Placed:
        """What the link makes of rows, with some of the components alone."""
        weights = self._unit_weights
        if which.all():
            return LINKS[self.link](self.bias, self.stacked, weights, rows)
        return LINKS[self.link](self.bias[which], np.ascontiguousarray(self.stacked[:, which]), weights, rows)

    def _gathered(self, shares: FloatArray, found: Placed, rows: AnyEnsemble) -> FloatArray:
        """(n, k) memberships in clusters from those in components."""
        clusters: FloatArray = found.memberships @ shares
        faint = np.flatnonzero(clusters.sum(axis=1) < LOST)
        if len(faint):
            inside = np.asarray(shares.any(axis=1))
            clusters[faint] = self._linked(inside, rows.rows(faint)).memberships @ shares[inside]
        clusters /= clusters.sum(axis=1, keepdims=True)
        return clusters

    def assign(self, rows: AnyEnsemble, membership: bool = True) -> Assignment:
        """Labels and, if asked for, memberships of rows under the model's codes, some rows at a time."""
        keep = membership and self.link not in LABELS_ONLY
        shares = np.empty((len(rows), self.width)) if keep else None

        def part(start: int, stop: int) -> tuple[IntArray, FloatArray | None, FloatArray]:
            some = rows.rows(slice(start, stop))
            found, chances = self.place(some)
            labels, known = self.winners(some, found), self._known(some)
            empty = known == 0
            labels[empty], found[empty] = MISSING, np.nan
            if chances is not None:
                chances[empty] = 0.0
            if shares is not None:
                shares[start:stop] = found
            return labels, chances, known

        if not len(rows):
            none = np.empty(0) if self.link in PROBABILITIES else None
            return Assignment(np.empty(0, np.int32), shares, none, np.empty(0))
        parts = map_chunks(part, len(rows), self._chunk)
        labels, chances, known = zip(*parts, strict=True)
        log_chances = None if chances[0] is None else np.concatenate(chances)
        return Assignment(np.concatenate(labels), shares, log_chances, np.concatenate(known))

    def memberships(self, rows: AnyEnsemble) -> FloatArray:
        """(n, k) memberships of rows under the model's codes, some rows at a time; NaN where nothing is known."""
        shares = np.empty((len(rows), self.width))

        def part(start: int, stop: int) -> None:
            some = rows.rows(slice(start, stop))
            shares[start:stop] = self.place(some).memberships
            shares[start:stop][self._known(some) == 0] = np.nan

        map_chunks(part, len(rows), self._chunk)
        return shares

    @property
    def _chunk(self) -> int:
        """Rows that are placed at once: fewer where there are many components."""
        return max(1 << 10, (1 << 20) // len(self.bias))

    def _known(self, rows: AnyEnsemble) -> FloatArray:
        return known_weight(rows, self._unit_weights)

    def winners(self, rows: AnyEnsemble, scores: FloatArray) -> IntArray:
        """(n,) the cluster of highest score; of equals the one a reference label pleads for, then the strongest."""
        if self.strength is None:
            first: IntArray = scores.argmax(axis=1).astype(np.int32)
            return first
        codes = rows.labels if isinstance(rows, Ensemble) else rows.harden().labels
        own, places = np.full(len(codes), MISSING, np.int32), self.offsets
        for j, column in enumerate(codes.T):
            pleas = None if self.reference is None else self.reference[:, places[j] : places[j + 1]]
            if pleas is not None and pleas.any():
                target = np.append(np.where(pleas.any(axis=0), pleas.argmax(axis=0), MISSING), MISSING)
                own = target[column].astype(np.int32)
        chosen = np.empty(len(codes), np.int32)
        map_chunks(partial(pick_winners, scores, sealed(self.strength), own, chosen), len(codes))
        return chosen

    def in_order(self, order: IntArray) -> "ColumnModel":
        """The same with its clusters in another order."""
        parts = order if self.shares is None and self.centers is None else np.arange(len(self.bias))
        return replace(
            self,
            bias=self.bias[parts],
            tables=tuple(table[parts] for table in self.tables),
            strength=None if self.strength is None else self.strength[order],
            reference=None if self.reference is None else self.reference[order],
            shares=None if self.shares is None else self.shares[:, order],
            centers=None if self.centers is None else self.centers[order],
            counts=tuple(table[order] for table in self.counts),
        )

    def restored(self, prepared: "Prepared", ensemble: Any, order: IntArray, recipe: Recipe | None) -> "ColumnModel":
        """The model of a prepared table as the model of the user's, its clusters in the given order."""
        found, reference = self.in_order(order), None
        if found.reference is not None:
            parts = tuple(np.split(found.reference, self.offsets[1:-1], axis=1))
            reference = np.concatenate(prepared.expand_tables(parts, len(ensemble.names)), axis=1)
        seen = prepared.seen(len(ensemble.names))
        return replace(
            found,
            tables=prepared.expand_tables(found.tables, len(ensemble.names)),
            names=ensemble.names,
            classes=tuple(
                tuple(values[code] for code in codes) for values, codes in zip(ensemble.classes, seen, strict=True)
            ),
            missing=getattr(ensemble, "missing", NOTHING_SAID),
            reference=reference,
            weights=None if self.weights is None else prepared.expand_columns(self.weights, len(ensemble.names)),
            recipe=recipe,
            counts=prepared.expand_tables(found.counts, len(ensemble.names)) if found.counts else (),
        )
