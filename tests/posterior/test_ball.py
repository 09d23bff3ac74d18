"""Credible balls by their definition."""

import numpy as np
import pytest

from partita.core.draws import Draws
from partita.core.errors import ParameterError
from partita.posterior.ball import credible_ball
from tests.posterior.draws_oracle import DISTANCES, problems


@pytest.mark.parametrize("loss", ["vi", "binder"])
@pytest.mark.parametrize("level", [0.5, 0.95, 1.0])
def test_by_definition(loss, level):
    for table in problems(40, seed=5):
        centre = table[0]
        ball = credible_ball(Draws.of(table), centre, loss, level)
        far = np.array([DISTANCES[loss](centre, draw) for draw in table])
        radius = min(d for d in far if np.mean(far <= d + 1e-12) >= level - 1e-12)
        assert ball.radius == pytest.approx(radius, abs=1e-12)
        inside = [s for s in range(len(table)) if far[s] <= radius + 1e-12]
        assert ball.share == pytest.approx(len(inside) / len(table))
        sizes = [len(set(table[s].tolist())) for s in range(len(table))]
        fewest = [s for s in inside if sizes[s] == min(sizes[i] for i in inside)]
        finest = [s for s in inside if sizes[s] == max(sizes[i] for i in inside)]
        for bound, among in ((ball.upper, fewest), (ball.lower, finest), (ball.horizontal, inside)):
            most = max(far[s] for s in among)
            ties = [s for s in among if far[s] >= most - 1e-12]
            assert bound.draws.tolist() == ties and bound.distance == pytest.approx(most, abs=1e-12)
            assert bound.clusters == sizes[ties[0]]
            assert bound.labels.tolist() == Draws.of(table[ties[:1]]).labels[0].tolist()


def test_levels_that_a_product_would_round_wrongly():
    """0.95 of 20 draws are 19, not 20."""
    table = np.zeros((20, 4), int)
    table[19] = range(4)
    assert credible_ball(Draws.of(table), [0, 0, 0, 0], level=0.95).radius == 0.0


@pytest.mark.parametrize("level", [0, -1, 1.2, float("nan"), "x", None])
def test_levels_that_are_none(level):
    with pytest.raises(ParameterError, match="level="):
        credible_ball(Draws.of([[0, 1]]), [0, 0], level=level)
