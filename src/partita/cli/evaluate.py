"""partita evaluate: how good a labelling is."""

from typing import Annotated

import typer

from partita.cli import options
from partita.cli.truth import TruthColumn, TruthFile, TruthId, note_one_sided, read_classes, unknown_class


def evaluate(
    labels: Annotated[
        str,
        typer.Argument(
            metavar="CONSENSUS", help="Labels to evaluate: a file written by `partita run`, or any label file."
        ),
    ],
    ensemble: Annotated[
        str | None,
        typer.Option(
            "--ensemble",
            metavar="LABELS",
            help="Label table with the base clusterings, to compute ANMI and NMI. The options in Input apply to it.",
            rich_help_panel=options.EVALUATION,
        ),
    ] = None,
    truth: TruthFile = None,
    column: Annotated[
        str | None,
        typer.Option(
            "--column",
            metavar="NAME",
            help="Column of CONSENSUS with the labels. Default: consensus, or the only column besides the ids.",
            rich_help_panel=options.EVALUATION,
        ),
    ] = None,
    truth_column: TruthColumn = None,
    id_column: options.IdColumn = None,
    truth_id: TruthId = None,
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
    as_json: options.Json = False,
    as_csv: options.Csv = False,
) -> None:
    """Compare labels with base clusterings (--ensemble) and with known classes (--truth).

    Files with ids are joined by id, files without ids by row position. A note is printed if only one of two files has
    ids.
    """
    from partita import api, io
    from partita.cli.show import write
    from partita.core.errors import ParameterError, note_records
    from partita.metrics import MEASURES
    from partita.report.tables import TextTable
    from partita.report.tables import as_json as to_json

    if ensemble is None and truth is None:
        raise ParameterError("nothing to compare with; give --ensemble, --truth or both")
    found = io.read_labels(labels, column, ids=id_column, max_input_gb=max_input_gb)
    base = None
    if ensemble is not None:
        wanted = options.read_options(
            id_column, columns, exclude, missing, weight, transpose, header, input_format, allow, max_input_gb
        )
        base = io.read(ensemble, wanted)
        note_one_sided(labels, found.ids is not None, ensemble, base.ids is not None, "--id")
    order = base.ids if base is not None else found.ids
    values = io.match(found, order, len(base) if base is not None else len(found.values))
    classes = None
    if truth is not None:
        classes = read_classes(
            truth,
            truth_column,
            truth_id or id_column,
            missing,
            order,
            len(values),
            ensemble or labels,
            max_input_gb=max_input_gb,
        )
    scores = api.evaluate(values, ensemble=base, truth=classes, missing=unknown_class(missing))
    if as_json:
        notes = [] if base is None else note_records(base.notes)
        typer.echo(to_json(scores | {"notes": notes}))
        return
    by_clustering = scores.pop("nmi by clustering", {})
    meaning = {
        "anmi": "mean NMI with the base clusterings",
        **{name: measure.summary for name, measure in MEASURES.items()},
    }
    rows = [(name, value, meaning.get(name, "")) for name, value in scores.items()]
    rows += [(f"nmi with {name}", value, "") for name, value in by_clustering.items()]
    write(TextTable("Scores", ("measure", "value", "meaning"), tuple(rows)), as_json, as_csv)
