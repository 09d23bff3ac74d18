"""What is known of every k, and the one that was chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from partita.core.consensus import Consensus
from partita.core.types import FrozenDict


@dataclass(frozen=True, slots=True)
class Trial:
    """One number of clusters that was tried; None where the method does not give a figure."""

    k: int
    """Asked for."""
    clusters: int = 0
    """Found; 0 where the fit failed."""
    anmi: float | None = None
    stability: float | None = None
    """Mean adjusted Rand index of consensuses of random halves of the clusterings, each two of them compared."""
    spread: float | None = None
    """Standard deviation of those indices."""
    subsets: int = 0
    """How many halves there were."""
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

    def __repr__(self) -> str:
        return f"Selection(k = {self.k} of {', '.join(str(trial.k) for trial in self.trials)}: {self.reason})"
