"""The same runs in ConsensusClusterPlus and here: consensus index, CDF, delta area, item- and cluster-consensus.

`consensusclusterplus.R` made the golden file. With every object in every run both define item-consensus alike. Where
runs see a part of the objects they do not: calcICL takes the mean of the pairs' consensus indices, each a ratio of its
own; ours is the ratio of the sums over the pairs, in which a pair that met often weighs more. There, calcICL's numbers
are checked to be that mean of our consensus indices.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from partita import Ensemble
from partita.metrics import coassociation, consensus_matrix, delta_area, item_consensus, item_matrix

GOLDEN = json.loads((Path(__file__).parent / "consensusclusterplus.json").read_text())
OBJECTS = GOLDEN["objects"]
PARTLY, COMPLETE = GOLDEN["sets"]
CASES = [
    pytest.param(kind, one, id=f"{kind['share sampled']}-k{one['k']}")
    for kind in GOLDEN["sets"]
    for one in kind["by k"]
]


def ensemble_of(one):
    """The runs at one k: a column each, a dot where the run had not drawn the object."""
    table = [[None if label == "." else int(label) for label in run] for run in one["runs"]]
    return Ensemble.from_labels(np.array(table, dtype=object).T, transpose=False)


def numbers(values):
    return np.array([np.nan if value is None else value for value in values], float)


def theirs(one, name, *shape):
    return numbers(one[name]).reshape(shape)


def index_of(one):
    """Their consensus matrix, both triangles, ones on the diagonal."""
    matrix = np.eye(OBJECTS)
    matrix.T[np.triu_indices(OBJECTS, 1)] = 0
    lower = np.zeros((OBJECTS, OBJECTS))
    lower.T[np.triu_indices(OBJECTS, 1)] = numbers(one["consensus matrix, lower triangle by columns"])
    return matrix + lower + lower.T


def same(ours, golden):
    np.testing.assert_allclose(ours, golden, rtol=0, atol=1e-12)


def test_the_file_says_how_it_was_made():
    assert GOLDEN["R"].startswith("R version") and GOLDEN["ConsensusClusterPlus"] == "1.62.0"
    assert [kind["share sampled"] for kind in GOLDEN["sets"]] == [0.8, 1]
    assert all("." in "".join(one["runs"]) for one in PARTLY["by k"])
    assert not any("." in "".join(one["runs"]) for one in COMPLETE["by k"])


@pytest.mark.parametrize(("kind", "one"), CASES)
def test_consensus_index(kind, one):
    same(consensus_matrix(ensemble_of(one)), index_of(one))


@pytest.mark.parametrize(("kind", "one"), CASES)
def test_cdf(kind, one):
    found = coassociation(ensemble_of(one))
    assert found.exact and found.error == 0 and found.unseen == 0
    same((found.edges[1:] + found.edges[:-1]) / 2, kind["cdf at the middle of"])
    same(found.cdf[1:], one["cdf"])


@pytest.mark.parametrize("kind", [PARTLY, COMPLETE], ids=["partly", "complete"])
def test_delta_area(kind):
    areas = [coassociation(ensemble_of(one)).area for one in kind["by k"]]
    same(delta_area(areas), kind["delta area"])


@pytest.mark.parametrize("one", COMPLETE["by k"], ids=lambda one: f"k{one['k']}")
def test_item_and_cluster_consensus(one):
    """A cluster of one object has none of either; both sides say so."""
    ensemble, labels = ensemble_of(one), np.array(one["consensus class"]) - 1
    golden = theirs(one, "item consensus, by cluster then object", one["k"], OBJECTS).T
    same(item_matrix(ensemble, labels), golden)
    found = item_consensus(ensemble, labels)
    same(found.own, golden[np.arange(OBJECTS), labels])
    same(found.clusters, numbers(one["cluster consensus"]))


@pytest.mark.parametrize("one", PARTLY["by k"], ids=lambda one: f"k{one['k']}")
def test_item_consensus_of_subsamples_is_a_mean_of_ratios_there(one):
    labels = np.array(one["consensus class"]) - 1
    index = consensus_matrix(ensemble_of(one))
    np.fill_diagonal(index, np.nan)
    means = np.stack([np.nanmean(index[:, labels == cluster], axis=1) for cluster in range(one["k"])], axis=1)
    same(means, theirs(one, "item consensus, by cluster then object", one["k"], OBJECTS).T)
    ours = item_matrix(ensemble_of(one), labels)
    assert 0 < np.abs(ours - means).max() < 0.1, "a ratio of sums is near, and not the same"
