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
def add_slopes(counts: Array, copies: Array, prior: float, start: int, stop: int) -> tuple[float, float]:
    """The first two derivatives, with respect to x, of the sum of copies (ln Gamma(x + count) - ln Gamma(x)) at prior.

    Over the rows from start to stop of `counts`, (rows, columns); each column stands for `copies` of it.
    """
    first, second = 0.0, 0.0
    one, two = digamma(prior), trigamma(prior)
    for place in range(start, stop):
        for c in range(counts.shape[1]):
            first += copies[c] * (digamma(prior + counts[place, c]) - one)
            second += copies[c] * (trigamma(prior + counts[place, c]) - two)
    return first, second
