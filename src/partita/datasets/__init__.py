"""The data of the papers by name, the makers of synthetic ones, and the example that comes with the package."""

from partita.datasets.base import Dataset
from partita.datasets.catalogue import CATALOGUE, names
from partita.datasets.fetching import fetch
from partita.datasets.loading import load
from partita.datasets.pools import POOLS, Pool, load_pool
from partita.datasets.segments import segments_path, truth_path

__all__ = [
    "CATALOGUE",
    "POOLS",
    "Dataset",
    "Pool",
    "fetch",
    "load",
    "load_pool",
    "names",
    "segments_path",
    "truth_path",
]
