"""What a consensus of a streamed table came to; the labels themselves are in files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from partita.core.errors import note_records
from partita.core.model import ColumnModel
from partita.core.types import FrozenDict, IntArray
from partita.io.summary import plain

Fit = Literal["distinct", "sample", "full"]


@dataclass(frozen=True, slots=True, eq=False)
class Streamed:
    """The consensus of a table that was read in blocks."""

    rows: int
    fit: Fit
    """What the method was fitted to: all different rows with their counts, a sample of the rows, or all of them."""
    fitted_rows: int
    """How many rows that were: different ones, those of the sample, or all."""
    sizes: IntArray
    """(k,) objects in each cluster."""
    unknown: int
    """Objects with no label in any clustering that counts."""
    names: tuple[str, ...]
    scores: Mapping[str, float]
    """"anmi": agreement of all rows with the base clusterings."""
    detail: Mapping[str, Any] = field(default_factory=FrozenDict)
    """What the fit told; with a sample also what it cost: see `docs/streaming.md`."""
    notes: tuple[str, ...] = ()
    k_asked: int | None = None
    """The number of clusters that was requested or chosen; None if the method inferred it."""
    k_choice: Any = None
    """The choice of k by the default rule as plain values (`KChoice.as_record`), None if there was none."""
    recipe: Any = None
    """All that is needed to repeat it, as plain values."""
    model: ColumnModel | None = None
    """Predicts labels and confidence of new objects."""
    labels: IntArray | None = None
    """(n,) where no output was named; otherwise they are in files."""
    output: Path | None = None
    candidates: tuple[Mapping[str, Any], ...] = ()
    """A row per candidate of a method that chooses one, as in `Consensus.candidates`."""

    @property
    def k(self) -> int:
        """The number of clusters that hold objects."""
        return int((self.sizes > 0).sum())

    def __repr__(self) -> str:
        what = {"distinct": "different rows", "sample": "rows of a sample", "full": "rows"}[self.fit]
        anmi = f", ANMI {self.scores['anmi']:.3f}" if "anmi" in self.scores else ""
        return (
            f"Streamed({self.rows} objects in {self.k} clusters{anmi}, "
            f"{self.recipe['method']} fitted to {self.fitted_rows} {what})"
        )

    def summary(self) -> dict[str, Any]:
        """All but the labels and the model, as plain values."""
        return {
            "recipe": self.recipe,
            "rows": self.rows,
            "fit": self.fit,
            "fitted rows": self.fitted_rows,
            "k": self.k,
            "k_asked": self.k_asked,
            "k_choice": self.k_choice,
            "scores": plain(self.scores),
            "detail": plain(self.detail),
            "candidates": plain(self.candidates),
            "notes": note_records(self.notes),
            "clusters": [int(size) for size in self.sizes],
            "unknown": self.unknown,
            "output": None if self.output is None else str(self.output),
        }
