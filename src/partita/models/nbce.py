"""Nonparametric Bayesian cluster ensembles: the model, its parameters integrated out.

An object's cluster k of at most K is drawn by shares pi, its label in clustering j by theta_kj ~ Dirichlet(beta)
(Wang, Domeniconi and Laskey 2010). Shares are either pieces of a stick broken K - 1 times ("tsb": v_k ~ Beta(1, alpha),
v_K = 1) or a finite symmetric Dirichlet ("fsd": Dirichlet(alpha / K)). A label of clustering j counts w_j in all counts
of labels; cluster sizes count objects.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from partita.core.types import FloatArray, IntArray, sealed
from partita.kernels.nbce import log_labels, log_shares, log_sticks, occupied
from partita.kernels.nbce_seats import seat
from partita.models.chains import log_memberships

Prior: TypeAlias = Literal["tsb", "fsd"]


@dataclass(frozen=True, eq=False)
class Rows:
    """What all chains share: the labels of all objects, and the kind of prior."""

    labels: IntArray
    """(n, r) read-only, MISSING where unobserved; the first labels of each chain where memberships are given."""
    offsets: IntArray
    """(r + 1,) read-only: where each clustering's labels begin among all."""
    weights: FloatArray
    """(r,) read-only: what a label of each clustering counts."""
    truncation: int
    """K, the most clusters there can be."""
    prior: Prior
    memberships: FloatArray | None = None
    """(n, t) read-only: the memberships that the labels are drawn from; None where labels are given."""

    @cached_property
    def even(self) -> bool:
        """Whether every label counts 1."""
        return bool((self.weights == 1).all())

    @property
    def sticks(self) -> bool:
        """Whether the prior is stick-breaking."""
        return self.prior == "tsb"


class Strengths(NamedTuple):
    """The parameters of both priors."""

    alpha: float
    """How many clusters the prior expects: alpha of the sticks or of the shares."""
    beta: float
    """Prior objects with each label of each clustering in each cluster."""


class Seats(NamedTuple):
    """Where all objects are, and what is counted of them; see `kernels.nbce`."""

    z: NDArray[np.int32]  # (n,) the cluster of each object, 0 … K - 1
    tables: NDArray[np.int32]  # (t, K + 1)
    totals: NDArray[np.int32]  # (r, K + 1)
    book: NDArray[np.int64]  # (3, K + 1)

    def copy(self) -> "Seats":
        """Seats that may be changed without changing these."""
        return Seats(self.z.copy(), self.tables.copy(), self.totals.copy(), self.book.copy())

    @property
    def clusters(self) -> int:
        """How many clusters hold objects."""
        return int(occupied(sealed(self.book)))


def seats_of(rows: Rows, z: IntArray) -> Seats:
    """Objects in given clusters."""
    width = rows.truncation + 1
    tables = np.zeros((int(rows.offsets[-1]), width), np.int32)
    seats = Seats(
        z.astype(np.int32), tables, np.zeros((len(rows.weights), width), np.int32), np.zeros((3, width), np.int64)
    )
    seat(rows.labels, rows.offsets, *seats)
    return seats


def log_prior(rows: Rows, seats: Seats, alpha: float) -> float:
    """The log of p(Z): the shares or sticks integrated out."""
    return float((log_sticks if rows.sticks else log_shares)(sealed(seats.book), len(seats.z), alpha))


def log_joint(rows: Rows, seats: Seats, strengths: Strengths) -> float:
    """The log of p(Z, Y); with weights the labels' part is of weighted counts and need not sum to 1.

    Where memberships are given, each label has its membership as a factor.
    """
    counts = (sealed(seats.tables), sealed(seats.totals))
    labels = log_labels(rows.offsets, rows.weights, *counts, seats.clusters, strengths.beta)
    evidence = log_memberships(rows.memberships, rows.labels, rows.offsets)
    return log_prior(rows, seats, strengths.alpha) + float(labels) + evidence


def mean_shares(sizes: IntArray, alpha: float, prior: Prior) -> FloatArray:
    """(K,) the posterior means of all clusters' shares, given their (K,) sizes; they sum to 1.

    >>> mean_shares(np.array([2, 1, 0]), 1.0, "fsd").round(3).tolist()
    [0.583, 0.333, 0.083]
    """
    if prior == "fsd":
        return np.asarray((sizes + alpha / len(sizes)) / (sizes.sum() + alpha))
    behind = sizes.sum() - np.cumsum(sizes)
    left = (alpha + behind) / (1 + alpha + behind + sizes)
    pieces = 1 - left
    pieces[-1] = 1.0
    return np.asarray(pieces * np.concatenate([[1.0], np.cumprod(left[:-1])]))
