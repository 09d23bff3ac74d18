"""The loop of the iterative methods: trace, stopping rule, most iterations."""

import pytest

from partita.core.iterate import iterate, settled


def halve(x):
    return x / 2, x / 2


def test_stops_when_the_objective_settles():
    run = iterate(halve, 1.0, tol=0.01, max_iter=100)
    assert (
        run.converged
        and run.trace == tuple(0.5**i for i in range(1, len(run.trace) + 1))
        and run.state == run.trace[-1]
    )
    assert abs(run.trace[-1] - run.trace[-2]) <= 0.01 < abs(run.trace[-2] - run.trace[-3])


def test_stops_after_max_iter():
    run = iterate(halve, 1.0, tol=0.0, max_iter=5)
    assert not run.converged and len(run.trace) == 5
    assert iterate(halve, 1.0, tol=9.0, max_iter=1) == (0.5, (0.5,), False)


@pytest.mark.parametrize(
    ("trace", "tol", "expected"),
    [
        ([], 1.0, False),
        ([1.0], 1.0, False),
        ([1.0, 1.0], 0.0, True),
        ([1000.0, 999.0], 1e-3, True),
        ([1000.0, 998.0], 1e-3, False),
        ([1e-9, 2e-9], 1e-8, True),
        ([-1000.0, -999.0], 1e-3, True),
        ([float("nan"), float("nan")], 1.0, False),
    ],
)
def test_settled(trace, tol, expected):
    assert settled(trace, tol) is expected
