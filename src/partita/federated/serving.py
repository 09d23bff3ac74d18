"""The coordinator's side of a run before the first ask, whatever carries the messages: plans, greetings, terms."""

from dataclasses import fields
from typing import Any, Final

from partita.core.errors import FederatedError
from partita.federated.config import CoordinatorConfig
from partita.federated.coordinate import Plan, agree_terms, bits_of, init_of, method_settings
from partita.federated.desk import Desk
from partita.federated.messages import Hello, Terms
from partita.federated.store import RunLog
from partita.version import __version__

SAME: Final = ("layout", "method", "k", "protocol", "transport", "bits", "word", "seed", "init", "objects")
SAME_TOO: Final = ("suppress", "rho", "delta")


def plan_of(config: CoordinatorConfig) -> Plan:
    """What the configuration asks for."""
    said = {one.name: getattr(config, one.name) for one in fields(Plan) if one.name not in ("sites", "aligned")}
    return Plan(sites=tuple(sorted(config.sites)), **said)


def kept_terms(plan: Plan, log: RunLog) -> Terms | None:
    """The terms of the run in the log, if it has begun and is the one that was planned."""
    kept = log.terms()
    if kept is None or not log.read():
        return None
    _check_same(plan, kept, log)
    return kept


def agreed_terms(plan: Plan, desk: Desk, log: RunLog, kept: Terms | None) -> Terms:
    """The terms of the run that has begun; otherwise those that the sites' greetings lead to."""
    if kept is not None:
        finished = log.read()
        complete = finished[-1].step == "close"
        state = "is complete; give another folder for a new one" if complete else f"goes on at round {len(finished)}"
        desk.hooks.note(f"run {kept.run} in {log.folder} {state}")
        desk.propose(kept, finished[-1].round)
        return kept
    hellos, before = desk.gather_hellos(), log.terms()
    terms = agree_terms(plan, hellos, None if before is None else before.run)
    if before is not None and terms != before:
        terms = agree_terms(plan, hellos)
    log.write_terms(terms)
    desk.propose(terms)
    return terms


def agreeable(plan: Plan, hello: Hello) -> None:
    """Refuse a site that cannot take part as it is."""
    if hello.version != __version__:
        raise FederatedError(
            f"site {hello.site} has partita {hello.version}, the coordinator {__version__}; install the same everywhere"
        )
    if hello.layout != plan.layout:
        raise FederatedError(
            f"site {hello.site} comes with {hello.layout}, this run divides {plan.layout}; agree on one layout"
        )


def _check_same(plan: Plan, kept: Terms, log: RunLog) -> None:
    """Refuse to go on with a run on other terms than the configuration's."""
    asked = {name: getattr(plan, name) for name in (*SAME, *SAME_TOO)}
    asked |= {
        "bits": bits_of(plan),
        "init": init_of(plan),
        "sites": plan.sites,
        "version": __version__,
    } | method_settings(plan)
    held = {name: getattr(kept, name) for name in (*SAME, *SAME_TOO, "sites", "version")} | dict(kept.params)
    weights = {name: plan.weights.get(name, 1.0) for name in kept.names}
    asked |= {f"weights.{name}": weight for name, weight in weights.items()}
    held |= {f"weights.{name}": weight for name, weight in zip(kept.names, kept.weights, strict=True)}
    asked |= {f"labels.{name}": sorted(map(str, labels)) for name, labels in plan.labels.items()}
    told = dict(zip(kept.names, kept.classes, strict=True))
    held |= {f"labels.{name}": sorted(map(str, told.get(name, ()))) for name in plan.labels}
    for name, value in asked.items():
        if value != held[name]:
            raise FederatedError(
                f"{log.folder} holds a run with {name} = {_said(held[name])}, asked for is {_said(value)}; "
                "finish it as it was, or give another folder"
            )


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
