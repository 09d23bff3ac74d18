"""The scikit-learn shell of `cluster`: ensemble and consensus in one estimator over a table of features."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from partita.clustering import METHOD, WAY, Clustering
from partita.core.suggest import suggests_names
from partita.core.types import IntArray


def _places(estimator: Any) -> bool:
    """True for an estimator whose base clusterers place new objects."""
    return bool(estimator._asked(0).making.places)


class EnsembleClustering(ClusterMixin, BaseEstimator):
    """Clustering by features: an ensemble of base clusterings and its consensus.

    Parameters
    ----------
    n_clusters
        The number of clusters, a range or a list of them to choose from; if None, it is chosen as in `partita.cluster`.
    way
        How the ensemble is made, as in `partita.make_ensemble`.
    method
        A name from `partita.methods()`.
    params
        Settings of the way and its base clusterer, a dictionary: members, base, base_k, scale and so on, as in
        `partita.cluster`.
    settings
        The method's own settings, a dictionary.
    random_state
        Seed of every random choice.

    Attributes
    ----------
    labels_
        (n,) the clusters.
    ensemble_
        The base clusterings, an `Ensemble` or `SoftEnsemble`.
    confidence_
        (n,) the confidence of each object in its cluster, see `partita.metrics.confidence`.
    consensus_
        The whole `Consensus`: confidence, memberships, scores, model, recipe.

    >>> EnsembleClustering(2).fit([[0.0], [0.1], [5.0], [5.1]]).predict([[4.9], [0.2]]).tolist()
    [1, 0]
    """

    @suggests_names
    def __init__(
        self,
        n_clusters: Any = None,
        *,
        way: str = WAY,
        method: str = METHOD,
        params: dict[str, Any] | None = None,
        settings: dict[str, Any] | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.way = way
        self.method = method
        self.params = params
        self.settings = settings
        self.random_state = random_state

    def _asked(self, seed: int) -> Clustering:
        return Clustering.of(self.n_clusters, (self.way, self.method), self.params, self.settings, seed)

    def fit(self, X: Any, y: Any = None) -> "EnsembleClustering":
        """Make the ensemble of the objects in the rows of X and find its consensus; y is ignored."""
        table = validate_data(self, X, dtype=np.float64, accept_sparse=False, ensure_min_samples=2)
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = int(check_random_state(seed).randint(2**31))
        made, self.consensus_ = self._asked(int(seed)).on(table)
        self.ensemble_ = made.ensemble
        self.labels_ = self.consensus_.labels
        self.confidence_ = self.consensus_.confidence
        self._made = made
        return self

    @available_if(_places)
    def predict(self, X: Any) -> IntArray:
        """Clusters of new objects: each base clustering places them, and their labels decide.

        For a method without a model of its own, such as hbgf, each base cluster votes for the consensus clusters of its
        objects (`consensus_.model.approximate`): `predict` may then differ from `labels_` for objects of `fit`.
        """
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, dtype=np.float64, accept_sparse=False)
        return self.consensus_.predict(self._made.place(table))
