"""Choosing k: the figures by hand, the choice, what can go wrong, and the command."""

import csv
import json
import math
import warnings
from dataclasses import asdict, replace
from itertools import combinations

import numpy as np
import pytest
from typer.testing import CliRunner

import partita
import partita.models.mm
from partita import Ensemble, metrics, select_k
from partita.cli.main import app
from partita.core.consensus import Consensus
from partita.core.errors import MethodError, ParameterError
from partita.datasets import segments_path
from partita.fitting import Asked
from partita.selection.criteria import CRITERIA, choose, figures, message_length
from partita.selection.records import Trial
from partita.selection.stability import agreement, half_subsets, subset_fit
from tests.graph.test_example import ANSWER, TABLE
from tests.samples import noisy, noisy_labels, noisy_soft, same_partition

RUNNER = CliRunner()


def plain(trial):
    """A trial's figures, of the co-association those that are numbers."""
    found = trial.coassociation
    told = asdict(replace(trial, coassociation=None)) | {"pac": trial.pac, "area": trial.area}
    return told if found is None else told | {"mean": found.mean, "pairs": found.pairs}


def slow_figures(ensemble, k, **params):
    """BIC, ICL and message length from the model's own parameters, object by object."""
    result = partita.consensus(ensemble, "mm", k, **params)
    likelihood = entropy = 0.0
    objects, sizes = 0, np.zeros(k)
    for row in ensemble.labels:
        known = [j for j, label in enumerate(row) if label >= 0]
        if not known:
            continue
        scores = [
            math.exp(result.model.bias[c]) * math.prod(math.exp(result.model.tables[j][c, row[j]]) for j in known)
            for c in range(k)
        ]
        likelihood += math.log(sum(scores))
        shares = [score / sum(scores) for score in scores]
        entropy -= sum(share * math.log(share) for share in shares if share > 0)
        sizes += shares
        objects += 1
    each = sum(len(set(column[column >= 0].tolist())) - 1 for column in ensemble.labels.T)
    bic = -2 * likelihood + (k - 1 + k * each) * math.log(objects)
    assert all(size >= 12 for size in sizes)  # where the formula holds as printed
    message = each / 2 * sum(math.log(size / 12) for size in sizes)
    message += k / 2 * math.log(objects / 12) + k * (each + 1) / 2 - likelihood
    return {"log_likelihood": likelihood, "bic": bic, "icl": bic + 2 * entropy, "mml": message}


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_figures_by_hand(missing):
    ensemble = noisy(n=120, r=4, k=3, noise=0.3, missing=missing, seed=1)
    chosen = select_k(ensemble, [1, 2, 3], repeats=0)
    for trial in chosen.trials:
        for name, value in slow_figures(ensemble, trial.k).items():
            assert getattr(trial, name) == pytest.approx(value, rel=1e-6), name
        assert trial.anmi == pytest.approx(metrics.anmi(ensemble, partita.consensus(ensemble, "mm", trial.k).labels))


def test_message_length_of_small_components():
    """A component of a few objects never shortens the message, and one that has died does not count."""
    one = message_length(-100.0, np.array([60.0]), 4)
    assert message_length(-100.0, np.array([59.0, 1.0]), 4) > one
    assert message_length(-100.0, np.array([60.0, 1e-30]), 4) == pytest.approx(one)


def test_figures_of_a_bound():
    detail = {"objective": -70.0, "bound": -50.0, "free parameters": 10, "alpha": (1.0, 1.0)}
    found = figures(Consensus.hard([0, 1], detail=detail), np.array([30.0, 10.0]))
    assert found == {"free_parameters": 10, "bound": -50.0, "penalised_bound": -50.0 - 5 * math.log(40)}
    trials = [Trial(k, k, penalised_bound=value, bound=0.0) for k, value in ((2, -80.0), (3, -60.0), (4, -60.5))]
    choice = choose(trials, "bound")
    assert choice.k == 3 and choice.reason == "the penalised bound is highest at k = 3, 0.5 above k = 4"
    assert "weak evidence" in choice.notes[0]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [2, 4])
def test_planted_k_is_found(seed, k):
    ensemble = noisy(n=200, r=8, k=k, noise=0.25, missing=0.1, seed=seed)
    by_bic = select_k(ensemble, range(1, 7), criterion="bic", repeats=0)
    assert by_bic.k == k == by_bic.consensus.k and by_bic.criterion == "bic"
    assert by_bic.preferred["icl"] == k == by_bic.preferred["covariance"]
    if seed < 2:
        assert select_k(ensemble, range(2, 7), "lwgp", criterion="stability").k == k


@pytest.mark.parametrize("ks", [None, range(2, 7), [3, 4]])
def test_the_default_criterion_is_the_rule_of_consensus(ks):
    ensemble = noisy(n=150, r=6, k=4, noise=0.4)
    usual = partita.consensus(ensemble, "mm", ks)
    chosen = select_k(ensemble, ks, repeats=0)
    assert chosen.criterion == "covariance" and chosen.k == usual.k_asked == 4
    assert chosen.k_choice == usual.k_choice == chosen.consensus.k_choice and chosen.reason == usual.k_choice.reason
    assert np.array_equal(chosen.consensus.labels, usual.labels)
    assert all(0 < trial.covariance < 1 for trial in chosen.trials) and len(chosen.trials) - 4 * (ks is None) <= 5
    other = select_k(ensemble, ks, criterion="bic", repeats=0)
    assert other.consensus.k_choice is None and other.k_choice == usual.k_choice


def test_reason_names_the_runner_up():
    chosen = select_k(noisy(n=200, r=8, k=3), range(2, 6), criterion="bic", repeats=0)
    values = sorted((trial.bic, trial.k) for trial in chosen.trials)
    gap = values[1][0] - values[0][0]
    assert chosen.reason == f"BIC is lowest at k = 3, {gap:.1f} below k = {values[1][1]}"
    assert chosen.reason in repr(chosen)


def test_the_consensus_is_that_of_consensus():
    ensemble = noisy(n=80, r=5, k=3, missing=0.2, seed=3)
    chosen = select_k(ensemble, [2, 3], seed=5, restarts=2, init="random")
    same = partita.consensus(ensemble, "mm", chosen.k, seed=5, restarts=2, init="random")
    assert np.array_equal(chosen.consensus.labels, same.labels) and chosen.consensus.recipe == same.recipe
    assert np.array_equal(chosen.consensus.membership, same.membership, equal_nan=True)


def slow_stability(labellings):
    scores = [metrics.ari(a, b) for a, b in combinations(labellings, 2)]
    return np.mean(scores), np.std(scores, ddof=1)


@pytest.mark.parametrize("method", ["lwgp", "mm"])
def test_stability_by_hand(method):
    """Each half fitted by itself, on the whole table, agrees with what was compared; unknown objects are left out."""
    ensemble = noisy(n=60, r=5, k=3, noise=0.3, missing=0.3, seed=2)
    chosen = select_k(ensemble, [2, 3], method, repeats=6, seed=9)
    fitting = Asked.of(method, {}, 9).on(ensemble)
    names = fitting.work.ensemble.names
    halves = half_subsets(5, 6, partita.core.rng.named(9, "subsets"))
    assert len(set(halves)) == 6 and all(len(half) == 3 for half in halves)
    for trial in chosen.trials:
        labellings = []
        for number, half in enumerate(halves):
            part = ensemble.columns([names[j] for j in half])
            found = fitting.work.expand(subset_fit(fitting, trial.k, half, number).labels, -1)
            assert np.array_equal(found == -1, (part.labels == -1).all(axis=1))
            if method == "lwgp":
                assert metrics.ari(found, partita.consensus(part, method, trial.k, seed=1).labels) > 0.8
            labellings.append(found)
        mean, spread = slow_stability(labellings)
        assert (trial.stability, trial.spread) == pytest.approx((mean, spread)) and trial.subsets == 6


def test_agreement_counts_objects_and_not_rows():
    labellings = [np.array([0, 0, 1, -1]), np.array([0, 1, 1, 0]), np.array([0, 1, 2, 2])]
    counts = np.array([3.0, 1.0, 2.0, 2.0])
    whole = [np.repeat(labels, counts.astype(int)) for labels in labellings]
    assert agreement(labellings, counts) == pytest.approx(slow_stability(whole))
    assert agreement([np.zeros(4, int)] * 3, counts).mean == 0.0
    assert agreement([np.array([0, -1]), np.array([-1, 0])], np.ones(2)) is None


def test_all_halves_of_three_and_none_of_two():
    rng = np.random.default_rng(0)
    assert len(half_subsets(3, 10, rng)) == 3 and half_subsets(2, 10, rng) == [] and half_subsets(9, 1, rng) == []


@pytest.mark.parametrize(
    ("figures_of", "k", "words"),
    [
        ([(2, 0.90, 0.0), (3, 0.80, 0.0)], 2, "0.100 above k = 3"),
        ([(2, 0.90, 0.1), (3, 0.92, 0.1), (4, 0.8, 0.1)], 2, "within one standard error (0.032) of the highest"),
        ([(2, 1.0, 0.0), (4, 1.0, 0.0), (5, 0.9, 0.1)], 4, "as at k = 2, which has fewer clusters"),
        ([(3, 0.5, 0.1)], 3, "only one"),
    ],
)
def test_how_stability_chooses(figures_of, k, words):
    trials = [Trial(k, k, stability=mean, spread=spread, subsets=10) for k, mean, spread in figures_of]
    choice = choose(trials, "stability")
    assert choice.k == k and words in choice.reason


def test_more_asked_than_found_is_no_detail():
    trials = [Trial(k, min(k, 3), stability=1.0, spread=0.0, subsets=10) for k in (2, 3, 4, 5)]
    assert choose(trials, "stability").k == 3


def test_equal_figures_take_the_smaller():
    assert choose([Trial(2, 2, bic=5.0), Trial(3, 3, bic=5.0)], "bic").k == 2
    assert choose([Trial(2, 2)], "bic") is None


@pytest.mark.parametrize("method", ["greedy", "auto", "mm"])
def test_seven_objects_show_why_anmi_must_not_choose(method):
    """The answer has three clusters; ANMI is highest for six clusters of seven objects (MISPRINTS 49)."""
    chosen = select_k(TABLE, range(2, 8), method, criterion="anmi")
    assert chosen.k == 6 and chosen.trials[-1].anmi == pytest.approx(0.7731, abs=5e-5)
    assert any("ANMI alone should not choose k" in note for note in chosen.notes)
    assert any("k = 7 omitted" in note for note in chosen.notes)
    assert not any("larger ones" in note for note in chosen.notes)


def test_seven_objects_by_other_criteria():
    by_stability = select_k(TABLE, range(2, 7), criterion="stability")
    assert by_stability.k == 3 and by_stability.consensus.labels.tolist() == ANSWER
    assert select_k(TABLE, range(2, 7), criterion="mml").k == 3
    assert select_k(TABLE, range(2, 7), criterion="bic").k == 2  # seven objects do not pay for a third component
    assert select_k(TABLE).k == 3 and select_k(TABLE).k_choice.rule == "common k"


@pytest.mark.parametrize("method", ["mm", "lwgp", "auto"])
def test_threads_change_nothing(method):
    ensemble = noisy(n=60, r=5, k=3, noise=0.3, missing=0.1)
    one, two = (select_k(ensemble, [2, 3, 4], method, repeats=4, threads=threads) for threads in (1, 2))
    assert one.trials == two.trials and one.reason == two.reason and one.notes == two.notes
    assert [plain(trial) for trial in one.trials] == [plain(trial) for trial in two.trials]
    assert np.array_equal(one.consensus.labels, two.consensus.labels)


@pytest.mark.parametrize("make", [noisy, noisy_soft])
def test_labels_of_every_k_are_those_of_consensus(make):
    ensemble = make(n=70)
    chosen = select_k(ensemble, [1, 2, 4], repeats=0)
    assert list(chosen.labels) == [1, 2, 4] and not chosen.labels[2].flags.writeable
    with pytest.raises(TypeError, match="belongs to a result"):
        chosen.labels[2] = chosen.labels[4]
    for k, labels in chosen.labels.items():
        assert np.array_equal(labels, partita.consensus(ensemble, "mm", k).labels)


def test_coassociation_of_the_halves_by_hand():
    """Every pair of objects, in every half that knows both: how often they share a cluster of the consensus."""
    ensemble = noisy(n=50, r=5, k=3, noise=0.4, missing=0.4, seed=4)
    chosen = select_k(ensemble, [2, 3], "lwgp", repeats=6, seed=9)
    fitting = Asked.of("lwgp", {}, 9).on(ensemble)
    halves = half_subsets(5, 6, partita.core.rng.named(9, "subsets"))
    for trial in chosen.trials:
        fits = [subset_fit(fitting, trial.k, half, number) for number, half in enumerate(halves)]
        columns = np.stack([fitting.work.expand(fit.labels, -1) for fit in fits], axis=1)
        values = []
        for a, b in combinations(columns[(columns >= 0).any(axis=1)].tolist(), 2):
            known = [x == y for x, y in zip(a, b, strict=True) if x >= 0 and y >= 0]
            values += [np.mean(known)] if known else []
        found = trial.coassociation
        assert found.exact and found.mean == pytest.approx(np.mean(values))
        assert trial.pac == pytest.approx(np.mean([0.1 < value < 0.9 for value in values]))
        shares = [np.mean([value <= edge + 1e-9 for value in values]) for edge in found.edges]
        assert found.cdf == pytest.approx(shares) and trial.area == pytest.approx(sum(shares[1:]) / 100)


def test_how_pac_chooses():
    def trials(*figures_of):
        empty = metrics.coassociation(Ensemble.from_labels([[0], [0]]))
        return [Trial(k, k, coassociation=replace(empty, pac=pac)) for k, pac in figures_of]

    assert choose(trials((2, 0.3), (3, 0.1), (4, 0.2)), "pac").reason == "PAC is lowest at k = 3, 0.100 below k = 4"
    equal = choose(trials((2, 0.0), (3, 0.0), (4, 0.2)), "pac")
    assert equal.k == 3 and equal.reason == "PAC is lowest at k = 3, as at k = 2, which has fewer clusters"
    assert choose([Trial(2, 2)], "pac") is None
    assert select_k(noisy(n=200, r=8, k=4), range(2, 7), criterion="pac").k == 4


def test_order_and_names_change_nothing():
    labels, _ = noisy_labels(n=60, r=5, k=3, noise=0.3)
    order = np.random.default_rng(1).permutation(60)
    one, two = select_k(labels, [2, 3, 4]), select_k(7 - labels[order], [4, 2, 3, 3])
    assert [plain(a) for a in one.trials] == [pytest.approx(plain(b)) for b in two.trials] and one.k == two.k
    assert same_partition(one.consensus.labels[order], two.consensus.labels)


def test_soft_ensembles_and_methods_without_likelihood():
    chosen = select_k(noisy_soft(n=150), range(2, 5))
    assert chosen.k == 3 and chosen.trials[0].stability is not None
    other = select_k(noisy_soft(), range(2, 5), "shbgf")
    assert other.criterion == "covariance" and other.k == 3 and other.trials[0].bic is None


def test_methods_of_methods_have_no_likelihood():
    chosen = select_k(noisy(), [3, 4], "supra", methods=("mm",), repeats=3)
    assert chosen.criterion == "covariance" and chosen.trials[0].bic is None


def test_one_cluster_has_no_stability():
    chosen = select_k(noisy(n=40, r=4), [1, 2, 4], criterion="stability")
    assert chosen.trials[0].stability is None and chosen.k != 1


def test_two_clusterings_have_no_stability():
    labels = noisy(r=2).labels
    chosen = select_k(labels, [2, 3])
    assert chosen.trials[0].stability is None and any("at least three clusterings" in note for note in chosen.notes)
    with pytest.raises(ParameterError, match=r"'stability' needs three clusterings .* there are: covariance, anmi"):
        select_k(labels, [2, 3], "lwgp", criterion="stability")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"criterion": "aic"}, "criterion='aic' is not known; choose one of covariance, bic"),
        (
            {"criterion": "bic", "method": "lwgp"},
            "needs a log-likelihood, .* there are: stability, pac, covariance, anmi",
        ),
        (
            {"criterion": "bound"},
            "needs a variational bound, .* there are: bic, icl, mml, stability, pac, covariance, anmi",
        ),
        ({"criterion": "stability", "repeats": 0}, "repeats >= 2"),
        ({"repeats": -1}, "repeats=-1"),
        ({"repeats": 1.5}, "repeats=1.5"),
        ({"k": [2, 61]}, "k=61 is more than the 49 distinct rows"),
        ({"k": range(70, 80)}, "k = 70 to 79 omitted.* no k is left"),
        ({"k": []}, "no k is left to try"),
        ({"k": [0, 2]}, "k=0 is less than 1"),
        ({"k": [2.5]}, "k=2.5 is not a whole number"),
        ({"k": "2..5"}, "not a list"),
        ({"method": "nothing"}, "no method is called"),
        ({"nonsense": 1}, "mm: unknown parameter 'nonsense'"),
    ],
)
def test_mistakes(options, words):
    with pytest.raises(ParameterError, match=words):
        select_k(noisy(r=9), **options)


def test_a_huge_range_is_cut_and_a_falling_one_turned():
    chosen = select_k(TABLE, range(10**12, 4, -1), repeats=0)
    assert [trial.k for trial in chosen.trials] == [5, 6]
    assert f"k = 7 to {10**12} omitted: the table has only 6 unique rows" in chosen.notes


@pytest.mark.parametrize("ks", [range(1, 10**20), range(10**20 - 1, 0, -1), range(10**20, 10**20 + 3)])
def test_a_range_beyond_machine_numbers_is_refused(ks):
    with pytest.raises(ParameterError, match="more than any table has rows; end the range sooner"):
        select_k(TABLE, ks, repeats=0)


@pytest.mark.parametrize(("ks", "tried", "left"), [(range(2, 9, 3), [2, 5], "8"), (range(2, 12, 3), [2, 5], "8 to 11")])
def test_a_range_with_steps_is_cut(ks, tried, left):
    chosen = select_k(TABLE, ks, repeats=0)
    assert [trial.k for trial in chosen.trials] == tried
    assert f"k = {left} omitted: the table has only 6 unique rows" in chosen.notes


def test_edges_of_the_range_are_told():
    ensemble = noisy(n=200, r=8, k=4)
    for ks, end in (([2, 3], "largest"), ([5, 6], "smallest")):
        by_bic = select_k(ensemble, ks, criterion="bic", repeats=0)
        assert any(f"{end} that was tried" in note for note in by_bic.notes)
        assert any(f"{end} of the given numbers" in note for note in select_k(ensemble, ks, repeats=0).notes)


def mm_that(monkeypatch, act):
    """mm, with something done before a fit."""
    whole = partita.models.mm.METHOD

    def fit(ensemble, k, params, rng):
        act(k, len(ensemble.names))
        return whole.fit(ensemble, k, params, rng)

    monkeypatch.setattr(partita.models.mm, "METHOD", replace(whole, fit=fit))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_k_that_fails_is_told(monkeypatch, threads):
    def act(k, _):
        if k == 3:
            raise MethodError("three is too many")

    mm_that(monkeypatch, act)
    chosen = select_k(noisy(), [2, 3, 4], threads=threads, repeats=2)
    assert [trial.failed for trial in chosen.trials] == ["", "three is too many", ""] and chosen.k == 4
    assert "k = 3 failed: three is too many" in chosen.notes
    with pytest.raises(MethodError, match="no k could be fitted; k = 3: three is too many"):
        select_k(noisy(), [3], threads=threads)


@pytest.mark.parametrize("threads", [1, 2])
def test_interruption_keeps_what_is_finished(monkeypatch, threads):
    def act(k, _):
        if k == 5:
            raise KeyboardInterrupt

    mm_that(monkeypatch, act)
    chosen = select_k(noisy(), range(2, 8), threads=threads, repeats=2)
    assert chosen.interrupted and {2, 3} <= {trial.k for trial in chosen.trials} <= {2, 3, 4, 6, 7}
    assert any(note.startswith("interrupted: k = 5") for note in chosen.notes)
    with pytest.raises(KeyboardInterrupt):
        select_k(noisy(), [5, 6], threads=1)


def test_interrupted_subsets_leave_the_fit(monkeypatch):
    def act(k, clusterings):
        if k == 4 and clusterings < 7:
            raise KeyboardInterrupt

    mm_that(monkeypatch, act)
    chosen = select_k(noisy(r=7), [2, 4, 5], threads=1, repeats=2)
    assert chosen.k == 4 and chosen.trials[1].stability is None and chosen.trials[0].stability is not None
    assert "interrupted: the stability of k = 4 is not known" in chosen.notes
    with pytest.raises(KeyboardInterrupt):
        select_k(noisy(r=7), [4, 5], threads=1, criterion="stability")


def test_an_interrupted_fit_is_not_a_finished_one(monkeypatch):
    """mm keeps its best state when it is interrupted; that k is still not finished, and no other is begun."""
    whole = partita.models.mm.METHOD

    def fit(ensemble, k, params, rng):
        result = whole.fit(ensemble, k, params, rng)
        return replace(result, detail={**result.detail, "interrupted": True}) if k == 3 else result

    monkeypatch.setattr(partita.models.mm, "METHOD", replace(whole, fit=fit))
    chosen = select_k(noisy(), [2, 3, 4], threads=1, repeats=2)
    assert [trial.k for trial in chosen.trials] == [2] and chosen.interrupted


def test_interruption_after_the_last_fit_is_none(monkeypatch):
    """All that was asked for is there, so that nobody needs to hear of it."""
    whole = partita.selection.selecting.map_threads

    def late(*arguments):
        whole(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(partita.selection.selecting, "map_threads", late)
    chosen = select_k(noisy(), [2, 3], repeats=2)
    assert not chosen.interrupted and not any("interrupted" in note for note in chosen.notes)
    assert chosen.trials == select_k(noisy(), [2, 3], repeats=2).trials


def test_not_converged_is_told():
    chosen = select_k(noisy(), [2, 3], repeats=0, max_iter=1)
    assert "k = 2: not converged after 1 iterations; raise max_iter" in chosen.notes


def test_progress_is_reported():
    seen = []
    with partita.core.progress.reporting(lambda *step: seen.append(step)):
        select_k(noisy(), [2, 3], repeats=2, threads=2)
    assert seen[-1] == ("choosing k", 6, 6)


def invoke(*words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RUNNER.invoke(app, ["select-k", *map(str, words)])


SEGMENTS = (segments_path(), "--id", "customer")


def test_command_table_reason_and_csv():
    done = invoke(*SEGMENTS, "--k", "2..6", "--repeats", 3)
    assert done.exit_code == 0 and "recommended" in done.stdout and "BIC" in done.stdout
    assert "recommended: k = 4; 4 of 6 clusterings have exactly 4 clusters" in done.stderr
    assert "by other criteria: bic 4, icl 4" in done.stderr
    rows = list(csv.DictReader(invoke(*SEGMENTS, "--k", "2,4,6", "--repeats", 0, "--csv", "-q").stdout.splitlines()))
    assert [row["k"] for row in rows] == ["2", "4", "6"] and "stability" not in rows[0]
    assert [row["remark"] for row in rows] == ["", "recommended", ""]


def test_command_json_and_files(tmp_path):
    table, picture, record = tmp_path / "t.csv", tmp_path / "curves.png", tmp_path / "t.json"
    words = (*SEGMENTS, "--k", "3..5", "-m", "lwgp", "--repeats", 4, "--criterion", "stability")
    done = invoke(*words, "-o", table, "--plot", picture, "--json", "-q")
    found = json.loads(done.stdout)
    assert done.exit_code == 0 and done.stderr == "" and found["k"] == 4 and found["criterion"] == "stability"
    assert all(0 <= trial["pac"] < 1 and trial["pac_error"] == 0 for trial in found["trials"])
    assert [trial["k"] for trial in found["trials"]] == [3, 4, 5] and found["consensus"]["clusters"] == 4
    assert len(table.read_text().splitlines()) == 4 and picture.read_bytes()[:4] == b"\x89PNG"
    assert invoke(*words, "-o", record).stdout == "" and json.loads(record.read_text()) == found


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--k", "9..4"], "--k 9..4: the range ends before it begins"),
        (["--k", "two"], "--k two: expected a number such as 4, a range such as 2..10"),
        (["--k", "2..x"], "--k 2..x: expected a number"),
        (["--k", "2,,3"], "--k 2,,3: expected a number"),
        (["--k", "400"], "k=400 is more than the 217 distinct rows"),
        (["--k", "0..3"], "k=0 is less than 1"),
        (["--k", "1..99999999999999999999"], "k = 1 to 99999999999999999999 are more than any table has rows"),
        (["--criterion", "aic"], "criterion='aic' is not known"),
        (["--set", "criterion=bic"], "--set criterion=bic"),
        (["-o", "table.txt"], "table.txt: the table is written as .csv or .json"),
        (["--plot", "curves.jpg"], "curves.jpg: the picture is a PNG"),
        (["--plot", "nowhere/curves.png"], "does not exist"),
    ],
)
def test_command_mistakes(words, expected):
    done = invoke(*SEGMENTS, *words)
    assert done.exit_code == 1 and expected in str(done.exception) and done.stdout == ""
    assert "\n" not in str(done.exception)


def test_an_unknown_criterion_is_refused_before_the_file_is_read():
    done = invoke("nowhere.csv", "--criterion", "foo")
    assert done.exit_code == 1 and "criterion='foo' is not known; choose one of covariance" in str(done.exception)


def test_command_interrupted(monkeypatch):
    def act(k, _):
        if k == 4:
            raise KeyboardInterrupt

    mm_that(monkeypatch, act)
    done = invoke(*SEGMENTS, "--k", "2..5", "--repeats", 0, "--threads", 1)
    assert done.exit_code == 130 and "recommended" in done.stdout
    assert "note: interrupted: k = 4, 5 not finished" in done.stderr


def test_command_says_a_note_once():
    done = invoke(*SEGMENTS, "--k", "4", "--repeats", 0, "--set", "max_iter=1")
    assert done.exit_code == 0 and done.stderr.count("not converged") == 1
    assert "note: k = 4: not converged after 1 iterations" in done.stderr


def test_criteria_name_fields():
    assert all(hasattr(Trial(2), rule.field) for rule in CRITERIA.values())


def test_weights_leave_clusterings_out():
    labels = noisy(r=6).labels
    weighted = Ensemble.from_labels(labels, weights=[1, 1, 1, 1, 0, 0], transpose=False)
    part = Ensemble.from_labels(labels[:, :4], transpose=False)
    one, two = select_k(weighted, [3, 4]), select_k(part, [3, 4])
    assert [plain(trial) for trial in one.trials] == [pytest.approx(plain(trial)) for trial in two.trials]
