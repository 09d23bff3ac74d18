"""partita.consensus, evaluate and methods: arguments, recipe, what is kept."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import partita
from partita import Consensus, Ensemble, PartitaError, registry
from partita.core.errors import MethodError, ParameterError, TableError
from partita.core.threads import available, current
from tests.samples import SHORT_CHAINS, noisy, noisy_labels, noisy_soft, same_partition

METHODS = [row["name"] for row in partita.methods()]
TABLE = [[0, "a"], [0, "a"], [1, "b"], [1, "b"], [2, "b"]]
every_method = pytest.mark.parametrize("method", METHODS)


@every_method
@pytest.mark.parametrize("k", [0, -3, 2.0, "2", 99, [2.5], [2, 99], float("nan"), 1.5])
def test_bad_k(method, k):
    with pytest.raises(ParameterError, match="k="):
        partita.consensus(TABLE, method, k)


@every_method
def test_k_is_held_to_the_distinct_rows(method):
    """No method can part what is equal; but those that balance may, when they are given single objects."""
    with pytest.raises(ParameterError, match="k=4 is more than the 3 distinct rows"):
        partita.consensus(TABLE, method, 4)
    if registry.get(method).balanced:
        assert partita.consensus(TABLE, method, 4, compress=False).k == 4
        return
    with pytest.raises(ParameterError, match="k=4 is more than the 3 distinct rows"):
        partita.consensus(TABLE, method, 4, compress=False)


@every_method
def test_bad_seed_and_threads(method):
    for seed in (-1, 0.5, "x"):
        with pytest.raises(ParameterError, match="seed="):
            partita.consensus(TABLE, method, 2, seed=seed)
    for threads in (0, -1, 1.5, "x", True):
        with pytest.raises(ParameterError, match="threads="):
            partita.consensus(TABLE, method, 2, threads=threads)
    assert current() == available()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("votign", "did you mean 'voting'"),
        ("QMI", "there are auto, cspa"),
        ("", "there are"),
        (None, "None"),
        (5, "5"),
        (["voting"], "voting"),
    ],
)
def test_unknown_methods(name, words):
    with pytest.raises(MethodError, match=words):
        partita.consensus(TABLE, name, 2)


def test_unknown_parameters():
    with pytest.raises(ParameterError, match="qmi: unknown parameter 'restart'; did you mean 'restarts'"):
        partita.consensus(TABLE, "qmi", 2, restart=3)
    with pytest.raises(ParameterError, match="restarts=0 is out of range"):
        partita.consensus(TABLE, "qmi", 2, restarts=0)
    with pytest.raises(ParameterError, match=r"init='far' is not allowed; give spectral \| transfer-cut \| kmeans"):
        partita.consensus(TABLE, "qmi", 2, init="far")


@pytest.mark.parametrize("table", [None, 5, [], "x", [[0.5, 1], [1, 1]], {"a": [1, 2], "b": [1]}])
def test_bad_tables(table):
    with pytest.raises(PartitaError):
        partita.consensus(table, k=1)


@every_method
def test_one_clustering_is_no_ensemble(method):
    with pytest.raises(TableError, match="one clustering is no ensemble"):
        partita.consensus([[1], [2]], method, 2)


@every_method
def test_nothing_known(method):
    with pytest.raises(TableError, match="no object has a label"):
        partita.consensus([[None, None], [None, None]], method, 1)


@every_method
def test_recipe(method):
    ensemble = noisy(missing=0.1)
    short = SHORT_CHAINS.get(method, {})
    result = partita.consensus(ensemble, method, np.int64(3), seed=np.int64(11), threads=1, compress=False, **short)
    recipe = result.recipe
    assert (recipe.method, recipe.k, recipe.seed, recipe.compress) == (method, 3, 11, False)
    assert type(recipe.k) is int and type(recipe.seed) is int
    assert recipe.version == partita.__version__ and recipe.fingerprint == ensemble.fingerprint
    names = {field.name for field in dataclasses.fields(registry.get(method).Params)}
    assert set(recipe.params) == names
    drawn = partita.consensus(ensemble, method, 3, seed=None, **short).recipe.seed
    assert isinstance(drawn, int) and drawn >= 0
    again = partita.consensus(ensemble, method, 3, seed=drawn, **short)
    assert again.recipe.seed == drawn
    assert len({partita.consensus(ensemble, method, 3, seed=None, **short).recipe.seed for _ in range(3)}) > 1


@every_method
def test_ids_and_order_are_kept(method):
    labels, _ = noisy_labels(n=30)
    frame = pd.DataFrame(labels, index=[f"row {i}" for i in range(30)])
    result = partita.consensus(frame, method, 3)
    assert result.ids.tolist() == list(frame.index)
    turned = partita.consensus(frame.iloc[::-1], method, 3)
    assert turned.ids.tolist() == list(frame.index)[::-1]
    assert same_partition(turned.labels[::-1], result.labels)


@every_method
def test_equal_rows_share_a_cluster(method):
    """The compression law, also without compression, unless single objects are balanced."""
    ways, short = (True,) if registry.get(method).balanced else (True, False), SHORT_CHAINS.get(method, {})
    for seed in range(4):
        rng = np.random.default_rng(seed)
        distinct = rng.integers(0, 3, size=(6, 4))
        table = distinct[rng.integers(6, size=40)]
        rows = len(np.unique(table, axis=0))
        for k in range(1, rows + 1):
            for compress in ways:
                result = partita.consensus(table, method, k, compress=compress, seed=seed, **short)
                pairs = {(tuple(row), label) for row, label in zip(table.tolist(), result.labels.tolist(), strict=True)}
                assert len(pairs) == rows, (seed, k, compress)


@every_method
def test_tables_need_not_be_ensembles(method):
    labels, _ = noisy_labels()
    expected = partita.consensus(Ensemble.from_labels(labels), method, 3)
    for table in (labels, labels.tolist(), pd.DataFrame(labels)):
        assert np.array_equal(partita.consensus(table, method, 3).labels, expected.labels)


@every_method
def test_confidence_is_between_0_and_1(method):
    result = partita.consensus(noisy(), method, 3)
    assert isinstance(result, Consensus)
    assert ((result.confidence > 0) & (result.confidence <= 1)).all()


def test_soft_ensembles_must_be_hardened_for_hard_methods():
    with pytest.raises(MethodError, match="--harden"):
        partita.consensus(noisy_soft(), "voting", 3)


def test_evaluate_against_truth():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, 50), rng.integers(0, 4, 50)
    scores = partita.evaluate(a, truth=b)
    assert scores["nmi"] == pytest.approx(normalized_mutual_info_score(a, b, average_method="geometric"), abs=1e-12)
    assert scores["ari"] == pytest.approx(adjusted_rand_score(a, b), abs=1e-12)
    assert scores["objects"] == 50 and scores["clusters"] == 3
    names = np.array(["x", "y", "z"])
    assert partita.evaluate(names[a].tolist(), truth=b.tolist()) == scores
    hidden = a.copy()
    hidden[:10] = -1
    known = partita.evaluate(hidden, truth=b)
    assert known["nmi"] == pytest.approx(normalized_mutual_info_score(a[10:], b[10:], average_method="geometric"))


def test_evaluate_against_an_ensemble():
    ensemble = noisy()
    result = partita.consensus(ensemble, "qmi", 4)
    scores = partita.evaluate(result, ensemble=ensemble)
    assert scores["anmi"] == pytest.approx(result.scores["anmi"], abs=1e-12)
    expected = [normalized_mutual_info_score(c, result.labels, average_method="geometric") for c in ensemble.labels.T]
    assert list(scores["nmi by clustering"]) == list(ensemble.names)
    assert list(scores["nmi by clustering"].values()) == pytest.approx(expected, abs=1e-12)
    assert partita.evaluate(result.labels, ensemble=ensemble.labels)["anmi"] == pytest.approx(scores["anmi"])


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        ([0, 1], {}),
        ([0, 1], {"truth": [0, 1, 2]}),
        ([0, 1, 2], {"ensemble": [[0, 0], [1, 1]]}),
        ([0.5, 1], {"truth": [0, 1]}),
        ([[0, 1], [1, 0]], {"truth": [0, 1]}),
        (5, {"truth": [0, 1]}),
        (None, {"truth": [0, 1]}),
        ([0, 1], {"truth": 5}),
        ([], {"truth": []}),
        ([0, [1]], {"truth": [0, 1]}),
        (np.zeros((2, 2), int), {"truth": [0, 1]}),
        ("ab", {"truth": "ab"}),
    ],
)
def test_evaluate_refuses(labels, options):
    with pytest.raises(PartitaError):
        partita.evaluate(labels, **options)


def test_methods_are_listed():
    rows = partita.methods()
    assert {"voting", "qmi"} <= {row["name"] for row in rows}
    for row in rows:
        keys = {
            "name",
            "summary",
            "takes",
            "missing labels",
            "k",
            "random",
            "new objects",
            "likelihood",
            "sites",
            "cite",
        }
        assert set(row) == keys and set(row["sites"].split(", ")) <= {"rows", "columns", "no"}
        assert row["k"] in ("inferred", "chosen")
        assert row["new objects"] in ("memberships", "labels", "approximate")


def test_evaluate_joins_by_id():
    labels, truth = noisy_labels(n=40, noise=0.0)
    ids = [f"o{i}" for i in range(40)]
    result = partita.consensus(pd.DataFrame(labels, index=ids).rename(columns=str), k=4)
    order = np.random.default_rng(0).permutation(40)
    shuffled = pd.Series(truth, index=ids).iloc[order]
    assert partita.evaluate(result, truth=shuffled)["ari"] == 1
    table = Ensemble.from_labels(labels[order], ids=np.array(ids)[order])
    assert partita.evaluate(result, ensemble=table)["anmi"] == pytest.approx(1)
    with pytest.raises(PartitaError, match="no object 'o0'"):
        partita.evaluate(result, truth=pd.Series(truth, index=["x0", *ids[1:]]))


def test_minus_one_in_truth_is_not_guessed():
    with pytest.raises(PartitaError, match="-1 may be a label"):
        partita.evaluate([0, 1, 2, 2, 2], truth=[-1, -1, 1, 1, 1])
    scores = partita.evaluate([0, 1, 2, 2, 2], truth=[-1, -1, 1, 1, 1], missing=())
    assert scores["compared"] == 5 and scores["nmi"] < 1
    assert partita.evaluate([0, 1, 2, 2, 2], truth=[-1, -1, 1, 1, 1], missing=-1)["compared"] == 3
