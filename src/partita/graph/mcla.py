"""MCLA: group the base clusters by overlap, give each object to the group it is most in (Strehl and Ghosh 2002)."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import sparse

from partita.core.consensus import Consensus
from partita.core.counting import by_clustering, label_columns
from partita.core.ensemble import Ensemble
from partita.core.method import Method
from partita.core.model import ColumnModel
from partita.core.params import setting
from partita.core.soft import SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import FloatArray, FrozenDict, IntArray
from partita.graph.incidence import cluster_shares, gram
from partita.partition import Graph, GraphOptions, Partition, partition_graph


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of MCLA."""

    partitioner: Literal["auto", "metis", "kahip"] = setting("auto", "what divides the graph of base clusters")
    imbalance: float = setting(0.05, "how far the largest group of base clusters may exceed the mean", low=0)


class Groups(NamedTuple):
    """The base clusters in k groups."""

    tables: FloatArray
    """(t, k) what membership in a cluster adds to the association with each group."""
    partition: Partition


def fit(ensemble: Ensemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Divide the graph of base clusters, edges |a ∩ b| / |a ∪ b|, into k groups of nearly equal number.

    An object's association with a group is the mean of its memberships in the group's clusters, weighted by
    clustering; the group of highest association takes it (of equals one drawn from the seed). Memberships are the
    associations divided by their sum.
    """
    options = GraphOptions(params.partitioner, params.imbalance)
    similarity = only_between(ensemble, jaccard(gram(ensemble)))
    groups = group_clusters(ensemble, k, similarity, options, rng)
    tables = by_clustering(groups.tables, ensemble.offsets)
    strength = rng.permutation(groups.tables.shape[1]).astype(np.float64)
    model = ColumnModel(np.zeros(len(strength)), tables, "share", strength=strength)
    labels, best = np.empty(len(ensemble), np.int32), np.empty(len(ensemble))
    map_chunks(partial(elect, model, ensemble, labels, best), len(ensemble))
    return Consensus.hard(labels, model=model, per_object=FrozenDict(association=best), **told(groups.partition))


def elect(model: ColumnModel, ensemble: Ensemble, labels: IntArray, best: FloatArray, start: int, stop: int) -> None:
    """The winning group of some rows and their association with it."""
    rows = ensemble.rows(slice(start, stop))
    scores = model.scores(rows)
    labels[start:stop] = model.winners(rows, scores)
    best[start:stop] = scores[np.arange(stop - start), labels[start:stop]]


def jaccard(shared: FloatArray) -> FloatArray:
    """(t, t) a·b / (a·a + b·b − a·b) of each two base clusters, which is |a ∩ b| / |a ∪ b| for hard ones."""
    own = np.diag(shared)
    return np.asarray(shared / np.maximum(own[:, None] + own - shared, 1e-300))


def group_clusters(
    ensemble: Ensemble | SoftEnsemble, k: int, similarity: FloatArray, options: GraphOptions, rng: Generator
) -> Groups:
    """Divide the graph of base clusters with these weights into k groups, or as many as there are clusters."""
    graph = Graph.from_sparse(sparse.csr_array(similarity))
    found = partition_graph(graph, min(k, len(similarity)), options, rng, by_reference(ensemble, k, similarity))
    weights = cluster_shares(ensemble)
    masses = np.bincount(found.labels, weights=weights)
    tables = np.zeros((len(weights), len(masses)))
    tables[np.arange(len(weights)), found.labels] = weights / masses[found.labels]
    return Groups(tables, found)


def by_reference(ensemble: Ensemble | SoftEnsemble, k: int, similarity: FloatArray) -> list[IntArray]:
    """Each base cluster with the most similar of one clustering of k clusters: that to which all are most similar."""
    starts = ensemble.offsets[:-1][np.array(ensemble.sizes) == k]
    if not len(starts):
        return []
    nearest = [similarity[:, start : start + k].max(axis=1).sum() for start in starts]
    start = int(starts[int(np.argmax(nearest))])
    groups = similarity[:, start : start + k].argmax(axis=1)
    groups[start : start + k] = np.arange(k)
    return [groups.astype(np.int32)]


def only_between(ensemble: Ensemble | SoftEnsemble, similarity: FloatArray) -> FloatArray:
    """The similarities of base clusters, 0 within a clustering."""
    column = label_columns(ensemble.offsets)
    return np.where(column[:, None] == column, 0.0, similarity)


def told(found: Partition) -> dict[str, Any]:
    """What the result says of the division."""
    return {"detail": {"cut": found.cut, "balance": found.balance}, "notes": found.notes}


METHOD = Method(
    fit,
    Params,
    takes=Ensemble,
    cite="strehl2002",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    predicts="memberships",
)
