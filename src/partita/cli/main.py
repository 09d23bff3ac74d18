"""The `partita` command: what it is made of, and how errors reach a user."""

import errno
import inspect
import io
import logging
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from partita.cli import (
    cluster,
    compare,
    datasets,
    demo,
    evaluate,
    federate,
    generate,
    methods,
    predict,
    report,
    reproduce,
    run,
    select_k,
    summarise,
    ways,
)
from partita.cli.options import INTERRUPTED
from partita.core.errors import FileError, InputWarning, PartitaError, PartitaWarning
from partita.core.suggest import COMMANDS, similar
from partita.core.ways_out import COMMAND, offering
from partita.version import __version__

UsageError: Any = typer.BadParameter.__bases__[0]
"""Of click, or of the click that typer contains."""


class Commands(TyperGroup):
    """The commands; messages on unknown options and commands suggest the names of Partita."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command of the context; an unknown option of any command gets suggestions."""
        try:
            with offering(COMMAND):
                return super().invoke(ctx)
        except UsageError as error:
            if hasattr(error, "possibilities") and hasattr(error, "option_name"):
                words = [word for one in error.ctx.command.params for word in (*one.opts, *one.secondary_opts)]
                found = similar(error.option_name.lstrip("-"), [word[2:] for word in words if word.startswith("--")])
                error.possibilities = [f"--{name}" for name in found]
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the first argument names; an unknown one ends the run with a suggestion."""
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            found = " or ".join(map(repr, similar(args[0], self.commands, COMMANDS)))
            ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean {found}?" if found else ""))
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="partita",
    cls=Commands,
    help="Consensus clustering: many clusterings of the same objects in, one answer out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
RUNS: dict[str, Callable[..., None]] = {
    "run": run.run,
    "predict": predict.predict,
    "select-k": select_k.select_k,
    "compare": compare.compare,
    "report": report.report,
    "evaluate": evaluate.evaluate,
    "summarise": summarise.summarise,
    "methods": methods.methods,
    "cluster": cluster.cluster,
    "generate": generate.generate,
    "ways": ways.ways,
    "reproduce": reproduce.reproduce,
    "demo": demo.demo,
}
for name, function in RUNS.items():
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    app.command(name, help="\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs))(function)
app.add_typer(datasets.app)
app.add_typer(federate.app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"partita {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Consensus clustering: many clusterings of the same objects in, one answer out."""


def main() -> None:
    """Run the command; a user's mistake ends in one line and exit code 1, wrong usage in 2, an interrupt in 130."""
    _open_closed_streams()
    warnings.showwarning = _show_warning
    logging.getLogger("partita").addHandler(_Notes())
    try:
        app()
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            typer.echo("partita: interrupted", err=True)
        raise
    except KeyboardInterrupt:
        typer.echo("partita: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except PartitaError as error:
        typer.echo(f"partita: {error}", err=True)
        sys.exit(1)
    except PartitaWarning as warning:  # with --strict
        allow = f"; --allow {warning.code} switches the check off" if isinstance(warning, InputWarning) else ""
        typer.echo(f"partita: {warning} (a warning, which --strict makes an error{allow})", err=True)
        sys.exit(1)
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in it cannot be written either
        typer.echo("partita: standard output: no space left; make room, or send it elsewhere", err=True)
        sys.exit(1)


class _Closed(io.TextIOBase):
    """In place of a standard output that is closed (`>&-`): writing to it is an error."""

    @property
    def closed(self) -> bool:
        """True."""
        return True

    def write(self, text: str) -> int:
        """Raise a `FileError`."""
        raise FileError("standard output: is closed; connect it, or write to a file with --output")

    def flush(self) -> None:
        """Do nothing: nothing was written."""


def _open_closed_streams() -> None:
    """Open the standard streams that are closed (`<&-`, `>&-`, `2>&-`).

    Otherwise the next file that is opened gets the number of the stream, and what a compiled library prints goes into
    that file. Messages to a closed stderr are lost, as the user wants.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  # until the process ends


class _Notes(logging.Handler):
    """The library's news as notes on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(f"note: {record.getMessage()}", err=True)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    typer.echo(f"warning: {message}", err=True)
