"""The scikit-learn shell: a consensus function as an estimator over a table of labels."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from partita import registry
from partita.api import consensus
from partita.core.ensemble import Ensemble
from partita.core.types import FloatArray, IntArray


def _has_memberships(estimator: Any) -> bool:
    """True for an estimator whose method's own model predicts memberships."""
    return not estimator.polish and registry.get(estimator.method).predicts == "memberships"


def _has_likelihood(estimator: Any) -> bool:
    """True for an estimator whose method tells how probable labels are."""
    return not estimator.polish and registry.get(estimator.method).gives_likelihood


class ConsensusClustering(ClusterMixin, BaseEstimator):
    """Consensus of the base clusterings in the columns of X.

    Parameters
    ----------
    method
        A name from `partita.methods()`; "auto" fits several methods and chooses one.
    n_clusters
        The number of clusters, a range or a list of them to choose from; if None, it is chosen as in
        `partita.consensus`.
    params
        The method's own settings, a dictionary.
    polish
        Then move objects between clusters while ANMI rises; `predict` is then approximate.
    missing
        A label value, or several, that mean unobserved, beside NaN and None.
    random_state
        Seed of every random choice.

    Attributes
    ----------
    labels_
        (n,) the consensus, -1 for an object without any label.
    confidence_
        (n,) the confidence of each object in its cluster, see `partita.metrics.confidence`.
    consensus_
        The whole `Consensus`: confidence, memberships, scores, model, recipe.

    >>> ConsensusClustering(n_clusters=2).fit_predict([[0, 1], [0, 1], [3, 2]]).tolist()
    [0, 0, 1]
    """

    def __init__(
        self,
        method: str = "auto",
        n_clusters: Any = None,
        *,
        params: dict[str, Any] | None = None,
        polish: bool = False,
        missing: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.method = method
        self.n_clusters = n_clusters
        self.params = params
        self.polish = polish
        self.missing = missing
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "ConsensusClustering":
        """Find the consensus of the columns of X; y is ignored."""
        table = self._table(X, reset=True)
        ensemble = Ensemble.from_labels(table, missing=self.missing, transpose=False)
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = int(check_random_state(seed).randint(2**31))
        params = self.params or {}
        self.consensus_ = consensus(ensemble, self.method, self.n_clusters, seed=seed, polish=self.polish, **params)
        self.labels_ = self.consensus_.labels
        self.confidence_ = self.consensus_.confidence
        return self

    def _table(self, X: Any, reset: bool) -> Any:
        """X after scikit-learn's checks of shape and feature names; a dataframe stays one, so that any labels pass."""
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X.reset_index(drop=True) if hasattr(X, "reset_index") else X
        least = 2 if reset else 1  # in predict, the number seen in fit is what counts
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan", ensure_min_features=least)

    def predict(self, X: Any) -> IntArray:
        """Consensus labels of new objects, given their labels in the same clusterings."""
        check_is_fitted(self)
        return self.consensus_.predict(self._table(X, reset=False))

    @available_if(_has_memberships)
    def predict_proba(self, X: Any) -> FloatArray:
        """Memberships of new objects, given their labels in the same clusterings."""
        check_is_fitted(self)
        return self.consensus_.predict_proba(self._table(X, reset=False))

    @available_if(_has_likelihood)
    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of objects, given their labels in the same clusterings; y is ignored."""
        check_is_fitted(self)
        table = self._table(X, reset=False)
        return self.consensus_.log_likelihood(table) / len(table)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
