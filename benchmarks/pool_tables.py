"""The tables of the public pools, and of the row-order audit."""

from collections.abc import Iterator, Mapping
from statistics import mean
from typing import Any

from benchmarks.contestants import Entry, quality_entries
from benchmarks.standing import SLACK, Results, table
from partita.datasets.pools import POOLS


def _told(results: Results) -> Iterator[tuple[Entry, Mapping[str, Any]]]:
    """Every contestant that has run."""
    runs = {(run["method"], run["program"]): run for run in results["pools"]}
    for entry in quality_entries():
        if (entry.method, entry.program) in runs:
            yield entry, runs[entry.method, entry.program]


def _means(run: Mapping[str, Any]) -> dict[str, float]:
    return {name: mean(values) for name, values in run.get("scores", {}).items()}


def _names(results: Results) -> list[str]:
    """Pools that anyone has been asked about, small ones first."""
    asked = {name for _, run in _told(results) for name in run.get("scores", {})}
    return sorted(asked, key=lambda name: POOLS[name].n)


def pools(results: Results) -> str:
    """Mean NMI of every contestant on every pool, best in bold; a mean where all pools are told."""
    names = _names(results)
    scored = [(entry, _means(run)) for entry, run in _told(results)]
    best = {name: max(means[name] for _, means in scored if name in means) for name in names}
    rows = []
    for entry, means in scored:
        cells = [_cell(means.get(name), best[name]) for name in names]
        rows.append(
            (f"`{entry.method}`", entry.program, *cells, mean(means.values()) if len(means) == len(names) else "–")
        )
    return table(("method", "contestant", *names, "mean"), rows)


def _cell(value: float | None, best: float) -> str:
    if value is None:
        return "–"
    return f"**{value:.3f}**" if value >= best - 5e-4 else f"{value:.3f}"


def losses(results: Results) -> str:
    """Contestants whose mean NMI is higher than ours by the same method, over the draws that both have."""
    runs = {(entry.method, entry.program): run for entry, run in _told(results)}
    rows = []
    for entry, run in _told(results):
        ours = runs.get((entry.method, entry.against), {})
        both = list(_shared(run, ours))
        if entry.ours or not both:
            continue
        theirs, own = mean(a for a, _ in both), mean(b for _, b in both)
        if theirs > own + SLACK:
            better = sum(a > b for a, b in both)
            told = (f"{theirs:.3f}", f"{own:.3f}", f"{theirs - own:+.3f}", f"{better} of {len(both)}")
            rows.append((f"`{entry.method}`", entry.program, *told))
    return table(("method", "contestant", "its mean NMI", "ours", "difference", "tables on which it is better"), rows)


def _shared(run: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    """Scores of the draws that both have."""
    for name, values in run.get("scores", {}).items():
        yield from zip(values, ours.get("scores", {}).get(name, ()), strict=False)


def cuts(results: Results) -> str:
    """What is missing from the table, and why."""
    rows = []
    for entry, run in _told(results):
        reasons = [f"{count} x {why}" for why, count in run.get("failures", {}).items()]
        reasons += [f"{run['left']} tables not reached in its time"] if run.get("left") else []
        reasons += [run["failure"]] if "failure" in run else []
        if reasons:
            rows.append((f"`{entry.method}`", entry.program, "; ".join(reasons)))
    return table(("method", "contestant", "missing"), rows)


def audit(results: Results) -> str:
    """How much the order of the rows changes: the partition at most, and what file order and sorting do to NMI."""
    rows = []
    for entry, run in _told(results):
        seen = list(run.get("audit", {}).values())
        if not seen:
            continue
        changed, in_file, by_class = zip(*seen, strict=True)
        moved = sum(value > 0 for value in changed)
        gains = (f"{mean(by_class):+.3f}", f"{max(map(abs, (*in_file, *by_class))):.3f}")
        rows.append((f"`{entry.method}`", entry.program, f"{moved} of {len(seen)}", f"{max(changed):.3f}", *gains))
    head = ("method", "contestant", "pools on which the partition changes", "most, 1 - ARI")
    return table((*head, "NMI sorted by class less shuffled, mean", "most, any order"), rows)
