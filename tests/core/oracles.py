"""Slow, obvious answers to what the core computes, and the settings of property tests."""

import math

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, settings

BLANKS = {"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "<NA>"}

steady = settings(
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


def is_unobserved(value, missing=()):
    """Whether a cell says nothing, by the words of `Ensemble.from_labels`."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    if isinstance(value, float) and math.isnan(value):
        return True
    if isinstance(value, str) and value.strip() in BLANKS:
        return True
    return any(type(value) is type(other) and value == other for other in missing)


def kind(value):
    """The kinds of labels that are different even where Python calls them equal, and those that are one kind."""
    return bool if isinstance(value, bool) else int if isinstance(value, (int, float)) else type(value)


def slow_codes(column, missing=()):
    """Codes by first appearance and the values in code order, by a plain list."""
    found, codes = [], []
    for value in column:
        if is_unobserved(value, missing):
            codes.append(-1)
            continue
        key = (kind(value), value)
        if key not in found:
            found.append(key)
        codes.append(found.index(key))
    return codes, tuple(int(value) if isinstance(value, float) else value for _, value in found)


def slow_table(rows, missing=()):
    """The same for a list of rows: (labels, classes)."""
    columns = [slow_codes(column, missing) for column in zip(*rows, strict=True)]
    return [list(row) for row in zip(*(codes for codes, _ in columns), strict=True)], tuple(c for _, c in columns)


def slow_distinct(rows):
    """Where each distinct row first stands, and each row's number, by a dictionary."""
    seen, inverse = {}, []
    for row in rows:
        seen.setdefault(tuple(row), len(seen))
        inverse.append(seen[tuple(row)])
    first = [inverse.index(number) for number in range(len(seen))]
    return first, inverse


def smallest(count):
    """The type that must hold codes 0..count-1 and -1."""
    return np.dtype(np.int8 if count <= 128 else np.int16 if count <= 32768 else np.int32)
