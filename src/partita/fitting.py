"""Fitting: a method, its settings, its seed and the table it works on; the number of clusters is resolved here."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from partita import registry
from partita._default_k import canonical_table, choose_k
from partita.core import params as settings
from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.interrupts import finishing
from partita.core.k_choice import KChoice
from partita.core.method import Method, checked_number, checked_numbers, is_several, suited
from partita.core.prepare import Prepared, prepare
from partita.core.recipe import Recipe
from partita.core.rng import generator, resolve_seed
from partita.core.soft import SoftEnsemble, as_ensemble
from partita.core.types import FrozenDict
from partita.metrics.scoring import restored, scored
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
    def of(
        cls,
        name: str,
        params: Mapping[str, Any],
        seed: int | None,
        compress: bool = True,
        function: Callable[..., Any] | None = None,
    ) -> "Asked":
        """Return the method of that name with its settings; an unknown setting raises.

        The message on an unknown setting also suggests the arguments of `function`, which received the settings.
        """
        method = registry.get(name)
        return cls(name, method, settings.build(method.Params, params, name, function), resolve_seed(seed), compress)

    def on(self, table: Any) -> "Fitting":
        """The same for one table, prepared."""
        given = as_ensemble(table)
        work = suited(given, self.method, self.name)
        return Fitting(self, given, prepare(work, self.compresses))

    @property
    def compresses(self) -> bool:
        """True if the method gets unique rows with multiplicities."""
        return self.method.compresses and (self.compress or self.method.together)


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

    def fit(self, k: Any = None) -> Consensus:
        """Return the result for the prepared rows, with ANMI, confidence, model and recipe.

        Parameters
        ----------
        k : int, range, list of int or None
            The number of clusters. Of several numbers, `choose_k` chooses one; if k is None, it chooses freely, unless
            the method infers the number of clusters itself.
        """
        asked = self.asked
        clusters, choice, notes = self.number_of_clusters(k)
        result = asked.method.fit(self.work.ensemble, clusters, asked.options, generator(asked.seed))
        used = FrozenDict(dataclasses.asdict(asked.options))
        recipe = Recipe(asked.name, used, clusters, asked.seed, __version__, self.given.fingerprint, asked.compress)
        fields: dict[str, Any] = {
            "k_asked": clusters,
            "k_choice": choice,
            "notes": (*notes, *result.notes),
            "recipe": recipe,
        }
        with finishing():
            return scored(dataclasses.replace(result, **fields), self.work.ensemble, asked.method.by_estimate)

    def number_of_clusters(self, k: Any) -> tuple[int | None, KChoice | None, tuple[str, ...]]:
        """Return the number of clusters to fit, the choice if there was one, and notes on it."""
        if k is None and self.asked.method.chooses_k:
            return None, None, ()
        if k is not None and not is_several(k):
            return checked_number(k, self.rows), None, ()
        table = self.k_table()
        numbers, notes = (None, []) if k is None else checked_numbers(k, max(len(table), self.rows))
        if numbers is not None and len(numbers) == 1:
            return numbers[0], None, tuple(notes)
        choice = choose_k(table, numbers)
        return choice.k, choice, (*choice.sentences(), *notes)

    def k_table(self) -> Ensemble:
        """Return the table from which k is chosen; it does not depend on the method or on `compress`."""
        table = self.work.ensemble
        if isinstance(self.given, Ensemble) and isinstance(table, Ensemble) and self.asked.compresses:
            return table
        return canonical_table(self.given)

    def emptied(self) -> "Fitting":
        """Only the way back, so that the prepared rows can be freed."""
        return dataclasses.replace(self, work=dataclasses.replace(self.work, ensemble=None))

    def restored(self, result: Consensus) -> Consensus:
        """What `fit` gave, for the user's objects."""
        return restored(result, self.work, self.given)
