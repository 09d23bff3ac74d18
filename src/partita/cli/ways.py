"""partita ways: how ensembles are made, by which base clusterers, and the settings of one."""

from typing import Annotated

import typer

from partita.cli import making, options


def ways(
    name: Annotated[
        str | None,
        typer.Argument(help="Show the settings of this way or base clusterer.", autocompletion=making.way_names),
    ] = None,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
) -> None:
    """List the ways to make ensembles and the base clusterers, or the settings of one of them."""
    from partita.cli.show import write
    from partita.core.params import describe
    from partita.generate import clusterers, registry
    from partita.report.tables import TextTable

    if name is None:
        rows = [("way", row["name"], row["summary"], row["cite"]) for row in registry.ways()]
        found = {base: clusterers.get(base) for base in clusterers.CLUSTERERS}
        rows += [("base clusterer", base, _claims(one), one.cite) for base, one in found.items()]
        write(TextTable("Making ensembles", ("kind", "name", "summary", "cite"), tuple(rows)), as_json, as_csv)
        return
    kind = clusterers.get(name) if name in clusterers.CLUSTERERS and name not in registry.WAYS else registry.get(name)
    settings = [(row["name"], row["type"], row["default"], row["meaning"]) for row in describe(kind.Params)]
    if name in registry.WAYS and name in clusterers.CLUSTERERS:
        settings += [
            (row["name"], row["type"], row["default"], row["meaning"]) for row in describe(clusterers.get(name).Params)
        ]
    write(TextTable(name, ("setting", "type", "default", "meaning"), tuple(settings)), as_json, as_csv)


def _claims(clusterer: object) -> str:
    able = ["memberships"] * bool(getattr(clusterer, "soft", False))
    able += ["new objects"] * bool(getattr(clusterer, "places", False))
    return ", ".join(able)
