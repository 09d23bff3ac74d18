"""Concentrations of nonparametric Bayesian cluster ensembles, fitted to expected counts by Newton's method.

The log joint is a sum of terms plus or minus ln Gamma(x + N) - ln Gamma(x), N a count and x a concentration times some
number. Here each term has a weight: variational Bayes takes the terms at expected counts, whose log joint is part of
its bound; collapsed variational Bayes takes them at the count that is expected if there is any, times the chance that
there is one, which is nearly exact for components that hold parts of an object.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from scipy.special import gammaln

from partita.core.types import FloatArray, IntArray, sealed
from partita.kernels.gammas import add_slopes
from partita.models.nbce_bound import Columns, Hyper

LOWEST, HIGHEST = 1e-3, 1e3
"""The range of both concentrations: beyond it labels, or sizes, are as good as given by the prior alone."""
NEWTON_STEPS, HALVINGS = 3, 40
"""Steps at a time, since the counts change again, and how often one may be halved."""
STRIDE: Final = 2.0
"""How far a step of Newton's method goes at most, in the logarithm."""
SMALL_RISE: Final = 1e-12
"""The rise, relative to the height, below which a step needs no check."""
SETTLED: Final = 1e-6
"""The relative move that ends the steps."""


class Terms(NamedTuple):
    """Counts and the weights of their terms, of the same shape."""

    counts: FloatArray
    weights: FloatArray


class Counted(NamedTuple):
    """All counts of which the log joint is made."""

    sizes: Terms  # (m,) objects of a component
    tails: Terms  # (m,) objects of a component or one beyond it
    labels: Terms  # (t, m) labels of a component
    known: Terms  # (r, m) known labels of a component in a clustering
    objects: float


def counted(columns: Columns, offsets: IntArray) -> Counted:
    """Expected counts with the weight of their copies: the log joint is that of the columns."""

    def terms(values: FloatArray) -> Terms:
        return Terms(values / columns.copies, np.broadcast_to(columns.copies, values.shape))

    return Counted(
        terms(columns.sizes),
        terms(np.cumsum(columns.sizes[::-1])[::-1]),
        terms(columns.labels),
        terms(np.add.reduceat(columns.labels, offsets[:-1], axis=0)),
        float(columns.sizes.sum()),
    )


def learned(found: Counted, offsets: IntArray, hyper: Hyper) -> Hyper:
    """The concentrations that may be fitted some steps further up the log joint of the counts, each on its own."""
    if hyper.learn_alpha:
        hyper = hyper._replace(alpha=_climbed(alpha_parts(found, hyper), hyper.alpha))
    if hyper.learn_beta:
        hyper = hyper._replace(beta=_climbed(beta_parts(found, offsets), hyper.beta))
    return hyper


class Part(NamedTuple):
    """Terms sign (ln Gamma(scale c + shift + N) - ln Gamma(scale c + shift)) of a concentration c."""

    sign: float
    scale: float
    shift: float
    terms: Terms


def alpha_parts(found: Counted, hyper: Hyper) -> list[Part]:
    """The terms of the log joint in which alpha occurs."""
    if hyper.prior == "fsd":
        everyone = Terms(np.array([found.objects]), np.ones(1))
        return [Part(1.0, 1 / hyper.truncation, 0.0, found.sizes), Part(-1.0, 1.0, 0.0, everyone)]
    sticks = min(len(found.sizes.counts), hyper.truncation - 1)
    whole, beyond = (Terms(*(part[first : sticks + first] for part in found.tails)) for first in (0, 1))
    return [Part(1.0, 1.0, 0.0, beyond), Part(-1.0, 1.0, 1.0, whole)]


def beta_parts(found: Counted, offsets: IntArray) -> list[Part]:
    """The terms of the log joint in which beta occurs."""
    rows = [
        Part(-1.0, float(size), 0.0, Terms(*(part[j] for part in found.known)))
        for j, size in enumerate(np.diff(offsets).tolist())
    ]
    return [Part(1.0, 1.0, 0.0, found.labels), *rows]


def height(parts: list[Part], value: float) -> float:
    """The sum of all terms at a concentration."""
    total = 0.0
    for part in parts:
        x = part.scale * value + part.shift
        total += part.sign * float((part.terms.weights * (gammaln(x + part.terms.counts) - gammaln(x))).sum())
    return total


def slopes(parts: list[Part], value: float) -> tuple[float, float]:
    """Its first and second derivative."""
    first, second = 0.0, 0.0
    for part in parts:
        counts, weights = (sealed(np.ascontiguousarray(values).ravel()) for values in part.terms)
        one, two = add_slopes(counts, weights, part.scale * value + part.shift)
        first += part.sign * part.scale * one
        second += part.sign * part.scale**2 * two
    return first, second


def _climbed(parts: list[Part], value: float) -> float:
    return climbed(lambda x: height(parts, x), lambda x: slopes(parts, x), value)


def climbed(height: Callable[[float], float], slopes: Callable[[float], tuple[float, float]], x: float) -> float:
    """A place near a maximum of `height` over its range, not lower than x, by Newton's method in the logarithm.

    `slopes` gives the first and the second derivative. Where the curve is not bent downwards, and where a step would be
    longer, it is STRIDE long; a step that lowers the height is halved until it does not, unless what it can raise is
    lost in rounding: such a step is taken as it is.
    """
    top = height(x)
    for _ in range(NEWTON_STEPS):
        first, second = slopes(x)
        slope, bend = x * first, x * first + x * x * second
        step = -slope / bend if bend < 0 else np.sign(slope) * STRIDE
        step = float(np.clip(step, -STRIDE, STRIDE))
        for _ in range(HALVINGS):
            found = float(np.clip(x * np.exp(step), LOWEST, HIGHEST))
            reached = height(found)
            if reached >= top or slope * step <= SMALL_RISE * (1 + abs(top)):
                break
            step /= 2
        else:
            return x
        moved, x, top = abs(found - x) / x, found, reached
        if moved <= SETTLED:
            break
    return x
