"""partita run on tables that are read in blocks: many files, or one too large for memory."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from partita.cli import options
from partita.core.errors import ParameterError, PartitaError, PartitaWarning

if TYPE_CHECKING:
    from partita.io.options import ReadOptions
    from partita.streaming.result import Streamed

Stream: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--stream",
        help="Read the table in blocks (Parquet or NPY). Default for a folder or a pattern of files, and with any "
        "option of this group.",
        rich_help_panel=options.STREAMING,
    ),
]
Fit: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--fit",
        metavar="WHAT",
        help="Rows to fit: distinct (all unique rows), sample, full (block by block), or auto, which uses the unique "
        "rows if there are at most --most-rows, otherwise a sample. Default: auto.",
        rich_help_panel=options.STREAMING,
    ),
]
MostRows: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--most-rows",
        min=1,
        help="Maximum number of unique rows to fit. Default: 2,097,152.",
        rich_help_panel=options.STREAMING,
    ),
]
Sample: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--sample", min=1, help="Number of rows in the sample. Default: 500,000.", rich_help_panel=options.STREAMING
    ),
]
EngineName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Where blocks are processed: serial, threads or dask. Default: threads.",
        rich_help_panel=options.STREAMING,
    ),
]
Scheduler: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Address of a Dask scheduler (tcp://host:8786). Default: Dask processes on this machine.",
        rich_help_panel=options.STREAMING,
    ),
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="Number of threads, or of Dask processes on this machine (does not affect the result). "
        "Default: one per CPU.",
        rich_help_panel=options.STREAMING,
    ),
]


@dataclass(frozen=True, slots=True)
class Words:
    """What the options say of reading in blocks."""

    stream: bool = False
    fit: str | None = None
    most: int | None = None
    sample: int | None = None
    engine: str | None = None
    scheduler: str | None = None
    workers: int | None = None

    def given(self) -> dict[str, Any]:
        """Those that were said, as settings of `partita.Streaming`."""
        names = ("fit", "most", "sample", "engine", "scheduler", "workers")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def options(self) -> list[str]:
        """Return the options that were given, under their names on the command line."""
        names = {"most": "--most-rows"}
        return ["--stream"] * self.stream + [names.get(name, f"--{name}") for name in self.given()]

    def check(self) -> None:
        """Refuse what another option makes idle."""
        idle = {"distinct": ("sample",), "sample": ("most",), "full": ("most", "sample")}.get(self.fit or "auto", ())
        for name in idle:
            if getattr(self, name) is not None:
                option = {"most": "--most-rows", "sample": "--sample"}[name]
                raise ParameterError(f"{option} changes nothing with --fit {self.fit}; leave one of them out")

    def apply(self, labels: str) -> bool:
        """Whether the table is to be read in blocks."""
        from partita.io.finding import is_several

        return self.stream or bool(self.given()) or (labels != "-" and is_several(labels))


def refuse(labels: str, words: Words, **said: bool) -> None:
    """Refuse options that are not supported for a table read in blocks, and name what makes the table one."""
    from partita.io.finding import is_several

    several, given = is_several(labels), words.options()
    reasons = [f"{labels} is a folder, a pattern or a URL"] * several + [f"given: {', '.join(given)}"] * bool(given)
    ways_out = ["give one local file"] * several + [f"omit {', '.join(given)}"] * bool(given)
    for name, refused in said.items():
        if refused:
            raise ParameterError(
                f"--{name.replace('_', '-')} is not supported for a table that is read in blocks "
                f"({' and '.join(reasons)}); omit it, or {' and '.join(ways_out)}"
            )


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done."""

    labels: str
    output: str
    method: str
    k: Any
    setting: list[str] | None
    seed: int
    polish: bool
    membership: bool | None
    save_model: str | None
    read: "ReadOptions"


def run(task: Task, words: Words, threads: int | None, as_json: bool, quiet: bool) -> None:
    """Stream a table and report the result; a run that ends early reports the checkpoint that it leaves."""
    from partita import io
    from partita.streaming.keeping import ABOUT, FOLDER
    from partita.streaming.stream import Streaming, stream

    words.check()
    if task.output == "-":
        raise ParameterError("the labels of a table read in blocks go to a file or a folder; say --output NAME")
    if task.save_model is not None:
        options.check_model(task.save_model, task.labels)
        options.check_distinct(output=task.output, save_model=task.save_model)
    how = Streaming(membership=bool(task.membership), polish=task.polish, read=task.read, **words.given())
    try:
        with options.working(threads, quiet):
            settings = options.settings(task.setting)
            result = stream(task.labels, task.output, task.method, task.k, seed=task.seed, how=how, **settings)
    except (KeyboardInterrupt, PartitaError, PartitaWarning) as error:
        place = Path(task.output)
        folder = place if place.is_dir() else place.with_name(f"{place.name}.parts")
        if (folder / FOLDER / ABOUT).exists() and str(folder) not in str(error):
            text = (
                f"finished work is kept in {folder}: the same command resumes the run; to start again, remove {folder}"
            )
            typer.echo(f"note: {text}", err=True)
        raise
    if task.save_model is not None:
        if result.model is None:
            raise ParameterError(f"--save-model {task.save_model}: too many clusters for a model; give a smaller k")
        io.save_model(result.model, task.save_model)
    report(result, as_json, quiet)


def report(result: "Streamed", as_json: bool, quiet: bool) -> None:
    """The summary: for people on stderr, as JSON on stdout."""
    from partita.cli.show import show
    from partita.report.summary import stream_table
    from partita.report.tables import as_json as to_json
    from partita.report.tables import shown

    if as_json:
        typer.echo(to_json(result.summary()))
    if quiet:
        return
    typer.echo(f"{result!r}\n", err=True)
    show(stream_table(result), err=True)
    typer.echo("", err=True)
    likelihoods = [
        f"log likelihood{bound} a label, {rows}" for bound in ("", " bound") for rows in ("sample", "other rows")
    ]
    for name in ("anmi of the sample", *likelihoods):
        if name in result.detail:
            typer.echo(f"{name}: {shown(result.detail[name])}", err=True)
    if "cost of the sample, a label" in result.detail:
        lost = result.detail["cost of the sample, a label"]
        typer.echo(f"cost of the sample: {lost:.6f} of log-likelihood a label", err=True)
    for note in result.notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(f"wrote {result.output}", err=True)
