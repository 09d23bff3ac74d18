"""What the page says is true of the table at hand: counts, gaps, pairs, the call to repeat it, what is refused."""

import html
import re

import numpy as np
import pytest
from scipy.cluster.hierarchy import dendrogram
from typer.testing import CliRunner

import partita
from partita import Ensemble
from partita.cli.main import app
from partita.core.errors import ParameterError, PartitaError
from partita.metrics import clustering_agreement
from partita.report import AgreementDisplay
from partita.report.gathering import numbers_of
from partita.report.html import grids
from partita.report.html.colours import LINES, palette_style
from partita.report.html.elements import Numbered
from partita.report.html.page import asset
from partita.report.html.svg import MOST_TOLD, Canvas, colour, edge
from partita.report.themes import DARK, LIGHT, contrast
from tests.samples import noisy, noisy_labels


def words(text):
    """The page as a reader sees it, without its style and scripts."""
    text = re.sub(r"<(style|script).*?</\1>", "", text, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", text))


def said(tmp_path, *given, **options):
    path = tmp_path / "report.html"
    partita.write_report(path, *given, **{"compare": "none", **options})
    return words(path.read_text())


ONES = {
    "one object": (Ensemble.from_labels([[0, 0, 1]], transpose=False), 1, "auto"),
    "one cluster of two": (Ensemble.from_labels([[0, 0], [1, 1]]), 1, "auto"),
    "clusters of one": (Ensemble.from_labels([[i, i, i] for i in range(5)]), 5, "voting"),
    "one k tried": (noisy(n=30), [3], "mm"),
}


@pytest.mark.parametrize("name", ONES)
def test_one_is_not_many(tmp_path, name):
    text = said(tmp_path, *ONES[name], compare="voting,mm", repeats=2)
    assert not re.search(r"(?<![\d.,])1 (object|cluster|clustering|pair|number|draw)s\b", text)
    assert "1 to 1 object" not in text and ".." not in re.sub(r"\d\.\.\d", "", text)


def test_objects_without_labels_are_told_apart(tmp_path):
    rows = [[0, 0, 0], [None, None, None], [1, 1, 1], [1, None, 1], [0, 0, 0]]
    text = said(tmp_path, Ensemble.from_labels(rows), 2)
    assert "5 objects, labelled by 3 clusterings, 1 object without any label apart, fall into 2 clusters of 2" in text
    assert "Of all pairs of objects that some clustering labels both (40.0% share none), 0% are put" in text


def test_clusterings_without_objects_in_common(tmp_path):
    rows = [[0, None], [1, None], [0, None], [None, 0], [None, 1], [None, 1]]
    text = said(tmp_path, Ensemble.from_labels(rows), 2)
    assert "nan" not in text.lower().split() and not re.search(r"\bnan\b", text)
    assert "c0 and c1: no object in common" in text


def test_confidence_within_clusters_counts_objects_not_rows():
    ensemble = noisy(n=40, r=5, k=3, noise=0.4)
    counts = 1 + np.arange(40) % 5
    heavy = ensemble.with_counts(counts)
    result = partita.consensus(heavy, "voting", 3)
    found = numbers_of(heavy, result, partita.diagnose(heavy, result))
    own = partita.diagnose(heavy, result).confidence
    for cluster in range(result.k):
        mine = result.labels == cluster
        values = np.repeat(own[mine], counts[mine])
        wanted = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95], method="nearest")
        np.testing.assert_allclose(found.spread[cluster], wanted)


def test_the_call_makes_the_same_page_again(tmp_path):
    labels, truth = noisy_labels(n=30, r=5, k=3)
    ensemble, coordinates = Ensemble.from_labels(labels), np.random.default_rng(0).normal(size=(30, 2))
    path = tmp_path / "a.html"
    partita.write_report(
        path, ensemble, [2, 3], "mm", truth=truth, coordinates=coordinates, names=("u", "v"), compare="voting",
        criterion="anmi", repeats=2, seed=4, params={"restarts": 2}, title="A <title>", source="here", threads=2,
    )  # fmt: skip
    call = html.unescape(re.search(r"<code>(partita\.write_report.*?)</code>", path.read_text(), re.DOTALL).group(1))
    again = tmp_path / "b.html"
    given = {"partita": partita, "ensemble": ensemble, "truth": truth, "coordinates": coordinates}
    eval(call.replace('"report.html"', repr(str(again))), given)
    assert again.read_bytes() == path.read_bytes()


def test_what_cannot_be_of_the_objects_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr("partita.reporting._fitted", lambda *_: pytest.fail("it went to work"))
    ensemble = noisy(n=20)
    for given, told in (
        ({"truth": [0] * 19}, "truth"),
        ({"coordinates": np.zeros((19, 2))}, "coordinates of shape"),
        ({"coordinates": np.full((20, 2), np.nan)}, "no object has coordinates"),
    ):
        with pytest.raises(ParameterError, match=told):
            partita.write_report(tmp_path / "a.html", ensemble, 3, **given)


@pytest.fixture
def files(tmp_path):
    labels, _ = noisy_labels(n=20, r=4, k=2)
    table = "".join(f"o{i},{','.join(map(str, row))}\n" for i, row in enumerate(labels))
    (tmp_path / "labels.csv").write_text("id,a,b,c,d\n" + table)
    places = {i: (str(i), "" if i == 3 else "nan" if i == 4 else str(i % 7)) for i in range(20)}
    for name, prefix, bad in (("gaps", "o", ""), ("other", "z", ""), ("text", "o", "here")):
        rows = "".join(f"{prefix}{i},{x},{bad if bad and i == 5 else y}\n" for i, (x, y) in places.items())
        (tmp_path / f"{name}.csv").write_text("id,x,y\n" + rows)
    return tmp_path


def command(files, *given):
    where = ["--id", "id", "--k", "2", "--method", "voting", "--compare", "none", "-o", str(files / "o.html")]
    return CliRunner().invoke(app, ["report", str(files / "labels.csv"), *where, *map(str, given)])


def test_coordinates_may_have_gaps(files):
    done = command(files, "--coords", files / "gaps.csv")
    assert done.exit_code == 0, done.exception
    assert "2 objects without coordinates not shown" in (files / "o.html").read_text()


@pytest.mark.parametrize(
    "given, told",
    [
        (("--coords", "other.csv"), "--coords-id"),
        (("--coords", "text.csv"), "'here' is not a number.*--coords-columns"),
        (("--coords-id", "id"), "no file; give it by --coords FILE"),
        (("--truth-column", "x"), "no file; give it by --truth FILE"),
        (("--criterion", "bic"), "--k 2 leaves no choice"),
    ],
)
def test_mistakes_name_the_option_that_mends_them(files, given, told):
    done = command(files, *(files / word if word.endswith(".csv") else word for word in given))
    assert isinstance(done.exception, PartitaError) and re.search(told, str(done.exception))
    assert not (files / "o.html").exists() and "\n" not in str(done.exception)


@pytest.mark.parametrize("r", [2, 6, 40])
def test_the_tree_beside_the_agreement_is_scipys(r):
    ensemble = noisy(n=60, r=r, k=3, noise=0.4)
    found = clustering_agreement(ensemble)
    drawn = grids.agreement(Numbered(), AgreementDisplay.from_agreement(found))
    lines = re.search(r'<path d="([^"]*)" class="tree">', drawn).group(1).split("M")[1:]
    joins = [np.array([[float(v) for v in point.split()] for point in line.split("L")]) for line in lines]
    assert len(joins) == r - 1
    oracle = dendrogram(found.linkage, no_plot=True)
    assert oracle["leaves"] == list(found.order)
    tops = np.sort([join[1, 0] - min(join[:, 0].min() for join in joins) for join in joins])
    wanted = np.sort([top[1] for top in oracle["dcoord"]])
    np.testing.assert_allclose(tops, wanted / wanted[-1] * grids.TREE, atol=0.011)
    centres = np.sort([(join[0, 1] + join[3, 1]) / 2 for join in joins])
    step = 46.0 if r == 2 else 46.0 if r == 6 else 400 / r
    top = 4.0 if r == 40 else 106.0
    np.testing.assert_allclose(
        centres, np.sort([np.mean(x[1:3]) / 10 * step + top for x in oracle["icoord"]]), atol=0.02
    )


def test_what_can_be_pointed_at_can_be_read(tmp_path):
    path = tmp_path / "report.html"
    data = partita.write_report(path, noisy(n=40, r=4, k=3), 3, "voting", compare="none")
    text = path.read_text()
    for title, lines in re.findall(r"<summary>In numbers<span[^>]*>: (.*?)</span></summary><ul[^>]*>(.*?)</ul>", text):
        assert len(re.findall("<li>", lines)) > 0, title
    flows = data.pictures.alluvial.ribbons
    listed = re.search(r"From clusterings to the consensus</span></summary><ul[^>]*>(.*?)</ul>", text).group(1)
    assert listed.count("→") == len(flows.objects)
    canvas = Canvas(10, 10)
    for place in range(MOST_TOLD + 1):
        canvas.dot(0, 0, 1, "", str(place))
    assert canvas.spelled("many") == ""


def test_every_class_of_a_line_has_its_style():
    style = asset("style.css")
    for name in ("dash1", "dash2", "dash3", "tree", "told", "points", "rim"):
        assert re.search(rf"\.{name} \{{|\.{name} summary", style), name
    assert "\nh3 { stroke" not in style and ".dash2.minor" not in style


def test_thirty_clusters_have_colors_of_their_own_in_the_report():
    rules = palette_style()
    for class_of, rule in ((colour, "fill"), (edge, "stroke")):
        names = [class_of(cluster) for cluster in range(30)]
        assert len(set(names)) == 30 and class_of(30) == names[0]
        assert all(f".{name} {{ {rule}: var(--c{cluster}); }}" in rules for cluster, name in enumerate(names))


def test_the_page_has_the_colours_of_the_pictures(tmp_path):
    """Those are tried in grey and for colour-blind eyes; lines stand out from the ground of the page."""
    path = tmp_path / "report.html"
    partita.write_report(path, noisy(n=30), 3, "voting", compare="none")
    assert palette_style() in path.read_text()
    blocks = re.findall(r"\{ (--c0.*?) \}", palette_style())
    grounds = re.findall(r"--paper: (#\w+);", asset("style.css"))
    for block, theme, ground in zip(blocks, (LIGHT, DARK, DARK, LIGHT), [*grounds[:3], "#ffffff"], strict=True):
        named = dict(re.findall(r"--(\w+): (#\w+);", block))
        assert [named[f"c{place}"] for place in range(30)] == [colour.lower() for colour in theme.palette]
        lines = [named[f"l{place}"] for place in range(LINES)]
        assert len(set(lines)) == LINES and min(contrast(one, ground) for one in lines) >= 3
