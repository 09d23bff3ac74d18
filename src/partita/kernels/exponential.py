"""Exponentials of many numbers, none above 0, in a loop that the compiler can turn into vector instructions.

exp(x) = 2^m exp(rest) with m the whole number nearest to x / ln 2 and a rest of at most ln 2 / 2, for which thirteen
terms of the series are exact to the last bit but one. The system's exponential takes one number at a time.
"""

from typing import Final

import numpy as np

from partita.kernels.compiling import Array, kernel

LOWEST: Final = -745.2
"""Its exponential is 0, as that of all numbers below it."""
PER_LN2, LN2_HIGH, LN2_LOW = 1 / np.log(2.0), 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""1 / ln 2, and ln 2 in two parts, the first with zeros behind so that its multiples are exact."""
POWERS: Final = np.ldexp(1.0, -np.arange(1077))
"""2^-m; 0 from 2^-1075 on."""
C2, C3, C4, C5, C6, C7 = (1 / float(value) for value in (2, 6, 24, 120, 720, 5040))
C8, C9, C10, C11, C12, C13 = (1 / float(value) for value in (40320, 362880, 3628800, 39916800, 479001600, 6227020800))


@kernel
def exponentials(values: Array, count: int) -> None:
    """Put the exponential of each of the first `count` values, none above 0, in its place."""
    for i in range(count):
        x = max(values[i], LOWEST)
        m = np.floor(x * PER_LN2 + 0.5)
        r = (x - m * LN2_HIGH) - m * LN2_LOW
        high = C8 + r * (C9 + r * (C10 + r * (C11 + r * (C12 + r * C13))))
        series = 1.0 + r * (1.0 + r * (C2 + r * (C3 + r * (C4 + r * (C5 + r * (C6 + r * (C7 + r * high)))))))
        values[i] = series * POWERS[np.int32(-m)]
