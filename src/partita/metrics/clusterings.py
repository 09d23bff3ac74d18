"""The base clusterings themselves: how they agree with each other, and what each brings to a consensus."""

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np

from partita.core.errors import ParameterError
from partita.core.rng import generator, resolve_seed
from partita.core.sampling import draw_sample
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.types import FloatArray, FrozenArrays, IntArray, sealed
from partita.core.unique_clusterings import unique_clusterings
from partita.metrics.ensemble import nmi_and_objects, pairwise_ari, pairwise_nmi
from partita.metrics.information import joint_nmi
from partita.metrics.joint import shares_joint
from partita.metrics.together import labels_of

MOST_WORK: Final = 1 << 31
"""r² n (for memberships, t² n) up to which all objects are compared; of more, a sample is."""
FEWEST: Final = 1 << 14
"""Objects that are compared whatever the work."""
MOST_ORDERED: Final = 1000
"""Clusterings whose leaves are put in the best order, which takes a time of r^3; beyond, any order of the tree."""
AgreementMeasure = Literal["nmi", "ari"]


@dataclass(frozen=True, eq=False)
class Agreement(FrozenArrays):
    """How far each two base clusterings agree."""

    names: tuple[str, ...]
    matrix: FloatArray
    """(r, r) the measure over the objects known in both, 1 on the diagonal; NaN where there are none."""
    order: IntArray
    """(r,) clusterings so that similar ones stand side by side: the leaves of the tree."""
    linkage: FloatArray
    """(r - 1, 4) the tree in SciPy's form: average linkage of the distance 1 - measure (1 for a pair that is NaN)."""
    measure: str
    """ "nmi" or "ari"."""
    objects: int
    """How many objects were compared: all, or a sample."""

    @property
    def means(self) -> FloatArray:
        """(r,) mean agreement of each clustering with the others; NaN where it can be compared with none."""
        known = ~np.isnan(self.matrix) & ~np.eye(len(self.matrix), dtype=bool)
        sums, counts = np.where(known, self.matrix, 0.0).sum(axis=1), known.sum(axis=1)
        return np.asarray(np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0))


def clustering_agreement(ensemble: AnyEnsemble, measure: AgreementMeasure = "nmi", seed: int | None = 0) -> Agreement:
    """The agreement of each two base clusterings, with the tree that puts similar ones side by side.

    Where r² n is above 2^31 (for memberships t² n, with t clusters in all), a sample of the objects is compared, fixed
    by `seed`. Memberships are compared by the NMI of their joint distribution; by ARI, their likeliest labels.

    >>> from partita import Ensemble
    >>> ensemble = Ensemble.from_labels([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    >>> found = clustering_agreement(ensemble)
    >>> found.matrix.tolist(), found.order.tolist()
    ([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [2, 1, 0])
    """
    if measure not in get_args(AgreementMeasure):
        raise ParameterError(f"measure={measure!r} is not known; give one of {', '.join(get_args(AgreementMeasure))}")
    part, objects = _sampled(ensemble, resolve_seed(seed))
    if isinstance(part, SoftEnsemble) and measure == "ari":
        part = part.harden()
    if isinstance(part, SoftEnsemble):
        unique = unique_clusterings(part)
        rows = [_nmi_with_all(unique.ensemble, j) for j in range(len(unique.first))]
        matrix = np.array(rows)[unique.inverse][:, unique.inverse]
        matrix = (matrix + matrix.T) / 2  # the same but for rounding
    else:
        matrix = pairwise_nmi(part) if measure == "nmi" else pairwise_ari(part)
    tree, order = _tree(matrix)
    return Agreement(ensemble.names, matrix, order, tree, measure, objects)


def _nmi_with_all(ensemble: SoftEnsemble, j: int) -> FloatArray:
    """(r,) NMI of the memberships of clustering j with those of every clustering."""
    return joint_nmi(shares_joint(ensemble, sealed(np.ascontiguousarray(ensemble.block(j)))))[0]


def _sampled(ensemble: AnyEnsemble, seed: int) -> tuple[AnyEnsemble, int]:
    """The objects to compare, and how many they are."""
    width = ensemble.matrix.shape[1] if isinstance(ensemble, SoftEnsemble) else len(ensemble.names)
    most = max(FEWEST, MOST_WORK // width**2)
    if len(ensemble) <= most:
        return ensemble, round(ensemble.counts.sum())
    rows, factors = draw_sample(ensemble.counts, most, generator(seed))
    some = ensemble.rows(rows)
    if ensemble.multiplicity is None:
        return some, len(rows)
    return some.with_counts(some.counts * factors), round(some.counts.sum())


def _tree(matrix: FloatArray) -> tuple[FloatArray, IntArray]:
    """Average linkage of 1 - agreement, and the order of its leaves."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(matrix) == 1:
        return np.empty((0, 4)), np.zeros(1, np.int64)
    distances = np.clip(1 - np.where(np.isnan(matrix), 0.0, matrix), 0.0, None)
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform(distances, checks=False), "average", optimal_ordering=len(matrix) <= MOST_ORDERED)
    return np.asarray(tree), leaves_list(tree).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Influence(FrozenArrays):
    """How far each clustering agrees with a consensus, and what its ANMI would be over the others."""

    names: tuple[str, ...]
    nmi: FloatArray
    """(r,) NMI of the labels with each clustering, over the objects known in both; NaN where there are none."""
    anmi: float
    without: FloatArray
    """(r,) ANMI of the same labels over the other clusterings: above `anmi`, this one agrees less than they do."""
    weights: FloatArray
    """(r,) of the clusterings."""


def influence(ensemble: AnyEnsemble, labels: Any) -> Influence:
    """What each clustering adds to the ANMI of a labelling, which stays as it is.

    ANMI is the mean of NMI_j with weights w_j |L_j| (Strehl and Ghosh 2002, eq 6); without clustering j, the same over
    the others. NaN where no other that counts knows a labelled object.

    >>> from partita import Ensemble
    >>> found = influence(Ensemble.from_labels([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 0, 1, 1])
    >>> found.nmi.tolist(), found.anmi, found.without.tolist()
    ([1.0, 0.0], 0.5, [0.0, 1.0])
    """
    scores, objects = nmi_and_objects(ensemble, labels_of(labels))
    amounts = ensemble.weights * objects
    parts = np.where(amounts > 0, amounts * np.nan_to_num(scores), 0.0)
    with np.errstate(invalid="ignore"):
        anmi = float(np.divide(parts.sum(), amounts.sum())) if amounts.any() else float("nan")
        without = _of_others(parts) / _of_others(amounts)
    return Influence(ensemble.names, scores, anmi, without, ensemble.weights)


def _of_others(values: FloatArray) -> FloatArray:
    """For each value the sum of the others, without taking it away again: a small rest would lose its digits."""
    before = np.concatenate([[0.0], np.cumsum(values)[:-1]])
    after = np.concatenate([np.cumsum(values[::-1])[-2::-1], [0.0]])
    return np.asarray(before + after)
