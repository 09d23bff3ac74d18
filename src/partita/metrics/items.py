"""Item-consensus, cluster-consensus and silhouette of a consensus, without a matrix of all pairs.

Two objects are together as much as the weight of the clusterings that put them in one cluster, as a share of the weight
of those that know both: their co-association. Its mean over a cluster's members follows from how many of them carry
each label.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.core.ensemble import Ensemble
from partita.core.errors import ParameterError
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, FrozenArrays, IntArray, sealed
from partita.kernels.items import choose_nearest, nearest_sparse, share_members, share_rows
from partita.metrics.together import Together, together

BLOCK_CELLS = 1 << 15
"""Rows times clusters that are held at a time, so that they stay in the fast cache."""


@dataclass(frozen=True, eq=False)
class ItemConsensus(FrozenArrays):
    """How well objects and clusters hold together; rows with multiplicities stand for so many objects."""

    own: FloatArray
    """(n,) item consensus with the own cluster: mean co-association with its other members. NaN without a cluster,
    or where no other member of it was ever labelled together with the object."""
    other: FloatArray
    """(n,) the largest mean co-association with another cluster; NaN if there is none to compare with."""
    nearest: IntArray
    """(n,) that other cluster, the first of equals; MISSING if there is none."""
    silhouette: FloatArray
    """(n,) of the distance 1 - co-association: (own - other) / max(1 - own, 1 - other), 0 in a cluster of one; NaN
    where there is no other cluster to compare with."""
    clusters: FloatArray
    """(k,) cluster-consensus: mean co-association of the pairs of its members; NaN where there is no such pair."""
    silhouettes: FloatArray
    """(k,) mean silhouette of the members that have one."""
    sizes: IntArray | FloatArray
    """(k,) objects, whole numbers unless the multiplicities are not."""
    counts: FloatArray | None = None
    """(n,) how many objects each row stands for; None when each stands for one."""

    def __repr__(self) -> str:
        objects = f"{self.sizes.sum():g} objects in {len(self.sizes)} clusters"
        return f"ItemConsensus({objects}, silhouette {_mean(self.silhouette, self.counts):.3f})"


def item_consensus(ensemble: AnyEnsemble, labels: Any) -> ItemConsensus:
    """How far each object is together with its own cluster and with others (Monti et al. 2003, item-consensus).

    IC(i, h) = sum_l sum_j w_j [y_ij = y_lj] / sum_l sum_j w_j [y_ij and y_lj known], over the members l of cluster h
    other than i, with w_j the weight of clustering j. For complete labels this is the mean co-association with the
    members. With missing labels it is a ratio of sums over pairs that were labelled together, in which a pair counts
    as much as it was seen; so is cluster-consensus. A row that stands for c objects has c - 1 of them as other members.
    Of memberships, [y_ij = y_lj] is the product of the two rows. Exact, in time n r k and memory n.

    >>> from partita import Ensemble
    >>> ensemble = Ensemble.from_labels([[0, 0], [0, 0], [0, 1], [1, 1]])
    >>> items = item_consensus(ensemble, [0, 0, 1, 1])
    >>> items.own.tolist(), items.other.tolist(), items.clusters.tolist()
    ([1.0, 1.0, 0.5, 0.5], [0.25, 0.25, 0.5, 0.0], [1.0, 0.5])
    """
    tables = together(ensemble, labels)
    rows = len(ensemble)
    own, other, nearest = np.full(rows, np.nan), np.full(rows, np.nan), np.full(rows, MISSING, np.int32)
    if isinstance(ensemble, Ensemble) and tables.sparse:
        _choose_sparse(ensemble, tables, own, other, nearest)
    elif len(tables.sizes):
        fill = _filling(ensemble, tables)

        def part(start: int, stop: int) -> None:
            shares = np.empty((max(1, BLOCK_CELLS // len(tables.sizes)), len(tables.sizes)))
            for first in range(start, stop, len(shares)):
                last = min(first + len(shares), stop)
                fill(shares, first, last)
                choose_nearest(shares[: last - first], tables.codes, own, other, nearest, first)

        map_chunks(part, rows)
    silhouette = _silhouette(own, other, tables)
    means = _cluster_means(silhouette, tables.codes, ensemble.counts, len(tables.sizes))
    clusters = cluster_means(ensemble, tables)
    return ItemConsensus(own, other, nearest, silhouette, clusters, means, _whole(tables.sizes), ensemble.multiplicity)


def _choose_sparse(ensemble: Ensemble, tables: Together, own: FloatArray, other: FloatArray, nearest: IntArray) -> None:
    """Own and nearest cluster from a sparse table."""
    cells, totals = tables.weighted_cells(), sealed(ensemble.weights[:, None] * tables.totals)
    begins, clusters, values = sealed(cells.indptr), sealed(cells.indices), sealed(cells.data)
    labels, codes, places, weights = ensemble.labels, tables.codes, sealed(tables.places), ensemble.weights

    def part(start: int, stop: int) -> None:
        fixed = (labels, codes, places, begins, clusters, values, totals, weights)
        nearest_sparse(*fixed, own, other, nearest, start, stop)

    map_chunks(part, len(labels))


def item_matrix(ensemble: AnyEnsemble, labels: Any, rows: Any = None) -> FloatArray:
    """(n, k) item-consensus of objects with every cluster, of all of them or of those in `rows`; see `item_consensus`.

    NaN where no member of the cluster (other than the object) was ever labelled together with it.

    >>> from partita import Ensemble
    >>> item_matrix(Ensemble.from_labels([[0, 0], [0, 0], [0, 1], [1, 1]]), [0, 0, 1, 1]).tolist()
    [[1.0, 0.25], [1.0, 0.25], [0.5, 0.5], [0.0, 0.5]]
    """
    tables = together(ensemble, labels)
    index = check_rows(rows, len(ensemble))
    some = ensemble if rows is None else ensemble.rows(index)
    chosen = tables if rows is None else tables._replace(codes=sealed(tables.codes[index]))
    out = np.empty((len(some), len(tables.sizes)))
    if isinstance(some, Ensemble) and tables.sparse:
        _fill_sparse(some, chosen, out)
    elif len(tables.sizes):
        fill = _filling(some, chosen)
        map_chunks(lambda start, stop: fill(out[start:stop], start, stop), len(some))
    return out


def _fill_sparse(ensemble: Ensemble, tables: Together, out: FloatArray) -> None:
    """The same from a sparse table: products of the rows' labels with it, some rows at a time."""
    from scipy import sparse

    cells, weights = tables.weighted_cells(), ensemble.weights
    step = max(1, BLOCK_CELLS // out.shape[1])
    for first in range(0, len(out), step):
        labels, codes = ensemble.labels[first : first + step], tables.codes[first : first + step]
        known = labels != MISSING
        rows, columns = np.nonzero(known)
        places = tables.places[columns] + labels[rows, columns]
        shape = (len(labels), cells.shape[0])
        sums = (sparse.csr_array((np.ones(len(rows)), (rows, places)), shape=shape) @ cells).toarray()
        below = (known * weights) @ tables.totals
        labelled = np.flatnonzero(codes != MISSING)
        clusters, here = codes[labelled], known[labelled] * weights
        sums[labelled, clusters] -= here.sum(axis=1)
        below[labelled, clusters] = (here * (tables.totals.T[clusters] - 1)).sum(axis=1)  # 0, not a rest, if alone
        out[first : first + step] = ratios(sums, below)


def check_rows(rows: Any, objects: int) -> IntArray:
    """Places of objects, from 0, checked; all of them for None."""
    if rows is None:
        return np.arange(objects)
    places = np.asarray(rows)
    if places.dtype == bool and places.shape == (objects,):
        return np.flatnonzero(places)
    if places.ndim != 1 or (places.dtype.kind not in "iu" and places.size):
        raise ParameterError(f"rows of shape {places.shape}, type {places.dtype}; give places of objects, from 0")
    wrong = (places < 0) | (places >= objects)
    if wrong.any():
        raise ParameterError(f"there is no object {places[wrong][0]}; the places are 0 to {objects - 1}")
    return places.astype(np.int64)


def _filling(ensemble: AnyEnsemble, tables: Together) -> Callable[[FloatArray, int, int], None]:
    """What writes item-consensus of the rows start..stop with every cluster to out[0], out[1], …"""
    codes, places, weights = tables.codes, sealed(tables.places), ensemble.weights
    cells, totals = sealed(tables.weighted_cells()), sealed(weights[:, None] * tables.totals)
    if isinstance(ensemble, SoftEnsemble):
        members, seen = ensemble.matrix, ensemble.known

        def fill_soft(out: FloatArray, start: int, stop: int) -> None:
            share_members(members, seen, codes, cells, totals, weights, places, out, start, stop)

        return fill_soft
    labels = ensemble.labels

    def fill(out: FloatArray, start: int, stop: int) -> None:
        share_rows(labels, codes, places, cells, totals, weights, out, start, stop)

    return fill


def cluster_means(ensemble: AnyEnsemble, tables: Together) -> FloatArray:
    """(k,) the mean co-association of the pairs of each cluster's members, as a ratio of sums."""
    squares = tables.cells.multiply(tables.cells) if tables.sparse else np.square(tables.cells)
    together_sums = np.asarray(squares.T @ tables.cell_weights)
    known = (tables.totals * (tables.totals - 1)).T @ ensemble.weights  # without others it is 0, not a rest of rounding
    return ratios(together_sums - with_self(ensemble, tables), known)


def with_self(ensemble: AnyEnsemble, tables: Together) -> FloatArray:
    """(k,) how much the members of each cluster are together with themselves, added up."""
    if not isinstance(ensemble, SoftEnsemble):
        return np.asarray(tables.totals.T @ ensemble.weights)
    labelled = np.flatnonzero(tables.codes != MISSING)
    total = np.zeros(len(ensemble))
    for c in np.flatnonzero(tables.cell_weights):
        total += tables.cell_weights[c] * np.square(ensemble.matrix[:, c])
    amounts = (ensemble.counts * total)[labelled]
    return np.bincount(tables.codes[labelled], amounts, minlength=len(tables.sizes)).astype(np.float64)


def ratios(above: FloatArray, below: FloatArray) -> FloatArray:
    """Shares between 0 and 1; NaN where nothing is below."""
    some = below > 0
    shares = np.divide(np.clip(above, 0.0, below), below, out=np.full(below.shape, np.nan), where=some)
    return np.asarray(shares)


def _silhouette(own: FloatArray, other: FloatArray, tables: Together) -> FloatArray:
    """As scikit-learn defines it: 0 for a cluster of one object, and where both distances are 0."""
    longest = np.maximum(1 - own, 1 - other)
    values = np.divide(own - other, longest, out=np.zeros(len(own)), where=longest != 0)
    alone = np.append(tables.sizes <= 1, False)[tables.codes]
    values[alone & ~np.isnan(other)] = 0.0
    return np.asarray(values)


def _cluster_means(values: FloatArray, codes: IntArray, counts: FloatArray, width: int) -> FloatArray:
    there = np.flatnonzero((codes != MISSING) & ~np.isnan(values))
    sums = np.bincount(codes[there], counts[there] * values[there], minlength=width)
    amounts = np.bincount(codes[there], counts[there], minlength=width)
    return np.asarray(np.divide(sums, amounts, out=np.full(width, np.nan), where=amounts > 0))


def _mean(values: FloatArray, counts: FloatArray | None) -> float:
    there = ~np.isnan(values)
    weights = np.ones(len(values)) if counts is None else counts
    return float(np.average(values[there], weights=weights[there])) if there.any() else float("nan")


def _whole(sizes: FloatArray) -> IntArray | FloatArray:
    whole = sizes.astype(np.int64)
    return whole if (whole == sizes).all() else sizes
