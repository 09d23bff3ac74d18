"""Putting tables on the screen."""

import typer

from partita.report.tables import TextTable, shown


def show(table: TextTable, err: bool = False) -> None:
    """A table for people: ruled on a terminal, plain columns elsewhere."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(stderr=err, highlight=False)
    drawn = Table(title=table.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, show_edge=False)
    for place, name in enumerate(table.columns):
        numeric = all(isinstance(row[place], (int, float)) and not isinstance(row[place], bool) for row in table.rows)
        drawn.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(shown(cell) for cell in row))
    if console.is_terminal:
        console.print(drawn)
    else:
        Console(stderr=err, highlight=False, width=200).print(drawn)


def write(table: TextTable, as_json: bool, as_csv: bool) -> None:
    """A table on stdout in the form asked for."""
    if as_json:
        typer.echo(table.json())
    elif as_csv:
        typer.echo(table.csv(), nl=False)
    else:
        show(table)
