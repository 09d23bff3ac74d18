"""partita.stream: a consensus of a table too large to be read as a whole."""

from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from partita.core.errors import ParameterError, TableError
from partita.core.method import is_several
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


def stream(
    table: Any,
    output: str | Path | None = None,
    method: str = "auto",
    k: Any = None,
    *,
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
    method, k, seed, **params
        As in `partita.consensus`. If the default rule chooses k, it does so from the different rows or, if they are too
        many to keep, from the sample.
    how
        What is fitted, on which engine, and what the output holds.

    >>> table = np.array([[0, 0], [0, 0], [1, 1], [1, 0]] * 500)
    >>> result = stream(table, method="voting", k=2)
    >>> result.fit, result.fitted_rows, result.labels[:4].tolist()
    ('distinct', 3, [0, 0, 1, 1])
    """
    if not isinstance(how, Streaming):
        raise ParameterError(f"how={how!r:.60} is no partita.Streaming; say how=partita.Streaming(…)")
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


def blocks_of(table: Any, options: ReadOptions) -> LabelBlocks:
    """Any table that can be read in blocks."""
    if isinstance(table, np.ndarray):
        if np.ma.is_masked(table):
            raise TableError("a masked array cannot be read in blocks; give array.filled(-1) and set missing=-1")
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
