"""Runs ours, and what one would write with SciPy and scikit-learn, as `adapter.py` runs a rival: the same words."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Solver = Callable[[np.ndarray, str, int], Any]


def ours(**settings: Any) -> Solver:
    """The whole call of `partita.consensus`, from the label table to the labels."""

    def solve(labels: np.ndarray, method: str, k: int) -> Any:
        import partita

        found = partita.consensus(labels, method, k, seed=0, **settings)
        return found.labels, {"clusters": float(len(np.unique(found.labels)))}

    return solve


def representative(labels: np.ndarray, method: str, k: int) -> Any:
    """The search of `partita.summarise`: the partition of least expected loss, the clusterings taken as draws."""
    from partita import Draws
    from partita.posterior.point import best_partition

    found = best_partition(Draws.of(labels.T), method, rng=np.random.default_rng(0))  # type: ignore[arg-type]
    return found.labels, {"expected loss": found.loss}


def recipe(case: str, name: str, *settings: Any) -> Solver:
    """A contestant of a case, told the number of clusters; with settings, the function that they make."""

    def solve(labels: np.ndarray, method: str, k: int) -> Any:
        from importlib import import_module

        run = getattr(import_module(f"benchmarks.cases.{case}"), name)
        return (run(*settings) if settings else run)((labels, None), k)

    return solve


OWN: dict[str, Solver] = {
    "partita": ours(),
    "partita search": representative,
    "partita, cut": ours(objective="cut"),
    "partita, one chain": ours(chains=1, burn_in=96, draws=4, init="random"),
    "SciPy product + pymetis": recipe("graph", "plain_mcla"),
    "NumPy/SciPy transfer cut": recipe("graph", "plain_lwgp"),
    "SciPy average linkage": recipe("graph", "scipy_linkage"),
    "scikit-learn SpectralCoclustering": recipe("graph", "coclustering"),
    "scikit-learn KMeans, one-hot": recipe("mixture", "one_hot_kmeans", 1, True),
    "scikit-learn KMeans, one-hot, sparse": recipe("mixture", "one_hot_kmeans", 1, False),
    "scikit-learn LDA": recipe("mixture", "ten_passes_of_lda", None),
}
"""What runs in the Python that runs the benchmarks, by name."""


if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1])]
    from benchmarks import adapter

    adapter.MODULES.update({name: ("partita",) if name.startswith("partita") else ("sklearn",) for name in OWN})
    adapter.main(sys.argv[1:], OWN)
