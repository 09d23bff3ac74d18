"""Files in and out; the only room that knows file formats."""

from partita.io.annotating import Annotating
from partita.io.draws import DrawsTable, check_draws_path, read_draws, write_draws
from partita.io.ensembles import check_ensemble_path, write_ensemble
from partita.io.features import read_features
from partita.io.formats import detect_format
from partita.io.labelling import Labelling, match, read_labels
from partita.io.models import check_labels, check_model_path, load_model, save_model
from partita.io.options import ReadOptions
from partita.io.reading import read
from partita.io.results import load
from partita.io.source import naming
from partita.io.writing import check_place, check_writable, format_of, replacing, write

__all__ = [
    "Annotating",
    "DrawsTable",
    "Labelling",
    "ReadOptions",
    "check_draws_path",
    "check_ensemble_path",
    "check_labels",
    "check_model_path",
    "check_place",
    "check_writable",
    "detect_format",
    "format_of",
    "load",
    "load_model",
    "match",
    "naming",
    "read",
    "read_draws",
    "read_features",
    "read_labels",
    "replacing",
    "save_model",
    "write",
    "write_draws",
    "write_ensemble",
]
