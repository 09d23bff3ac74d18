"""The partition of least expected loss: every partition is tried by the oracle, and the search must find the best."""

import numpy as np
import pytest

from partita.core import memory
from partita.core.draws import Draws
from partita.core.errors import MethodError, ParameterError
from partita.core.threads import thread_limit
from partita.posterior import point, search
from partita.posterior.losses import expected_loss
from partita.posterior.point import best_partition
from tests.posterior.draws_oracle import losses, partitions, problems
from tests.samples import noisy_labels, same_partition

LOSSES = ("vi", "binder")


def generator(seed=0):
    return np.random.default_rng(seed)


def check_best(table, loss, found):
    least = losses(partitions(table.shape[1]), table, loss).min()
    assert found.loss == pytest.approx(least, abs=1e-10)
    assert expected_loss(Draws.of(table), found.labels, loss) == pytest.approx(found.loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_partition_is_tried(loss):
    for table in problems(24, seed=1):
        found = best_partition(Draws.of(table), loss, rng=generator())
        assert found.exact
        check_best(table, loss, found)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("spare", [1, 8])
def test_the_search_finds_the_best_of_few(loss, spare, monkeypatch):
    """With tables that must grow all the time, too."""
    monkeypatch.setattr(point, "FEW_ROWS", 0)
    monkeypatch.setattr(search, "SPARE", spare)
    for table in problems(30, seed=2):
        found = best_partition(Draws.of(table), loss, rng=generator())
        assert not found.exact
        check_best(table, loss, found)


@pytest.mark.parametrize("loss", LOSSES)
def test_dealing_out_keeps_what_improves_alone(loss, monkeypatch):
    """Also where the tables had to grow on the way; and they always count the clusters there are."""
    monkeypatch.setattr(search, "SPARE", 1)
    undone = 0
    for turn, table in enumerate(problems(200, seed=6)):
        draws = Draws.of(table)
        setup, rng = search.set_up(draws, loss), generator(turn)
        start = np.arange(len(setup.first)) % (1 + turn % 3)
        tally = search._begun(setup.problem, search.Start(start), rng)
        before = expected_loss(draws, start[setup.row], loss)
        tally, better = search._dealt_anew(setup.problem, tally, rng)
        after = expected_loss(draws, tally.labels[setup.row], loss)
        assert after < before if better else same_partition(tally.labels, start)
        undone += not better
        counts = np.zeros_like(tally.counts)
        for row, amount, c in zip(setup.problem.rows, setup.problem.amounts, tally.labels, strict=True):
            counts[setup.problem.offsets[:-1] + row, c] += amount
        assert np.array_equal(counts, tally.counts)
        assert np.array_equal(np.bincount(tally.labels, setup.problem.amounts, len(tally.sizes)), tally.sizes)
    assert 10 < undone < 190


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_the_search_finds_the_best_of_thousands_of_problems(loss, monkeypatch):
    """Against the exhaustive kernel, which the oracle confirms above."""
    for table in problems(3000, seed=3):
        draws = Draws.of(table)
        least = best_partition(draws, loss, rng=generator()).loss
        monkeypatch.setattr(point, "FEW_ROWS", 0)
        assert best_partition(draws, loss, rng=generator()).loss == pytest.approx(least, abs=1e-10), table
        monkeypatch.undo()


@pytest.mark.parametrize("loss", LOSSES)
def test_no_move_improves_and_no_draw_is_better(loss):
    """A larger problem, by the definition of a local optimum."""
    table = noisy_labels(n=60, r=15, k=4, noise=0.35, seed=5)[0].T
    draws = Draws.of(table)
    found = best_partition(draws, loss, rng=generator())
    assert not found.exact and not found.limited
    assert found.loss <= min(expected_loss(draws, row, loss) for row in table) + 1e-12
    for i in range(60):
        for c in range(found.labels.max() + 2):
            moved = found.labels.copy()
            moved[i] = c
            assert expected_loss(draws, moved, loss) >= found.loss - 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_repeated_objects_and_draws_change_nothing(loss):
    """Rows that stand for several objects, draws that stand for several draws: as if written out one by one."""
    rng = generator(3)
    table = rng.integers(3, size=(6, 8))
    wide = table[:, [0, 0, 0, 1, 2, 2, 3, 4, 5, 5, 6, 7]]
    draws = Draws.of(np.concatenate([wide, wide[:2], wide[:1]]))
    found = best_partition(draws, loss, rng=generator())
    assert found.labels[0] == found.labels[1] == found.labels[2] and found.labels[4] == found.labels[5]
    whole = losses(partitions(8)[:, [0, 0, 0, 1, 2, 2, 3, 4, 5, 5, 6, 7]], draws.labels, loss)
    assert found.loss == pytest.approx(whole.min())


@pytest.mark.parametrize("loss", LOSSES)
def test_equal_objects_are_together_in_every_best_partition(loss):
    """What makes grouping them safe, over all partitions of all objects."""
    for table in problems(40, seed=4, most=6):
        wide = np.concatenate([table, table[:, :1]], axis=1)
        every = partitions(wide.shape[1])
        values = losses(every, wide, loss)
        best = every[values <= values.min() + 1e-12]
        assert (best[:, 0] == best[:, -1]).all()


def test_a_planted_partition_is_found():
    labels, truth = noisy_labels(n=3000, r=40, k=6, noise=0.15, seed=2)
    found = best_partition(Draws.of(labels.T), rng=generator())
    assert same_partition(found.labels, truth)


def test_more_clusters_than_any_draw():
    """Of pairs that are together in half the draws at most, Binder's loss keeps none; the tables grow for that."""
    rng = generator(4)
    table = rng.integers(2, size=(400, 40))
    draws = Draws.of(np.concatenate([table, rng.integers(3, size=(400, 40))]))
    found = best_partition(draws, "binder", rng=generator())
    assert found.labels.tolist() == list(range(40))


@pytest.mark.parametrize("name", ["MOST_CELLS", "SWEEP_WORK"])
def test_memory_and_time_limit_the_number_of_clusters(name, monkeypatch):
    monkeypatch.setattr(search, name, 1)
    table = generator(4).integers(3, size=(400, 40))
    found = best_partition(Draws.of(table), "binder", rng=generator())
    assert found.limited and found.labels.max() + 1 <= 6
    assert found.loss <= expected_loss(Draws.of(table), table[0], "binder")


def test_memory_that_is_not_there(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    with pytest.raises(MethodError, match=r"5 different draws of up to 3 clusters may need .* give fewer draws"):
        best_partition(Draws.of(generator(4).integers(3, size=(5, 40))), rng=generator())


def test_same_for_any_number_of_threads_and_names():
    table = noisy_labels(n=200, r=20, k=5, noise=0.5, seed=6)[0].T
    wanted = best_partition(Draws.of(table), rng=generator(7))
    with thread_limit(1):
        alone = best_partition(Draws.of(table), rng=generator(7))
    renamed = best_partition(Draws.of(11 - table), rng=generator(7))
    for other in (alone, renamed):
        assert other.loss == wanted.loss and np.array_equal(other.labels, wanted.labels)


def test_missing_objects_stay_missing():
    table = np.array([[0, 0, -1, 1, 1]] * 3)
    assert best_partition(Draws.of(table), rng=generator()).labels.tolist() == [0, 0, -1, 1, 1]
    with pytest.raises(ParameterError, match="no object has a label"):
        best_partition(Draws.of(np.full((2, 3), -1)), rng=generator())


@pytest.mark.parametrize("objects", [1, 2])
def test_hardly_any_objects(objects):
    found = best_partition(Draws.of(np.zeros((3, objects), int)), rng=generator())
    assert found.labels.tolist() == [0] * objects and found.loss == 0


def test_one_row_through_the_search(monkeypatch):
    monkeypatch.setattr(point, "FEW_ROWS", 0)
    assert best_partition(Draws.of([[0, 0, 0]]), rng=generator()).labels.tolist() == [0, 0, 0]


def noisy_samples(n, draws=20):
    """Ten clusters; 30 % of the labels of each draw are random."""
    return noisy_labels(n=n, r=draws, k=10, noise=0.3, seed=8)[0].T


def fine_samples(n, draws=20, seed=9):
    """Nearest of many random centers on a line, other centers in each draw."""
    rng = generator(seed)
    points = rng.random(n)
    return np.stack([np.searchsorted(np.sort(rng.choice(points, n // 6, replace=False)), points) for _ in range(draws)])


@pytest.fixture
def large(monkeypatch):
    """Search small problems as large ones, with narrow tables and little work."""
    monkeypatch.setattr(point, "FEW_ROWS", 0)
    monkeypatch.setattr(search, "LARGE_ROWS", 0)
    monkeypatch.setattr(search, "LARGE_SWEEP_WORK", 1)
    monkeypatch.setattr(search, "LARGE_WORK", 1e5)


def check_none_better(draws, loss, found):
    inputs = [expected_loss(draws, labels, loss) for labels in draws.labels]
    assert found.loss <= min(inputs) and found.loss == expected_loss(draws, found.labels, loss)


@pytest.mark.parametrize("samples", [noisy_samples, fine_samples])
def test_many_objects_under_binders_loss(samples, monkeypatch):
    """More objects than `LARGE_ROWS`: no draw is better, and the number of threads does not change the result."""
    monkeypatch.setattr(search, "LARGE_ROWS", 1000)
    draws = Draws.of(samples(1300))
    found = best_partition(draws, "binder", rng=generator(1))
    assert len(search.set_up(draws, "binder").first) > search.LARGE_ROWS and not found.limited
    check_none_better(draws, "binder", found)
    with thread_limit(1):
        again = best_partition(draws, "binder", rng=generator(1))
    assert np.array_equal(found.labels, again.labels) and found.loss == again.loss
    truth = noisy_labels(n=1300, r=1, k=10, noise=0.0, seed=8)[1]
    assert samples is not noisy_samples or found.loss <= expected_loss(draws, truth, "binder")


@pytest.mark.parametrize("loss", LOSSES)
def test_no_draw_is_better(loss):
    for table in problems(60, seed=10, most=30):
        draws = Draws.of(table)
        check_none_better(draws, loss, best_partition(draws, loss, rng=generator()))


def test_a_large_search_is_near_the_best(large):
    """Against every partition; its clusters in tables and rows outside are counted as they should be."""
    gaps = []
    for table in problems(150, seed=11):
        draws = Draws.of(table)
        found = best_partition(draws, "binder", rng=generator())
        check_none_better(draws, "binder", found)
        gaps.append(found.loss - losses(partitions(table.shape[1]), table, "binder").min())
    assert min(gaps) > -1e-12 and np.mean(np.array(gaps) < 1e-9) > 0.9


@pytest.mark.parametrize("samples", [noisy_samples, fine_samples])
def test_a_large_search_is_as_good_as_a_small_one(samples, monkeypatch):
    draws = Draws.of(samples(800))
    wanted = best_partition(draws, "binder", rng=generator()).loss
    monkeypatch.setattr(search, "LARGE_ROWS", 0)
    assert best_partition(draws, "binder", rng=generator()).loss <= 1.002 * wanted


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("few_rows", [0, 9])
def test_max_clusters_against_every_partition(loss, most, few_rows, monkeypatch):
    monkeypatch.setattr(point, "FEW_ROWS", few_rows)
    for table in problems(20, seed=12, most=7):
        found = best_partition(Draws.of(table), loss, rng=generator(), max_clusters=most)
        every = partitions(table.shape[1])
        least = losses(every[every.max(axis=1) < most], table, loss).min()
        assert found.labels.max() < most and found.loss == pytest.approx(least, abs=1e-10)


@pytest.mark.parametrize("samples", [noisy_samples, fine_samples])
@pytest.mark.parametrize("n", [300, 3000])
@pytest.mark.parametrize("most", [1, 4, 12])
def test_max_clusters_of_many_objects(samples, n, most):
    draws = Draws.of(samples(n))
    found = best_partition(draws, "binder", rng=generator(), max_clusters=most)
    assert found.labels.max() < most and found.limited
    few = [expected_loss(draws, row, "binder") for row in draws.labels if row.max() < most]
    assert found.loss <= min(few, default=np.inf)


def test_max_clusters_outside_the_tables(large):
    """Rows outside the tables count as clusters."""
    draws = Draws.of(noisy_samples(300))
    free = best_partition(draws, "binder", rng=generator())
    assert free.labels.max() + 1 > 40
    for most in (25, 30):
        found = best_partition(draws, "binder", rng=generator(), max_clusters=most)
        assert found.labels.max() + 1 == most and found.limited and found.loss > free.loss


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "3", True])
def test_max_clusters_that_are_none(wrong):
    with pytest.raises(ParameterError, match=f"max_clusters={wrong!r}: expected an integer of at least 1"):
        best_partition(Draws.of([[0, 1]]), rng=generator(), max_clusters=wrong)


def test_an_interrupted_search_respects_max_clusters(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(point, "map_threads", stop)
    draws = Draws.of(fine_samples(300))
    found = best_partition(draws, "binder", rng=generator(), max_clusters=5)
    assert found.interrupted and found.labels.max() + 1 == 5
