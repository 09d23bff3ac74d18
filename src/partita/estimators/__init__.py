"""The scikit-learn shells: consensus of a table of labels, and clustering of a table of features."""

from partita.estimators.of_features import EnsembleClustering
from partita.estimators.of_labels import ConsensusClustering

__all__ = ["ConsensusClustering", "EnsembleClustering"]
