"""What variational inference of nonparametric Bayesian cluster ensembles tells: clusters, model, perplexity."""

from typing import Any, Final

import numpy as np

from partita.core.consensus import Consensus
from partita.core.counting import by_clustering, unit_weights
from partita.core.dirichlet import known_weight
from partita.core.likelihood import perplexity
from partita.core.model import ColumnModel
from partita.core.soft import AnyEnsemble
from partita.core.types import FloatArray, IntArray
from partita.models.mixture import Mixture, Rows, memberships, scores_of
from partita.models.nbce_bound import Columns, Hyper, mean_chances, mean_shares

ESTIMATOR: Final = "log of p(labels of an object | posterior mean parameters)"


def folded(
    ensemble: AnyEnsemble, columns: Columns, hyper: Hyper, shares: FloatArray, k: int | None, told: dict[str, Any]
) -> Consensus:
    """Every row to its likeliest component; those that are no row's likeliest are left out of its memberships.

    `shares` (n, m) are those of all copies of a column together; where such a column is used, one of its copies is.
    """
    used, labels = np.unique((shares / columns.copies).argmax(axis=1), return_inverse=True)
    kept = shares[:, used] / columns.copies[used]
    kept /= kept.sum(axis=1, keepdims=True)
    fitted = mean_mixture(columns, ensemble.offsets, hyper)
    _, chances = memberships(fitted, ensemble)
    likelihood = float(ensemble.counts @ chances)
    known = float(ensemble.counts @ known_weight(ensemble, unit_weights(ensemble)))
    sizes = np.bincount(labels, weights=ensemble.counts)
    told["detail"] |= {
        "bound": told["detail"]["objective"],
        "clusters found": len(used),
        "alpha": hyper.alpha,
        "beta": hyper.beta,
        "log likelihood": likelihood,
        "training perplexity": perplexity(likelihood, known),
        "perplexity by": ESTIMATOR,
        "perplexity of the bound": perplexity(told["detail"]["objective"], known),
        "outlier share": float(np.count_nonzero(sizes <= 1) / sizes.sum()),
    }
    model = model_of(fitted, ensemble, used, columns.copies[used])
    return Consensus(
        labels.astype(np.int32),
        membership=kept,
        k_asked=k,
        model=model,
        **told,
    )


def mean_mixture(columns: Columns, offsets: IntArray, hyper: Hyper) -> Mixture:
    """The mixture of the posterior means of shares and label chances; components beyond the last are its last one."""
    beyond = Columns(
        np.append(columns.sizes, 0.0), np.pad(columns.labels, ((0, 0), (0, 1))), np.append(columns.copies, 1)
    )
    shares = mean_shares(columns, hyper)
    chances = np.log(mean_chances(beyond, offsets, hyper.beta))
    present = shares > 0
    return Mixture(np.log(shares[present]), np.ascontiguousarray(chances[:, present]))


def model_of(fitted: Mixture, ensemble: Rows, used: IntArray, copies: FloatArray) -> ColumnModel:
    """The mixture as scores that place new objects; the clusters are the used components, one of their copies each."""
    tables = by_clustering(scores_of(fitted, ensemble), ensemble.offsets)
    shares = np.zeros((len(fitted.log_weights), len(used)))
    shares[used, np.arange(len(used))] = 1 / copies
    return ColumnModel(fitted.log_weights, tables, "softmax", weights=unit_weights(ensemble), shares=shares)
