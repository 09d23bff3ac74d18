"""partita compare: a table of methods and numbers of clusters."""

from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli import options
from partita.cli.tabling import check_table_file, hand_out

if TYPE_CHECKING:
    from partita.comparing import Comparison


def compare(
    labels: options.LabelFile,
    k: Annotated[
        str | None,
        typer.Option(
            "--k",
            "-k",
            metavar="RANGE",
            help="Numbers of clusters: 4, a range 2..10, or a list 2,3,5. Default: the k that `partita run` chooses.",
            rich_help_panel=options.METHOD,
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            "-m",
            metavar="NAMES",
            help="Methods to compare: names or patterns, separated by commas (mcla,nbce-*), or all. Default: the "
            "methods that suit the table.",
            autocompletion=options.method_names,
            rich_help_panel=options.METHOD,
        ),
    ] = None,
    find_k: Annotated[
        bool,
        typer.Option(
            "--find-k",
            help="Also run the methods that infer the number of clusters (nbce-*), once each.",
            rich_help_panel=options.METHOD,
        ),
    ] = False,
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
    workers: options.Workers = None,
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
    """Run several methods with several numbers of clusters and compare ANMI, confidence, time and memory.

    The table is written to --output (default: stdout), the conclusion and notes to stderr; --json prints all of it. If
    a method fails, its row has the reason; if all fail, the exit code is 1. After Ctrl-C the finished rows are
    reported, and the exit code is 130.
    """
    from partita.comparing import compare as compared
    from partita.comparing.choosing import named
    from partita.io import read

    numbers, output = options.several_k_values(k), None if output == "-" else output
    check_table_file(labels, output)
    methods = list(named(methods)) if methods else None  # a wrong name is told before a large table is read
    wanted = options.read_options(
        id_column, columns, exclude, missing, weight, transpose, header, input_format, allow, max_input_gb
    )
    with options.working(threads, quiet):
        ensemble = options.hardened(read(labels, wanted), harden)
        found = compared(ensemble, numbers, methods, find_k=find_k, seed=seed, workers=workers, threads=threads)
    tell(found, output, as_json, as_csv, quiet)
    if found.interrupted:
        raise typer.Exit(options.INTERRUPTED)
    if all(row.failed for row in found.rows):
        raise typer.Exit(1)


def tell(found: "Comparison", output: str | None, as_json: bool, as_csv: bool, quiet: bool) -> None:
    """Table, verdict and notes, each where it belongs."""
    from partita.report.comparison import as_record, comparison_table, left_out, note_lines, verdict

    few = comparison_table(found, notes=False)
    hand_out(comparison_table(found), as_record(found), output, as_json, as_csv, quiet, few)
    if not quiet:
        notes = [f"note: {note}" for note in (*note_lines(found), *found.notes)]
        for line in ("", *verdict(found), *left_out(found), *notes):
            typer.echo(line, err=True)
