"""Whether what was read is the data set: checksum of the file, or shape, classes and values of another copy."""

import hashlib

import numpy as np

from partita.core.errors import FileError
from partita.core.types import FloatArray
from partita.datasets.base import Dataset
from partita.datasets.entry import Entry


def values_digest(X: FloatArray) -> str:
    """A digest of the features that does not depend on the order of the rows, nor on digits beyond the seventh.

    >>> X = np.array([[1.0, 2.0], [0.1, -0.0]])
    >>> values_digest(X) == values_digest(X[::-1] * (1 + 1e-12)) != values_digest(X + 0.1)
    True
    """
    rows = np.ascontiguousarray(X, dtype=np.float32) + np.float32(0)  # -0.0 becomes 0.0
    packed = np.sort(rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel())
    return hashlib.sha256(packed.tobytes()).hexdigest()[:16]


def check_sum(place: str, raw: bytes, expected: str, way_out: str) -> None:
    """Refuse a file whose bytes are not those of the catalogue."""
    found = hashlib.sha256(raw).hexdigest()
    if found != expected:
        raise FileError(f"{place}: sha256 is {found}, expected {expected}; {way_out}")


def check_facts(place: str, dataset: Dataset, entry: Entry) -> bool:
    """Refuse another copy with other sizes than the catalogue's; tell whether its values are the same."""
    n, d = dataset.X.shape
    counts = np.bincount(dataset.labels, minlength=entry.k).tolist()
    wrong = [
        f"{what} {found}, expected {expected}"
        for what, found, expected in (
            ("objects:", n, entry.n),
            ("features:", d, entry.d),
            ("class sizes:", sorted(counts), sorted(entry.counts)),
        )
        if found != expected
    ]
    if wrong:
        raise FileError(f"{place}: this is not {entry.name}; {'; '.join(wrong)}; get it from {entry.archive}")
    return values_digest(dataset.X) == entry.values
