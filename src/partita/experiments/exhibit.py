"""What a paper shows: a table or a figure as data. One paper is one file of exhibits (STYLE 12)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from numpy.random import Generator

from partita.core.records import ClaimVerdict, PointPanel
from partita.core.types import FloatArray
from partita.datasets.base import Dataset


class Row(NamedTuple):
    """A row of a table, or a place on the horizontal axis of a panel of a figure."""

    panel: str
    """The data set, or whatever a figure has a panel for."""
    x: float | str = ""
    """Where on the axis, or the rest of the row's name."""

    @property
    def name(self) -> str:
        """As in the CSV of published numbers and in records.

        >>> Row("iris").name, Row("iris", 20).name
        ('iris', 'iris 20')
        """
        return f"{self.panel} {self.x}".strip()


class Trial(NamedTuple):
    """What one measurement is given: one row, one draw."""

    row: Row
    rng: Generator
    quick: bool
    data: Callable[[str], Dataset]
    """Loads a data set by name; a row whose data is absent is skipped and said to be."""


Samples: TypeAlias = Mapping[str, Mapping[str, FloatArray]]
"""By row's name and column: one value a draw, in the order of draws, so that columns of a row are paired."""


class Claim(NamedTuple):
    """A sentence of the paper that our numbers can test."""

    text: str
    """The sentence, with its place; "here: …" states what is tested if that differs."""
    judge: Callable[[Samples], tuple[ClaimVerdict, str]]
    """Returns the verdict and the figures that it rests on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """A table or figure: what is measured, how often, and how the paper shows it."""

    key: str
    """"table-3", "figure-8"."""
    title: str
    rows: tuple[Row, ...]
    columns: tuple[str, ...]
    """What a trial measures: methods by their registry name where there is one."""
    score: str
    """What the numbers are: "NMI", "error %", "micro-precision"."""
    better: Literal["higher", "lower", "neither"] = "higher"
    trial: Callable[[Trial], Mapping[str, float]] | None = None
    """One draw of a row: a value for each column (NaN where a method does not apply). Module-level, one thread."""
    draws: int = 0
    """Draws a row in the full run."""
    quick_draws: int = 0
    quick_rows: tuple[Row, ...] | None = None
    """The rows of the quick run, where not all."""
    form: Literal["table", "curves", "bars", "matrices", "points"] = "table"
    """Form of the exhibit in the paper. Curves and matrices have a panel per `Row.panel`, points those of `points`."""
    x_label: str = ""
    statistics: tuple[Literal["mean", "max"], ...] = ("mean",)
    """What is shown of the draws of a cell; the spread stands beside the mean."""
    derive: Callable[[Samples], Mapping[tuple[str, str], float]] | None = None
    """Where the paper shows something else than the measured cells (GMR matrices, paired tests): by (row, column)."""
    of: str = ""
    """The key of the exhibit whose draws this one shows, where it measures nothing itself (no `trial`, no draws).

    Its own `rows` and `columns` are then what it shows: those of the other, or the keys that `derive` returns.
    """
    points: Callable[[Samples, Callable[[Row], Trial]], Sequence[PointPanel]] | None = None
    """Returns the panels of a scatter plot, from all draws, or from the trial that was the first draw of a row.

    Points are not recorded: they are computed again, with the same random numbers, when the page is written.
    """
    data: tuple[str, ...] = ()
    """The data sets it takes, for `partita reproduce --list`."""
    cuts: tuple[str, ...] = ()
    """Where the full run does less than the paper: printed beneath."""
    quick_cuts: tuple[str, ...] = ()
    """Where the quick run does less than the full one."""
    remarks: tuple[str, ...] = ()
    """What is impossible or contradictory in the printed numbers (MISPRINTS), and what we decided."""
    claims: tuple[Claim, ...] = ()
    compete: bool = True
    """Whether the columns are rivals, so that the paper's order is tested; False for E[z1], E[z2] and such."""
    apart: tuple[str, ...] = ()
    """Columns that do not compete with the others: their numbers are no measure of the same thing."""


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: its exhibits, in its order; published numbers stand in `<key>.csv` beside the file.

    The CSV has columns exhibit,row,column,statistic,value,place,remark,comparable: `row` is a `Row.name`, `place` a
    page; `comparable` is "no" where a printed number cannot be what it is said to be, or is of other data.
    """

    key: str
    title: str
    exhibits: tuple[Exhibit, ...]
    absent: tuple[str, ...] = ()
    """Tables and figures that cannot be reproduced, each with the reason."""
    drawings: Mapping[str, str] = field(default_factory=dict)
    """Figures in which nothing is computed: by key such as "figure-1", what the figure shows."""
