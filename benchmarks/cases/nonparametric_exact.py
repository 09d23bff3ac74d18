"""Nonparametric Bayesian cluster ensembles on tables so small that every assignment can be counted."""

import numpy as np

from benchmarks.harness import Case, Contestant

OBJECTS, CLUSTERS, TABLES = 6, 3, 12
ALPHA, BETA = 1.0, 0.5


def tables(clusterings: int, noise: float):
    """Noisy copies of two groups of three objects, labels 0 and 1; each with a label missing."""

    def make():
        found = []
        for seed in range(TABLES):
            rng = np.random.default_rng(seed)
            truth = np.arange(OBJECTS) % 2
            labels = np.where(rng.random((OBJECTS, clusterings)) < noise, 1 - truth[:, None], truth[:, None])
            labels[:2] = [[0], [1]]
            labels[int(rng.integers(2, OBJECTS)), int(rng.integers(clusterings))] = -1
            found.append(labels)
        return found

    return make


def ensemble_of(labels):
    """The table as it is, row by row."""
    from partita import Ensemble

    return Ensemble.from_labels(labels, missing=-1, transpose=False)


def variational(name: str, prior: str, **settings):
    """The chances of all K components in every object, with the concentrations fixed."""

    def run(data):
        from partita.models import nbce_cvb, nbce_vb
        from partita.models.mixture import memberships
        from partita.models.nbce_bound import Hyper
        from partita.models.nbce_start import begin

        module = {"nbce-vb": nbce_vb, "nbce-cvb": nbce_cvb}[name]
        params = module.Params(
            prior=prior, alpha=ALPHA, beta=BETA, learn_alpha=False, learn_beta=False, tol=1e-9, **settings
        )
        hyper = Hyper(prior, CLUSTERS, ALPHA, BETA)
        answers = []
        for labels in data:
            ensemble = ensemble_of(labels)
            runs = [
                module.one_run(ensemble, params, hyper, begin(ensemble, hyper, start, np.random.default_rng(0)))
                for start in ("kmeans++", "random", "base")
            ]
            best = max(runs, key=lambda found: found.trace[-1])
            state = best.state
            gamma = memberships(state.mixture, ensemble)[0] if name == "nbce-vb" else state.gamma
            copies = state.columns.copies if name == "nbce-vb" else state.copies
            whole = np.repeat(gamma / copies, copies.astype(int), axis=1)
            answers.append((np.pad(whole, ((0, 0), (0, CLUSTERS - whole.shape[1]))), best.trace[-1]))
        return prior, answers

    return run


def sampled(prior: str):
    """The draws of nbce-gibbs, with the concentrations fixed."""

    def run(data):
        import partita

        fixed = {"alpha": ALPHA, "beta": BETA, "learn_alpha": False, "learn_beta": False}
        answers = []
        for labels in data:
            result = partita.consensus(
                ensemble_of(labels), "nbce-gibbs", CLUSTERS, prior=prior, draws=2500, compress=False, **fixed
            )
            answers.append((result.draws.labels, np.nan))
        return prior, answers

    return run


def together(answer):
    """(n, n) the chance that two objects are together, and the expected number of clusters."""
    if answer.dtype.kind == "f":
        found = answer @ answer.T
        np.fill_diagonal(found, 1.0)
        return found, float((1 - np.prod(1 - answer, axis=0)).sum())
    found = np.mean([np.equal.outer(row, row) for row in answer], axis=0)
    return found, float(np.mean([len(set(row.tolist())) for row in answer]))


def against_exact(result, data) -> dict[str, float]:
    """Means over the tables: the worst pair's error, the error of the number of clusters, what the bounds lack."""
    from tests.models.nbce_oracle import Exact

    prior, answers = result
    rows = []
    for labels, (answer, bound) in zip(data, answers, strict=True):
        exact = Exact(labels, [2] * labels.shape[1], CLUSTERS, ALPHA, BETA, prior)
        pairs, number = together(answer)
        collapsed = exact.collapsed_bound(answer) if answer.dtype.kind == "f" else np.nan
        rows.append(
            (
                np.abs(pairs - exact.co_clustering()).max(),
                number - exact.numbers() @ np.arange(CLUSTERS + 1),
                exact.log_evidence - bound,
                exact.log_evidence - collapsed,
            )
        )
    error, number, gap, collapsed = np.mean(rows, axis=0)
    return {
        "co-clustering error": error,
        "clusters too many": number,
        "evidence less bound": gap,
        "evidence less collapsed bound": collapsed,
    }


def ways() -> tuple[Contestant, ...]:
    """Every way of inference under both priors."""
    found = []
    for prior in ("tsb", "fsd"):
        found += [
            Contestant(f"{prior}: nbce-gibbs", sampled(prior)),
            Contestant(f"{prior}: nbce-vb", variational("nbce-vb", prior)),
            Contestant(f"{prior}: nbce-cvb, first order", variational("nbce-cvb", prior, order=1)),
            Contestant(f"{prior}: nbce-cvb, second order", variational("nbce-cvb", prior, order=2)),
        ]
    return tuple(found)


CASES = [
    Case(
        f"nonparametric-exact-{name}",
        f"{TABLES} tables of {OBJECTS} objects, {clusterings} clusterings with {round(100 * noise)} % noise, "
        f"K = {CLUSTERS}: error against enumeration",
        tables(clusterings, noise),
        ways(),
        against_exact,
        repeats=0,
    )
    for name, clusterings, noise in (("clear", 8, 0.1), ("unclear", 4, 0.3))
]
