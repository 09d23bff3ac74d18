"""A paper that nobody wrote: small trials of every kind, for the tests of the runner; workers import it by its path."""

import os
import time
from pathlib import Path

import numpy as np

from partita.core.errors import AbsentDataError
from partita.experiments.exhibit import Claim, Exhibit, Paper, Row
from partita.experiments.verdicts import decided

ROWS = (Row("iris"), Row("wine"), Row("a|b <c>"))


def plain(trial):
    """Three methods on the same draw: b is a little ahead of a, c far behind."""
    shared = trial.rng.normal(0.8, 0.05)
    noise = trial.rng.normal(0, 0.01, 3)
    return {"a": shared + noise[0], "b": shared + 0.05 + noise[1], "c": shared - 0.3 + noise[2]}


def slow(trial):
    """Sleeps, and leaves a mark for each start where the environment says."""
    marks = os.environ.get("FAKE_MARKS")
    if marks:
        with Path(marks).open("a") as file:
            file.write(f"{trial.row.name}\n")
    time.sleep(float(os.environ.get("FAKE_SLEEP", "0.05")))
    return {"a": trial.rng.random()}


def failing(trial):
    """One row raises, one has no data, one kills its process where the environment says."""
    if trial.row.panel == "bad":
        raise ValueError("this trial\nfails | always")
    if trial.row.panel == "gone":
        raise AbsentDataError("gone.csv is not here; get it from nowhere")
    if trial.row.panel == "killer" and os.environ.get("FAKE_KILL"):
        os._exit(9)
    return {"a": trial.rng.random(), "b": float("nan")}


def curve(trial):
    """Two columns over x; the first rises."""
    return {"up": trial.row.x / 100 + trial.rng.normal(0, 0.02), "flat": 0.4 + trial.rng.normal(0, 0.02)}


def ratios(samples):
    """Row against column: the ratio of mean scores over all rows."""
    mean = {c: np.mean([values[c].mean() for values in samples.values()]) for c in "abc"}
    return {(r, c): float(mean[r] / mean[c]) for r in "abc" for c in "abc" if r != c}


def b_leads(samples):
    gaps = [float((values["b"] - values["a"]).mean()) for values in samples.values()]
    return decided(all(gap > 0 for gap in gaps), any(gap < 0 for gap in gaps)), "; ".join(f"{gap:.3f}" for gap in gaps)


def needs_more(samples):
    return decided(samples["yeast"]["a"].mean() > 0, contradicted=False), ""


PLAIN = Exhibit(
    key="table-1",
    title="Scores of three methods, a|b",
    rows=ROWS,
    columns=("a", "b", "c"),
    score="NMI",
    trial=plain,
    draws=8,
    quick_draws=4,
    quick_rows=ROWS[:2],
    statistics=("mean", "max"),
    cuts=("8 draws, the paper has 100",),
    quick_cuts=("two of three rows",),
    remarks=("the printed c of wine is <impossible>",),
    claims=(Claim("b is ahead of a (p. 3)", b_leads), Claim("a works on yeast", needs_more)),
    data=("iris", "wine"),
)
RATIOS = Exhibit(
    key="table-2",
    title="Ratios",
    rows=(Row("a"), Row("b"), Row("c")),
    columns=("a", "b", "c"),
    score="ratio",
    of="table-1",
    derive=ratios,
)
SLOW = Exhibit(
    key="table-3",
    title="Slow",
    rows=tuple(Row("slow", x) for x in range(4)),
    columns=("a",),
    score="NMI",
    trial=slow,
    draws=5,
    quick_draws=2,
)
FAILING = Exhibit(
    key="table-4",
    title="Failing",
    rows=(Row("good"), Row("bad"), Row("gone"), Row("killer")),
    columns=("a", "b"),
    score="error %",
    better="lower",
    trial=failing,
    draws=3,
    quick_draws=1,
)
CURVES = Exhibit(
    key="figure-1",
    title="Curves",
    rows=tuple(Row(panel, x) for panel in ("left", "right") for x in (10, 20, 40, 80)),
    columns=("up", "flat"),
    score="micro-precision",
    trial=curve,
    draws=6,
    quick_draws=3,
    form="curves",
    x_label="share of labels",
)
BARS = Exhibit(
    key="figure-2",
    title="Bars",
    rows=ROWS,
    columns=("a", "b", "c"),
    score="NMI",
    of="table-1",
    form="bars",
)
PAPER = Paper("fake", "A paper that nobody wrote", (PLAIN, RATIOS, SLOW, FAILING, CURVES, BARS), ("Table 9: no data",))
