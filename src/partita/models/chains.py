"""What samplers share: one row an object, and chains that run side by side until they are done or stopped."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

from partita.core.errors import MethodError
from partita.core.progress import report
from partita.core.soft import AnyEnsemble
from partita.core.threads import map_threads
from partita.core.types import FloatArray, IntArray


class Traced(Protocol):
    """A chain that knows how many sweeps it has made."""

    @property
    def trace(self) -> tuple[Any, ...]:
        """One entry for every sweep."""


C = TypeVar("C", bound=Traced)


def one_row_an_object(ensemble: AnyEnsemble, method: str) -> IntArray:
    """The rows, each as often as it stands for an object."""
    times = np.rint(ensemble.counts)
    if (times != ensemble.counts).any():
        odd = float(ensemble.counts[times != ensemble.counts][0])
        raise MethodError(
            f"{method} draws object by object, and a row stands for {odd:g} objects; give whole counts, or take a "
            "method to which counts are weights, such as mm"
        )
    return np.repeat(np.arange(len(ensemble)), times.astype(np.int64))


def log_memberships(memberships: FloatArray | None, labels: IntArray, offsets: IntArray) -> float:
    """The sum of the logarithms of the (n, t) memberships of all known labels (n, r); 0 without memberships."""
    if memberships is None:
        return 0.0
    shares = np.take_along_axis(memberships, offsets[:-1] + np.maximum(labels, 0), axis=1)
    return float(np.log(shares[labels >= 0]).sum())


def run_chains(step: Callable[[C], C], chains: list[C], sweeps: int, what: str) -> list[C]:
    """Move all chains on by `step`, side by side, until they have made so many sweeps.

    Ctrl-C leaves them after the last step that all have made, once there is one.
    """
    try:
        while len(chains[0].trace) < sweeps:
            chains = map_threads(step, chains)
            report(what, len(chains[0].trace), sweeps)
    except KeyboardInterrupt:
        if not chains[0].trace:
            raise
    return chains
