"""ReportData: everything that the page shows, computed before anything is drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from partita.core.consensus import Consensus
from partita.core.types import FloatArray
from partita.metrics.diagnosing import Diagnostics
from partita.selection import Selection


@dataclass(frozen=True, slots=True)
class BaseFacts:
    """One clustering that went in."""

    name: str
    clusters: int
    missing: float
    """Share of the objects that it does not label."""
    weight: float


@dataclass(frozen=True, slots=True)
class InputFacts:
    """What went in."""

    source: str
    """The file's name, or what the table was called."""
    rows: int
    objects: float
    """More than the rows where rows stand for several objects."""
    distinct: int
    soft: bool
    missing: float
    named: bool
    """Whether the objects have ids."""
    id_name: str
    clusterings: tuple[BaseFacts, ...]


@dataclass(frozen=True, slots=True)
class DoubtfulObject:
    """One line of the table of doubtful objects."""

    called: Any
    """Its id, or its row counted from 1."""
    cluster: int
    confidence: float
    own: float
    """Item consensus with its cluster."""
    nearest: int
    other: float
    """Item consensus with the nearest other cluster."""
    margin: float
    remark: str


@dataclass(frozen=True, slots=True)
class Rival:
    """One method on the same table."""

    method: str
    clusters: int = 0
    anmi: float | None = None
    confidence: float | None = None
    silhouette: float | None = None
    agreement: float | None = None
    """Adjusted Rand index with the consensus of the report."""
    remark: str = ""
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class TruthFacts:
    """How the consensus compares with known classes."""

    scores: Mapping[str, float]
    meanings: Mapping[str, str]
    compared: int


@dataclass(frozen=True, slots=True)
class RepeatFacts:
    """What is needed to make the same page again."""

    command: str
    """As it was typed, or the call in Python."""
    labels_command: str
    """What writes the labels alone."""
    recipe: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Pictures:
    """The displays that the page draws; None where there is nothing to show."""

    heatmap: Any = None
    agreement: Any = None
    items: Any = None
    cdf: Any = None
    tracking: Any = None
    alluvial: Any = None
    confusion: Any = None
    trace: Any = None
    numbers: Any = None
    scatter: Any = None
    curves: Any = None


@dataclass(frozen=True, slots=True)
class Numbers:
    """Figures of all objects together, and of each cluster."""

    confidence: float
    """Mean over the objects where it is defined; NaN if it never is."""
    item_consensus: float
    """Mean over the objects where it is defined."""
    silhouette: float
    misplaced: float
    """Objects that another cluster fits better."""
    outliers: float
    """Objects that fit nowhere well, less those that are misplaced."""
    histogram: FloatArray
    """(20,) objects by confidence, in twentieths from 0 to 1."""
    objects: FloatArray
    """(k,) objects in each cluster."""
    doubtful: FloatArray
    """(k,) those of them that are misplaced or outliers."""
    means: FloatArray
    """(k,) mean confidence of the objects of a cluster."""
    spread: FloatArray
    """(k, 5) confidence that 5%, 25%, 50%, 75% and 95% of a cluster's objects do not reach."""


@dataclass(frozen=True, slots=True)
class ReportData:
    """All of a report."""

    title: str
    below: str
    """The line under the title."""
    version: str
    input: InputFacts
    consensus: Consensus
    how_k: str
    """How the number of clusters came about, in sentences."""
    diagnostics: Diagnostics
    numbers: Numbers
    doubtful: tuple[DoubtfulObject, ...]
    repeat: RepeatFacts
    ids: NDArray[Any] | None = None
    selection: Selection | None = None
    rivals: tuple[Rival, ...] = ()
    truth: TruthFacts | None = None
    pictures: Pictures = field(default_factory=Pictures)
    told: tuple[str, ...] = ()
    """What the method has to say of its iterations."""
    notes: tuple[str, ...] = ()
    file_name: str = "consensus.csv"
    """What the labels are called when they are saved from the page."""
