"""read: a label file as an ensemble."""

import os
from dataclasses import replace
from pathlib import Path

from partita.core.ensemble import Ensemble
from partita.core.errors import FileError
from partita.core.soft import SoftEnsemble
from partita.core.ways_out import FILE, offering
from partita.io.arrays import load_array
from partita.io.assemble import assemble
from partita.io.columnar import load_observations, load_parquet
from partita.io.formats import READABLE, TEXT
from partita.io.options import ReadOptions
from partita.io.raw import Raw
from partita.io.source import Source, naming, open_source
from partita.io.text import load_text


def read(path: str | Path, options: ReadOptions = ReadOptions()) -> Ensemble | SoftEnsemble:  # noqa: B008  # frozen
    """The ensemble in a file: objects in rows, clusterings in columns; `-` is standard input.

    CSV and TSV (also .gz), Parquet, NPY, NPZ (`labels`), MATLAB pools (`members`) and AnnData observations. Columns
    `name:0 … name:k-1` are the memberships of one soft clustering and make the result a SoftEnsemble. What cannot be
    read raises one line that names file, row, column and way out.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise FileError(f"{type(path).__name__} is not a path; give the name of a file, or - for standard input")
    with naming(path), offering(FILE):
        raw = load(open_source(path, options.format, READABLE, options.max_input_gb), options)
        return assemble(raw if options.ids is None else replace(raw, id_name=options.ids), options)


def load(source: Source, options: ReadOptions) -> Raw:
    """The chosen columns of a file."""
    if source.format in TEXT:
        return load_text(source, options)
    if source.format == "parquet":
        return load_parquet(source, options)
    if source.format == "h5ad":
        return load_observations(source, options)
    return load_array(source, options)
