"""Runs from several starts, the best objective winning; an interruption keeps what there is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from numpy.random import Generator

from partita.core.counting import assigned, unit_weights
from partita.core.ensemble import Ensemble
from partita.core.iterate import Interrupted, Run, Tick
from partita.core.progress import report
from partita.core.sampling import collapsed, draw_sample
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.types import IntArray
from partita.models.mixture import Counts, maximise, scores_of, softened
from partita.starts import DISTRIBUTED, STARTS

S = TypeVar("S")
E = TypeVar("E", bound=Ensemble | SoftEnsemble)
SAMPLE, SAMPLE_PER_CLUSTER = 4096, 100
"""How many rows a start needs to see where its labels are counted, not kept."""


@dataclass(frozen=True, slots=True)
class Runs(Generic[S]):
    """Finished runs, perhaps with one that was stopped."""

    all: tuple[Run[S], ...]
    best: Run[S]
    interrupted: bool

    def told(self) -> dict[str, Any]:
        """What a `Consensus` tells of the runs, as its fields."""
        detail: dict[str, Any] = {"objective": self.best.trace[-1]}
        detail["restart objectives"] = tuple(run.trace[-1] for run in self.all)
        notes: tuple[str, ...] = ()
        if self.interrupted:
            detail["interrupted"] = True
            notes = (f"interrupted: the best state so far, after {len(self.best.trace)} iterations, not converged",)
        elif not self.best.converged:
            notes = (f"not converged after {len(self.best.trace)} iterations; raise max_iter",)
        converged = self.best.converged and not self.interrupted
        return {"trace": self.best.trace, "converged": converged, "detail": detail, "notes": notes}


def start_labels(ensemble: AnyEnsemble, init: str, k: int, rng: Generator) -> IntArray:
    """Return (n,) labels of the named initialization, equal for equal rows; most initializations harden memberships."""
    unique, inverse = collapsed(ensemble)
    hardened = unique if isinstance(unique, Ensemble) or init in DISTRIBUTED else unique.harden()
    return STARTS[init](hardened, k, rng)[inverse]


def sample_of(ensemble: E, init: str, k: int, rng: Generator) -> E:
    """Return the rows from which an initialization is computed: all of them, or a sample of several thousand."""
    if init in DISTRIBUTED:
        return ensemble
    size = max(SAMPLE, SAMPLE_PER_CLUSTER * k)
    few, _ = collapsed(ensemble)
    if len(few) <= 2 * size:
        return ensemble
    places, factors = draw_sample(few.counts, size, rng)
    return cast(E, few.rows(places).with_counts(few.counts[places] * factors))


def placed_start(ensemble: AnyEnsemble, init: str, k: int, rng: Generator) -> IntArray:
    """(n,) labels of a start for every row: of many rows those of a sample, the others where they fit best."""
    part = sample_of(ensemble, init, k, rng)
    labels = start_labels(part, init, k, rng)
    if part is ensemble:
        return labels
    counts = softened(part, labels, k)
    fitted = maximise(counts._replace(labels=counts.labels + 1 / k), part.offsets, 0.0, unit_weights(part))
    return assigned(ensemble, scores_of(fitted, ensemble), fitted.log_weights)[0]


def start_counts(ensemble: AnyEnsemble, init: str, k: int, rng: Generator) -> Counts:
    """The label counts of a start, softened; of many rows a sample is enough, with a little of every label it lacks."""
    part = sample_of(ensemble, init, k, rng)
    counts = softened(part, start_labels(part, init, k, rng), k)
    return counts if part is ensemble else counts._replace(labels=counts.labels + 1 / k)


def best_of(
    begin: Callable[[Generator], Any],
    run: Callable[[Any, Tick], Run[S]],
    rngs: Sequence[Generator],
    *,
    what: str,
    highest: bool,
) -> Runs[S]:
    """`run(begin(rng), tick)` for every generator; Ctrl-C ends it with what there is, or goes on up."""
    runs: list[Run[S]] = []
    interrupted = False
    for done, rng in enumerate(rngs):
        try:
            first = begin(rng)
            try:
                runs.append(run(first, _ticker(what, done, len(rngs))))
            except Interrupted as stop:
                runs.append(stop.run)
                interrupted = True
                break
        except KeyboardInterrupt:
            if not runs:
                raise
            interrupted = True
            break
    pick = max if highest else min
    return Runs(tuple(runs), pick(runs, key=lambda found: found.trace[-1]), interrupted)


def _ticker(what: str, done: int, total: int) -> Tick:
    """Report whole runs, and a share of the running one that grows with its iterations."""
    return lambda iteration: report(what, done + iteration / (iteration + 10), total)
