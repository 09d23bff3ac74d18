"""Scores add over columns, counts add over rows: the two loops behind voting, k-means on labels and mixtures.

A table (t, k) holds one row for each of the t labels of all columns together; column j's begin at `offsets[j]`.
"""

from typing import Final

import numpy as np

from partita.kernels.compiling import Array, kernel

IMPOSSIBLE: Final = -1e8
"""Stands for the logarithm of 0: its exponential is 0, and sums of it stay finite."""


@kernel
def add_scores(labels: Array, offsets: Array, tables: Array, out: Array, start: int, stop: int) -> None:
    """Add to `out[i]` the table rows of the labels of row i; a missing label adds nothing."""
    for i in range(start, stop):
        for j in range(labels.shape[1]):
            label = labels[i, j]
            if label >= 0:
                place = offsets[j] + label
                for c in range(tables.shape[1]):
                    out[i, c] += tables[place, c]


@kernel
def add_memberships(matrix: Array, tables: Array, out: Array, start: int, stop: int) -> None:
    """Add to `out[i]` the table rows, each times the membership of row i in its label.

    A score of IMPOSSIBLE or less stands for minus infinity, which no membership above 0 makes smaller.
    """
    for i in range(start, stop):
        for place in range(matrix.shape[1]):
            share = matrix[i, place]
            if share > 0.0:
                for c in range(tables.shape[1]):
                    score = tables[place, c]
                    out[i, c] += score * share if score > IMPOSSIBLE else score


@kernel
def lift_rows(labels: Array, offsets: Array, tables: Array, out: Array, start: int, stop: int) -> None:
    """Write to `out[i]` the sum of the table rows of the labels of row i, scaled to length 1 (0 where it has none)."""
    total = np.empty(tables.shape[1])
    for i in range(start, stop):
        for c in range(total.shape[0]):
            total[c] = 0.0
        for j in range(labels.shape[1]):
            label = labels[i, j]
            if label >= 0:
                place = offsets[j] + label
                for c in range(total.shape[0]):
                    total[c] += tables[place, c]
        square = 0.0
        for c in range(total.shape[0]):
            square += total[c] * total[c]
        scale = 1.0 / np.sqrt(square) if square > 1e-300 else 0.0
        for c in range(total.shape[0]):
            out[i, c] = total[c] * scale


@kernel
def assign_rows(
    labels: Array, offsets: Array, tables: Array, bias: Array, chosen: Array, best: Array, start: int, stop: int
) -> None:
    """Give each row the cluster of highest score (the first of equals) and keep that score."""
    scores = np.empty(tables.shape[1])
    for i in range(start, stop):
        for c in range(scores.shape[0]):
            scores[c] = bias[c]
        for j in range(labels.shape[1]):
            label = labels[i, j]
            if label >= 0:
                place = offsets[j] + label
                for c in range(scores.shape[0]):
                    scores[c] += tables[place, c]
        winner = 0
        for c in range(1, scores.shape[0]):
            if scores[c] > scores[winner]:
                winner = c
        chosen[i] = winner
        best[i] = scores[winner]


@kernel
def assign_memberships(
    matrix: Array, tables: Array, bias: Array, chosen: Array, best: Array, start: int, stop: int
) -> None:
    """The same for rows of memberships."""
    scores = np.empty((1, tables.shape[1]))
    for i in range(start, stop):
        for c in range(scores.shape[1]):
            scores[0, c] = bias[c]
        add_memberships(matrix[i : i + 1], tables, scores, 0, 1)
        winner = 0
        for c in range(1, scores.shape[1]):
            if scores[0, c] > scores[0, winner]:
                winner = c
        chosen[i] = winner
        best[i] = scores[0, winner]


@kernel
def count_labels(
    labels: Array, offsets: Array, chosen: Array, counts: Array, tables: Array, sizes: Array, start: int, stop: int
) -> None:
    """Count, with multiplicities, the labels and the rows of each cluster."""
    for i in range(start, stop):
        cluster = chosen[i]
        if cluster < 0:
            continue
        sizes[cluster] += counts[i]
        for j in range(labels.shape[1]):
            label = labels[i, j]
            if label >= 0:
                tables[offsets[j] + label, cluster] += counts[i]


@kernel
def count_memberships(
    matrix: Array, chosen: Array, counts: Array, tables: Array, sizes: Array, start: int, stop: int
) -> None:
    """Add up, with multiplicities, the memberships and the rows of each cluster."""
    for i in range(start, stop):
        cluster = chosen[i]
        if cluster < 0:
            continue
        sizes[cluster] += counts[i]
        for place in range(matrix.shape[1]):
            if matrix[i, place] > 0.0:
                tables[place, cluster] += counts[i] * matrix[i, place]


@kernel
def hamming_to(labels: Array, weights: Array, center: int, distance: Array, start: int, stop: int) -> None:
    """Lower each row's distance to its distance from row `center`, if that is smaller.

    The distance is the weighted share of differing labels among the columns known in both rows, 1 where there is none.
    """
    for i in range(start, stop):
        differ = 0.0
        shared = 0.0
        for j in range(labels.shape[1]):
            if labels[i, j] >= 0 and labels[center, j] >= 0:
                shared += weights[j]
                if labels[i, j] != labels[center, j]:
                    differ += weights[j]
        found = differ / shared if shared > 0.0 else 1.0
        distance[i] = min(distance[i], found)


@kernel
def pick_winners(votes: Array, strength: Array, own: Array, chosen: Array, start: int, stop: int) -> None:
    """Give each row the cluster with most votes; of equals its own, if that is one of them, then the strongest."""
    for i in range(start, stop):
        most = 0.0
        for c in range(votes.shape[1]):
            most = max(most, votes[i, c])
        limit = most * (1.0 - 1e-9)
        winner = own[i]
        if winner < 0 or votes[i, winner] < limit:
            winner = -1
            for c in range(votes.shape[1]):
                if votes[i, c] >= limit and (winner < 0 or strength[c] > strength[winner]):
                    winner = c
        chosen[i] = winner
