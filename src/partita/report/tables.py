"""A small table, and the ways to write it down."""

import csv
import io
import json
import math
from dataclasses import dataclass
from typing import Any

from partita.io.summary import plain


@dataclass(frozen=True, slots=True)
class TextTable:
    """Named columns and rows of plain values."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def csv(self) -> str:
        """Comma-separated, full precision."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return out.getvalue()

    def json(self) -> str:
        """A list of records."""
        return as_json([dict(zip(self.columns, row, strict=True)) for row in self.rows])

    def markdown(self) -> str:
        """A pipe table."""
        lines = ["| " + " | ".join(self.columns) + " |", "|" + "|".join(" --- " for _ in self.columns) + "|"]
        lines += ["| " + " | ".join(shown(cell).replace("|", "\\|") for cell in row) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"


def shown(value: Any) -> str:
    """A value as a person reads it.

    >>> [shown(value) for value in (0.51234, True, None, 12, ("a", "b"))]
    ['0.512', 'yes', '', '12', 'a, b']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if math.isfinite(value) else str(value)
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def as_json(value: Any) -> str:
    """Strict JSON for people: numbers that are not finite become null."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)
