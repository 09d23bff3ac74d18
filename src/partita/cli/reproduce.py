"""partita reproduce: what the papers claim, and what comes out."""

from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli import options
from partita.core.errors import FileError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partita.core.records import Record, ShownRun
    from partita.report.tables import TextTable


def paper_names(incomplete: str) -> list[str]:
    """For completion: the papers that begin so."""
    from partita.experiments.papers import PAPERS

    return [name for name in (*PAPERS, "all") if name.startswith(incomplete)]


def reproduce(
    papers: Annotated[
        list[str] | None,
        typer.Argument(metavar="PAPER", help="Keys from --list, or all.", autocompletion=paper_names),
    ] = None,
    table: Annotated[list[str] | None, typer.Option("--table", help="Only this table: 3; repeatable.")] = None,
    figure: Annotated[list[str] | None, typer.Option("--figure", help="Only this figure: 8; repeatable.")] = None,
    section: Annotated[
        list[str] | None, typer.Option("--section", help="Only this section of the text: 4.4; repeatable.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer draws and rows; the cuts are printed.")] = False,
    list_all: Annotated[bool, typer.Option("--list", help="Papers and what they show, and leave.")] = False,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="FOLDER", help="Where the data sets are, else PARTITA_DATA.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Records and pages; a rerun goes on from them.")
    ] = Path("partita-reproduction"),
    draws: Annotated[int | None, typer.Option("--draws", min=1, help="Draws a row, in place of the paper's.")] = None,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", metavar="PAGE", help="Also one page of all, figures in a folder beside."),
    ] = None,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure the tables and figures of the papers anew, and set ours beside what is printed.

    The tables go to stdout; records and pages to the output folder. What is finished is kept: after Ctrl-C (exit code
    130) or a crash, the same command goes on where it stopped. A trial that fails is told, and the exit code is 1.
    """
    named = {"table": table, "figure": figure, "section": section}
    exhibits = tuple(f"{kind}-{number}" for kind, numbers in named.items() for number in numbers or ())
    if list_all:
        _list(papers or ["all"], exhibits, as_json, as_csv)
        raise typer.Exit
    if not papers:
        raise ParameterError(
            f"which paper? Give one of {', '.join(paper_names(''))}; partita reproduce --list tells more"
        )
    from partita.core.threads import available
    from partita.datasets.folder import data_folder
    from partita.experiments.reproducing import Reproduction, reproduce
    from partita.experiments.runner import choose
    from partita.experiments.units import Settings

    choose(papers, exhibits)  # a wrong name or folder is told before a folder is made
    data_folder(data)
    _check_page(markdown)
    settings = Settings(seed, quick, None if data is None else str(data))
    wanted = Reproduction(tuple(papers), exhibits, settings, draws, workers or available())
    place = options.folder(output)
    with options.working(None, quiet):
        run, results = reproduce(wanted, place)
        _write(run, results.records, place, markdown)
    _tell(run, as_json, as_csv)
    if not quiet:
        typer.echo(f"wrote {place / 'index.html'} and a page for each paper", err=True)
    _end(run)


def _check_page(page: Path | None) -> None:
    """Refuse, before long work, a page that could not be written."""
    from partita.io import check_writable

    if page is not None:
        if page.suffix != ".md":
            raise FileError(f"{page}: the page is Markdown; choose a name that ends in .md for --markdown")
        check_writable(page, "csv")


def _write(run: "ShownRun", records: "Sequence[Record]", place: Path, page: Path | None) -> None:
    """Pages, figures and flat records; without matplotlib, pages without figures."""
    from partita.report.pages import document_of, pages_of, pictures_of
    from partita.report.reproduction import records_table

    try:
        pictures = pictures_of(run)
    except MissingExtraError as error:
        pictures = {}
        typer.echo(f"note: no figures: {error}", err=True)
    files = pages_of(run, pictures) | {"records.csv": records_table(records).csv().encode()}
    _put(place, files)
    if page is not None:
        text, figures = document_of(run, pictures, page.stem)
        _put(page.parent, {page.name: text})
        _put(page.with_suffix(""), figures)


def _put(place: Path, files: "Mapping[str, bytes]") -> None:
    from partita.io import replacing

    for name, content in files.items():
        options.folder((place / name).parent)
        with replacing(place / name) as file:
            file.write(content)


def _tell(run: "ShownRun", as_json: bool, as_csv: bool) -> None:
    from partita.cli.show import show, write
    from partita.report.reproduction import KEY, cells_table, exhibit_table, lines_of

    if as_json or as_csv:
        write(cells_table(run), as_json, as_csv)
        return
    for paper in run.papers:
        typer.echo(f"{paper.key}: {paper.title}\n")
        for exhibit in paper.exhibits:
            table = exhibit_table(exhibit)
            typer.echo(f"{table.title}\n")
            for part in _parts(table, get_terminal_size((200, 24)).columns):
                show(part)
            for line in lines_of(exhibit):
                typer.echo(line)
            typer.echo("")
        for line in paper.absent:
            typer.echo(f"Not here: {line}")
    typer.echo(KEY)


def _parts(table: "TextTable", width: int) -> "list[TextTable]":
    """A wide table as several that fit, each with the first column."""
    wide = [max(len(str(cell)) for cell in cells) + 3 for cells in zip(table.columns, *table.rows, strict=True)]
    parts, room = [[0]], width - wide[0]
    for place in range(1, len(wide)):
        if wide[place] > room and len(parts[-1]) > 1:
            parts.append([0])
            room = width - wide[0]
        parts[-1].append(place)
        room -= wide[place]
    return [
        replace(table, title="", columns=_at(table.columns, part), rows=tuple(_at(row, part) for row in table.rows))
        for part in parts
    ]


def _at(cells: "tuple[Any, ...]", places: "Sequence[int]") -> "tuple[Any, ...]":
    return tuple(cells[place] for place in places)


def _end(run: "ShownRun") -> None:
    """Exit codes and the last line."""
    from partita.report.reproduction import failures_of

    if run.interrupted:
        raise typer.Exit(options.INTERRUPTED)
    failed = failures_of(run.papers)
    if failed:
        typer.echo(
            f"partita: {failed} {'trial' if failed == 1 else 'trials'} failed; the pages and records tell which",
            err=True,
        )
        raise typer.Exit(1)


def _list(papers: list[str], exhibits: tuple[str, ...], as_json: bool, as_csv: bool) -> None:
    from partita.cli.show import write
    from partita.experiments.runner import choose
    from partita.report.tables import TextTable

    rows = tuple(
        (each.paper.key, shown.key, shown.title, len(shown.rows), shown.draws, shown.quick_draws, shown.data)
        for each in choose(papers, exhibits)
        for shown in each.exhibits
    )
    if not exhibits:
        rows += tuple(
            (each.paper.key, key, f"only a drawing: {text}", 0, 0, 0, ())
            for each in choose(papers)
            for key, text in each.paper.drawings.items()
        )
    names = ("paper", "exhibit", "title", "rows", "draws", "quick draws", "data")
    write(TextTable("Papers and what they show", names, rows), as_json, as_csv)
