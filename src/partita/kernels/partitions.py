"""The partition of least expected loss against draws: rows moved one at a time, clusters merged, few rows tried out.

Both losses are sums of a convex function f of counts: of the sizes of clusters, plus those of the draws' clusters
(which nothing here changes), less twice the cells of the tables of the two. Adding a row to a cluster therefore changes
the loss by a difference of f at the cluster's size, less the mean over draws of twice the difference at the cell of the
row's label. Where the row stands for one object these differences are kept, so that weighing a row against all clusters
adds up one line of a table a draw.
"""

from typing import NamedTuple

import numpy as np

from partita.kernels.compiling import Array, kernel

ALONE = -2
"""Label of a row that is a cluster by itself and has no column in the tables."""
LEAST_GAIN = 1e-11
"""What a step must take off the loss, relative to what is compared: less may be rounding."""


class Problem(NamedTuple):
    """What a search does not change."""

    rows: Array  # (n, draws) the label of each row in each draw
    offsets: Array  # (draws + 1,) where each draw's labels begin among the t labels of all draws
    shares: Array  # (draws,) twice the share of each draw
    amounts: Array  # (n,) objects that each row stands for
    terms: Array  # f of 0, 1, …, twice all objects: what a cluster that holds a row would be with the row once more
    steps: Array  # f(m + 1) - f(m), so long too
    width: int  # maximum number of clusters in the tables
    alone: int  # maximum number of rows that are clusters by themselves outside the tables, once the tables are full
    work: float  # cells of the tables that a search may read before it stops


class Tally(NamedTuple):
    """What a search changes."""

    labels: Array  # (n,) the cluster of each row, -1 where it has none yet, ALONE outside the tables
    sizes: Array  # (k,) objects of each cluster; some may be empty
    counts: Array  # (t, k) objects with each label in each cluster
    gains: Array  # (t, k) the draw's share times the step at the count
    read: Array  # (1,) the number of cells read so far


@kernel
def shift_row(problem: Problem, tally: Tally, i: int, c: int, sign: int) -> None:
    """Add a row to a cluster (sign 1) or take it out (sign -1)."""
    amount = sign * problem.amounts[i]
    tally.sizes[c] += amount
    tally.labels[i] = c if sign > 0 else -1
    for s in range(problem.rows.shape[1]):
        place = problem.offsets[s] + problem.rows[i, s]
        count = tally.counts[place, c] + amount
        tally.counts[place, c] = count
        tally.gains[place, c] = problem.shares[s] * problem.steps[count]


@kernel
def leaving(problem: Problem, tally: Tally, i: int) -> float:
    """What the loss has from row i being in its cluster."""
    c, amount, total = tally.labels[i], problem.amounts[i], 0.0
    if c == ALONE:
        return float(-problem.terms[amount])  # f(m) - sum of shares * f(m); the shares sum to 2
    for s in range(problem.rows.shape[1]):
        count = tally.counts[problem.offsets[s] + problem.rows[i, s], c]
        total += problem.shares[s] * (problem.terms[count] - problem.terms[count - amount])
    return float(problem.terms[tally.sizes[c]] - problem.terms[tally.sizes[c] - amount] - total)


@kernel
def weigh_row(problem: Problem, tally: Tally, i: int, width: int, values: Array) -> None:
    """What adding row i to each of the first `width` clusters would add to the loss."""
    draws, amount, gains = problem.rows.shape[1], problem.amounts[i], tally.gains
    values[:width] = 0.0
    if amount == 1:
        whole = draws - draws % 4
        for s in range(0, whole, 4):
            a = problem.offsets[s] + problem.rows[i, s]
            b = problem.offsets[s + 1] + problem.rows[i, s + 1]
            d = problem.offsets[s + 2] + problem.rows[i, s + 2]
            e = problem.offsets[s + 3] + problem.rows[i, s + 3]
            for c in range(width):
                values[c] += (gains[a, c] + gains[b, c]) + (gains[d, c] + gains[e, c])
        for s in range(whole, draws):
            a = problem.offsets[s] + problem.rows[i, s]
            for c in range(width):
                values[c] += gains[a, c]
    else:
        for s in range(draws):
            a = problem.offsets[s] + problem.rows[i, s]
            for c in range(width):
                count = tally.counts[a, c]
                values[c] += problem.shares[s] * (problem.terms[count + amount] - problem.terms[count])
    for c in range(width):
        values[c] = problem.terms[tally.sizes[c] + amount] - problem.terms[tally.sizes[c]] - values[c]


@kernel
def content(problem: Problem, tally: Tally, i: int, width: int, values: Array) -> bool:
    """Whether a glance shows that row i of weight 1 is best off where it is, given what it would add to each cluster.

    The table of its own cluster counts it already. Steps grow with the count, by no more than they do from 0 to 1, and
    the shares add up to 2: that bounds what the row adds where it is.
    """
    old = tally.labels[i]
    size = tally.sizes[old]
    most = values[old] - problem.steps[size] + problem.steps[size - 1] + 2.0 * (problem.steps[1] - problem.steps[0])
    nearest = np.inf
    for c in range(width):
        if c != old:
            nearest = min(nearest, values[c])
    return bool(nearest >= most)


@kernel
def best_cluster(problem: Problem, tally: Tally, i: int, width: int, values: Array) -> tuple[int, float]:
    """The cluster in which row i adds least to the loss, and how much the loss changes when it moves there."""
    old = tally.labels[i]
    weigh_row(problem, tally, i, width, values)
    if old >= 0 and problem.amounts[i] == 1 and content(problem, tally, i, width, values):
        return old, 0.0
    now = leaving(problem, tally, i) if old != -1 else 0.0
    best, least = old, now
    for c in range(width):
        if c != old and (best == -1 or values[c] < least - LEAST_GAIN * (1.0 + abs(least))):
            best, least = c, values[c]
    return best, least - now


@kernel
def sweep(
    problem: Problem, tally: Tally, order: Array, begin: int, width: int, grows: bool, keep: bool
) -> tuple[int, int, int, float]:
    """Put each row of `order` where the loss is least, the first of equals, an empty cluster included.

    Begins at place `begin` with the first `width` clusters. Returns the place it came to, the width, the number of
    moves and the change of the loss. It stops early when no cluster is empty, if the tables can be made wider (grows);
    `keep` empties none. If no cluster is empty and the tables cannot grow, a row that is best off by itself leaves the
    tables (ALONE), up to `problem.alone` rows.
    """
    values = np.empty(tally.sizes.shape[0])
    free, outside, moves, change = 0, 0, 0, 0.0
    for c in range(width):
        free += tally.sizes[c] == 0
    for i in range(tally.labels.shape[0]):
        outside += tally.labels[i] == ALONE
    for place in range(begin, order.shape[0]):
        if free == 0 and width < tally.sizes.shape[0]:
            width += 1
            free = 1
        if free == 0 and grows:
            return place, width, moves, change
        i = order[place]
        old = tally.labels[i]
        if keep and old >= 0 and tally.sizes[old] == problem.amounts[i]:
            continue
        tally.read[0] += problem.rows.shape[1] * width
        best, fell = best_cluster(problem, tally, i, width, values)
        if free == 0 and not keep and old != ALONE and outside < problem.alone:
            # the change if the row leaves the tables, compared with the change in the best cluster
            now = leaving(problem, tally, i) if old >= 0 else 0.0
            aside = -problem.terms[problem.amounts[i]] - now
            if aside < fell - LEAST_GAIN * (1.0 + abs(now)):
                best, fell = ALONE, aside
        if best != old:
            if old >= 0:
                shift_row(problem, tally, i, old, -1)
                free += tally.sizes[old] == 0
            outside += (best == ALONE) - (old == ALONE)
            if best == ALONE:
                tally.labels[i] = ALONE
            else:
                free -= tally.sizes[best] == 0
                shift_row(problem, tally, i, best, 1)
            change += fell
            moves += 1
    return order.shape[0], width, moves, change


@kernel
def pivot(problem: Problem, order: Array, room: int, alone: int, work: float, labels: Array) -> int:
    """Label the rows of `order` by pivots, with 0, 1, …; return the number of clusters.

    Each row in turn that has no label yet becomes a pivot, and its cluster is all rows without label that are together
    with it in more than half of the draws: Binder's loss of two rows falls exactly then when they join (Ailon,
    Charikar and Newman 2008). A pivot without such a row gets the label `alone`. The search ends after `room` clusters
    or `work` comparisons of labels; the rows that are left keep their labels, which begin as -1.
    """
    found, read = 0, 0.0
    for p in range(order.shape[0]):
        i = order[p]
        if labels[i] != -1:
            continue
        if found == room or read > work:
            return found
        read += (order.shape[0] - p) * problem.rows.shape[1]
        labels[i] = alone
        for q in range(p + 1, order.shape[0]):
            j = order[q]
            if labels[j] != -1:
                continue
            together = 0.0
            for s in range(problem.rows.shape[1]):
                together += problem.shares[s] * (problem.rows[i, s] == problem.rows[j, s])
            if together > 1.0 + LEAST_GAIN:  # the shares sum to 2
                labels[i] = found
                labels[j] = found
        found += labels[i] == found
    return found


@kernel
def chain(problem: Problem, tally: Tally) -> float:
    """Move every row once, each time the one that costs least, then undo all after the best point; the change.

    As Kernighan and Lin do it: a way through worse partitions to a better one. An empty cluster must be there.
    """
    n, k = problem.rows.shape[0], tally.sizes.shape[0]
    moved, origins, values = np.empty(n, np.int64), tally.labels.copy(), np.empty(k)
    waiting = np.ones(n, np.bool_)
    change, least, depth, steps = 0.0, 0.0, 0, 0
    while steps < n:
        chosen, target, cost = -1, -1, np.inf
        for i in range(n):
            if not waiting[i]:
                continue
            weigh_row(problem, tally, i, k, values)
            now = leaving(problem, tally, i)
            alone = tally.sizes[tally.labels[i]] == problem.amounts[i]
            for c in range(k):
                idle = c == tally.labels[i] or (alone and tally.sizes[c] == 0)
                if not idle and values[c] - now < cost:
                    chosen, target, cost = i, c, values[c] - now
        if chosen < 0:
            break
        shift_row(problem, tally, chosen, tally.labels[chosen], -1)
        shift_row(problem, tally, chosen, target, 1)
        waiting[chosen] = False
        moved[steps] = chosen
        steps += 1
        change += cost
        if change < least - LEAST_GAIN * (1.0 + abs(least)):
            least, depth = change, steps
    for i in moved[depth:steps]:
        shift_row(problem, tally, i, tally.labels[i], -1)
        shift_row(problem, tally, i, origins[i], 1)
    return least


@kernel
def take_out(problem: Problem, tally: Tally, members: Array) -> float:
    """Take rows out of their clusters; the change of the loss."""
    change = 0.0
    for i in members:
        change -= leaving(problem, tally, i)
        shift_row(problem, tally, i, tally.labels[i], -1)
    return change


@kernel
def put_back(problem: Problem, tally: Tally, members: Array, labels: Array) -> None:
    """Put rows into the clusters given by `labels`, one for each member, wherever they are now."""
    for j in range(members.shape[0]):
        i = members[j]
        if tally.labels[i] == labels[j]:
            continue
        if tally.labels[i] >= 0:
            shift_row(problem, tally, i, tally.labels[i], -1)
        shift_row(problem, tally, i, labels[j], 1)


@kernel
def merging(problem: Problem, tally: Tally, a: int, width: int, part: Array, values: Array) -> None:
    """Write what making one cluster of `a` and each of the first `width` clusters would add to the loss.

    Only labels of the draws that occur in `a` count, so that few rows of the tables are read. `part` is scratch.
    """
    terms = problem.terms
    values[:width] = 0.0
    for s in range(problem.rows.shape[1]):
        part[:width] = 0.0
        for place in range(problem.offsets[s], problem.offsets[s + 1]):
            x = tally.counts[place, a]
            if x > 0:
                for c in range(width):
                    y = tally.counts[place, c]
                    if y > 0:
                        part[c] += terms[x + y] - terms[x] - terms[y]
        for c in range(width):
            values[c] += problem.shares[s] * part[c]
    x = tally.sizes[a]
    for c in range(width):
        y = tally.sizes[c]
        values[c] = terms[x + y] - terms[x] - terms[y] - values[c]


@kernel
def merge_all(problem: Problem, tally: Tally) -> int:
    """Merge the two clusters by which the loss falls most, until none falls; returns the number of merges."""
    k, merges = tally.sizes.shape[0], 0
    changes, part, values = np.full((k, k), np.inf), np.empty(k), np.empty(k)
    for a in range(k):
        if tally.sizes[a] > 0:
            merging(problem, tally, a, a, part, values)
            for b in range(a):
                if tally.sizes[b] > 0:
                    changes[a, b] = values[b]
    while True:
        place = int(np.argmin(changes))
        a, b = place // k, place % k
        if not changes[a, b] < -LEAST_GAIN * (1.0 + problem.terms[tally.sizes[a] + tally.sizes[b]]):
            return merges
        merges += 1
        for i in range(tally.labels.shape[0]):
            if tally.labels[i] == a:
                tally.labels[i] = b
        tally.sizes[b] += tally.sizes[a]
        tally.sizes[a] = 0
        for s in range(problem.rows.shape[1]):
            for place in range(problem.offsets[s], problem.offsets[s + 1]):
                count = tally.counts[place, a] + tally.counts[place, b]
                tally.counts[place, b], tally.counts[place, a] = count, 0
                tally.gains[place, b] = problem.shares[s] * problem.steps[count]
                tally.gains[place, a] = problem.shares[s] * problem.steps[0]
        merging(problem, tally, b, k, part, values)
        for c in range(k):
            changes[a, c] = changes[c, a] = np.inf
            if c != b and tally.sizes[c] > 0:
                changes[max(b, c), min(b, c)] = values[c]


@kernel
def try_all(problem: Problem, tally: Tally, best: Array) -> None:
    """Write to `best` the partition of least loss among all that fit into the clusters of the empty `tally`."""
    n, k = best.shape[0], tally.sizes.shape[0]
    values, used = np.empty((n, n)), np.zeros(n + 1, np.int64)
    upto, least, level, entering = np.zeros(n + 1), np.inf, 0, True
    while level >= 0:
        width = min(used[level] + 1, k)
        if entering:
            weigh_row(problem, tally, level, width, values[level])
            choice = 0
        else:
            choice = tally.labels[level] + 1
            shift_row(problem, tally, level, choice - 1, -1)
        if level == n - 1:
            place = np.argmin(values[level, :width])
            found = upto[level] + values[level, place]
            if found < least - LEAST_GAIN * (1.0 + abs(found)):
                least = found
                best[:] = tally.labels
                best[level] = place
        elif choice < width:
            shift_row(problem, tally, level, choice, 1)
            upto[level + 1] = upto[level] + values[level, choice]
            used[level + 1] = max(used[level], choice + 1)
            level, entering = level + 1, True
            continue
        level, entering = level - 1, False
