"""partita generate: features in, an ensemble of base clusterings out."""

from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli import making, options

if TYPE_CHECKING:
    from partita.generate.making import Made


def generate(
    data: making.FeatureFile,
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="Where the ensemble goes: .csv, .tsv (or .gz), .parquet, .npz; - stdout."),
    ] = "-",
    way: Annotated[
        str,
        typer.Option("--way", "-w", help="A name from `partita ways`.", autocompletion=making.way_names),
    ] = "restarts",
    members: making.Members = None,
    k: Annotated[
        str | None, typer.Option("--k", "-k", metavar="K", help="Clusters of each member: 5, or a range 5..20.")
    ] = None,
    base: making.Base = None,
    setting: making.WaySettings = None,
    soft: Annotated[
        bool | None,
        typer.Option("--soft/--no-soft", help="Memberships / labels, whatever the way makes by itself."),
    ] = None,
    scale: Annotated[str | None, typer.Option("--scale", help="standard: each feature counts alike; none.")] = None,
    seed: options.Seed = 0,
    id_column: options.IdColumn = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    header: options.Header = None,
    input_format: options.InputFormat = None,
    output_format: Annotated[
        str | None, typer.Option("--format", help="csv, tsv, parquet or npz, where the name does not tell.")
    ] = None,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
) -> None:
    """Make base clusterings of objects from their features, and write them as a label table.

    `partita run` then finds their consensus. After Ctrl-C the members that are finished are written, and the exit code
    is 130.
    """
    from partita import io
    from partita.core.interrupts import finishing
    from partita.generate.making import Making

    io.check_ensemble_path(output, output_format)
    options.check_apart(data, output, "features")
    asked = Making.of(way, making.given(setting, members=members, k=k, base=base, soft=soft, scale=scale), seed)
    with options.working(threads, quiet):
        features = making.read(data, id_column, columns, exclude, header, input_format)
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
