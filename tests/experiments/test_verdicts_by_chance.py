"""Methods that are all equal: chance alone must not make a claim hold or fail, however many rows it speaks of."""

import numpy as np
import pytest

from partita.experiments.exhibit import Row
from partita.experiments.papers.punera2007 import ahead
from partita.experiments.verdicts import above, at_least, mostly, not_below, pool_above, ranked, together

ROWS = tuple(Row(f"row {i}") for i in range(20))
NAMES = ("ours", "one", "two", "three")
TRIES = 200

ABOVE = together(*(above(ROWS, "ours", name) for name in NAMES[1:]))
NOT_BELOW = together(*(not_below(ROWS, "ours", name) for name in NAMES[1:]))


def equal(rng, draws):
    """All columns of a row have the same distribution; what a draw is like is common to them."""
    return {
        row.name: dict(zip(NAMES, 0.6 + rng.normal(size=draws) * 0.1 + rng.normal(size=(4, draws)) * 0.05, strict=True))
        for row in ROWS
    }


def answers(claim, draws):
    rng = np.random.default_rng(7)
    return [claim(equal(rng, draws))[0] for _ in range(TRIES)]


@pytest.mark.parametrize("draws", [3, 10])
@pytest.mark.parametrize(
    "claim",
    [
        ABOVE,
        above(ROWS[:1], "ours", "one"),
        mostly(ROWS, "ours", "one", 16),
        mostly(ROWS, "ours", "one", 11),
        at_least(ROWS, "ours", 0.6),
        pool_above(ROWS[:10], ROWS[10:], "ours"),
        ahead(ROWS, (("one", "ours"), ("two", "ours"))),
    ],
    ids=["above", "one row", "mostly", "most", "at least", "pools", "ratios"],
)
def test_equal_methods_are_told_apart_rarely(claim, draws):
    found = answers(claim, draws)
    assert found.count("does not hold") <= 0.08 * TRIES
    assert found.count("holds") <= 0.08 * TRIES
    assert found.count("not contradicted") > 0


@pytest.mark.parametrize("draws", [3, 10])
@pytest.mark.parametrize("claim", [NOT_BELOW, ranked(ROWS, "ours", NAMES[1:]), ranked(ROWS, "ours", NAMES[1:], 2)])
def test_equal_methods_are_rarely_said_to_be_worse(claim, draws):
    """Nor are they said to be shown not to be worse."""
    found = answers(claim, draws)
    assert found.count("does not hold") <= 0.08 * TRIES and found.count("holds") <= 0.08 * TRIES


def test_what_differs_is_still_seen():
    """With ten draws and a lead of a standard deviation or two, in all 60 comparisons."""
    rng = np.random.default_rng(3)
    cells = equal(rng, 10)
    for row in cells.values():
        row["ours"] = row["ours"] + 0.2
    assert ABOVE(cells)[0] == "holds"
    behind = {row: {**columns, "ours": columns["ours"] - 0.4} for row, columns in cells.items()}
    assert ABOVE(behind)[0] == "does not hold" and NOT_BELOW(behind)[0] == "does not hold"
