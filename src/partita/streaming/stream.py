"""partita.stream: a consensus of a table too large to be read as a whole."""

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from partita.core.errors import ParameterError, TableError
from partita.core.method import is_several
from partita.core.suggest import suggests_names
from partita.core.ways_out import STREAM, STREAMED_ARRAY, offering
from partita.engine import Engine, open_engine
from partita.engine.opening import Name
from partita.fitting import Asked
from partita.io.blocks import LabelBlocks, array_blocks, open_blocks
from partita.io.finding import check_apart
from partita.io.options import ReadOptions
from partita.io.source import naming
from partita.streaming.fitting import Wanted
from partita.streaming.planning import MOST_ROWS, SAMPLE, FitAsked, Plan
from partita.streaming.result import Streamed
from partita.streaming.run import run


@dataclass(frozen=True, slots=True)
class Streaming:
    """How a table is streamed; the defaults suit one machine."""

    fit: FitAsked = "auto"
    """"distinct" fits all different rows, "sample" a sample, "full" all rows, part by part on the engine (mm, bce-vb,
    qmi, itk, nbce-vb). "auto": distinct where these are at most `most`, else full on Dask by a method that can, else
    sample."""
    most: int = MOST_ROWS
    """Different rows that are kept, at the most."""
    sample: int = SAMPLE
    """Rows of a sample."""
    engine: Name | Engine = "threads"
    """"serial", "threads" or "dask"; or one that is open."""
    scheduler: str | None = None
    """The address of a Dask scheduler; left out, Dask starts processes on this machine."""
    workers: int | None = None
    """Threads, or processes of Dask; left out, as many as there are processors."""
    confidence: bool = True
    """Whether the output says how sure each label is."""
    membership: bool = False
    """Whether it has the memberships."""
    polish: bool = False
    """As in `partita.consensus`, where all different rows are fitted."""
    read: ReadOptions = field(default_factory=ReadOptions)
    """How files are read: id, columns, exclude, missing, weights, format."""


@suggests_names
def stream(
    table: Any,
    output: str | Path | None = None,
    method: str = "auto",
    k: Any = None,
    *,
    ids: str | None = None,
    missing: Any = None,
    weights: Any = None,
    transpose: bool | None = None,
    allow: Any = (),
    seed: int | None = 0,
    how: Streaming = Streaming(),  # frozen
    **params: Any,
) -> Streamed:
    """One clustering from many, of a table that is read in blocks and never in memory as a whole.

    Different rows are counted as the blocks go by. Where they are few, the method is fitted to them and the labels are
    those of `partita.consensus` on the whole table. Otherwise it is fitted to a sample, and a second pass places every
    row by the fitted model; `detail` then tells what the sample cost. A run with an output that was stopped goes on
    when it is called again.

    Parameters
    ----------
    table
        Parquet or NPY files: a path, a pattern such as "labels/*.parquet", a folder, or a list of them; or an integer
        array, in memory or mapped; or what `partita.io.blocks.made_blocks` gives for a function that makes rows.
    output
        A .parquet, .csv or .tsv file, or a folder for one Parquet file a block. Left out, the labels come in memory.
    ids, missing, weights, transpose, allow
        Options for reading the table, as in `partita.consensus`. `ids` is the name of the column of ids. `transpose` is
        False or None, because a table that is read in blocks has one row per object. `how.read` has the same options
        and others, such as `exclude`.
    method, k, seed, **params
        As in `partita.consensus`. If the default rule chooses k, it does so from the different rows or, if they are too
        many to keep, from the sample.
    how
        What is fitted, on which engine, and what the output holds.

    Examples
    --------
    >>> table = np.array([[0, 0], [0, 0], [1, 1], [1, 0]] * 500)
    >>> result = stream(table, method="voting", k=2)
    >>> result.fit, result.fitted_rows, result.labels[:4].tolist()
    ('distinct', 3, [0, 0, 1, 1])
    """
    if not isinstance(how, Streaming):
        raise ParameterError(f"how={how!r:.60} is no partita.Streaming; say how=partita.Streaming(…)")
    if isinstance(output, int):
        raise ParameterError(
            f"output={output!r:.60}: expected the path of a file or a folder as the second argument; give the number "
            f"of clusters by name: k={output}"
        )
    reading = {"ids": ids, "missing": missing, "weights": weights, "transpose": transpose, "allow": allow}
    how = replace(how, read=_read_options(how.read, reading))
    with offering(STREAMED_ARRAY if isinstance(table, np.ndarray) else STREAM):
        return _stream(table, output, method, k, seed, how, params)


def _stream(
    table: Any, output: str | Path | None, method: str, k: Any, seed: int | None, how: Streaming, params: dict[str, Any]
) -> Streamed:
    asked = Asked.of(method, params, seed, function=stream)
    wanted = Wanted(method, list(k) if is_several(k) else k, asked.seed, how.polish, params)
    plan = Plan(wanted, how.fit, how.most, how.sample, how.confidence, how.membership, how.read)
    plan.check()
    source = blocks_of(table, how.read)
    with nullcontext() if output is None else naming(output):
        place = None if output is None else Path(output)
    if place is not None:
        check_apart(table, (block.path for block in source.blocks), place)
    if not isinstance(how.engine, str):
        if how.scheduler is not None or how.workers is not None:
            raise ParameterError("the engine is open already; leave out scheduler and workers")
        return run(source, plan, how.engine, place)
    with open_engine(how.engine, scheduler=how.scheduler, workers=how.workers) as engine:
        return run(source, plan, engine, place)


def _read_options(read: ReadOptions, reading: dict[str, Any]) -> ReadOptions:
    """Return the options for reading with those that `stream` got as parameters; one that is given twice raises."""

    def given(value: Any) -> bool:
        return value is not None and not (isinstance(value, tuple) and not value)

    for name, value in reading.items():
        if given(value) and given(getattr(read, name)):
            raise ParameterError(f"{name}={value!r:.60} is also set in how.read; give it once")
    # missing=() means that no label is missing, so that only None is not given
    used = {name: value for name, value in reading.items() if given(value) or (name == "missing" and value is not None)}
    return replace(read, **used)


def blocks_of(table: Any, options: ReadOptions) -> LabelBlocks:
    """Any table that can be read in blocks."""
    if options.transpose:
        raise ParameterError(
            "transpose=True is not supported for a table that is read in blocks, which has one row per object; write "
            "the transposed table first"
        )
    if isinstance(table, np.ndarray):
        if np.ma.is_masked(table):
            raise TableError("a masked array cannot be read in blocks; give array.filled(-1) and set missing=-1")
        for name in ("ids", "columns", "exclude"):
            if getattr(options, name):
                raise ParameterError(
                    f"{name}={getattr(options, name)!r:.60}: an array has no column names; omit {name}"
                )
        return array_blocks(table)
    if hasattr(table, "pieces") and hasattr(table, "blocks"):
        found: LabelBlocks = table
        return found
    if isinstance(table, (str, Path, list, tuple)):
        return open_blocks(table, options)
    raise ParameterError(
        f"a {type(table).__name__} cannot be read in blocks; give files, an integer array or what made_blocks gives, "
        "or take partita.consensus"
    )
