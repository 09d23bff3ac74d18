"""The coordinator over gRPC: sites call it, with mutual TLS and nothing else."""

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from partita import io
from partita.core.errors import FederatedError, MissingExtraError, PartitaError
from partita.federated.config import CoordinatorConfig, Tls, split_address
from partita.federated.coordinate import Outcome, check_plan, coordinate
from partita.federated.desk import AwayError, Desk, Hooks, StoppedError
from partita.federated.hub import Hub
from partita.federated.messages import Terms
from partita.federated.serving import agreeable, agreed_terms, kept_terms, plan_of
from partita.federated.store import RunLog
from partita.federated.trust import check_tls, read_pem

METHOD: Final = "/partita.Federation/Exchange"
GRACE: Final = 2.0
MODEL: Final = "model.npz"
"""In the folder of a run, where rows are divided: the fitted model."""
LINGER: Final = 10.0
"""Seconds for which a complete run waits for sites that still have to hear of it."""
HEARD: Final = 5.0
"""Seconds for which a run that cannot go on does the same."""
KEEPALIVE: Final = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
)


def serve(config: CoordinatorConfig, hooks: Hooks | None = None) -> Outcome:
    """Coordinate a run, or go on with the one in the folder; every finished round is kept there."""
    plan, told = plan_of(config), hooks or Hooks()
    check_plan(plan)
    check_tls(config.tls)
    with RunLog(config.folder) as log:
        kept = kept_terms(plan, log)
        desk = Desk(plan.sites, config.patience, config.largest << 20, told, partial(agreeable, plan))
        return _served(desk, log, kept, config)


def _served(desk: Desk, log: RunLog, kept: Terms | None, config: CoordinatorConfig) -> Outcome:
    """The run, from the first greeting to the last word; all sites hear why where it cannot go on."""
    plan, note = plan_of(config), desk.hooks.note
    with listening(desk, config.listen, config.tls) as address:
        note(f"listening at {address} for {', '.join(plan.sites)}")
        try:
            with _interruptible(desk):
                terms = agreed_terms(plan, desk, log, kept)
                outcome = coordinate(Hub(terms, desk, log))
        except StoppedError:
            raise KeyboardInterrupt from None
        except AwayError:
            raise
        except PartitaError as error:
            desk.stop(str(error), HEARD)
            raise
        if outcome.model is not None:
            io.save_model(outcome.model, config.folder / MODEL)
            note(f"wrote {config.folder / MODEL}")
        desk.finish(LINGER)
    return outcome


@contextmanager
def _interruptible(desk: Desk) -> Iterator[None]:
    """Ctrl-C stops the run where it stands, whatever a method would make of it."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: desk.interrupt())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def grpc_needed() -> Any:
    """The grpc package, or how to get it."""
    try:
        import grpc  # type: ignore[import-untyped]  # no stubs
    except ImportError:
        raise MissingExtraError('gRPC needs grpcio; install it with: pip install "partita[federated]"') from None
    return grpc


def message_options(largest: int) -> list[tuple[str, int]]:
    """What both ends tell gRPC: the largest message in bytes, and to notice a dead peer."""
    return [
        ("grpc.max_send_message_length", largest),
        ("grpc.max_receive_message_length", largest),
        *KEEPALIVE,
    ]


@contextmanager
def listening(desk: Desk, listen: str, tls: Tls) -> Iterator[str]:
    """Let sites come to the desk; gives the address at which it listens."""
    grpc = grpc_needed()
    host, _ = split_address(listen, "listen", lowest=0)
    credentials = grpc.ssl_server_credentials(
        [(read_pem(tls.key, "key"), read_pem(tls.certificate, "certificate"))],
        root_certificates=read_pem(tls.authority, "authority"),
        require_client_auth=True,
    )
    handler = grpc.unary_unary_rpc_method_handler(lambda frame, context: desk.handle(_caller(context), frame))
    service, method = METHOD[1:].split("/")
    pool = ThreadPoolExecutor(2 * len(desk.sites) + 4, thread_name_prefix="partita-desk")
    options = [*message_options(desk.largest), ("grpc.so_reuseport", 0)]
    server = grpc.server(pool, options=options, maximum_concurrent_rpcs=4 * len(desk.sites) + 16)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
    try:
        port = server.add_secure_port(listen, credentials)
    except RuntimeError:
        port = 0
    if port == 0:
        raise FederatedError(f"cannot listen at {listen}; is the port taken, or are certificate and key no pair?")
    server.start()
    try:
        yield f"{host}:{port}"
    finally:
        desk.release()
        server.stop(GRACE).wait()
        pool.shutdown(wait=False, cancel_futures=True)


def _caller(context: Any) -> str:
    """The common name in the caller's certificate; TLS has checked that the authority signed it."""
    names = context.auth_context().get("x509_common_name", [])
    return names[0].decode("utf-8", "replace") if len(names) == 1 else ""
