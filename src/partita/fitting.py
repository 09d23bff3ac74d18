"""Fitting: a method, its settings, its seed and the table it works on; everything of a fit but k."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from partita import registry
from partita.core import params as settings
from partita.core.consensus import Consensus, restore
from partita.core.ensemble import Ensemble
from partita.core.interrupts import finishing
from partita.core.method import Method, checked_k, suited
from partita.core.prepare import Prepared, prepare
from partita.core.recipe import Recipe
from partita.core.rng import generator, resolve_seed
from partita.core.soft import SoftEnsemble, as_ensemble
from partita.core.types import FrozenDict
from partita.metrics.scoring import scored
from partita.version import __version__


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for, checked."""

    name: str
    method: Method
    options: Any
    seed: int
    compress: bool = True

    @classmethod
    def of(cls, name: str, params: Mapping[str, Any], seed: int | None, compress: bool = True) -> "Asked":
        """The method of that name with its settings; what it does not know raises."""
        method = registry.get(name)
        return cls(name, method, settings.build(method.Params, params, name), resolve_seed(seed), compress)

    def on(self, table: Any) -> "Fitting":
        """The same for one table, prepared."""
        given = as_ensemble(table)
        work = suited(given, self.method, self.name)
        return Fitting(self, given, prepare(work, self.method.compresses and (self.compress or self.method.together)))


@dataclasses.dataclass(frozen=True, slots=True)
class Fitting:
    """What was asked for and the table, ready to be fitted with any k."""

    asked: Asked
    given: Ensemble | SoftEnsemble
    work: Prepared

    @property
    def rows(self) -> int:
        """How many rows there are to divide: different ones, or objects where single objects are balanced."""
        single = self.asked.method.balanced and not self.asked.compress
        return len(self.work.ensemble if single else self.work.ensemble.distinct.first)

    def fit(self, k: int | None) -> Consensus:
        """The result for the prepared rows, with ANMI, confidence, model and recipe."""
        asked = self.asked
        clusters = checked_k(k, self.rows, asked.method, asked.name)
        result = asked.method.fit(self.work.ensemble, clusters, asked.options, generator(asked.seed))
        used = FrozenDict(dataclasses.asdict(asked.options))
        recipe = Recipe(asked.name, used, clusters, asked.seed, __version__, self.given.fingerprint, asked.compress)
        with finishing():
            result = dataclasses.replace(result, k_asked=clusters, recipe=recipe)
            return scored(result, self.work.ensemble, asked.method.by_estimate)

    def emptied(self) -> "Fitting":
        """Only the way back, so that the prepared rows can be freed."""
        return dataclasses.replace(self, work=dataclasses.replace(self.work, ensemble=None))

    def restored(self, result: Consensus) -> Consensus:
        """What `fit` gave, for the user's objects."""
        return restore(result, self.work, self.given)
