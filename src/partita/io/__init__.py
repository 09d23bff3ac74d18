"""Files in and out; the only room that knows file formats."""

from partita.io.formats import detect_format
from partita.io.labelling import Labelling, match, read_labels
from partita.io.options import ReadOptions
from partita.io.reading import read
from partita.io.writing import check_writable, write_consensus

__all__ = [
    "Labelling",
    "ReadOptions",
    "check_writable",
    "detect_format",
    "match",
    "read",
    "read_labels",
    "write_consensus",
]
