"""Bayesian cluster ensembles: parameters, expectation over the rows of a part, update from sums alone.

Object i has shares theta_i ~ Dirichlet(alpha) of k clusters; each of its labels y_ij comes from a cluster h drawn by
them, with chance beta_hj(y_ij) (Wang, Shan and Banerjee 2009). `at_site` is all that touches rows, so that rows can lie
anywhere; `update` sees sums alone: the concentration alpha needs no more of the data than `Sums.pulls` and the number
of objects.
"""

import numpy as np
from scipy.special import gammaln, polygamma, psi

from partita.core.counting import by_clustering, unit_weights
from partita.core.dirichlet import Bce, Inner, Sums, expect
from partita.core.model import ColumnModel
from partita.core.types import BoolArray, FloatArray, IntArray
from partita.models.mixture import Elsewhere, Rows, log_chances

LOWEST, HIGHEST = 1e-4, 1000.0
"""Range of alpha: at the lower end an object is in one cluster, at the upper end all objects have the same shares."""
NEWTON_STEPS, HALVINGS = 100, 60
SMALL_RISE, SETTLED = 1e-9, 1e-13
"""The rise of the evidence below which Newton's steps need no check, and the relative move that ends them."""


def at_site(params: Bce, part: Rows, gamma: FloatArray, inner: Inner) -> tuple[FloatArray, Sums]:
    """One expectation pass over the rows of a part, from their `gamma` (n, k): the next one, and sums that add up."""
    if isinstance(part, Elsewhere):
        return gamma, part.expect(params)
    moved = gamma.copy()
    return moved, expect(params, part, unit_weights(part), moved, np.empty(len(part)), inner)


def update(sums: Sums, before: Bce, offsets: IntArray, smoothing: float, learn_alpha: bool) -> Bce:
    """The parameters that fit the sums best, given `smoothing` imaginary objects with each label in each cluster."""
    alpha = concentration(before.alpha, sums.pulls, sums.objects) if learn_alpha else before.alpha
    return Bce(alpha, log_chances(sums.labels + smoothing, offsets))


def evidence(alpha: FloatArray, pulls: FloatArray, objects: float) -> float:
    """What of the bound depends on alpha, for one object."""
    return float(gammaln(alpha.sum()) - gammaln(alpha).sum() + (alpha - 1) @ pulls / objects)


def concentration(alpha: FloatArray, pulls: FloatArray, objects: float) -> FloatArray:
    """The alpha within its range that maximises `evidence`, which is concave, by Newton's method from `alpha`.

    Clusters at an end of the range that would leave it stay there, the others step. A step goes no further than the
    range and a tenth of what was, and is halved while it lowers the evidence; so alpha stays positive. Near the top the
    rise is lost in rounding: there whole steps are taken as they are, while they shrink.
    """
    last = np.inf
    for _ in range(NEWTON_STEPS):
        gradient = psi(alpha.sum()) - psi(alpha) + pulls / objects
        free = ~((alpha <= LOWEST) & (gradient <= 0) | (alpha >= HIGHEST) & (gradient >= 0) | (gradient == 0))
        if not free.any():
            break
        step = _newton_step(alpha, gradient, free)
        floor = np.maximum(LOWEST, alpha / 10)
        found = np.clip(alpha + step, floor, HIGHEST)
        close = float(gradient @ step) <= SMALL_RISE
        if not close:
            height = evidence(alpha, pulls, objects)
            for halving in range(1, HALVINGS):
                if evidence(found, pulls, objects) >= height:
                    break
                found = np.clip(alpha + step * 0.5**halving, floor, HIGHEST)
            else:
                break
        moved = float((np.abs(found - alpha) / alpha).max())
        alpha = found
        if moved <= SETTLED or (close and moved > last / 2):
            break
        last = moved if close else np.inf
    return alpha


def _newton_step(alpha: FloatArray, gradient: FloatArray, free: BoolArray) -> FloatArray:
    """Minus the inverse Hessian times the gradient, for the free clusters alone; 0 for the others.

    The Hessian is trigamma(sum alpha) everywhere less trigamma(alpha) on the diagonal, so that Sherman and Morrison's
    formula solves it in linear time.
    """
    inverse = np.where(free, 1 / polygamma(1, alpha), 0.0)
    common = float(polygamma(1, alpha.sum()))
    shared = common * float(inverse @ gradient) / (1 - common * float(inverse.sum()))
    return np.asarray(inverse * (gradient + shared))


def model_of(fitted: Bce, ensemble: Rows) -> ColumnModel:
    """The fitted parameters as a model that places new objects."""
    tables = by_clustering(fitted.log_probs, ensemble.offsets)
    return ColumnModel(fitted.alpha, tables, "dirichlet", weights=unit_weights(ensemble))
