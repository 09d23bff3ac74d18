"""LWGP: spectral cut of the objects-clusters graph, torn clusters weighing less (Huang, Wang and Lai 2018)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.counting import by_clustering
from partita.core.ensemble import Ensemble
from partita.core.method import Method
from partita.core.model import ColumnModel
from partita.core.params import setting
from partita.core.sampling import collapsed
from partita.starts.spectral import Cut, spectral_cut


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
    the rows of unit length, weighted by multiplicity. New objects are carried over by their labels in the same way and
    go to the nearest centre.
    """
    theta = params.theta if params.weighted else None
    few, inverse = collapsed(ensemble)
    cut = spectral_cut(few, k, rng, theta, params.restarts)
    model = model_of(cut, few)
    return Consensus.hard(model.assign(few, membership=False).labels[inverse], k_asked=k, model=model)


def model_of(cut: Cut, ensemble: Ensemble) -> ColumnModel:
    """The cut as what places objects: nearest is the centre c of the greatest 2 p·c − c·c, p of length 1."""
    tables = by_clustering(cut.tables, ensemble.offsets)
    return ColumnModel(np.zeros(cut.tables.shape[1]), tables, "nearest", centers=cut.centers)


METHOD = Method(
    fit,
    Params,
    takes=Ensemble,
    cite="huang2018",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    predicts="labels",
)
