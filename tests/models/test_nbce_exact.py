"""The table of docs/nonparametric.md: what it says of variational inference on tables that can be counted out."""

import numpy as np
import pytest

from benchmarks.cases.nonparametric_exact import CLUSTERS, against_exact, tables, together, variational
from tests.models.nbce_oracle import Exact


@pytest.mark.parametrize("prior", ["tsb", "fsd"])
def test_second_order_is_closest_where_labels_are_clear(prior):
    data = tables(8, 0.1)()[:4]
    second = against_exact(variational("nbce-cvb", prior, order=2)(data), data)
    first = against_exact(variational("nbce-cvb", prior, order=1)(data), data)
    whole = against_exact(variational("nbce-vb", prior)(data), data)
    assert second["co-clustering error"] < 0.05
    assert second["co-clustering error"] <= min(first["co-clustering error"], whole["co-clustering error"])
    for found in (first, second, whole):
        assert found["evidence less bound"] >= found["evidence less collapsed bound"] > 0


def test_chances_of_pairs_and_numbers_of_clusters():
    gamma = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    pairs, number = together(gamma)
    assert pairs.tolist() == [[1, 0.5], [0.5, 1]] and number == 1.5
    pairs, number = together(np.array([[0, 0], [0, 1]]))
    assert pairs.tolist() == [[1, 0.5], [0.5, 1]] and number == 1.5


def test_exact_answers_have_no_error():
    labels = tables(4, 0.3)()[0]
    exact = Exact(labels, [2] * 4, CLUSTERS, 1.0, 0.5, "fsd")
    rng = np.random.default_rng(0)
    draws = np.array(exact.assignments)[rng.choice(len(exact.chances), 40_000, p=exact.chances)]
    found = against_exact(("fsd", [(draws, np.nan)]), [labels])
    assert found["co-clustering error"] < 0.02 and abs(found["clusters too many"]) < 0.02
