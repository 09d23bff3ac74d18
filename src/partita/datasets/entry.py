"""What is known of a data set without having it: an entry of the catalogue."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class OpenML:
    """Where scikit-learn's `fetch_openml` finds a data set, and how it differs from ours."""

    id: int
    name: str
    target: str = "default-target"
    """The column of the classes, where it is not the one OpenML names."""
    without: tuple[str, ...] = ()
    """Columns that are no features; left out where they are there."""
    rows: int | None = None
    """Only so many rows from the top are ours."""
    only: Mapping[str, str] = field(default_factory=dict)
    """Only these classes are ours, under these names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A data set: what it is, whose it is, and what its file must hold."""

    name: str
    title: str
    file: str
    sha256: str
    """Of the file."""
    values: str
    """Digest of the values whatever the order of the rows (`checking.values_digest`)."""
    d: int
    counts: tuple[int, ...]
    """Objects in each class."""
    classes: tuple[str, ...]
    papers: tuple[str, ...]
    licence: str
    cite: str
    remark: str = ""
    archive: str = ""
    """The archive that has it, and its name there."""
    openml: OpenML | None = None
    package: str = ""
    """The scikit-learn function that has it without any file."""
    maker: str = ""
    """The function in `synthetic.py` that makes it from its description."""
    labels_file: str = ""
    labels_sha256: str = ""
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Named runs of rows, as (first, one past the last), in the order of our file."""

    @property
    def n(self) -> int:
        """Objects."""
        return sum(self.counts)

    @property
    def k(self) -> int:
        """Classes."""
        return len(self.classes)
