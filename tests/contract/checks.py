"""What every consensus function must do, by what it claims.

A check is `check_…(name, method)`; `CHECKS` pairs each with the claim that calls for it. A new method is tested without
a new test: `test_methods.py` crosses the registry with this list.
"""

import dataclasses
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

import partita
from partita import Ensemble, SoftEnsemble
from partita.core import threads
from partita.core.consensus import placed
from partita.core.errors import MethodError, ParameterError
from partita.core.method import Method
from partita.federated.coordinate import INITS, Plan
from partita.federated.simulate import simulate
from partita.metrics import anmi
from tests.samples import SHORT_CHAINS, noisy, noisy_labels, noisy_soft, same_partition

K = 4
CITATIONS = (Path(__file__).parents[2] / "CITATION.cff").read_text()


def run(name: str, ensemble, k=K, *, short=True, **options):
    """Fit a method; `short=False` gives samplers their default number of draws, for checks of quality."""
    return partita.consensus(ensemble, name, k, **(SHORT_CHAINS.get(name, {}) if short else {}) | options)


def sample(method: Method, **options):
    """A sample table: with gaps where the method takes them."""
    return noisy(missing=0.15 if method.handles_missing else 0.0, **options)


def check_valid_result(name: str, method: Method) -> None:
    """Labels are numbered by first appearance, memberships and confidence are shares, the trace is finite."""
    result = run(name, sample(method))
    first = [int(np.flatnonzero(result.labels == c)[0]) for c in range(result.k)]
    assert first == sorted(first) and result.labels.min() == 0
    assert 1 <= result.k <= K == result.k_asked
    assert result.confidence is not None
    known = result.confidence[~np.isnan(result.confidence)]
    assert len(known) > 30 and ((known > 0) & (known <= 1)).all()
    assert 0 <= result.scores["anmi"] <= 1
    assert np.isfinite(result.trace).all()
    if result.membership is not None:
        assert np.allclose(result.membership.sum(axis=1), 1) and (result.membership >= 0).all()
        own = result.membership[np.arange(len(result)), result.labels]
        assert np.allclose(own, result.membership.max(axis=1))
    assert not result.labels.flags.writeable


def check_ignores_label_names(name: str, method: Method) -> None:
    """Renaming the clusters inside a base clustering must not change the consensus."""
    labels, _ = noisy_labels(missing=0.15 if method.handles_missing else 0.0)
    renamed = np.where(labels == -1, -1, 7 * labels + 3)
    words = [[None if x == -1 else f"label {9 - x}" for x in row] for row in labels]
    expected = run(name, Ensemble.from_labels(labels, missing=-1)).labels
    assert np.array_equal(run(name, Ensemble.from_labels(renamed, missing=-1)).labels, expected)
    assert np.array_equal(run(name, Ensemble.from_labels(words)).labels, expected)


def check_ignores_column_order(name: str, method: Method) -> None:
    """The order of the base clusterings must not matter."""
    ensemble = sample(method)
    order = np.random.default_rng(5).permutation(len(ensemble.names))
    assert np.array_equal(run(name, ensemble.columns(order)).labels, run(name, ensemble).labels)


def check_ignores_row_order(name: str, method: Method) -> None:
    """f(P X) = P f(X): files are often sorted by class, and that must not turn into score."""
    ensemble = sample(method)
    expected = run(name, ensemble).labels
    for seed in (1, 2):
        order = np.random.default_rng(seed).permutation(len(ensemble))
        assert same_partition(run(name, ensemble.rows(order)).labels, expected[order])
    by_class = np.argsort(expected, kind="stable")
    assert same_partition(run(name, ensemble.rows(by_class)).labels, expected[by_class])


def check_repeated_rows_are_weights(name: str, method: Method) -> None:
    """A row that stands for three objects is the row written three times."""
    ensemble = sample(method, n=40)
    counts = 1 + np.arange(40) % 3
    repeated = np.repeat(np.arange(40), counts)
    assert same_partition(
        run(name, ensemble.with_counts(counts)).labels[repeated], run(name, ensemble.rows(repeated)).labels
    )


def check_compression_changes_nothing(name: str, method: Method) -> None:
    """Distinct rows with multiplicities give what the full table gives."""
    ensemble = sample(method, n=120, r=5, noise=0.1)
    whole, distinct = (run(name, ensemble, compress=compress) for compress in (False, True))
    assert same_partition(whole.labels, distinct.labels)
    assert whole.scores["anmi"] == pytest.approx(distinct.scores["anmi"], abs=1e-12)


def check_balances_object_by_object(name: str, method: Method) -> None:
    """Without compression objects with the same labels may be parted, so that clusters come out nearly equal."""
    labels = np.repeat([[0, 0, 0], [0, 1, 0], [1, 1, 1], [1, 0, 1]], [27, 1, 1, 1], axis=0)
    rows = run(name, Ensemble.from_labels(labels), 2)
    objects = run(name, Ensemble.from_labels(labels), 2, compress=False)
    assert max(rows.sizes) >= 27 and max(objects.sizes) <= 17
    assert run(name, Ensemble.from_labels(labels), 5, compress=False).k == 5


def check_ties_do_not_feel_scale_or_compression(name: str, method: Method) -> None:
    """On small tables full of ties, too, weights count by their ratio and distinct rows give the same answer."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        ensemble = Ensemble.from_labels(rng.integers(3, size=(12, 3)), transpose=False)
        k = min(3, len(ensemble.distinct.first))
        expected = run(name, ensemble, k).labels
        assert same_partition(run(name, ensemble, k, compress=False).labels, expected)
        scaled = dataclasses.replace(ensemble, weights=np.full(3, 4.0))
        assert same_partition(run(name, scaled, k).labels, expected)


def check_ignores_empty_column(name: str, method: Method) -> None:
    """A clustering in which nothing is known adds nothing."""
    labels, _ = noisy_labels(missing=0.15)
    wider = np.column_stack([labels[:, :3], np.full(len(labels), -1), labels[:, 3:]])
    expected = run(name, Ensemble.from_labels(labels, missing=-1)).labels
    assert np.array_equal(run(name, Ensemble.from_labels(wider, missing=-1)).labels, expected)


def check_ignores_weightless_column(name: str, method: Method) -> None:
    """A clustering of weight 0 adds nothing, and only the ratio of weights matters."""
    ensemble = sample(method)
    expected = run(name, ensemble.columns([0, 1, 3, 4, 5, 6])).labels
    weights = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    for scale in (1.0, 4.0):
        weighted = dataclasses.replace(ensemble, weights=scale * weights)
        assert same_partition(run(name, weighted).labels, expected)


def check_marks_objects_without_labels(name: str, method: Method) -> None:
    """An object of which nothing is known gets -1, a NaN membership and a note; the others do not notice it."""
    labels, _ = noisy_labels(missing=0.15)
    with_empty = np.insert(labels, [0, 30], -1, axis=0)
    result = run(name, Ensemble.from_labels(with_empty, missing=-1))
    empty = (with_empty == -1).all(axis=1)
    assert empty.sum() == 2 and np.array_equal(result.labels == -1, empty) and result.unknown == 2
    assert np.isnan(result.confidence[empty]).all()
    assert result.membership is None or np.isnan(result.membership[empty]).all()
    assert any("2 objects" in note for note in result.notes)
    assert same_partition(result.labels[~empty], run(name, Ensemble.from_labels(labels, missing=-1)).labels)


def check_refuses_missing(name: str, method: Method) -> None:
    """A method that cannot take gaps says so."""
    with pytest.raises(MethodError, match="missing labels"):
        run(name, noisy(missing=0.15))


def check_same_seed_same_result(name: str, method: Method) -> None:
    """A seed fixes everything, for one thread and for two, and NumPy's global state is left alone."""
    ensemble = sample(method, n=200)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "CHUNK", 16)
        results = [run(name, ensemble, seed=3, threads=count) for count in (1, 2, 2)]
    for result in results[1:]:
        assert np.array_equal(result.labels, results[0].labels)
        assert result.trace == results[0].trace and dict(result.scores) == dict(results[0].scores)
        assert np.array_equal(result.confidence, results[0].confidence, equal_nan=True)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def check_seed_changes_nothing(name: str, method: Method) -> None:
    """A method that claims to be deterministic gives one answer for all seeds."""
    ensemble = sample(method, noise=0.5)
    assert np.array_equal(run(name, ensemble, seed=1).labels, run(name, ensemble, seed=2).labels)


def check_leaves_input_alone(name: str, method: Method) -> None:
    """The caller's array and the ensemble are as they were."""
    labels, _ = noisy_labels(missing=0.15 if method.handles_missing else 0.0)
    copy = labels.copy()
    ensemble = Ensemble.from_labels(labels, missing=-1)
    fingerprint = ensemble.fingerprint
    run(name, ensemble)
    assert np.array_equal(labels, copy) and labels.flags.writeable
    assert dataclasses.replace(ensemble).fingerprint == fingerprint


def check_returns_unanimous_ensemble(name: str, method: Method) -> None:
    """Clusterings that all say the same are returned as they are."""
    truth = np.random.default_rng(1).permutation(np.arange(48) % K)
    ensemble = Ensemble.from_labels(np.stack([truth, (truth + 1) % K, 3 - truth, truth], axis=1))
    result = run(name, ensemble, short=False)
    assert same_partition(result.labels, truth)
    assert result.scores["anmi"] == pytest.approx(1) and result.confidence.min() > 0.99


def check_finds_the_truth_behind_noise(name: str, method: Method) -> None:
    """Ten percent noise in each of nine copies must not survive."""
    labels, truth = noisy_labels(n=200, r=9, noise=0.1)
    result = run(name, Ensemble.from_labels(labels), short=False)
    assert partita.evaluate(result, truth=truth)["nmi"] > 0.95


def check_extreme_k(name: str, method: Method) -> None:
    """One cluster, and as many as there are distinct rows; more or fewer than one is refused."""
    ensemble = sample(method, n=12)
    rows = len(ensemble.distinct.first)
    assert run(name, ensemble, 1).k == 1
    assert 1 <= run(name, ensemble, rows).k <= rows
    for k in (0, -1, rows + 1, 2.5):
        with pytest.raises(ParameterError, match="k="):
            run(name, ensemble, k)


def check_infers_k(name: str, method: Method) -> None:
    """A method that infers the number of clusters works without it."""
    result = run(name, sample(method), None, short=False)
    assert result.k >= 1 and result.k_asked is None and result.k_choice is None


def check_k_is_chosen(name: str, method: Method) -> None:
    """Every other method gets the k of the default rule, and the result has the choice."""
    result = run(name, sample(method), None)
    assert result.k_asked == result.k_choice.k == K
    assert np.array_equal(result.labels, run(name, sample(method), K).labels)
    assert f"k = {K} was chosen: {result.k_choice.reason}" in result.notes


def check_k_is_chosen_among_several(name: str, method: Method) -> None:
    """Of several numbers of clusters the default rule chooses one."""
    result = run(name, sample(method), range(2, K))
    assert result.k_asked == result.k_choice.k and 2 <= result.k_asked < K


def check_one_cluster(name: str, method: Method) -> None:
    """Independent clusterings are one cluster by every method."""
    labels = np.random.default_rng(0).integers(0, 2, (40, 4))
    result = run(name, Ensemble.from_labels(labels), [1, 2])
    assert result.k == result.k_asked == 1 and result.k_choice.rule == "no structure"


def check_trace_is_monotone(name: str, method: Method) -> None:
    """The objective moves the way the method claims."""
    for seed in range(5):
        trace = np.array(run(name, sample(method, noise=0.6, seed=seed), seed=seed).trace)
        moves = np.diff(trace) * (1 if method.monotone == "rises" else -1)
        assert len(trace) > 0 and (moves >= -1e-9 * np.maximum(1, np.abs(trace[:-1]))).all()


def check_predicts(name: str, method: Method) -> None:
    """New objects with the labels of old ones go where those went."""
    ensemble = sample(method)
    result = run(name, ensemble)
    raw = [[None if c == -1 else ensemble.classes[j][c] for j, c in enumerate(row)] for row in ensemble.labels.tolist()]
    placed = result.predict(raw)
    agreement = (placed == result.labels).mean()
    if result.model.approximate or method.by_estimate:
        assert result.detail["predict agreement"] == pytest.approx(agreement)
        assert any("predict gives" in note for note in result.notes) == (agreement < 0.9)
    else:
        assert agreement == 1 and "predict agreement" not in result.detail
    assert agreement >= (0.9 if method.by_estimate else 0.75)
    assert result.model.approximate == (method.predicts == "approximate") or method.combines
    stranger = [[99] * len(ensemble.names), raw[0]]
    with pytest.warns(partita.PartitaWarning, match=f"{len(ensemble.names)} labels were never seen"):
        assert result.predict(stranger)[0] == -1
    assert np.array_equal(result.predict(ensemble), placed)
    assert np.array_equal(result.predict(SoftEnsemble.from_hard(ensemble)), placed)
    if method.predicts == "memberships":
        for table in (raw, ensemble, SoftEnsemble.from_hard(ensemble)):
            assert np.allclose(result.predict_proba(table), result.membership, atol=0.2 if method.by_estimate else 1e-8)


def check_places_soft_rows(name: str, method: Method) -> None:
    """The memberships a soft ensemble was fitted on are placed where they were; labels are cluster numbers.

    Samplers average memberships over draws and predict by estimates, within the tolerance of `check_predicts`.
    """
    soft = noisy_soft()
    tolerance = 0.2 if method.by_estimate and not method.compresses else 1e-8
    result = run(name, soft, 3)
    agreement = np.mean(result.predict(soft) == result.labels)
    assert agreement >= 0.75 if result.model.approximate else agreement == 1
    assert method.predicts != "memberships" or np.allclose(
        result.predict_proba(soft), result.membership, atol=tolerance
    )
    hard = soft.harden()
    assert np.array_equal(result.predict(hard.labels), result.predict(SoftEnsemble.from_hard(hard)))


def check_model_survives_a_file(name: str, method: Method) -> None:
    """A saved and loaded model gives bit for bit what the fitted one gives."""
    ensemble = sample(method)
    tables = [ensemble, noisy_soft()] if takes_soft(method) else [ensemble]
    for table in tables:
        result = run(name, table, 3)
        with tempfile.TemporaryDirectory() as folder:
            partita.save_model(result, Path(folder) / "model.npz")
            loaded = partita.load_model(Path(folder) / "model.npz")
        assert np.array_equal(loaded.predict(table), result.predict(table)) and loaded.recipe == result.recipe
        assert loaded.approximate == result.model.approximate
        coded, labels = loaded.encode(table), result.labels
        assert np.array_equal(loaded.confidence(coded, labels), result.model.confidence(coded, labels), equal_nan=True)
        if method.predicts == "memberships":
            assert np.array_equal(loaded.predict_proba(table), result.predict_proba(table), equal_nan=True)
        if method.gives_likelihood:
            assert loaded.log_likelihood(table) == result.log_likelihood(table)


def check_gives_likelihood(name: str, method: Method) -> None:
    """Log-probabilities of labels add up over objects; perplexity lies between 1 and that of knowing nothing."""
    ensemble = sample(method, n=200)
    result = run(name, ensemble)
    whole = result.log_likelihood(ensemble)
    halves = [result.log_likelihood(ensemble.rows(part)) for part in (slice(0, 70), slice(70, None))]
    assert whole == pytest.approx(sum(halves)) and np.isfinite(whole)
    assert 1 <= result.perplexity(ensemble) < max(ensemble.sizes)
    assert result.model.likelihood_is_bound == method.likelihood_is_bound
    exact = result.log_likelihood(ensemble, exact=True)
    assert whole < exact if method.likelihood_is_bound else whole == exact
    assert result.perplexity(ensemble, exact=True) <= result.perplexity(ensemble)
    names = {"log likelihood", "perplexity"}
    names = {f"{name} bound" for name in names} if method.likelihood_is_bound else names
    detail = placed(result.model, ensemble).detail
    assert {name for name in detail if "likelihood" in name or "perplexity" in name} == names
    row = next(row for row in partita.methods() if row["name"] == name)
    assert row["likelihood"] == ("bound" if method.likelihood_is_bound else "yes")


def check_gives_no_likelihood(name: str, method: Method) -> None:
    """A model without probabilities says so."""
    result = run(name, sample(method))
    for measure in (result.log_likelihood, result.perplexity):
        with pytest.raises(AttributeError, match=f"{name} gives no probabilities"):
            measure(sample(method))


def check_model_counts_the_training_labels(name: str, method: Method) -> None:
    """The model stores how many training objects of each cluster have each label, and no rows."""
    ensemble = sample(method)
    result = run(name, ensemble)
    for j, table in enumerate(result.model.counts):
        for cluster in range(result.k):
            column = ensemble.labels[result.labels == cluster, j]
            assert np.array_equal(table[cluster], np.bincount(column[column >= 0], minlength=ensemble.sizes[j]))
        assert not table[result.k :].any()


def entries_of(detail, prefix=()):
    """Every sequence in `detail` and in the mappings within it, by its path."""
    found = {}
    for key, value in detail.items():
        if isinstance(value, Mapping):
            found |= entries_of(value, (*prefix, key))
        elif isinstance(value, (tuple, list, np.ndarray)):
            found[(*prefix, key)] = np.asarray(value)
    return found


def per_cluster(name: str, ensemble, ks=(5, 6)) -> list[tuple[str, ...]]:
    """The entries of `detail` with one value per cluster: their length is the number of clusters for every k."""
    lengths = []
    for k in ks:
        result = run(name, ensemble, k)
        entries = entries_of(result.detail)
        lengths.append({path for path, values in entries.items() if len(values) == result.model.width})
    return sorted(set.intersection(*lengths))


def check_cluster_entries_follow_the_numbers(name: str, method: Method) -> None:
    """Entries of `detail` with one value per cluster are in the order of the returned clusters, however numbered."""
    ensemble = noisy(n=40, r=5, k=6, noise=0.15)
    paths = per_cluster(name, ensemble)
    result = run(name, ensemble, 5)
    order = np.argsort(result.labels)[::-1]  # the last cluster appears first
    others = {
        "rows in another order": (run(name, ensemble.rows(order), 5), order),
        "by size": (result.number_by_size(), slice(None)),
        "after a reference": (result.match_to(result.k - 1 - result.labels), slice(None)),
    }
    for text, (other, rows) in others.items():
        number = dict(zip(result.labels[rows].tolist(), other.labels.tolist(), strict=True))
        if text == "after a reference":
            assert number == {c: result.k - 1 - c for c in range(result.k)}
        for path in paths:
            before, after = entries_of(result.detail)[path], entries_of(other.detail)[path]
            for c, new in number.items():
                assert after[new] == pytest.approx(before[c]), (text, path)


def check_draws(name: str, method: Method) -> None:
    """A sampler hands over its draws of all objects, whatever rows it worked on; others have none."""
    ensemble = sample(method)
    draws = run(name, ensemble).draws
    assert (draws is not None) == method.samples
    if draws is not None:
        assert draws.labels.shape == (len(draws), len(ensemble)) and len(draws.chain) == len(draws) > 1
        for row, size in zip(draws.labels.tolist(), draws.sizes, strict=True):
            assert sorted(set(row)) == list(range(size))


def check_takes_soft(name: str, method: Method) -> None:
    """Soft and mixed ensembles are taken."""
    assert run(name, noisy_soft(), 3).k <= 3
    mixed = SoftEnsemble.from_memberships([noisy_soft().block(0), noisy(n=40, k=3).labels[:, 0]])
    assert run(name, mixed, 3).k <= 3


def check_hard_is_soft_with_one_hot_rows(name: str, method: Method) -> None:
    """Hard ensembles as one-hot rows give the same as hard ones."""
    hard = noisy()
    assert np.array_equal(run(name, SoftEnsemble.from_hard(hard)).labels, run(name, hard).labels)


def check_refuses_soft(name: str, method: Method) -> None:
    """A hard method hardens only when asked."""
    with pytest.raises(MethodError, match="harden"):
        run(name, noisy_soft(), 3)
    assert run(name, noisy_soft().harden(), 3).k <= 3


def check_recipe_repeats(name: str, method: Method) -> None:
    """The recipe holds all that is needed to get the same result again."""
    ensemble = sample(method)
    for polish in (False, True):
        repeat(ensemble, run(name, ensemble, seed=None, polish=polish))


def repeat(ensemble, first) -> None:
    recipe = first.recipe
    again = partita.consensus(
        ensemble,
        recipe.method,
        recipe.k,
        seed=recipe.seed,
        compress=recipe.compress,
        polish=recipe.polish,
        **recipe.params,
    )
    assert np.array_equal(again.labels, first.labels) and again.recipe == recipe
    assert recipe.version == partita.__version__ and recipe.fingerprint == ensemble.fingerprint


def check_polish_never_lowers_anmi(name: str, method: Method) -> None:
    """Moving objects while ANMI rises helps every method or leaves it alone, and says what it did."""
    tables = [sample(method, noise=0.6, seed=seed) for seed in range(3)]
    for ensemble in [*tables, noisy_soft()] if takes_soft(method) else tables:
        k = 3 if isinstance(ensemble, SoftEnsemble) else K
        plain, polished = run(name, ensemble, k), run(name, ensemble, k, polish=True)
        assert anmi(ensemble, polished.labels) >= anmi(ensemble, plain.labels) - 1e-12
        assert polished.scores["anmi"] == pytest.approx(anmi(ensemble, polished.labels), abs=1e-12)
        done = polished.detail["polish"]
        assert done["anmi before"] == pytest.approx(plain.scores["anmi"], abs=1e-12)
        assert (done["moves"] == 0) == np.array_equal(polished.labels, plain.labels)
        assert plain.k <= polished.k <= k and polished.model.approximate and polished.membership is None
        assert np.array_equal(partita.polish(ensemble, plain).labels, polished.labels)


def check_any_split_is_the_central_fit(name: str, method: Method) -> None:
    """Rows, or columns, that lie at several sites lead to what they lead to at one."""
    ensemble = noisy(missing=0.15, n=90)
    for layout in method.splits:
        for start in INITS[layout]:
            plan = Plan((), layout, name, K, transport="float", init=start, allow_two_sites=True, seed=3)
            whole = simulate(ensemble, plan, **{layout: 1}).consensus
            for sites in (2, 5):
                split = simulate(ensemble, plan, **{layout: sites}).consensus
                assert np.array_equal(split.labels, whole.labels)
                assert np.allclose(split.trace, whole.trace, rtol=1e-10)
                if whole.membership is not None:
                    assert np.allclose(split.membership, whole.membership, rtol=0, atol=1e-10, equal_nan=True)


def check_cannot_be_split(name: str, method: Method) -> None:
    """A method that claims no split says so."""
    with pytest.raises(MethodError, match="cannot be divided by rows"):
        simulate(noisy(), Plan((), "rows", name, K), rows=3)


def check_params_are_described(name: str, method: Method) -> None:
    """Settings have defaults and meanings, and the method says in a line what it does."""
    row = next(row for row in partita.methods() if row["name"] == name)
    assert len(row["summary"]) > 20 and f"notes: {row['cite']}\n" in CITATIONS
    for field in dataclasses.fields(method.Params):
        assert field.default is not dataclasses.MISSING and field.metadata["meaning"]
    with pytest.raises(ParameterError, match="unknown parameter 'nonsense'"):
        run(name, sample(method), nonsense=1)


def always(method: Method) -> bool:
    return True


def takes_soft(method: Method) -> bool:
    return method.takes is not Ensemble


CHECKS: list[tuple[Callable[[str, Method], None], Callable[[Method], bool]]] = [
    (check_valid_result, always),
    (check_ignores_label_names, always),
    (check_ignores_column_order, always),
    (check_ignores_row_order, always),
    (check_repeated_rows_are_weights, lambda method: method.compresses),
    (check_compression_changes_nothing, lambda method: method.compresses and not method.balanced),
    (check_balances_object_by_object, lambda method: method.balanced),
    (check_ties_do_not_feel_scale_or_compression, lambda method: method.deterministic and method.compresses),
    (check_ignores_empty_column, lambda method: method.handles_missing),
    (check_ignores_weightless_column, always),
    (check_marks_objects_without_labels, lambda method: method.handles_missing),
    (check_refuses_missing, lambda method: not method.handles_missing),
    (check_same_seed_same_result, always),
    (check_seed_changes_nothing, lambda method: method.deterministic),
    (check_leaves_input_alone, always),
    (check_returns_unanimous_ensemble, always),
    (check_finds_the_truth_behind_noise, lambda method: method.sees_through_noise),
    (check_extreme_k, always),
    (check_infers_k, lambda method: method.chooses_k),
    (check_k_is_chosen, lambda method: not method.chooses_k),
    (check_k_is_chosen_among_several, always),
    (check_one_cluster, always),
    (check_trace_is_monotone, lambda method: method.monotone is not None),
    (check_predicts, always),
    (check_places_soft_rows, takes_soft),
    (check_model_survives_a_file, always),
    (check_model_counts_the_training_labels, always),
    (check_gives_likelihood, lambda method: method.gives_likelihood),
    (check_gives_no_likelihood, lambda method: not method.gives_likelihood),
    (check_cluster_entries_follow_the_numbers, always),
    (check_draws, always),
    (check_takes_soft, takes_soft),
    (check_hard_is_soft_with_one_hot_rows, lambda method: method.takes is SoftEnsemble),
    (check_refuses_soft, lambda method: not takes_soft(method)),
    (check_recipe_repeats, always),
    (check_polish_never_lowers_anmi, always),
    (check_any_split_is_the_central_fit, lambda method: bool(method.splits)),
    (check_cannot_be_split, lambda method: not method.splits),
    (check_params_are_described, always),
]
