"""ColumnModel: new objects by the labels they carry."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import partita
from partita.core.errors import PartitaWarning, TableError
from partita.core.model import ColumnModel

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
    with pytest.warns(PartitaWarning, match="3 labels were never seen"):
        labels = model("best").predict([["z", 1], ["x", 99], [None, 10]])
    assert labels.tolist() == [-1, int(np.argmax(BIAS + TABLES[0][:, 0])), int(np.argmax(BIAS + TABLES[1][:, 0]))]


@pytest.mark.parametrize("blank", [None, float("nan"), "", "NA", " N/A ", "null", pd.NA])
def test_blanks_are_no_unseen_labels(blank):
    """The strings that mean an empty cell in training mean it here, without a warning."""
    assert model("best").encode([[blank, 10], ["x", blank]]).labels.tolist() == [[-1, 0], [0, -1]]


def test_floats_booleans_and_integers():
    codes = model().encode([["x", 10.0], ["x", 20], ["x", True]]).labels
    assert codes[:, 1].tolist() == [0, 1, 2]
    with pytest.warns(PartitaWarning, match="1 labels"):
        assert model().encode([["x", 1]]).labels[0].tolist() == [0, -1]


def test_one_row_of_many_columns_is_no_transposed_table():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, size=(40, 25))
    result = partita.consensus(labels, "voting", 2)
    assert np.array_equal(result.predict(labels[:1]), result.predict(labels)[:1])
