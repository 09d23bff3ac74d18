"""sHBGF: HBGF on memberships, an object joined to each base cluster as far as it is in it (Punera and Ghosh 2007)."""

from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.method import Method
from partita.core.soft import SoftEnsemble
from partita.graph.hbgf import Params, objects_of, options_of
from partita.graph.hbgf import fit as fit_hard
from partita.graph.incidence import cluster_shares, incidence
from partita.partition import Graph, partition_graph


def fit(ensemble: SoftEnsemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Divide objects and base clusters together into k blocks of nearly equal size, cutting little membership.

    An edge weighs the membership times the weight of its clustering, so that one-hot rows give HBGF itself.
    """
    if ensemble.is_one_hot:
        return fit_hard(ensemble.harden(), k, params, rng)
    weighted = incidence(ensemble, cluster_shares(ensemble)).multiply(ensemble.counts[:, None])
    graph = Graph.from_bipartite(weighted, ensemble.counts)
    return objects_of(partition_graph(graph, k, options_of(params), rng), len(ensemble))


METHOD = Method(
    fit,
    Params,
    takes=SoftEnsemble,
    cite="punera2007",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    balanced=True,
)
