"""How many objects each two base clusters share."""

from partita.kernels.compiling import Array, kernel


@kernel
def add_overlaps(labels: Array, offsets: Array, amounts: Array, out: Array, start: int, stop: int) -> None:
    """Add each row's amount to the cells of the clusters it lies in, above the diagonal and on it, by column order."""
    columns = labels.shape[1]
    for i in range(start, stop):
        amount = amounts[i]
        for j in range(columns):
            if labels[i, j] >= 0:
                a = offsets[j] + labels[i, j]
                for m in range(j, columns):
                    if labels[i, m] >= 0:
                        out[a, offsets[m] + labels[i, m]] += amount


@kernel
def add_shares(draws: Array, starts: Array, shares: Array, out: Array, start: int, stop: int) -> None:
    """Add to each object's row, for every draw s, the row of `shares` of its cluster, counted from starts[s]."""
    for first in range(start, stop, 512):
        for s in range(draws.shape[0]):
            for i in range(first, min(first + 512, stop)):
                if draws[s, i] >= 0:
                    row = starts[s] + draws[s, i]
                    for h in range(out.shape[1]):
                        out[i, h] += shares[row, h]
