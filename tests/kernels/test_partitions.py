"""The steps of the search for the best partition: what each says of the loss, against the loss before and after."""

import numpy as np
import pytest

from partita.core.draws import Draws
from partita.kernels.partitions import ALONE, chain, content, leaving, merge_all, merging, pivot, sweep, weigh_row
from partita.posterior import search
from partita.posterior.losses import expected_loss
from tests.posterior.draws_oracle import problems
from tests.samples import same_partition

losses = pytest.mark.parametrize("loss", ["vi", "binder"])


class Place:
    """A random partition of the rows of a problem, and the loss of it and of others in the units of the kernels."""

    def __init__(self, table, loss, rng):
        self.draws, self.loss = Draws.of(table), loss
        self.setup = search.set_up(self.draws, loss)
        self.problem, self.n = self.setup.problem, table.shape[1]
        rows = len(self.setup.first)
        self.start = rng.permutation(np.arange(rows) % rng.integers(1, rows + 1))
        self.tally = search._begun(self.problem, search.Start(self.start), rng)

    def height(self, labels):
        """The expected loss without its division by the objects, or by their square."""
        scale = self.n if self.loss == "vi" else self.n**2
        return scale * expected_loss(self.draws, np.asarray(labels)[self.setup.row], self.loss)

    def moved(self, i, c):
        """The loss with row i in cluster c."""
        labels = self.tally.labels.copy()
        labels[i] = c
        return self.height(labels)

    def check_tables(self):
        """They count the partition that the labels give."""
        counts = np.zeros_like(self.tally.counts)
        for row, amount, c in zip(self.problem.rows, self.problem.amounts, self.tally.labels, strict=True):
            counts[self.problem.offsets[:-1] + row, c] += amount
        shares = np.repeat(self.problem.shares, np.diff(self.problem.offsets))[:, None]
        sizes = np.bincount(self.tally.labels, self.problem.amounts, len(self.tally.sizes))
        assert np.array_equal(self.tally.counts, counts) and np.array_equal(self.tally.sizes, sizes)
        assert np.allclose(self.tally.gains, shares * self.problem.steps[counts])


def places(count, loss, seed):
    """Problems with objects and draws that come several times, each at a random partition."""
    rng = np.random.default_rng(seed)
    for turn, table in enumerate(problems(count, seed)):
        if turn % 2:
            table = np.concatenate([table, table[:1], table[:1]])
            table = np.concatenate([table, table[:, :1], table[:, :2]], axis=1)
        yield Place(table, loss, rng)


@losses
def test_pivots_gather_what_is_together_in_most_draws(loss):
    """Against the definition, row by row; limits on clusters and work leave the other rows without a label."""
    for place in places(60, loss, seed=15):
        rows, n = place.problem.rows, len(place.problem.rows)
        order, found = np.arange(n)[::-1].copy(), np.full(n, -1)
        number = pivot(place.problem, order, n, ALONE, np.inf, found)
        close = [[((a == b) * place.problem.shares).sum() > 1 + 1e-9 for b in rows] for a in rows]
        wanted, clusters = np.full(n, -1), 0
        for i in order:
            if wanted[i] == -1:
                members = [j for j in range(n) if wanted[j] == -1 and close[i][j]]
                wanted[members] = clusters if len(members) > 1 else ALONE
                clusters += len(members) > 1
        assert np.array_equal(found, wanted) and number == clusters
        few = np.full(n, -1)
        assert pivot(place.problem, order, 0, ALONE, np.inf, few) == 0 and (few == -1).all()


@losses
def test_full_tables_let_rows_be_alone(loss):
    """A row leaves full tables only if that lowers the loss, and at most as many rows as allowed."""
    left, rng = 0, np.random.default_rng(0)
    for place in places(90, loss, seed=16):
        n, start = len(place.start), np.unique(place.start, return_inverse=True)[1]
        width = int(start.max()) + 1
        for alone in (0, 1, n):
            problem = place.problem._replace(width=width, alone=alone)
            tally = search._begun(problem, search.Start(start), rng)
            change = sweep(problem, tally, np.arange(n), 0, width, False, False)[3]
            labels = np.where(tally.labels == ALONE, width + np.arange(n), tally.labels)
            outside = np.count_nonzero(tally.labels == ALONE)
            assert outside <= alone and place.height(labels) - place.height(start) == pytest.approx(change, abs=1e-9)
            left += outside
    assert left > 20


@losses
def test_merging_tells_the_change_of_the_loss(loss):
    tried = 0
    for place in places(60, loss, seed=11):
        full, before = np.flatnonzero(place.tally.sizes), place.height(place.start)
        part, values = np.empty(len(place.tally.sizes)), np.empty(len(place.tally.sizes))
        for a in full:
            merging(place.problem, place.tally, a, len(values), part, values)
            for b in full[full != a]:
                after = place.height(np.where(place.start == a, b, place.start))
                assert values[b] == pytest.approx(after - before, abs=1e-9)
                tried += 1
    assert tried > 100


@losses
def test_merges_end_where_none_improves(loss):
    """The loss never rises, every merge is counted, and the tables count what is left."""
    merges = 0
    for place in places(60, loss, seed=12):
        found = merge_all(place.problem, place.tally)
        labels, clusters = place.tally.labels, np.unique(place.tally.labels)
        assert found == len(np.unique(place.start)) - len(clusters)
        least = place.height(labels)
        assert least < place.height(place.start) if found else same_partition(labels, place.start)
        for a in clusters:
            for b in clusters[clusters < a]:
                assert place.height(np.where(labels == a, b, labels)) >= least - 1e-9
        merges += found
        place.check_tables()
    assert merges > 20


@losses
def test_weighing_and_leaving_tell_the_change_of_the_loss(loss):
    for place in places(60, loss, seed=13):
        width = len(place.tally.sizes)
        values, before = np.empty(width), place.height(place.start)
        for i, old in enumerate(place.start):
            weigh_row(place.problem, place.tally, i, width, values)
            now = leaving(place.problem, place.tally, i)
            for c in np.setdiff1d(np.arange(width), [old]):
                assert values[c] - now == pytest.approx(place.moved(i, c) - before, abs=1e-9)


@losses
def test_a_content_row_has_no_better_cluster(loss):
    """By the loss after every move; under Binder's, whose steps grow evenly, every row that would lose by any is."""
    seen = {True: 0, False: 0}
    for place in places(150, loss, seed=14):
        width = len(place.tally.sizes)
        values, before = np.empty(width), place.height(place.start)
        for i in np.flatnonzero(place.problem.amounts == 1):
            weigh_row(place.problem, place.tally, i, width, values)
            happy = content(place.problem, place.tally, i, width, values)
            others = np.setdiff1d(np.arange(width), [place.start[i]])
            gap = min((place.moved(i, c) - before for c in others), default=np.inf)
            assert gap >= -1e-9 or not happy
            if loss == "binder" and gap > 1e-9:
                assert happy
            seen[happy] += 1
    assert min(seen.values()) > 50


@losses
def test_a_chain_stops_at_its_best_point(loss):
    """It tells the change of the loss, no less than that of the best move; and its tables count what is left."""
    far = 0
    for place in places(150, loss, seed=15):
        place.tally = search._kept(place.problem, place.tally, search.SPARE)
        begun, width = place.tally.labels.copy(), len(place.tally.sizes)
        before = place.height(begun)
        single = min(place.moved(i, c) for i in range(len(begun)) for c in range(width))
        change = chain(place.problem, place.tally)
        after = place.height(place.tally.labels)
        assert change <= 0 and change == pytest.approx(after - before, abs=1e-9)
        assert after <= single + 1e-9
        assert change < 0 or np.array_equal(place.tally.labels, begun)
        far += after < single - 1e-9
        place.check_tables()
    assert far > 20


@losses
def test_a_chain_leads_through_worse_partitions(loss):
    """Where no single move improves, several in a row sometimes do."""
    better = 0
    for place in places(300, loss, seed=16):
        place.tally = search._settled(place.problem, place.tally, np.random.default_rng(0))
        place.tally = search._kept(place.problem, place.tally, search.SPARE)
        before = place.height(place.tally.labels)
        change = chain(place.problem, place.tally)
        assert change == pytest.approx(place.height(place.tally.labels) - before, abs=1e-9)
        better += change < 0
    assert better > 0
