"""Confidence of objects in their clusters, from sparse tables of labels by cluster.

The geometric item consensus of object i with cluster h, over the clusterings j in which i is known, is

    G_i(h) = exp(sum_j w_j sum_l s_ijl log(P_h[j, l] + c) / sum_j w_j)
           = c exp(sum_j w_j sum_l s_ijl d_h[j, l] / sum_j w_j)

with c = .01 and d_h[j, l] = log(1 + P_h[j, l] / c). d is 0 where no member of h has label l, so that only the stored
cells of the table are added and every cluster without a stored cell has G_i(h) = c.

==============  =======================  ==============================================================
s_ijl           labels, or members       labels (n, r), -1 where missing, or memberships (n, t)
w_j             weights[j]               (r,) weights of the clusterings
w_j d_h[j, l]   gains[p]                 cell p of label places[j] + l, in cluster clusters[p]
(the same)      own_gains[p]             of the own cluster, without the object itself
                begins[place]            (t + 1,) first cell of each label
                company[j, h]            whether clustering j knows another member of h
==============  =======================  ==============================================================
"""

from typing import Final

import numpy as np

from partita.kernels.compiling import Array, kernel
from partita.kernels.exponential import exponentials
from partita.kernels.padded import BLOCK, score_rows

FLOOR: Final = 0.01
"""c: added to every share, so that one clustering cannot rule a cluster out."""
LARGEST: Final = float(np.log1p(1 / FLOOR))
"""The largest possible d: every other member has the label."""


@kernel
def confidence_of_blocks(
    labels: Array,
    codes: Array,
    places: Array,
    starts: Array,
    gains: Array,
    bias: Array,
    clusters: int,
    own_gains: Array,
    company: Array,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """Write the confidence of rows of labels (n r,) for few clusters; NaN without cluster or company.

    `gains` is a padded table (see `kernels.padded`) of w_j d_h[j, l] in all `clusters` and w_j behind them; `bias` is
    0, and minus infinity for clusters to ignore. `own_gains` (t, clusters) is for rows that are members themselves;
    it is empty for new rows, whose own gains are those of `gains`.
    """
    width, columns = bias.shape[0], starts.shape[0]
    scores, shares = np.empty(BLOCK * width), np.empty(BLOCK * clusters)
    for first in range(start, stop, BLOCK):
        rows, at = min(BLOCK, stop - first), first * columns
        # sums over the labels of a row: the gains of every cluster, and the known weight
        score_rows(labels, at, columns, starts, gains, bias, clusters + 1, scores, rows)
        # G of every cluster, divided by 1 + c so that no exponent is above 0
        for b in range(rows):
            known = scores[b * width + clusters]
            for h in range(clusters):
                shares[b * clusters + h] = scores[b * width + h] / known - LARGEST if known > 0.0 else -LARGEST
        exponentials(shares, rows * clusters)
        for b in range(rows):
            code, known, line = int(codes[first + b]), scores[b * width + clusters], at + b * columns
            out[first + b] = np.nan
            if code < 0 or not known > 0.0:
                continue
            total = 0.0
            for h in range(clusters):
                total += shares[b * clusters + h]
            mine, own = shares[b * clusters + code], scores[b * width + code]
            if own_gains.shape[0]:
                own = 0.0
                for j in range(columns):
                    label = np.int64(labels[line + j])
                    if label >= 0:
                        own += own_gains[places[j] + label, code]
                total -= mine
                mine = np.exp(own / known - LARGEST)
                total += mine
            accompanied = own > 0.0
            if not accompanied:
                for j in range(columns):
                    accompanied |= np.int64(labels[line + j]) >= 0 and company[j, code]
            if accompanied:
                out[first + b] = min(1.0, float(((1.0 + FLOOR) * mine * mine / total) ** (1.0 / 3.0)))


@kernel
def add_cells(
    cells: tuple[int, int], factor: float, code: int, clusters: Array, gains: Array, sums: Array, touched: Array, n: int
) -> int:
    """Add the cells of one label to the sums of the clusters other than `code`; return how many have a sum now."""
    for p in range(cells[0], cells[1]):
        h, gain = clusters[p], factor * gains[p]
        if h != code and gain > 0.0:
            if sums[h] == 0.0:
                touched[n] = h
                n += 1
            sums[h] += gain
    return n


@kernel
def geometric_confidence(own: float, known: float, n_clusters: int, sums: Array, touched: Array, n: int) -> float:
    """(G(g) G(g) / sum_h G(h))^(1/3), at most 1; clears the sums of the n touched clusters."""
    mine = np.exp(own / known)
    total = mine + (n_clusters - 1 - n)  # in units of c; a cluster without a shared label has exp(0)
    for q in range(n):
        total += np.exp(sums[touched[q]] / known)
        sums[touched[q]] = 0.0
    return min(1.0, float((FLOOR * mine * mine / total) ** (1.0 / 3.0)))


@kernel
def confidence_of_labels(
    labels: Array,
    codes: Array,
    places: Array,
    begins: Array,
    clusters: Array,
    gains: Array,
    own_gains: Array,
    company: Array,
    weights: Array,
    n_clusters: int,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """Write the confidence of rows of labels in their clusters `codes`; NaN without cluster or company."""
    sums, touched = np.zeros(company.shape[1]), np.empty(company.shape[1], np.int64)
    for i in range(start, stop):
        out[i] = np.nan
        code = int(codes[i])
        if code < 0:
            continue
        # sums over the known clusterings: their weight, the gains of the own cluster without the object itself, and the
        # gains of the other clusters, of which `touched` lists the first n that have any
        known, own, n, accompanied = 0.0, 0.0, 0, False
        for j in range(labels.shape[1]):
            label = np.int64(labels[i, j])
            if label >= 0 and weights[j] > 0.0:
                known += weights[j]
                accompanied |= company[j, code]
                first, last = begins[places[j] + label], begins[places[j] + label + 1]
                n = add_cells((first, last), 1.0, code, clusters, gains, sums, touched, n)
                for p in range(first, last):
                    if clusters[p] == code:
                        own += own_gains[p]
        # G of all clusters from the sums; an object without company has no confidence
        if accompanied:
            out[i] = geometric_confidence(own, known, n_clusters, sums, touched, n)
        else:
            sums[:] = 0.0


@kernel
def confidence_of_memberships(
    members: Array,
    seen: Array,
    codes: Array,
    places: Array,
    begins: Array,
    clusters: Array,
    gains: Array,
    counts: Array,
    totals: Array,
    oneself: float,
    company: Array,
    weights: Array,
    n_clusters: int,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """Write the confidence of rows of memberships; `oneself` is 1 where the rows are among those counted, else 0.

    The object's own part of a cell of its cluster is its membership, so own gains are computed from the `counts` of
    the cells and the `totals` (r, k) of the clusters.
    """
    sums, touched = np.zeros(company.shape[1]), np.empty(company.shape[1], np.int64)
    for i in range(start, stop):
        out[i] = np.nan
        code = int(codes[i])
        if code < 0:
            continue
        # sums over the known clusterings: their weight, the gains of the own cluster without the object itself, and the
        # gains of the other clusters, of which `touched` lists the first n that have any
        known, own, n, accompanied = 0.0, 0.0, 0, False
        for j in range(seen.shape[1]):
            if seen[i, j] and weights[j] > 0.0:
                known += weights[j]
                accompanied |= company[j, code]
                for place in range(places[j], places[j + 1]):
                    share = members[i, place]
                    if share > 0.0:
                        first, last = begins[place], begins[place + 1]
                        n = add_cells((first, last), share, code, clusters, gains, sums, touched, n)
                        for p in range(first, last):
                            if clusters[p] == code and company[j, code]:
                                rest = max(counts[p] - oneself * share, 0.0) / (totals[j, code] - oneself)
                                own += share * weights[j] * np.log1p(rest / FLOOR)
        # G of all clusters from the sums; an object without company has no confidence
        if accompanied:
            out[i] = geometric_confidence(own, known, n_clusters, sums, touched, n)
        else:
            sums[:] = 0.0


@kernel
def second_of_labels(
    labels: Array,
    codes: Array,
    offsets: Array,
    cells: Array,
    totals: Array,
    nearest: Array,
    best: Array,
    start: int,
    stop: int,
) -> None:
    """Write the nearest other cluster of label rows start..stop-1, and their item consensus with it.

        IC(i, h) = sum_j w_j N_j[h, y_ij] / sum_j w_j N_j[h]      over the clusterings j that know row i

    ==============  ====================  =====================================================
    symbol          name                  shape
    ==============  ====================  =====================================================
    y_ij            labels[i, j]          (n, r) codes, -1 where missing
    w_j N_j[h, l]   cells[o_j + l, h]     (t, k) weighted objects of cluster h with label l
    w_j N_j[h]      totals[j, h]          (r, k) weighted objects of cluster h known in j
    own cluster     codes[i]              (n,) -1 if the row has none
    argmax, max     nearest[i], best[i]   (n,) over h other than codes[i]; -1 and NaN if none
    ==============  ====================  =====================================================
    """
    r, k = totals.shape
    # the denominator of rows without missing labels is the same for all
    complete = np.zeros(k)
    for j in range(r):
        for h in range(k):
            complete[h] += totals[j, h]
    above, known = np.empty(k), np.empty(k)
    for i in range(start, stop):
        nearest[i], best[i] = -1, np.nan
        if codes[i] < 0:
            continue
        # numerators: one table row per known label
        above[:] = 0.0
        missing = 0
        for j in range(r):
            label = labels[i, j]
            if label < 0:
                missing += 1
            else:
                place = offsets[j] + label
                for h in range(k):
                    above[h] += cells[place, h]
        if missing:
            known[:] = 0.0
            for j in range(r):
                if labels[i, j] >= 0:
                    for h in range(k):
                        known[h] += totals[j, h]
        below = known if missing else complete
        # the largest ratio over the other clusters, ties to the lowest number
        place, most = -1, -1.0
        for h in range(k):
            if h != codes[i] and below[h] > 0.0:
                share = above[h] / below[h]
                if share > most:
                    place, most = h, share
        if place >= 0:
            nearest[i], best[i] = place, most
