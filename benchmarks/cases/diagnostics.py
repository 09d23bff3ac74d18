"""Diagnostics of a consensus: linear against the matrix of all pairs."""

import time
from typing import Any

import numpy as np

from benchmarks.data import noisy_table
from benchmarks.harness import Case, Contestant, Reported

OBJECTS, SMALL = 10**6, 4000
MEGABYTES = 3000.0


def labels_and_consensus(n: int, r: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """A label table with a fifth of the labels wrong, and the clustering that it copies."""
    return noisy_table(n, r, noise=0.2)


def ours(data: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
    """partita.diagnose, with the ensemble built, and the heatmap's blocks."""
    import partita
    from partita.metrics import block_matrix

    labels, consensus = data
    ensemble = partita.Ensemble.from_labels(labels)
    found = partita.diagnose(ensemble, consensus)
    blocks = np.arange(len(consensus)) * 200 // len(consensus)
    return {
        "mean item-consensus": float(found.items.own.mean()),
        "mean silhouette": float(found.items.silhouette.mean()),
        "PAC": found.coassociation.pac,
        "PAC error": found.coassociation.pac_error,
        "mean of 200 x 200 blocks": float(block_matrix(ensemble, blocks).mean()),
        "mean agreement": float(found.agreement.matrix.mean()),
    }


def pairs_of_clusterings(labels: np.ndarray) -> float:
    """The mean NMI of each two clusterings by scikit-learn, which is linear in the objects."""
    from sklearn.metrics import normalized_mutual_info_score

    scores = [normalized_mutual_info_score(a, b, average_method="geometric") for a in labels.T for b in labels.T]
    return float(np.mean(scores))


def everything(data: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
    """All diagnostics in NumPy and scikit-learn."""
    return all_pairs(data) | {"mean agreement": pairs_of_clusterings(data[0])}


def all_pairs(data: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
    """The same from the n x n matrix of co-association, in NumPy, as the packages that hold it do."""
    labels, consensus = data
    n, r = labels.shape
    share = np.zeros((n, n), np.float32)
    for column in labels.T:
        share += column[:, None] == column
    share /= r
    members = np.eye(consensus.max() + 1, dtype=np.float32)[consensus]
    sizes = members.sum(axis=0)
    items = share @ members
    rows = np.arange(n)
    own = (items[rows, consensus] - 1) / (sizes[consensus] - 1)
    others = items / sizes
    others[rows, consensus] = -1.0
    a, b = 1 - own, 1 - others.max(axis=1)
    values = share[np.triu_indices(n, 1)]
    blocks = np.eye(200, dtype=np.float32)[np.arange(n) * 200 // n]
    sums, counts = blocks.T @ share @ blocks, blocks.sum(axis=0)
    pairs = np.outer(counts, counts) - np.diag(counts)
    return {
        "mean item-consensus": float(own.mean()),
        "mean silhouette": float(((b - a) / np.maximum(a, b)).mean()),
        "PAC": float(np.mean((values > 0.1 + 1e-6) & (values < 0.9 - 1e-6))),
        "PAC error": 0.0,
        "mean of 200 x 200 blocks": float(((sums - np.diag(counts)) / pairs).mean()),
    }


def extrapolated(data: tuple[np.ndarray, np.ndarray]) -> Any:
    """The first 4000 objects: pairs times the square of how many more there are, the rest in proportion.

    Memory is that of the matrix alone, in float32.
    """
    labels, consensus = data
    begin = time.perf_counter()
    all_pairs((labels[:SMALL], consensus[:SMALL]))
    middle = time.perf_counter()
    pairs_of_clusterings(labels[:SMALL])
    end, times = time.perf_counter(), len(labels) / SMALL
    wall = (middle - begin) * times**2 + (end - middle) * times
    return Reported(wall=wall, processor=wall, memory=4 * len(labels) ** 2 / 1e6)


def figures(result: Any, data: Any) -> dict[str, float]:
    """What must agree, where it was computed."""
    return result if isinstance(result, dict) else {}


def floor(data: tuple[np.ndarray, np.ndarray]) -> float:
    """Read the table once."""
    return float(data[0].sum())


CASES = [
    Case(
        "diagnostics",
        f"all diagnostics of 10^6 objects, 20 clusterings, 10 clusters; allowed 60 s and {MEGABYTES:.0f} MB",
        lambda: labels_and_consensus(OBJECTS),
        (
            Contestant("partita diagnose", ours, lambda: labels_and_consensus(60_000)),
            Contestant(f"n x n, extrapolated from {SMALL}", extrapolated),
        ),
        figures,
        repeats=1,
        floor=Contestant("floor: sum the table", floor),
        allowed=MEGABYTES,
    ),
    Case(
        "diagnostics-small",
        f"the same of {SMALL} objects, where all pairs still fit",
        lambda: labels_and_consensus(SMALL),
        (
            Contestant("partita diagnose", ours, lambda: labels_and_consensus(100)),
            Contestant("n x n in NumPy", everything, lambda: labels_and_consensus(400)),
        ),
        figures,
        repeats=3,
        floor=Contestant("floor: sum the table", floor),
    ),
]
