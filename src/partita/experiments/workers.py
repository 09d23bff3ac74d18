"""Units over processes: each outcome handed over as it comes."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from partita.core.processes import Crew
from partita.experiments.measuring import Outcome, measure
from partita.experiments.units import Settings, Unit

DIED: Final = "the process that measured it died (killed, out of memory, or a crash in compiled code)"


def measure_all(units: Sequence[Unit], settings: Settings, workers: int, emit: Callable[[Outcome], None]) -> None:
    """Hand every outcome to `emit` as it comes; one worker works in this process.

    On Ctrl-C the workers are ended, what they had finished is handed over, and the interrupt goes on.
    """
    crew = Crew(partial(measure, settings=settings), _lost)
    if workers == 1:
        crew.here(units, emit)
    else:
        crew.apart(units, workers, emit)


def _lost(unit: Unit) -> Outcome:
    return Outcome(unit, {}, 0.0, error=DIED)
