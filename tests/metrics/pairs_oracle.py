"""Diagnostics the slow way: every object written out, every pair looked at, in plain loops and NumPy."""

import numpy as np

from partita import SoftEnsemble


def written_out(ensemble, labels=None):
    """Memberships (N, t), what is known (N, r), the weights of both, and labels, one row an object."""
    soft = ensemble if isinstance(ensemble, SoftEnsemble) else SoftEnsemble.from_hard(ensemble)
    times = ensemble.counts.astype(int)
    blocks = [soft.block(j).repeat(times, axis=0) for j in range(len(soft.names))]
    codes = None if labels is None else np.asarray(labels).repeat(times)
    return blocks, [block.any(axis=1) for block in blocks], soft.weights, codes, times


def pair_sums(ensemble):
    """(N, N) how much each two objects are together, and how much is known of both."""
    blocks, known, weights, _, _ = written_out(ensemble)
    n = len(blocks[0])
    together, both = np.zeros((n, n)), np.zeros((n, n))
    for block, seen, weight in zip(blocks, known, weights, strict=True):
        together += weight * (block @ block.T)
        both += weight * np.outer(seen, seen)
    return together, both


def matrix(ensemble):
    together, both = pair_sums(ensemble)
    with np.errstate(invalid="ignore"):
        return together / both


def slow_items(ensemble, labels):
    """(rows, k) item-consensus, one object and one cluster at a time; k from the labels."""
    together, both = pair_sums(ensemble)
    codes = np.asarray(labels).repeat(ensemble.counts.astype(int))
    firsts = np.concatenate([[0], np.cumsum(ensemble.counts.astype(int))[:-1]])
    k = int(np.max(labels)) + 1
    found = np.full((len(ensemble), k), np.nan)
    for row, i in enumerate(firsts):
        for h in range(k):
            others = [m for m in range(len(codes)) if codes[m] == h and m != i]
            if both[i, others].sum() > 0:
                found[row, h] = together[i, others].sum() / both[i, others].sum()
    return found


def slow_blocks(ensemble, labels):
    """(k, k) mean co-association between groups, one pair of different objects at a time."""
    together, both = pair_sums(ensemble)
    codes = np.asarray(labels).repeat(ensemble.counts.astype(int))
    k = int(np.max(labels)) + 1
    above, below = np.zeros((k, k)), np.zeros((k, k))
    for a in range(len(codes)):
        for b in range(len(codes)):
            if a != b and codes[a] >= 0 and codes[b] >= 0:
                above[codes[a], codes[b]] += together[a, b]
                below[codes[a], codes[b]] += both[a, b]
    with np.errstate(invalid="ignore"):
        return above / below


def slow_silhouette(items, labels, sizes):
    """By the definition, from item-consensus."""
    found = np.full(len(items), np.nan)
    for i, h in enumerate(labels):
        others = [items[i, g] for g in range(items.shape[1]) if g != h and not np.isnan(items[i, g])]
        if h < 0 or not others:
            continue
        if sizes[h] == 1:
            found[i] = 0.0
        elif not np.isnan(items[i, h]):
            a, b = 1 - items[i, h], 1 - max(others)
            found[i] = (b - a) / max(a, b) if max(a, b) > 0 else 0.0
    return found


def pair_values(ensemble):
    """Co-association of every pair of different objects; NaN where they were never labelled together."""
    values = matrix(ensemble)
    return values[np.triu_indices(len(values), 1)]
