"""Making ensembles of handwritten digits: U-SPEC members against k-means members and one spectral clustering."""

import os
from typing import Any

from benchmarks.harness import Case, Contestant

VARIABLE = "PARTITA_DATA"
CLUSTERS, MEMBERS = 10, 20


def pendigits() -> tuple[Any, Any]:
    """Features and classes."""
    from partita.datasets import load

    found = load("pendigits")
    return found.X, found.labels


def ensembles(way: str, members: int = MEMBERS):
    """Members of 20 to 60 clusters made that way, and LWGP."""

    def run(data):
        import partita

        made = partita.make_ensemble(data[0], way, members=members, k=(20, 60), seed=0)
        return partita.consensus(made, "lwgp", CLUSTERS, seed=0).labels

    return run


def spectral(data):
    """scikit-learn's spectral clustering of the graph of nearest neighbours."""
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(CLUSTERS, affinity="nearest_neighbors", random_state=0).fit_predict(data[0])


def kmeans(data):
    """scikit-learn's k-means, best of ten starts."""
    from sklearn.cluster import KMeans

    return KMeans(CLUSTERS, n_init=10, random_state=0).fit_predict(data[0])


def quality(labels, data) -> dict[str, float]:
    """NMI with the classes."""
    from partita.metrics import nmi

    return {"NMI": nmi(data[1], labels)}


def lacking() -> str:
    """Why the digits cannot be read."""
    return "" if os.environ.get(VARIABLE) else f"{VARIABLE} is not set; it names the folder of the papers' data"


def digits_case(make=pendigits, members: int = MEMBERS, repeats: int = 1) -> Case:
    """Quality and time on the digits of Alpaydin and Alimoglu."""
    return Case(
        "generating",
        f"10992 written digits, {CLUSTERS} clusters; ensembles have {members} members of 20 to 60 clusters, and LWGP",
        make,
        (
            Contestant("uspec ensemble, lwgp", ensembles("uspec", members)),
            Contestant("kmeans ensemble, lwgp", ensembles("restarts", members)),
            Contestant("scikit-learn SpectralClustering", spectral),
            Contestant("scikit-learn KMeans, 10 starts", kmeans),
        ),
        quality,
        repeats=repeats,
        lacking=lacking,
    )


CASES = [digits_case()]
