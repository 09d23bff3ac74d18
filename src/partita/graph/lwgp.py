"""LWGP: spectral cut of the objects-clusters graph, torn clusters weighing less (Huang, Wang and Lai 2018)."""

from dataclasses import dataclass

from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.method import Method
from partita.core.params import setting
from partita.core.sampling import collapsed
from partita.starts.spectral import spectral_start


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of LWGP."""

    theta: float = setting(0.4, "how fast a cluster's weight falls with its uncertainty", low=1e-6)
    weighted: bool = setting(True, "weigh clusters by their uncertainty; without it this is spectral HBGF")
    restarts: int = setting(10, "k-means runs in the space of eigenvectors", low=1)


def fit(ensemble: Ensemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Normalised cut of the bipartite graph of objects and base clusters into k, by the transfer cut.

    A base cluster C weighs exp(-H(C) / (theta r)), with H(C) the entropy in bits of its members' labels summed over the
    r clusterings. The eigenproblem is solved on the t clusters and carried over to the objects, where k-means divides
    the rows of unit length, weighted by multiplicity.
    """
    theta = params.theta if params.weighted else None
    few, inverse = collapsed(ensemble)
    return Consensus.hard(spectral_start(few, k, rng, theta, params.restarts)[inverse], k_asked=k)


METHOD = Method(
    fit, Params, takes=Ensemble, cite="huang2018", handles_missing=True, chooses_k=False, deterministic=False
)
