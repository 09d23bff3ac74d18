"""write_report: what the page says is what was computed; odd tables; sizes; the command."""

import csv
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import partita
from partita import Ensemble
from partita.cli.main import app
from partita.core.errors import ParameterError, PartitaError
from partita.datasets import segments_path, truth_path
from partita.report.gathering import numbers_of
from partita.report.html.packing import Packed, unpack
from partita.report.html.page import LIMIT, page
from tests.samples import noisy, noisy_labels, noisy_soft, same_partition


def made(tmp_path, ensemble, *words, **options):
    path = tmp_path / "report.html"
    data = partita.write_report(path, ensemble, *words, **{"compare": "none", **options})
    return data, path.read_text()


def held(text):
    """The labels that the page carries."""
    block = re.search(r'<script type="text/plain" id="labels" (.*?)>(.*?)</script>', text)
    facts = dict(re.findall(r'data-([\w-]+)="(.*?)"', block.group(1)))
    packed = Packed(int(facts["rows"]), int(facts["width"]), "confidence" in facts, "ids" in facts, block.group(2))
    return unpack(packed)


def figures(text):
    return re.findall(r'<svg class="chart.*?</svg>', text, re.DOTALL)


def test_the_page_holds_the_result(tmp_path):
    ensemble = noisy(n=80, r=6, k=3)
    data, text = made(tmp_path, ensemble, 3, "voting", compare="mm")
    assert same_partition(data.consensus.labels, partita.consensus(ensemble, "voting", 3).labels)
    labels, confidence, ids = held(text)
    np.testing.assert_array_equal(labels, data.consensus.labels)
    np.testing.assert_allclose(confidence, data.consensus.confidence, atol=0.00051)
    assert ids is None
    assert "The number of clusters, 3, was given" in text
    assert [one.method for one in data.rivals] == ["voting", "mm"] and data.rivals[0].chosen
    assert data.rivals[1].anmi == partita.consensus(ensemble, "mm", 3).scores["anmi"]
    assert f"{data.consensus.scores['anmi']:.3f}" in text and ensemble.fingerprint in text
    assert len(data.doubtful) == 80 and data.doubtful[0].called == int(data.diagnostics.doubt.order[0]) + 1


def test_figures_of_all_objects_follow_from_the_diagnostics():
    labels, _ = noisy_labels(n=60, r=5, k=3, noise=0.4, missing=0.2)
    ensemble = Ensemble.from_labels(labels, missing=-1).with_counts(np.arange(1, 61))
    result = partita.consensus(ensemble, "voting", 3)
    found = partita.diagnose(ensemble, result)
    numbers = numbers_of(ensemble, result, found)
    own, counts = found.confidence, ensemble.counts
    items = np.isfinite(found.items.own)
    known = np.isfinite(own)
    assert numbers.confidence == pytest.approx(np.sum(own[known] * counts[known]) / counts[known].sum())
    assert numbers.item_consensus == pytest.approx(np.average(found.items.own[items], weights=counts[items]))
    assert numbers.histogram.sum() == pytest.approx(counts[known].sum())
    assert numbers.histogram[10:].sum() == pytest.approx(counts[known & (own >= 0.5)].sum())
    odd = found.doubt.misplaced | found.doubt.outlier
    assert numbers.misplaced + numbers.outliers == counts[odd].sum() == numbers.doubtful.sum()
    for cluster in range(result.k):
        mine = result.labels == cluster
        assert numbers.objects[cluster] == counts[mine].sum()
        assert numbers.means[cluster] == pytest.approx(np.average(own[mine & known], weights=counts[mine & known]))
        values = np.repeat(own[mine & known], counts[mine & known].astype(int))
        assert numbers.spread[cluster, 2] in values and (np.diff(numbers.spread[cluster]) >= 0).all()
        np.testing.assert_allclose(
            numbers.spread[cluster], np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95], method="nearest")
        )


def test_same_call_same_bytes(tmp_path):
    ensemble = noisy(n=50)
    assert made(tmp_path, ensemble, range(2, 5), repeats=3)[1] == made(tmp_path, ensemble, range(2, 5), repeats=3)[1]


def test_how_k_came_about(tmp_path):
    ensemble = noisy(n=60, r=6, k=3, noise=0.1)
    for method in ("auto", "mm"):
        data, text = made(tmp_path, ensemble, None, method)
        assert "The number of clusters was not given; the default rule chose 3: 6 of 6 clusterings have" in text
        assert data.selection is None and data.consensus.k_choice.k == 3
    _, text = made(tmp_path, ensemble, None, "nbce-vb")
    assert "The number of clusters was not given; nbce-vb inferred it." in text
    data, text = made(tmp_path, ensemble, [2, 3, 4], repeats=3)
    assert data.selection.k == 3 and "mm was fitted to every number, auto then found the clusters" in text
    assert data.consensus.recipe.method == "auto" and len(data.pictures.tracking.ks) == 3
    assert data.consensus.k_choice == data.selection.k_choice
    data, text = made(tmp_path, ensemble, None, "mm", criterion="bic", repeats=0)
    assert [trial.k for trial in data.selection.trials] == list(range(2, 11)) and data.consensus.k == 3
    assert data.selection.criterion == "bic" and data.pictures.cdf is None


def alone(n=6):
    return Ensemble.from_labels([[i % 2, i % 2] for i in range(n)])


ODD = {
    "one object": (Ensemble.from_labels([[0, "a"]]), 1, "auto"),
    "one cluster": (noisy(n=20), 1, "auto"),
    "every object its own cluster": (Ensemble.from_labels([[i, i] for i in range(7)]), 7, "voting"),
    "unanimous": (alone(), 2, "auto"),
    "memberships": (noisy_soft(n=30), 3, "auto"),
    "objects without labels": (Ensemble.from_labels([[0, 0], [None, None], [1, 1], [1, None]]), 2, "auto"),
    "weights and counts": (noisy(n=30).with_counts(np.arange(1, 31)), 4, "mm"),
    "a weight of 0": (Ensemble.from_labels(noisy_labels(n=30, r=3)[0], ["a", "b", "c"], weights=[1, 2, 0]), 3, "mm"),
    "many clusterings": (noisy(n=90, r=60, k=3), 3, "voting"),
    "many clusters": (Ensemble.from_labels(np.stack([np.arange(400) // 2, np.arange(400) // 2], 1)), 200, "voting"),
    "draws": (noisy(n=20, r=4, k=2), None, "nbce-gibbs"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_tables(tmp_path, name):
    ensemble, k, method = ODD[name]
    quick = {"draws": 20, "burn_in": 10, "chains": 2} if name == "draws" else {}
    data, text = made(tmp_path, ensemble, k, method, params=quick)
    np.testing.assert_array_equal(held(text)[0], data.consensus.labels)
    assert len(figures(text)) >= 6
    shown = re.sub(r"<(script|style|pre).*?</\1>", "", text, flags=re.DOTALL)
    assert not re.search(r"\b(nan|NaN|inf|None|array)\b", shown)
    if name == "draws":
        assert 'id="sampling"' in text and "share of the draws" in text


def test_known_classes_are_measured_as_evaluate_does(tmp_path):
    labels, truth = noisy_labels(n=60, r=5, k=3)
    data, text = made(tmp_path, Ensemble.from_labels(labels), 3, "voting", truth=truth)
    scores = partita.evaluate(data.consensus, truth=truth)
    assert {name: scores[name] for name in data.truth.scores} == data.truth.scores
    assert 'id="known"' in text and f"{scores['ari']:.3f}" in text


def test_wrong_options_are_refused_before_the_work(tmp_path):
    ensemble = noisy(n=20)
    with pytest.raises(ParameterError, match="write_report: unknown parameter 'sede'; did you mean 'seed'"):
        partita.write_report(tmp_path / "a.html", ensemble, 3, sede=1)
    with pytest.raises(PartitaError, match="does not exist; make it first"):
        partita.write_report(tmp_path / "no" / "a.html", ensemble, 3)
    with pytest.raises(PartitaError, match="no method is called 'mn'"):
        partita.write_report(tmp_path / "a.html", ensemble, 3, compare="mn")
    with pytest.raises(PartitaError, match="coordinates of shape"):
        partita.write_report(tmp_path / "a.html", ensemble, 3, coordinates=np.zeros((19, 2)))
    with pytest.raises(PartitaError, match="truth"):
        partita.write_report(tmp_path / "a.html", ensemble, 3, truth=[0] * 19)
    assert list(tmp_path.iterdir()) == []


def test_names_cannot_fill_the_page_and_labels_give_way(tmp_path):
    labels, _ = noisy_labels(n=2000, r=40, k=3)
    rng = np.random.default_rng(0)
    names = [f"{j}" + "é" * 5000 for j in range(40)]
    ids = np.array([rng.bytes(400).hex() for _ in range(2000)], object)
    data, text = made(tmp_path, Ensemble.from_labels(labels, names, ids=ids), 3, "voting")
    assert len(text.encode()) < LIMIT and held(text)[2] == ids.tolist()
    most = len(text.encode()) - 1_000_000
    small = page(data, most)
    assert len(small) < most and held(small.decode())[2] is None and b"objects are called by their row" in small
    none = page(data, 0).decode()
    assert 'id="labels"' not in none and 'id="save"' not in none and "too many for this file" in none


def command(*words):
    return CliRunner().invoke(app, ["report", *map(str, words)])


def test_the_command(tmp_path, monkeypatch):
    out, places = tmp_path / "out.html", tmp_path / "places.csv"
    with segments_path().open() as file:
        customers = [row["customer"] for row in csv.DictReader(file)]
    rows = [f"{who},{i % 17},{i % 23}" for i, who in enumerate(customers[1:])]
    places.write_text("customer,left,up\n" + "\n".join(reversed(rows)) + "\n")
    words = [segments_path(), "--id", "customer", "--k", "4", "--method", "voting", "--seed", "3", "-o", out]
    words += ["--exclude", "region", "--truth", truth_path(), "--truth-column", "group", "--coords", places]
    words += ["--compare", "mm"]
    monkeypatch.setattr(sys, "argv", ["partita", "report", *map(str, words)])
    done = command(*words)
    assert done.exit_code == 0, done.output
    text = out.read_text()
    assert "partita report" in text and "--exclude region --truth" in text
    assert "partita run" in text and "--exclude region --method voting --k 4 --seed 3 -o consensus.csv" in text
    assert "1 object without coordinates" in text and ">up<" in text and "Known classes" in text
    assert held(text)[2] == customers
    assert f"wrote {out}" in done.stderr and "300 objects: 4 clusters" in done.stderr


@pytest.mark.parametrize(
    "words, told",
    [
        (("--k", "x"), "--k x: expected a number"),
        (("--method", "mn"), "no method is called 'mn'"),
        (("--compare", "mm,mn"), "no method is called 'mn'"),
        (("-o", "-"), "the page is a file"),
        (("-o", "no/such/place.html"), "does not exist; make it first"),
        (("--criterion", "x"), "criterion"),
    ],
)
def test_mistakes_are_told_before_the_work(words, told, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    done = command(segments_path(), "--id", "customer", *words)
    assert isinstance(done.exception, PartitaError) and told in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_the_page_may_not_overwrite_its_input(tmp_path):
    table = tmp_path / "labels.csv"
    table.write_text("a,b\n0,0\n1,1\n")
    done = command(table, "-o", table)
    assert "would overwrite" in str(done.exception) and table.read_text().startswith("a,b")


@pytest.mark.slow
def test_interrupt_leaves_no_file(tmp_path):
    labels, _ = noisy_labels(n=40_000, r=12, k=6, noise=0.5)
    np.save(tmp_path / "labels.npy", labels)
    words = [
        sys.executable,
        "-m",
        "partita",
        "report",
        tmp_path / "labels.npy",
        "--k",
        "2..30",
        "-o",
        tmp_path / "r.html",
    ]
    running = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"})
    with running:
        try:
            time.sleep(8)
            running.send_signal(signal.SIGINT)
            _, told = running.communicate(timeout=120)
        finally:
            running.kill()
    assert running.returncode == 130 and "Traceback" not in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.npy"]


@pytest.mark.slow
def test_a_million_objects_stay_below_the_limit(tmp_path):
    labels, _ = noisy_labels(n=1_000_000, r=20, k=10, noise=0.3, missing=0.05)
    rng = np.random.default_rng(0)
    ids = np.array([f"cell-{number:016x}" for number in rng.integers(2**63, size=len(labels))], object)
    ensemble = Ensemble.from_labels(labels, missing=-1, ids=ids)
    data, text = made(tmp_path, ensemble, 10, compare="auto")
    assert len(text.encode()) < LIMIT
    np.testing.assert_array_equal(held(text)[0], data.consensus.labels)
    assert data.diagnostics.coassociation.error > 0 and "drawn at random: with probability 99%" in text
