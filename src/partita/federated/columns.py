"""Column-distributed consensus, the coordinator's side: it adds up what it cannot read, and carries the sums back.

See `federated.at_columns` for what the sites compute.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln, psi

from partita.core.dirichlet import SETTLE, Inner, clearly_better
from partita.core.iterate import Run, Tick, iterate
from partita.core.rng import generator
from partita.core.types import BoolArray, FloatArray
from partita.federated.at_columns import METHODS, leaning_shares
from partita.federated.hub import TOTAL, Hub
from partita.federated.messages import Arrays
from partita.models.bce import concentration
from partita.models.restarts import Runs, best_of
from partita.starts.transfer_cut import cut_labels, subspace_iteration


def relay_rounds(hub: Hub) -> Arrays:
    """Rounds until the leader says that the last run is over; what the sites need to close with."""
    extra = METHODS[hub.terms.method].extra_runs
    left, total = int(hub.terms.params["restarts"]) + extra, None
    while True:
        entry = hub.relay(total)
        total = entry.shares[TOTAL]
        if entry.over:
            left -= 1
            if not left:
                return total


class Table(NamedTuple):
    """State of the server in the paper's protocol."""

    known: FloatArray  # (r, n) the weight of the clustering where the label is known, else 0; 1 on average
    marks: FloatArray  # (n, k) first vectors of the transfer cut, summed over the clusterings
    scale: float
    """Mean weight of the clusterings; the sites' own weights are not divided by it."""
    widths: tuple[int, ...]
    """Clusterings of each site."""

    @property
    def objects(self) -> BoolArray:
        """(n,) True where any label is known."""
        return np.asarray(self.known.any(axis=0))


class Server(NamedTuple):
    """State of the paper's server."""

    gamma: FloatArray  # (n, k)
    alpha: FloatArray  # (k,) of the last E step
    log_probs: FloatArray  # (r, n, k) log beta of every label, in the last E step
    phi: FloatArray  # (r, n, k) from which the sites computed it
    next_alpha: FloatArray
    next_phi: FloatArray


def paper_rounds(hub: Hub) -> tuple[Arrays, Runs[Server]]:
    """Variational EM on the server, which sees the chances of every label; return what the sites close with."""
    params = hub.terms.params
    table = known_labels(hub)
    embedded = transfer_cut(hub, table) if hub.terms.init == "transfer-cut" else None
    inner = Inner(params["inner_tol"], params["max_inner"])

    def begin(rng: Generator) -> Server:
        k = table.marks.shape[1]
        labels, known = np.zeros(len(table.objects), np.int64), np.flatnonzero(table.objects)
        if embedded is not None and k > 1:
            labels[known] = cut_labels(embedded[known], table.marks[known], np.ones(len(known)), k, rng)
        else:
            labels[known] = rng.integers(k, size=len(known))
        shares, alpha = leaning_shares(labels, k), np.full(k, params["alpha"])
        phi = table.known[:, :, None] * shares
        return Server(alpha + phi.sum(axis=0), alpha, np.empty(0), np.empty(0), alpha, phi)

    def step(state: Server) -> tuple[Server, float]:
        alpha = state.next_alpha
        log_probs, prior = exchange(hub, table, state.next_phi)
        before, gamma = settle(table.known, log_probs, alpha, state.gamma, inner)
        phi, masses = shared_out(table.known, log_probs, before)
        bounds = masses.sum(axis=0) + _rest(before, gamma, alpha)
        bound = float(bounds[table.objects].sum()) + prior
        after = alpha
        if params["learn_alpha"]:
            expected = psi(gamma) - psi(gamma.sum(axis=1, keepdims=True))
            pulls = expected[table.objects].sum(axis=0)
            after = concentration(alpha, pulls, float(np.count_nonzero(table.objects)))
        return Server(gamma, alpha, log_probs, state.next_phi, after, phi), bound

    def run(first: Server, tick: Tick) -> Run[Server]:
        return iterate(step, first, tol=params["tol"], max_iter=params["max_iter"], tick=tick)

    rngs = generator(hub.terms.seed).spawn(params["restarts"])
    runs = best_of(begin, run, rngs, what="bce-vb restarts", highest=True)
    if runs.interrupted:
        raise KeyboardInterrupt
    best, told = runs.best.state, runs.told()
    exchange(hub, table, best.phi)  # the sites keep the distributions of the best run
    gamma = placed(table.known, best.log_probs, best.alpha)
    closing: Arrays = {
        "gamma": np.where(table.objects[:, None], gamma, -1.0),
        "bias": best.alpha,
        "scale": np.array([table.scale]),
        "trace": np.array(told["trace"]),
        "converged": np.array([told["converged"]], np.int64),
    }
    return closing, runs


def known_labels(hub: Hub) -> Table:
    """Ask the sites which labels are known, and for the weights of their clusterings."""
    found = list(hub.gather("known").values())
    weights = np.concatenate([part["weights"] for part in found])
    known = np.concatenate([part["known"] for part in found]) * (weights / weights.mean())[:, None]
    marks = sum(part["marks"] for part in found) / weights.mean()
    return Table(known, np.asarray(marks), float(weights.mean()), tuple(len(part["weights"]) for part in found))


def transfer_cut(hub: Hub, table: Table) -> FloatArray:
    """Return the embedding of the objects that the sites of the sums protocol compute (`starts.transfer_cut`)."""
    degree = table.known.sum(axis=0)

    def spread(basis: FloatArray) -> FloatArray:
        found = hub.gather("spread", {"basis": basis}).values()
        return np.asarray(sum(part["values"] for part in found)) / table.scale

    return subspace_iteration(spread, table.marks, degree, np.ones(len(degree)))


def exchange(hub: Hub, table: Table, phi: FloatArray) -> tuple[FloatArray, float]:
    """Give each site the phi of its own clusterings; return (r, n, k) log beta of all labels, and the log prior."""
    pieces = np.split(phi, np.cumsum(table.widths)[:-1])
    sites = zip(hub.terms.sites, pieces, strict=True)
    found = [hub.gather("paper", {"phi": piece}, (site,))[site] for site, piece in sites]
    return np.concatenate([part["log_probs"] for part in found]), sum(float(part["prior"][0]) for part in found)


def shared_out(known: FloatArray, log_probs: FloatArray, gamma: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (r, n, k) phi times the weight of each known label, and (r, n) the labels' parts of the bounds."""
    scores = psi(gamma) + log_probs
    top = scores.max(axis=2, keepdims=True)
    phi = np.exp(scores - top)
    mass = phi.sum(axis=2, keepdims=True)
    phi *= known[:, :, None] / mass
    return phi, known * (np.log(mass) + top)[:, :, 0]


def settle(
    known: FloatArray, log_probs: FloatArray, alpha: FloatArray, gamma: FloatArray, inner: Inner
) -> tuple[FloatArray, FloatArray]:
    """Return each object's gamma before and after its last iteration; see `kernels.dirichlet.settle`."""
    before, gamma = gamma.copy(), gamma.copy()
    rows = np.arange(len(gamma))
    for _ in range(inner.most):
        before[rows] = gamma[rows]
        phi, _ = shared_out(known[:, rows], log_probs[:, rows], before[rows])
        gamma[rows] = alpha + phi.sum(axis=0)
        rows = rows[np.abs(gamma[rows] - before[rows]).max(axis=1) > inner.tol]
        if not len(rows):
            break
    return before, gamma


def placed(known: FloatArray, log_probs: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return (n, k) gamma of all objects from the better of two starts, as `core.dirichlet.infer`."""
    degree = known.sum(axis=0)[:, None]
    likeliest = (known[:, :, None] * log_probs).sum(axis=0).argmax(axis=1)
    starts = (alpha + degree / len(alpha), alpha + degree * leaning_shares(likeliest, len(alpha)))
    found = []
    for start in starts:
        before, gamma = settle(known, log_probs, alpha, start, SETTLE)
        masses = shared_out(known, log_probs, before)[1].sum(axis=0)
        found.append((gamma, masses + _rest(before, gamma, alpha)))
    (even, bounds), (leaning, others) = found
    return np.where(clearly_better(others, bounds)[:, None], leaning, even)


def _rest(before: FloatArray, gamma: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return (n,) what the objects' posteriors add to their bounds."""
    base = gammaln(alpha.sum()) - gammaln(alpha).sum()
    own = gammaln(gamma).sum(axis=1) - gammaln(gamma.sum(axis=1)) - (psi(before) * (gamma - alpha)).sum(axis=1)
    return np.asarray(own + base)
