"""How far a partition is from draws of partitions: variation of information and Binder's loss.

With n_c the sizes of one partition's clusters, m_l those of the other's and n_cl the cells of their table, n objects:

- "vi", the variation of information in nats: (sum f(n_c) + sum f(m_l) - 2 sum f(n_cl)) / n with f(x) = x log x. Divide
  by log 2 for bits, in which R's salso counts.
- "binder", Binder's loss at equal costs of its two mistakes: (sum n_c^2 + sum m_l^2 - 2 sum n_cl^2) / n^2, which is
  2 / n^2 times the number of pairs of objects that are together in one partition only, or (1 - Rand) (n - 1) / n: the
  `binder` of R's salso with a = 1.

Objects that are MISSING in either are left out.
"""

from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from partita.core.coding import MissingRule, code_integers
from partita.core.columns import code_labels
from partita.core.draws import Draws
from partita.core.errors import ParameterError
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, IntArray, sealed
from partita.kernels.draws import measure_draws

Loss: TypeAlias = Literal["vi", "binder"]
DRAWS_AT_A_TIME = 16


class Groups(NamedTuple):
    """A partition as the objects of one cluster after another; cluster c's are at starts[c] … starts[c + 1]."""

    members: IntArray
    starts: IntArray


def check_loss(loss: str) -> Loss:
    """The loss of this name; another raises."""
    if loss not in get_args(Loss):
        raise ParameterError(f"loss={loss!r} is none; choose from {', '.join(get_args(Loss))}")
    return loss  # type: ignore[return-value]  # just looked up


def coded(labels: Any, draws: Draws) -> IntArray:
    """(n,) one label for each object of the draws, by first appearance; MISSING where either has none."""
    codes = by_first(labels)
    objects = draws.labels.shape[1]
    if len(codes) != objects:
        raise ParameterError(f"labels of {len(codes)} objects and draws of {objects}; give a label for every object")
    unknown = draws.labels[0] == MISSING
    return by_first(np.where(unknown, np.int32(MISSING), codes)) if unknown.any() else codes


def by_first(labels: Any) -> IntArray:
    """(n,) labels of any kind numbered by first appearance, -1 and empty ones MISSING."""
    whole = isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.dtype.kind == "i" and labels.dtype.isnative
    if not whole or not len(labels):
        return code_labels(labels, "labels")
    codes, _ = code_integers(np.ascontiguousarray(labels)[:, None], MISSING, ["labels"], MissingRule(said=True))
    return codes[:, 0].astype(np.int32)


def groups(codes: IntArray) -> Groups:
    """The objects by cluster; MISSING ones are left out."""
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes[codes != MISSING])
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Groups(order[len(order) - starts[-1] :], starts)


def distances(draws: Draws, labels: Any, loss: Loss = "vi") -> FloatArray:
    """(draws,) the distance of each draw from a partition.

    >>> distances(Draws.of([[0, 0, 1, 1], [0, 0, 0, 0]]), [0, 0, 1, 1], "binder").tolist()
    [0.0, 0.5]
    """
    vi = check_loss(loss) == "vi"
    members, starts = groups(coded(labels, draws))
    if not len(members):
        raise ParameterError("no object has a label both in the partition and in the draws; label at least one")
    out = np.empty(len(draws))
    work = partial(measure_draws, sealed(draws.labels), sealed(members), sealed(starts), vi, out)
    map_chunks(work, len(draws), DRAWS_AT_A_TIME)
    return np.asarray(np.maximum(out, 0.0) / (len(members) if vi else len(members) ** 2))


def expected_loss(draws: Draws, labels: Any, loss: Loss = "vi") -> float:
    """The mean distance of the draws from a partition: VI in nats, or Binder's loss as a share of all pairs.

    >>> expected_loss(Draws.of([[0, 0, 1, 1], [0, 0, 0, 0]]), [0, 0, 1, 1], "binder")
    0.25
    """
    return float(distances(draws, labels, loss).mean())
