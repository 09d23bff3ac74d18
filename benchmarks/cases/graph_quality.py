"""How good the methods' answers are: the noise and soft-ensemble experiments of the papers, and public pools."""

import numpy as np

from benchmarks.harness import Case, Contestant
from partita.core.errors import FileError
from partita.datasets.folder import VARIABLE
from partita.datasets.pools import load_pool, pool_path

METHODS = ("cspa", "hgpa", "mcla", "hbgf", "lwgp", "eac", "voting", "greedy", "supra", "auto")
METHODS += ("mm", "qmi", "itk", "bce-vb", "bce-gibbs")
PAIRS = (("cspa", "scspa"), ("mcla", "smcla"), ("hbgf", "shbgf"))
LEVELS = (0.1, 0.25, 0.5)
SETS = ("pd", "usps", "lr", "mnist")


def score(ensemble, method: str, truth, seed: int) -> float:
    """NMI of a method's labels with the truth, told the true number of clusters."""
    import partita
    from partita.metrics import nmi

    return nmi(truth, partita.consensus(ensemble, method, k=int(truth.max()) + 1, seed=seed).labels)


def noisy_copies(level: float, seed: int, n: int = 400, r: int = 8, k: int = 10):
    """Copies of k equal groups, each with a share of its labels drawn anew (Strehl and Ghosh 2002, section 4.2)."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % k)
    labels = np.repeat(truth[:, None], r, axis=1)
    for column in labels.T:
        replaced = rng.permutation(n)[: round(level * n)]
        column[replaced] = rng.integers(k, size=len(replaced))
    return labels, truth


def noise_draws(draws: int = 10, n: int = 400):
    """Per noise level, the tables of all draws."""
    return {f"noise {level}": [noisy_copies(level, seed, n) for seed in range(draws)] for level in LEVELS}


def no_pools() -> str:
    """Why the pools cannot be read."""
    try:
        for name in SETS:
            pool_path(name)
    except FileError as error:
        return str(error)
    return ""


def pool_draws(draws: int = 10):
    """Per public pool, ten columns at random in each draw."""
    rng, found = np.random.default_rng(0), {}
    for name in SETS:
        pool = load_pool(name)
        labels = pool.ensemble.labels
        columns = (rng.permutation(labels.shape[1])[:10] for _ in range(draws))
        found[name] = [(labels[:, chosen], pool.truth) for chosen in columns]
    return found


def mean_scores(method: str):
    """Per group of tables, the mean NMI of the method."""

    def run(groups):
        return {
            name: float(np.mean([score(labels, method, truth, seed) for seed, (labels, truth) in enumerate(tables)]))
            for name, tables in groups.items()
        }

    return run


def gaussians(rng, n: int = 1000, d: int = 8, k: int = 5):
    """A sample like 8D5K: k groups around points of the unit cube, standard deviation 0.1."""
    truth = rng.permutation(np.arange(n) % k)
    return rng.random((k, d))[truth] + 0.1 * rng.standard_normal((n, d)), truth


def posterior_ensembles(features=(2, 3, 4), draws: int = 10, r: int = 10, n: int = 1000):
    """Per number of features, ensembles of Gaussian-mixture posteriors, each on its own random features."""
    from sklearn.mixture import GaussianMixture

    from partita import SoftEnsemble

    rng, found = np.random.default_rng(0), {}
    for taken in features:
        found[taken] = []
        for _ in range(draws):
            points, truth = gaussians(rng, n)
            views = [points[:, rng.permutation(points.shape[1])[:taken]] for _ in range(r)]
            mixtures = [GaussianMixture(5, random_state=int(rng.integers(2**31))) for _ in views]
            shares = [mixture.fit(view).predict_proba(view) for mixture, view in zip(mixtures, views, strict=True)]
            found[taken].append((SoftEnsemble.from_memberships(shares), truth))
    return found


def soft_and_hard(hard: str, soft: str):
    """Per number of features, the NMI of the hard method on hardened posteriors and of the soft on the posteriors."""

    def run(groups):
        return {
            taken: [(score(e.harden(), hard, truth, 0), score(e, soft, truth, 0)) for e, truth in ensembles]
            for taken, ensembles in groups.items()
        }

    return run


def gain(result, data) -> dict[str, float]:
    """Mean NMI of both forms and the geometric mean ratio soft : hard, above 1 where soft is better."""
    from partita.metrics import gmr

    every = np.concatenate([np.array(pairs) for pairs in result.values()])
    ratios = {f"GMR {taken} features": gmr(*np.array(pairs).T) for taken, pairs in result.items()}
    return {"hard NMI": every[:, 0].mean(), "soft NMI": every[:, 1].mean(), **ratios, "GMR": gmr(*every.T)}


def noise_case(draws: int = 10, n: int = 400) -> Case:
    """The controlled experiment of Strehl and Ghosh."""
    return Case(
        "noise",
        f"{n} objects, 10 groups, 8 copies with labels replaced: mean NMI with the original over {draws} draws",
        lambda: noise_draws(draws, n),
        tuple(Contestant(method, mean_scores(method)) for method in METHODS),
        lambda result, data: result,
        repeats=0,
        ratios=False,
    )


def soft_case(draws: int = 10, n: int = 1000) -> Case:
    """The comparison of Punera and Ghosh on a sample like 8D5K."""
    return Case(
        "soft-gmr",
        f"posteriors of 10 Gaussian mixtures on random features of {n} points in 8 dimensions, 5 groups, {draws} "
        "ensembles for each number of features",
        lambda: posterior_ensembles(draws=draws, n=n),
        tuple(Contestant(f"{soft} : {hard}", soft_and_hard(hard, soft)) for hard, soft in PAIRS),
        gain,
        repeats=0,
        ratios=False,
    )


CASES = [
    noise_case(),
    soft_case(),
    Case(
        "pools",
        f"public pools in {VARIABLE}, 10 random columns, true k: mean NMI over 10 draws",
        pool_draws,
        tuple(Contestant(method, mean_scores(method)) for method in METHODS),
        lambda result, data: result,
        repeats=0,
        limit=1200,
        on_request=True,
        ratios=False,
        lacking=no_pools,
    ),
]
