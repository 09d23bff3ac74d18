"""Fills the generated parts of the pages, so that a new method or option needs no edit here."""

import json
from collections.abc import Iterator
from pathlib import Path

import typer.main

from partita import registry
from partita.cli.main import app
from partita.core.params import describe
from partita.datasets.catalogue import CATALOGUE
from partita.generate import clusterers
from partita.generate import registry as ways_registry
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


def ways_page() -> str:
    """The ways to make ensembles, and the settings that are their own."""
    own = ways_registry.get("restarts").Params
    shared = {row["name"] for row in describe(own)}
    rows = []
    for row in ways_registry.ways():
        settings = [s for s in describe(ways_registry.get(row["name"]).Params) if s["name"] not in shared]
        told = "; ".join(f"`{s['name']}` ({s['default']}): {s['meaning']}" for s in settings)
        rows.append((row["name"], row["summary"], told, row["cite"]))
    table = TextTable("Ways", ("way", "what members see", "settings of its own (default)", "cite"), tuple(rows))
    common = tuple((s["name"], s["type"], s["default"], s["meaning"]) for s in describe(own))
    return table.markdown() + "\n" + TextTable("Shared", ("setting", "type", "default", "meaning"), common).markdown()


def clusterers_page() -> str:
    """The base clusterers."""
    found = {name: clusterers.get(name) for name in clusterers.CLUSTERERS}
    rows = tuple((name, one.soft, one.places, one.cite) for name, one in found.items())
    return TextTable("Base clusterers", ("name", "memberships", "new objects", "cite"), rows).markdown()


def commands_page() -> str:
    """Every command with its arguments and options."""
    parts = []
    for name, command in _commands(typer.main.get_command(app)):
        rows = tuple((", ".join(p.opts + p.secondary_opts), getattr(p, "help", "") or "") for p in command.params)
        table = TextTable(name, ("argument or option", "meaning"), rows).markdown()
        parts.append(f"## partita {name}\n\n{(command.help or '').strip()}\n\n{table}")
    return "\n".join(parts)


def _commands(group: object, before: str = "") -> Iterator[tuple[str, object]]:
    """The commands of a group and of the groups in it, by full name."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            if command.invoke_without_command:
                yield f"{before}{name}", command
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def measures_page() -> str:
    """The measures of two labellings."""
    rows = tuple((name, measure.better, measure.symmetric, measure.summary) for name, measure in MEASURES.items())
    return TextTable("Measures", ("measure", "better", "symmetric", "meaning"), rows).markdown()


def datasets_page() -> str:
    """The data sets, then citation and provenance of each; what is in a data folder does not matter here."""
    rows = tuple(
        (each.name, each.title, each.n, each.d, each.k, ", ".join(each.papers), each.licence, _ways(each))
        for each in CATALOGUE.values()
    )
    columns = ("name", "what", "n", "d", "classes", "paper", "licence", "how to get it")
    parts = [TextTable("Data sets", columns, rows).markdown()]
    for each in CATALOGUE.values():
        lines = [f"{each.cite}.", each.remark, f"`{each.file}`, sha256 `{each.sha256}`."]
        parts.append(f"**{each.name}.** {' '.join(line for line in lines if line)}\n")
    return "\n".join(parts)


def performance_page() -> str:
    """What the machine of the committed results can do, and how near each hot loop comes to it."""
    found = json.loads((Path(__file__).parent / "performance.json").read_text())
    told = found["machine"]
    caches = ", ".join(f"{name} {size}" for name, size in told["caches"].items())
    versions = ", ".join(f"{name} {version}" for name, version in told["versions"].items())
    about = (
        f"Measured on {found['date']} by `{found['command']}`: {told['processor']}, {told['cores']} cores, {caches}; "
    )
    streams = tuple(
        (threads, work, f"{rate['wall']:.1f}", f"{rate['processor']:.1f}")
        for threads, ways in found["GB/s"].items()
        for work, rate in ways.items()
    )
    names = ("threads", "work on 256 MB arrays", "GB/s by wall time", "GB/s by processor time")
    rates = found["rates"]
    bounds = (
        f"The bounds, on one thread: {rates['memory']:.1f} GB/s from main memory, {rates['near']:.0f} GB/s from the "
        f"nearest cache, {rates['arithmetic']:.1f}·10⁹ multiplications and additions a second.\n"
    )
    parts = [f"{about}{versions}.\n", TextTable("Memory", names, streams).markdown(), bounds]
    rows = tuple(_kernel_row(each) for each in found["kernels"])
    columns = ("kernel", "of", "ns", "streamed bytes", "near bytes", "operations")
    columns += ("memory", "near", "arithmetic", "bound", "counted")
    return "\n".join([*parts, TextTable("Kernels", columns, rows).markdown()])


def _kernel_row(each: dict) -> tuple:
    shares = (f"{each['shares'][name]:.0%}" for name in ("memory", "near", "arithmetic"))
    figures = (f"{each['ns']:.1f}", each["streamed bytes"], each["near bytes"], each["operations"])
    return f"{each['kernel']} (`{each['function']}`)", each["unit"], *figures, *shares, each["bound"], each["counted"]


def _ways(entry: object) -> str:
    ways = [
        f"scikit-learn `{entry.package}`" if entry.package else "",
        "made from its description" if entry.maker else "",
    ]
    ways.append(f"OpenML {entry.openml.id} ({entry.openml.name})" if entry.openml else "")
    return "; ".join([way for way in ways if way] or [entry.archive])


def on_page_markdown(markdown: str, **_: object) -> str:
    """Called by MkDocs for every page."""
    pages = {
        "methods": methods_page,
        "commands": commands_page,
        "measures": measures_page,
        "datasets": datasets_page,
        "ways": ways_page,
        "clusterers": clusterers_page,
        "performance": performance_page,
    }
    for marker, make in pages.items():
        if f"<!-- {marker} -->" in markdown:
            markdown = markdown.replace(f"<!-- {marker} -->", make())
    return markdown
