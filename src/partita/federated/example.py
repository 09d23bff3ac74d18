"""Three hospitals that cluster their patients together: made-up tables, configurations and certificates for a trial."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import numpy as np

from partita.core.errors import FileError
from partita.core.types import IntArray
from partita.federated.certs import make_certificates
from partita.federated.messages import Layout

SITES: Final = ("north", "south", "west")
PATIENTS, CLUSTERS, NOISE, UNKNOWN = 900, 4, 0.25, 0.1
PORT: Final = 8443

COORDINATOR: Final = """\
# {what}
sites = ["north", "south", "west"]
layout = "{layout}"
method = "mm"
k = {k}
listen = "127.0.0.1:{port}"
folder = "run"

[tls]
authority = "certs/ca.pem"
certificate = "certs/coordinator.pem"
key = "certs/coordinator.key"
"""
SITE: Final = """\
site = "{site}"
coordinator = "127.0.0.1:{port}"
layout = "{layout}"
labels = "{site}.csv"
ids = "patient"
state = "state-{site}"
output = "{site}-consensus.csv"

[tls]
authority = "certs/ca.pem"
certificate = "certs/{site}.pem"
key = "certs/{site}.key"

[require]  # what this site insists on, whatever the coordinator says
transport = "masked"
min_sites = 3
"""
WHAT: Final = {
    "columns": "each hospital has clustered the same patients its own way, and will not show how",
    "rows": "each hospital has patients of its own, sorted by the same six schemes",
}


class Example(NamedTuple):
    """What was written, and the commands that run it."""

    files: tuple[Path, ...]
    commands: tuple[str, ...]


def patients(seed: int = 0) -> tuple[IntArray, IntArray]:
    """(n, 6) labels with gaps (-1), and the (n,) clusters behind them."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(CLUSTERS, size=PATIENTS)
    columns = []
    for j in range(6):
        size = CLUSTERS + j % 3
        wrong = rng.random(PATIENTS) < NOISE
        columns.append(np.where(wrong, rng.integers(size, size=PATIENTS), rng.permutation(size)[truth]))
    labels = np.stack(columns, axis=1)
    labels[rng.random(labels.shape) < UNKNOWN] = -1
    return labels, truth


def write_example(folder: Path, layout: Layout, port: int = PORT, seed: int = 0) -> Example:
    """Write tables, TOML files and certificates of three hospitals and their coordinator to a new folder.

    The folder appears complete or not at all.
    """
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise FileError(f"{folder}: exists already; give a new folder")
    texts = {f"{site}.csv": text for site, text in tables(layout, seed).items()}
    texts["coordinator.toml"] = COORDINATOR.format(what=WHAT[layout], layout=layout, k=CLUSTERS, port=port)
    texts |= {f"{site}.toml": SITE.format(site=site, layout=layout, port=port) for site in SITES}
    above = next(place for place in folder.absolute().parents if place.exists())
    try:
        with TemporaryDirectory(prefix=".partita-", dir=above) as temporary:
            new = Path(temporary) / "example"
            made = make_certificates(new / "certs", SITES)
            for name, text in texts.items():
                (new / name).write_bytes(text.encode())
            folder.parent.mkdir(parents=True, exist_ok=True)
            if folder.exists():
                folder.rmdir()
            new.rename(folder)
    except OSError as error:
        raise FileError(f"{folder}: cannot be written ({error.strerror}); give another folder") from None
    commands = (
        f"partita federate coordinator --config {folder / 'coordinator.toml'}",
        *(f"partita federate site --config {folder / f'{site}.toml'}" for site in SITES),
    )
    return Example((*(folder / name for name in texts), *(folder / "certs" / one.path.name for one in made)), commands)


def tables(layout: Layout, seed: int = 0) -> dict[str, str]:
    """Each hospital's table as CSV: two of six clusterings, in an order of its own, or a third of the patients."""
    labels, _ = patients(seed)
    rng = np.random.default_rng(seed + 1)
    shuffled = rng.permutation(PATIENTS)
    found = {}
    for place, site in enumerate(SITES):
        rows, columns = shuffled[place::3], range(6)
        if layout == "columns":
            rows, columns = rng.permutation(PATIENTS), range(2 * place, 2 * place + 2)
        head = ",".join(["patient", *(f"scheme{j + 1}" for j in columns)])
        lines = [
            ",".join([f"p{row:04d}", *("" if labels[row, j] < 0 else "ABCDEFGH"[labels[row, j]] for j in columns)])
            for row in rows
        ]
        found[site] = "\n".join([head, *lines]) + "\n"
    return found
