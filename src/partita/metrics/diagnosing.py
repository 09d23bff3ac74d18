"""diagnose(): every diagnostic of one consensus."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.core.consensus import Consensus
from partita.core.fields import places_of
from partita.core.progress import steps
from partita.core.soft import AnyEnsemble, as_ensemble
from partita.core.suggest import suggests_names
from partita.core.threads import thread_limit
from partita.core.types import FloatArray, FrozenArrays
from partita.metrics.clusterings import Agreement, Influence, clustering_agreement, influence
from partita.metrics.coassociation import Coassociation, coassociation
from partita.metrics.confidence import confidence
from partita.metrics.doubt import Doubt, doubtful
from partita.metrics.items import ItemConsensus, item_consensus
from partita.metrics.together import labels_of

WHAT = "diagnosing"


@dataclass(frozen=True, eq=False)
class Diagnostics(FrozenArrays):
    """Confidence of a consensus per object, and which clusterings support it."""

    confidence: FloatArray
    """(n,) confidence of each object in its cluster, see `partita.metrics.confidence`."""
    items: ItemConsensus
    """Of each object and each cluster: item-consensus, cluster-consensus, silhouette."""
    coassociation: Coassociation
    """How the base clusterings agree over pairs of objects, whatever the consensus: CDF and PAC."""
    agreement: Agreement
    """NMI of each two base clusterings."""
    influence: Influence
    """NMI of each base clustering with the consensus, and ANMI without it."""
    doubt: Doubt
    """Margin of each object, and which objects are misplaced or outliers."""


@suggests_names
def diagnose(ensemble: Any, consensus: Any, *, seed: int | None = 0, threads: int | None = None) -> Diagnostics:
    """Every diagnostic of a consensus, in time linear in the objects and without a matrix of all pairs.

    Parameters
    ----------
    ensemble
        As for `partita.consensus`.
    consensus
        What `partita.consensus` gave, or one label an object from anywhere; None, NaN and -1 mean no cluster. Objects
        stand in the same order as in the ensemble, unless both carry ids: then they are joined by id, in the order of
        the consensus.
    seed
        Fixes the pairs of objects that are drawn where there are too many to look at all.
    threads
        At most so many threads; the result does not depend on it.

    >>> import partita
    >>> ensemble = partita.Ensemble.from_labels([[0, 0], [0, 0], [1, 0], [1, 1]])
    >>> found = diagnose(ensemble, [0, 0, 1, 1])
    >>> found.items.own.tolist(), found.doubt.order.tolist()
    ([1.0, 1.0, 0.5, 0.5], [2, 3, 0, 1])
    """
    given, labels = _joined(as_ensemble(ensemble), consensus), labels_of(consensus)
    found: dict[str, Any] = {}
    jobs: dict[str, Callable[[], Any]] = {
        "confidence": lambda: confidence(given, labels),
        "items": lambda: item_consensus(given, labels),
        "coassociation": lambda: coassociation(given, seed=seed),
        "agreement": lambda: clustering_agreement(given, seed=seed),
        "influence": lambda: influence(given, labels),
        "doubt": lambda: doubtful(found["items"], labels),
    }
    with thread_limit(threads):
        for name in steps(jobs, len(jobs), WHAT):
            found[name] = jobs[name]()
    return Diagnostics(**found)


def _joined(ensemble: AnyEnsemble, consensus: Any) -> AnyEnsemble:
    """The objects of the ensemble in the order of the consensus, where both say what they are called."""
    ids = consensus.ids if isinstance(consensus, Consensus) else None
    if ids is None or ensemble.ids is None or np.array_equal(ids, ensemble.ids):
        return ensemble
    return ensemble.rows(places_of(ids, ensemble.ids, "ensemble"))
