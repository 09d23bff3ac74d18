"""leave_one_out(): what each clustering brings to the consensus, by fitting without it."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from partita.core.consensus import Consensus
from partita.core.errors import TableError
from partita.core.interrupts import passed
from partita.core.progress import steps
from partita.core.soft import AnyEnsemble
from partita.core.suggest import suggests_names
from partita.core.threads import map_threads, thread_limit
from partita.core.types import FloatArray, FrozenArrays, IntArray
from partita.fitting import Asked
from partita.metrics import anmi, ari_of, contingency, nmi_of
from partita.selection.selecting import FAILURES, MOST_PARALLEL

WHAT: Final = "leaving out"
LEAST: Final = 3
"""Clusterings: without one, two are left."""


@dataclass(frozen=True, eq=False)
class LeaveOneOut(FrozenArrays):
    """The consensus, and how it changes where one clustering is not there; NaN where a fit failed."""

    names: tuple[str, ...]
    consensus: Consensus
    """Of all clusterings."""
    anmi: float
    """Of that consensus, over all clusterings."""
    nmi: FloatArray
    """(r,) normalised mutual information of the consensus without each clustering and the one of all."""
    ari: FloatArray
    """(r,) adjusted Rand index of the two."""
    without: FloatArray
    """(r,) ANMI, over all clusterings, of the consensus without each."""
    failed: tuple[str, ...]
    """Per clustering, why there is no consensus without it; empty where there is one."""
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    """Whether the user stopped it (Ctrl-C) before all was done."""

    @property
    def order(self) -> IntArray:
        """(r,) the clusterings, the one without which the consensus changes most first; those not known come last."""
        return np.argsort(self.nmi, kind="stable")

    def __repr__(self) -> str:
        first = int(self.order[0])
        told = f"{self.names[first]!r} moves it most, NMI {self.nmi[first]:.3f} without it"
        return f"LeaveOneOut({self.consensus!r}: {told})"


@suggests_names
def leave_one_out(
    ensemble: Any, k: int | None = None, method: str = "auto", *, seed: int | None = 0, threads: int | None = None
) -> LeaveOneOut:
    """The consensus fitted again without each clustering, compared with the consensus of all.

    Parameters
    ----------
    ensemble
        As for `partita.consensus`; at least three clusterings.
    k
        The number of clusters; optional where the method finds it, and then found anew without each clustering.
    method
        A name from `partita.methods()`, with its default settings.
    seed
        Fixes every random choice; every fit gets the same seed, as if made by `partita.consensus` on
        `ensemble.columns(...)`.
    threads
        At most so many threads; the result does not depend on it.

    Objects whom no other clustering knows are not compared. A fit that fails (the others may have fewer than k
    different rows) is recorded with its reason. Ctrl-C ends it with those that are finished.

    >>> table = [[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1], [1, 1, 1, 0], [2, 2, 2, 1], [2, 2, 2, 0]]
    >>> found = leave_one_out(table, 3, "mcla")
    >>> found.nmi.round(3).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    asked = Asked.of(method, {}, seed)
    with thread_limit(threads):
        fitting = asked.on(ensemble)
        given = fitting.given
        if len(given.names) < LEAST:
            raise TableError(f"{len(given.names)} clusterings are too few to leave one out; give at least {LEAST}")
        whole = fitting.fit(k)
        whole = fitting.emptied().restored(whole)
        work = _Leaving(asked, given, k, whole.labels)
        interrupted = bool(whole.detail.get("interrupted")) or work.run()
    return work.told(whole, interrupted)


@dataclass
class _Leaving:
    """The fits, and what has come of them so far."""

    asked: Asked
    given: AnyEnsemble
    k: int | None
    labels: IntArray
    found: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)

    def run(self) -> bool:
        """Fit without each; whether the user stopped it."""
        places = range(len(self.given.names))
        try:
            if len(self.given) > MOST_PARALLEL:
                for _ in steps(map(self.fit, places), len(places), WHAT):
                    pass
            else:
                map_threads(self.fit, places, WHAT)
        except KeyboardInterrupt:
            return True
        return False

    def fit(self, place: int) -> None:
        """The consensus without one clustering, compared at once, so that no labels need be kept."""
        before = passed()
        try:
            result = self.without(place)
        except FAILURES as error:
            self.failed[place] = str(error) or type(error).__name__
            return
        if result.detail.get("interrupted"):
            raise KeyboardInterrupt  # the method kept its best state, but this fit is not finished
        table = contingency(result.labels, self.labels, self.given.counts)
        self.found[place] = nmi_of(table), ari_of(table), anmi(self.given, result.labels)
        if passed() != before:
            raise KeyboardInterrupt  # pressed while this fit was laid out: it is kept, no other is begun

    def without(self, place: int) -> Consensus:
        """The consensus of the other clusterings, for the user's objects."""
        others = [j for j in range(len(self.given.names)) if j != place]
        fitting = self.asked.on(self.given.columns(others))
        return fitting.restored(fitting.fit(self.k))

    def told(self, whole: Consensus, interrupted: bool) -> LeaveOneOut:
        """All that is known."""
        names = self.given.names
        unknown = (np.nan, np.nan, np.nan)
        nmi, ari, without = np.array([self.found.get(j, unknown) for j in range(len(names))], np.float64).T.copy()
        notes = [f"without {names[j]!r}: {reason}" for j, reason in sorted(self.failed.items())]
        missing = [names[j] for j in range(len(names)) if j not in self.found and j not in self.failed]
        if missing:
            notes.append(f"interrupted: not fitted without {', '.join(map(repr, missing))}")
        return LeaveOneOut(
            names,
            whole,
            float(whole.scores["anmi"]),
            nmi,
            ari,
            without,
            failed=tuple(self.failed.get(j, "") for j in range(len(names))),
            notes=tuple(notes),
            interrupted=interrupted and bool(missing),
        )
