"""Which numbers of clusters are tried."""

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Any

from partita.core.errors import ParameterError


def checked_ks(ks: Any, rows: int, checked: Callable[[Any], int | None]) -> tuple[list[int], list[str]]:
    """The numbers of clusters to try, in order, and which were left out.

    `rows` is how many there are to divide: of a `range`, what lies beyond is left out with a note; in a list,
    `checked` raises.
    """
    if isinstance(ks, (str, bytes)) or not isinstance(ks, Iterable):
        raise ParameterError(f"ks={ks!r} is not a list of numbers; give those to try, such as range(2, 11) or [3, 5]")
    notes = []
    if isinstance(ks, range):
        rising = ks if ks.step > 0 else ks[::-1]
        if rising and max(abs(rising.start), abs(rising.stop)) > sys.maxsize:
            raise ParameterError(
                f"k = {rising.start} to {rising[-1]} are more than any table has rows; end the range sooner, such as "
                "range(2, 11) (--k 2..10)"
            )
        end = bisect_right(rising, rows)
        ks, beyond = rising[:end], rising[end:]
        if beyond:
            span = f"{beyond[0]}" if len(beyond) == 1 else f"{beyond[0]} to {beyond[-1]}"
            notes = [f"k = {span} left out: the table has only {rows} distinct rows"]
    wanted = {checked(k) for k in ks}
    if not wanted:
        raise ParameterError("; ".join([*notes, "no k is left to try; give at least one, not above the distinct rows"]))
    return sorted(k for k in wanted if k is not None), notes
