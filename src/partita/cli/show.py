"""Putting tables on the screen."""

import typer

from partita.report.tables import TextTable, shown


def show(table: TextTable, err: bool = False) -> None:
    """A table for people: ruled on a terminal, plain columns elsewhere."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(stderr=err, highlight=False)
    drawn = Table(title=Text(table.title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    for place, name in enumerate(table.columns):
        numeric = all(isinstance(row[place], (int, float)) and not isinstance(row[place], bool) for row in table.rows)
        drawn.add_column(Text(_printable(name)), justify="right" if numeric else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(_printable(shown(cell))) for cell in row))  # as it is: [b] in a name is no markup
    if console.is_terminal:
        console.print(drawn)
    else:
        Console(stderr=err, highlight=False, width=200).print(drawn)


def _printable(text: str) -> str:
    """Names come from files: what would steer a terminal is shown as a mark."""
    steering = {*map(chr, range(32)), *map(chr, range(127, 160))} - {"\n", "\t"}
    return "".join("�" if letter in steering else letter for letter in text)


def write(table: TextTable, as_json: bool, as_csv: bool) -> None:
    """A table on stdout in the form asked for."""
    if as_json:
        typer.echo(table.json())
    elif as_csv:
        typer.echo(table.csv(), nl=False)
    else:
        show(table)
