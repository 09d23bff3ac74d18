"""What the reader of a file may be told."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a label file; the defaults take every column for a clustering."""

    format: str | None = None
    """csv, tsv, parquet, npy, npz, mat or h5ad; left out, the suffix (on standard input the first bytes) tells."""
    ids: str | None = None
    """The column that holds the object ids; left out, an unnamed first column does."""
    columns: tuple[str, ...] = ()
    """Names or shell patterns (`leiden_*`) of the clusterings to take; left out, all."""
    exclude: tuple[str, ...] = ()
    """Names or shell patterns of columns to leave out."""
    missing: Any = None
    """A value, or several, that also mean unobserved; `()` says that there is none."""
    weights: Any = None
    """One weight a clustering, in order or by name."""
    transpose: bool | None = None
    """True when clusterings stand in rows; left out, a table far wider than long is refused."""
    header: bool | None = None
    """Whether a text file begins with column names; left out, a first row of numbers is refused."""
    allow: Any = ()
    """Codes of checks to switch off; see `Ensemble.from_labels`."""
    max_input_gb: float | None = None
    """Maximum memory in GB that the contents of the file may take; default: half of the available memory."""
    one: bool = False
    """Whether one clustering is enough; left out, it is refused."""
