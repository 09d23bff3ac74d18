"""compare(): every method at every k, side by side."""

import multiprocessing
import operator
from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from partita import registry
from partita._default_k import canonical_table, choose_k
from partita.comparing.choosing import chosen_methods
from partita.comparing.measuring import Bench, Task, lost
from partita.comparing.records import Compared, Comparison
from partita.comparing.sharing import shared
from partita.comparing.working import begin, fit_held
from partita.core.errors import MethodError, ParameterError
from partita.core.k_choice import KChoice
from partita.core.method import check_several, checked_numbers
from partita.core.processes import Crew
from partita.core.progress import report
from partita.core.rng import resolve_seed
from partita.core.soft import AnyEnsemble, as_ensemble
from partita.core.suggest import suggests_names
from partita.core.threads import current, thread_limit
from partita.core.types import FrozenDict

WHAT: Final = "comparing"
FEW_CELLS: Final = 1_000_000
"""Labels times fits up to which workers are not worth their start."""
MOST_PARALLEL: Final = 1 << 20
"""Objects beyond which one fit after another runs, on all threads, so that memory holds one at a time."""


@suggests_names
def compare(
    ensemble: Any,
    k: Iterable[int] | None = None,
    methods: Any = None,
    *,
    find_k: bool = False,
    seed: int | None = 0,
    workers: int | None = None,
    threads: int | None = None,
) -> Comparison:
    """Every method at every k: agreement with the clusterings, confidence, time and memory.

    Parameters
    ----------
    ensemble
        As for `partita.consensus`.
    k
        The numbers of clusters to compare; an empty list if only `find_k` is of interest. Default: the k that
        `partita.consensus` chooses.
    methods
        Names or patterns ("nbce-*"), in a list or with commas; "all" for every method. Left out: those that suit the
        table; `left_out` of the result says why the others do not.
    find_k
        Also run the methods that infer the number of clusters (nbce-*), once each, in rows whose k is None.
    seed
        Fixes every random choice; every fit gets the same seed, as if made by `partita.consensus`.
    workers
        How many fits run side by side, each in a process of its own; 1 makes them one after another in this process.
        Left out: this process for a small table, else one a processor. The results do not depend on it, but time does.
    threads
        At most so many threads in all; workers share them.

    A method that fails at some k is a row with its reason, and so is one whose worker is killed. Ctrl-C ends it with
    the rows that are finished.

    >>> table = [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 0], [2, 2, 2], [2, 2, None]]
    >>> found = compare(table, [2, 3], "mcla, voting", workers=1)
    >>> [(row.method, row.k, row.clusters) for row in found.rows]
    [('mcla', 2, 2), ('voting', 2, 2), ('mcla', 3, 3), ('voting', 3, 3)]
    >>> found.best_at(3).method
    'mcla'
    """
    given, used = as_ensemble(ensemble), resolve_seed(seed)
    check_several(given)
    asked = _checked_workers(workers)
    with thread_limit(threads):
        numbers, choice, notes = _numbers(k, find_k, given)
        chosen = chosen_methods(methods, given, max(numbers, default=1))
        tasks, unable = _tasks([*numbers, *([None] if find_k else [])], chosen.names)
        work = _Work(given, used, len(tasks))
        plan = _plan(asked, len(tasks), given)
        interrupted = work.run(tasks, plan)
    notes = [*given.notes, *notes, *unable, *work.notes(tasks)]
    rows = tuple(work.found[task] for task in tasks if task in work.found)
    left_out = FrozenDict(chosen.left_out)
    return Comparison(rows, left_out, tuple(notes), used, plan.workers, plan.threads, interrupted, choice)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the fits are spread."""

    workers: int
    threads: int
    apart: bool
    """Whether in processes of their own."""


@dataclass
class _Work:
    """The fits, and what has come of them so far."""

    ensemble: AnyEnsemble
    seed: int
    total: int
    found: dict[Task, Compared] = field(default_factory=dict)

    def run(self, tasks: Sequence[Task], plan: _Plan) -> bool:
        """Make all fits; whether the user stopped it. One k after another, so that whole ks are finished first."""
        try:
            if not plan.apart:
                bench = Bench(self.ensemble, self.seed, plan.threads)
                Crew(bench.measure, lost).here(tasks, self.take)
            else:
                self._apart(tasks, plan)
        except KeyboardInterrupt:
            if not self.found:
                raise
            return len(self.found) < self.total
        return False

    def _apart(self, tasks: Sequence[Task], plan: _Plan) -> None:
        with shared(self.ensemble) as kept:
            start: Callable[[], None] = partial(begin, kept, self.seed, plan.threads)
            crew = Crew(fit_held, lost, start, kept.remove)
            crew.apart(tasks, plan.workers, self.take)

    def take(self, row: Compared) -> None:
        """One row; the second time it is handed over, after Ctrl-C, it is known already."""
        self.found.setdefault(Task(row.method, row.k), row)
        report(WHAT, len(self.found), self.total)

    def notes(self, tasks: Sequence[Task]) -> list[str]:
        """What is missing, and what could not be measured."""
        told = []
        missing = [task for task in tasks if task not in self.found]
        if missing:
            ks = dict.fromkeys("its own" if task.k is None else str(task.k) for task in missing)
            told.append(f"interrupted: {len(missing)} of {len(tasks)} fits not finished (k = {', '.join(ks)})")
        if any(row.seconds is not None and row.memory is None for row in self.found.values()):
            told.append("memory is told only where a fit took more than all before it: this system keeps one peak")
        return told


def _checked_workers(workers: Any) -> int | None:
    if workers is None:
        return None
    try:
        found = operator.index(workers)
    except TypeError:
        found = 0
    if found < 1 or isinstance(workers, bool):
        raise ParameterError(f"workers={workers!r} is not a whole number >= 1; leave it out for one a processor")
    return found


def _numbers(k: Any, find_k: bool, ensemble: AnyEnsemble) -> tuple[list[int], KChoice | None, list[str]]:
    """The numbers of clusters to ask for, in order, the choice of the default rule among them, and notes."""
    if find_k and isinstance(k, Sized) and len(k) == 0:
        return [], None, []
    table = canonical_table(ensemble)
    if k is None:
        choice = choose_k(table)
        return [choice.k], choice, list(choice.sentences())
    numbers, notes = checked_numbers(k, len(table))
    return numbers, choose_k(table, numbers) if len(numbers) > 1 else None, notes


def _tasks(ks: Sequence[int | None], names: Sequence[str]) -> tuple[list[Task], list[str]]:
    """Every method at every k, and which cannot find k."""
    unable = [name for name in names if not registry.get(name).chooses_k]
    tasks = [Task(name, k) for k in ks for name in names if k is not None or name not in unable]
    if not tasks:
        raise MethodError(f"none of {', '.join(names)} infers the number of clusters; give k (--k)")
    told = None in ks and unable
    return tasks, [f"not run without k, which they do not infer: {', '.join(unable)}"] if told else []


def _plan(workers: int | None, tasks: int, ensemble: AnyEnsemble) -> _Plan:
    """Workers times threads are at most the threads allowed here, unless more workers are asked for."""
    threads = current()
    if workers == 1 or multiprocessing.current_process().daemon:  # which may start no processes
        return _Plan(1, threads, apart=False)
    if workers is None:
        if len(ensemble) * len(ensemble.names) * tasks <= FEW_CELLS:
            return _Plan(1, threads, apart=False)
        workers = 1 if len(ensemble) > MOST_PARALLEL else threads
    workers = min(workers, tasks)
    return _Plan(workers, max(threads // workers, 1), apart=True)
