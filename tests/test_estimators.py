"""The scikit-learn shell keeps scikit-learn's contract."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from partita import ConsensusClustering, consensus, registry
from tests.samples import noisy_labels, same_partition

CONTINUOUS = "the check feeds continuous numbers even to estimators of categories; they are not labels and are refused"
EXPECTED_FAILURES = {
    "check_clustering": CONTINUOUS,
    "check_positive_only_tag_during_fit": CONTINUOUS,
}


def expected(estimator):
    return EXPECTED_FAILURES


@parametrize_with_checks(
    [
        ConsensusClustering(missing=()),
        ConsensusClustering("voting", missing=()),
        ConsensusClustering("qmi", n_clusters=2, missing=()),
        ConsensusClustering("mm", n_clusters=2, missing=(), params={"smoothing": 0.5}),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", list(registry.METHODS))
def test_same_as_consensus(name):
    labels, _ = noisy_labels()
    model = ConsensusClustering(name, n_clusters=4, random_state=3).fit(labels)
    assert np.array_equal(model.labels_, consensus(labels, name, 4, seed=3).labels)
    assert np.array_equal(clone(model).fit_predict(labels), model.labels_)
    assert model.n_features_in_ == labels.shape[1]


def test_string_labels_and_gaps_in_a_dataframe():
    frame = pd.DataFrame({"a": ["x", "x", "y", None], "b": ["u", "u", "v", "v"]})
    model = ConsensusClustering("voting", n_clusters=2).fit(frame)
    assert same_partition(model.labels_, [0, 0, 1, 1])
    assert list(model.feature_names_in_) == ["a", "b"]
    assert model.predict(frame.iloc[::-1]).tolist() == model.labels_[::-1].tolist()


def test_new_objects():
    labels, _ = noisy_labels()
    model = ConsensusClustering("voting", n_clusters=4).fit(labels)
    shares = model.predict_proba(labels[:5])
    assert shares.shape == (5, 4) and np.allclose(shares.sum(axis=1), 1)
    assert not hasattr(ConsensusClustering("qmi", n_clusters=4), "predict_proba")
    with pytest.raises(NotFittedError):
        ConsensusClustering("voting").predict(labels)
    assert (ConsensusClustering(n_clusters=4).fit(labels).predict(labels) >= 0).all()


def test_score_is_the_mean_log_likelihood():
    labels, _ = noisy_labels()
    model = ConsensusClustering("mm", n_clusters=4, params={"smoothing": 0.5}).fit(labels)
    assert model.score(labels) == pytest.approx(model.consensus_.log_likelihood(labels) / len(labels))
    assert model.score(labels[:7]) == pytest.approx(model.consensus_.log_likelihood(labels[:7]) / 7)
    frame = pd.DataFrame(labels, columns=list("abcdefg"))
    assert clone(model).fit(frame).score(frame) == pytest.approx(model.score(labels))
    for other in (ConsensusClustering("voting"), ConsensusClustering("mm", polish=True), ConsensusClustering()):
        assert not hasattr(other, "score")


def test_random_state_kinds():
    labels, _ = noisy_labels()
    for state in (None, np.random.RandomState(0), np.int64(4)):
        assert ConsensusClustering("qmi", n_clusters=4, random_state=state).fit(labels).labels_.max() <= 3
