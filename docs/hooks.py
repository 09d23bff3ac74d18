"""Fills the generated parts of the pages, so that a new method or option needs no edit here."""

import typer.main

from partita import registry
from partita.cli.main import app
from partita.core.params import describe
from partita.metrics import MEASURES
from partita.report.tables import TextTable


def methods_page() -> str:
    """The table of methods, then the settings of each."""
    rows = registry.methods()
    parts = [TextTable("Methods", tuple(rows[0]), tuple(tuple(row.values()) for row in rows)).markdown()]
    for row in rows:
        name = row["name"]
        settings = describe(registry.get(name).Params)
        cells = tuple((s["name"], s["type"], s["default"], s["meaning"]) for s in settings)
        table = (
            TextTable(name, ("setting", "type", "default", "meaning"), cells).markdown() if cells else "No settings.\n"
        )
        parts.append(f"## {name}\n\n{registry.summary(name)} ({row['cite']}).\n\n{table}")
    return "\n".join(parts)


def commands_page() -> str:
    """Every command with its arguments and options."""
    parts = []
    for name, command in typer.main.get_command(app).commands.items():
        rows = tuple((", ".join(p.opts + p.secondary_opts), getattr(p, "help", "") or "") for p in command.params)
        table = TextTable(name, ("argument or option", "meaning"), rows).markdown()
        parts.append(f"## partita {name}\n\n{(command.help or '').strip()}\n\n{table}")
    return "\n".join(parts)


def measures_page() -> str:
    """The measures of two labellings."""
    rows = tuple((name, measure.better, measure.symmetric, measure.summary) for name, measure in MEASURES.items())
    return TextTable("Measures", ("measure", "better", "symmetric", "meaning"), rows).markdown()


def on_page_markdown(markdown: str, **_: object) -> str:
    """Called by MkDocs for every page."""
    pages = {"methods": methods_page, "commands": commands_page, "measures": measures_page}
    for marker, make in pages.items():
        if f"<!-- {marker} -->" in markdown:
            markdown = markdown.replace(f"<!-- {marker} -->", make())
    return markdown
