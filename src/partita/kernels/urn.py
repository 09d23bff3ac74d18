"""The exact probability of rows under Bayesian cluster ensembles, the shares of the objects integrated out.

The probability of clusters z of the labels of a row depends only on how many labels each cluster has: it is that of
draws from an urn, cluster h next with probability (alpha_h + m_h) / (sum alpha + t) after t draws with counts m. So the
k^r assignments of r labels to k clusters are summed by their counts. A count vector is stored as the counts of the
first k - 1 clusters; the last cluster has the rest. Vectors are ordered by their sum.
"""

import math

import numpy as np

from partita.kernels.compiling import Array, kernel


@kernel
def fill_counts(most: int, counts: Array, below: Array, starts: Array) -> None:
    """List all vectors of `counts.shape[1]` counts with a sum of at most `most`, smaller sums first.

    `below[s, h]` is the vector s with one less in h, -1 if it has none; those with the sum t are `starts[t]` to
    `starts[t + 1]`. A vector is made of its parent by adding 1 at `last` or behind it, so that each is made once.
    """
    width = counts.shape[1]
    last, child = np.zeros(len(counts), np.int64), np.zeros(len(counts), np.int64)
    counts[0], below[0], starts[0], starts[1] = 0, -1, 0, 1
    made = 1
    for t in range(1, most + 1):
        for parent in range(starts[t - 1], starts[t]):
            # the children of a parent are consecutive: the one with 1 more at h is child[parent] + h
            child[parent] = made - last[parent]
            for h in range(last[parent], width):
                counts[made] = counts[parent]
                counts[made, h] += 1
                last[made] = h
                # one less in g than the child: the child at h of the parent's own vector with one less in g
                for g in range(width):
                    below[made, g] = child[below[parent, g]] + h if counts[parent, g] > 0 else -1
                below[made, h] = parent
                made += 1
        starts[t + 1] = made


@kernel
def urn_rows(
    factors: Array, known: Array, alpha: Array, counts: Array, below: Array, starts: Array, logs: Array
) -> None:
    """Add to `logs` (n,) the logarithms of the rows' probabilities.

    `factors[i, j, h]` is the probability of the label of clustering j in cluster h, where `known[i, j]`. After t labels
    f[m] = p(these labels, counts m); a label moves f[m] to m + 1 at h with the factor of h and the share of the urn.
    Vectors are renewed in place from large sums to small ones, and scaled so that nothing underflows.
    """
    width, total = counts.shape[1], alpha.sum()
    f = np.zeros(counts.shape[0])
    for i in range(len(factors)):
        # no labels yet: probability 1 of the counts 0
        f[0], t = 1.0, 0
        for j in range(known.shape[1]):
            if not known[i, j]:
                continue
            # one more label: from the largest sum down, so that f[below] still belongs to t labels
            b, top = factors[i, j], 0.0
            for s in range(starts[t + 2] - 1, -1, -1):
                inside, value = 0, 0.0
                for h in range(width):
                    inside += counts[s, h]
                    if counts[s, h] > 0:
                        value += f[below[s, h]] * b[h] * (alpha[h] + counts[s, h] - 1.0)
                # the label moves to the last cluster, whose count is t - inside: the first k - 1 counts stay
                if inside <= t:
                    value += f[s] * b[width] * (alpha[width] + t - inside)
                f[s] = value
                top = max(top, value)
            if top == 0.0:
                logs[i] = -np.inf
                break
            # scale by the largest; its logarithm and the urn's denominator go to the result
            for s in range(starts[t + 2]):
                f[s] /= top
            logs[i] += math.log(top) - math.log(total + t)
            t += 1
        # sum over the counts of all labels
        if t:
            mass = 0.0
            for s in range(starts[t + 1]):
                mass += f[s]
            logs[i] += math.log(mass)
