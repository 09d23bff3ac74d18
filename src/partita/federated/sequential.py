"""The paper's heuristic for rows (Wang, Shan and Banerjee 2009, section 5.2.1): parameters go from site to site.

Each site makes new ones of its own rows alone. There is no sum to hide in: the coordinator, or whoever comes next, sees
each site's parameters. A label that a site lacks would get chance 0 there, so parameters are smoothed.
"""

from functools import partial
from typing import NamedTuple

from numpy.random import Generator

from partita.core.dirichlet import Bce
from partita.core.iterate import Run, Tick, iterate
from partita.core.types import FloatArray
from partita.federated.hub import Hub
from partita.federated.row_starts import start_clusters
from partita.federated.rows import Fitted, clusters, elsewhere, expect_mixture, restarted, settings
from partita.models import bce, bce_vb, mixture, mm
from partita.models.mixture import Elsewhere, Mixture

LEAK = "the sequential exchange shows the coordinator the parameters that each site fits to its own rows"


class Passed(NamedTuple):
    """The parameters that a site passes on."""

    bias: FloatArray
    log_probs: FloatArray


def begun(hub: Hub, rows: Elsewhere, rng: Generator) -> Passed:
    """The parameters of a start."""
    params = settings(hub)
    found = start_clusters(hub, rows, clusters(hub), rng)
    counts = mixture.soften(found.labels, found.weights)
    if hub.terms.method == "mm":
        weights = rows.weights / rows.weights.mean()
        return Passed(*mixture.maximise(counts, rows.offsets, params.smoothing, weights))
    return Passed(*bce_vb.first_params(rows, params, counts.labels))


def fit_sequential(hub: Hub) -> Fitted:
    """Round after round through all sites, until what they report changes no more."""
    params, rows = settings(hub), elsewhere(hub, partial(expect_mixture, hub))

    def step(state: Passed) -> tuple[Passed, float]:
        height = 0.0
        for site in hub.terms.sites:
            found = hub.gather("turn", {"bias": state.bias, "log_probs": state.log_probs}, (site,))[site]
            state = Passed(found["bias"], found["log_probs"])
            height += float(found["scalars"][0])
        return state, height

    def run(first: Passed, tick: Tick) -> Run[Passed]:
        return iterate(step, first, tol=params.tol, max_iter=params.max_iter, tick=tick)

    runs = restarted(hub, params, partial(begun, hub, rows), run, True)
    last: Passed = runs.best.state
    if hub.terms.method == "mm":
        fitted = Mixture(last.bias, last.log_probs)
        return Fitted(last.bias, mixture.scores_of(fitted, rows), mm.model_of(fitted, rows), runs)
    return Fitted(last.bias, last.log_probs, bce.model_of(Bce(*last), rows), runs)
