"""What tests have engines do: functions that workers import by name."""

import numpy as np


def square(item):
    return item * item


def load(item):
    """A part of numbers whose sum hangs on the order in which they are added."""
    rng = np.random.default_rng(item)
    return rng.normal(size=50) * 10.0 ** rng.integers(-8, 9, 50)


def wander(common, part, state):
    state = np.zeros_like(part) if state is None else state
    state = np.sin(state + part * common)
    return state, float((state * part).sum())


def total(shares):
    result = 0.0
    for share in shares:
        result += share
    return result


def ask(part, state):
    return len(part), None if state is None else float(state.sum())
