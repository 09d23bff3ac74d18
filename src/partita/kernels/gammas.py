"""Derivatives of the logarithm of the gamma function, and sums of them over tables of counts."""

from partita.kernels.compiling import Array, kernel
from partita.kernels.dirichlet import digamma


@kernel
def trigamma(x: float) -> float:
    """The second derivative of ln Gamma at x > 0: recurrence up to 10, then the asymptotic series."""
    total = 0.0
    while x < 10.0:
        total += 1.0 / (x * x)
        x += 1.0
    inverse = 1.0 / (x * x)
    tail = 1 / 30 - inverse * (1 / 42 - inverse * (1 / 30 - inverse * (5 / 66 - inverse * 691 / 2730)))
    return total + 1.0 / x + 0.5 * inverse + inverse / x * (1 / 6 - inverse * tail)


@kernel
def add_slopes(counts: Array, weights: Array, x: float) -> tuple[float, float]:
    """The first two derivatives with respect to x of the weighted sum of ln Gamma(x + count) - ln Gamma(x)."""
    first, second = 0.0, 0.0
    one, two = digamma(x), trigamma(x)
    for place in range(counts.shape[0]):
        first += weights[place] * (digamma(x + counts[place]) - one)
        second += weights[place] * (trigamma(x + counts[place]) - two)
    return first, second
