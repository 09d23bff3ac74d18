"""select_k(): fit every k and subsets of the clusterings, compare, choose."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np

from partita._default_k import choose_k, covariance_of_choice
from partita.core.consensus import Consensus, by_appearance
from partita.core.errors import MethodError, ParameterError, PartitaError
from partita.core.interrupts import passed
from partita.core.k_choice import KChoice
from partita.core.method import checked_numbers
from partita.core.progress import steps
from partita.core.rng import named
from partita.core.threads import map_threads, thread_limit
from partita.core.types import MISSING, FrozenDict, IntArray, frozen, smallest_type
from partita.fitting import Asked, Fitting
from partita.selection.criteria import CRITERIA, DEFAULT, OF_ANY, OF_HALVES, Choice, check_known, choose, figures
from partita.selection.records import Selection, Trial
from partita.selection.stability import agreement, half_subsets, subset_fit, together

MOST_PARALLEL: Final = 1 << 20
"""Rows beyond which one fit after another runs, each on all threads, so that memory holds one at a time."""
SMALL_K: Final = 6
"""Up to this k, consecutive numbers of clusters are tried around it; above, numbers within a factor of 2."""
WHAT: Final = "choosing k"
FAILURES: Final = (PartitaError, ArithmeticError, MemoryError, RuntimeError, np.linalg.LinAlgError)
"""What one k may fail with while the others go on."""
ANMI_WARNING: Final = (
    "ANMI alone should not choose k: it is not corrected for the number of clusters and may rise until objects that "
    "belong together are parted; see what stability or BIC say"
)
Task: TypeAlias = tuple[int, int | None]
"""k, and the number of the subset of clusterings to fit; None for all of them."""


def select_k(
    ensemble: Any,
    k: Iterable[int] | None = None,
    method: str = "mm",
    *,
    criterion: str | None = None,
    repeats: int = 10,
    seed: int | None = 0,
    threads: int | None = None,
    **params: Any,
) -> Selection:
    """How many clusters: a consensus for every k, compared, and one k with the reason for it.

    Parameters
    ----------
    ensemble
        As for `partita.consensus`.
    k
        The numbers of clusters to try, or one. Numbers of a `range` above the number of unique rows are omitted with a
        note; in a list they are an error. Default: up to nine numbers around the k that `partita.consensus` chooses.
    method
        A name from `partita.methods()`.
    criterion
        "covariance" (default) is the rule by which `partita.consensus` chooses k; "bic", "icl" or "mml" need a method
        with a likelihood (mm), "bound" one with a variational bound (bce-vb); "stability", "pac" and "anmi" work for
        any method.
    repeats
        How many random halves of the clusterings stability and PAC compare; 0 leaves them out. Each is fitted for
        every k, so that this takes most of the time.
    seed
        Fixes every random choice; the halves are the same for every k.
    threads
        At most so many threads; the result does not depend on it.
    **params
        The method's own settings.

    A k that fails is recorded with its reason. After Ctrl-C the result has the finished numbers of clusters, and a note
    names the others.

    >>> table = [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1], [2, 2, 2], [2, 2, None]] * 5
    >>> chosen = select_k(table, [2, 3, 4])
    >>> chosen.k, chosen.criterion, chosen.consensus.k
    (3, 'covariance', 3)
    """
    check_known(criterion)
    asked = Asked.of(method, params, seed, function=select_k)
    halves = _whole(repeats, "repeats")
    with thread_limit(threads):
        fitting = asked.on(ensemble)
        table = fitting.k_table()
        numbers, notes = (None, []) if k is None else checked_numbers(k, max(len(table), fitting.rows))
        rule = choose_k(table, numbers)
        wanted = around(rule.k, len(table)) if numbers is None else numbers
        clusterings = len(fitting.work.ensemble.names)
        subsets = half_subsets(clusterings, halves, named(asked.seed, "subsets"))
        used = DEFAULT if criterion is None else criterion
        work = _Work(fitting, subsets, used, covariance_of_choice(table, rule, wanted))
        interrupted = work.run(wanted)
        trials = tuple(work.trial(k) for k in wanted if work.touched(k))
        _raise_if_all_failed(trials)
        if rule.k not in work.found:
            rule = choose_k(table, sorted(work.found))
        choice = _chosen(trials, used, rule, interrupted)
        notes = [*fitting.given.notes, *notes, *_told(trials, used, choice, fitting.rows)]
        notes += work.notes(wanted)
        labels = FrozenDict({k: work.labels_of(k) for k in wanted if k in work.found})
        best = fitting.emptied().restored(work.found[choice.k])
    by_others = {name: found.k for name in CRITERIA if (found := choose(trials, name)) is not None}
    return Selection(
        trials=trials,
        k=choice.k,
        criterion=used,
        reason=choice.reason,
        consensus=replace(best, k_choice=rule if used == DEFAULT else None),
        preferred=FrozenDict(by_others | {DEFAULT: rule.k}),
        notes=tuple(notes),
        interrupted=interrupted,
        k_choice=rule,
        labels=labels,
    )


def around(k: int, rows: int) -> list[int]:
    """Return up to nine numbers of clusters around k, at most the number of rows.

    >>> around(1, 99), around(4, 99), around(20, 99)
    ([1, 2, 3, 4, 5, 6, 7, 8, 9], [2, 3, 4, 5, 6, 7, 8, 9, 10], [10, 12, 14, 17, 20, 24, 28, 34, 40])
    """
    numbers: Iterable[int]
    if k <= SMALL_K:
        numbers = range(min(k, 2), min(k, 2) + 9)
    else:
        numbers = sorted({round(k * 2 ** (step / 4)) for step in range(-4, 5)})
    return [number for number in numbers if number <= rows]


@dataclass
class _Work:
    """The fits, and what has come of them so far."""

    fitting: Fitting
    subsets: list[tuple[int, ...]]
    criterion: str
    covariance: Mapping[int, float]
    found: dict[int, Consensus] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    labels: dict[Task, IntArray] = field(default_factory=dict)

    def run(self, ks: Sequence[int]) -> bool:
        """Fit all; whether the user stopped it. One k after another, so that those begun first are finished first."""
        tasks: list[Task] = [(k, number) for k in ks for number in (None, *range(len(self.subsets)))]
        try:
            if len(self.fitting.work.ensemble) > MOST_PARALLEL:
                for _ in steps(map(self.fit, tasks), len(tasks), WHAT):
                    pass
            else:
                map_threads(self.fit, tasks, WHAT)
        except KeyboardInterrupt:
            if not self.found:
                raise
            return any(k not in self.failed and not self.finished(k) for k in ks)
        return False

    def fit(self, task: Task) -> None:
        """One fit, unless this k has failed already."""
        k, number = task
        if k in self.failed:
            return
        job: Callable[[], Consensus] = partial(self.fitting.fit, k)
        if number is not None:
            job = partial(subset_fit, self.fitting, k, self.subsets[number], number)
        before = passed()
        try:
            result = job()
        except FAILURES as error:
            self.failed[k] = str(error) or type(error).__name__
            return
        if result.detail.get("interrupted"):
            raise KeyboardInterrupt  # the method kept its best state, but this k is not finished
        if number is not None:
            self.labels[task] = result.labels
        else:
            _check_criterion(self.criterion, self.figures(result), bool(self.subsets), self.fitting.asked.name)
            self.found[k] = result
        if passed() != before:
            raise KeyboardInterrupt  # pressed while this fit was laid out: it is kept, no other is begun

    def figures(self, result: Consensus) -> dict[str, Any]:
        """What a fit tells; methods made of methods tell of one that need not be the same for every k."""
        combines = self.fitting.asked.method.combines
        return {} if combines else figures(result, self.fitting.work.ensemble.counts)

    def finished(self, k: int) -> bool:
        """Whether the fit of this k and those of all subsets are there."""
        return k in self.found and all((k, number) in self.labels for number in range(len(self.subsets)))

    def touched(self, k: int) -> bool:
        """Whether something is known of this k."""
        return k in self.failed or k in self.found

    def trial(self, k: int) -> Trial:
        """All that is known of one k."""
        if k in self.failed:
            return Trial(k, failed=self.failed[k])
        result = self.found[k]
        known = self.figures(result) | {"covariance": self.covariance[k]}
        labels = [self.labels[k, b] for b in range(len(self.subsets)) if (k, b) in self.labels]
        clusters = len(np.unique(result.labels))
        if labels and len(labels) == len(self.subsets) and clusters > 1:
            stable = agreement(labels, self.fitting.work.ensemble.counts)
            if stable is not None:
                found = together(labels, self.fitting.work.ensemble.counts, self.fitting.asked.seed)
                known |= {"stability": stable.mean, "spread": stable.spread, "subsets": len(labels)}
                known["coassociation"] = found
        return Trial(k, clusters, float(result.scores["anmi"]), **known)

    def labels_of(self, k: int) -> IntArray:
        """The labels of the user's objects at one k, as `restore` numbers them."""
        found = self.found[k].labels
        width = int(found.max(initial=0)) + 1
        labels, _ = by_appearance(self.fitting.work.expand(found, MISSING), width)
        return frozen(labels.astype(smallest_type(width)))

    def notes(self, ks: Sequence[int]) -> list[str]:
        """What the fits have to tell, what is missing of the `ks`, and why there may be no stability."""
        told = [f"k = {k}: {note}" for k, result in sorted(self.found.items()) for note in result.notes]
        missing = [k for k in ks if not self.touched(k)]
        if missing:
            told.append(f"interrupted: k = {_listed(missing)} not finished")
        unsure = [k for k in ks if k in self.found and not self.finished(k)]
        if unsure:
            told.append(f"interrupted: the stability of k = {_listed(unsure)} is not known")
        if len(self.fitting.work.ensemble.names) < 3:
            told.append("stability needs at least three clusterings with labels, of which halves are compared")
        return told


def _whole(value: Any, name: str) -> int:
    try:
        found = operator.index(value)
    except TypeError:
        found = -1
    if found < 0 or isinstance(value, bool):
        raise ParameterError(f"{name}={value!r} is not a whole number >= 0; give how many halves to compare") from None
    return found


def _check_criterion(used: str, known: dict[str, Any], subsets: bool, name: str) -> None:
    """Refuse, after the first fit, a criterion that this method or table cannot serve."""
    rule = CRITERIA[used]
    if used in OF_ANY or (used in OF_HALVES and subsets) or rule.field in known:
        return
    others = [other for other, rule in CRITERIA.items() if rule.field in known]
    others += [*OF_HALVES, *OF_ANY] if subsets else [*OF_ANY]
    raise ParameterError(
        f"criterion {used!r} needs {rule.needs}; for {name} on this table there are: {', '.join(others)}"
    )


def _raise_if_all_failed(trials: Sequence[Trial]) -> None:
    if trials and all(trial.failed for trial in trials):
        reasons = {trial.failed: trial.k for trial in reversed(trials)}
        told = "; ".join(f"k = {k}: {reason}" for reason, k in reversed(reasons.items()))
        raise MethodError(f"no k could be fitted; {told}")


def _chosen(trials: Sequence[Trial], used: str, rule: KChoice, interrupted: bool) -> Choice:
    """The choice of the criterion."""
    if used == DEFAULT:
        return Choice(rule.k, rule.reason, rule.notes)
    choice = choose([trial for trial in trials if not trial.failed], used)
    if choice is not None:
        return choice
    if interrupted:
        raise KeyboardInterrupt
    raise ParameterError(
        f"{CRITERIA[used].title} is known for no k: every consensus found is a single cluster; try another k or method"
    )


def _told(trials: Sequence[Trial], used: str, choice: Choice, rows: int) -> list[str]:
    """What to know of a choice among at most `rows` clusters."""
    notes = [ANMI_WARNING] if used == "anmi" else []
    notes += choice.notes
    ks = [trial.k for trial in trials if not trial.failed and used != DEFAULT]
    if len(ks) > 1 and choice.k == ks[-1] < rows:
        notes.append(f"k = {choice.k} is the largest that was tried; larger ones may be better")
    if len(ks) > 1 and choice.k == ks[0] > 2:
        notes.append(f"k = {choice.k} is the smallest that was tried; smaller ones may be better")
    return notes + [f"k = {trial.k} failed: {trial.failed}" for trial in trials if trial.failed]


def _listed(ks: Sequence[int]) -> str:
    return ", ".join(map(str, ks))
