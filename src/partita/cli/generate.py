"""partita generate: base clusterings from features."""

from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli import making, options

if TYPE_CHECKING:
    from partita.generate.making import Made


def generate(
    data: making.FeatureFile,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Output file: .csv, .tsv (also .gz), .parquet or .npz; - is standard output.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = "-",
    way: Annotated[
        str,
        typer.Option(
            "--way",
            "-w",
            metavar="NAME",
            help="Strategy that generates the base clusterings, see `partita ways`.",
            autocompletion=making.way_names,
            rich_help_panel=making.GENERATION,
        ),
    ] = "restarts",
    members: making.Members = None,
    k: Annotated[
        str | None,
        typer.Option(
            "--k",
            "-k",
            metavar="K",
            help="Number of clusters of each base clustering: 5, or a range 5..20. Default: see `partita ways NAME`.",
            rich_help_panel=making.GENERATION,
        ),
    ] = None,
    base: making.Base = None,
    setting: making.WaySettings = None,
    soft: Annotated[
        bool | None,
        typer.Option(
            "--soft/--no-soft",
            help="Generate membership probabilities / labels. Default: as the strategy does.",
            rich_help_panel=making.GENERATION,
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            "--scale",
            metavar="NAME",
            help="standard: scale each feature to mean 0 and standard deviation 1; none: unchanged. Default: none.",
            rich_help_panel=making.GENERATION,
        ),
    ] = None,
    seed: options.Seed = 0,
    id_column: options.IdColumn = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    header: options.Header = None,
    input_format: options.InputFormat = None,
    max_input_gb: options.MaxInput = None,
    output_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="Output format: csv, tsv, parquet or npz. Default: by the file extension; csv on standard output.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
) -> None:
    """Generate base clusterings from features and write them as a label table, the input of `partita run`.

    After Ctrl-C the finished base clusterings are written, and the exit code is 130.
    """
    from partita import io
    from partita.core.interrupts import finishing
    from partita.generate.making import Making

    io.check_ensemble_path(output, output_format)
    options.check_apart(data, output, "features")
    asked = Making.of(way, making.given(setting, members=members, k=k, base=base, soft=soft, scale=scale), seed)
    with options.working(threads, quiet):
        features = making.read(data, id_column, columns, exclude, header, input_format, max_input_gb)
        made = asked.on(features, threads)
    with finishing():
        io.write_ensemble(made.ensemble, output, output_format, id_column or "id", asked.told(features))
    if not quiet:
        _tell(made)
    if made.interrupted:
        raise typer.Exit(options.INTERRUPTED)


def _tell(made: "Made") -> None:
    typer.echo(f"{made.ensemble!r}", err=True)
    if made.interrupted:
        typer.echo(f"note: interrupted: only {len(made.members)} of {made.asked} members are finished", err=True)
