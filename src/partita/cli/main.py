"""The `partita` command: what it is made of, and how errors reach a user."""

import errno
import logging
import os
import sys
import warnings
from typing import Annotated, Any

import typer

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
from partita.core.errors import PartitaError
from partita.version import __version__

app = typer.Typer(
    name="partita",
    help="Consensus clustering: many clusterings of the same objects in, one answer out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.run)
app.command("predict")(predict.predict)
app.command("select-k")(select_k.select_k)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("evaluate")(evaluate.evaluate)
app.command("summarise")(summarise.summarise)
app.command("methods")(methods.methods)
app.command("cluster")(cluster.cluster)
app.command("generate")(generate.generate)
app.command("ways")(ways.ways)
app.command("reproduce")(reproduce.reproduce)
app.command("demo")(demo.demo)
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
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in it cannot be written either
        typer.echo("partita: standard output: no space left; make room, or send it elsewhere", err=True)
        sys.exit(1)


class _Notes(logging.Handler):
    """The library's news as notes on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(f"note: {record.getMessage()}", err=True)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    typer.echo(f"warning: {message}", err=True)
