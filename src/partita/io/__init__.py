"""Files in and out; the only room that knows file formats."""

from partita.io.draws import DrawsTable, check_draws_path, read_draws, write_draws
from partita.io.formats import detect_format
from partita.io.labelling import Labelling, match, read_labels
from partita.io.models import check_labels, check_model_path, load_model, save_model
from partita.io.options import ReadOptions
from partita.io.reading import read
from partita.io.writing import check_writable, replacing, write

__all__ = [
    "DrawsTable",
    "Labelling",
    "ReadOptions",
    "check_draws_path",
    "check_labels",
    "check_model_path",
    "check_writable",
    "detect_format",
    "load_model",
    "match",
    "read",
    "read_draws",
    "read_labels",
    "replacing",
    "save_model",
    "write",
    "write_draws",
]
