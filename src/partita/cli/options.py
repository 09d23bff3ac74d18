"""Options that several commands share, and what their words mean."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import typer

from partita.cli.progress import Bar
from partita.core.errors import FileError, MethodError, ParameterError, PartitaWarning
from partita.core.progress import reporting
from partita.core.threads import thread_limit

INTERRUPTED: Final = 130
"""The exit code after Ctrl-C."""


def output_formats(incomplete: str) -> list[str]:
    """For completion: the formats that begin so."""
    return [name for name in ("csv", "tsv", "parquet", "json", "h5ad") if name.startswith(incomplete)]


def method_names(incomplete: str) -> list[str]:
    """For completion: the methods that begin so."""
    from partita.registry import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


INPUT: Final = "Input"
METHOD: Final = "Method"
OUTPUT: Final = "Output"
EVALUATION: Final = "Evaluation"
STREAMING: Final = "Streaming (tables larger than memory)"
RUNTIME: Final = "Runtime"
"""Panels of the help."""

LabelFile: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="LABELS",
        help="Label table with one row per object and one column per clustering (CSV, TSV, Parquet, NPY, NPZ, MAT or "
        "H5AD); - is standard input.",
    ),
]
MethodName: TypeAlias = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        metavar="NAME",
        help="Consensus method, see `partita methods`; auto fits several methods and chooses one.",
        autocompletion=method_names,
        rich_help_panel=METHOD,
    ),
]
Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Set a parameter of the method (see `partita methods NAME`); repeatable.",
        rich_help_panel=METHOD,
    ),
]
Harden: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--harden",
        help="Replace soft assignments (membership probabilities) by the most probable label.",
        rich_help_panel=INPUT,
    ),
]
IdColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="NAME",
        help="Column with the object ids. Default: an unnamed first column, if there is one.",
        rich_help_panel=INPUT,
    ),
]
Columns: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        "-c",
        metavar="PATTERN",
        help="Use only columns with this name or pattern (leiden_*); repeatable. Default: all columns.",
        rich_help_panel=INPUT,
    ),
]
Exclude: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="PATTERN",
        help="Ignore columns with this name or pattern; repeatable.",
        rich_help_panel=INPUT,
    ),
]
Missing: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="VALUE",
        help="Label value that means missing, such as -1, in addition to empty cells; repeatable. "
        "none: no value means missing.",
        rich_help_panel=INPUT,
    ),
]
Weights: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="NAME=W",
        help="Weight of a clustering; repeatable. Default: 1 for each.",
        rich_help_panel=INPUT,
    ),
]
Transpose: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--transpose/--no-transpose",
        help="The table has one row per clustering / one row per object. Default: one row per object; a table with "
        "more columns than rows is reported.",
        rich_help_panel=INPUT,
    ),
]
Header: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="The first line of a CSV or TSV file contains column names / data. Default: column names; a first line "
        "of numbers is an error.",
        rich_help_panel=INPUT,
    ),
]
Allow: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="CODE",
        help="Switch off a check of the input; its message names the code, such as id-like-column; repeatable.",
        rich_help_panel=INPUT,
    ),
]
MaxInput: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--max-input-gb",
        metavar="GB",
        help="Maximum memory that the contents of an input file may take, after unpacking. Default: half of the "
        "available memory.",
        rich_help_panel=INPUT,
    ),
]


def _strict(strict: bool) -> bool:
    """Turn warnings of Partita into errors, which end the command, from here on."""
    if strict:
        warnings.simplefilter("error", PartitaWarning)
    return strict


Strict: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--strict", callback=_strict, help="Treat warnings as errors: exit with code 1.", rich_help_panel=INPUT
    ),
]
OutputFormat: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Output format: csv, tsv, parquet, json or h5ad. Default: by the file extension; csv on standard output.",
        autocompletion=output_formats,
        rich_help_panel=OUTPUT,
    ),
]
InputFormat: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        metavar="NAME",
        help="Input format: csv, tsv, parquet, npy, npz, mat or h5ad. Default: by the file extension.",
        rich_help_panel=INPUT,
    ),
]
Output: TypeAlias = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Output file: .csv, .tsv, .parquet, .json (csv, tsv and json also .gz), or .h5ad for a copy of an .h5ad "
        "input; - is standard output.",
        rich_help_panel=OUTPUT,
    ),
]
Membership: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--membership/--no-membership",
        help="Write / omit the membership probabilities, if the method computes them.",
        rich_help_panel=OUTPUT,
    ),
]
Seed: TypeAlias = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of the random number generator.", rich_help_panel=METHOD)
]
Threads: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        help="Maximum number of threads (does not affect the result). Default: one per CPU.",
        rich_help_panel=RUNTIME,
    ),
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="Maximum number of worker processes (does not affect the result); 1 uses the main process only. "
        "Default: one per CPU, or fewer if that is faster.",
        rich_help_panel=RUNTIME,
    ),
]
Quiet: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only warnings and errors to stderr.", rich_help_panel=OUTPUT)
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON to stdout.", rich_help_panel=OUTPUT)]
Csv: TypeAlias = Annotated[bool, typer.Option("--csv", help="Print CSV to stdout.", rich_help_panel=OUTPUT)]


NumberOfClusters: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--k",
        "-k",
        metavar="K",
        help="Number of clusters: 4, or a range 2..10 or a list 3,5,8 to choose from. Default: chosen from the table, "
        "or inferred by the method.",
        rich_help_panel=METHOD,
    ),
]


def k_values(text: str | None) -> "int | range | list[int] | None":
    """Return what --k specifies: one number, several to choose from, or None.

    >>> k_values("4"), k_values("2..4"), k_values("3,5"), k_values(None)
    (4, range(2, 5), [3, 5], None)
    """
    if text is None:
        return None
    first, dots, last = text.partition("..")
    try:
        numbers = [int(part) for part in ([first, last] if dots else text.split(","))]
    except ValueError:
        raise ParameterError(
            f"--k {text}: expected a number such as 4, a range such as 2..10 or a list such as 3,5,8"
        ) from None
    if not dots:
        return numbers if len(numbers) > 1 else numbers[0]
    if numbers[1] < numbers[0]:
        raise ParameterError(f"--k {text}: the range ends before it begins; write the smaller number first")
    return range(numbers[0], numbers[1] + 1)


def several_k_values(text: str | None) -> "range | list[int] | None":
    """Return the same as several numbers, for commands that compare them.

    >>> several_k_values("4")
    [4]
    """
    found = k_values(text)
    return [found] if isinstance(found, int) else found


def criterion_names(incomplete: str) -> list[str]:
    """For completion: the criteria for k that begin so."""
    from partita.selection import CRITERIA

    return [name for name in CRITERIA if name.startswith(incomplete)]


def check_apart(source: str, output: str, what: str = "label table", option: str = "--output") -> None:
    """Refuse to write the result over the file it is made from."""
    if output != "-" and Path(output).exists() and Path(source).exists() and Path(source).samefile(output):
        raise FileError(f"{output}: the result would overwrite the {what}; choose another {option}")


def check_distinct(**outputs: str | None) -> None:
    """Refuse options, given by name, that name the same output file."""
    seen: dict[Path, str] = {}
    for name, path in outputs.items():
        option = f"--{name.replace('_', '-')}"
        other = option if path in (None, "-") else seen.setdefault(Path(str(path)).resolve(), option)
        if other != option:
            raise FileError(f"{path}: {option} and {other} name the same file; choose another")


def read_options(
    id_column: str | None,
    columns: list[str] | None,
    exclude: list[str] | None,
    missing: list[str] | None,
    weight: list[str] | None,
    transpose: bool | None,
    header: bool | None,
    input_format: str | None,
    allow: list[str] | None = None,
    max_input_gb: float | None = None,
) -> Any:
    """How the options say a label table is to be read."""
    from partita.io import ReadOptions

    return ReadOptions(
        format=input_format,
        ids=id_column,
        columns=tuple(columns or ()),
        exclude=tuple(exclude or ()),
        missing=missing_values(missing),
        weights=weight_values(weight),
        transpose=transpose,
        header=header,
        allow=tuple(allow or ()),
        max_input_gb=max_input_gb,
    )


def reading_words(wanted: Any, harden: bool) -> list[str]:
    """The words that make another command read a table in the same way: what `read_options` was told.

    >>> reading_words(read_options("who", ["a*"], None, ["-1"], ["b=2"], None, False, None), True)
    ['--id', 'who', '--columns', 'a*', '--missing', '-1', '--weight', 'b=2', '--no-header', '--harden']
    """
    missing = ("none",) if wanted.missing == () else wanted.missing
    weights = [f"{name}={weight:.17g}" for name, weight in (wanted.weights or {}).items()]
    several = (
        ("--id", wanted.ids and [wanted.ids]),
        ("--columns", wanted.columns),
        ("--exclude", wanted.exclude),
        ("--missing", missing),
        ("--weight", weights),
        ("--allow", wanted.allow),
        ("--input-format", wanted.format and [wanted.format]),
        ("--max-input-gb", wanted.max_input_gb and [f"{wanted.max_input_gb:.17g}"]),
    )
    words = [word for flag, values in several for value in values or () for word in (flag, str(value))]
    for flag, said in (("transpose", wanted.transpose), ("header", wanted.header)):
        words += [] if said is None else [f"--{flag}" if said else f"--no-{flag}"]
    return [*words, "--harden"] if harden else words


def hardened(ensemble: Any, wanted: bool) -> Any:
    """The ensemble as it is or, if so wanted, with likeliest labels in place of memberships."""
    return ensemble.harden() if wanted and hasattr(ensemble, "harden") else ensemble


@contextmanager
def working(threads: int | None, quiet: bool) -> Iterator[None]:
    """Long work: so many threads, progress and news on stderr unless quiet."""
    logging.getLogger("partita").setLevel(logging.WARNING if quiet else logging.INFO)
    with thread_limit(threads), Bar(quiet) as bar, reporting(bar.report):
        yield


def pairs(words: list[str] | None, option: str) -> dict[str, str]:
    """NAME=VALUE words as a dictionary."""
    found = {}
    for word in words or []:
        name, sign, value = word.partition("=")
        if not sign or not name:
            raise ParameterError(f"{option} {word}: write {option} NAME=VALUE")
        found[name] = value
    return found


def check_draws(path: str, labels: str, method: str) -> None:
    """Refuse, before the work, draws that could not be written."""
    from partita import io, registry

    if not registry.get(method).samples:
        able = ", ".join(name for name in registry.METHODS if registry.get(name).samples)
        raise MethodError(f"--save-draws {path}: {method} draws no partitions; these methods do: {able}")
    io.check_draws_path(path)
    check_apart(labels, path, option="--save-draws")


def check_model(path: str, labels: str) -> None:
    """Refuse, before the work, a model that could not be saved."""
    from partita import io

    io.check_model_path(path)
    check_apart(labels, path, option="--save-model")


def settings(words: list[str] | None, *owned: str) -> dict[str, Any]:
    """What --set says; what has an option of its own, or is `owned` by the command, is refused."""
    found = pairs(words, "--set")
    for name in found.keys() & {"ensemble", "method", "k", "seed", "threads", "compress", "polish", *owned}:
        flag = f"--{name.replace('_', '-')}"
        own = name in (*owned, "k", "seed")
        way_out = f"this has an option of its own; say {flag}" if own else "this is no setting; see --help"
        raise ParameterError(f"--set {name}={found[name]}: {way_out}")
    return found


def missing_values(words: list[str] | None) -> Any:
    """What --missing says: None when it was not given, () for none, else the values, numbers as numbers."""
    if words is None or not words:
        return None
    return tuple(int(word) if word.lstrip("-").isdigit() else word for word in words if word != "none")


def weight_values(words: list[str] | None) -> dict[str, float] | None:
    """What --weight says, by clustering."""
    found = {}
    for name, value in pairs(words, "--weight").items():
        try:
            found[name] = float(value)
        except ValueError:
            raise ParameterError(f"--weight {name}={value}: {value!r} is not a number") from None
    return found or None


def folder(path: Path) -> Path:
    """An output folder, made if it is not there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{path}: cannot make this folder ({error.strerror}); choose another with --output") from None
    return path
