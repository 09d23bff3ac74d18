"""partita report: the consensus of a label file on one page."""

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli import options
from partita.core.errors import ParameterError, PartitaError

if TYPE_CHECKING:
    from partita.core.soft import AnyEnsemble


def report(
    labels: options.LabelFile,
    output: Annotated[str, typer.Option("--output", "-o", metavar="HTML", help="Where the page goes.")] = "report.html",
    k: options.NumberOfClusters = None,
    method: options.MethodName = "auto",
    truth: Annotated[str | None, typer.Option("--truth", metavar="FILE", help="Known classes.")] = None,
    truth_column: Annotated[str | None, typer.Option("--truth-column", help="Column of the classes to use.")] = None,
    truth_id: Annotated[
        str | None,
        typer.Option("--truth-id", metavar="NAME", help="Column that names the objects in --truth, if not --id."),
    ] = None,
    coords: Annotated[
        str | None, typer.Option("--coords", metavar="FILE", help="Two coordinates of every object, such as a UMAP.")
    ] = None,
    coords_columns: Annotated[
        list[str] | None,
        typer.Option("--coords-columns", metavar="NAME", help="The two columns to use; give it twice."),
    ] = None,
    coords_id: Annotated[
        str | None,
        typer.Option("--coords-id", metavar="NAME", help="Column that names the objects in --coords, if not --id."),
    ] = None,
    compare: Annotated[
        str,
        typer.Option(
            "--compare", metavar="METHODS", help="Methods to set beside it: auto, none, or names such as mm,eac."
        ),
    ] = "auto",
    criterion: Annotated[
        str | None,
        typer.Option(
            "--criterion", help="Criterion that chooses k, as in select-k.", autocompletion=options.criterion_names
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option("--repeats", min=0, help="Random halves of the clusterings that stability compares; 0: none.")
    ] = 10,
    title: Annotated[str, typer.Option("--title", help="What stands above the page.")] = "",
    setting: options.Settings = None,
    seed: options.Seed = 0,
    id_column: options.IdColumn = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    missing: options.Missing = None,
    weight: options.Weights = None,
    transpose: options.Transpose = None,
    header: options.Header = None,
    input_format: options.InputFormat = None,
    harden: options.Harden = False,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
) -> None:
    """Find the consensus of a label file and show it on one HTML page that needs no network.

    The page tells what went in, what came out, its confidence, which clusterings disagree, which objects are doubtful,
    how k was chosen, what other methods find, and how to repeat it. The same command writes the same bytes.
    """
    from partita import io
    from partita.cli.warming import compile_beside
    from partita.report.html.page import page
    from partita.reporting import ReportOptions, make_report, rival_names
    from partita.selection.criteria import check_known

    check_known(criterion)
    _check_page(labels, output, (truth, coords))
    asked = options.k_values(k)
    _check_used(
        asked, criterion, (("--truth", truth, truth_column, truth_id), ("--coords", coords, coords_columns, coords_id))
    )
    rival_names(compare)
    wanted = options.read_options(id_column, columns, exclude, missing, weight, transpose, header, input_format)
    params = options.settings(setting, "repeats", "criterion", "ks")
    source = "standard input" if labels == "-" else Path(labels).name
    told: Any = {"title": title, "source": source, "id_name": id_column or "id", "command": _typed()}
    fit: Any = {"criterion": criterion, "repeats": repeats, "seed": seed, "params": params, "threads": threads}
    compile_beside(method, polish=False)
    with options.working(threads, quiet):
        ensemble = options.hardened(io.read(labels, wanted), harden)
        places, names = _coordinates(coords, coords_columns, (coords_id, id_column), ensemble)
        classes = _classes(truth, truth_column, truth_id or id_column, missing, ensemble)
        extra = ReportOptions(classes, places, names, compare, **told, **fit)
        data = make_report(ensemble, asked, method, extra)
        words = [*options.reading_words(wanted, harden), *_fit_words(method, data.consensus.k_asked, seed, setting)]
        command = shlex.join(["partita", "run", labels, *words, "-o", "consensus.csv"])
        whole = page(replace(data, repeat=replace(data.repeat, labels_command=command)))
    with io.replacing(Path(output)) as file:
        file.write(whole)
    if not quiet:
        typer.echo(f"{data.consensus!r}", err=True)
        for note in data.notes:
            typer.echo(f"note: {note}", err=True)
        typer.echo(f"wrote {output} ({len(whole) / 1e6:.2f} MB)", err=True)


def _typed() -> str:
    """The command as it was typed, in one line that a shell understands."""
    return shlex.join(["partita", *sys.argv[1:]])


def _fit_words(method: str, k: int | None, seed: int, setting: list[str] | None) -> list[str]:
    words = ["--method", method, *([] if k is None else ["--k", str(k)]), "--seed", str(seed)]
    return words + [word for value in setting or () for word in ("--set", value)]


def _check_page(labels: str, output: str, others: tuple[str | None, ...]) -> None:
    """Refuse, before the work, a page that could not be written, or would be written over what it is made from."""
    from partita import io

    if output == "-":
        raise ParameterError("--output -: the page is a file; name one, such as report.html")
    io.check_writable(output, "csv")
    for source in (labels, *others):
        if source is not None:
            options.check_apart(source, output, "input")


def _check_used(asked: Any, criterion: str | None, files: tuple[tuple[str, Any, Any, Any], ...]) -> None:
    """Refuse options that would do nothing."""
    for flag, path, column, ids in files:
        if path is None and (column or ids):
            raise ParameterError(f"columns are named for {flag}, but no file; give it by {flag} FILE")
    if isinstance(asked, int) and criterion is not None:
        raise ParameterError(f"--criterion {criterion}: --k {asked} leaves no choice; give several, such as 2..10")


def _classes(path: str | None, column: str | None, id_name: str | None, missing: Any, ensemble: "AnyEnsemble") -> Any:
    """The known classes in the order of the objects, None where there are none."""
    from partita import io

    if path is None:
        return None
    known = io.read_labels(path, column, id=id_name, missing=options.missing_values(missing))
    return io.match(known, ensemble.ids, len(ensemble), partial=True)


def _coordinates(
    path: str | None, columns: list[str] | None, id_names: tuple[str | None, str | None], ensemble: "AnyEnsemble"
) -> tuple[Any, tuple[str, str]]:
    """Two coordinates of every object, NaN where it has none, and what they are called."""
    import numpy as np

    from partita import io
    from partita.core.errors import TableError

    if path is None:
        return None, ("x", "y")
    found = _features(path, columns, *id_names)
    if len(found.names) != 2:
        raise TableError(
            f"{path}: {len(found.names)} columns of numbers; coordinates are two: say which by --coords-columns, "
            "twice, and which names the objects by --coords-id"
        )
    rows = io.Labelling("coordinates", np.arange(len(found)), found.ids)
    try:
        places = io.match(rows, ensemble.ids, len(ensemble), partial=True)
    except TableError as error:
        raise TableError(f"{path}: {error}".replace("--truth-id", "--coords-id")) from None
    matrix = np.vstack([found.matrix, np.full((1, 2), np.nan)])[places]
    return matrix, (found.names[0], found.names[1])


def _features(path: str, columns: list[str] | None, named: str | None, likely: str | None) -> Any:
    """The numbers in a file; the column of ids is the one named, or one called as in the label table if there is."""
    from partita import io

    chosen = tuple(columns or ())
    try:
        return io.read_features(path, io.ReadOptions(id=named or likely, columns=chosen), gaps=True)
    except PartitaError as error:
        if named is not None or likely is None:
            raise _of_coordinates(error) from None
        try:
            return io.read_features(path, io.ReadOptions(columns=chosen), gaps=True)
        except PartitaError:
            raise _of_coordinates(error) from None


def _of_coordinates(error: PartitaError) -> PartitaError:
    """The same error; where it names options of the label table, those of the coordinates too."""
    if "--exclude" not in str(error):
        return error
    return type(error)(f"{error}; of --coords, --coords-columns picks the two columns and --coords-id the ids")
