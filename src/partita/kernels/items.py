"""Item-consensus: how much each object shares with the members of every cluster, from tables of the clusters' labels.

`table` holds for each label of each clustering (a cell) and each cluster the weight of the members that carry it,
`totals` for each clustering and cluster that of the members it knows. Both are multiplied with the clusterings'
weights. An object's own part is taken from its own cluster: nobody keeps himself company.
"""

import numpy as np

from partita.kernels.compiling import Array, kernel


@kernel
def add_scaled(values: Array, factor: float, sums: Array) -> None:
    """Add values times a factor."""
    for c in range(sums.shape[0]):
        sums[c] += factor * values[c]


@kernel
def share(together: float, known: float) -> float:
    """The part of the known weight that is together; NaN where nothing is known."""
    return min(max(together, 0.0), known) / known if known > 0.0 else np.nan


@kernel
def divide(sums: Array, known: Array, code: int, same: float, own: float) -> None:
    """Turn sums into shares of what is known, for the own cluster without the object itself."""
    if code >= 0:
        sums[code] -= same
        known[code] -= own
    for h in range(sums.shape[0]):
        sums[h] = share(sums[h], known[h])


@kernel
def share_rows(
    labels: Array,
    codes: Array,
    places: Array,
    table: Array,
    totals: Array,
    weights: Array,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """Write to out[i - start] the item-consensus of row i with every cluster; label y of column j is at places[j] + y.

    `codes` are the rows' clusters, below 0 for none.
    """
    known = np.empty(out.shape[1])
    for i in range(start, stop):
        sums = out[i - start]
        sums[:] = 0.0
        known[:] = 0.0
        own = 0.0
        for j in range(labels.shape[1]):
            label = labels[i, j]
            if label >= 0:
                own += weights[j]
                add_scaled(table[places[j] + label], 1.0, sums)
                add_scaled(totals[j], 1.0, known)
        divide(sums, known, codes[i], own, own)


@kernel
def share_members(
    members: Array,
    seen: Array,
    codes: Array,
    table: Array,
    totals: Array,
    weights: Array,
    places: Array,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """The same for memberships: two objects are together as much as the product of their rows says."""
    known = np.empty(out.shape[1])
    for i in range(start, stop):
        sums = out[i - start]
        sums[:] = 0.0
        known[:] = 0.0
        same, own = 0.0, 0.0
        for j in range(seen.shape[1]):
            if seen[i, j]:
                own += weights[j]
                add_scaled(totals[j], 1.0, known)
                for c in range(places[j], places[j + 1]):
                    if members[i, c] > 0.0:
                        same += weights[j] * members[i, c] ** 2
                        add_scaled(table[c], members[i, c], sums)
        divide(sums, known, codes[i], same, own)


@kernel
def choose_nearest(shares: Array, codes: Array, own: Array, other: Array, nearest: Array, start: int) -> None:
    """Write, for the rows from `start`, the share with the own cluster, the largest with another, and that cluster."""
    for p in range(shares.shape[0]):
        i = start + p
        own[i] = shares[p, codes[i]] if codes[i] >= 0 else np.nan
        place, most = -1, np.nan
        for h in range(shares.shape[1]):
            if h != codes[i] and (shares[p, h] > most or (place < 0 and shares[p, h] >= 0.0)):
                place, most = h, shares[p, h]
        other[i] = most
        nearest[i] = place


@kernel
def known_weight(labels: Array, i: int, totals: Array, h: int) -> float:
    """The weight that row i and the members of cluster h have in common clusterings."""
    known = 0.0
    for j in range(labels.shape[1]):
        if labels[i, j] >= 0:
            known += totals[j, h]
    return known


@kernel
def nearest_sparse(
    labels: Array,
    codes: Array,
    places: Array,
    begins: Array,
    clusters: Array,
    values: Array,
    totals: Array,
    weights: Array,
    own: Array,
    other: Array,
    nearest: Array,
    start: int,
    stop: int,
) -> None:
    """What `share_rows` and `choose_nearest` find, for tables with so many clusters that most cells are empty.

    Cell c holds clusters[begins[c]:begins[c + 1]] with `values` above 0. Only clusters that share a label with a row
    are looked at; another one can be nearest only where no cluster shares anything, and then the first is taken.
    """
    sums = np.zeros(totals.shape[1])
    touched = np.empty(totals.shape[1], np.int64)
    for i in range(start, stop):
        found, alone = 0, 0.0
        for j in range(labels.shape[1]):
            if labels[i, j] >= 0:
                alone += weights[j]
                cell = places[j] + labels[i, j]
                for p in range(begins[cell], begins[cell + 1]):
                    h = clusters[p]
                    if sums[h] == 0.0:
                        touched[found] = h
                        found += 1
                    sums[h] += values[p]
        code, place, most = codes[i], -1, 0.0
        own[i] = np.nan
        for p in range(found):
            h = touched[p]
            if h == code:
                own[i] = share(sums[h] - alone, known_weight(labels, i, totals, h) - alone)
            else:
                here = share(sums[h], known_weight(labels, i, totals, h))
                if here > most or (here == most and h < place):
                    place, most = h, here
            sums[h] = 0.0
        if place < 0:
            for h in range(totals.shape[1]):
                if h != code and known_weight(labels, i, totals, h) > 0.0:
                    place = h
                    break
        other[i] = most if place >= 0 else np.nan
        nearest[i] = place
