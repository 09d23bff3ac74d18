"""ColumnModel: new objects by the labels they carry."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita
from partita import Ensemble, SoftEnsemble
from partita.core import threads
from partita.core.consensus import placed
from partita.core.errors import ParameterError, PartitaWarning, TableError, UnseenLabelWarning
from partita.core.links import IMPOSSIBLE, LABELS_ONLY
from partita.core.model import ColumnModel
from tests.core.oracles import steady
from tests.samples import noisy, noisy_soft

BIAS = np.array([0.5, 0.0, 0.25])
TABLES = (np.array([[1.0, 0], [0, 2], [0, 0]]), np.array([[0.0, 0, 1], [3, 0, 0], [0, 1, 0]]))
CLASSES = (("x", "y"), (10, 20, True))


def model(link="share"):
    return ColumnModel(BIAS, TABLES, link, ("a", "b"), CLASSES)


def slow_scores(rows):
    """Bias plus the table columns of the known labels, one by one; None where none is known."""
    found = []
    for row in rows:
        score, known = BIAS.copy(), False
        for j, value in enumerate(row):
            for code, label in enumerate(CLASSES[j]):
                if type(label) is type(value) and label == value:
                    score, known = score + TABLES[j][:, code], True
        found.append(score if known else None)
    return found


ROWS = [["x", 10], ["y", True], [None, 20], ["x", None], [None, None]]


def test_scores_add_over_known_labels():
    expected = slow_scores(ROWS)
    assert model("best").predict(ROWS).tolist() == [-1 if s is None else int(np.argmax(s)) for s in expected]
    membership = model().predict_proba(ROWS)
    assert np.allclose(membership[:4], [s / s.sum() for s in expected[:4]])
    rows = model().encode(ROWS)
    assert rows.labels.tolist() == [[0, 0], [1, 2], [-1, 1], [0, -1], [-1, -1]]
    assert np.allclose(model().scores(rows)[0], expected[0])


def test_an_object_of_which_nothing_is_known_has_no_membership():
    assert np.isnan(model().predict_proba([[None, None], ["x", 10]])[0]).all()


def test_only_labels_where_only_the_best_is_known():
    with pytest.raises(AttributeError, match="use predict"):
        model("best").predict_proba(ROWS)


def test_columns_are_found_by_name():
    expected = model("best").predict(ROWS[:3]).tolist()
    a, b = [row[0] for row in ROWS[:3]], [row[1] for row in ROWS[:3]]
    for table in ({"b": b, "a": a}, {"z": [0, 0, 0], "b": b, "a": a}, pd.DataFrame({"b": b, "a": a}, index=[5, 5, 5])):
        assert model("best").predict(table).tolist() == expected
    plain = model("best").predict(pl.DataFrame({"b": [10, 20], "a": ["x", None]}))
    assert plain.tolist() == model("best").predict([["x", 10], [None, 20]]).tolist()
    for table in ({"a": a}, {"a": a, "c": b}, [["x"], ["y"]]):
        with pytest.raises(TableError, match=r"no clustering|the model 2"):
            model("best").predict(table)


def test_a_table_without_names_must_have_as_many_columns():
    """Also when the training table had no names: a column more means another table."""
    result = partita.consensus([[0, 0], [0, 0], [1, 1]], "voting", 2)
    for rows in ([[0, 0, 1]], np.array([[0, 0, 1]]), [[0]]):
        with pytest.raises(TableError):
            result.predict(rows)


def test_unseen_labels_are_counted():
    with pytest.warns(PartitaWarning, match="3 labels were never seen in training and are treated"):
        labels = model("best").predict([["z", 1], ["x", 99], [None, 10]])
    assert labels.tolist() == [-1, int(np.argmax(BIAS + TABLES[0][:, 0])), int(np.argmax(BIAS + TABLES[1][:, 0]))]


@pytest.mark.parametrize("blank", [None, float("nan"), "", "NA", " N/A ", "null", pd.NA])
def test_blanks_are_no_unseen_labels(blank):
    """The strings that mean an empty cell in training mean it here, without a warning."""
    assert model("best").encode([[blank, 10], ["x", blank]]).labels.tolist() == [[-1, 0], [0, -1]]


def test_floats_booleans_and_integers():
    codes = model().encode([["x", 10.0], ["x", 20], ["x", True]]).labels
    assert codes[:, 1].tolist() == [0, 1, 2]
    with pytest.warns(PartitaWarning, match="1 label was"):
        assert model().encode([["x", 1]]).labels[0].tolist() == [0, -1]


def test_one_row_of_many_columns_is_no_transposed_table():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, size=(40, 25))
    result = partita.consensus(labels, "voting", 2)
    assert np.array_equal(result.predict(labels[:1]), result.predict(labels)[:1])


def random_mixture(seed, k=3, sizes=(2, 3, 4), zeros=False):
    """A model, its clusters' weights, its probabilities (k, labels) by clustering and the clusterings' weights."""
    rng = np.random.default_rng(seed)
    mixing, probs = rng.dirichlet(np.ones(k)), [rng.dirichlet(np.ones(size), k) for size in sizes]
    if zeros:
        for table in probs:
            table[rng.random(table.shape) < 0.4] = 0.0
    weights = rng.random(len(sizes)) + 0.2
    weights /= weights.mean()
    with np.errstate(divide="ignore"):
        tables = [np.where(t > 0, np.log(t) * w, IMPOSSIBLE) for t, w in zip(probs, weights, strict=True)]
    names = tuple("abc")[: len(sizes)]
    classes = tuple(tuple(range(size)) for size in sizes)
    model = ColumnModel(np.log(mixing), tuple(tables), "softmax", names, classes, weights=weights)
    return model, mixing, probs, weights


def slow_log_likelihood(labels, mixing, probs, weights):
    """The double loop: log of the sum over clusters of a_c times the product of theta^w, over known labels."""
    total = 0.0
    for row in labels:
        if (row == -1).all():
            continue
        chance = 0.0
        for c, a in enumerate(mixing):
            product = a
            for j, label in enumerate(row):
                if label != -1:
                    product *= probs[j][c, label] ** weights[j]
            chance += product
        total += np.log(chance) if chance > 0 else -np.inf
    return total


def random_rows(seed, n=12, sizes=(2, 3, 4)):
    rng = np.random.default_rng([seed, 1])
    labels = np.stack([rng.integers(size, size=n) for size in sizes], axis=1)
    labels[rng.random(labels.shape) < 0.3] = -1
    labels[0] = -1
    return labels


def as_table(labels):
    return {name: [None if x == -1 else int(x) for x in column] for name, column in zip("abc", labels.T, strict=True)}


@steady
@given(st.integers(0, 2**32 - 1))
def test_log_likelihood_is_the_double_loop(seed):
    model, mixing, probs, weights = random_mixture(seed)
    labels = random_rows(seed)
    expected = slow_log_likelihood(labels, mixing, probs, weights)
    assert model.log_likelihood(as_table(labels)) == pytest.approx(expected, rel=1e-12)
    known = ((labels != -1) * weights).sum()
    assert model.perplexity(as_table(labels)) == pytest.approx(np.exp(-expected / known), rel=1e-12)


@steady
@given(st.integers(0, 2**32 - 1))
def test_impossible_rows_are_found_exactly(seed):
    """Hard rows and memberships alike, however small a share the impossible label has."""
    model, mixing, probs, weights = random_mixture(seed, zeros=True)
    labels = random_rows(seed)
    rng = np.random.default_rng(seed)
    chances = model.assign(model.coded(as_table(labels)).rows).log_chances
    expected = [slow_log_likelihood(labels[i : i + 1], mixing, probs, weights) for i in range(len(labels))]
    assert np.allclose(chances, expected, rtol=1e-12)
    blocks = {name: rng.dirichlet(np.ones(t.shape[1]) * 0.1, 5) for name, t in zip("abc", probs, strict=True)}
    rows = model.coded(SoftEnsemble.from_memberships(blocks)).rows
    found = model.assign(rows)
    for i in range(5):
        scores = []
        for c, a in enumerate(mixing):
            score = np.log(a)
            for j, name in enumerate("abc"):
                for label, part in enumerate(rows.block(j)[i]):
                    if part > 0:
                        chance = probs[j][c, label]
                        score += weights[j] * part * (np.log(chance) if chance > 0 else -np.inf)
                assert name == rows.names[j]
            scores.append(score)
        assert np.allclose(found.log_chances[i], np.logaddexp.reduce(scores))
    assert np.isfinite(found.membership).all() and np.allclose(found.membership.sum(axis=1), 1)


def test_a_dead_component_makes_nothing_possible():
    """It would allow every label, but no object comes from it; with a share it does."""
    tables = (np.array([[0.0, IMPOSSIBLE], [np.log(0.5), np.log(0.5)]]),)
    for bias, expected in (([0.0, IMPOSSIBLE], -np.inf), (np.log([0.75, 0.25]), np.log(0.125))):
        model = ColumnModel(np.array(bias), tables, "softmax", ("a",), ((0, 1),), weights=np.ones(1))
        for rows in ([[1]], SoftEnsemble.from_memberships({"a": [[0.0, 1.0]]})):
            assert model.assign(model.coded(rows).rows).log_chances.tolist() == [pytest.approx(expected)]


TWINS = Ensemble.from_labels([["a"] * 80, ["a"] * 80, ["b"] * 80, ["b"] * 80], transpose=False)
"""So many clusterings that the chance of the other cluster's labels falls to 0, not only near it."""


def test_a_model_that_excludes_rows_says_so():
    result = partita.consensus(TWINS, "mm", 2)
    new = Ensemble.from_labels([["a"] * 80, ["a"] * 40 + ["b"] * 40, ["b"] * 79 + ["a"], [None] * 80], transpose=False)
    with pytest.warns(PartitaWarning, match=r"2 objects carry .* fit with smoothing"):
        assert result.log_likelihood(new) == -np.inf
    with pytest.warns(PartitaWarning, match="2 objects"):
        assert result.perplexity(new) == np.inf
    assert result.predict(new).tolist()[0] == 0 and result.predict(new)[3] == -1
    assert np.allclose(np.nansum(result.predict_proba(new), axis=1), [1, 1, 1, 0])
    smooth = partita.consensus(TWINS, "mm", 2, smoothing=0.5)
    assert np.isfinite(smooth.log_likelihood(new)) and smooth.perplexity(new) > smooth.perplexity(TWINS) > 1


def test_perplexity_by_hand():
    """One cluster of weight 1, two clusterings: the geometric mean of 1/chance over the known labels."""
    tables = (np.log([[0.25, 0.75]]), np.log([[0.5, 0.5]]))
    model = ColumnModel(np.zeros(1), tables, "softmax", ("a", "b"), ((0, 1), (0, 1)), weights=np.ones(2))
    assert model.log_likelihood([[0, 1], [1, None]]) == pytest.approx(np.log(0.25 * 0.5 * 0.75))
    assert model.perplexity([[0, 1], [1, None]]) == pytest.approx((0.25 * 0.5 * 0.75) ** (-1 / 3))
    counted = Ensemble.from_labels({"a": [0, 1], "b": [1, None]}).with_counts([2, 3])
    assert model.log_likelihood(counted) == pytest.approx(2 * np.log(0.125) + 3 * np.log(0.75))
    with pytest.raises(ParameterError, match="at least one known label"):
        model.perplexity([[None, None]])
    assert model.log_likelihood([[None, None]]) == 0.0


def test_training_rows_have_the_likelihood_of_the_fit():
    ensemble = noisy(missing=0.2)
    result = partita.consensus(ensemble, "mm", 4)
    assert result.log_likelihood(ensemble) == pytest.approx(result.detail["log likelihood"], rel=1e-12)
    soft = partita.consensus(noisy_soft(), "mm", 3)
    assert soft.log_likelihood(noisy_soft()) == pytest.approx(soft.detail["log likelihood"], rel=1e-12)


def test_models_without_probabilities():
    for link in ("share", "best"):
        with pytest.raises(AttributeError, match="gives no probabilities"):
            model(link).log_likelihood(ROWS)
    with pytest.raises(AttributeError, match="hbgf gives no probabilities"):
        partita.consensus([[0, 0], [0, 0], [1, 1]], "hbgf", 2).perplexity([[0, 0]])


def test_ensembles_are_taken_under_codes_of_their_own():
    ensemble = noisy(n=80, missing=0.1)
    result = partita.consensus(ensemble, "mm", 4)
    order = np.random.default_rng(1).permutation(len(ensemble))
    words = [[None if x == -1 else ensemble.classes[j][x] for j, x in enumerate(ensemble.labels[i])] for i in order]
    other = Ensemble.from_labels(words)
    assert other.classes != ensemble.classes
    assert np.array_equal(result.predict(other), result.labels[order])
    mixed = other.columns(np.random.default_rng(2).permutation(len(other.names)))
    assert np.array_equal(result.predict(mixed), result.labels[order])


def test_held_out_rows_of_the_same_ensemble():
    """Labels that no training row carries are unseen, though the table knows them."""
    labels = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [2, 1]])
    ensemble = Ensemble.from_labels(labels)
    result = partita.consensus(ensemble.rows([0, 1, 2, 3]), "mm", 2)
    with pytest.warns(PartitaWarning, match="1 label was never seen in training and is treated"):
        assert result.predict(ensemble.rows([4])).tolist() == [1]
    with pytest.warns(PartitaWarning, match="1 label was never seen in training and is treated"):
        assert result.log_likelihood(ensemble.rows([4])) == pytest.approx(np.log(0.5))
    with pytest.warns(PartitaWarning, match="1 label was never seen in training and is treated"):
        assert result.predict(SoftEnsemble.from_hard(ensemble.rows([4]))).tolist() == [1]


def test_a_clustering_that_took_no_part_is_not_looked_at():
    ensemble = Ensemble.from_labels({"a": [0, 0, 1, 1], "z": [0, 1, 0, 1], "b": [0, 0, 1, 1]}, weights=[1, 0, 1])
    for name in ("mm", "voting", "qmi"):
        result = partita.consensus(ensemble, name, 2)
        assert result.predict({"a": [1, None], "b": [1, None]}).tolist() == [1, -1]
        assert result.predict({"a": [1, None], "b": [1, None], "z": [7, 0]}).tolist() == [1, -1]
        assert result.predict([[1, 5, 1], [None, 0, None]]).tolist() == [1, -1]
    assert np.isfinite(partita.consensus(ensemble, "mm", 2).perplexity(ensemble))


def test_memberships_of_new_objects():
    soft = SoftEnsemble.from_memberships(
        {"a": [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8]], "b": [[1, 0], [0.7, 0.3], [0, 1], [0.4, 0.6]]}
    )
    result = partita.consensus(soft, "mm", 2)
    new = SoftEnsemble.from_memberships({"b": [[0.1, 0.9], [np.nan, np.nan]], "a": [[0.3, 0.7], [0, 0]]})
    assert result.predict(new).tolist() == [1, -1] and np.isnan(result.predict_proba(new)[1]).all()
    unnamed = SoftEnsemble.from_memberships([[[0.3, 0.7]], [[0.1, 0.9]]])
    assert np.array_equal(result.predict_proba(unnamed), result.predict_proba(new)[:1])
    labels = result.predict([[0, 0], [1, 1], [None, 1]])
    assert labels.tolist() == [0, 1, 1]
    for blocks in ({"a": [[0.3, 0.3, 0.4]], "b": [[0.5, 0.5]]}, {"a": [[0.5, 0.5]], "b": [[0.2, 0.3, 0.5]]}):
        with pytest.raises(TableError, match=r"clustering '[ab]' has 3 memberships in the new rows and 2"):
            result.predict(SoftEnsemble.from_memberships(blocks))
    with pytest.raises(TableError, match="no clustering 'b'"):
        result.predict(SoftEnsemble.from_memberships({"a": [[0.5, 0.5]], "c": [[0.5, 0.5]]}))


def test_memberships_for_a_model_of_labels():
    """Clusters are found by value; where values tell nothing, they stand in the order of `classes`."""
    result = partita.consensus({"a": [2, 2, 1, 1], "b": ["x", "x", "y", "y"]}, "mm", 2, smoothing=0.1)
    assert result.model.classes == ((2, 1), ("x", "y"))
    by_place = SoftEnsemble.from_memberships({"a": [[0.9, 0.1]], "b": [[0.8, 0.2]]})
    assert result.predict(by_place).tolist() == [0]
    values = SoftEnsemble.from_memberships({"a": [1, 2, None], "b": ["y", "x", "x"]})
    assert result.predict(values).tolist() == [1, 0, 0]
    with pytest.warns(PartitaWarning, match="2 labels were never seen"):
        strange = SoftEnsemble.from_memberships({"a": [1, 7], "b": ["q", "x"]})
        assert result.predict(strange).tolist() == [1, 0]
    voting = partita.consensus({"a": [2, 2, 1, 1], "b": ["x", "x", "y", "y"]}, "voting", 2)
    assert voting.predict_proba(by_place)[0].tolist() == pytest.approx([0.85, 0.15])


def test_numbers_are_found_by_their_spelling():
    """A file of numbers alone is read as numbers, though the training file had words beside them."""
    result = partita.consensus({"a": ["1", "1", "x"], "b": [1, 1, 2]}, "voting", 2)
    assert result.predict({"a": [1], "b": ["1"]}).tolist() == [0]


def test_chunks_and_threads_change_nothing(monkeypatch):
    ensemble = noisy(n=300, missing=0.2)
    for name in ("mm", "voting", "qmi"):
        result = partita.consensus(ensemble, name, 4)
        whole = placed(result.model, ensemble)
        with monkeypatch.context() as patch:
            patch.setattr(threads, "CHUNK", 7)
            for count in (1, 2):
                with threads.thread_limit(count):
                    part = placed(result.model, ensemble)
                assert np.array_equal(part.labels, whole.labels) and dict(part.detail) == dict(whole.detail)
                assert whole.membership is None or np.array_equal(part.membership, whole.membership)


def test_placed_tells_what_happened():
    result = partita.consensus(TWINS, "mm", 2)
    rows = [["a", *["b"] * 79], ["q", *[None] * 79], ["a"] * 80]
    with pytest.warns(UnseenLabelWarning, match="1 label was never seen in training"):
        found = placed(result.model, Ensemble.from_labels(rows, ids=["p", "q", "r"], transpose=False))
    assert found.labels.tolist()[1:] == [-1, 0] and found.ids.tolist() == ["p", "q", "r"]
    assert found.detail["labels never seen"] == 1 and found.detail["perplexity"] == np.inf
    assert (
        found.unknown == 1
        and [note.code for note in found.notes] == ["unseen-labels", "no-label", "note"]
        and found.recipe == result.recipe
    )
    with pytest.warns(UnseenLabelWarning, match="80 labels were"):
        nothing = placed(result.model, [["q"] * 80])
    assert nothing.labels.tolist() == [-1] and "perplexity" not in nothing.detail


@pytest.mark.parametrize("name", [row["name"] for row in partita.methods() if row["new objects"] != "no"])
def test_no_rows_give_empty_arrays(name):
    ensemble = noisy(n=30, r=4, k=3)
    options = {"burn_in": 1, "draws": 4} if name == "bce-gibbs" else {}
    found = partita.consensus(ensemble, name, 3, **options).model
    none = ensemble.rows([])
    labels = found.predict(none)
    assert labels.shape == (0,) and labels.dtype == found.predict(ensemble).dtype
    if found.link not in LABELS_ONLY:
        assert found.predict_proba(none).shape == (0, 3)
    if found.link in ("softmax", "dirichlet"):
        assert found.log_likelihood(none) == 0.0
        with pytest.raises(ParameterError, match="at least one known label"):
            found.perplexity(none)


@pytest.mark.parametrize("name", ["mm", "bce-vb"])
def test_counts_stand_for_repeated_rows(name):
    """In the log-likelihood and in the number of labels by which perplexity divides it."""
    ensemble = noisy(n=40, r=4, k=3, noise=0.4, missing=0.3)
    found = partita.consensus(ensemble, name, 3, smoothing=0.5).model
    counts = np.arange(40) % 5 + 1
    counted, repeated = ensemble.with_counts(counts), ensemble.rows(np.repeat(np.arange(40), counts))
    assert found.log_likelihood(counted) == pytest.approx(found.log_likelihood(repeated), rel=1e-12)
    assert found.perplexity(counted) == pytest.approx(found.perplexity(repeated), rel=1e-12)
    assert found.perplexity(counted) != pytest.approx(found.perplexity(ensemble), rel=1e-6)


FILES = {
    "words": ("True,1.0\nFalse,2.0\n", "False,2\nTrue,1\n", [[1, 1], [0, 0]]),
    "numbers that were text": ("1.0,01\nx,y\n", "1.0,01\n1.0,01\n", [[0, 0], [0, 0]]),
    "text that was numbers": ("1.0,01\n2.0,02\n", "2.0,02\nx,y\n", [[1, 1], [-1, -1]]),
    "two spellings": ("1.0,+1\n1,x\ny,x\n", "1,1\n1,1\n", [[1, 0], [1, 0]]),
    "two spellings of neither": ("1.0,a\n01,a\nx,b\n", "1,a\n1,b\n", [[-1, 0], [-1, 1]]),
}


@pytest.mark.parametrize("case", list(FILES))
def test_labels_of_text_files_are_found(tmp_path, case):
    """Whether a column is numbers or text depends on all its cells, which differ from file to file."""
    trained, new, codes = FILES[case]
    tables = []
    for text in (trained, new):
        (tmp_path / "labels.csv").write_text("a,b\n" + text)
        tables.append(partita.read(tmp_path / "labels.csv", transpose=False))
    known = ColumnModel(
        np.zeros(1), tuple(np.zeros((1, size)) for size in tables[0].sizes), "best", tables[0].names, tables[0].classes
    )
    assert known.coded(tables[1]).rows.labels.tolist() == codes


def test_booleans_are_found_as_words(tmp_path):
    """Parquet knows booleans, CSV spells them."""
    pd.DataFrame({"a": [True, False, True], "b": [True, True, False]}).to_parquet(tmp_path / "labels.parquet")
    found = partita.consensus(partita.read(tmp_path / "labels.parquet", transpose=False), "voting", 2).model
    for text in ("a,b\nTrue,False\nFalse,True\n", "a,b\ntrue,FALSE\nfalse,TRUE\n"):
        (tmp_path / "new.csv").write_text(text)
        new = found.coded(partita.read(tmp_path / "new.csv", transpose=False))
        assert new.unseen == 0 and new.rows.labels.tolist() == [[0, 1], [1, 0]]


CHANCES = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5], [0.5, 0.5]])
LOG_CHANCES = (np.log(CHANCES),) * 2


def shared_model(tables=LOG_CHANCES, weights=(0.4, 0.3, 0.1, 0.2)):
    shares = np.array([[1.0, 0.0], [0.25, 0.75], [0.0, 1.0], [0.0, 0.0]])
    classes = (("x", "y"),) * 2
    return ColumnModel(np.log(weights), tables, "softmax", ("a", "b"), classes, weights=np.ones(2), shares=shares)


def test_components_share_their_memberships_among_clusters():
    mixture, rows = shared_model(), [["x", "x"], ["x", "y"], ["y", None], [None, None]]
    likelihood = 0.0
    for row, found, label in zip(rows, mixture.predict_proba(rows), mixture.predict(rows), strict=True):
        joint = np.array([0.4, 0.3, 0.1, 0.2])
        for value in row:
            joint = joint * (CHANCES[:, "xy".index(value)] if value else 1)
        clusters = joint @ mixture.shares
        if row == [None, None]:
            assert np.isnan(found).all() and label == -1
            continue
        likelihood += np.log(joint.sum())
        assert found == pytest.approx(clusters / clusters.sum()) and label == clusters.argmax()
    assert mixture.log_likelihood(rows) == pytest.approx(likelihood)
    assert mixture.width == 2 and repr(mixture) == "ColumnModel(2 clusters from 2 clusterings)"


def test_a_row_far_from_all_clusters_still_has_memberships():
    never = np.array([[0.0, -500], [0, -501], [0, -502], [0, 0]])
    found = shared_model((never, never)).predict_proba([["y", "y"]])
    joint = np.array([0.4, 0.3 * np.exp(-2), 0.1 * np.exp(-4)])
    clusters = joint @ shared_model().shares[:3]
    assert found[0] == pytest.approx(clusters / clusters.sum())


def test_a_model_with_shares_survives_a_file(tmp_path):
    partita.save_model(shared_model(), tmp_path / "model.npz")
    loaded = partita.load_model(tmp_path / "model.npz")
    assert np.array_equal(loaded.shares, shared_model().shares)
    rows = [["x", "y"], ["y", "y"]]
    assert np.array_equal(loaded.predict_proba(rows), shared_model().predict_proba(rows))


def test_an_unsmoothed_fit_tells_where_its_likelihood_hangs_on_when_it_stopped():
    labels = [[0, 0], [0, 0], [1, 1], [1, 1], [1, 1]]
    rough = partita.consensus(labels, "mm", 2, tol=1e-3)
    with pytest.warns(PartitaWarning, match="1 object carries labels that were hardly ever seen .* fit with smoothing"):
        assert 1 < rough.perplexity([[0, 1]]) < np.inf
    assert rough.perplexity([[0, 0], [1, None]]) < 3
    assert partita.consensus(labels, "mm", 2, smoothing=0.5).perplexity([[0, 1]]) < 20
