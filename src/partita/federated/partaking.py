"""The site's side of a run, whatever carries the messages: what it holds, what it answers, what it writes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from partita import io
from partita.core.checks import ALL
from partita.core.consensus import Consensus, usual_notes
from partita.core.errors import FileError
from partita.core.recipe import Recipe
from partita.core.types import FrozenDict
from partita.federated import privacy, site
from partita.federated.cards import Identity
from partita.federated.config import SiteConfig
from partita.federated.desk import Hooks
from partita.federated.local import Local
from partita.federated.messages import Ask, Hello, Share, Terms
from partita.federated.site import SiteResult
from partita.federated.state import State
from partita.federated.store import secret_seed
from partita.federated.trust import read_pem
from partita.io.source import naming
from partita.io.writing import check_place

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Party(Generic[R]):
    """What a site does, whatever carries its messages."""

    name: str
    hello: Callable[[State | None], Hello]
    agree: Callable[[Terms], State]
    answer: Callable[[State, Ask], tuple[State, Share]]
    result: Callable[[State], R]
    """What it has when all is over."""


def local_of(config: SiteConfig, hooks: Hooks) -> Local:
    """What the site holds, read from its files."""
    options = io.ReadOptions(
        ids=config.ids,
        columns=config.columns,
        exclude=config.exclude,
        missing=config.missing,
        weights=dict(config.weights) or None,
        one=True,
        allow=ALL,  # a part of a table may be small and lack labels
    )
    table = io.read(str(config.labels), options)
    unknown = sorted(set(config.declare) - set(table.names))
    if unknown:
        raise FileError(f"{config.labels}: has no clustering {unknown[0]!r}, whose labels [declare] names; check it")
    if config.randomise is not None:
        hooks.note(privacy.randomise_cost(config.randomise, len(table.names)).told())
    identity = Identity(read_pem(config.tls.certificate, "certificate"), read_pem(config.tls.key, "key"))
    authority = read_pem(config.tls.authority, "authority")
    return Local(
        config.site,
        table,
        identity,
        authority,
        config.require,
        config.allow_two_sites,
        dict(config.declare),
        config.randomise,
        secret_seed(config.state / "entropy"),
        config.layout,
    )


def party_of(local: Local, config: SiteConfig) -> Party[SiteResult]:
    """The site as one that takes part."""

    def agree(terms: Terms) -> State:
        state = site.agree(local, terms)
        told = {"site": local.name, "table": local.table.fingerprint, "randomise": local.randomise or 0.0}
        return replace(state, notes=FrozenDict({**state.notes, **told}))

    return Party(
        local.name,
        partial(site.hello, local, config.layout),
        agree,
        partial(site.answer, local),
        partial(site.result, local),
    )


def consensus_of(found: SiteResult, fingerprint: str) -> Consensus:
    """A site's result as any other consensus; clusters are numbered as at all sites."""
    terms = found.terms
    recipe = Recipe(terms.method, FrozenDict(terms.params), terms.k, terms.seed, terms.version, fingerprint)
    notes = usual_notes(found.labels, None, found.confidence)
    if omitted := privacy.why_no_confidence(terms):
        notes += (omitted,)
    if found.converged is False and not terms.rho:
        notes += (f"not converged after {len(found.trace)} iterations; raise max_iter",)
    detail: dict[str, Any] = {"run": terms.run, "sites": terms.sites}
    if found.trace:
        detail["objective"] = found.trace[-1]
    return Consensus(
        found.labels,
        membership=found.membership,
        confidence=found.confidence,
        k_asked=terms.k,
        trace=found.trace,
        converged=found.converged,
        detail=FrozenDict(detail),
        notes=notes,
        model=found.model,
        recipe=recipe,
        ids=found.ids,
    )


def put_result(config: SiteConfig, local: Local, hooks: Hooks, found: SiteResult) -> None:
    """Write a site's result, and its model, where its configuration says, if it does."""
    if config.output is not None:
        write_result(found, local.table.fingerprint, config.output, config.ids)
        hooks.note(f"wrote {config.output}")
    if config.model is not None and found.model is not None:
        io.save_model(found.model, config.model)
        hooks.note(f"wrote {config.model}")


def write_result(found: SiteResult, fingerprint: str, path: str | Path, ids: str | None) -> None:
    """Write a site's result as `partita run` does; `-` is standard output.

    A file that ends in .partita holds the whole result with the model, for `partita.load`.
    """
    result = consensus_of(found, fingerprint)
    if is_whole(path):
        result.save(path)
    else:
        io.write(result, path, id_name=ids or "id")


def is_whole(path: str | Path) -> bool:
    """Return True if a path names a file of a whole result."""
    return Path(path).suffix == ".partita"


def check_output(path: str | Path) -> None:
    """Raise if a result cannot be written to the path."""
    if is_whole(path):
        with naming(path):
            check_place(Path(path))
    else:
        io.check_writable(path)


def check_own(config: SiteConfig, local: Local, state: State) -> None:
    """Refuse to go on with the state of another site, or with other labels than the run began with."""
    if state.notes.get("site", local.name) != local.name:
        raise FileError(f"{config.state}: holds the state of site {state.notes['site']}; give another folder")
    if not is_finished(state) and state.notes.get("table", local.table.fingerprint) != local.table.fingerprint:
        raise FileError(
            f"{config.labels}: holds other labels than when run {state.terms.run} began; put the former back, or "
            f"move {config.state} away to begin anew"
        )

    began = state.notes.get("randomise", 0.0)
    if not is_finished(state) and began != (local.randomise or 0.0):
        raise FileError(
            f"{config.state}: run {state.terms.run} began with randomise = {began:g}, asked for is "
            f"{local.randomise or 0.0:g}; go on as it began, or move the folder away to begin anew"
        )


def is_finished(state: State) -> bool:
    """Whether the site has answered the last ask of its run."""
    return state.share is not None and state.share.step == "close"
