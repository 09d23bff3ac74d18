"""partita predict: clusters of new objects, by a saved model."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli import options, placing

if TYPE_CHECKING:
    from partita.core.consensus import Consensus
    from partita.core.model import ColumnModel


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model file written by `partita run --save-model`.")],
    labels: options.LabelFile,
    output: options.Output = "-",
    id_column: options.IdColumn = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    missing: options.Missing = None,
    transpose: options.Transpose = None,
    header: options.Header = None,
    allow: options.Allow = None,
    max_input_gb: options.MaxInput = None,
    strict: options.Strict = False,
    input_format: options.InputFormat = None,
    membership: options.Membership = True,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Compute the log-likelihood of bce-vb and bce-gibbs instead of its lower bound; for few clusters and "
            "clusterings.",
        ),
    ] = False,
    output_format: options.OutputFormat = None,
    key_added: placing.KeyAdded = None,
    overwrite: placing.Overwrite = False,
    threads: options.Threads = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Predict the clusters of new objects from their labels in the same clusterings, with a saved model.

    Columns are matched by name, or by position in a file without names. Labels that did not occur in training count as
    missing, and so do the values that meant missing in training, unless --missing is given. The output is that of
    `partita run`. The summary has log-likelihood and perplexity if the model has probabilities (named as bounds if they
    are, see --exact), and a note if the model is approximate.
    """
    from partita import io
    from partita.core.checks import ALL, PARTITA_OUTPUT
    from partita.core.consensus import placed

    kind = "json" if as_json and output == "-" else output_format
    place = placing.Place.of(labels, output, kind, input_format, key_added, overwrite)
    options.check_apart(model, output, "model")
    fitted = io.load_model(model)
    wanted = options.read_options(
        id_column, columns, exclude, missing, None, transpose, header, input_format, allow, max_input_gb
    )
    if not missing and fitted.missing.said:
        wanted = replace(wanted, missing=tuple(value for _, value in fitted.missing.values))
    if not columns and (input_format or Path(labels).suffix[1:].lower()) == "h5ad":
        wanted = replace(wanted, columns=fitted.names)  # an .h5ad has other columns too
    # New objects may be few, in one cluster, and have columns that the model does not use.
    wanted = replace(wanted, transpose=bool(transpose), allow=(ALL - {PARTITA_OUTPUT}) | set(wanted.allow))
    with options.working(threads, quiet):
        result = placed(fitted, io.read(labels, wanted), exact)
    place.check_table(len(result), fitted.names)
    place.write(result, None, membership)
    _report(result, fitted, to_file=output != "-", as_json=as_json, quiet=quiet)


def _report(result: "Consensus", model: "ColumnModel", *, to_file: bool, as_json: bool, quiet: bool) -> None:
    """The summary: for people on stderr, as JSON on stdout where the labels went to a file."""
    from partita.cli.show import show
    from partita.core.errors import Note
    from partita.report.summary import clusters_table, prediction
    from partita.report.tables import as_json as to_json
    from partita.report.tables import shown

    said = prediction(result)
    if as_json and to_file:
        typer.echo(to_json(said))
    if quiet:
        return
    typer.echo(f"{model!r}\n", err=True)
    show(clusters_table(result), err=True)
    typer.echo("", err=True)
    for name in (
        "objects",
        "objects without labels",
        "labels never seen",
        "mean confidence",
        "log likelihood",
        "log likelihood bound",
        "perplexity",
        "perplexity bound",
    ):
        if name in said:
            typer.echo(f"{name}: {shown(said[name])}", err=True)
    for note in result.notes:
        if Note(note).code != "unseen-labels":  # printed as a warning
            typer.echo(f"note: {note}", err=True)
