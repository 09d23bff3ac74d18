"""The coordinator behind Flower: the same desk and the same course of a run as over gRPC."""

import json
import logging
from functools import partial
from pathlib import Path
from typing import Any, Final

from partita import io
from partita.core.errors import PartitaError
from partita.federated.config import CoordinatorConfig, read_coordinator
from partita.federated.coordinate import Outcome, check_plan, coordinate
from partita.federated.desk import Desk, Hooks, News
from partita.federated.flower_carrier import Carrier, Mail, carried
from partita.federated.grpc_server import MODEL
from partita.federated.hub import Hub
from partita.federated.serving import agreeable, agreed_terms, kept_terms, plan_of
from partita.federated.store import RunLog
from partita.io.writing import replacing

GIVEN: Final = {"listen": "flower:1", "tls": {"authority": "-", "certificate": "-", "key": "-"}}
"""What only gRPC needs; with Flower the SuperLink has a certificate."""
STATUS: Final = "status.json"
"""How the run in a folder stands, for those who start `flwr run` themselves."""
OUTCOME: Final = "outcome.json"

logger = logging.getLogger(__name__)


def coordinator(path: Path) -> CoordinatorConfig:
    """The coordinator's file; what it says of gRPC is not used."""
    return read_coordinator(path, GIVEN)


def serve(config: CoordinatorConfig, mail: Mail) -> Outcome:
    """Coordinate a run, or go on with the one in the folder, where it also says how the run stands."""
    _note(config.folder, "running", "")
    try:
        outcome = _served(config, mail)
        _write(config.folder, outcome)
    except BaseException as error:
        line = str(error) if isinstance(error, PartitaError) else f"{type(error).__name__}: {error}"
        _note(config.folder, "failed", " ".join(line.split()))
        raise
    _note(config.folder, "finished", "")
    return outcome


def _served(config: CoordinatorConfig, mail: Mail) -> Outcome:
    plan, hooks = plan_of(config), Hooks(logger.info, _tell)
    check_plan(plan)
    desk = Desk(plan.sites, config.patience, config.largest << 20, hooks, partial(agreeable, plan))
    with RunLog(config.folder) as log:
        kept = kept_terms(plan, log)
        return carried(
            Carrier(mail, desk, plan.layout), lambda: coordinate(Hub(agreed_terms(plan, desk, log, kept), desk, log))
        )


def _tell(news: News) -> None:
    said = f"{news.seconds:.1f} s, {news.sent} bytes sent, {news.received} received"
    logger.info("round %d (%s): %s", news.round, news.step, said)


def _write(folder: Path, outcome: Outcome) -> None:
    """The result as JSON, and where rows are divided the model, which places new objects."""
    terms = outcome.terms
    told: dict[str, Any] = {
        "run": terms.run,
        "sites": terms.sites,
        "layout": terms.layout,
        "method": terms.method,
        "k": terms.k,
        "rounds": outcome.rounds,
        "trace": outcome.trace,
        "converged": outcome.converged,
        "notes": outcome.notes,
    }
    if outcome.model is not None:
        io.save_model(outcome.model, folder / MODEL)
    with replacing(folder / OUTCOME) as file:
        file.write(json.dumps(told, indent=2).encode() + b"\n")


def _note(folder: Path, status: str, line: str) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with replacing(folder / STATUS) as file:
        file.write(json.dumps({"status": status, "line": line}).encode() + b"\n")
