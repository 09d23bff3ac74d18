"""Verdicts that count rows: most of them, or a place among rivals."""

import numpy as np

from partita.experiments.exhibit import Row
from partita.experiments.verdicts import mostly, ranked

ROWS = tuple(Row(name) for name in "abcd")


def samples(**gaps):
    """Ours is 0.5 in three draws, theirs less by the gap."""
    return {name: {"ours": np.full(3, 0.5), "theirs": 0.5 - gap + np.zeros(3)} for name, gap in gaps.items()}


def test_mostly_counts_rows():
    holds = mostly(ROWS, "ours", "theirs", 3)
    assert holds(samples(a=0.1, b=0.1, c=0.01, d=-0.3)) == (
        "holds",
        "ours is above theirs in 3 of 4 rows; beyond the noise above in 3 (a, b, c), below in 1 (d)",
    )
    assert holds(samples(a=0.1, b=0.1, c=-0.1, d=-0.3))[0] == "does not hold"


def test_rows_that_were_not_measured_could_go_either_way():
    holds = mostly(ROWS, "ours", "theirs", 3)
    assert holds(samples(a=0.1, b=0.1))[0] == "not tested"
    assert holds(samples(a=0.1, b=0.1, c=0.1))[0] == "holds"
    assert holds(samples(a=-0.1, b=-0.1))[0] == "does not hold"
    assert holds({})[0] == "not tested"


def test_a_place_among_rivals():
    cells = samples(a=0.1, b=-0.1)
    assert ranked(ROWS, "ours", ("theirs",))(cells) == (
        "does not hold",
        "shown in 1 of 2 rows; contradicted in b (place 2)",
    )
    assert ranked(ROWS, "ours", ("theirs",), 2)(cells)[0] == "holds"
    noisy = {"a": {"ours": np.array([0.5, 0.6, 0.7]), "theirs": np.array([0.8, 0.5, 0.6])}}
    assert ranked(ROWS, "ours", ("theirs",))(noisy)[0] == "not contradicted"
    equal = {"a": {"ours": np.array([0.5, 0.6]), "theirs": np.array([0.5, 0.6])}}
    assert ranked(ROWS, "ours", ("theirs",))(equal)[0] == "holds"
    assert ranked(ROWS, "ours", ("theirs",))({})[0] == "not tested"


def test_one_draw_cannot_tell_a_place():
    """Its noise is unknown, so nobody is above beyond it; a lone draw must not be read as a win."""
    lone = {"a": {"ours": np.array([0.5]), "theirs": np.array([0.9])}}
    assert ranked(ROWS, "ours", ("theirs",))(lone)[0] == "not tested"
