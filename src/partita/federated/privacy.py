"""What a site can do to its labels or counts before they leave it, and what that costs in privacy.

Randomised labels protect each label against everybody; noise on counts protects each object against whoever sees the
sums (zero-concentrated differential privacy, Bun and Steinke 2016); leaving out small counts is a custom of statistical
offices without a guarantee. Noise must come from a generator that the operating system has seeded, outside simulation.
"""

import hashlib
import hmac
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.ensemble import Ensemble
from partita.core.errors import FederatedError, ParameterError
from partita.core.types import MISSING, FloatArray, IntArray
from partita.federated.messages import Terms


class LabelCost(NamedTuple):
    """What randomised response gives away, as the epsilon of local differential privacy."""

    label: float
    """For one label."""
    object: float
    """For all labels of one object, which add up."""

    def told(self) -> str:
        """In one line."""
        return (
            f"labels randomised: epsilon = {self.label:.4g} for each label, {self.object:.4g} for all labels of an "
            "object; which labels are missing is not hidden"
        )


class Budget(NamedTuple):
    """What noise on the counts of a whole run gives away about whether any one object is among them."""

    rho: float
    delta: float
    rounds: int
    """How often counts are sent."""
    sensitivity: float

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise on every count."""
        return noise_scale(self.sensitivity, self.rounds, self.rho)

    @property
    def epsilon(self) -> float:
        """At `delta`."""
        return epsilon_of(self.rho, self.delta)

    def told(self) -> str:
        """In one line."""
        return (
            f"noise of standard deviation {self.sigma:.4g} on every count: rho = {self.rho:.4g} (zCDP) over "
            f"{self.rounds} rounds, which is epsilon = {self.epsilon:.4g} at delta = {self.delta:.4g} for each object"
        )


def randomise(ensemble: Ensemble, epsilon: float, lots: FloatArray) -> Ensemble:
    """Every known label kept with chance e^epsilon / (e^epsilon + K - 1), else one of the K - 1 others, evenly.

    `lots` are (n, r, 2) independent numbers, even in [0, 1): whether to keep a label, and which to take instead.

    K counts the labels of a clustering that could occur, `ensemble.sizes`; all sites must have agreed on them, or the
    number itself tells something. Missing labels stay missing, and a clustering with one label stays as it is.
    """
    check_positive("epsilon", epsilon)
    if ensemble.multiplicity is not None:
        raise FederatedError("rows that stand for several objects cannot be randomised; give every object a row")
    labels = np.array(ensemble.labels)
    for j, size in enumerate(ensemble.sizes):
        if size > 1:
            _randomise_column(labels[:, j], size, epsilon, lots[:, j])
    return replace(ensemble, labels=labels)


def lots_of(entropy: int, ensemble: Ensemble, ids: Any) -> FloatArray:
    """(n, r, 2) lots that hang on a secret, an object's id, a clustering and its labels: the same in every run.

    So the labels of an object are drawn once, whatever rows stand beside it. Without ids its place in the table counts.
    """
    keys = [str(one).encode() for one in (range(len(ensemble)) if ids is None else ids.tolist())]
    secret = entropy.to_bytes(max(1, (entropy.bit_length() + 7) // 8), "little")
    lots = np.empty((len(ensemble), len(ensemble.names), 2))
    for j, (name, labels) in enumerate(zip(ensemble.names, ensemble.classes, strict=True)):
        about = hashlib.sha256(repr((name, [str(label) for label in labels])).encode()).digest()
        column = hmac.digest(secret, b"partita randomise " + about, "sha256")
        drawn = b"".join(hashlib.blake2b(key, digest_size=16, key=column).digest() for key in keys)
        lots[:, j] = (np.frombuffer(drawn, "<u8").reshape(-1, 2) >> np.uint64(11)) * 2.0**-53
    return lots


def randomise_cost(epsilon: float, labels: int) -> LabelCost:
    """The cost of `randomise` where objects have at most `labels` known labels."""
    check_positive("epsilon", epsilon)
    return LabelCost(epsilon, epsilon * labels)


def sensitivity_of(weights: Sequence[float] | FloatArray) -> float:
    """How far label counts and cluster sizes together can move, as a length, when one object is added or removed.

    An object has shares q_c of the clusters, which are not negative and sum to 1, so that sum q_c^2 <= 1. It adds q to
    the sizes, and in clustering j, if it has a label there, w_j q to the counts of that label: in all at most
    (1 + sum w_j^2) sum q_c^2. An object that is wholly in one cluster and has all labels reaches the bound.
    Memberships s of labels, which sum to 1, spread w_j q over several labels and move no more. `weights` are what the
    counts are multiplied by before they are sent: 1 for every clustering where they are not. An object that counts for
    c objects moves c times as much.
    """
    return math.sqrt(1 + math.fsum(float(weight) ** 2 for weight in weights))


def noise_scale(sensitivity: float, rounds: int, rho: float) -> float:
    """The standard deviation with which `rounds` releases cost `rho`: rounds * sensitivity^2 / (2 sigma^2)."""
    check_positive("rho", rho)
    check_positive("sensitivity", sensitivity)
    if rounds < 1:
        raise ParameterError(f"rounds = {rounds}, but counts are sent at least once; give a number >= 1")
    return sensitivity * math.sqrt(rounds / (2 * rho))


def epsilon_of(rho: float, delta: float) -> float:
    """The epsilon that holds at `delta` under rho-zCDP."""
    check_positive("rho", rho)
    if not 0 < delta < 1:
        raise ParameterError(f"delta = {delta} is not between 0 and 1; 1e-6 is usual")
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def add_noise(arrays: Mapping[str, FloatArray], sigma: float, rng: Generator) -> dict[str, FloatArray]:
    """The arrays with independent Gaussian noise of standard deviation `sigma` on every number."""
    return {name: array + rng.normal(0.0, sigma, np.shape(array)) for name, array in arrays.items()}


def suppress(counts: FloatArray, below: float) -> FloatArray:
    """The counts, with 0 in place of those closer to 0 than `below`.

    Where there is noise, after it and never before: one object could otherwise move a count by `below` instead of 1.
    """
    return np.where(np.abs(counts) < below, 0.0, counts)


def _randomise_column(column: IntArray, size: int, epsilon: float, lots: FloatArray) -> None:
    """Replace labels of one clustering in place; what is drawn does not depend on the labels."""
    kept = 1 / (1 + (size - 1) * math.exp(-epsilon))
    places = np.flatnonzero((lots[:, 0] >= kept) & (column != MISSING))
    steps = 1 + (lots[places, 1] * (size - 1)).astype(np.int64)
    column[places] = (column[places] + steps) % size


def check_positive(name: str, value: Any) -> None:
    """Raise unless the value is a positive, finite number."""
    if not (value > 0 and math.isfinite(value)):
        raise ParameterError(f"{name}={value} is not a positive number; give one, smaller for more privacy")


def why_no_confidence(terms: Terms) -> str:
    """The note on a run whose results have no confidence; empty where they have it."""
    if terms.layout == "columns":
        return "no confidence: it depends on all labels of an object, which are at different sites"
    if terms.rho:
        return "no confidence: the table of labels by cluster is not charged to the privacy budget"
    if terms.suppress:
        return "no confidence: it depends on all counts of labels by cluster, and small ones are suppressed"
    return ""
