"""Measures of agreement: between two labellings, between a labelling and an ensemble, and of fitted models; and what
the base clusterings say of a consensus and of each other (`diagnose`).

A measure of two labellings comes twice: `nmi(a, b, weights=None)` takes labels of any kind, `nmi_of(table)` the
`Contingency` they make, so that several measures share one table. `MEASURES` lists those that compare with a truth.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from partita.core.likelihood import perplexity
from partita.metrics.clusterings import Agreement, Influence, clustering_agreement, influence
from partita.metrics.coassociation import Coassociation, coassociation, delta_area
from partita.metrics.confidence import confidence
from partita.metrics.contingency import Contingency, contingency, ensemble_tables, from_dense
from partita.metrics.diagnosing import Diagnostics, diagnose
from partita.metrics.doubt import Doubt, doubtful
from partita.metrics.ensemble import anmi, anmi_of, column_nmi, pairwise_ari, pairwise_nmi
from partita.metrics.information import (
    ami,
    ami_of,
    class_entropy,
    class_entropy_of,
    entropy,
    mutual_information,
    mutual_information_of,
    nmi,
    nmi_of,
    variation_of_information,
    variation_of_information_of,
)
from partita.metrics.items import ItemConsensus, item_consensus, item_matrix
from partita.metrics.matching import f1, f1_of, micro_precision, micro_precision_of, misassignment, misassignment_of
from partita.metrics.matrices import block_matrix, consensus_matrix
from partita.metrics.model import gmr
from partita.metrics.pairs import ari, ari_of, rand, rand_of


class Measure(NamedTuple):
    """A measure of a labelling (rows of the table) against a truth (columns)."""

    of: Callable[[Contingency], float]
    symmetric: bool
    """Whether the two may change places."""
    better: Literal["higher", "lower"]
    best: float
    """The value of a labelling that equals the truth."""
    summary: str


MEASURES: Final[Mapping[str, Measure]] = MappingProxyType(
    {
        "nmi": Measure(nmi_of, True, "higher", 1.0, "normalised mutual information, geometric mean of the entropies"),
        "ami": Measure(ami_of, True, "higher", 1.0, "mutual information adjusted for chance"),
        "ari": Measure(ari_of, True, "higher", 1.0, "Rand index adjusted for chance"),
        "rand": Measure(rand_of, True, "higher", 1.0, "share of pairs of objects treated alike"),
        "variation_of_information": Measure(
            variation_of_information_of, True, "lower", 0.0, "information in one partition but not in both, in nats"
        ),
        "micro_precision": Measure(
            micro_precision_of, False, "higher", 1.0, "share of objects in their cluster's majority class; grows with k"
        ),
        "class_entropy": Measure(
            class_entropy_of, False, "lower", 0.0, "mean entropy of the classes within the clusters; falls with k"
        ),
        "misassignment": Measure(
            misassignment_of, True, "lower", 0.0, "share of objects outside the best one-to-one match"
        ),
        "f1": Measure(f1_of, True, "higher", 1.0, "harmonic mean of mean cluster precision and mean class recall"),
    }
)
"""The measures of a labelling against a truth, by name."""

__all__ = [
    "MEASURES",
    "Agreement",
    "Coassociation",
    "Contingency",
    "Diagnostics",
    "Doubt",
    "Influence",
    "ItemConsensus",
    "Measure",
    "ami",
    "ami_of",
    "anmi",
    "anmi_of",
    "ari",
    "ari_of",
    "block_matrix",
    "class_entropy",
    "class_entropy_of",
    "clustering_agreement",
    "coassociation",
    "column_nmi",
    "confidence",
    "consensus_matrix",
    "contingency",
    "delta_area",
    "diagnose",
    "doubtful",
    "ensemble_tables",
    "entropy",
    "f1",
    "f1_of",
    "from_dense",
    "gmr",
    "influence",
    "item_consensus",
    "item_matrix",
    "micro_precision",
    "micro_precision_of",
    "misassignment",
    "misassignment_of",
    "mutual_information",
    "mutual_information_of",
    "nmi",
    "nmi_of",
    "pairwise_ari",
    "pairwise_nmi",
    "perplexity",
    "rand",
    "rand_of",
    "variation_of_information",
    "variation_of_information_of",
]
