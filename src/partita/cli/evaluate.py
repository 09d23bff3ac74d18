"""partita evaluate: how good a labelling is."""

from typing import Annotated

import typer

from partita.cli import options


def evaluate(
    labels: Annotated[
        str,
        typer.Argument(metavar="CONSENSUS", help="A labelling: a file written by `partita run`, or any label file."),
    ],
    ensemble: Annotated[
        str | None, typer.Option("--ensemble", help="The label table the consensus was made from.")
    ] = None,
    truth: Annotated[str | None, typer.Option("--truth", help="Known classes.")] = None,
    column: Annotated[str | None, typer.Option("--column", help="Column of the labelling to use.")] = None,
    truth_column: Annotated[str | None, typer.Option("--truth-column", help="Column of the classes to use.")] = None,
    id_column: options.IdColumn = None,
    truth_id: Annotated[
        str | None,
        typer.Option("--truth-id", metavar="NAME", help="Column that names the objects in --truth, if not --id."),
    ] = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    missing: options.Missing = None,
    weight: options.Weights = None,
    transpose: options.Transpose = None,
    header: options.Header = None,
    input_format: options.InputFormat = None,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
) -> None:
    """Measure a labelling against the base clusterings (--ensemble) and against known classes (--truth).

    Files that carry ids are joined by id, others by row; a note says so where only one of two carries ids.
    """
    from partita import api, io
    from partita.cli.show import write
    from partita.core.errors import ParameterError
    from partita.metrics import MEASURES
    from partita.report.tables import TextTable
    from partita.report.tables import as_json as to_json

    if ensemble is None and truth is None:
        raise ParameterError("nothing to compare with; give --ensemble, --truth or both")
    found = io.read_labels(labels, column, id=id_column)
    base = None
    if ensemble is not None:
        wanted = options.read_options(id_column, columns, exclude, missing, weight, transpose, header, input_format)
        base = io.read(ensemble, wanted)
        _note_one_sided(labels, found.ids is not None, ensemble, base.ids is not None, "--id")
    order = base.ids if base is not None else found.ids
    values = io.match(found, order, len(base) if base is not None else len(found.values))
    classes = None
    if truth is not None:
        known = io.read_labels(truth, truth_column, id=truth_id or id_column, missing=options.missing_values(missing))
        _note_one_sided(truth, known.ids is not None, ensemble or labels, order is not None, "--truth-id")
        classes = io.match(known, order, len(values), partial=True)
    said = () if options.missing_values(missing) == () else -1
    scores = api.evaluate(values, ensemble=base, truth=classes, missing=said)
    if as_json:
        typer.echo(to_json(scores))
        return
    by_clustering = scores.pop("nmi by clustering", {})
    meaning = {
        "anmi": "mean NMI with the base clusterings",
        **{name: measure.summary for name, measure in MEASURES.items()},
    }
    rows = [(name, value, meaning.get(name, "")) for name, value in scores.items()]
    rows += [(f"nmi with {name}", value, "") for name, value in by_clustering.items()]
    write(TextTable("Scores", ("measure", "value", "meaning"), tuple(rows)), as_json, as_csv)


def _note_one_sided(file: str, has_ids: bool, other: str, other_has_ids: bool, option: str) -> None:
    """Say so where two files are compared row by row although one of them names its objects."""
    if has_ids == other_has_ids:
        return
    with_ids, without = (file, other) if has_ids else (other, file)
    way_out = option if without == file else "--id"
    typer.echo(
        f"note: {with_ids} names its objects and {without} does not, so they are compared row by row; "
        f"{way_out} says which column names them",
        err=True,
    )
