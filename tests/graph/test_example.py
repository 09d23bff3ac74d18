"""The example of strehl2002 (§3.1): seven objects, four clusterings, the last with gaps."""

import numpy as np
import pytest

import partita
from partita.datasets.examples import SEVEN, SEVEN_ANSWER
from tests.samples import same_partition

TABLE = np.array(SEVEN, dtype=object)
ANSWER = list(SEVEN_ANSWER)


@pytest.mark.parametrize("method", ["mcla", "cspa", "hbgf", "lwgp"])
@pytest.mark.parametrize("seed", range(5))
def test_answer(method, seed):
    result = partita.consensus(TABLE, method, 3, seed=seed)
    assert result.labels.tolist() == ANSWER
    assert result.scores["anmi"] == pytest.approx(0.71782, abs=5e-6)


@pytest.mark.parametrize("method", ["scspa", "smcla", "shbgf"])
def test_soft_forms_on_the_hard_table(method):
    assert partita.consensus(TABLE, method, 3).labels.tolist() == ANSWER


def test_association_and_membership_of_mcla():
    """Averaged associations, winner over the sum of all: 6/13 for the fifth object (MISPRINTS 40, 41)."""
    result = partita.consensus(TABLE, "mcla", 3)
    share = result.membership.max(axis=1)
    assert np.allclose(share, [3 / 4, 1, 2 / 3, 1, 6 / 13, 1, 1])
    assert np.allclose(result.per_object["association"], [3 / 4, 1, 1 / 2, 1, 1 / 2, 1, 1])
    whole = result.membership * (result.per_object["association"] / share)[:, None]
    assert np.allclose(whole[4], [1 / 4, 1 / 2, 1 / 3])


def cut_clusters(labels):
    edges = {(j, value) for j, column in enumerate(TABLE.T) for value in column if value is not None}
    touched = [{labels[i] for i in range(7) if SEVEN[i][j] == value} for j, value in edges]
    return sum(len(blocks) > 1 for blocks in touched)


@pytest.mark.parametrize("objective", ["cut", "km1"])
def test_hgpa_cuts_four(objective):
    for seed in range(5):
        result = partita.consensus(TABLE, "hgpa", 3, seed=seed, objective=objective)
        assert cut_clusters(result.labels) == result.detail["cut"] == 4
        assert max(result.sizes) == 3 and result.k == 3


def test_answer_does_not_depend_on_who_asks():
    order = [6, 2, 4, 0, 5, 1, 3]
    for method in ("mcla", "cspa", "hbgf"):
        assert same_partition(partita.consensus(TABLE[order], method, 3).labels, np.array(ANSWER)[order])
