"""partita methods: what there is, and the settings of one."""

from typing import Annotated

import typer

from partita.cli import options


def methods(
    name: Annotated[
        str | None, typer.Argument(help="Show the settings of this method.", autocompletion=options.method_names)
    ] = None,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
) -> None:
    """List the consensus functions, or the settings of one."""
    from partita import registry
    from partita.cli.show import write
    from partita.core.params import describe
    from partita.report.tables import TextTable

    if name is None:
        rows = registry.methods()
        write(TextTable("Methods", tuple(rows[0]), tuple(tuple(row.values()) for row in rows)), as_json, as_csv)
        return
    found = describe(registry.get(name).Params)
    rows_of = tuple((row["name"], row["type"], row["default"], row["meaning"]) for row in found)
    title = f"{name}: {registry.summary(name)}"
    write(TextTable(title, ("setting", "type", "default", "meaning"), rows_of), as_json, as_csv)
