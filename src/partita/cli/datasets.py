"""partita datasets: the papers' data, what is there, and how to get the rest."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from partita.cli import options
from partita.core.errors import FileError

if TYPE_CHECKING:
    from partita.datasets.entry import Entry

app = typer.Typer(
    name="datasets",
    help="The papers' data sets: list them, show one, fetch one from OpenML, write one as a CSV.",
    rich_markup_mode="rich",
)


def set_names(incomplete: str) -> list[str]:
    """For completion: the data sets that begin so."""
    from partita.datasets.catalogue import CATALOGUE

    return [name for name in CATALOGUE if name.startswith(incomplete)]


Name: TypeAlias = Annotated[str, typer.Argument(help="A name from `partita datasets`.", autocompletion=set_names)]
Folder: TypeAlias = Annotated[
    Path | None,
    typer.Option("--data", metavar="FOLDER", help="The data folder [PARTITA_DATA, else the user's cache]."),
]


@app.callback(invoke_without_command=True)
def datasets(
    context: typer.Context, data: Folder = None, as_json: options.Json = False, as_csv: options.Csv = False
) -> None:
    """List the data sets: size, paper, licence, and whether they are there.

    A set is there as a checked *file*, as a *copy* from elsewhere, from *scikit-learn*, or *made* from its description.
    """
    if context.invoked_subcommand is not None:
        return
    from partita.cli.show import write
    from partita.datasets.catalogue import CATALOGUE
    from partita.datasets.folder import data_folder
    from partita.datasets.loading import state
    from partita.report.tables import TextTable

    place = data_folder(data)
    rows = tuple(
        (each.name, each.n, each.d, each.k, ", ".join(each.papers), each.licence, state(each, place))
        for each in CATALOGUE.values()
    )
    columns = ("name", "n", "d", "classes", "paper", "licence", "here")
    write(TextTable(f"Data sets; looked in {place}", columns, rows), as_json, as_csv)


@app.command("show")
def show(name: Name, data: Folder = None, as_json: options.Json = False) -> None:
    """Show one data set: citation, licence, checksum, classes, and how to get it."""
    from partita.cli import show as showing
    from partita.datasets.catalogue import entry_of
    from partita.datasets.folder import data_folder
    from partita.report.tables import TextTable
    from partita.report.tables import as_json as to_json

    entry = entry_of(name)
    facts = _facts(entry, data_folder(data))
    if as_json:
        typer.echo(to_json(facts))
        return
    rows = tuple((key, _words(value)) for key, value in facts.items() if value not in ("", {}, None))
    showing.show(TextTable(f"{entry.name}: {entry.title}", ("what", "value"), rows))


@app.command("fetch")
def fetch(name: Name, data: Folder = None, quiet: options.Quiet = False) -> None:
    """Fetch a data set from OpenML into the data folder, through scikit-learn.

    Its bytes are not those of the catalogue: sizes are checked, and it is said whether the values agree.
    """
    from partita.datasets import fetch as get

    found = get(name, data)
    if not quiet:
        typer.echo(
            f"{name}: {len(found)} objects, {found.X.shape[1]} features, {found.k} classes; {found.source}", err=True
        )


@app.command("export")
def export(
    name: Name,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the CSV goes; - is stdout.")],
    data: Folder = None,
    part: Annotated[
        str | None, typer.Option("--part", help="Only these rows, where `partita datasets show` names parts.")
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Write a data set as a CSV: features f0, f1, …, and last the class by name."""
    from partita.datasets import load
    from partita.datasets.tables import table_text
    from partita.io import check_writable, replacing

    if str(output) != "-":
        if output.suffix != ".csv":
            raise FileError(f"{output}: the data set is written as a CSV; choose a name that ends in .csv")
        check_writable(output)
    found = load(name, data, part)
    text = table_text(found)
    if str(output) == "-":
        typer.echo(text, nl=False)
    else:
        with replacing(output) as file:
            file.write(text)
    if not quiet:
        typer.echo(f"{name}: {found.source}", err=True)


def _facts(entry: "Entry", place: Path) -> dict[str, Any]:
    """All that is known of a data set, and how it can be had here."""
    from partita.datasets.loading import absence, state

    here = state(entry, place)
    where = entry.openml
    return {
        "name": entry.name,
        "title": entry.title,
        "n": entry.n,
        "d": entry.d,
        "classes": dict(zip(entry.classes, entry.counts, strict=True)),
        "papers": list(entry.papers),
        "citation": entry.cite,
        "licence": entry.licence,
        "remark": entry.remark,
        "parts": {part: f"rows {first} to {past - 1}" for part, (first, past) in entry.parts.items()},
        "file": entry.file,
        "sha256": entry.sha256,
        "file of labels": entry.labels_file,
        "sha256 of labels": entry.labels_sha256,
        "archive": entry.archive,
        "OpenML": f"{where.id} ({where.name})" if where else "",
        "here": absence(entry, place) if here.startswith("absent") else here,
    }


def _words(value: Any) -> Any:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {of}" for key, of in value.items())
    return ", ".join(value) if isinstance(value, list) else value
