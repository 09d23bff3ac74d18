"""Records of experiments: flat, frozen, all that a report sees of a run."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from partita.core.types import FloatArray, IntArray

ClaimVerdict: TypeAlias = Literal["holds", "not contradicted", "does not hold", "not tested"]
"""Verdicts on the claims of a paper from our draws; docs/reproduce.md states the rule."""


@dataclass(frozen=True, slots=True)
class Record:
    """One measured value."""

    paper: str
    exhibit: str
    row: str
    column: str
    draw: int
    value: float
    seconds: float
    """What the whole trial took that gave this value and those of the other columns."""
    date: str = ""
    """ISO date in UTC on which it was measured; empty if unknown."""
    version: str = ""
    """Of Partita."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A trial that raised: no value of this draw is known."""

    paper: str
    exhibit: str
    row: str
    draw: int
    error: str


@dataclass(frozen=True, slots=True)
class Absence:
    """A row that was skipped since its data is not on this machine."""

    paper: str
    exhibit: str
    row: str
    reason: str


@dataclass(frozen=True, slots=True)
class Published:
    """A number as the paper prints it."""

    exhibit: str
    row: str
    column: str
    statistic: str
    value: float
    place: str
    remark: str
    step: float
    """One unit of its last printed digit."""
    comparable: bool = True
    """False for what cannot be right, or is of other data: shown, but neither met nor missed."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One statistic of the draws of a row and column, beside what the paper prints."""

    row: str
    column: str
    statistic: str
    ours: float | None
    spread: float | None
    """Standard deviation over draws, None below two; of a number derived from many cells, its standard error."""
    draws: int
    """0 where the number is derived from many cells."""
    published: float | None
    place: str
    remark: str
    verdict: Literal["within", "better", "worse", "incomparable", ""]
    """Whether the printed number is within ours ± 2 spreads and its last digit; else ours is better or worse.

    Incomparable: there are both, but the printed number cannot be right, or is of other data.
    """

    @property
    def error(self) -> float | None:
        """The standard error of the mean."""
        return None if self.spread is None else float(self.spread / max(self.draws, 1) ** 0.5)


@dataclass(frozen=True, slots=True)
class Order:
    """The columns of one row from best to worst, by the paper and by us."""

    row: str
    paper: tuple[tuple[str, ...], ...]
    """From best to worst; those that are equal stand together."""
    ours: tuple[tuple[str, ...], ...]
    tau: float | None
    """Kendall's tau-b of the two; None where one has nothing but ties."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two columns of a row that the paper orders, and whether our paired draws order them so."""

    row: str
    better: str
    worse: str
    lead: float
    """Mean over draws of how far `better` is ahead; negative where it is behind."""
    p: float
    """Of the paired test, adjusted within the exhibit."""
    verdict: Literal["holds", "reversed", "open"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence of the paper, the verdict on it, and the figures that it rests on."""

    text: str
    verdict: ClaimVerdict
    figures: str


@dataclass(frozen=True, slots=True)
class Place:
    """A row of a table, or a place on the axis of a panel."""

    name: str
    panel: str
    x: float | str


@dataclass(frozen=True, slots=True, eq=False)
class PointPanel:
    """One panel of a scatter plot."""

    title: str
    points: FloatArray
    """(m, 2) coordinates."""
    groups: IntArray
    """For each point, the index of its color and marker."""
    labels: tuple[str, str]
    """Of the two axes."""
    names: tuple[str, ...] = ()
    """Of the groups, for the legend; empty for no legend."""


@dataclass(frozen=True, slots=True)
class ShownExhibit:
    """A table or figure with our numbers in it."""

    paper: str
    key: str
    title: str
    score: str
    better: Literal["higher", "lower", "neither"]
    form: Literal["table", "curves", "bars", "matrices", "points"]
    x_label: str
    rows: tuple[Place, ...]
    columns: tuple[str, ...]
    statistics: tuple[str, ...]
    cells: tuple[Cell, ...]
    orders: tuple[Order, ...]
    pairs: tuple[Pair, ...]
    ranking: str
    """In one sentence, whether the paper's order holds; empty where it prints none."""
    findings: tuple[Finding, ...]
    draws: tuple[int, int]
    """The fewest and the most draws of a row."""
    wanted: int
    """Draws a row that were asked for."""
    seconds: float
    """What all its trials took, added up over workers."""
    cuts: tuple[str, ...]
    remarks: tuple[str, ...]
    notes: tuple[str, ...]
    """What could not be worked out here."""
    failures: tuple[Failure, ...]
    absences: tuple[Absence, ...]
    panels: tuple[PointPanel, ...] = ()
    """Content of a scatter plot."""
    dates: tuple[str, ...] = ()
    """Of the first and the last measured value, once if they are equal."""
    versions: tuple[str, ...] = ()
    """Of Partita, with which the values were measured."""


@dataclass(frozen=True, slots=True)
class ShownPaper:
    """A paper with our numbers in its tables and figures."""

    key: str
    title: str
    exhibits: tuple[ShownExhibit, ...]
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A whole run: what was asked for, where and when, and what it shows."""

    command: str
    seed: int
    quick: bool
    workers: int
    date: str
    seconds: float
    """Wall time of this run; what an earlier one had finished is not in it."""
    trial_seconds: float
    """What all trials took, whichever run made them, added up over workers."""
    environment: tuple[str, ...]
    """Versions and processor; no path of a machine."""
    papers: tuple[ShownPaper, ...]
    notes: tuple[str, ...]
    interrupted: bool
