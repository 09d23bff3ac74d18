"""How alike two rows are: by direction, by correlation, by the extended Jaccard similarity."""

import numpy as np

from partita.core.types import FloatArray


def unchanged(X: FloatArray) -> FloatArray:
    """The rows as they are."""
    return X


def scatter(X: FloatArray) -> FloatArray:
    """(n,) the squared length of each row."""
    return np.asarray(np.einsum("ij,ij->i", X, X))


def directed(X: FloatArray) -> FloatArray:
    """Rows of length 1; a zero row, which has no direction, stays zero."""
    largest = np.abs(X).max(axis=1, initial=0.0, keepdims=True)
    safe = X / np.where(largest > 0, largest, 1.0)  # so that no square over- or underflows
    length = np.sqrt(scatter(safe))[:, None]
    return np.asarray(safe / np.where(length > 0, length, 1.0))


def correlated(X: FloatArray) -> FloatArray:
    """Rows less their mean, of length 1: their scalar products are Pearson's correlations. A constant row is zero."""
    centred = X - X.mean(axis=1, keepdims=True)
    rounding = 1e-12 * np.abs(X).max(axis=1, initial=0.0, keepdims=True)
    return directed(np.where(np.abs(centred) > rounding, centred, 0.0))


def jaccard(X: FloatArray, Y: FloatArray) -> FloatArray:
    """(n, m) xᵀy / (|x|² + |y|² − xᵀy), the extended Jaccard similarity; two zero rows are alike."""
    products = X @ Y.T
    unions = scatter(X)[:, None] + scatter(Y) - products
    return np.asarray(np.where(unions > 0, products / np.where(unions > 0, unions, 1.0), 1.0))
