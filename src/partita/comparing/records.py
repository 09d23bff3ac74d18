"""What became of every method at every k."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from partita.core import notebook
from partita.core.k_choice import KChoice
from partita.core.types import FrozenDict

Figure: TypeAlias = Literal["anmi", "confidence", "silhouette"]
NO_BETTER: Final = 1e-12
"""Figures nearer than this are equal: the earlier method keeps its place."""
SHOWN: Final = {
    "method": "method",
    "k": "k",
    "clusters": "clusters",
    "anmi": "ANMI",
    "confidence": "confidence",
    "silhouette": "silhouette",
    "seconds": "seconds",
}
"""What a notebook shows of each fit."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One method at one k."""

    method: str
    k: int | None
    """Asked for; None where the method was to find it."""
    clusters: int = 0
    """Found; 0 where the fit failed."""
    anmi: float | None = None
    """Agreement with the base clusterings."""
    confidence: float | None = None
    """Mean confidence of the objects in their clusters, without those where it is not defined; None if it never is."""
    silhouette: float | None = None
    """Mean silhouette of the objects under the distance 1 - co-association."""
    seconds: float | None = None
    """Wall time of the fit alone."""
    memory: float | None = None
    """MB (10**6 bytes) by which the process grew at the peak of the fit; None where the system does not tell."""
    failed: str = ""
    """Why there is no consensus."""
    notes: tuple[str, ...] = ()
    """What the fit has to tell, in sentences."""


@dataclass(frozen=True)
class Comparison:
    """Methods side by side."""

    rows: tuple[Compared, ...]
    """k by k, within a k in the order of the methods."""
    left_out: Mapping[str, str] = field(default_factory=FrozenDict)
    """Methods that nobody named and that do not suit the table, with the reason."""
    notes: tuple[str, ...] = ()
    """What the user should know, in sentences."""
    seed: int = 0
    workers: int = 1
    """How many fits ran side by side."""
    threads: int = 1
    """On how many threads each."""
    interrupted: bool = False
    """Whether the user stopped it (Ctrl-C) before all was done."""
    k_choice: KChoice | None = None
    """The number of clusters that the default rule chooses among `ks`; None if only one was given."""

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that were compared, each once."""
        return tuple(dict.fromkeys(row.method for row in self.rows))

    @property
    def ks(self) -> tuple[int | None, ...]:
        """The numbers of clusters asked for, each once."""
        return tuple(dict.fromkeys(row.k for row in self.rows))

    def best(self, by: Figure = "anmi") -> Compared | None:
        """The row with the highest figure; None where none has one.

        ANMI is not corrected for the number of clusters and tends to rise with it: between different k, look at what
        `partita.select_k` says.
        """
        return _best(self.rows, by)

    def best_at(self, k: int | None, by: Figure = "anmi") -> Compared | None:
        """The best of the rows of one k."""
        return _best(tuple(row for row in self.rows if row.k == k), by)

    def __repr__(self) -> str:
        best = self.best()
        told = "none has an ANMI" if best is None else f"highest ANMI {best.anmi:.3f} by {best.method} at {_at(best)}"
        return f"Comparison({len(self.rows)} fits of {len(self.methods)} methods: {told})"

    def _repr_html_(self) -> str:
        many = len(self.rows) > notebook.MOST_ROWS
        best = [row for k in self.ks if (row := self.best_at(k)) is not None]
        rows = [
            [
                *(getattr(row, name) for name in SHOWN),
                row.failed or ("best" if any(row is each for each in best) else ""),
            ]
            for row in (best if many else self.rows)
        ]
        title, total = ("The best of each k", len(best)) if many else ("Methods", len(self.rows))
        told = [notebook.table(title, [*SHOWN.values(), ""], rows, total, "numbers of clusters")]
        return notebook.card(self, [*told, notebook.notes(self.notes)])


def _best(rows: tuple[Compared, ...], by: Figure) -> Compared | None:
    best, highest = None, -math.inf
    for row in rows:
        value = getattr(row, by)
        if value is not None and value > highest + NO_BETTER:
            best, highest = row, value
    return best


def _at(row: Compared) -> str:
    return f"k = {row.k}" if row.k is not None else f"{row.clusters} clusters, its own choice"
