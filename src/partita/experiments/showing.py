"""Records beside published numbers: every cell, order and claim of an exhibit, worked out once for all reports."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from partita.core.errors import line_of
from partita.core.records import Cell, Finding, Place, PointPanel, Published, Record, ShownExhibit, ShownPaper
from partita.core.types import FloatArray
from partita.experiments import papers
from partita.experiments.deriving import Derived, derived_of
from partita.experiments.exhibit import Claim, Exhibit, Paper, Samples
from partita.experiments.measuring import quietly, trial_of
from partita.experiments.published import read_published
from partita.experiments.ranking import LEAST_DRAWS, TOO_FEW, orders_of, pairs_of, sentence
from partita.experiments.runner import Results
from partita.experiments.units import Chosen, Settings, draws_of, measured, rows_of, sources_of

STATISTICS: Final[dict[str, Callable[[FloatArray], float]]] = {
    "mean": lambda values: float(np.mean(values)),
    "max": lambda values: float(np.max(values)),
}
NEAR: Final = 2.0
"""Standard deviations over draws within which a printed number counts as met."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What of a run decides what is shown."""

    quick: bool
    draws: int | None = None
    data: str | None = None
    """The data folder."""
    seed: int = 0


def show(chosen: Chosen, results: Results, asked: Asked) -> ShownPaper:
    """The exhibits that were asked for, with our numbers beside the paper's."""
    printed = read_published(papers.csv_of(chosen.module), chosen.paper)
    shown = tuple(_exhibit(chosen.paper, exhibit, printed, results, asked) for exhibit in chosen.exhibits)
    drawings = tuple(f"{key.replace('-', ' ').capitalize()}: {text}" for key, text in chosen.paper.drawings.items())
    return ShownPaper(chosen.paper.key, chosen.paper.title, shown, drawings + chosen.paper.absent)


def samples_of(records: Iterable[Record], paper: str, exhibit: str) -> dict[str, dict[str, FloatArray]]:
    """By row and column, the values in the order of draws."""
    found: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for record in records:
        if (record.paper, record.exhibit) == (paper, exhibit):
            found.setdefault(record.row, {}).setdefault(record.column, []).append((record.draw, record.value))
    return {
        row: {column: np.array([value for _, value in sorted(values)]) for column, values in columns.items()}
        for row, columns in found.items()
    }


def _exhibit(
    paper: Paper, exhibit: Exhibit, printed: Sequence[Published], results: Results, asked: Asked
) -> ShownExhibit:
    source = measured(paper, exhibit)
    samples = samples_of(results.records, paper.key, source.key)
    mine = {(each.row, each.column, each.statistic): each for each in printed if each.exhibit == exhibit.key}
    derived, notes = derived_of(exhibit, samples)
    rows = _rows(exhibit, source, derived, asked.quick)
    columns = exhibit.columns if derived is None or exhibit.of else tuple(dict.fromkeys(c for _, c in derived))
    cells = tuple(
        _cell((row.name, column, statistic), samples, derived, mine.get((row.name, column, statistic)), exhibit.better)
        for row in rows
        for column in columns
        for statistic in exhibit.statistics
    )
    sign = 1 if exhibit.better == "higher" else -1
    rivals = exhibit.compete and derived is None
    means = _means(mine, {row.name for row in rows}, exhibit.apart) if rivals else {}
    pairs = pairs_of(means, samples, sign)
    ours = {row: {c: _statistic("mean", v) for c, v in cells.items()} for row, cells in samples.items()}
    counts = [len(next(iter(values.values()), ())) for values in samples.values()] or [0]
    here = (paper.key, source.key)
    own = [record for record in results.records if (record.paper, record.exhibit) == here]
    dates = [record.date for record in own if record.date]
    panels, unseen = _panels(paper, exhibit, source, samples, asked)
    return ShownExhibit(
        paper=paper.key,
        key=exhibit.key,
        title=exhibit.title,
        score=exhibit.score,
        better=exhibit.better,
        form=exhibit.form,
        x_label=exhibit.x_label,
        rows=rows,
        columns=columns,
        statistics=exhibit.statistics,
        cells=tuple(cell for cell in cells if cell.ours is not None or cell.published is not None),
        orders=orders_of(means, ours, sign),
        pairs=pairs,
        ranking=sentence(pairs) if max(counts) >= LEAST_DRAWS else TOO_FEW if pairs else "",
        findings=tuple(_finding(claim, samples) for claim in exhibit.claims),
        draws=(min(counts), max(counts)),
        wanted=draws_of(source, asked.quick, asked.draws),
        seconds=_seconds(results.records, paper.key, source.key),
        cuts=exhibit.cuts + (exhibit.quick_cuts if asked.quick else ()),
        remarks=exhibit.remarks,
        notes=notes + unseen + (_data_notes(source, asked) if samples else ()),
        panels=panels,
        dates=tuple(dict.fromkeys((min(dates), max(dates)))) if dates else (),
        versions=tuple(sorted({record.version for record in own if record.version})),
        failures=tuple(f for f in results.failures if (f.paper, f.exhibit) == here),
        absences=tuple(a for a in results.absences if (a.paper, a.exhibit) == here),
    )


def _panels(
    paper: Paper, exhibit: Exhibit, source: Exhibit, samples: Samples, asked: Asked
) -> tuple[tuple[PointPanel, ...], tuple[str, ...]]:
    """The points of a scatter plot, or a note on why there are none."""
    if exhibit.points is None or not samples:
        return (), ()
    settings = Settings(asked.seed, asked.quick, asked.data)
    try:
        with quietly():
            panels = exhibit.points(samples, lambda row: trial_of(paper.key, source, row, 0, settings))
    except Exception as error:  # the numbers are there; the report must not fail for a picture
        return (), (f"the points cannot be drawn ({line_of(error)})",)
    return tuple(panels), ()


def _rows(exhibit: Exhibit, source: Exhibit, derived: Derived | None, quick: bool) -> tuple[Place, ...]:
    """The rows that are shown: in a quick run those that were measured."""
    if derived is not None and not exhibit.of:
        return tuple(Place(row, row, "") for row in dict.fromkeys(row for row, _ in derived))
    rows = rows_of(exhibit, quick) or exhibit.rows  # a quick run may measure none of it and show what is printed
    if derived is None and exhibit.of:
        there = {row.name for row in rows_of(source, quick)}
        rows = tuple(row for row in rows if row.name in there)
    return tuple(Place(row.name, row.panel, row.x) for row in rows)


def _cell(
    key: tuple[str, str, str],
    samples: Samples,
    derived: Derived | None,
    printed: Published | None,
    better: Literal["higher", "lower", "neither"],
) -> Cell:
    row, column, statistic = key
    known = samples.get(row, {}).get(column, np.empty(0)) if derived is None else np.empty(0)
    values = known[np.isfinite(known)]
    if derived is None:
        ours = _statistic(statistic, values)
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
    else:
        ours, spread = derived.get((row, column), (float("nan"), None))
    return Cell(
        *key,
        ours=ours if np.isfinite(ours) else None,
        spread=spread,
        draws=len(values),
        published=None if printed is None else printed.value,
        place="" if printed is None else printed.place,
        remark="" if printed is None else printed.remark,
        verdict=_verdict(ours, spread, printed, better),
    )


def _verdict(
    ours: float, spread: float | None, printed: Published | None, better: Literal["higher", "lower", "neither"]
) -> Literal["within", "better", "worse", "incomparable", ""]:
    """Ours against the printed number: within our own noise and both roundings, or on which side of it."""
    if printed is None or spread is None or better == "neither" or not np.isfinite(ours):
        return ""
    if not printed.comparable:
        return "incomparable"
    if abs(ours - printed.value) <= NEAR * spread + (1 + 1e-6) * printed.step:
        return "within"
    return "better" if (ours > printed.value) == (better == "higher") else "worse"


def _statistic(name: str, values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return STATISTICS[name](known) if len(known) else float("nan")


def _means(
    mine: Mapping[tuple[str, str, str], Published], rows: set[str], apart: Sequence[str]
) -> dict[str, dict[str, float]]:
    """By row and column, the printed means of the rows shown that can be compared, with ours and with each other."""
    found: dict[str, dict[str, float]] = {}
    for (row, column, statistic), each in mine.items():
        if statistic == "mean" and row in rows and each.comparable and column not in apart:
            found.setdefault(row, {})[column] = each.value
    return found


def _data_notes(exhibit: Exhibit, asked: Asked) -> tuple[str, ...]:
    """Which data are not the catalogue's own."""
    said = {"copy": "a copy from elsewhere, in its own order of rows", "made": "made from its description"}
    found = sources_of(exhibit, Settings(data=asked.data))
    return tuple(f"the data set {name} is {said[kind]}, not the catalogue's file" for name, kind in found.items())


def _finding(claim: Claim, samples: Samples) -> Finding:
    if not samples:
        return Finding(claim.text, "not tested", "nothing was measured")
    try:
        return Finding(claim.text, *claim.judge(samples))
    except Exception as error:  # a row that was not measured; the report of the others must not fail for it
        return Finding(claim.text, "not tested", f"a row is missing from these draws ({type(error).__name__}: {error})")


def _seconds(records: Iterable[Record], paper: str, exhibit: str) -> float:
    """Each trial once, however many columns it measured."""
    trials = {(r.row, r.draw): r.seconds for r in records if (r.paper, r.exhibit) == (paper, exhibit)}
    return sum(trials.values())
