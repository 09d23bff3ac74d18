"""What is known of every k, and the one that was chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from partita.core import notebook
from partita.core.consensus import Consensus
from partita.core.k_choice import KChoice
from partita.core.types import FrozenDict, IntArray
from partita.metrics import Coassociation

SHOWN: Final = {
    "clusters": "clusters",
    "covariance": "covariance",
    "bic": "BIC",
    "icl": "ICL",
    "mml": "MML",
    "penalised_bound": "penalised bound",
    "stability": "stability",
    "pac": "PAC",
    "anmi": "ANMI",
}
"""The figures of a trial that a notebook shows, where there are any."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One number of clusters that was tried; None where the method does not give a figure."""

    k: int
    """Asked for."""
    clusters: int = 0
    """Found; 0 where the fit failed."""
    anmi: float | None = None
    covariance: float | None = None
    """The covariance criterion of the default rule; it depends on the table and k, not on the fit."""
    stability: float | None = None
    """Mean adjusted Rand index of consensuses of random halves of the clusterings, each two of them compared."""
    spread: float | None = None
    """Standard deviation of those indices."""
    subsets: int = 0
    """How many halves there were."""
    coassociation: Coassociation | None = field(default=None, compare=False)
    """How often two objects are together in the consensuses of those halves, over all pairs: CDF, area, PAC."""
    log_likelihood: float | None = None
    free_parameters: int | None = None
    bic: float | None = None
    icl: float | None = None
    mml: float | None = None
    bound: float | None = None
    """The variational bound, as it is."""
    penalised_bound: float | None = None
    """The bound less half the free parameters times the logarithm of the number of objects."""
    failed: str = ""
    """Why there is no consensus."""

    @property
    def pac(self) -> float | None:
        """The share of pairs of objects that are together in some halves but not in nearly all; see `coassociation`."""
        return None if self.coassociation is None else self.coassociation.pac

    @property
    def area(self) -> float | None:
        """The area under the CDF of `coassociation`."""
        return None if self.coassociation is None else self.coassociation.area


@dataclass(frozen=True)
class Selection:
    """The numbers of clusters that were tried and the one to take."""

    trials: tuple[Trial, ...]
    """One a k, in order of k."""
    k: int
    """The recommended number of clusters, as asked for; `consensus.k` are found."""
    criterion: str
    """What chose it: a name of `partita.selection.CRITERIA`."""
    reason: str
    """Why, in a sentence."""
    consensus: Consensus
    """What `partita.consensus` gives at the recommended k."""
    preferred: Mapping[str, int] = field(default_factory=FrozenDict)
    """The k that each criterion would choose, for all there are."""
    notes: tuple[str, ...] = ()
    """What the user should know, in sentences."""
    interrupted: bool = False
    """Whether the user stopped it (Ctrl-C) before all was done."""
    k_choice: KChoice | None = None
    """The choice of the default rule among the numbers of clusters that could be fitted."""
    labels: Mapping[int, IntArray] = field(default_factory=FrozenDict)
    """(n,) for every k that was fitted, the labels that `partita.consensus` gives."""

    def __repr__(self) -> str:
        return f"Selection(k = {self.k} of {', '.join(str(trial.k) for trial in self.trials)}: {self.reason})"

    def _repr_html_(self) -> str:
        there = [name for name in SHOWN if any(getattr(trial, name) is not None for trial in self.trials)]
        if all(trial.clusters == trial.k for trial in self.trials):
            there.remove("clusters")
        first = self.trials[: notebook.MOST_ROWS - 1]
        chosen = [trial for trial in self.trials if trial.k == self.k and trial not in first]
        rest = [trial for trial in self.trials if trial not in first and trial not in chosen]
        rows = [
            [trial.k, self._remark(trial), *(getattr(trial, name) for name in there)]
            for trial in (*first, *chosen, *rest[:1])
        ]
        others = ", ".join(f"{name} {k}" for name, k in self.preferred.items() if name != self.criterion)
        columns = ["k", "", *(SHOWN[name] for name in there)]
        parts = [
            notebook.table("Numbers of clusters", columns, rows, len(self.trials), "numbers"),
            notebook.facts([("by other criteria", others or None)]),
        ]
        return notebook.card(self, [*parts, notebook.notes(self.notes)])

    def _remark(self, trial: Trial) -> str:
        return "recommended" if trial.k == self.k else f"failed: {trial.failed}" if trial.failed else ""
