"""Agreement of `predict` on the training objects with the labels of the fit, by method, as a Markdown table.

`python -m benchmarks.predict_agreement` fits every method to 20 clusterings drawn from each small pool of
`partita.datasets.load_pool` (needs the data folder), with k the number of classes.
"""

import numpy as np

import partita
from partita import datasets, registry
from partita.core.rng import named

MAX_OBJECTS, CLUSTERINGS, SEED = 4000, 20, 0


def tables():
    """The pools with at most `MAX_OBJECTS` objects: name, ensemble, number of classes."""
    for name, entry in datasets.POOLS.items():
        if entry.n <= MAX_OBJECTS:
            pool = datasets.load_pool(name)
            drawn = named(SEED, name).choice(len(pool.ensemble.names), CLUSTERINGS, replace=False)
            yield name, pool.ensemble.columns(np.sort(drawn)), entry.k


def main() -> None:
    """Print one row per method: whether its model is approximate, mean and lowest agreement."""
    found: dict[str, list[float]] = {name: [] for name in registry.METHODS}
    approximate: dict[str, list[bool]] = {name: [] for name in registry.METHODS}
    for _, ensemble, k in tables():
        for name in registry.METHODS:
            result = partita.consensus(ensemble, name, k, seed=SEED)
            assert result.model is not None
            found[name].append(float(np.mean(result.predict(ensemble) == result.labels)))
            approximate[name].append(result.model.approximate)
    print(f"| method | model | mean of {len(found['mm'])} tables | lowest |\n|---|---|---|---|")
    for name, values in found.items():
        share = np.mean(approximate[name])
        kind = "approximate" if share == 1 else "exact" if share == 0 else f"approximate on {share:.0%}"
        kind = "by estimates" if registry.get(name).by_estimate else kind
        print(f"| `{name}` | {kind} | {np.mean(values):.3f} | {min(values):.3f} |", flush=True)


if __name__ == "__main__":
    main()
