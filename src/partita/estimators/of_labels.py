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
from partita.core.errors import ParameterError
from partita.core.suggest import suggests_names
from partita.core.tables import as_table
from partita.core.types import FloatArray, IntArray
from partita.core.ways_out import ESTIMATOR, offering


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
    method : str, default "auto"
        Name of a method, see `partita.methods()`; "auto" fits several methods and chooses one.
    n_clusters : int, range or list of int, optional
        Number of clusters, or several to choose from. Default: chosen as in `partita.consensus`.
    params : dict, optional
        Parameters of the method.
    polish : bool, default False
        Move objects between clusters while the average NMI rises; `predict` is then approximate.
    missing : label or list of labels, optional
        Values that mean a missing label, in addition to NaN and None.
    weights : sequence or mapping of float, optional
        Weights of the clusterings.
    ids : str, optional
        Column of X that holds ids of the objects, which is not used as a clustering.
    transpose : False or None, default None
        False confirms that X has one row per object if it has more columns than rows.
    allow : str or list of str, default ()
        Codes of checks to switch off; see `Ensemble.from_labels`.
    random_state : int, RandomState or None, default 0
        Seed of every random choice.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each object, -1 for an object without any label.
    confidence_ : ndarray of shape (n,)
        Confidence of each object in its cluster, see `partita.metrics.confidence`.
    consensus_ : Consensus
        The whole result: memberships, scores, notes, model, recipe.

    Examples
    --------
    >>> ConsensusClustering(n_clusters=2).fit_predict([[0, 1], [0, 1], [3, 2]]).tolist()
    [0, 0, 1]
    """

    @suggests_names
    def __init__(
        self,
        method: str = "auto",
        n_clusters: Any = None,
        *,
        params: dict[str, Any] | None = None,
        polish: bool = False,
        missing: Any = None,
        weights: Any = None,
        ids: str | None = None,
        transpose: bool | None = None,
        allow: Any = (),
        random_state: Any = 0,
    ) -> None:
        self.method = method
        self.n_clusters = n_clusters
        self.params = params
        self.polish = polish
        self.missing = missing
        self.weights = weights
        self.ids = ids
        self.transpose = transpose
        self.allow = allow
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "ConsensusClustering":
        """Find the consensus of the columns of X; y is ignored."""
        if self.transpose:
            raise ParameterError("transpose=True is not supported, because X has one row per object; give X.T")
        reading = {name: getattr(self, name) for name in ("missing", "weights", "ids", "transpose", "allow")}
        with offering(ESTIMATOR):
            ensemble = Ensemble.from_labels(self._table(X, reset=True), **reading)
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

    def _new_rows(self, X: Any) -> Any:
        """Return X for prediction, without the column of ids."""
        table = self._table(X, reset=False)
        return table if self.ids is None else as_table(table).without(self.ids)[0]

    def predict(self, X: Any) -> IntArray:
        """Consensus labels of new objects, given their labels in the same clusterings."""
        check_is_fitted(self)
        return self.consensus_.predict(self._new_rows(X))

    @available_if(_has_memberships)
    def predict_proba(self, X: Any) -> FloatArray:
        """Memberships of new objects, given their labels in the same clusterings."""
        check_is_fitted(self)
        return self.consensus_.predict_proba(self._new_rows(X))

    @available_if(_has_likelihood)
    def score(self, X: Any, y: Any = None, exact: bool = False) -> float:
        """Return the mean log-likelihood of objects, given their labels in the same clusterings; y is ignored.

        For `bce-vb` and `bce-gibbs` it is a lower bound unless `exact=True`; see `Consensus.log_likelihood`.
        """
        check_is_fitted(self)
        return self.consensus_.log_likelihood(self._new_rows(X), exact) / len(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
