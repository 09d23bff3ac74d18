"""partita summarise: a file of sampled partitions in, the partition that represents them out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli import options
from partita.core.errors import FileError, ParameterError

if TYPE_CHECKING:
    from partita.io import DrawsTable


def summarise(
    draws: Annotated[
        str,
        typer.Argument(
            metavar="DRAWS",
            help="Partitions drawn of the same objects: CSV, TSV, Parquet, NPY, NPZ, MAT, H5AD; or -.",
        ),
    ],
    by: Annotated[str, typer.Option("--by", help="columns: one draw a column; rows: one draw a row.")] = "columns",
    loss: Annotated[
        str, typer.Option("--loss", help="vi, variation of information in nats, or binder, Binder's loss.")
    ] = "vi",
    level: Annotated[float, typer.Option("--level", help="Share of the posterior in the credible ball.")] = 0.95,
    max_clusters: Annotated[
        int | None,
        typer.Option(
            "--max-clusters",
            help="Maximum number of clusters of the partition. Default: as many as memory and time allow.",
        ),
    ] = None,
    pairs: Annotated[
        list[str] | None,
        typer.Option("--pairs", metavar="A,B", help="Two objects by id, else by row from 1: how often together."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Labels, certainty and bounds of the ball as a file: .csv or .json."),
    ] = None,
    seed: options.Seed = 0,
    id_column: options.IdColumn = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    missing: options.Missing = None,
    header: options.Header = None,
    input_format: options.InputFormat = None,
    max_input_gb: options.MaxInput = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the partition that represents sampled partitions best, and how sure they are of it.

    Tables go to stdout (with --json, all of it as JSON); the labels of objects go to --output.
    """
    from partita.io import check_writable, read_draws
    from partita.posterior.ball import check_level
    from partita.posterior.losses import check_loss
    from partita.posterior.pairs import pair_probabilities
    from partita.posterior.point import check_max_clusters
    from partita.posterior.summary import summarise as summarised
    from partita.report.posterior import as_record, summary_tables
    from partita.report.tables import as_json as to_json

    if output is not None:
        if Path(output).suffix not in (".csv", ".json"):
            raise FileError(f"{output}: the labels are written as .csv or .json; choose such a name for --output")
        options.check_apart(draws, output, "draws")
        check_writable(output)
    check_loss(loss)
    check_level(level)
    check_max_clusters(max_clusters)
    wanted = options.read_options(
        id_column, columns, exclude, missing, None, None, header, input_format, None, max_input_gb
    )
    with options.working(threads, quiet):
        table = read_draws(draws, by, wanted)  # type: ignore[arg-type]  # checked there
        places = [_pair(word, table) for word in pairs or []]
        found = summarised(table.draws, loss, level=level, max_clusters=max_clusters, seed=seed, threads=threads)  # type: ignore[arg-type]  # same
        together = pair_probabilities(table.draws, places).tolist() if places else []
    asked = dict(zip(pairs or [], together, strict=True))
    if output is not None:
        _write(found, table, Path(output))
    if as_json:
        typer.echo(to_json(as_record(found, asked)))
    elif not quiet or output is None:
        from partita.cli.show import show

        typer.echo(f"{found!r}\n")
        for shown in summary_tables(found, asked):
            show(shown)
            typer.echo("")
    if not quiet:
        for note in found.notes:
            typer.echo(f"note: {note}", err=True)
    if found.interrupted:
        raise typer.Exit(options.INTERRUPTED)


def _pair(word: str, table: "DrawsTable") -> tuple[int, int]:
    """The places of two objects named by id, or by number from 1."""
    names = word.split(",")
    if len(names) != 2:
        raise ParameterError(f"--pairs {word}: write two objects with a comma between, such as --pairs 1,2")
    return _place(names[0], word, table), _place(names[1], word, table)


def _place(name: str, word: str, table: "DrawsTable") -> int:
    objects = table.draws.labels.shape[1]
    if table.ids is not None:
        for place, called in enumerate(table.ids.tolist()):
            if str(called) == name.strip():
                return place
        raise ParameterError(f"--pairs {word}: no object is called {name.strip()!r}; give ids of the file")
    if not name.strip().isdigit() or not 1 <= int(name) <= objects:
        raise ParameterError(f"--pairs {word}: {name.strip()!r} is no place; give numbers from 1 to {objects}")
    return int(name) - 1


def _write(found: Any, table: "DrawsTable", path: Path) -> None:
    from partita.io import replacing
    from partita.report.posterior import objects_table

    objects = objects_table(found, table.ids)
    with replacing(path) as file:
        file.write((objects.json() + "\n" if path.suffix == ".json" else objects.csv()).encode())
