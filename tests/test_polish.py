"""partita.polish and polish=True: any labelling, moved on while ANMI rises."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import partita
from partita import ConsensusClustering, Ensemble
from partita.core.errors import ParameterError
from partita.metrics import anmi
from tests.core.oracles import steady
from tests.graph.test_greedy import BEST, EXAMPLE, random_table, seeds
from tests.samples import noisy, noisy_labels, noisy_soft, same_partition


@pytest.mark.parametrize("start", [[0, 1, 2, 0, 1, 2, 2], list("aabbccc"), [0, 0, 0, 1, -1, None, 2]])
def test_the_papers_example(start):
    assert partita.polish(EXAMPLE, start, 3).labels.tolist() == BEST


def test_a_result_and_its_labels_are_the_same_start():
    ensemble = noisy(noise=0.5, missing=0.1)
    result = partita.consensus(ensemble, "qmi", 4)
    first = partita.polish(ensemble, result)
    assert np.array_equal(first.labels, partita.polish(ensemble, result.labels, 4).labels)
    assert np.array_equal(first.labels, partita.consensus(ensemble, "qmi", 4, polish=True).labels)
    assert (
        first.recipe.polish
        and first.k_asked == 4
        and first.detail["before polish"]["objective"] == result.detail["objective"]
    )
    assert partita.polish(ensemble, result.labels).recipe is None
    assert partita.polish(ensemble, first).detail["polish"]["moves"] == 0


@given(seed=seeds)
@steady
def test_never_below_the_given_labelling(seed):
    ensemble = random_table(seed)
    _, inverse = ensemble.distinct
    labels = np.random.default_rng(seed).integers(0, 3, inverse.max() + 1)[inverse]
    assert partita.polish(ensemble, labels).scores["anmi"] >= anmi(ensemble, labels) - 1e-12


def test_parted_equal_rows_move_alone():
    table = [[0, 0]] * 3 + [[1, 1]] * 3
    result = partita.polish(table, [0, 1, 0, 1, 1, 1])
    assert result.labels.tolist() == [0, 0, 0, 1, 1, 1] and result.detail["polish"]["moves"] == 1


@given(seed=seeds)
@steady
def test_no_labelling_is_made_worse(seed):
    """Also one that parts equal rows, which could not be kept if they moved together."""
    rng = np.random.default_rng(seed)
    table, labels = rng.integers(0, 2, (7, 2)), rng.integers(0, 3, 7)
    result = partita.polish(Ensemble.from_labels(table, transpose=False), labels)
    before = partita.evaluate(labels, ensemble=table)["anmi"]
    assert result.detail["polish"]["anmi before"] == pytest.approx(before, abs=1e-12)
    assert result.scores["anmi"] >= before - 1e-12


def test_objects_are_joined_by_id():
    labels, _ = noisy_labels(n=30)
    frame = pd.DataFrame(labels, index=[f"o{i}" for i in range(30)]).rename(columns=str)
    result = partita.consensus(frame, "voting", 3)
    turned = partita.polish(frame.iloc[::-1], result)
    assert turned.ids.tolist() == list(frame.index)[::-1]
    assert same_partition(turned.labels[::-1], partita.polish(frame, result).labels)


def test_objects_without_labels_and_notes():
    labels, _ = noisy_labels(n=30)
    labels[4] = -1
    ensemble = Ensemble.from_labels(labels, missing=-1)
    result = partita.polish(ensemble, partita.consensus(ensemble, "voting", 3))
    assert result.labels[4] == -1 and sum("no label" in note for note in result.notes) == 1
    assert np.isnan(result.confidence[4]) and (result.confidence[:4] > 0).all()


def test_soft_ensembles():
    ensemble = noisy_soft()
    start = np.random.default_rng(0).integers(0, 3, len(ensemble))
    result = partita.polish(ensemble, start)
    assert result.scores["anmi"] > anmi(ensemble, start) + 0.1


@pytest.mark.parametrize(
    ("labels", "k", "words"),
    [
        ([0, 1], None, "labels has 2 objects"),
        ([-1] * 7, None, "no label"),
        ([0, 1, 2, 3, 0, 0, 0], 3, "more than k=3"),
        ([0] * 7, 0, "k=0"),
        ("abcdefg", 3, "labels is a str"),
        (None, 3, "labels is a NoneType"),
    ],
)
def test_refused(labels, k, words):
    with pytest.raises(ParameterError, match=words):
        partita.polish(EXAMPLE, labels, k)


def test_the_estimator_polishes():
    labels, _ = noisy_labels(noise=0.5)
    model = ConsensusClustering("voting", n_clusters=4, polish=True).fit(labels)
    assert np.array_equal(model.labels_, partita.consensus(labels, "voting", 4, polish=True).labels)
    assert model.consensus_.model.approximate and not hasattr(model, "predict_proba")
    assert (model.predict(labels) == model.labels_).mean() > 0.9


def test_what_the_method_told_of_its_labels_is_kept_apart():
    ensemble = noisy(noise=0.5)
    plain = partita.consensus(ensemble, "cspa", 4)
    polished = partita.consensus(ensemble, "cspa", 4, polish=True)
    assert polished.detail["polish"]["moves"] > 0 and "balance" not in polished.detail
    assert polished.detail["before polish"]["cut"] == plain.detail["cut"]
    supra = partita.consensus(ensemble, "supra", 4, polish=True)
    assert supra.detail["chosen"] and len(supra.candidates) > 1
