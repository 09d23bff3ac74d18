"""The graph methods on 20 000 objects, against the packages that offer them and the obvious scikit-learn way."""

import numpy as np

from benchmarks.data import noisy_table
from benchmarks.harness import Case, Contestant
from benchmarks.rivals import answers, rivals_of

CLUSTERS = 10
NOISE = 0.3


def consensus(method: str, **params):
    """The whole call of `partita.consensus`, from the label table to labels for every object."""

    def run(data):
        import partita

        return partita.consensus(data[0], method, k=CLUSTERS, seed=0, **params).labels

    return run


def agreement(found, data) -> dict[str, float]:
    """ANMI with the base clusterings, NMI with the clustering they copy; nothing for the floor."""
    if found is None:
        return {}
    from partita import Ensemble
    from partita.metrics import anmi, nmi

    labels, truth = data
    return {"ANMI": anmi(Ensemble.from_labels(labels), np.asarray(found)), "NMI": nmi(truth, np.asarray(found))}


def small():
    """A table for warming up."""
    return noisy_table(300, noise=NOISE)


def one_hot(labels):
    """The membership matrix, sparse, by objects and clusters."""
    from scipy import sparse
    from sklearn.preprocessing import OneHotEncoder

    return sparse.csr_array(OneHotEncoder(dtype=np.float64).fit_transform(labels))


def plain_mcla(data, k: int = CLUSTERS):
    """Jaccard weights from one sparse product, METIS, mean association, winner: MCLA as one would write it."""
    import pymetis
    from scipy import sparse

    members = one_hot(data[0])
    common = (members.T @ members).tocoo()
    sizes = members.sum(axis=0)
    jaccard = common.data / (sizes[common.row] + sizes[common.col] - common.data)
    weights = np.rint(1000 * jaccard).astype(int)
    kept = (common.row != common.col) & (weights > 0)
    graph = sparse.csr_array((weights[kept], (common.row[kept], common.col[kept])), shape=common.shape)
    neighbours = pymetis.CSRAdjacency(graph.indptr, graph.indices)
    _, groups = pymetis.part_graph(k, adjacency=neighbours, eweights=graph.data)
    collected = np.eye(k)[np.asarray(groups)]
    return np.argmax(members @ (collected / np.maximum(collected.sum(axis=0), 1)), axis=1)


def cluster_weights(members, r: int, theta: float = 0.4):
    """The ensemble-driven cluster index of LWGP from one sparse product."""
    common = (members.T @ members).toarray()
    shares = common / np.diag(common)[:, None]
    terms = shares * np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.exp(terms.sum(axis=1) / (theta * r))


def plain_lwgp(data, k: int = CLUSTERS):
    """The transfer cut with SciPy's dense eigensolver and scikit-learn's k-means."""
    from scipy import sparse
    from scipy.linalg import eigh
    from sklearn.cluster import KMeans

    members = one_hot(data[0])
    edges = members @ sparse.diags_array(cluster_weights(members, data[0].shape[1]))
    across = sparse.diags_array(1 / edges.sum(axis=1)) @ edges
    weights = (edges.T @ across).toarray()
    scale = 1 / np.sqrt(weights.sum(axis=1))
    t = len(scale)
    _, vectors = eigh(scale[:, None] * weights * scale, subset_by_index=(t - k, t - 1))
    points = across @ (scale[:, None] * vectors)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return KMeans(k, n_init=3, random_state=0).fit_predict(points)


def coclustering(data, k: int = CLUSTERS):
    """scikit-learn's SpectralCoclustering of the objects-by-clusters matrix."""
    from sklearn.cluster import SpectralCoclustering

    return SpectralCoclustering(k, random_state=0).fit(one_hot(data[0])).row_labels_


def coassociation_distance(labels):
    """One minus the share of clusterings in which two objects are together, dense."""
    members = one_hot(labels).astype(np.float32)
    shares = (members @ members.T).toarray()
    shares /= -labels.shape[1]
    shares += 1
    return shares


def scipy_linkage(data, k: int = CLUSTERS):
    """SciPy's average linkage of the co-association distances."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    return fcluster(linkage(squareform(coassociation_distance(data[0]), checks=False), "average"), k, "maxclust")


def best_base(data):
    """The base clustering that agrees best with all: what a consensus must beat to have been worth its time."""
    from partita import Ensemble
    from partita.metrics import anmi

    ensemble = Ensemble.from_labels(data[0])
    return max(data[0].T, key=lambda column: anmi(ensemble, column))


def recounting_greedy(data):
    """The same moves with ANMI computed anew for every one, as the paper did: tables counted by NumPy."""
    labels = data[0]
    ensemble_like = [np.unique(column, return_inverse=True)[1] for column in labels.T]

    def score(chosen):
        return np.mean([plain_nmi(column, chosen) for column in ensemble_like])

    chosen = max(ensemble_like, key=score).copy()
    best, moved = score(chosen), True
    while moved:
        moved = False
        for i in range(len(chosen)):
            own = chosen[i]
            tried = []
            for cluster in range(CLUSTERS):
                chosen[i] = cluster
                tried.append(score(chosen))
            winner = int(np.argmax(tried))
            gain = tried[winner] > best + 1e-13
            chosen[i] = winner if gain else own
            best, moved = (tried[winner], True) if gain else (best, moved)
    return chosen


def plain_nmi(a, b):
    """NMI from the contingency table, counted anew."""
    table = np.bincount(a * CLUSTERS + b, minlength=CLUSTERS * CLUSTERS).reshape(CLUSTERS, CLUSTERS) / len(a)

    def entropy(shares):
        shares = shares[shares > 0]
        return -(shares * np.log(shares)).sum()

    own, other = entropy(table.sum(axis=0)), entropy(table.sum(axis=1))
    return (own + other - entropy(table.ravel())) / np.sqrt(own * other)


PEERS = {
    "hgpa": (
        Contestant("partita hgpa, objective cut", consensus("hgpa", objective="cut"), small),
        Contestant("best base clustering, no consensus", best_base, small),
    ),
    "mcla": (Contestant("SciPy product + pymetis", plain_mcla, small),),
    "hbgf": (Contestant("scikit-learn SpectralCoclustering", coclustering, small),),
    "lwgp": (
        Contestant("NumPy/SciPy transfer cut", plain_lwgp, small),
        Contestant("scikit-learn SpectralCoclustering", coclustering, small),
    ),
    "eac": (Contestant("SciPy average linkage", scipy_linkage, small),),
}
REPEATS = {"cspa": 2, "hgpa": 1, "eac": 0}
OURS = {"eac": {"linkage": "average"}}


def graph_case(method: str, n: int = 20_000) -> Case:
    """One method on n objects, 20 clusterings, 10 clusters, 30 % noise."""
    ours = Contestant(f"partita {method}", consensus(method, **OURS.get(method, {})), small)
    return Case(
        method,
        f"{method} of {n} x 20 labels, {CLUSTERS} clusters, {NOISE:.0%} noise, from the table to the labels",
        lambda: noisy_table(n, k=CLUSTERS, noise=NOISE),
        (ours, *PEERS.get(method, ()), *rivals_of(method, CLUSTERS)),
        agreement,
        repeats=REPEATS.get(method, 5),
    )


def unique_rows(n: int = 20_000):
    """(n, 8) label rows that all differ, 10 % noise, and the clustering they copy."""
    labels, truth = noisy_table(10 * n, r=8, k=CLUSTERS, noise=0.1)
    first = np.sort(np.unique(labels, axis=0, return_index=True)[1])[:n]
    return labels[first], truth[first]


SHARES = (0.1, 0.2, 0.3, 0.5)
SEEDS = 10


def noisy_copies():
    """Ten tables for each share of noise: 8 noisy copies of a labelling of 400 objects, uniform over 10 clusters."""
    from partita.generate.noise import noisy

    tables = []
    for share in SHARES:
        for seed in range(SEEDS):
            rng = np.random.default_rng(seed)
            truth = rng.integers(CLUSTERS, size=400)
            tables.append((np.asarray(noisy(truth, 8, share, rng).labels), truth))
    return tables


def on_each_table(**params):
    """HGPA with the given settings on every table, balanced object by object."""

    def run(tables):
        import partita

        return [partita.consensus(table, "hgpa", CLUSTERS, compress=False, **params).labels for table, _ in tables]

    return run


def rival_on_each_table(tables):
    """ClusterEnsembles on every table; wall time includes the start of its process."""
    found = [
        answer.value for answer in answers("ClusterEnsembles", "hgpa", [(t, CLUSTERS) for t, _ in tables], 60, 300)
    ]
    if len(found) < len(tables) or any(value is None for value in found):
        raise RuntimeError("ClusterEnsembles did not answer every table")
    return found


def mean_nmi(found, tables):
    """Mean NMI with the planted labels for each share of noise."""
    from partita.metrics import nmi

    scores = np.reshape([nmi(truth, labels) for labels, (_, truth) in zip(found, tables, strict=True)], (-1, SEEDS))
    return {f"NMI, noise {share}": float(row.mean()) for share, row in zip(SHARES, scores, strict=True)}


def size_case(name: str, n: int, methods: tuple[str, ...], allowed: float, limit: float) -> Case:
    """Several methods on a table too large for any rival: whole-process memory against what is allowed."""
    return Case(
        name,
        f"{n} x 20 labels, {CLUSTERS} clusters, {NOISE:.0%} noise",
        lambda: noisy_table(n, k=CLUSTERS, noise=NOISE),
        tuple(Contestant(f"partita {method}", consensus(method), small) for method in methods),
        agreement,
        repeats=0,
        floor=Contestant("floor: sum of the same bytes", lambda data: data[0].sum() and None),
        limit=limit,
        allowed=allowed,
        on_request=True,
        ratios=False,
    )


CASES = [
    Case(
        "greedy",
        f"greedy search of 400 x 8 labels, {CLUSTERS} clusters, 50% noise, until no move raises ANMI",
        lambda: noisy_table(400, r=8, k=CLUSTERS, noise=0.5),
        (
            Contestant("partita greedy", consensus("greedy"), small),
            Contestant("NumPy, ANMI anew for every move", recounting_greedy),
        ),
        agreement,
        repeats=2,
    ),
    *(graph_case(method) for method in ("cspa", "hgpa", "mcla", "hbgf", "lwgp", "eac")),
    Case(
        "hgpa-unique",
        f"hgpa of 20000 unique rows x 8 labels, {CLUSTERS} clusters, 10% noise; limit 5 s on two idle cores",
        unique_rows,
        (
            Contestant("partita hgpa", consensus("hgpa"), small),
            *(rival for rival in rivals_of("hgpa", CLUSTERS) if rival.name == "ClusterEnsembles"),
        ),
        agreement,
        repeats=1,
    ),
    Case(
        "hgpa-objectives",
        f"hgpa of 40 tables of 400 x 8 labels, {CLUSTERS} clusters: mean NMI with the planted labels",
        noisy_copies,
        (
            Contestant("km1, bisection (default)", on_each_table()),
            Contestant("km1, direct", on_each_table(mode="direct")),
            Contestant("cut, bisection", on_each_table(objective="cut")),
            Contestant("cut, direct", on_each_table(objective="cut", mode="direct")),
            Contestant("cut, bisection, init=base", on_each_table(objective="cut", init="base")),
            Contestant("ClusterEnsembles", rival_on_each_table, outside=True),
        ),
        mean_nmi,
        repeats=0,
    ),
    size_case("graph-large", 200_000, ("mcla", "lwgp", "hbgf", "cspa", "hgpa"), 2000, 300),
    size_case("graph-huge", 10**7, ("voting", "mcla", "lwgp", "hbgf"), 8000, 900),
]
