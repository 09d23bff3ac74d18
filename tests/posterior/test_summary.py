"""summarise: one call, the parts of which agree with the rooms they come from."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import partita
from partita.core.draws import Draws
from partita.core.errors import ParameterError, TableError
from partita.posterior.certainty import cluster_certainty, object_certainty
from partita.posterior.losses import expected_loss
from tests.samples import noisy_labels, same_partition


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_parts(loss):
    labels, truth = noisy_labels(n=90, r=60, k=3, noise=0.15, seed=1)
    draws = Draws.of(labels.T)
    found = partita.summarise(labels.T, loss, level=0.9, seed=3)
    assert same_partition(found.labels, truth) and found.k == 3 and found.sizes.tolist() == [30, 30, 30]
    assert found.expected_loss == pytest.approx(expected_loss(draws, truth, loss))
    assert np.array_equal(found.certainty, object_certainty(draws, found.labels))
    assert found.cluster_certainty == pytest.approx(cluster_certainty(draws, found.labels))
    assert found.ball.level == 0.9 and 0.9 <= found.ball.share <= 1 and found.numbers.shares.sum() == pytest.approx(1)
    assert found.draws == 60 and found.seed == 3 and not found.exact and len(found) == 90
    assert repr(found).startswith(f"Summary(90 objects in 3 clusters from 60 draws: expected {loss}")
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.labels, found.labels) and not again.labels.flags.writeable


def test_same_seed_same_answer_for_any_number_of_threads():
    table = noisy_labels(n=120, r=20, k=5, noise=0.5, seed=2)[0].T
    one, two = (partita.summarise(table, seed=5, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.labels, two.labels) and one.expected_loss == two.expected_loss


def test_unknown_objects_and_limits_are_told():
    found = partita.summarise(np.array([[0, 0, -1, 1]] * 3), seed=0)
    assert found.labels.tolist() == [0, 0, -1, 1] and "1 of 4 objects" in found.notes[0]
    assert found.exact and "1 cluster " not in repr(found)


def test_max_clusters_is_kept_and_reported():
    table = noisy_labels(n=60, r=20, k=5, noise=0.3, seed=2)[0].T
    found = partita.summarise(table, "binder", max_clusters=3)
    assert found.k == 3 and any("max_clusters=3" in note for note in found.notes)
    with pytest.raises(ParameterError, match="max_clusters=0"):
        partita.summarise(table, max_clusters=0)


def test_a_consensus_without_draws_is_refused():
    result = partita.consensus(noisy_labels()[0], "voting", k=4, seed=0)
    with pytest.raises(ParameterError, match="voting keeps no draws"):
        partita.summarise(result)


def test_mistakes_are_named():
    with pytest.raises(ParameterError, match="loss='l2'"):
        partita.summarise([[0, 1]], "l2")
    with pytest.raises(ParameterError, match="level=2"):
        partita.summarise([[0, 1]], level=2)
    with pytest.raises(TableError, match="give whole numbers"):
        partita.summarise([[0.5, 1.0]])


def test_the_page_runs_as_printed():
    page = (Path(__file__).parents[2] / "docs" / "posterior.md").read_text()
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(block, names)
    assert repr(names["summary"]) in page
