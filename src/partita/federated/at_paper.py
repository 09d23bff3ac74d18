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

LEAK = (
    "the paper's exchange shows the coordinator every site's partitions (up to label names) and every object's "
    "memberships; it is not private"
)


def paper_step(site: Columns, kept: Kept, phi: FloatArray | None) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The chances of every object's labels, under the distributions that phi (clusterings, n, k) leads to.

    Before the first phi, distributions drawn from the seed: the site has no other start that the coordinator can share.
    """
    part, terms = site.part, site.terms
    if not isinstance(part, Ensemble):
        raise FederatedError("the paper's exchange takes labels, not memberships; take another protocol (sums)")
    assert terms.k is not None
    counts = np.zeros((int(part.offsets[-1]), terms.k))
    if phi is None:
        counts += np.random.default_rng([terms.seed, int(kept["place"][0])]).standard_exponential(counts.shape)
    else:
        for j, column in enumerate(part.labels.T):
            known = column != MISSING
            np.add.at(counts, part.offsets[j] + column[known], phi[j][known])
    log_probs = log_chances(counts + terms.params["smoothing"], part.offsets)
    places = part.labels.T + part.offsets[:-1, None]
    known = (part.labels.T != MISSING).astype(np.int64)
    shown = log_probs[np.where(known > 0, places, 0)] * known[:, :, None]
    return {"log_probs": shown, "known": known, "weights": part.weights}, {"log_probs": log_probs}


def paper_close(kept: Kept, asked: Any) -> dict[str, NDArray[Any]]:
    """What the site keeps of the coordinator's result."""
    gamma = asked["gamma"]
    keep = (gamma[:, 0] >= 0).astype(np.uint8)
    return {
        "best_shares": np.maximum(gamma, 0.0),
        "best_log_probs": kept["log_probs"],
        "best_bias": np.zeros(gamma.shape[1]),
        "keep": keep,
    }


def partitions_in(values: FloatArray) -> list[IntArray]:
    """The attack: for each clustering (first axis) the objects (second axis) grouped by equal numbers."""
    return [np.unique(column.reshape(len(column), -1), axis=0, return_inverse=True)[1].reshape(-1) for column in values]
