"""The spectral start with more base clusters than a table of all their pairs may have."""

import numpy as np
import pytest

import partita
from partita import Ensemble
from partita.core import memory
from partita.core.errors import MethodError
from partita.core.prepare import prepare
from partita.metrics import nmi
from partita.starts import spectral
from tests.samples import noisy_labels


def fine_table(rows=600, seed=0):
    """Five noisy clusterings into four, one of them with gaps, and one of many small clusters."""
    rng = np.random.default_rng(seed)
    labels, _ = noisy_labels(rows, 5, 4, noise=0.15, seed=seed)
    labels[rng.random(rows) < 0.2, 0] = -1
    small = 4 * rng.integers(rows // 12, size=rows) + labels[:, 1]
    return prepare(Ensemble.from_labels(np.column_stack([labels, small]), missing=-1)).ensemble


def test_sparse_and_dense_tables_say_the_same(monkeypatch):
    ensemble = fine_table()
    amounts = np.random.default_rng(1).random(len(ensemble))
    assert spectral.sparse_overlaps(ensemble, amounts).toarray() == pytest.approx(spectral.overlaps(ensemble, amounts))
    dense = spectral.cluster_weights(ensemble, 0.4)
    points = spectral.embed(ensemble, spectral.lifting(ensemble, dense, 4))
    labels = spectral.spectral_start(ensemble, 4, np.random.default_rng(0))
    monkeypatch.setattr(spectral, "MOST_DENSE", 10)
    assert spectral.cluster_weights(ensemble, 0.4) == pytest.approx(dense, rel=1e-10)
    found = spectral.embed(ensemble, spectral.lifting(ensemble, dense, 4))
    assert found @ found.T == pytest.approx(points @ points.T, abs=1e-3)
    assert nmi(labels, spectral.spectral_start(ensemble, 4, np.random.default_rng(0))) > 0.95


def test_power_iterations_where_lanczos_ends_without_an_answer(monkeypatch):
    ensemble = fine_table()
    weights = spectral.cluster_weights(ensemble, 0.4)
    points = spectral.embed(ensemble, spectral.lifting(ensemble, weights, 4))
    monkeypatch.setattr(spectral, "MOST_DENSE", 10)

    def gives_up(*args, **options):
        raise spectral.ArpackNoConvergence("no", np.empty(0), np.empty((0, 0)))

    monkeypatch.setattr(spectral, "eigsh", gives_up)
    found = spectral.embed(ensemble, spectral.lifting(ensemble, weights, 4))
    assert np.abs(found @ found.T - points @ points.T).mean() < 0.05


def test_one_label_for_nearly_every_object_takes_little_memory():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=12_000)
    noisy = [np.where(rng.random(12_000) < 0.1, rng.integers(3, size=12_000), truth) for _ in range(6)]
    table = np.column_stack([*noisy, np.arange(12_000) % 11_000])
    assert nmi(partita.consensus(table, "mm", 3).labels, truth) > 0.9


def test_refuses_a_graph_that_does_not_fit(monkeypatch):
    monkeypatch.setattr(spectral, "MOST_DENSE", 10)
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    with pytest.raises(MethodError, match=r"the graph of \d+ base clusters may need .* GB are .*kmeans\+\+"):
        spectral.cluster_weights(fine_table(), 0.4)


@pytest.mark.parametrize("chunk", [1 << 16, 100])
def test_full_tables_of_overlaps_have_the_bits_of_the_sparse_product(monkeypatch, chunk):
    ensemble = fine_table()
    amounts = np.random.default_rng(1).random(len(ensemble))
    monkeypatch.setattr(spectral, "CHUNK", chunk)
    found = spectral._full_overlaps(ensemble, amounts)
    monkeypatch.setattr(spectral, "MOST_FULL", 0)
    expected = spectral.sparse_overlaps(ensemble, amounts)
    for name in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))


def test_entropies_do_not_depend_on_how_many_rows_are_computed_at_once(monkeypatch):
    ensemble = fine_table()
    shared, column = spectral.sparse_overlaps(ensemble, ensemble.counts), spectral.label_columns(ensemble.offsets)
    weights = np.full(len(ensemble.sizes), 1 / len(ensemble.sizes))
    expected = spectral._sparse_bits(shared, column, weights)
    monkeypatch.setattr(spectral, "BIT_CELLS", 50)
    assert np.array_equal(spectral._sparse_bits(shared, column, weights), expected)


def test_scaling_is_the_product_with_diagonal_matrices():
    ensemble = fine_table()
    shared = spectral.sparse_overlaps(ensemble, ensemble.counts)
    factors = np.random.default_rng(1).random(shared.shape[0])
    assert np.array_equal(spectral._scaled(shared, factors).toarray(), factors[:, None] * shared.toarray() * factors)
