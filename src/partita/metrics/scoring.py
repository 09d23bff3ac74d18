"""A result with its agreement with the base clusterings."""

from dataclasses import replace

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.soft import SoftEnsemble
from partita.core.types import FrozenDict
from partita.metrics.ensemble import agreement_confidence, anmi


def scored(result: Consensus, ensemble: Ensemble | SoftEnsemble) -> Consensus:
    """A method's result for the rows of `ensemble` with its ANMI and, where the method gave none, a confidence."""
    scores = {**result.scores, "anmi": anmi(ensemble, result.labels)}
    detail = {"confidence": "largest membership", **result.detail}
    confidence = result.confidence
    if confidence is None and not (result.model is not None and result.model.link == "share"):
        confidence = agreement_confidence(ensemble, result.labels)
        detail["confidence"] = "share of the objects in the same base clusters that are in the same consensus cluster"
    return replace(result, confidence=confidence, scores=FrozenDict(scores), detail=FrozenDict(detail))
