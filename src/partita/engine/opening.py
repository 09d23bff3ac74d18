"""Engines by name."""

from typing import Final, Literal, TypeAlias, get_args

from partita.core.errors import ParameterError
from partita.core.threads import current
from partita.engine.base import Engine
from partita.engine.serial import Serial
from partita.engine.threads import Threads

Name: TypeAlias = Literal["serial", "threads", "dask"]
ENGINES: Final[tuple[str, ...]] = get_args(Name)


def open_engine(name: Name, *, scheduler: str | None = None, workers: int | None = None) -> Engine:
    """An engine to be used in a `with` block.

    `scheduler` is the address of a Dask scheduler that runs already; without it "dask" starts that many worker
    processes on this machine. `workers` is how many threads or processes to use, every processor if left out.

    >>> with open_engine("threads", workers=2) as engine:
    ...     list(engine.map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    if name not in ENGINES:
        raise ParameterError(f"engine {name!r} is not known; give one of {', '.join(ENGINES)}")
    if scheduler is not None and name != "dask":
        raise ParameterError(f"scheduler={scheduler!r} is for engine dask; the engine asked for is {name}")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ParameterError(f"workers={workers!r} is not a whole number >= 1; leave it out to use every processor")
    if name == "serial":
        if workers not in (None, 1):
            raise ParameterError(f"engine serial works alone, not with workers={workers}; take engine threads")
        return Serial()
    if name == "threads":
        return Threads(workers or current())
    from partita.engine.dask import open_dask  # an optional package, and slow to import

    if scheduler is not None and workers is not None:
        raise ParameterError(
            f"workers={workers} is for processes started here; those of scheduler {scheduler} are as many as they are"
        )
    return open_dask(scheduler, workers or current())
