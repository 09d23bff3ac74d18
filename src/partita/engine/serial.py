"""One block after another, in this process; a block's kernels may use all its threads."""

from partita.engine.here import EngineHere


class Serial(EngineHere):
    """The engine that all others are held to.

    >>> with Serial() as engine:
    ...     list(engine.map(abs, [-1, 2]))
    [1, 2]
    """

    name = "serial"
    workers = 1
