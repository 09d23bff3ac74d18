"""partita report: an HTML report on the consensus of a label file."""

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from partita.cli import options
from partita.cli.truth import TruthColumn, TruthFile, TruthId, check_used, read_classes
from partita.core.errors import FileError, ParameterError, PartitaError

if TYPE_CHECKING:
    from partita.core.soft import AnyEnsemble
    from partita.report.gathered import ReportData

COORDINATES: Final = "Coordinates"


def report(
    labels: options.LabelFile,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Output file (.html).", rich_help_panel=options.OUTPUT),
    ] = "report.html",
    k: options.NumberOfClusters = None,
    method: options.MethodName = "auto",
    truth: TruthFile = None,
    truth_column: TruthColumn = None,
    truth_id: TruthId = None,
    coords: Annotated[
        str | None,
        typer.Option(
            "--coords",
            metavar="FILE",
            help="Table with two coordinates per object, such as a UMAP embedding, for a scatter plot.",
            rich_help_panel=COORDINATES,
        ),
    ] = None,
    coords_columns: Annotated[
        list[str] | None,
        typer.Option(
            "--coords-columns",
            metavar="NAME",
            help="Column with a coordinate in --coords; give it twice. Default: the two columns besides the ids.",
            rich_help_panel=COORDINATES,
        ),
    ] = None,
    coords_id: Annotated[
        str | None,
        typer.Option(
            "--coords-id",
            metavar="NAME",
            help="Column with the object ids in --coords. Default: the name given by --id.",
            rich_help_panel=COORDINATES,
        ),
    ] = None,
    compare: Annotated[
        str,
        typer.Option(
            "--compare",
            metavar="METHODS",
            help="Other methods to compare with: auto (a few that suit the table), none, or names such as mm,eac.",
            rich_help_panel=options.METHOD,
        ),
    ] = "auto",
    criterion: Annotated[
        str | None,
        typer.Option(
            "--criterion",
            metavar="NAME",
            help="Criterion that chooses k among several, as in `partita select-k`. Default: covariance.",
            autocompletion=options.criterion_names,
            rich_help_panel=options.METHOD,
        ),
    ] = None,
    repeats: Annotated[
        int,
        typer.Option(
            "--repeats",
            min=0,
            help="Number of random halves of the clusterings that are fitted for stability if several k are given; "
            "0 omits it.",
            rich_help_panel=options.METHOD,
        ),
    ] = 10,
    title: Annotated[str, typer.Option("--title", help="Title of the report.", rich_help_panel=options.OUTPUT)] = "",
    setting: options.Settings = None,
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
    quiet: options.Quiet = False,
) -> None:
    """Compute the consensus of a label table and write an HTML report, one file that needs no network.

    The report shows the input, the clusters, their confidence, the agreement of the base clusterings, uncertain
    objects, the choice of k, the results of other methods, and the command to reproduce the labels. The same command
    writes an identical file.
    """
    from partita import io
    from partita.cli.warming import compile_beside
    from partita.core.consensus import headline
    from partita.reporting import ReportOptions, make_report, rival_names
    from partita.selection.criteria import check_known

    check_known(criterion)
    check_page(output, labels, "--output")
    for source in filter(None, (truth, coords)):
        options.check_apart(source, output, "input")
    asked = options.k_values(k)
    check_used("--truth", truth, truth_column, truth_id)
    check_used("--coords", coords, coords_columns, coords_id)
    if isinstance(asked, int) and criterion is not None:
        raise ParameterError(f"--criterion {criterion}: --k {asked} leaves no choice; give several, such as 2..10")
    rival_names(compare)
    wanted = options.read_options(
        id_column, columns, exclude, missing, weight, transpose, header, input_format, allow, max_input_gb
    )
    params = options.settings(setting, "repeats", "criterion")
    told: Any = {"title": title, "source": source_name(labels), "id_name": id_column or "id", "command": typed()}
    fit: Any = {"criterion": criterion, "repeats": repeats, "seed": seed, "params": params, "threads": threads}
    compile_beside(method, polish=False)
    with options.working(threads, quiet):
        ensemble = options.hardened(io.read(labels, wanted), harden)
        places, names = _coordinates(coords, coords_columns, (coords_id, id_column), ensemble, max_input_gb)
        classes = None
        if truth is not None:
            classes = read_classes(
                truth,
                truth_column,
                truth_id or id_column,
                missing,
                ensemble.ids,
                len(ensemble),
                labels,
                quiet,
                max_input_gb,
            )
        extra = ReportOptions(classes, places, names, compare, **told, **fit)
        data = make_report(ensemble, asked, method, extra)
        words = [*options.reading_words(wanted, harden), *_fit_words(method, data.consensus.k_asked, seed, setting)]
        command = shlex.join(["partita", "run", labels, *words, "-o", "consensus.csv"])
        written = write_page(data, command, output)
    if not quiet:
        typer.echo("\n".join(headline(data.consensus)), err=True)
        for note in data.notes:
            typer.echo(f"note: {note}", err=True)
        typer.echo(written, err=True)


def write_page(data: "ReportData", labels_command: str, output: str) -> str:
    """Write the page, with the command that writes the labels, and return a line for the user."""
    from partita import io
    from partita.report.html.page import page

    whole = page(replace(data, repeat=replace(data.repeat, labels_command=labels_command)))
    with io.replacing(Path(output)) as file:
        file.write(whole)
    return f"wrote {output} ({len(whole) / 1e6:.2f} MB)"


def typed() -> str:
    """Return the command as it was typed, quoted for a shell."""
    return shlex.join(["partita", *sys.argv[1:]])


def _fit_words(method: str, k: int | None, seed: int, setting: list[str] | None) -> list[str]:
    words = ["--method", method, *([] if k is None else ["--k", str(k)]), "--seed", str(seed)]
    return words + [word for value in setting or () for word in ("--set", value)]


def check_page(path: str, labels: str, option: str) -> None:
    """Refuse, before the work, a page that could not be written."""
    from partita import io

    if path == "-":
        raise ParameterError(f"{option} -: the page is a file; name one, such as report.html")
    options.check_apart(labels, path, "input", option)
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise FileError(f"{path}: the report is an HTML page; choose a name that ends in .html for {option}")
    io.check_writable(path, "csv")


def source_name(labels: str) -> str:
    """Return the name of the input on the page."""
    return "standard input" if labels == "-" else Path(labels).name


def _coordinates(
    path: str | None,
    columns: list[str] | None,
    id_names: tuple[str | None, str | None],
    ensemble: "AnyEnsemble",
    max_input_gb: float | None,
) -> tuple[Any, tuple[str, str]]:
    """Two coordinates of every object, NaN where it has none, and what they are called."""
    import numpy as np

    from partita import io
    from partita.core.errors import TableError

    if path is None:
        return None, ("x", "y")
    found = _features(path, columns, *id_names, max_input_gb)
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


def _features(
    path: str, columns: list[str] | None, named: str | None, likely: str | None, max_input_gb: float | None
) -> Any:
    """The numbers in a file; the column of ids is the one named, or one called as in the label table if there is."""
    from partita import io

    wanted = io.ReadOptions(columns=tuple(columns or ()), max_input_gb=max_input_gb)
    try:
        return io.read_features(path, replace(wanted, ids=named or likely), gaps=True)
    except PartitaError as error:
        if named is not None or likely is None:
            raise _of_coordinates(error) from None
        try:
            return io.read_features(path, wanted, gaps=True)
        except PartitaError:
            raise _of_coordinates(error) from None


def _of_coordinates(error: PartitaError) -> PartitaError:
    """The same error; where it names options of the label table, those of the coordinates too."""
    if "--exclude" not in str(error):
        return error
    return error.reworded(f"{error}; of --coords, --coords-columns picks the two columns and --coords-id the ids")
