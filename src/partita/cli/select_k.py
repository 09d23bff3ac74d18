"""partita select-k: choose the number of clusters."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli import options
from partita.cli.tabling import check_table_file, hand_out
from partita.core.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita.selection import Selection


def select_k(
    labels: options.LabelFile,
    k: Annotated[
        str | None,
        typer.Option(
            "--k",
            "-k",
            metavar="RANGE",
            help="Numbers of clusters to try: a range 2..10, or a list 2,3,5. Default: up to nine numbers around the k "
            "that `partita run` chooses.",
            rich_help_panel=options.METHOD,
        ),
    ] = None,
    method: options.MethodName = "mm",
    criterion: Annotated[
        str | None,
        typer.Option(
            "--criterion",
            metavar="NAME",
            help="Criterion that chooses k: covariance, bic, icl, mml, bound, stability, pac or anmi. Default: "
            "covariance, as in `partita run`.",
            autocompletion=options.criterion_names,
            rich_help_panel=options.METHOD,
        ),
    ] = None,
    repeats: Annotated[
        int,
        typer.Option(
            "--repeats",
            min=0,
            help="Number of random halves of the clusterings that are fitted for stability and PAC; 0 omits both.",
            rich_help_panel=options.METHOD,
        ),
    ] = 10,
    setting: options.Settings = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the table to a .csv or .json file. Default: stdout.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Also write a plot of each criterion over k (.png).",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    seed: options.Seed = 0,
    id_column: options.IdColumn = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    missing: options.Missing = None,
    weight: options.Weights = None,
    transpose: options.Transpose = None,
    header: options.Header = None,
    allow: options.Allow = None,
    max_input_gb: options.MaxInput = None,
    strict: options.Strict = False,
    input_format: options.InputFormat = None,
    harden: options.Harden = False,
    threads: options.Threads = None,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit several numbers of clusters and recommend one, with the reason.

    The table is written to --output (default: stdout), the reason and notes to stderr; --json prints all of it. After
    Ctrl-C the finished numbers of clusters are reported, and the exit code is 130.
    """
    from partita.io import read
    from partita.selection import select_k as select
    from partita.selection.criteria import check_known

    check_known(criterion)
    numbers, output = options.several_k_values(k), None if output == "-" else output
    _check_places(labels, output, plot)
    wanted = options.read_options(
        id_column, columns, exclude, missing, weight, transpose, header, input_format, allow, max_input_gb
    )
    with options.working(threads, quiet):
        ensemble = options.hardened(read(labels, wanted), harden)
        chosen = select(
            ensemble,
            numbers,
            method,
            criterion=criterion,
            repeats=repeats,
            seed=seed,
            threads=threads,
            **options.settings(setting, "repeats", "criterion"),
        )
    _tell(chosen, output, as_json, as_csv, quiet)
    if plot is not None:
        _draw(chosen, Path(plot), quiet)
    if chosen.interrupted:
        raise typer.Exit(options.INTERRUPTED)


def _check_places(labels: str, output: str | None, plot: str | None) -> None:
    """Refuse, before long work, what could not be written."""
    from partita.io import check_writable
    from partita.report.plots import check_drawing

    check_table_file(labels, output)
    if plot is not None:
        if Path(plot).suffix != ".png":
            raise FileError(f"{plot}: the picture is a PNG; choose a name that ends in .png for --plot")
        check_drawing()
        check_writable(plot, "csv")


def _tell(chosen: "Selection", output: str | None, as_json: bool, as_csv: bool, quiet: bool) -> None:
    """Table and reason, each where it belongs."""
    from partita.report.selection import as_record, trials_table

    hand_out(trials_table(chosen), as_record(chosen), output, as_json, as_csv, quiet)
    if not quiet:
        _say(_lines(chosen))


def _lines(chosen: "Selection") -> "list[str]":
    """What people read below the table."""
    from partita.report.selection import others

    lines = ["", f"recommended: k = {chosen.k}; {chosen.reason}"]
    said = others(chosen)
    if said:
        lines.append(said)
    told = list(chosen.notes)
    told += [note for note in chosen.consensus.notes if note not in told and f"k = {chosen.k}: {note}" not in told]
    return lines + [f"note: {note}" for note in told]


def _say(lines: "Sequence[str]") -> None:
    for line in lines:
        typer.echo(line, err=True)


def _draw(chosen: "Selection", path: Path, quiet: bool) -> None:
    from partita.io import replacing
    from partita.report import SelectionDisplay

    picture: Any = SelectionDisplay.from_selection(chosen)
    with replacing(path) as file:
        picture.save(file)
    if not quiet:
        typer.echo(f"wrote {path}", err=True)
