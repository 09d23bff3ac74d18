"""The catalogue is whole, agrees with the files where they are, and none of them is in the repository."""

import hashlib
import json
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from partita.core.errors import ParameterError
from partita.datasets import CATALOGUE, POOLS, load, load_pool, names, synthetic
from partita.datasets.catalogue import entry_of
from partita.datasets.checking import values_digest
from tests.datasets.folder import data_folder

PAPERS = {"strehl2002", "topchy2004", "punera2007", "wang2009", "wang2010"}
ROOT = Path(__file__).parents[2]
SIZES = {  # n, d and classes as the papers print them
    "iris": (150, 4, 3),
    "wine": (178, 13, 3),
    "wdbc": (569, 30, 2),
    "pima": (768, 8, 2),
    "balance": (625, 4, 3),
    "glass": (214, 9, 6),
    "bupa": (345, 6, 2),
    "magic04": (19020, 10, 2),
    "ionosphere": (351, 34, 2),
    "segmentation": (2310, 19, 7),
    "ecoli": (336, 7, 8),
    "letter": (20000, 16, 26),
    "pendigits": (10992, 16, 10),
    "vowel": (990, 10, 11),
    "yeast": (1484, 8, 10),
    "vehicle": (846, 18, 4),
    "synthetic_control": (600, 60, 6),
    "trace": (200, 275, 4),
    "isolet6": (1440, 617, 6),
    "yahoo_k1": (2340, 2903, 6),
    "halfrings": (400, 2, 2),
    "two_spirals": (200, 2, 2),
    "2d2k": (1000, 2, 2),
    "8d5k": (1000, 8, 5),
}


def test_sizes():
    assert {name: (entry.n, entry.d, entry.k) for name, entry in CATALOGUE.items()} == SIZES
    assert names() == tuple(SIZES)


@pytest.mark.parametrize("name", SIZES)
def test_an_entry_says_all_it_must(name):
    entry = CATALOGUE[name]
    assert len(entry.counts) == len(entry.classes) == len(set(entry.classes)) and min(entry.counts) > 0
    assert len(entry.sha256) == 64 and len(entry.values) == 16 and entry.file.startswith(name)
    assert entry.title and entry.licence and entry.cite and entry.archive
    assert entry.papers and set(entry.papers) <= PAPERS
    assert bool(entry.labels_file) == bool(entry.labels_sha256)
    assert not entry.maker or hasattr(synthetic, entry.maker)
    spans = sorted(entry.parts.values())
    assert not spans or (spans[0][0] == 0 and spans[-1][1] == entry.n)
    assert all(one[1] == other[0] for one, other in pairwise(spans))


def test_no_two_sets_share_a_file_or_values():
    for facts in ([e.sha256 for e in CATALOGUE.values()], [e.values for e in CATALOGUE.values()]):
        assert len(set(facts)) == len(CATALOGUE)


def test_unknown_names_are_told_what_there_is():
    with pytest.raises(ParameterError, match="no data set is called 'irsi'; did you mean 'iris'"):
        entry_of("irsi")
    with pytest.raises(ParameterError, match=r"no pool is called 'nothing'; there are pd, usps"):
        load_pool("nothing")


@pytest.mark.parametrize("name", SIZES)
def test_files(name):
    """Every file of the folder: checksum, sizes, classes, values."""
    folder = data_folder(f"the file of {name}")
    entry, data = CATALOGUE[name], load(name, folder)
    assert "checksum right" in data.source and data.name == name
    assert data.X.shape == (entry.n, entry.d) and data.X.dtype == np.float64 and np.isfinite(data.X).all()
    assert tuple(np.bincount(data.labels)) == entry.counts and data.classes == entry.classes
    assert values_digest(data.X) == entry.values
    for part, (first, past) in entry.parts.items():
        assert np.array_equal(load(name, folder, part).X, data.X[first:past])


def test_files_are_read_as_they_stand():
    """A slow reader of text finds the same numbers."""
    folder = data_folder("glass.csv against a slow reader")
    rows = [line.split(",") for line in (folder / "glass.csv").read_text().splitlines()[1:]]
    data = load("glass", folder)
    assert data.X.tolist() == [[float(cell) for cell in row[:-1]] for row in rows]
    assert data.labels.tolist() == [int(row[-1]) for row in rows]


def test_manifest():
    """What the folder says of itself is what the catalogue says."""
    folder = data_folder("manifest.json and classes.json")
    classes = json.loads((folder / "classes.json").read_text())
    files = {}
    for row in json.loads((folder / "manifest.json").read_text()):
        files.setdefault(row["name"], []).append(row)
    assert set(files) == set(CATALOGUE)
    for name, entry in CATALOGUE.items():
        first, *more = files[name]
        assert (first["file"], first["sha256"], first["n"], first["d"]) == (entry.file, entry.sha256, entry.n, entry.d)
        assert tuple(first["counts"]) == entry.counts and tuple(classes[name]) == entry.classes
        assert [(row["file"], row["sha256"]) for row in more] == [
            pair for pair in [(entry.labels_file, entry.labels_sha256)] if pair[0]
        ]


@pytest.mark.parametrize("name", ["iris", "wine", "wdbc"])
def test_scikit_learn_has_the_same(name, tmp_path):
    folder = data_folder(f"{name} of scikit-learn against its file")
    theirs, ours = load(name, tmp_path), load(name, folder)
    assert "scikit-learn" in theirs.source
    assert np.array_equal(theirs.X, ours.X) and np.array_equal(theirs.labels, ours.labels)


@pytest.mark.parametrize("name", ["2d2k", "8d5k", "two_spirals"])
def test_made_ones_are_the_files(name, tmp_path):
    folder = data_folder(f"{name} made against its file")
    made, file = load(name, tmp_path), load(name, folder)
    assert abs(made.X - file.X).max() < 5.1e-7 and np.array_equal(made.labels, file.labels)


@pytest.mark.parametrize("name", ["halfrings", "synthetic_control"])
def test_made_ones_are_like_the_files(name, tmp_path):
    """Other draws: means and spreads of each class agree within what draws differ by."""
    folder = data_folder(f"{name} made against its file")
    made, file = load(name, tmp_path), load(name, folder)
    for c, count in enumerate(CATALOGUE[name].counts):
        one, other = made.X[made.labels == c], file.X[file.labels == c]
        error = other.std(axis=0) / np.sqrt(count)
        assert (abs(one.mean(axis=0) - other.mean(axis=0)) < 6 * error).all()
        assert np.allclose(one.std(axis=0), other.std(axis=0), rtol=0.45)


@pytest.mark.parametrize("name", POOLS)
def test_pools(name):
    folder = data_folder(f"the pool {name}")
    if not (folder / "pools" / f"{name}.npz").is_file():
        pytest.skip(f"{folder} has no pool {name}")
    pool, entry = load_pool(name, folder), POOLS[name]
    assert pool.ensemble.labels.shape == (entry.n, 100) and pool.truth.shape == (entry.n,)
    assert pool.k == entry.k == len(np.unique(pool.truth)) and pool.ensemble.missing_share == 0
    assert (np.diff(pool.truth) < 0).any()  # shuffled: no method can profit from the order


def test_no_file_of_the_data_folder_is_in_the_repository():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("no git work tree: not checked that no data file is tracked")
    sums = {entry.sha256 for entry in CATALOGUE.values()} | {pool.sha256 for pool in POOLS.values()}
    sums |= {entry.labels_sha256 for entry in CATALOGUE.values()}
    tracked = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    assert len(tracked) > 100
    assert not [path for path in tracked if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() in sums]
