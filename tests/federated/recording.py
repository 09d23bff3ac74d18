"""A link that also keeps what the sites kept after each step, for comparison with the central fit."""

from dataclasses import dataclass, field, replace

import numpy as np

from partita import Ensemble
from partita.core.types import FrozenDict
from partita.federated.config import Require
from partita.federated.coordinate import agree_terms, coordinate
from partita.federated.hub import Hub
from partita.federated.local import Local
from partita.federated.simulate import Together, divided
from partita.federated.site import agree, digest_of, hello, result

ANYTHING = Require(protocol=None, transport=None)


@dataclass(eq=False)
class Recording(Together):
    kept: list = field(default_factory=list)
    asked: dict = field(default_factory=dict)

    def ask(self, ask, sites):
        self.asked[ask.round] = digest_of(ask)
        found = super().ask(ask, sites)
        self.kept.append((ask.step, {site: dict(self.states[site].arrays) for site in self.states}, dict(found)))
        return found

    def first(self, step):
        """What the sites had kept after a step was first asked for."""
        return next(kept for name, kept, _ in self.kept if name == step)


def link_of(ensemble, plan, parts):
    """The sites of a plan with their parts of a table, agreed on the terms, and those."""
    names = tuple(f"s{i}" for i in range(len(parts)))
    plan = replace(plan, sites=names, aligned=True, allow_two_sites=True)
    if plan.layout == "rows":
        plan = replace(plan, weights=FrozenDict(zip(ensemble.names, ensemble.weights.tolist(), strict=True)))
    cut = ensemble.rows if plan.layout == "rows" else ensemble.columns
    sites = {
        site: Local(site, cut(part), require=ANYTHING, allow_two_sites=True, entropy=i, noise=i)
        for i, (site, part) in enumerate(zip(names, parts, strict=True))
    }
    terms = agree_terms(plan, {site: hello(local, plan.layout) for site, local in sites.items()}, run="test")
    return Recording(sites, {site: agree(local, terms) for site, local in sites.items()}), terms


def recorded(ensemble, plan, parts):
    """A run with all that was kept; parts are numbers of sites or index arrays."""
    if isinstance(parts, int):
        rows, columns = (parts, None) if plan.layout == "rows" else (None, parts)
        parts = divided(ensemble, rows, columns, 7)
    link, terms = link_of(ensemble, plan, parts)
    outcome = coordinate(Hub(terms, link))
    return link, outcome, {site: result(link.locals[site], link.states[site]) for site in link.locals}, parts


def table(n=150, r=6, k=3, noise=0.3, missing=0.15, seed=0, weights=None):
    """Noisy copies of k clusters with different numbers of labels, gaps, repeated rows and objects without labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    columns = []
    for j in range(r):
        size = k + j % 3
        names = rng.permutation(size)
        columns.append(np.where(rng.random(n) < noise, rng.integers(size, size=n), names[truth]))
    labels = np.stack(columns, axis=1)
    labels[n // 2 : n // 2 + 20] = labels[:20]
    labels[rng.random(labels.shape) < missing] = -1
    labels[[3, n - 1]] = -1
    return Ensemble.from_labels(labels, missing=-1, weights=weights)
