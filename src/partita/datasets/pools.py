"""Public pools of base clusterings: for each of 13 data sets a hundred clusterings by others, and the classes."""

import io
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from partita.core.ensemble import Ensemble
from partita.core.errors import FileError, ParameterError
from partita.core.types import IntArray
from partita.datasets.checking import check_sum
from partita.datasets.folder import VARIABLE, data_folder
from partita.datasets.tables import raw_bytes


class PoolEntry(NamedTuple):
    """What is known of a pool without having it."""

    title: str
    n: int
    k: int
    sha256: str


POOLS: Final = {
    "pd": PoolEntry("pen digits", 10992, 10, "8f8ddf8559c61785f92421d2ac5e7b5cc326b70656e3cb88c95331d882cbbe67"),
    "usps": PoolEntry("USPS digits", 11000, 10, "c6f4e264ae0a6e8e56e5784f51a6037ff5582201f27d81640ac86d7638e4845b"),
    "lr": PoolEntry(
        "letter recognition", 20000, 26, "69a3fd9029e32c405b4d992d1eb5307dd8549d5bcbe10c9e3f4503841018fe62"
    ),
    "mnist": PoolEntry(
        "MNIST digits, a sample", 5000, 10, "3ea54d4cb41f851dda936867a17fcf27c770869523e1a2d5ac5aa3455baa9074"
    ),
    "isolet": PoolEntry("ISOLET", 7797, 26, "4661131a4bba7f1296852ea6a5792eb9416ed1f1b42657b8054aa4153873898a"),
    "ls": PoolEntry("Landsat", 6435, 6, "424c07d4b2e91a5ffa856f97820868960e32ad1eaf33672a7e023dbde0df249e"),
    "is": PoolEntry("image segmentation", 2310, 7, "b2b1326c9d75dff5acb328333689fa436388e8cbcc062a051865b88f3304d56d"),
    "vs": PoolEntry("vehicle silhouettes", 846, 4, "42c35992138f792e82ccf7e10758f411e1f4d358fbd490bc27a3b50c16ba260e"),
    "ecoli": PoolEntry("E. coli", 336, 8, "e95f9404b1e4e079a242b944ba027e30acc2e05fe38d907f23992aec6a7cb4c6"),
    "umist": PoolEntry("UMIST faces", 574, 20, "2d48cc2748ef26dbd470641a81a432c4cf7fb71e4c72bce5c443f174f5b93783"),
    "spf": PoolEntry("steel plate faults", 1941, 7, "d3db91cbbfa3a18382490583c8cc2c8a97e57247af5fc41d26dba4a6e2cc4fa7"),
    "fct": PoolEntry(
        "forest cover type, a sample", 3780, 7, "dc40113bf5dd67215b89fa6e3e14f398d601e90e2ce9020f7f4fc14df35fcff6"
    ),
    "odr": PoolEntry("optical digits", 5620, 10, "557986b003b0c97ee743cb56ba8b3e6e9c3a53d97fd2b72904cba3138bf7e69a"),
}
CITE: Final = (
    "Huang, Wang and Lai (2018), Locally weighted ensemble clustering, IEEE Transactions on Cybernetics 48(5); "
    "huangdonghere/LWEA_LWGP on GitHub, no licence stated: for measuring, not to be passed on"
)


class Pool(NamedTuple):
    """Base clusterings of the same objects and their known classes, rows in a shuffled order."""

    name: str
    ensemble: Ensemble
    """(n, 100) labels; draw some with `ensemble.columns`."""
    truth: IntArray
    """(n,) classes 0..k-1."""

    @property
    def k(self) -> int:
        """The number of classes."""
        return int(self.truth.max()) + 1


def load_pool(name: str, folder: str | Path | None = None) -> Pool:
    """A pool by name, from the file pools/NAME.npz of the data folder; the checksum must be right."""
    path = pool_path(name, folder)
    raw = raw_bytes(path)
    check_sum(str(path), raw, POOLS[name].sha256, "delete it and get it again")
    with np.load(io.BytesIO(raw)) as file:
        labels, truth = file["labels"], file["reference"]
    return Pool(name, Ensemble.from_labels(labels, transpose=False), truth.astype(np.int64))


def pool_path(name: str, folder: str | Path | None = None) -> Path:
    """The file of a pool; an error where it is not there."""
    if name not in POOLS:
        raise ParameterError(f"no pool is called {name!r}; there are {', '.join(POOLS)}")
    path = data_folder(folder) / "pools" / f"{name}.npz"
    if not path.is_file():
        raise FileError(f"{path}: this pool is not there; set {VARIABLE} or folder= to a data folder that has it")
    return path
