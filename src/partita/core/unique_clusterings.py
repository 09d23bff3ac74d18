"""Equal base clusterings, which need to be compared with the others only once."""

from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from partita.core.counting import label_counts
from partita.core.ensemble import Ensemble
from partita.core.soft import AnyEnsemble
from partita.core.types import FloatArray, IntArray, sealed
from partita.kernels.codes import number_rows_apart


class UniqueClusterings(NamedTuple):
    """Each different clustering of an ensemble once."""

    ensemble: Any
    """Ensemble or SoftEnsemble of the unique clusterings, in order of first appearance, each with weight 1."""
    first: IntArray
    """Position of the first of all equal clusterings, per unique clustering."""
    inverse: IntArray
    """(r,) the unique clustering that each clustering is equal to."""


def unique_clusterings(ensemble: AnyEnsemble) -> UniqueClusterings:
    """Return the unique clusterings of an ensemble.

    Two clusterings are equal if they divide the same objects into the same clusters, whatever the labels are called,
    and have the same missing labels. Soft clusterings are equal if their memberships are, in any order of the clusters.
    Weights are not compared, because they belong to the clusterings and not to the partition.

    Examples
    --------
    >>> found = unique_clusterings(Ensemble.from_labels([["a", 1, 1], ["b", 0, 1], ["a", 1, 0]]))
    >>> found.first.tolist(), found.inverse.tolist()
    ([0, 2], [0, 0, 1])
    """
    if isinstance(ensemble, Ensemble):
        keys = _hard_keys(ensemble)
    else:
        keys = [_soft_key(ensemble.block(j)) for j in range(len(ensemble.names))]
    number: dict[Any, int] = {}
    inverse = np.array([number.setdefault(key, len(number)) for key in keys], np.int64)
    first = np.unique(inverse, return_index=True)[1].astype(np.int64)
    if len(first) == len(keys):
        return UniqueClusterings(ensemble, first, inverse)
    # unit weights, because the first of equal clusterings may have weight 0
    unweighted = replace(ensemble, weights=np.ones(len(keys)))
    return UniqueClusterings(unweighted.columns(first), first, inverse)


def _hard_keys(ensemble: Ensemble) -> list[Any]:
    """Return a key per clustering that is the same for equal clusterings only.

    The key is the number of labels and the sorted cluster sizes, from one pass over the table. If several clusterings
    have these, the labels, numbered by first appearance, are added.
    """
    totals = label_counts(ensemble, np.zeros(len(ensemble), np.int32), 1)[0][:, 0]
    parts = np.split(totals, ensemble.offsets[1:-1])
    sizes = [np.sort(part).tobytes() for part in parts]
    often = Counter(sizes)
    codes = np.empty((1, len(ensemble)), np.int32)

    def partition(j: int) -> bytes:
        labels = np.ascontiguousarray(ensemble.labels[:, j], np.int32)[None]
        number_rows_apart(sealed(labels), ensemble.sizes[j], codes, 0, 1)
        return codes.astype(ensemble.labels.dtype).tobytes()

    return [(size, partition(j) if often[size] > 1 else j) for j, size in enumerate(sizes)]


def _soft_key(block: FloatArray) -> tuple[tuple[int, ...], bytes]:
    """Return the memberships of a clustering with its clusters in lexicographic order."""
    return block.shape, np.ascontiguousarray(block[:, np.lexsort(block[::-1])]).tobytes()
