"""MM against EM written as a double loop, against the paper's example, and against its own laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita
from partita import Ensemble, SoftEnsemble
from partita.core import threads
from partita.core.counting import unit_weights
from partita.core.errors import ParameterError
from partita.core.prepare import prepare
from partita.datasets.examples import twelve_points
from partita.kernels.scores import IMPOSSIBLE
from partita.models import mm
from partita.models.mixture import Mixture, add_counts, at_site, maximise, memberships, softened
from tests.core.oracles import steady
from tests.samples import noisy, noisy_labels, noisy_soft, same_partition

seeds = st.integers(0, 2**32 - 1)


def table(seed, n=15, r=4, k=3, missing=0.3, weighted=True):
    """A random ensemble with gaps, weights and counts, each label known somewhere."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, size=(n, r))
    labels[rng.random((n, r)) < missing] = -1
    labels[:k] = np.arange(k)[:, None]
    labels[(labels == -1).all(axis=1), 0] = 1
    weights = rng.random(r) + 0.2 if weighted else None
    ensemble = Ensemble.from_labels(labels, missing=-1, weights=weights, transpose=False)
    return ensemble.with_counts(rng.integers(1, 5, n)) if weighted else ensemble


def slow_em(blocks, counts, weights, resp, rounds, smoothing=0.0):
    """EM as the equations say, object by object; `blocks[j][i]` is a row of memberships, None where unknown.

    Returns the weights, the distributions [j][c][l] and the objective after each round.
    """
    n, k = resp.shape
    trace = []
    for _ in range(rounds):
        share = [sum(counts[i] * resp[i, c] for i in range(n)) / sum(counts) for c in range(k)]
        theta = []
        for j, block in enumerate(blocks):
            size = max(len(row) for row in block if row is not None)
            sums = np.full((k, size), float(smoothing))
            for i, row in enumerate(block):
                if row is not None:
                    for c in range(k):
                        sums[c] += weights[j] * counts[i] * resp[i, c] * np.asarray(row)
            theta.append(sums / sums.sum(axis=1, keepdims=True))
        total, resp = smoothing * sum(np.log(part).sum() for part in theta) if smoothing else 0.0, resp.copy()
        for i in range(n):
            chances = []
            for c in range(k):
                log = np.log(share[c])
                for j, block in enumerate(blocks):
                    if block[i] is not None:
                        for label, part in enumerate(block[i]):
                            if part > 0:
                                log += weights[j] * part * np.log(theta[j][c, label])
                chances.append(log)
            mass = np.logaddexp.reduce(chances)
            total += counts[i] * mass
            resp[i] = np.exp(chances - mass)
        trace.append(total)
    return np.array(share), theta, np.array(trace), resp


def blocks_of(ensemble):
    soft = ensemble if isinstance(ensemble, SoftEnsemble) else SoftEnsemble.from_hard(ensemble)
    return [[row if row.any() else None for row in soft.block(j)] for j in range(len(soft.sizes))]


def one_hot(labels, k, share=0.9):
    resp = np.full((len(labels), k), (1 - share) / (k - 1))
    resp[np.arange(len(labels)), labels] = share
    return resp


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("rounds", [1, 2, 5])
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_parameters_equal_the_double_loop(missing, rounds, smoothing, kind):
    ensemble = table(3, missing=missing) if kind == "hard" else noisy_soft(n=18)
    start = np.random.default_rng(1).integers(3, size=len(ensemble)).astype(np.int32)
    start[:3] = range(3)
    params = mm.Params(smoothing=smoothing, tol=0.0, max_iter=rounds)
    run = mm.one_run(ensemble, params, softened(ensemble, start, 3))
    weights = unit_weights(ensemble)
    share, theta, trace, resp = slow_em(
        blocks_of(ensemble), ensemble.counts, weights, one_hot(start, 3), rounds, smoothing
    )
    fitted = run.state.params
    assert np.allclose(np.exp(fitted.log_weights), share, rtol=0, atol=1e-10)
    for j, part in enumerate(theta):
        ours = np.exp(fitted.log_probs[ensemble.offsets[j] : ensemble.offsets[j + 1]]).T
        assert np.allclose(ours, part, rtol=0, atol=1e-10)
    assert np.allclose(run.trace, trace, rtol=0, atol=1e-9)
    assert np.allclose(memberships(fitted, ensemble)[0], resp, rtol=0, atol=1e-10)


def test_the_papers_example():
    """Twelve objects, printed partition, and the maximum the errata give (MISPRINTS 35)."""
    result = partita.consensus(twelve_points(), "mm", 2, tol=1e-14, max_iter=5000)
    assert result.labels.tolist() == [0] * 6 + [1] * 6
    assert result.detail["log likelihood"] == pytest.approx(-29.9917, abs=1e-4)
    first = [1, 1, 0.950, 1, 1, 0.950, 0.110, 0.018, 0.278, 0.115, 0.110, 0.018]
    assert np.allclose(result.membership[:, 0], first, atol=1e-3)


@steady
@given(seeds, st.integers(1, 4), st.sampled_from([0.0, 0.2]), st.booleans())
def test_the_objective_never_falls(seed, k, smoothing, soft):
    ensemble = noisy_soft(n=12, seed=seed) if soft else table(seed)
    start = np.random.default_rng(seed).integers(k, size=len(ensemble)).astype(np.int32)
    run = mm.one_run(ensemble, mm.Params(smoothing=smoothing, max_iter=40), softened(ensemble, start, k))
    assert np.isfinite(run.trace).all() and (np.diff(run.trace) >= -1e-9 * abs(run.trace[0])).all()
    for log in run.state.params:
        assert not np.isnan(log).any()


@steady
@given(seeds, st.booleans())
def test_compressed_and_whole_fits_agree(seed, soft):
    labels, _ = noisy_labels(n=80, r=4, k=2, noise=0.3, missing=0.2, seed=seed)
    ensemble = Ensemble.from_labels(labels, missing=-1)
    ensemble = SoftEnsemble.from_hard(ensemble) if soft else ensemble
    start = np.random.default_rng(seed).integers(2, size=81)
    found = []
    for compress in (False, True):
        work = prepare(ensemble, compress)
        row = work.ensemble.matrix if soft else work.ensemble.labels
        first = start[[hash(tuple(cells)) % 81 for cells in row.tolist()]].astype(np.int32)
        run = mm.one_run(work.ensemble, mm.Params(tol=0, max_iter=30), softened(work.ensemble, first, 2))
        found.append((run.trace, work.expand(memberships(run.state.params, work.ensemble)[0], np.nan)))
    (trace, shares), (short, short_shares) = found
    assert np.allclose(trace, short, rtol=1e-11)
    assert np.allclose(shares, short_shares, rtol=0, atol=1e-10, equal_nan=True)


def test_threads_change_no_bit(monkeypatch):
    ensemble = noisy(n=20_000, r=6, noise=0.5, missing=0.1)
    monkeypatch.setattr(threads, "CHUNK", 64)
    one, two = (partita.consensus(ensemble, "mm", 4, threads=count, max_iter=20) for count in (1, 2))
    assert one.trace == two.trace and np.array_equal(one.membership, two.membership)


def test_counts_add_over_rows():
    """Any division of the rows gives the same sums: the law of the row-distributed protocol."""
    ensemble = table(7, n=40)
    params = maximise(softened(ensemble, np.arange(40) % 3, 3), ensemble.offsets, 0.1, unit_weights(ensemble))
    whole = at_site(params, ensemble)
    parts = [at_site(params, ensemble.rows(np.arange(40)[a:b])) for a, b in ((0, 7), (7, 8), (8, 40))]
    together = add_counts(parts)
    assert np.allclose(together.labels, whole.labels, rtol=1e-12)
    assert np.allclose(together.weights, whole.weights, rtol=1e-12)
    assert together.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)


def test_an_impossible_label_is_no_nan():
    """A component that excludes a label gives it probability 0, and the others share the row."""
    ensemble = Ensemble.from_labels([[0, 0], [0, 0], [1, 1], [1, 1], [2, 0]], transpose=False)
    counts = softened(ensemble, np.array([0, 0, 1, 1, 0], np.int32), 2, share=1.0)
    params = maximise(counts, ensemble.offsets, 0.0, unit_weights(ensemble))
    shares, chances = memberships(params, ensemble)
    assert np.isfinite(shares).all() and np.isfinite(chances).all()
    assert shares[0, 1] == 0 and shares[2, 0] == 0


def test_a_trace_of_an_impossible_label_is_impossible():
    """However small the membership: no share above 0 of a label makes a component that excludes it possible."""
    soft = SoftEnsemble.from_memberships([[[1 - 1e-12, 1e-12]], [[0.5, 0.5]]])
    assert soft.matrix[0, 1] > 0
    log_probs = np.array([[np.log(0.5), 0.0], [np.log(0.5), IMPOSSIBLE], [np.log(0.5)] * 2, [np.log(0.5)] * 2])
    params = Mixture(np.log([0.5, 0.5]), log_probs)
    shares, chances = memberships(params, soft)
    assert shares.tolist() == [[1.0, 0.0]] and chances[0] == pytest.approx(3 * np.log(0.5))
    counts = at_site(params, soft)
    assert counts.weights.tolist() == [1.0, 0.0] and not counts.labels[:, 1].any()
    assert counts.log_likelihood == pytest.approx(3 * np.log(0.5))


def test_smoothing_keeps_every_label_possible():
    labels = [[0, 0], [0, 0], [1, 1], [1, 1]]
    plain = partita.consensus(labels, "mm", 2)
    smooth = partita.consensus(labels, "mm", 2, smoothing=0.5)
    assert min(table.min() for table in plain.model.tables) < -50
    assert min(table.min() for table in smooth.model.tables) > np.log(0.5 / 3) - 1e-6


@pytest.mark.parametrize("start", ["spectral", "transfer-cut", "kmeans++", "base", "random"])
def test_every_start_leads_somewhere(start):
    labels, truth = noisy_labels(n=150, r=9, k=3, noise=0.15)
    result = partita.consensus(labels, "mm", 3, init=start, restarts=8)
    assert same_partition(result.labels, truth)
    assert max(result.detail["restart objectives"]) == result.detail["objective"] == result.trace[-1]


def test_stable_labels_end_a_run():
    ensemble = noisy(n=200, noise=0.5)
    early = partita.consensus(ensemble, "mm", 4, stable=3, tol=0)
    late = partita.consensus(ensemble, "mm", 4, tol=0, max_iter=20)
    assert early.converged and len(early.trace) < len(late.trace) and not late.converged
    assert "not converged" in " ".join(late.notes)


@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_a_run_ends_when_the_labels_have_stood_still_so_long(kind):
    """Counted by hand from the labels after every iteration; they change late, and not in the first ones alone."""
    ensemble = noisy(n=200, noise=0.6, missing=0.1, seed=2)
    ensemble = ensemble if kind == "hard" else SoftEnsemble.from_hard(ensemble)
    start = softened(ensemble, (np.arange(len(ensemble)) % 4).astype(np.int32), 4)
    labels = []
    for rounds in range(1, 61):
        run = mm.one_run(ensemble, mm.Params(tol=0, max_iter=rounds), start)
        labels.append(memberships(run.state.params, ensemble)[0].argmax(axis=1))
    for stable in (1, 2, 4):
        still = (all(np.array_equal(labels[t], labels[t - s]) for s in range(1, stable + 1)) for t in range(stable, 60))
        expected = stable + 1 + next(place for place, holds in enumerate(still) if holds)
        run = mm.one_run(ensemble, mm.Params(tol=0, stable=stable), start)
        assert run.converged and len(run.trace) == expected > stable + 2


@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_the_fingerprint_tells_which_row_has_which_leader(kind):
    """Two rows that change places change it, though as many rows as before have each leader."""
    ensemble = Ensemble.from_labels([[0, 0], [1, 1], [0, 0]], transpose=False)
    ensemble = ensemble if kind == "hard" else SoftEnsemble.from_hard(ensemble)
    chances = np.log([[0.9, 0.1], [0.1, 0.9]] * 2)
    params = Mixture(np.log([0.5, 0.5]), chances)
    first, second, again = (at_site(params, ensemble.rows(rows)) for rows in ([0, 1], [1, 0], [2, 1]))
    assert first.leaders != second.leaders and first.leaders == again.leaders
    swapped = at_site(Mixture(params.log_weights, np.ascontiguousarray(chances[:, ::-1])), ensemble.rows([0, 1]))
    assert swapped.leaders == second.leaders


def test_smoothing_has_a_limit():
    with pytest.raises(ParameterError, match=r"smoothing=1e\+100 is out of range; give float >= 0 and <= 1000000"):
        partita.consensus(noisy(), "mm", 4, smoothing=1e100)
    result = partita.consensus(noisy(), "mm", 4, smoothing=1e6)
    assert np.isfinite(result.trace).all() and np.isfinite(result.membership).all()


def test_weights_count_as_copies():
    """A clustering of weight 2 gives the responsibilities that two copies of it give."""
    labels, _ = noisy_labels(n=50, r=3, noise=0.3)
    twice = Ensemble.from_labels(np.column_stack([labels, labels[:, 0]]))
    weighted = Ensemble.from_labels(labels, weights=[2, 1, 1])
    start = (np.arange(50) % 3).astype(np.int32)
    few = maximise(softened(weighted, start, 3), weighted.offsets, 0.0, unit_weights(weighted))
    many = maximise(softened(twice, start, 3), twice.offsets, 0.0, unit_weights(twice))
    heavier = Mixture(few.log_weights, few.log_probs * 4 / 3)  # weights 2, 1, 1 are scaled to 1 on average
    ours = at_site(heavier, weighted)
    theirs = at_site(many, twice)
    assert np.allclose(ours.labels, theirs.labels[: len(ours.labels)], atol=1e-12)
    assert ours.log_likelihood == pytest.approx(theirs.log_likelihood, rel=1e-12)


def test_interruption_keeps_the_best_state(monkeypatch):
    """Ctrl-C in the fifth pass: the state after four, marked as not converged."""
    passes = []

    def interrupted(params: Mixture, part):
        passes.append(1)
        if len(passes) == 5:
            raise KeyboardInterrupt
        return at_site(params, part)

    monkeypatch.setattr(mm, "at_site", interrupted)
    result = partita.consensus(noisy(noise=0.5), "mm", 4, tol=0, restarts=3)
    assert len(result.trace) == 4 and result.converged is False and result.detail["interrupted"]
    assert "interrupted" in " ".join(result.notes)


def test_interruption_before_anything_is_known(monkeypatch):
    def interrupted(params, part):
        raise KeyboardInterrupt

    monkeypatch.setattr(mm, "at_site", interrupted)
    with pytest.raises(KeyboardInterrupt):
        partita.consensus(noisy(), "mm", 4)


@pytest.mark.parametrize(("noise", "least"), [(0.25, 0.985), (0.5, 0.78)])
def test_noise_experiment(noise, least):
    found = []
    for seed in range(10):
        labels, truth = noisy_labels(n=400, r=8, k=10, noise=noise, seed=seed)
        found.append(partita.evaluate(partita.consensus(labels, "mm", 10), truth=truth)["nmi"])
    assert np.mean(found) >= least
