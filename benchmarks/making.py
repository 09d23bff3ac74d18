"""How well ensembles from features do: `python -m benchmarks.making [SEEDS]` prints the table of docs/generate.md."""

import sys

import numpy as np

import partita
from partita.datasets import load

DATA = ("iris", "wine", "wdbc", "glass", "ecoli", "halfrings", "two_spirals", "segmentation", "pendigits")
WAYS = {
    "k-means, k": ("restarts", "lwgp", lambda k: {"k": k}),
    "k-means, k..4k": ("restarts", "lwgp", lambda k: {"k": (k, 4 * k)}),
    "uspec, 50-200 %": ("uspec", "lwgp", lambda k: {"k": k, "vary": True}),
    "uspec, k..4k": ("uspec", "lwgp", lambda k: {"k": (k, 4 * k)}),
    "uspec, k..4k, auto": ("uspec", "auto", lambda k: {"k": (k, 4 * k)}),
    "uspec, k..4k, 1000 landmarks": ("uspec", "lwgp", lambda k: {"k": (k, 4 * k), "landmarks": 1000}),
}


def score(name: str, scale: str, config: str, seed: int) -> float:
    """NMI with the classes; rows are shuffled, since files are sorted by class."""
    data = load(name)
    order = np.random.default_rng(seed).permutation(len(data))
    way, method, params = WAYS[config]
    ensemble = partita.make_ensemble(data.X[order], way, seed=seed, scale=scale, **params(data.k))
    found = partita.consensus(ensemble, method, data.k, seed=seed)
    return float(partita.evaluate(found, truth=data.labels[order])["nmi"])


def main(seeds: int = 5) -> None:
    """Print the table."""
    for scale in ("none", "standard"):
        print(f"\n| {scale} | {' | '.join(WAYS)} |\n|{' --- |' * (len(WAYS) + 1)}")
        for name in DATA:
            cells = [np.mean([score(name, scale, config, seed) for seed in range(seeds)]) for config in WAYS]
            print(f"| {name} | {' | '.join(f'{cell:.2f}' for cell in cells)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
