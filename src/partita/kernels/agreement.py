"""What one row of labels shares with others, counted a clustering at a time in loops that compile to vectors."""

from typing import NamedTuple

import numpy as np

from partita.kernels.compiling import Array, kernel

BLOCK = 4096
"""Rows counted at a time, so that their counts stay in the fastest cache."""


class Table(NamedTuple):
    """Labels to count agreements in."""

    labels: Array
    """(r, n) a clustering a row, negative where unobserved."""
    units: Array
    """(r,) weights of the clusterings, uint8 where their sum fits, else float32."""
    agree: Array
    """(BLOCK,) scratch of the same type."""
    known: Array
    """(BLOCK,) scratch of the same type; of length 0 if no label is missing."""


@kernel
def clear(sums: Array) -> None:
    """Start from 0."""
    for c in range(sums.shape[0]):
        sums[c] = 0


@kernel
def add_where_equal(labels: Array, label: int, unit: float, sums: Array) -> None:
    """Add the unit where the label occurs; a loop over plain arrays, which the compiler turns into vectors."""
    for c in range(sums.shape[0]):
        if labels[c] == label:
            sums[c] += unit


@kernel
def add_where_known(labels: Array, unit: float, sums: Array) -> None:
    """Add the unit where there is a label."""
    for c in range(sums.shape[0]):
        if labels[c] >= 0:
            sums[c] += unit


@kernel
def scale_shares(agree: Array, known: Array, own: float, weights: Array, out: Array) -> None:
    """Write agreement, as a share of what is known where that is given, times the weights."""
    if known.shape[0] > 0:
        for c in range(out.shape[0]):
            ratio = np.float32(agree[c]) / np.float32(known[c]) if known[c] > 0 else np.float32(0.0)
            out[c] = ratio * own * weights[c]
    else:
        for c in range(out.shape[0]):
            out[c] = np.float32(agree[c]) * own * weights[c]


@kernel
def share_labels(table: Table, row: int, weights: Array, out: Array, size: int) -> None:
    """Write what a row shares with each of the first `size` rows, times the weights of both.

    That is the summed units of clusterings in which they share a label; with missing labels, as a share of the units
    of clusterings known in both (0 where there is none).
    """
    labels, units = table.labels, table.units
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        agree, known = table.agree[: stop - start], table.known[: stop - start]
        clear(agree)
        clear(known)
        for j in range(labels.shape[0]):
            label = labels[j, row]
            if label >= 0:
                here = labels[j, start:stop]
                add_where_equal(here, label, units[j], agree)
                add_where_known(here, units[j], known)
        scale_shares(agree, known, weights[row], weights[start:stop], out[start:stop])


@kernel
def largest(bits: Array) -> int:
    """The largest of some values."""
    most: int = bits[0]
    for c in range(bits.shape[0]):
        most = max(most, bits[c])
    return most


@kernel
def first_largest(bits: Array, size: int) -> int:
    """Where the largest of the first `size` values is, the first of equals."""
    place, most = 0, bits[0]
    for start in range(0, size, 512):
        here = largest(bits[start : min(start + 512, size)])
        if here > most:
            place, most = start, here
    while bits[place] != most:
        place += 1
    return place
