"""The files of a coordinator and three sites behind Flower, for tests."""

import csv
import json

import numpy as np

from partita import Ensemble
from partita.federated.coordinate import Plan
from partita.federated.simulate import simulate

SITES = ("east", "north", "south")
OBJECTS, CLUSTERINGS, K, SEED = 600, 6, 3, 5
ROUNDS = 3
STARTS = {"rows": "random", "columns": "transfer-cut"}
"""In columns objects lie in another order in every run; from this start the order does not matter."""


def make_table():
    """Six noisy copies of a partition into three."""
    rng = np.random.default_rng(SEED)
    truth = rng.integers(0, K, OBJECTS)
    noise = rng.random((OBJECTS, CLUSTERINGS)) < 0.1
    labels = np.where(noise, rng.integers(0, K, noise.shape), truth[:, None])
    return Ensemble.from_labels(labels, names=[f"c{j}" for j in range(CLUSTERINGS)])


def divided(layout):
    rng = np.random.default_rng(SEED + 1)
    size = OBJECTS if layout == "rows" else CLUSTERINGS
    return [np.sort(part) for part in np.array_split(rng.permutation(size), len(SITES))]


def files(folder, trust, table, layout):
    """The TOML files of a coordinator and three sites, and the sites' tables."""
    folder.mkdir()
    values = np.array([[table.classes[j][code] for j, code in enumerate(row)] for row in table.labels])
    for site, part in zip(SITES, divided(layout), strict=True):
        rows, columns = (part, range(CLUSTERINGS)) if layout == "rows" else (range(OBJECTS), part)
        with (folder / f"{site}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", *(table.names[j] for j in columns)])
            writer.writerows([f"object-{i}", *(values[i, j] for j in columns)] for i in rows)
        (folder / f"{site}.toml").write_text(
            f'site = "{site}"\nlayout = "{layout}"\nlabels = "{site}.csv"\nids = "id"\nstate = "{site}"\n'
            f'output = "{site}-consensus.csv"\n[tls]\nauthority = "{trust}/ca.pem"\n'
            f'certificate = "{trust}/{site}.pem"\nkey = "{trust}/{site}.key"\n'
        )
    path = folder / "coordinator.toml"
    path.write_text(
        f'sites = {json.dumps(SITES)}\nlayout = "{layout}"\nmethod = "mm"\nk = {K}\nseed = {SEED}\n'
        f'init = "{STARTS[layout]}"\nfolder = "run"\npatience = 400\n[settings]\nmax_iter = {ROUNDS}\nrestarts = 1\n'
    )
    return path


def found_labels(folder, site):
    """The consensus labels that a site wrote, in the order of its table."""
    with (folder / f"{site}-consensus.csv").open(newline="") as file:
        return [int(row["consensus"]) for row in csv.DictReader(file)]


def check_labels(folder, table, layout):
    """See that every site wrote what it would have got in one process."""
    plan = Plan(SITES, layout, "mm", K, {"max_iter": ROUNDS, "restarts": 1}, seed=SEED, init=STARTS[layout])
    expected = simulate(table, plan, **{layout: divided(layout)})
    for site in SITES:
        found, wanted = found_labels(folder, site), expected.sites[site].labels.tolist()
        assert found == wanted if layout == "rows" else renamed(found) == renamed(wanted)


def renamed(labels):
    """Labels by first appearance; in columns clusters are numbered by the order of the objects, which varies."""
    names = {}
    return [names.setdefault(label, len(names)) for label in labels]


def rounds_done(folder):
    return len(list((folder / "run").glob("round-*")))
