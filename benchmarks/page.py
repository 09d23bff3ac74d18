"""docs/benchmarks.md from docs/benchmarks.json and the prose of benchmarks/page.md."""

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import notes, pool_tables
from benchmarks.contestants import OTHER, OURS, PLAIN, Entry, entries
from benchmarks.standing import CLAIM, Pair, Results, Runs, ahead, alone, by_key, pairs, short, table

OBJECTIVES = ("expected loss", "log likelihood")
TEMPLATE = Path(__file__).with_name("page.md")
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def objects(n: int) -> str:
    """A size as a power of ten."""
    power = len(str(n)) - 1
    first = "" if n == 10**power else f"{n / 10**power:g}·"
    return f"{first}10{str(power).translate(RAISED)}"


def seconds(value: float | None) -> str:
    """Three digits, no more than there are."""
    return "" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def made_on(results: Results) -> str:
    """Machine, versions, dates and commands."""
    machine = results["machine"]
    loads: dict[int, list[float]] = {}
    for run in results["grid"]:
        loads.setdefault(run["n"], []).append(run["load"])
    grid = ", ".join(f"{median(values):.1f} at {objects(n)}" for n, values in sorted(loads.items()))
    pools = median(run["load"] for run in results["pools"])
    lines = [
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory']}, {machine['system']}; "
        f"{', '.join(f'{name} {version}' for name, version in results['ours'].items())}. "
        f"The machine was shared. So many processes wanted its {machine['cores']} cores in the median, the one "
        f"measured among them: {grid} objects; {pools:.1f} during the pools. Where that is much, ratios and processor "
        "seconds tell more than seconds of the clock.",
        "",
    ]
    lines += [f"    {run['date']} {run['commit']:<18} {run['command']}" for run in results["commands"]]
    return "\n".join(lines) + "\n"


def ours_by_size(results: Results) -> str:
    """Seconds of our methods at every size, and memory at the largest that was reached."""
    runs = by_key(results)
    sizes = sorted({n for _, _, n in runs})
    rows = []
    for entry in entries():
        if not entry.ours:
            continue
        own = {n: runs[entry.method, entry.program, n] for n in sizes if (entry.method, entry.program, n) in runs}
        times = [seconds(own[n]["wall"]) if n in own and "wall" in own[n] else "–" for n in sizes]
        done = [n for n, run in own.items() if "wall" in run]
        most = max(done, default=None)
        memory = "" if most is None else f"{own[most]['memory']:.0f} MB at {objects(most)}"
        stops = [run["failure"] for n, run in own.items() if "failure" in run]
        rows.append((_label(entry), *times, memory, stops[0] if stops else ""))
    return table(("method", *(f"{objects(n)}" for n in sizes), "extra memory", "why no further"), rows)


def _label(entry: Entry) -> str:
    plain = entry.program in (OURS, "partita search")
    return f"`{entry.method}`" if plain else f"`{entry.method}`, {entry.program.partition(', ')[2]}"


def claims(results: Results) -> str:
    """The same method at the size of the claim, with the reason where it does not hold."""
    runs = by_key(results)
    lacking = [f"{entry.method} / {entry.program}" for entry in short(runs) if not reason(entry)]
    if lacking:
        raise LookupError(f"no reason in benchmarks/notes.py why not ten times: {', '.join(lacking)}")
    found = {(pair.entry.method, pair.entry.program): pair for pair in pairs(runs, CLAIM)}
    rows = [
        _claim(entry, runs, found.get((entry.method, entry.program)))
        for entry in entries()
        if not entry.ours and entry.kind != OTHER
    ]
    head = ("method", "rival", "ours s", "rival s", "rival / ours", "our ANMI", "its ANMI", "holds", "why not")
    return table(head, rows)


def reason(entry: Entry) -> str:
    """Why we are not ten times as fast, have a lower ANMI or do not finish."""
    return notes.REASONS.get((entry.method, entry.program), "")


def _claim(entry: Entry, runs: Runs, pair: Pair | None) -> tuple[Any, ...]:
    program = entry.program + (" (by hand)" if entry.kind == PLAIN else "")
    if pair is None:
        own, other = (runs.get((entry.method, name, CLAIM), {}) for name in (entry.against, entry.program))
        failed = other.get("failure") or (f"ours: {own['failure']}; {reason(entry)}" if "failure" in own else "not run")
        holds = "rival fails" if "wall" in own and "failure" in other else "**no**"
        cells = (
            seconds(own.get("wall")),
            seconds(other.get("wall")),
            None,
            own.get("anmi"),
            other.get("anmi"),
            holds,
            failed,
        )
        return (f"`{entry.method}`", program, *cells)
    times = (seconds(pair.ours["wall"]), seconds(pair.rival["wall"]), pair.shown_ratio)
    told = "yes" if pair.holds else "**no**"
    why = "" if pair.holds else reason(entry)
    return (f"`{entry.method}`", program, *times, pair.ours["anmi"], pair.rival["anmi"], told, why)


def losses(results: Results) -> str:
    """Every run of the table in which another contestant is faster or better than ours."""
    rows = [
        (f"`{pair.entry.method}`", pair.entry.program, objects(pair.n), "; ".join(ahead(pair)))
        for pair in pairs(by_key(results))
        if ahead(pair)
    ]
    rows += [
        (f"`{entry.method}`", entry.program, objects(n), f"ours: {why}") for entry, n, why in alone(by_key(results))
    ]
    return table(("method", "contestant", "objects", "ahead in"), rows)


def grid(results: Results) -> str:
    """All runs, method by method."""
    runs, parts = by_key(results), []
    head = ("contestant", "objects", "wall s", "processor s", "extra MB", "ANMI", "NMI", "time / ours", "its objective")
    for method in dict.fromkeys(entry.method for entry in entries()):
        rows = [row for entry in entries() if entry.method == method for row in _runs_of(entry, runs)]
        parts.append(f"### {method}\n\n{table(head, rows)}")
    return "\n".join(parts)


def _runs_of(entry: Entry, runs: Runs) -> list[tuple[Any, ...]]:
    """A contestant's runs; of sizes that were not tried only the first."""
    compared = {pair.n: pair.shown_ratio for pair in pairs(runs) if pair.entry == entry}
    rows: list[tuple[Any, ...]] = []
    kind = "" if entry.kind not in (PLAIN, OTHER) else f" ({'by hand' if entry.kind == PLAIN else 'another method'})"
    for n in sorted(n for method, program, n in runs if (method, program) == (entry.method, entry.program)):
        run = runs[entry.method, entry.program, n]
        if "failure" in run:
            return [*rows, (entry.program + kind, objects(n), run["failure"], *[None] * 6)]
        figures = (seconds(run["wall"]), seconds(run["processor"]), f"{run['memory']:.0f}", run["anmi"], run["nmi"])
        rows.append((entry.program + kind, objects(n), *figures, compared.get(n), _objective(run)))
    return rows


def _objective(run: Mapping[str, Any]) -> str:
    """What a contestant minimises or maximises, in its own words."""
    return "; ".join(f"{name} {value:.4g}" for name, value in run["told"].items() if name in OBJECTIVES)


def rival_table(results: Results) -> str:
    """Each rival: the version that ran, with what, for which methods, and what it needs."""
    rows = []
    for program, need in notes.NEEDS.items():
        ran = next((v for name, v in results["versions"].items() if name.partition(" ")[0] == program), None)
        offered = [e.method for e in entries() if e.program.partition(" ")[0] == program and not e.ours]
        if ran is None:
            rows.append((program, "skipped", ", ".join(dict.fromkeys(offered)), need))
            continue
        others = ", ".join(f"{name} {version}" for name, version in ran.items() if name != "version")
        version = ran["version"] or notes.VERSIONS.get(program, "")
        rows.append((f"{program} {version}".strip(), others, ", ".join(dict.fromkeys(offered)), need))
    rows += [(program, "skipped", "", why) for program, why in notes.SKIPPED.items()]
    return table(("rival", "ran with", "methods", "what it needs, or why it was skipped"), rows)


def render(results: Results) -> str:
    """The page."""
    makers = {
        "made on": made_on,
        "ours": ours_by_size,
        "losses": losses,
        "claims": claims,
        "grid": grid,
        "rivals": rival_table,
        "pools": pool_tables.pools,
        "pool losses": pool_tables.losses,
        "cuts": pool_tables.cuts,
        "audit": pool_tables.audit,
    }
    text = TEMPLATE.read_text()
    for marker, make in makers.items():
        text = text.replace(f"<!-- {marker} -->\n", make(results))
    return text
