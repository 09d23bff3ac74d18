"""The column exchange as the paper has it (Wang, Shan and Banerjee 2009, section 5.2.2): for comparison, not for use.

A site sends for every object and each of its clusterings the logarithms of its label's chances in each cluster, and
gets back how that label is shared out. Objects with the same label have the same numbers: whoever receives them has the
site's partitions, up to the names of the labels (`partitions_in`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.core.ensemble import Ensemble
from partita.core.errors import FederatedError
from partita.core.types import MISSING, FloatArray, IntArray
from partita.federated.at_columns import Columns, Kept
from partita.models.mixture import log_chances
from partita.starts.transfer_cut import row_marks, spread_basis

LEAK = (
    "the paper's exchange shows the coordinator every site's partitions (up to label names) and every object's "
    "memberships; it is not private"
)


def known_step(site: Columns) -> dict[str, NDArray[Any]]:
    """Show which labels are known, the weights of the clusterings, and the sums of the first vectors of the start."""
    part = _labels(site)
    assert site.terms.k is not None
    known = (part.labels.T != MISSING).astype(np.int64)
    return {"known": known, "weights": part.weights, "marks": row_marks(part, part.weights, site.terms.k)}


def spread_step(site: Columns, basis: FloatArray) -> dict[str, NDArray[Any]]:
    """Show the site's part of a step of the transfer cut."""
    return {"values": spread_basis(site.part, site.part.weights, basis)}


def paper_step(site: Columns, phi: FloatArray) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """Show the chances of every object's labels, under the distributions that phi (clusterings, n, k) leads to."""
    part, terms = _labels(site), site.terms
    counts = np.zeros((int(part.offsets[-1]), phi.shape[2]))
    for j, column in enumerate(part.labels.T):
        known = column != MISSING
        np.add.at(counts, part.offsets[j] + column[known], phi[j][known])
    log_probs = log_chances(counts + terms.params["smoothing"], part.offsets)
    places = part.labels.T + part.offsets[:-1, None]
    known = part.labels.T != MISSING
    shown = log_probs[np.where(known, places, 0)] * known[:, :, None]
    prior = terms.params["smoothing"] * float(log_probs.sum())
    return {"log_probs": shown, "prior": np.array([prior])}, {"log_probs": log_probs}


def paper_close(site: Columns, kept: Kept, asked: Any) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return what the site keeps of the coordinator's result."""
    gamma = asked["gamma"]
    arrays = {
        "best_shares": np.maximum(gamma, 0.0),
        "best_log_probs": kept["log_probs"],
        "best_bias": asked["bias"],
        "keep": (gamma[:, 0] >= 0).astype(np.uint8),
        "weights": site.part.weights / asked["scale"][0],
    }
    return arrays, {"best trace": asked["trace"].tolist(), "converged": bool(asked["converged"][0])}


def _labels(site: Columns) -> Ensemble:
    if not isinstance(site.part, Ensemble):
        raise FederatedError("the paper's exchange takes labels, not memberships; take another protocol (sums)")
    return site.part


def partitions_in(values: FloatArray) -> list[IntArray]:
    """The attack: for each clustering (first axis) the objects (second axis) grouped by equal numbers."""
    return [np.unique(column.reshape(len(column), -1), axis=0, return_inverse=True)[1].reshape(-1) for column in values]
