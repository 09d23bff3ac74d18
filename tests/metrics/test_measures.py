"""Measures of two labellings: laws by family, scikit-learn, and slow definitions."""

import itertools
import math
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import entropy
from sklearn import metrics as sk

import partita.metrics as pm
from partita.core.errors import ParameterError
from partita.core.threads import thread_limit
from partita.metrics import MEASURES, contingency
from partita.metrics import matching as matching_module
from partita.metrics.pairs import pair_counts

FUNCTIONS = {name: getattr(pm, name) for name in MEASURES}
ALL = pytest.mark.parametrize("name", sorted(MEASURES))


@st.composite
def labellings(draw, low=0, least=1):
    size = draw(st.integers(least, 40))
    k = draw(st.integers(1, 8))
    column = st.lists(st.integers(low, k), min_size=size, max_size=size)
    return np.array(draw(column)), np.array(draw(column))


def known(a, b):
    both = (a != -1) & (b != -1)
    return a[both], b[both]


# -- scikit-learn ------------------------------------------------------------------------------------------------------


@given(labellings(low=-1))
def test_equal_to_scikit_learn(pair):
    a, b = pair
    rest = known(a, b)
    assume(len(rest[0]))
    nmi = sk.normalized_mutual_info_score(*rest, average_method="geometric")
    assert pm.nmi(a, b) == pytest.approx(nmi, abs=1e-12)
    assert pm.mutual_information(a, b) == pytest.approx(sk.mutual_info_score(*rest), abs=1e-12)
    assert pm.ari(a, b) == pytest.approx(sk.adjusted_rand_score(*rest), abs=1e-12)
    assert pm.rand(a, b) == pytest.approx(sk.rand_score(*rest), abs=1e-12)
    assert pm.ami(a, b) == pytest.approx(sk.adjusted_mutual_info_score(*rest), abs=1e-9)
    entropies = pm.entropy(rest[0]), pm.entropy(rest[1])
    distance = sum(entropies) - 2 * sk.mutual_info_score(*rest)
    assert pm.variation_of_information(a, b) == pytest.approx(distance, abs=1e-12)
    confusion = sk.cluster.pair_confusion_matrix(*rest)
    counts = pair_counts(contingency(a, b))
    assert (counts.neither, counts.second, counts.first, counts.both) == tuple(confusion.ravel())


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([0], [0]),
        ([0, 0, 0], [1, 1, 1]),
        ([0, 1, 2], [2, 1, 0]),
        ([0, 0, 0], [0, 1, 2]),
        ([0, 1, 2], [0, 0, 0]),
        ([0, 0, 1, 1], [0, 1, 0, 1]),
        ([0, 0, 0, 1], [0, 0, 1, 0]),
    ],
)
def test_degenerate_cases_equal_scikit_learn(a, b):
    assert pm.nmi(a, b) == pytest.approx(sk.normalized_mutual_info_score(a, b, average_method="geometric"), abs=1e-15)
    assert pm.ami(a, b) == pytest.approx(sk.adjusted_mutual_info_score(a, b), abs=1e-15)
    assert pm.ari(a, b) == pytest.approx(sk.adjusted_rand_score(a, b), abs=1e-15)
    assert pm.rand(a, b) == pytest.approx(sk.rand_score(a, b), abs=1e-15)


def test_large_samples_equal_scikit_learn():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 30, 300_000), rng.integers(0, 20, 300_000)
    b[:200_000] = a[:200_000] % 20
    assert pm.nmi(a, b) == pytest.approx(sk.normalized_mutual_info_score(a, b, average_method="geometric"), rel=1e-12)
    assert pm.ari(a, b) == pytest.approx(sk.adjusted_rand_score(a, b), rel=1e-12)
    assert pm.ami(a, b) == pytest.approx(sk.adjusted_mutual_info_score(a, b), rel=1e-9)


@given(labellings(low=-1))
def test_class_entropy_by_definition(pair):
    """The mean over clusters, weighted by size, of the entropy of the classes in it, divided by log(classes)."""
    a, b = known(*pair)
    assume(len(a))
    a, b = np.asarray(a), np.asarray(b)
    classes = np.unique(b)
    within = sum(np.mean(a == c) * entropy(np.unique(b[a == c], return_counts=True)[1]) for c in np.unique(a))
    expected = within / math.log(len(classes)) if len(classes) > 1 else 0
    assert pm.class_entropy(*pair) == pytest.approx(expected, abs=1e-12)


# -- laws by family ----------------------------------------------------------------------------------------------------


def test_every_measure_is_filed():
    assert set(MEASURES) == {
        "nmi",
        "ami",
        "ari",
        "rand",
        "variation_of_information",
        "micro_precision",
        "class_entropy",
        "misassignment",
        "f1",
    }
    for name, measure in MEASURES.items():
        assert isinstance(measure.symmetric, bool), name
        assert measure.better in ("higher", "lower"), name
        assert measure.summary and measure.of is getattr(pm, f"{name}_of"), name


@ALL
@given(pair=labellings(low=-1))
def test_symmetric_as_filed(name, pair):
    a, b = pair
    table = contingency(a, b)
    assume(table.total)
    if MEASURES[name].symmetric:
        assert FUNCTIONS[name](a, b) == pytest.approx(FUNCTIONS[name](b, a), abs=1e-9)
        assert MEASURES[name].of(table) == pytest.approx(MEASURES[name].of(table.transposed), abs=1e-9)


@ALL
def test_asymmetric_as_filed(name):
    a, b = [0, 0, 0, 1, 2, 3], [0, 0, 0, 1, 1, 1]
    assert (FUNCTIONS[name](a, b) == pytest.approx(FUNCTIONS[name](b, a))) == MEASURES[name].symmetric


BOUNDS = {"ami": (-math.inf, 1), "ari": (-0.5, 1), "variation_of_information": (0, math.inf)}


@ALL
@given(pair=labellings())
def test_bounds(name, pair):
    low, high = BOUNDS.get(name, (0, 1))
    assert low - 1e-12 <= FUNCTIONS[name](*pair) <= high + 1e-9
    assert 0 <= pm.variation_of_information(*pair, normalised=True) <= 1


@ALL
@given(pair=labellings())
def test_identity_is_best(name, pair):
    a, b = pair
    best, value = MEASURES[name].best, FUNCTIONS[name](a, b)
    assert FUNCTIONS[name](a, a) == pytest.approx(best, abs=1e-12)
    assert value <= best + 1e-9 if MEASURES[name].better == "higher" else value >= best - 1e-9


@ALL
@given(pair=labellings(low=-1), seed=st.integers(0, 99))
def test_names_and_order_do_not_matter(name, pair, seed):
    a, b = pair
    assume(contingency(a, b).total)
    rng = np.random.default_rng(seed)
    value = FUNCTIONS[name](a, b)
    rows, names = rng.permutation(len(a)), rng.permutation(10)
    renamed = np.where(a == -1, -1, names[a] * 1000 - 2)
    assert FUNCTIONS[name](renamed, b) == pytest.approx(value, abs=1e-9)
    assert FUNCTIONS[name](a, [None if label == -1 else f"class {label}" for label in b]) == pytest.approx(
        value, abs=1e-9
    )
    assert FUNCTIONS[name](a[rows], b[rows]) == pytest.approx(value, abs=1e-9)


@ALL
@given(pair=labellings(low=-1), data=st.data())
def test_weights_are_repeated_rows(name, pair, data):
    a, b = pair
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(a), max_size=len(a))))
    repeated = FUNCTIONS[name](np.repeat(a, weights), np.repeat(b, weights))
    assert FUNCTIONS[name](a, b, weights) == pytest.approx(repeated, abs=1e-9, nan_ok=True)


@ALL
def test_no_common_object_is_nan(name):
    assert math.isnan(FUNCTIONS[name]([-1, 0], [0, -1]))
    assert math.isnan(FUNCTIONS[name]([], []))


@ALL
def test_empty_clusters_do_not_count(name):
    a, b = np.array([0, 0, 4, 4, 9, 0]), np.array([7, 7, 3, 3, 3, 3])
    table = contingency(a, b)
    assert table.shape == (10, 8)
    assert MEASURES[name].of(table) == pytest.approx(MEASURES[name].of(table.compact()), abs=1e-15)


@ALL
def test_threads_do_not_matter(name):
    rng = np.random.default_rng(7)
    a, b = rng.integers(-1, 6, 700_000).astype(np.int8), rng.integers(-1, 5, 700_000)
    weights = rng.integers(1, 4, 700_000)
    values = []
    for threads in (1, 2):
        with thread_limit(threads):
            values.append(FUNCTIONS[name](a, b, weights))
    assert values[0] == values[1]


# -- slow definitions --------------------------------------------------------------------------------------------------


def shares(pairs):
    joint, rows, cols = Counter(pairs), Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    return joint, rows, cols


@given(labellings())
def test_matching_by_definition(pair):
    a, b = pair[0].tolist(), pair[1].tolist()
    joint, rows, cols = shares(list(zip(a, b, strict=True)))
    n = len(a)
    largest_in_row = [max(joint[r, c] for c in cols) for r in rows]
    assert pm.micro_precision(a, b) == pytest.approx(sum(largest_in_row) / n)
    precision = sum(max(joint[r, c] for c in cols) / rows[r] for r in rows) / len(rows)
    recall = sum(max(joint[r, c] for r in rows) / cols[c] for c in cols) / len(cols)
    assert pm.f1(a, b) == pytest.approx(2 * precision * recall / (precision + recall))


@st.composite
def few_clusters(draw):
    size = draw(st.integers(1, 25))
    column = st.integers(0, draw(st.integers(1, 4)))
    other = st.integers(0, draw(st.integers(1, 4)))
    return [draw(st.lists(kind, min_size=size, max_size=size)) for kind in (column, other)]


def best_match(a, b):
    joint, rows, cols = shares(list(zip(a, b, strict=True)))
    few, many = sorted((list(rows), list(cols)), key=len)
    swapped = len(rows) > len(cols)
    matches = (zip(few, order, strict=True) for order in itertools.permutations(many, len(few)))
    return max(sum(joint[(y, x) if swapped else (x, y)] for x, y in match) for match in matches)


@given(few_clusters())
def test_misassignment_by_definition(pair):
    assert pm.misassignment(*pair) == pytest.approx(1 - best_match(*pair) / len(pair[0]))


@given(labellings())
def test_sparse_match_equals_dense_match(pair):
    table = contingency(*pair).compact()
    assert matching_module._best_sparse_match(table) == pytest.approx(matching_module._best_match(table))


def test_misassignment_of_very_many_clusters():
    rng = np.random.default_rng(2)
    a = np.arange(6000) // 2
    b = rng.permutation(3000)[a]
    assert pm.misassignment(a, b) == 0.0
    b[0] = b[5999]
    assert pm.misassignment(a, b) == pytest.approx(1 / 6000)


@given(labellings())
def test_information_by_definition(pair):
    a, b = pair[0].tolist(), pair[1].tolist()
    joint, rows, cols = shares(list(zip(a, b, strict=True)))
    n = len(a)
    entropy = -sum(count / n * math.log(count / n) for count in rows.values())
    information = sum(c / n * math.log(n * c / (rows[x] * cols[y])) for (x, y), c in joint.items())
    together = -sum(count / n * math.log(count / n) for count in joint.values())
    assert pm.entropy(a) == pytest.approx(entropy, abs=1e-12)
    assert pm.mutual_information(a, b) == pytest.approx(information, abs=1e-12)
    expected = 1 - information / together if together > 1e-12 else 0.0
    assert pm.variation_of_information(a, b, normalised=True) == pytest.approx(expected, abs=1e-9)


def test_entropy_with_missing_and_weights():
    assert pm.entropy(["a", None, "b", "a"], [1, 9, 2, 1]) == pytest.approx(math.log(2))
    assert math.isnan(pm.entropy([None, None]))
    assert pm.entropy(np.array([5, 5, 5])) == 0.0


def test_variation_of_information_is_a_metric():
    rng = np.random.default_rng(4)
    for _ in range(50):
        a, b, c = rng.integers(0, 4, (3, 12))
        for normalised in (False, True):
            ab, bc, ac = (
                pm.variation_of_information(*pair, normalised=normalised) for pair in ((a, b), (b, c), (a, c))
            )
            assert ac <= ab + bc + 1e-12


def test_ami_needs_whole_weights():
    with pytest.raises(ParameterError, match="whole"):
        pm.ami([0, 1, 0], [0, 1, 1], [0.5, 1, 1])


def test_pairs_of_billions():
    table = pm.from_dense(np.array([[3 * 10**9, 10**9], [10**9, 3 * 10**9]]))
    half = pm.from_dense(np.array([[3 * 10**4, 10**4], [10**4, 3 * 10**4]]))
    assert pm.ari_of(table) == pytest.approx(pm.ari_of(half), rel=1e-3)
    assert pm.rand_of(table) == pytest.approx(pm.rand_of(half), rel=1e-3)


def test_import_is_light():
    heavy = "'sklearn' in sys.modules or 'scipy.optimize' in sys.modules or 'pandas' in sys.modules"
    subprocess.run([sys.executable, "-c", f"import sys, partita.metrics; sys.exit({heavy})"], check=True)


def test_everything_exported_exists():
    assert sorted(pm.__all__, key=lambda name: (name != "MEASURES", not name[0].isupper(), name)) == pm.__all__
    assert all(hasattr(pm, name) for name in pm.__all__)
