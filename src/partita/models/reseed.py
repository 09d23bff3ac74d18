"""What k-means-like methods do about a cluster that lost its last row."""

import numpy as np

from partita.core.types import FloatArray, IntArray


def fill_empty(chosen: IntArray, distance: FloatArray, k: int) -> None:
    """Give each empty cluster the row that lies farthest from its own centre, while there is one that lies apart."""
    sizes = np.bincount(chosen, minlength=k)
    empty = np.flatnonzero(sizes == 0)
    if not len(empty):
        return
    farthest = iter(np.argsort(-distance, kind="stable"))
    for cluster in empty:
        row = next((row for row in farthest if sizes[chosen[row]] > 1 and distance[row] > 1e-12), None)
        if row is None:
            return
        sizes[chosen[row]] -= 1
        chosen[row], sizes[cluster] = cluster, 1
