"""The whole way: which papers, what to measure, and all of it as records for a report."""

import platform
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from partita.core.records import ShownRun
from partita.core.threads import available
from partita.experiments.runner import Results, choose, run
from partita.experiments.showing import Asked, show
from partita.experiments.units import Settings
from partita.version import __version__


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What to reproduce, and how."""

    papers: tuple[str, ...]
    """Keys of papers, dotted modules that export PAPER, or all."""
    exhibits: tuple[str, ...] = ()
    """Keys such as table-3; none for all."""
    settings: Settings = Settings()  # noqa: RUF009  # frozen
    draws: int | None = None
    """Draws a row, instead of those of the exhibits."""
    workers: int = 1

    @property
    def command(self) -> str:
        """How to ask for it on the command line; folders and workers change nothing and are left out."""
        words = ["partita", "reproduce", *self.papers]
        for key in self.exhibits:
            kind, _, number = key.partition("-")
            words += [f"--{kind}", number]
        words += ["--quick"] if self.settings.quick else []
        words += ["--draws", str(self.draws)] if self.draws is not None else []
        return shlex.join([*words, "--seed", str(self.settings.seed)])


def reproduce(wanted: Reproduction, folder: Path) -> tuple[ShownRun, Results]:
    """Measure what `folder` does not have yet; all of it beside what the papers print."""
    chosen = choose(wanted.papers, wanted.exhibits)
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    results = run(chosen, wanted.settings, folder, wanted.workers, wanted.draws)
    asked = Asked(wanted.settings.quick, wanted.draws, wanted.settings.data, wanted.settings.seed)
    papers = tuple(show(each, results, asked) for each in chosen)
    spent = {(r.paper, r.exhibit, r.row, r.draw): r.seconds for r in results.records}
    made = ShownRun(
        command=wanted.command,
        seed=wanted.settings.seed,
        quick=wanted.settings.quick,
        workers=wanted.workers,
        date=date,
        seconds=results.seconds,
        trial_seconds=sum(spent.values()),
        environment=environment(),
        papers=papers,
        notes=_notes(wanted, results),
        interrupted=results.interrupted,
    )
    return made, results


def _notes(wanted: Reproduction, results: Results) -> tuple[str, ...]:
    notes = (
        [f"{results.resumed} trials were made by earlier runs; the time of this run is without them"]
        if results.resumed
        else []
    )
    if wanted.draws is not None:
        notes.append(f"every row has {wanted.draws} draws (--draws) in place of those of its exhibit")
    if results.interrupted:
        notes.append("the run was interrupted: some trials are not in it; the same command goes on from here")
    return tuple(notes)


def environment(packages: Sequence[str] = ("numpy", "scipy", "scikit-learn", "numba")) -> tuple[str, ...]:
    """Versions and processors, without a name or path of the machine."""
    lines = [f"partita {__version__}", f"Python {platform.python_version()}"]
    lines += [f"{name} {version(name)}" for name in packages]
    return (*lines, f"{platform.system()} {platform.machine()}, {available()} processors")
