"""partita demo: the whole path on the bundled example."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli import options, placing

if TYPE_CHECKING:
    from partita.core.consensus import Consensus


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("partita-demo"),
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run the bundled example: 300 customers, seven old segmentations with gaps, one of them wrong."""
    from partita import api, io
    from partita.cli.show import show
    from partita.cli.warming import compile_beside
    from partita.datasets import segments_path, truth_path
    from partita.report.summary import clusterings_table, clusters_table
    from partita.report.tables import TextTable
    from partita.report.tables import as_json as to_json

    place = options.folder(output)
    compile_beside("auto", polish=False)
    with options.working(None, quiet):
        ensemble = io.read(str(segments_path()), io.ReadOptions(ids="customer"))
        truth = io.match(io.read_labels(str(truth_path()), "group", ids="customer"), ensemble.ids, len(ensemble))
        results = {name: api.consensus(ensemble, name, 4) for name in ("voting", "qmi", "auto")}
        scores = {name: api.evaluate(result, ensemble=ensemble, truth=truth) for name, result in results.items()}
        best = max(results, key=lambda name: results[name].scores["anmi"])
        files = _write(results[best], ensemble, place)
    if as_json:
        typer.echo(to_json({"scores": scores, "chosen": best, "files": [str(file) for file in files]}))
        return
    rows = tuple((name, s["clusters"], s["anmi"], s["nmi"], s["misassignment"]) for name, s in scores.items())
    typer.echo(f"{ensemble!r}\n")
    show(TextTable("Methods", ("method", "clusters", "ANMI", "NMI with truth", "misassigned"), rows))
    typer.echo(f"\nThe highest ANMI needs no truth to be seen: {best} is kept.\n")
    show(clusters_table(results[best]))
    typer.echo("")
    show(clusterings_table(results[best]))
    for note in results[best].notes:
        typer.echo(f"note: {note}")
    typer.echo("\n" + "\n".join(f"wrote {file}" for file in files))


def _write(result: "Consensus", ensemble: Any, place: Path) -> list[Path]:
    """The example itself, the labels and, where matplotlib is installed, the picture."""
    from partita import io
    from partita.core.errors import MissingExtraError
    from partita.datasets import segments_path, truth_path

    table, picture = place / "consensus.csv", place / "consensus.png"
    files = [place / "segments.csv", place / "truth.csv", table]
    for source, copy in zip((segments_path(), truth_path()), files, strict=False):
        with io.replacing(copy) as file:
            file.write(source.read_bytes())
    io.write(result, table)
    try:
        title = f"{len(result)} customers, {len(ensemble.names)} segmentations, one consensus of {result.k} clusters"
        placing.draw(picture, result, ensemble, title)
    except MissingExtraError as error:
        typer.echo(f"note: no picture; {error}", err=True)
        return files
    return [*files, picture]
