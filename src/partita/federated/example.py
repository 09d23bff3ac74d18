"""Three hospitals that cluster their patients together: made-up tables, configurations and certificates for a trial."""

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from partita.core.errors import FileError
from partita.core.types import IntArray
from partita.federated.certs import make_certificates
from partita.federated.messages import Layout
from partita.io.writing import replacing

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
    """Tables, TOML files and certificates of the three hospitals and their coordinator."""
    texts = {f"{site}.csv": text for site, text in tables(layout, seed).items()}
    texts["coordinator.toml"] = COORDINATOR.format(what=WHAT[layout], layout=layout, k=CLUSTERS, port=port)
    texts |= {f"{site}.toml": SITE.format(site=site, layout=layout, port=port) for site in SITES}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot be made ({error.strerror}); give another folder") from None
    for name in texts:
        if (folder / name).exists():
            raise FileError(f"{folder / name}: exists already; give a new folder")
    made = make_certificates(folder / "certs", SITES)
    for name, text in texts.items():
        with replacing(folder / name) as file:
            file.write(text.encode())
    commands = (
        f"partita federate coordinator --config {folder / 'coordinator.toml'}",
        *(f"partita federate site --config {folder / f'{site}.toml'}" for site in SITES),
    )
    return Example((*(folder / name for name in texts), *(one.path for one in made)), commands)


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
