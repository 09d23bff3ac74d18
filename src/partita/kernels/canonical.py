"""Order-free hashes of rows and clusters, by which a table gets the same order however it was handed in.

Colour refinement on the bipartite graph of rows and clusters: a cluster's key is made of the keys of its rows, a row's
key of the keys of its clusters. All sums are modulo 2^64, so the order of rows, columns and labels cannot matter.
"""

import numpy as np

from partita.kernels.compiling import Array, kernel


@kernel
def mix(x: int) -> int:
    """Scramble 64 bits (the finaliser of splitmix64)."""
    z = np.uint64(x)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))  # type: ignore[return-value]  # uint64 in the machine, int to the reader


@kernel
def mix_all(keys: Array) -> None:
    """Scramble an array of keys in place."""
    for i in range(keys.shape[0]):
        keys[i] = mix(keys[i])


@kernel
def gather_hard(
    labels: Array, offsets: Array, row_keys: Array, amounts: Array, cluster_keys: Array, start: int, stop: int
) -> None:
    """Add each row's key, as often as it stands for an object, to the keys of its clusters."""
    for i in range(start, stop):
        amount = row_keys[i] * amounts[i]
        for j in range(labels.shape[1]):
            label = labels[i, j]
            if label >= 0:
                cluster_keys[offsets[j] + label] += amount


@kernel
def scatter_hard(labels: Array, offsets: Array, cluster_keys: Array, row_keys: Array, start: int, stop: int) -> None:
    """Renew each row's key from the keys of its clusters."""
    for i in range(start, stop):
        total = row_keys[i]
        for j in range(labels.shape[1]):
            label = labels[i, j]
            if label >= 0:
                total += cluster_keys[offsets[j] + label]
        row_keys[i] = mix(total)


@kernel
def gather_soft(parts: Array, row_keys: Array, amounts: Array, cluster_keys: Array, start: int, stop: int) -> None:
    """Add each row's key, times amount and fixed-point membership, to the keys of its clusters."""
    for i in range(start, stop):
        amount = row_keys[i] * amounts[i]
        for c in range(parts.shape[1]):
            cluster_keys[c] += amount * parts[i, c]


@kernel
def scatter_soft(parts: Array, cluster_keys: Array, row_keys: Array, start: int, stop: int) -> None:
    """Renew each row's key from the keys of its clusters, times its fixed-point membership."""
    for i in range(start, stop):
        total = row_keys[i]
        for c in range(parts.shape[1]):
            total += cluster_keys[c] * parts[i, c]
        row_keys[i] = mix(total)
