"""Where work over blocks of rows is done: in this process, on its threads, or by the workers of a Dask cluster.

Whichever it is, the same blocks give the same numbers to the last bit.
"""

from partita.engine.base import Engine, Parts
from partita.engine.opening import ENGINES, open_engine

__all__ = ["ENGINES", "Engine", "Parts", "open_engine"]
