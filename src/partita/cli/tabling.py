"""A result that is a table: to a file, to stdout or before the user's eyes."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from partita.cli import options
from partita.core.errors import FileError

if TYPE_CHECKING:
    from partita.report.tables import TextTable


def check_table_file(labels: str, output: str | None) -> None:
    """Refuse, before long work, a table that could not be written."""
    from partita.io import check_writable

    if output is not None:
        if Path(output).suffix not in (".csv", ".json"):
            raise FileError(f"{output}: the table is written as .csv or .json; choose such a name for --output")
        options.check_apart(labels, output)
        check_writable(output)


def hand_out(
    table: "TextTable",
    record: Mapping[str, Any],
    output: str | None,
    as_json: bool,
    as_csv: bool,
    quiet: bool,
    shown: "TextTable | None" = None,
) -> None:
    """CSV holds the table, JSON the record; people see the table, or `shown` in its place, unless they are told so."""
    from partita.cli.show import show
    from partita.report.tables import as_json as to_json

    if output is not None:
        from partita.io import replacing

        text = to_json(record) + "\n" if output.endswith(".json") else table.csv()
        with replacing(Path(output)) as file:
            file.write(text.encode())
    if as_json:
        typer.echo(to_json(record))
    elif as_csv:
        typer.echo(table.csv(), nl=False)
    elif output is None or not quiet:
        show(shown or table, err=output is not None)
