"""The default rule for k: the test of independence against enumeration, each step of the rule, and its invariances."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest

import partita
from partita import Ensemble, SoftEnsemble
from partita._default_k import (
    CRITERION_THETA,
    GAMMA,
    MIN_OBJECTS,
    canonical_table,
    choose_k,
    covariance_by_k,
    covariance_of_choice,
    independence_test,
    pair_statistics,
)
from partita.core.errors import ParameterError
from partita.core.k_choice import KChoice
from partita.core.types import FrozenDict
from partita.datasets import segments_path
from partita.registry import METHODS
from partita.selection.selecting import around
from tests.samples import noisy, noisy_labels, noisy_soft


def ensemble_of(labels, **options):
    return Ensemble.from_labels(np.asarray(labels), missing=-1, transpose=False, allow="id-like-column", **options)


def pearson(a, b):
    """Pearson's chi-squared of two labellings, cell by cell, over the objects known in both."""
    known = (a >= 0) & (b >= 0)
    a, b, n = a[known], b[known], known.sum()
    total = 0.0
    for x in np.unique(a):
        for y in np.unique(b):
            expected = (a == x).sum() * (b == y).sum() / n
            total += (((a == x) & (b == y)).sum() - expected) ** 2 / expected
    return total


def independent(seed, n=200, r=6, k=4, missing=0.0):
    """Labels of clusterings that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    labels = np.stack([rng.choice(k, n, p=rng.dirichlet(np.full(k, 5.0))) for _ in range(r)], axis=1)
    labels[rng.random((n, r)) < missing] = -1
    return labels


def with_noise_column(seed=0):
    labels, _ = noisy_labels(n=200, r=5, k=3, noise=0.1, seed=seed)
    return np.column_stack([labels, np.random.default_rng(seed + 99).integers(0, 3, 200)])


# the test of independence


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([0, 0, 0, 1, 1, 2, 2], [0, 1, 1, 0, 0, 1, 1]),
        ([0, 0, 1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 2, 2, 2]),
        ([0, 1, 2, 3, 3, 3], [0, 0, 0, 0, 1, 1]),
    ],
)
def test_mean_and_variance_are_exact(a, b, monkeypatch):
    """They equal the mean and variance of the statistic over all permutations of one clustering."""
    monkeypatch.setattr("partita._default_k.MIN_CLUSTER", 1)
    a, b = np.array(a), np.array(b)
    values = [pearson(a, b[list(order)]) for order in permutations(range(len(a)))]
    assert len(values) == factorial(len(a))
    found = pair_statistics(ensemble_of(np.column_stack([a, b])))
    assert found.statistic[0, 1] == pytest.approx(pearson(a, b))
    assert found.mean[0, 1] == pytest.approx(np.mean(values))
    assert found.variance[0, 1] == pytest.approx(np.var(values))


def test_mean_and_variance_by_simulation(monkeypatch):
    rng = np.random.default_rng(0)
    labels = independent(1, n=60, r=3, missing=0.2)
    known = labels >= 0

    def statistic(table):
        return pair_statistics(ensemble_of(table)).statistic

    def permuted():
        """Permute the labels that a pair knows in both; the others do not matter."""
        table = labels.copy()
        both = np.flatnonzero(known[:, 0] & known[:, 1])
        table[both, 1] = rng.permutation(table[both, 1])
        return pearson(table[:, 0], table[:, 1])

    monkeypatch.setattr("partita._default_k.MIN_CLUSTER", 1)
    found = pair_statistics(ensemble_of(labels))
    values = np.array([permuted() for _ in range(3000)])
    assert found.mean[0, 1] == pytest.approx(values.mean(), rel=0.05)
    assert found.variance[0, 1] == pytest.approx(values.var(), rel=0.12)
    assert statistic(labels) == pytest.approx(statistic(labels).T)


def test_statistics_of_every_pair():
    labels = independent(2, n=150, r=4, k=3, missing=0.3)
    found = pair_statistics(ensemble_of(labels))
    for i in range(4):
        for j in range(i):
            assert found.statistic[i, j] == pytest.approx(pearson(labels[:, i], labels[:, j]))


def test_small_clusters_are_one_category():
    a = np.array([0] * 10 + [1] * 10 + [2, 2, 3, 4])
    b = np.array([0, 1] * 12)
    merged = np.where(a >= 2, 2, a)
    found = pair_statistics(ensemble_of(np.column_stack([a, b])))
    assert found.statistic[0, 1] == pytest.approx(pearson(merged, b))


def test_multiplicities_count_as_objects():
    labels = independent(3, n=40)
    counts = np.random.default_rng(0).integers(1, 6, 40)
    short = independence_test(ensemble_of(labels).with_counts(counts.astype(float)))
    long = independence_test(ensemble_of(np.repeat(labels, counts, axis=0)))
    assert short.p_value == pytest.approx(long.p_value)
    assert short.by_clustering == pytest.approx(long.by_clustering)


def test_sparse_and_dense_tables_agree(monkeypatch):
    ensemble = ensemble_of(independent(4, k=12, missing=0.2))
    dense = pair_statistics(ensemble)
    monkeypatch.setattr("partita._default_k.MOST_DENSE", 10)
    for one, two in zip(dense, pair_statistics(ensemble), strict=True):
        assert one == pytest.approx(two)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_false_positives(missing):
    """At .001, at most 2 of 200 tables of independent clusterings count as dependent."""
    found = [independence_test(ensemble_of(independent(seed, missing=missing))).p_value for seed in range(200)]
    assert sum(p <= 0.001 for p in found) <= 2 and 0.4 < np.mean(found) < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.2, 0.5])
def test_false_positives_on_permuted_tables(missing):
    """Columns of dependent tables, each permuted: at most .005 at .001 on 2000 tables."""
    rng = np.random.default_rng(0)
    count = 0
    for _ in range(2000):
        n, r, k = rng.integers(20, 400), rng.integers(2, 20), rng.integers(2, 30)
        shares = [rng.dirichlet(np.full(k, rng.choice([0.3, 1, 5]))) for _ in range(r)]
        labels = np.stack([rng.choice(k, n, p=share) for share in shares])
        table = np.stack([rng.permutation(row) for row in labels], axis=1)
        table[rng.random((n, r)) < missing] = -1
        p = independence_test(ensemble_of(table)).p_value
        count += p is not None and p <= 0.001
    assert count <= 10


def test_too_few_objects_are_not_tested():
    labels = independent(0, n=MIN_OBJECTS - 1)
    assert independence_test(ensemble_of(labels)).p_value is None
    assert choose_k(canonical_table(ensemble_of(labels))).p_value is None


@pytest.mark.parametrize(
    "labels", [np.zeros((30, 2), int), np.stack([np.arange(30)] * 3, axis=1), np.arange(60).reshape(30, 2) // 3]
)
def test_tables_without_categories_are_not_tested(labels):
    assert independence_test(ensemble_of(labels)).p_value is None
    assert choose_k(canonical_table(ensemble_of(labels))).k >= 1


# the rule


@pytest.mark.parametrize("seed", range(5))
def test_independent_clusterings_have_no_structure(seed):
    result = partita.consensus(ensemble_of(independent(seed)))
    assert result.k == 1 and result.k_choice.rule == "no structure" and result.k_choice.p_value > 0.001
    assert any("statistically independent (p = " in note for note in result.notes)


@pytest.mark.parametrize("method", [name for name in METHODS if not name.startswith("nbce")])
def test_no_structure_is_one_cluster_by_every_method(method):
    result = partita.consensus(ensemble_of(independent(0, n=60, r=4, k=2)), method)
    assert result.k == 1 and set(result.labels.tolist()) == {0}


def test_an_independent_clustering_is_omitted_and_named():
    labels = with_noise_column()
    table = Ensemble.from_labels(labels, names=[*"abcde", "noise"], weights=[1, 1, 1, 1, 1, 3.0])
    choice = choose_k(canonical_table(table))
    assert list(choice.omitted) == ["noise"] and choice.omitted["noise"] > 0.01
    (note,) = choice.notes
    assert note.startswith("clustering 'noise' (p = ") and "is statistically independent of all others" in note
    alone = choose_k(canonical_table(Ensemble.from_labels(labels[:, :5])))
    assert alone.k == choice.k and alone.criterion == choice.criterion


def test_two_clusterings_always_stay():
    labels = np.column_stack([with_noise_column()[:, [0, 1]], independent(5, n=200, r=4)])
    choice = choose_k(canonical_table(ensemble_of(labels)))
    assert len(choice.omitted) == 4 and choice.k == 3
    many = choose_k(canonical_table(ensemble_of(np.column_stack([labels, independent(6, n=200, r=9)]))))
    assert len(many.omitted) >= 11 and any(" more are statistically" in note for note in many.notes)


@pytest.mark.parametrize(
    ("sizes", "k"), [([3, 3, 5, 7], 3), ([4, 4, 4], 4), ([2, 5, 5, 5, 6], 5), ([3, 3, 4, 4], None), ([2, 3, 4], None)]
)
def test_common_k(sizes, k):
    """The k that half of the clusterings have; a tie of two is no common k."""
    objects = np.arange(420)
    choice = choose_k(canonical_table(ensemble_of(np.stack([objects * size // 420 for size in sizes], axis=1))))
    if k is None:
        assert choice.rule == "covariance"
    else:
        assert (choice.rule, choice.k) == ("common k", k)
        assert choice.criterion == {size: sizes.count(size) / len(sizes) for size in sizes}


def slow_criterion(labels, groups):
    """The covariance criterion from all pairs of objects, with cluster weights label by label."""
    r = labels.shape[1]

    def weight(j, label):
        members = labels[labels[:, j] == label]
        entropies = []
        for column in members.T:
            shares = np.unique(column, return_counts=True)[1] / len(column)
            entropies.append(-(shares * np.log2(shares)).sum())
        return np.exp(-np.mean(entropies) / CRITERION_THETA)

    weights = [{label: weight(j, label) for label in np.unique(labels[:, j])} for j in range(r)]
    together = np.array([[sum(weights[j][a[j]] for j in range(r) if a[j] == b[j]) for b in labels] for a in labels])
    same = groups[:, None] == groups[None, :]
    return together[same].sum() / together.sum() - GAMMA * same.mean()


def test_criterion_by_hand():
    """With few rows each row is a micro-cluster, so that the groups are those of the linkage."""
    blocks = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 2], [1, 1, 2], [2, 1, 3], [2, 2, 3], [2, 2, 3], [1, 0, 0]])
    labels = np.repeat(blocks, [3, 2, 4, 1, 2, 3, 1, 1], axis=0)
    values = covariance_by_k(canonical_table(ensemble_of(labels)), [1, 2, 3])[GAMMA]
    assert values[1] == pytest.approx(1 - GAMMA)
    rows, inverse = np.unique(labels, axis=0, return_inverse=True)
    best = {1: -np.inf, 2: -np.inf, 3: -np.inf}
    for code in range(3 ** len(rows)):
        groups = np.array([code // 3**i % 3 for i in range(len(rows))])[inverse.reshape(-1)]
        k = len(np.unique(groups))
        if k < 3:
            best[k] = max(best[k], slow_criterion(labels, groups))
    assert values[2] == pytest.approx(best[2]) and values[1] == pytest.approx(best[1])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("k", [2, 5])
def test_planted_k_behind_clusterings_of_other_k(k, seed, missing):
    """Base clusterings that merge or split planted clusters."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, 600)
    columns = []
    for j in range(12):
        split = np.where(rng.random(600) < 0.5, truth, truth + k) if j % 2 else truth
        part = np.where(truth == rng.integers(k), split, truth)
        noisy_part = np.where(rng.random(600) < 0.1, rng.integers(0, k, 600), part)
        columns.append(np.where(rng.random(600) < missing, -1, noisy_part))
    assert choose_k(canonical_table(ensemble_of(np.stack(columns, axis=1)))).k == k


def test_finer_clusterings_than_the_result_lower_gamma():
    """Five clusters, of which every clustering makes 12 to 20: the smaller γ is used, and the choice records it."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 1000)
    columns = [truth * 20 + rng.integers(0, rng.integers(2, 5), 1000) for _ in range(10)]
    choice = choose_k(canonical_table(ensemble_of(np.stack(columns, axis=1))))
    assert choice.k == 5 and choice.gamma == 0.35 and "γ = 0.35" in choice.reason
    usual = choose_k(canonical_table(noisy(n=200, r=6, k=4, noise=0.4).columns([0, 1, 2])), [3, 4, 5])
    assert usual.gamma in (None, 0.5)


def test_identical_rows():
    assert choose_k(canonical_table(ensemble_of([[0, 0]] * 5))).k == 1


def test_large_base_clusterings_are_capped():
    """Base clusterings of 300 clusters: 200 numbers at most are compared, and a note says so."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 400, 3000)
    labels = np.stack([rng.permutation(np.arange(400) % size)[rows] for size in (260, 280, 300)], axis=1)
    choice = choose_k(canonical_table(ensemble_of(labels)))
    assert max(choice.criterion) == 200 and any("up to 200" in note for note in choice.notes)


# what the choice depends on


@pytest.mark.parametrize("make", [noisy, noisy_soft])
def test_order_names_and_copies_change_nothing(make):
    ensemble = make(n=300)
    order = np.random.default_rng(1).permutation(300)
    columns = list(reversed(range(len(ensemble.names))))
    one = choose_k(canonical_table(ensemble))
    two = choose_k(canonical_table(ensemble.rows(order).columns(columns)))
    assert one.k == two.k and one.criterion == pytest.approx(two.criterion)
    counted = choose_k(canonical_table(ensemble.with_counts(np.full(300, 2.0))))
    assert choose_k(canonical_table(ensemble.rows(np.tile(np.arange(300), 2)))) == counted


def test_methods_seed_threads_and_compression_change_nothing():
    ensemble = noisy(n=150, r=6, k=3, noise=0.4, missing=0.2)
    first = partita.consensus(ensemble).k_choice
    for method, options in (
        ("auto", {"seed": 7}),
        ("mm", {"threads": 1}),
        ("cspa", {"compress": False}),
        ("smcla", {}),
        ("shbgf", {}),
        ("bce-gibbs", {}),
        ("nbce-gibbs", {"k": range(1, 30)}),
    ):
        choice = partita.consensus(ensemble, method, **options).k_choice
        assert choice.k == first.k and choice.rule == first.rule and choice.p_value == first.p_value


def test_hard_and_one_hot_rows_have_the_same_k():
    ensemble = noisy(n=150, r=6, k=3, noise=0.4)
    soft = partita.SoftEnsemble.from_hard(ensemble)
    assert choose_k(canonical_table(soft)) == choose_k(canonical_table(ensemble))


def test_weight_zero_is_absent():
    labels = with_noise_column()
    weighted = Ensemble.from_labels(labels, weights=[1] * 5 + [0])
    assert choose_k(canonical_table(weighted)) == choose_k(canonical_table(Ensemble.from_labels(labels[:, :5])))


def test_equal_weights_of_any_scale_change_nothing():
    labels = noisy_labels(n=200, r=5, k=3, noise=0.3)[0]
    one, two = (Ensemble.from_labels(labels, weights=[w] * 5) for w in (1, 5.0))
    assert choose_k(canonical_table(one)) == choose_k(canonical_table(two))


# several k


def test_a_range_and_a_list():
    ensemble = noisy(n=200, r=8, k=4)
    for k in (range(2, 11), [3, 4, 9], (4, 2), {2, 4}, np.array([4, 5])):
        assert partita.consensus(ensemble, "mm", k).k_choice.k == 4
    only = partita.consensus(ensemble, "mm", [3])
    assert only.k_asked == 3 and only.k_choice is None


def test_ends_of_the_given_numbers_are_noted():
    ensemble = noisy(n=200, r=8, k=4)
    low, high = partita.consensus(ensemble, "mm", [2, 3]), partita.consensus(ensemble, "mm", range(5, 8))
    assert low.k_asked == 3 and any("largest of the given numbers" in note for note in low.notes)
    assert high.k_asked == 5 and any("smallest of the given numbers" in note for note in high.notes)
    inside = partita.consensus(ensemble, "mm", range(2, 8))
    assert not any("of the given numbers" in note for note in inside.notes)


def test_independent_clusterings_where_one_cluster_is_not_allowed():
    ensemble = ensemble_of(independent(0))
    assert partita.consensus(ensemble, "mm", range(1, 5)).k == 1
    choice = partita.consensus(ensemble, "mm", [2, 3]).k_choice
    assert choice.k in (2, 3) and not choice.omitted
    assert any("1 is not among the given numbers" in note for note in choice.notes)


@pytest.mark.parametrize(
    ("k", "words"),
    [
        ([], "no k is left"),
        ([0, 2], "k=0 is less than 1"),
        ([2, 5000], "k=5000 is more than the"),
        ("2..5", "k='2..5' is not a whole number"),
        (2.5, "k=2.5"),
        (range(3000, 4000), "no k is left"),
    ],
)
def test_mistakes(k, words):
    with pytest.raises(ParameterError, match=words):
        partita.consensus(noisy(), "voting", k)


def test_numbers_beyond_the_rows_are_omitted_from_a_range():
    result = partita.consensus([[0, 0, 1], [0, 0, 2], [1, 1, 3], [2, 2, 4]], "voting", range(2, 50))
    assert any("k = 5 to 49 omitted: the table has only 4 unique rows" in note for note in result.notes)


# one choice everywhere


@pytest.mark.parametrize("make", [lambda: noisy(n=120, r=6, k=4, noise=0.4), with_noise_column, lambda: independent(0)])
def test_everything_recommends_the_same_k(make):
    made = make()
    ensemble = made if isinstance(made, Ensemble) else ensemble_of(made)
    k = partita.consensus(ensemble).k_choice.k
    assert partita.select_k(ensemble, repeats=0).k == k
    assert partita.select_k(ensemble, method="voting", repeats=0).k == k
    compared = partita.compare(ensemble, methods="voting", workers=1)
    assert compared.k_choice.k == k and compared.ks == (k,)
    assert partita.ConsensusClustering("mm").fit(made if made is not ensemble else made.labels).consensus_.k_asked == k
    assert partita.stream(np.asarray(ensemble.labels), method="mm").k_asked == k


def test_report_and_run_agree(tmp_path):
    ensemble = partita.read(segments_path(), ids="customer")
    for k in (None, range(2, 8)):
        found = partita.write_report(tmp_path / "page.html", ensemble, k, compare="none", repeats=0)
        assert found.consensus.k_asked == partita.consensus(ensemble, k=k).k_asked == 4


@pytest.mark.parametrize("k", [1, 2, 6, 7, 19, 150])
def test_numbers_around(k):
    found = around(k, 200)
    assert k in found and 5 <= len(found) <= 9 and max(found) <= 200
    assert around(k, k)[-1] == k


def test_criterion_of_a_choice():
    """The criterion is known for any k, whatever rule decided."""
    table = canonical_table(ensemble_of(with_noise_column()))
    choice = choose_k(table)
    values = covariance_of_choice(table, choice, [1, 2, 3, 25])
    assert list(values) == [1, 2, 3, 25] and choice.rule == "common k" and values[1] == pytest.approx(1 - GAMMA)


def test_record_and_notebook():
    values = FrozenDict({2: 0.5, 3: 0.75, 4: 0.25})
    choice = KChoice(3, "covariance", "it is largest", values, 2, 0.0, notes=("a <note>",))
    assert [row["remark"] for row in choice.table()] == ["runner-up", "chosen", ""] and choice.gap == 0.25
    assert choice.as_record()["table"] == choice.table() and choice.as_record()["gap"] == 0.25
    assert "chosen" in choice._repr_html_() and "a &lt;note&gt;" in choice._repr_html_()
    alone = KChoice(1, "no structure", "independent", p_value=0.4)
    assert alone.gap is None and alone.table() == [{"k": 1, "criterion": None, "remark": "chosen"}]


def test_result_and_files_have_the_choice(tmp_path):
    result = partita.consensus(noisy(n=100, r=5), "mm")
    assert result.k_choice.k == result.k_asked == result.recipe.k
    assert partita.consensus(noisy(n=100, r=5), "mm", result.k).k_choice is None
    partita.write(result, tmp_path / "result.json")
    assert '"k_choice"' in (tmp_path / "result.json").read_text()


def noisy_clusterings(k, noise, n=3000, r=8, seed=0):
    """Copies of k clusters with k to k + r - 1 labels, of which a share is random."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    columns = [np.where(rng.random(n) < noise, rng.integers(0, k + j, n), truth) for j in range(r)]
    return ensemble_of(np.stack(columns, axis=1))


@pytest.mark.parametrize(("k", "noise"), [(10, 0.2), (20, 0.2), (30, 0.15), (50, 0.1)])
def test_many_clusters_with_noisy_labels(k, noise):
    found = choose_k(canonical_table(noisy_clusterings(k, noise))).k
    assert abs(np.log2(found / k)) < 0.35


def test_memberships_spread_over_all_clusters_do_not_lower_k():
    hard = SoftEnsemble.from_hard(ensemble_of(planted_of_other_k(4)))
    blocks = [0.7 * hard.block(j) + 0.3 / size for j, size in enumerate(hard.sizes)]
    soft = SoftEnsemble.from_memberships(blocks)
    assert choose_k(canonical_table(soft)).k == choose_k(canonical_table(hard)).k == 4


def planted_of_other_k(k, n=400, r=7, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    return np.stack(
        [
            np.where(rng.random(n) < 0.1, rng.integers(0, k, n), truth * 3 + rng.integers(0, 1 + j % 3, n))
            for j in range(r)
        ],
        1,
    )


def test_long_ranges_are_cut_with_a_note():
    table = canonical_table(noisy_clusterings(10, 0.3, n=900))
    choice = choose_k(table, range(2, 400))
    assert choice.k <= 201 and any("k = 2 to 201 of the given numbers" in note for note in choice.notes)
    with pytest.raises(ParameterError, match="up to 500; give one k"):
        choose_k(table, [600, 700])
