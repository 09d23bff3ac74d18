"""How a fitted model places rows: its numbers and the rows' labels become memberships and, for some, probabilities.

A link takes the model's `bias` (k,), its `tables` (t, k) with one row for each label of all clusterings together, the
`weights` (r,) of the clusterings and the rows, labels or memberships under the model's codes. A new kind of model is
one function and one line in `LINKS`.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from partita.core.counting import column_scores
from partita.core.dirichlet import Bce, exact_log_probs, infer
from partita.core.soft import AnyEnsemble
from partita.core.threads import map_chunks
from partita.core.types import FloatArray
from partita.kernels.mixture import share_out
from partita.kernels.scores import IMPOSSIBLE

ROWS: Final = 1 << 12
"""AnyEnsemble worth a call of the compiled pass."""


class Placed(NamedTuple):
    """Where rows belong."""

    memberships: FloatArray
    """(n, k) rows sum to 1."""
    log_chances: FloatArray | None = None
    """(n,) the logarithm of the probability of each row's labels, -inf where it is 0; None where a model has none."""


LinkFunction: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray, AnyEnsemble], Placed]


def share(bias: FloatArray, tables: FloatArray, weights: FloatArray, rows: AnyEnsemble) -> Placed:
    """Scores divided by their sum; equal shares where all are 0, since nothing speaks for any cluster."""
    scores = column_scores(tables, rows, bias)
    sums = scores.sum(axis=1, keepdims=True)
    if not sums.all():
        scores[sums[:, 0] == 0] = 1.0
        sums[sums == 0] = scores.shape[1]
    scores /= sums
    return Placed(scores)


def best(bias: FloatArray, tables: FloatArray, weights: FloatArray, rows: AnyEnsemble) -> Placed:
    """All to the cluster of highest score, the first of equals."""
    return Placed(one_hot(column_scores(tables, rows, bias)))


def where_it_lies(bias: FloatArray, tables: FloatArray, weights: FloatArray, rows: AnyEnsemble) -> Placed:
    """Rows carried over by their labels; which centre is nearest, the model's `centers` tell."""
    return Placed(column_scores(tables, rows, bias))


def softmax(bias: FloatArray, tables: FloatArray, weights: FloatArray, rows: AnyEnsemble) -> Placed:
    """Scores are logarithms of joint probabilities: of the cluster and of the row's labels."""
    shares, chances = shared_out(bias, tables, rows)
    never = tables <= IMPOSSIBLE
    if never.any():
        against = column_scores(never.astype(np.float64), rows, (bias <= IMPOSSIBLE).astype(np.float64))
        chances[(against > 0).all(axis=1)] = -np.inf
    return Placed(shares, chances)


def dirichlet(bias: FloatArray, tables: FloatArray, weights: FloatArray, rows: AnyEnsemble) -> Placed:
    """Bayesian cluster ensembles: the bias is alpha, the tables hold log beta, and each row is inferred on its own.

    The log-probabilities are the variational lower bounds; `exact_dirichlet` computes the log-probabilities themselves.
    """
    gamma, bounds = infer(Bce(bias, tables), rows, weights)
    gamma /= gamma.sum(axis=1, keepdims=True)
    return Placed(gamma, bounds)


def exact_dirichlet(bias: FloatArray, tables: FloatArray, weights: FloatArray, rows: AnyEnsemble) -> FloatArray:
    """(n,) log-probabilities of rows under Bayesian cluster ensembles, summed over all counts of the clusters."""
    return exact_log_probs(Bce(bias, tables), rows, weights)


def nearest(tables: FloatArray, centers: FloatArray, rows: AnyEnsemble) -> FloatArray:
    """(n, k) 1 for the centre nearest to where the tables carry a row, brought to length 1; 0 for the others."""
    points = column_scores(tables, rows, np.zeros(tables.shape[1]))
    points /= np.maximum(np.sqrt((points**2).sum(axis=1, keepdims=True)), 1e-300)
    closeness: FloatArray = np.einsum("nm,km->nk", points, centers)  # row by row alike, however many there are
    return one_hot(2 * closeness - (centers**2).sum(axis=1))


def one_hot(scores: FloatArray) -> FloatArray:
    """The scores with 1 in place of each row's highest, the first of equals, and 0 in place of the others."""
    winners = scores.argmax(axis=1)
    scores[:] = 0.0
    scores[np.arange(len(scores)), winners] = 1.0
    return scores


def shared_out(bias: FloatArray, tables: FloatArray, rows: AnyEnsemble) -> tuple[FloatArray, FloatArray]:
    """(n, k) exponentials of the scores divided by their sum, and the (n,) logarithms of the sums."""
    scores, chances = column_scores(tables, rows, bias), np.empty(len(rows))
    map_chunks(partial(share_out, scores, chances), len(rows), ROWS)
    return scores, chances


LINKS: Final[dict[str, LinkFunction]] = {
    "share": share,
    "softmax": softmax,
    "dirichlet": dirichlet,
    "best": best,
    "nearest": where_it_lies,
}
LABELS_ONLY: Final = frozenset({"best", "nearest"})
"""Links that tell the best cluster alone; their memberships are all or nothing and not shown."""
EXACT: Final[dict[str, Callable[[FloatArray, FloatArray, FloatArray, AnyEnsemble], FloatArray]]] = {
    "dirichlet": exact_dirichlet
}
"""For links whose log-probabilities are lower bounds, the function that computes the log-probabilities themselves."""
PROBABILITIES: Final = frozenset({"softmax", "dirichlet"})
"""Links of models that give probabilities of labels."""
