"""A connection to a Dask cluster: opened with clear errors, waited on with an eye on who is alive, and silent."""

import logging
import socket
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final

from partita.core.errors import EngineError, MissingExtraError
from partita.core.processes import starting
from partita.engine import at_worker
from partita.version import __version__

CONNECT: Final = 5.0
"""Seconds in which a scheduler has to answer."""
JOIN: Final = 30.0
"""Seconds in which one worker has to be there: they may have been started a moment ago."""
POLL: Final = 0.5
"""Seconds between two looks at which workers are alive, while nothing else happens."""
ABANDONED: Final = 60.0
"""Seconds for which a cluster may be without workers before the work is given up."""
LARGE: Final = "1 TiB"
"""Dask warns of large tasks; what is sent here is sent once a worker already."""


def dask_needed() -> Any:
    """The distributed package, or how to get it."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError('engine dask needs distributed; install it with: pip install "partita[dask]"') from None
    return distributed


@contextmanager
def silenced() -> Iterator[None]:
    """Within it, Dask writes nothing to stderr: what a user should hear comes as an error of ours."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado")]
    names = [name for name in logging.root.manager.loggerDict if name.startswith(("distributed.", "tornado."))]
    kept = [(logger, logger.level) for logger in (*loggers, *map(logging.getLogger, names))]
    for logger, _ in kept:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in kept:
            logger.setLevel(level)


def _nanny(dask: Any) -> Any:
    """Return a nanny class that starts worker processes as ours are started, and ends one that is still being started.

    If a worker dies just after it connected, `distributed` can take its successor for a running process before that
    process exists; `Nanny.kill` then fails with an AssertionError and the cluster does not close. Here the successor
    is killed as soon as it exists: its commands are executed in order, after its start.
    """

    async def instantiate(self: Any) -> Any:
        with starting():
            return await dask.Nanny.instantiate(self)

    async def kill(self: Any, timeout: float = 5, reason: str = "nanny-kill") -> None:
        try:
            await dask.Nanny.kill(self, timeout=timeout, reason=reason)
        except AssertionError:
            with suppress(AttributeError, ValueError):  # the process could not be started, or has ended
                await self.process.process.kill()

    return type("Nanny", (dask.Nanny,), {"instantiate": instantiate, "kill": kill})


class Cluster:
    """A client of a scheduler; without an address, of worker processes that are started here and ended with it."""

    def __init__(self, address: str | None, workers: int) -> None:
        self.dask = dask_needed()
        self.session = f"{__version__}/{uuid.uuid4().hex}"
        self.deserted: float | None = None
        self.local: Any = None
        self.opened = ExitStack()
        try:
            self.opened.enter_context(silenced())
            self.address = address or self._started(workers)
            self.client = self._connected(self.address)
            self._check_versions()
        except BaseException:
            self.close()
            raise

    def _started(self, workers: int) -> str:
        """A cluster of processes with one thread each, deaf to Ctrl-C; only this machine can reach it."""
        import dask

        # else Dask gives a worker up for good that is not back 15 s after it died, or dies again just then
        self.opened.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": "30 days"}))
        try:
            with starting():
                cluster = self.dask.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    worker_class=_nanny(self.dask),
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",  # None would take Dask's own port, and warn where it is taken
                    worker_dashboard_address="127.0.0.1:0",
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL + 1,
                )
        except RuntimeError as error:
            said = " ".join(str(error).split())
            raise EngineError(f"{workers} Dask workers cannot be started here ({said}); take engine threads") from None
        self.local = cluster
        self.opened.callback(self._ended, cluster)
        return str(cluster.scheduler_address)

    def _ended(self, cluster: Any) -> None:
        with suppress(TimeoutError):
            cluster.close()

    def _connected(self, address: str) -> Any:
        try:
            self._greeted(address)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # other versions of other packages: Dask warns of each
                client = self.dask.Client(address, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError, ImportError) as error:
            said = " ".join(str(error).split())
            raise EngineError(
                f"no Dask scheduler answers at {address} ({said}); give the address that the scheduler printed when "
                "it started, such as tcp://10.0.0.1:8786"
            ) from None
        self.opened.callback(client.close)
        try:
            client.wait_for_workers(1, timeout=JOIN)
        except TimeoutError:
            raise EngineError(
                f"the Dask scheduler at {address} has no workers after {JOIN:g} s; start some with: "
                f"dask worker {address}"
            ) from None
        return client

    def _greeted(self, address: str) -> None:
        """Refuse one that does not speak first, as a scheduler does: Dask's client would wait for it for ever."""
        scheme, location = self.dask.comm.parse_address(address)
        if scheme == "tcp":
            with socket.create_connection(self.dask.comm.addressing.parse_host_port(location, 8786), CONNECT) as line:
                if not line.recv(1):
                    raise OSError("it hangs up")

    def _check_versions(self) -> None:
        """Refuse workers, and a scheduler, with another partita or none."""
        workers = self.asked(lambda: self.client.run(at_worker.version_here, on_error="return"))
        found = {f"worker at {worker}": version for worker, version in workers.items()}
        try:
            found[f"scheduler at {self.address}"] = self.client.run_on_scheduler(at_worker.version_here)
        except Exception as error:  # whatever it has instead of partita
            found[f"scheduler at {self.address}"] = error
        for who, version in found.items():
            if isinstance(version, BaseException):
                said = f"{type(version).__name__}: {' '.join(str(version).split())}"
                raise EngineError(f"the Dask {who} cannot load partita ({said}); install partita {__version__} there")
            if version != __version__:
                raise EngineError(
                    f"here is partita {__version__}, the Dask {who} has {version}; install the same everywhere"
                )

    def asked(self, question: Callable[[], Any]) -> Any:
        """What the scheduler answers."""
        try:
            return question()
        except (OSError, CancelledError):
            raise self.gone() from None

    def gone(self) -> EngineError:
        """The error of a scheduler that is away."""
        return EngineError(f"the Dask scheduler at {self.address} is gone; start it again, and then this run")

    def alive(self) -> Mapping[str, int]:
        """The workers, and the threads of each; raises where there has been none for long."""
        found: Mapping[str, int] = self.asked(self.client.nthreads)
        self.deserted = None if found else self.deserted or time.monotonic()
        if self.deserted is not None and time.monotonic() - self.deserted > ABANDONED:
            raise EngineError(
                f"the Dask scheduler at {self.address} has had no workers for {ABANDONED:g} s; start some, and then "
                "this run again"
            )
        return found

    def submit(self, what: str, function: Callable[..., Any], *given: Any, **more: Any) -> Any:
        """One task; `what` names it in Dask's own views."""
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGE}):
            return self.client.submit(function, *given, key=f"partita-{what}-{uuid.uuid4().hex}", **more)

    def submit_all(self, what: str, function: Callable[..., Any], *given: Sequence[Any], **more: Any) -> list[Any]:
        """One task for each item, sent as one message."""
        import dask

        keys = [f"partita-{what}-{uuid.uuid4().hex}" for _ in given[0]]
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGE}):
            found: list[Any] = self.client.map(function, *given, key=keys, **more)
        return found

    def common(self, value: Any) -> Any:
        """A value that many tasks are given, sent once a worker."""
        return self.submit("common", at_worker.unpack, self.packed(value))

    def packed(self, value: Any) -> bytes:
        """As bytes; what cannot be imported by name, such as a function of a notebook, is sent whole."""
        packed: bytes = self.dask.protocol.pickle.dumps(value)
        return packed

    def settled(self, futures: Sequence[Any]) -> bool:
        """Whether all are finished or failed, after waiting for a moment; one that can wait for ever looks `alive`."""
        try:
            with self.client.as_current():
                self.dask.wait(futures, timeout=POLL)
        except TimeoutError:
            return False
        except CancelledError:
            raise self.gone() from None
        return True

    def value(self, future: Any) -> Any:
        """The result of a settled future, or its error."""
        error = self.asked(future.exception)
        if error is None:
            return self.asked(future.result)
        if type(error).__name__ == "KilledWorker":
            raise EngineError(
                "the worker processes that did one piece of the work died, one after the other; give them more memory, "
                "or smaller blocks"
            )
        raise error

    def cancel(self, futures: Sequence[Any]) -> None:
        """Give up tasks, and wait for those that have begun; a cluster that is away has none."""
        with suppress(Exception):  # what led here is raised again, and tells more
            self.client.cancel(list(futures), force=True)
            self.client.run(at_worker.quiet, self.session, on_error="ignore")

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        self.opened.close()
