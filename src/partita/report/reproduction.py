"""A reproduction in words and tables, for the terminal and for pages. Nothing is worked out here."""

from collections.abc import Iterator, Sequence
from typing import Final

from partita.core.records import Cell, ClaimVerdict, Finding, Pair, Record, ShownExhibit, ShownPaper, ShownRun
from partita.report.tables import TextTable

MARKS: Final = {"within": "", "better": " ▲", "worse": " ▼", "incomparable": "", "": ""}
KEY: Final = (
    "Cells: ours ± standard deviation over draws (of a number derived from many cells: its bootstrap standard error), "
    "[printed in the paper]; ▲ ours is better and ▼ worse than printed by more than twice that and its last digit; no "
    "mark where the printed number cannot be right or is of other data (remarks)."
)
MOST_REVERSED: Final = 6
VERDICTS: Final[tuple[ClaimVerdict, ...]] = ("holds", "not contradicted", "does not hold", "not tested")


def digits(shown: ShownExhibit) -> int:
    """Decimals that suit the numbers of an exhibit: ours, where there are any."""
    ours = [abs(cell.ours) for cell in shown.cells if cell.ours is not None]
    most = max(ours or [abs(cell.published) for cell in shown.cells if cell.published is not None], default=0.0)
    return 3 if most < 2 else 2 if most < 20 else 1


def figure(value: float | None, places: int) -> str:
    """A number as papers print it.

    >>> figure(0.8931, 3), figure(12.0, 1), figure(-0.0001, 2), figure(None, 2)
    ('0.893', '12.0', '0.00', '–')
    """
    return "–" if value is None else f"{round(value, places) + 0.0:.{places}f}"  # + 0.0: no minus sign before 0


def cell_text(cell: Cell | None, places: int) -> str:
    """Ours, its spread, and what is printed."""
    if cell is None:
        return ""
    spread = f" ± {figure(cell.spread, places)}" if cell.spread is not None and cell.statistic == "mean" else ""
    printed = f" [{cell.published:.{places}f}]" if cell.published is not None else ""
    return f"{figure(cell.ours, places)}{spread}{printed}{MARKS[cell.verdict]}"


def heads(shown: ShownExhibit) -> list[tuple[str, str, str]]:
    """What each column is called, and which cells stand in it: column and statistic."""
    several = len(shown.statistics) > 1
    return [(f"{c} ({s})" if several else c, c, s) for c in shown.columns for s in shown.statistics]


def by_place(shown: ShownExhibit) -> dict[tuple[str, str, str], Cell]:
    """Cells by row, column and statistic."""
    return {(cell.row, cell.column, cell.statistic): cell for cell in shown.cells}


def exhibit_table(shown: ShownExhibit) -> TextTable:
    """The exhibit as the paper lays it out, ours beside the printed numbers."""
    cells, places, columns = by_place(shown), digits(shown), heads(shown)
    rows = tuple(
        (row.name, *(cell_text(cells.get((row.name, column, statistic)), places) for _, column, statistic in columns))
        for row in shown.rows
    )
    return TextTable(title_of(shown), (shown.x_label or "", *(head for head, _, _ in columns)), rows)


def cells_table(run: ShownRun) -> TextTable:
    """Every shown cell of a run, flat."""
    names = ("paper", "exhibit", "row", "column", "statistic", "ours", "spread", "standard error", "draws")
    rows = tuple(
        (paper.key, shown.key, *_flat(c)) for paper in run.papers for shown in paper.exhibits for c in shown.cells
    )
    return TextTable("Cells", (*names, "published", "verdict", "place", "remark"), rows)


def records_table(records: Sequence[Record]) -> TextTable:
    """Every measured value, flat."""
    names = ("paper", "exhibit", "row", "column", "draw", "value", "seconds")
    rows = tuple((r.paper, r.exhibit, r.row, r.column, r.draw, r.value, r.seconds) for r in records)
    return TextTable("Records", names, rows)


def _flat(cell: Cell) -> tuple[str | float | None, ...]:
    ours = (cell.row, cell.column, cell.statistic, cell.ours, cell.spread, cell.error, cell.draws)
    return (*ours, cell.published, cell.verdict, cell.place, cell.remark)


def title_of(shown: ShownExhibit) -> str:
    """Which exhibit, and what it measures."""
    name = shown.key.replace("-", " ").capitalize()
    order = "" if shown.better == "neither" else f", {shown.better} is better"
    return f"{name}. {shown.title} ({shown.score}{order})"


def draws_text(shown: ShownExhibit) -> str:
    """How many draws there are, and how long they took."""
    low, high = shown.draws
    if not high and not shown.wanted:
        return "Not measured in this run: printed numbers alone."
    count = f"{high}" if low == high else f"{low} to {high}"
    asked = "" if high == low == shown.wanted else f" of {shown.wanted} asked for"
    draws = f"{count} {'draw' if high == low == 1 else 'draws'} a row{asked}; {duration(shown.seconds)} of work"
    if not shown.dates:
        return f"{draws}."
    versions = f" with Partita {', '.join(shown.versions)}" if shown.versions else ""
    return f"{draws}; measured {' to '.join(shown.dates)}{versions}."


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(0.25), duration(75), duration(7300)
    ('0.2 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def lines_of(shown: ShownExhibit) -> Iterator[str]:
    """What stands below the table: draws, ranking, claims, remarks, cuts, and whatever went wrong."""
    yield draws_text(shown)
    if shown.ranking:
        yield f"Ranking: {shown.ranking}"
    back = [pair_text(pair) for pair in shown.pairs if pair.verdict == "reversed"]
    yield from (f"Reversed: {said}." for said in back[:MOST_REVERSED])
    if len(back) > MOST_REVERSED:
        yield f"Reversed: {len(back) - MOST_REVERSED} more."
    yield from (f"Claim: {finding_text(each)}" for each in shown.findings)
    yield from (f"Remark: {each}" for each in shown.remarks)
    yield from (f"Printed {where}: {said}" for said, where in remarks_of(shown).items())
    yield from (f"Cut: {each}" for each in shown.cuts)
    yield from (f"Note: {each}" for each in shown.notes)
    yield from (f"Skipped {each.row}: {each.reason}" for each in shown.absences)
    yield from (f"Failed {where}: {error}" for where, error in failed(shown))


def remarks_of(shown: ShownExhibit) -> dict[str, str]:
    """What is to be said of printed numbers, and of which; the same remark once."""
    found: dict[str, list[str]] = {}
    for cell in shown.cells:
        if cell.remark:
            of = f" ({cell.statistic})" if len(shown.statistics) > 1 else ""
            found.setdefault(cell.remark, []).append(f"{cell.row} {cell.column}{of}")
    return {
        said: "; ".join(where[:4]) + (f" and {len(where) - 4} more" if len(where) > 4 else "")
        for said, where in found.items()
    }


def failed(shown: ShownExhibit) -> list[tuple[str, str]]:
    """Rows and draws that failed, and how; the same error of a row once."""
    found: dict[tuple[str, str], list[int]] = {}
    for each in shown.failures:
        found.setdefault((each.row, each.error), []).append(each.draw)
    return [(f"{row}, {_some_draws(draws)}", error) for (row, error), draws in found.items()]


def _some_draws(draws: Sequence[int]) -> str:
    if len(draws) == 1:
        return f"draw {draws[0]}"
    return f"{len(draws)} draws ({', '.join(map(str, draws[:6]))}{', …' if len(draws) > 6 else ''})"


def pair_text(pair: Pair) -> str:
    """Two columns and what our draws say of them."""
    word = "ahead" if pair.lead > 0 else "behind"
    told = f"{abs(pair.lead):.3g} {word} here (p {_p(pair.p)})"
    return f"{pair.row}: {pair.better} is before {pair.worse} in the paper, {told}"


def _p(value: float) -> str:
    return "< .001" if value < 0.001 else f"= {value:.3f}"


def finding_text(finding: Finding) -> str:
    """A claim, its verdict and the figures behind it."""
    return f"“{finding.text}” {finding.verdict}: {finding.figures}"


def failures_of(papers: Sequence[ShownPaper]) -> int:
    """Trials that raised, each once however many exhibits show it."""
    return len({failure for paper in papers for shown in paper.exhibits for failure in shown.failures})


def orders_table(shown: ShownExhibit) -> TextTable:
    """The columns of each row from best to worst, by the paper and by us."""
    rows = tuple(
        (order.row, _order(order.paper), _order(order.ours), order.tau if order.tau is not None else "–")
        for order in shown.orders
    )
    return TextTable("Orders", ("row", "paper's order", "our order", "Kendall's tau"), rows)


def _order(groups: Sequence[Sequence[str]]) -> str:
    """Best first, equals joined.

    >>> _order([["mcla"], ["cspa", "hgpa"]])
    'mcla > cspa = hgpa'
    """
    return " > ".join(" = ".join(group) for group in groups)


def facts(run: ShownRun) -> list[tuple[str, str]]:
    """How to run it again, and what ran."""
    found = [
        ("command", f"`{run.command}`"),
        ("seed", str(run.seed)),
        ("run", "quick" if run.quick else "full"),
        ("date", run.date),
        (
            "time of this run alone",
            f"{duration(run.seconds)} on {run.workers} {'process' if run.workers == 1 else 'processes'}",
        ),
        ("work in all trials, earlier runs' too", duration(run.trial_seconds)),
        ("environment", "; ".join(run.environment)),
    ]
    return found + [("note", note) for note in run.notes]


def overview(run: ShownRun) -> TextTable:
    """Every paper in one line: what was met, what holds, what failed."""
    numbers = ("paper", "exhibits", "printed numbers met", "ours better", "ours worse", "not comparable")
    rest = (
        "pairs that hold",
        "reversed",
        "open",
        "claims that hold",
        "not contradicted",
        "do not hold",
        "not tested",
        "skipped",
        "failed",
    )
    return TextTable("Overview", (*numbers, *rest), tuple((paper.key, *_counts(paper)) for paper in run.papers))


def _counts(paper: ShownPaper) -> tuple[int, ...]:
    cells = [cell.verdict for shown in paper.exhibits for cell in shown.cells]
    pairs = [pair.verdict for shown in paper.exhibits for pair in shown.pairs]
    claims = [finding.verdict for shown in paper.exhibits for finding in shown.findings]
    skipped = {absence for shown in paper.exhibits for absence in shown.absences}
    met = tuple(cells.count(verdict) for verdict in ("within", "better", "worse", "incomparable"))
    ranks = tuple(pairs.count(verdict) for verdict in ("holds", "reversed", "open"))
    said = tuple(map(claims.count, VERDICTS))
    return (len(paper.exhibits), *met, *ranks, *said, len(skipped), failures_of([paper]))


def cuts_of(run: ShownRun) -> list[str]:
    """Where less is run than in a paper, exhibit by exhibit."""
    return [f"{paper.key} {shown.key}: {cut}" for paper in run.papers for shown in paper.exhibits for cut in shown.cuts]
