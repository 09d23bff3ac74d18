"""Column-distributed consensus, the coordinator's side: it adds up what it cannot read, and carries the sums back.

See `federated.at_columns` for what the sites compute.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, psi

from partita.core.iterate import Run, iterate
from partita.core.types import FloatArray
from partita.federated.hub import TOTAL, Hub
from partita.federated.messages import Arrays
from partita.models.bce import concentration


def relay_rounds(hub: Hub) -> Arrays:
    """Rounds until the leader says that the last run is over; what the sites need to close with."""
    left, total = int(hub.terms.params["restarts"]), None
    while True:
        entry = hub.relay(total)
        total = entry.shares[TOTAL]
        if entry.over:
            left -= 1
            if not left:
                return total


class Shown(NamedTuple):
    """What the sites show in the paper's exchange, one clustering after the other."""

    log_probs: FloatArray  # (r, n, k)
    known: FloatArray  # (r, n) the weight of the clustering where the label is known, else 0


class Server(NamedTuple):
    """Where the paper's server stands."""

    gamma: FloatArray
    alpha: FloatArray
    phi: Mapping[str, FloatArray]
    """By site (clusterings, n, k)."""


def paper_rounds(hub: Hub) -> tuple[Arrays, Run[Server]]:
    """Variational EM on the server, which sees the chances of every label; what the sites close with, and the run."""
    params, k = hub.terms.params, hub.terms.k
    assert k is not None

    def step(state: Server) -> tuple[Server, float]:
        shown, widths = exchange(hub, state.phi)
        gamma = state.gamma if len(state.gamma) else state.alpha + np.full((shown.known.shape[1], k), 1 / k)
        phi, masses = shared_out(shown, gamma)
        after, objects = state.alpha + phi.sum(axis=0), shown.known.any(axis=0)
        bound = float((shown.known * masses).sum()) + _rest(gamma[objects], after[objects], state.alpha)
        alpha = state.alpha
        if params["learn_alpha"]:
            pulls = (psi(after[objects]) - psi(after[objects].sum(axis=1, keepdims=True))).sum(axis=0)
            alpha = concentration(alpha, pulls, float(np.count_nonzero(objects)))
        pieces = np.split(phi, np.cumsum(widths)[:-1])
        return Server(after, alpha, dict(zip(hub.terms.sites, pieces, strict=True))), bound

    first = Server(np.empty((0, 0)), np.full(k, params["alpha"]), {})
    run = iterate(step, first, tol=params["tol"], max_iter=params["max_iter"])
    nowhere = ~np.any([phi.any(axis=(0, 2)) for phi in run.state.phi.values()], axis=0)
    return {"gamma": np.where(nowhere[:, None], -1.0, run.state.gamma)}, run


def shared_out(shown: Shown, gamma: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(r, n, k) how each label is shared out, times its weight, and (r, n) the logarithms of the masses."""
    scores = psi(gamma) + shown.log_probs
    top = scores.max(axis=2, keepdims=True)
    phi = np.exp(scores - top)
    mass = phi.sum(axis=2, keepdims=True)
    phi *= shown.known[:, :, None] / mass
    return phi, (np.log(mass) + top)[:, :, 0]


def _rest(before: FloatArray, gamma: FloatArray, alpha: FloatArray) -> float:
    """What the objects' posteriors add to the bound beside their labels."""
    base = gammaln(alpha.sum()) - gammaln(alpha).sum()
    own = gammaln(gamma).sum(axis=1) - gammaln(gamma.sum(axis=1)) - (psi(before) * (gamma - alpha)).sum(axis=1)
    return float((own + base).sum())


def exchange(hub: Hub, phi: Mapping[str, FloatArray]) -> tuple[Shown, list[int]]:
    """Each site gets the phi of its own clusterings and shows their labels' chances; and how many they are."""
    sites = hub.terms.sites
    found = [hub.gather("paper", {"phi": phi[site]} if phi else {}, (site,))[site] for site in sites]
    weights = np.concatenate([part["weights"] for part in found])
    known = np.concatenate([part["known"] for part in found]) * (weights / weights.mean())[:, None]
    shown = Shown(np.concatenate([part["log_probs"] for part in found]), known)
    return shown, [len(part["weights"]) for part in found]
