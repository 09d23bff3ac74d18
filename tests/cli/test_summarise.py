"""partita summarise as a user meets it."""

import csv
import json

import numpy as np
import pytest

import partita as library
from partita.io import ReadOptions
from tests.cli.command import partita
from tests.samples import noisy_labels, same_partition


@pytest.fixture
def draws(tmp_path):
    labels, truth = noisy_labels(n=30, r=12, k=3, noise=0.1, seed=3)
    path = tmp_path / "draws.csv"
    lines = [",".join(["who", *(f"s{j}" for j in range(12))])]
    lines += [",".join([f"o{i}", *map(str, row)]) for i, row in enumerate(labels.tolist())]
    path.write_text("\n".join(lines) + "\n")
    return path, labels, truth


def test_tables_and_labels(draws, tmp_path):
    path, labels, truth = draws
    out = tmp_path / "labels.csv"
    done = partita("summarise", path, "--id", "who", "-o", out, "--pairs", "o0,o3", "--pairs", "o1,o2")
    assert done.returncode == 0, done.stderr
    assert "30 objects in 3 clusters from 12 draws" in done.stdout
    for title in ("Clusters", "Credible ball", "Number of clusters", "Pairs"):
        assert title in done.stdout
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["id"] for row in rows] == [f"o{i}" for i in range(30)]
    assert same_partition([int(row["consensus"]) for row in rows], truth)
    found = library.summarise(labels.T, seed=0)
    assert [float(row["certainty"]) for row in rows] == pytest.approx(found.certainty)
    assert [int(row["horizontal"]) for row in rows] == found.ball.horizontal.labels.tolist()


@pytest.mark.parametrize("by", ["rows", "columns"])
def test_json(draws, tmp_path, by):
    _, labels, _ = draws
    path = tmp_path / "draws.npy"
    np.save(path, labels if by == "columns" else labels.T)
    done = partita("summarise", path, "--by", by, "--loss", "binder", "--level", 0.8, "--json", "--pairs", "1,4")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    wanted = library.summarise(labels.T, "binder", level=0.8, seed=0)
    assert found["expected loss"] == pytest.approx(wanted.expected_loss) and found["clusters"] == wanted.k
    assert found["credible ball"]["radius"] == pytest.approx(wanted.ball.radius)
    assert found["credible ball"]["horizontal"]["draws"] == (wanted.ball.horizontal.draws + 1).tolist()
    assert found["pairs"] == {"1,4": pytest.approx(np.mean(labels[0] == labels[3]))}


def test_max_clusters(draws):
    done = partita("summarise", draws[0], "--id", "who", "--max-clusters", 2, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["clusters"] == 2 and "max_clusters=2" in done.stderr


def test_quiet_with_a_file_says_nothing(draws, tmp_path):
    done = partita("summarise", draws[0], "--id", "who", "-o", tmp_path / "labels.json", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(json.loads((tmp_path / "labels.json").read_text())) == 30


@pytest.mark.parametrize(
    "words, said",
    [
        (["--by", "diagonal"], "by='diagonal'"),
        (["--loss", "l2"], "loss='l2'"),
        (["--level", "2"], "level=2.0"),
        (["--max-clusters", "0"], "max_clusters=0"),
        (["--pairs", "o1"], "--pairs o1: write two objects"),
        (["--pairs", "o1,nobody"], "no object is called 'nobody'"),
        (["-o", "labels.xlsx"], "written as .csv or .json"),
    ],
)
def test_mistakes_end_in_one_line(draws, words, said):
    done = partita("summarise", draws[0], "--id", "who", *words)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("partita: ") and said in done.stderr and done.stderr.count("\n") == 1


def test_the_draws_are_not_overwritten(draws):
    before = draws[0].read_text()
    done = partita("summarise", draws[0], "--id", "who", "-o", draws[0])
    assert done.returncode == 1 and "would overwrite the draws" in done.stderr and draws[0].read_text() == before


def test_places_that_are_none(draws, tmp_path):
    path = tmp_path / "draws.npy"
    np.save(path, draws[1])
    done = partita("summarise", path, "--pairs", "0,31")
    assert done.returncode == 1 and "'0' is no place; give numbers from 1 to 30" in done.stderr


def test_draws_of_a_sampler_go_from_run_to_summarise(tmp_path):
    labels, truth = noisy_labels(n=40, r=8, k=3, noise=0.0, seed=2)
    path, kept = tmp_path / "labels.csv", tmp_path / "draws.csv"
    path.write_text(
        "\n".join(["who,a,b,c,d,e,f,g,h", *(f"o{i}," + ",".join(map(str, row)) for i, row in enumerate(labels))])
    )
    settings = ["--set", "chains=2", "--set", "burn_in=40", "--set", "draws=30"]
    words = ["run", path, "--id", "who", "-m", "nbce-gibbs", *settings, "-o", tmp_path / "out.json"]
    done = partita(*words, "--save-draws", kept)
    assert done.returncode == 0, done.stderr
    assert "number of clusters in the draws: " in done.stderr and "the chains have" in done.stderr
    assert "training perplexity" in done.stderr
    table = library.read_draws(kept, options=ReadOptions(ids="id"))
    assert table.draws.labels.shape == (60, 40) and table.ids.tolist() == [f"o{i}" for i in range(40)]
    found = json.loads((tmp_path / "out.json").read_text())
    assert np.array(found["detail"]["clusters by sweep"]).shape == (2, 100)
    again = partita("summarise", kept, "--id", "id", "--json")
    assert same_partition(found["objects"]["consensus"], truth) and again.returncode == 0, again.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-m", "mm", "-k", "2", "--save-draws", "d.csv"], "mm draws no partitions; these methods do: nbce-gibbs"),
        (["-m", "nbce-gibbs", "--save-draws", "-"], "not to standard output"),
        (["-m", "nbce-gibbs", "--save-draws", "d.mat"], "d.mat"),
        (["-m", "nbce-gibbs", "--save-draws", "x/d.csv"], "x"),
        (["-m", "nbce-gibbs", "-o", "d.csv", "--save-draws", "d.csv"], "name the same file"),
    ],
)
def test_draws_that_cannot_be_kept_are_refused_before_the_work(draws, words, said):
    done = partita("run", draws[0], "--id", "who", *words)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr
