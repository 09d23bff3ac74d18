"""What a site holds and will not send, and what is done to its numbers before they leave: noise, suppression, lots."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from partita.core.ensemble import Ensemble
from partita.core.errors import FederatedError
from partita.core.soft import AnyEnsemble
from partita.core.types import FrozenDict
from partita.federated import privacy
from partita.federated.cards import Identity
from partita.federated.config import Require
from partita.federated.messages import Arrays, Ask
from partita.federated.state import State

NOISED: Final = frozenset({"assign", "chosen", "mixture", "bce"})
"""Steps whose sums noise makes private; others are refused where noise was agreed on."""


@dataclass(frozen=True, eq=False)
class Local:
    """What a site holds and will not send."""

    name: str
    table: AnyEnsemble
    """Its labels, with ids where objects are to be found at other sites."""
    identity: Identity | None = None
    authority: bytes | None = None
    """The certificate of the authority that other sites' key cards must be signed under; None in a simulation."""
    require: Require = field(default_factory=Require)
    allow_two_sites: bool = False
    declared: Mapping[str, tuple[Any, ...]] = field(default_factory=FrozenDict)
    """Labels that it says it has, by clustering, in place of those that occur."""
    randomise: float | None = None
    """The epsilon by which it randomises its labels before anything else; None leaves them."""
    entropy: int | None = None
    """A secret number behind the site's random labels, the same whenever it returns."""
    layout: str | None = None
    """Whether it holds rows or columns; None takes the coordinator's word."""
    noise: int | None = None
    """Seeds the noise of a simulation; None takes it from the operating system, as it must be where it matters."""
    cache: dict[str, Any] = field(default_factory=dict, repr=False)
    """The table as the terms want it, made once a run."""


def randomised(local: Local, table: AnyEnsemble) -> AnyEnsemble:
    """The table with each label kept or replaced by chance, if the site wants that: always the same way."""
    if local.randomise is None:
        return table
    if not isinstance(table, Ensemble):
        raise FederatedError(
            f"site {local.name}: only labels can be randomised, not memberships; harden the table first"
        )
    if local.entropy is None:
        raise FederatedError(f"site {local.name}: labels are randomised once and for all; give it a state folder")
    lots = privacy.lots_of(local.entropy, table, local.table.ids)
    return privacy.randomise(table, local.randomise, lots)


def guarded(local: Local, state: State, ask: Ask, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Counts without small cells and with noise, as agreed on; where there is noise nothing else is told."""
    terms, out = state.terms, dict(arrays)
    if terms.rho:
        out = noisy(local, state, ask, out)
    if not terms.suppress:
        return out
    if ask.step == "nearest":
        out["sums"] = np.where(out["sizes"][:, None] < terms.suppress, 0.0, out["sums"])
    counts = {"labels"} if ask.step == "bce" else {"labels", "sizes"}
    if ask.step in ("assign", "chosen", "move"):
        counts.add("scalars")
    for name in counts & out.keys():  # after the noise, whose cost it then does not change
        out[name] = privacy.suppress(out[name], terms.suppress)
    return out


def noisy(local: Local, state: State, ask: Ask, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Counts with noise, and nothing beside them."""
    terms, out = state.terms, dict(arrays)
    rounds = terms.params["max_iter"] + 1
    if state.notes.get("released", 0) >= rounds:
        raise FederatedError(f"{rounds} rounds were agreed on and have been answered; the budget is spent")
    if ask.step == "bce":
        out["sizes"] = np.zeros_like(out["sizes"])
    weights = np.array(terms.weights) / np.mean(terms.weights)
    sigma = privacy.noise_scale(privacy.sensitivity_of(weights), rounds, terms.rho)
    seed = None if local.noise is None else [local.noise, ask.round]
    told = ("labels",) if ask.step == "bce" else ("labels", "sizes")
    added = privacy.add_noise({name: out[name] for name in told}, sigma, np.random.default_rng(seed))
    return out | added | {"scalars": np.zeros_like(out["scalars"])}
