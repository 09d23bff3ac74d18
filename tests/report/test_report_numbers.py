"""Numbers and heights on the page, reckoned anew: tables, sentences, charts, joined coordinates."""

import html
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from typer.testing import CliRunner

import partita
from partita import Consensus, Ensemble
from partita.cli.main import app
from partita.report import AlluvialDisplay, HeatmapDisplay, TrackingDisplay
from partita.report.html import flows
from partita.report.html.elements import Numbered
from partita.report.html.page import page
from partita.report.html.svg import Axes, Canvas
from tests.samples import noisy, noisy_labels


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    labels, _ = noisy_labels(n=90, r=5, k=4, noise=0.4)
    labels[:, 3] = np.arange(90) % 3
    labels[0] = -1
    path = tmp_path_factory.mktemp("numbers") / "report.html"
    data = partita.write_report(
        path, Ensemble.from_labels(labels, list("abcde"), missing=-1), 4, "voting", compare="mm"
    )
    return labels[1:], data, html.unescape(path.read_text())


def rows_of(text, caption):
    """A table of the page as lists of cells."""
    table = re.search(rf"<caption[^>]*>{caption}.*?<tbody>(.*?)</tbody>", text, re.DOTALL).group(1)
    lines = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    return [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", line)] for line in lines]


def test_influence_is_told_as_it_is(made):
    labels, data, text = made
    found = data.consensus.labels[1:]
    nmi = np.array([normalized_mutual_info_score(column, found, average_method="geometric") for column in labels.T])
    without = np.array([np.delete(nmi, j).mean() for j in range(5)])
    shown = {row[0]: row[1:] for row in rows_of(text, "Each clustering and the consensus")}
    for j, name in enumerate("abcde"):
        assert float(shown[name][0]) == pytest.approx(nmi[j], abs=0.00051)
        assert float(shown[name][3]) == pytest.approx(without[j] - nmi.mean(), abs=0.0011)
    assert f"“{'abcde'[nmi.argmin()]}” disagrees most: without it" in text
    most, least = nmi.argmax(), nmi.argmin()
    assert f"most with “{'abcde'[most]}” ({nmi[most]:.2f}), least with “{'abcde'[least]}” ({nmi[least]:.2f})" in text


def test_clusters_are_told_as_they_are(made):
    _, data, text = made
    found = data.consensus.labels[1:]
    for row in rows_of(text, "The clusters"):
        many = int(np.sum(found == int(row[0])))
        assert row[1:3] == [str(many), f"{many / 89:.1%}"]


def test_other_methods_are_compared_by_the_rand_index(made):
    labels, data, text = made
    other = partita.consensus(Ensemble.from_labels(labels), "mm", 4).labels
    wanted = adjusted_rand_score(other, data.consensus.labels[1:])
    assert wanted < 0.99 and data.rivals[1].agreement == pytest.approx(wanted, abs=0.05)
    assert rows_of(text, "Methods, side by side")[1][5] == f"{data.rivals[1].agreement:.3f}"


def test_doubtful_objects_carry_their_own_numbers(made):
    _, data, _ = made
    items = data.diagnostics.items
    for one in data.doubtful:
        row = one.called - 1
        assert (one.cluster, one.nearest) == (data.consensus.labels[row], items.nearest[row])
        np.testing.assert_equal((one.own, one.other), (items.own[row], items.other[row]))
        np.testing.assert_equal(one.confidence, data.diagnostics.confidence[row])
        np.testing.assert_allclose(one.margin, items.own[row] - items.other[row])


def test_axes_rise_and_steps_stay_level_until_the_next_point():
    canvas = Canvas(156, 150)
    axes = Axes(canvas, (0, 1), (0, 10))
    assert axes.at_y(0) == pytest.approx(110) and axes.at_y(10) == pytest.approx(10)
    assert axes.at_x(0) == pytest.approx(44) and axes.at_x(1) == pytest.approx(144)
    axes.steps([0, 0.5, 1], [0, 5, 10], "only")
    assert 'd="M44 110L94 110L94 60L144 60L144 10"' in canvas.marks[-1].replace("L44 110", "")


def test_ribbons_fill_their_blocks():
    consensus = partita.consensus(noisy(n=60, r=4, k=3, noise=0.3), "voting", 3)
    shown = AlluvialDisplay.from_consensus(noisy(n=60, r=4, k=3, noise=0.3), consensus)
    assert shown.thin == 0
    for j, (here, there) in enumerate(zip(shown.stacks, shown.stacks[1:], strict=False)):
        mine = shown.ribbons.column == j
        for stack, ends, sides in (
            (here, shown.ribbons.source, shown.ribbons.left),
            (there, shown.ribbons.target, shown.ribbons.right),
        ):
            for block in range(len(stack.labels)):
                one = mine & (ends == block)
                assert shown.ribbons.height[one].sum() == pytest.approx(stack.heights[block])
                assert sides[one].min() == pytest.approx(stack.tops[block])


def test_blocks_are_as_high_as_they_have_objects():
    ensemble = noisy(n=60, r=4, k=3, noise=0.3)
    shown = AlluvialDisplay.from_consensus(ensemble, partita.consensus(ensemble, "voting", 3))
    drawn = flows.alluvial(Numbered(), shown, 4)
    boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*height="([\d.]+)"[^>]*><title>[^<]*: (\d+) obj', drawn)
    stacks = {}
    for x, top, high, objects in boxes:
        stacks.setdefault(x, []).append((float(top), float(high), int(objects)))
    assert len(stacks) == 5 and all(sum(block[2] for block in blocks) == 60 for blocks in stacks.values())
    for blocks in stacks.values():
        blocks.sort()
        assert blocks[0][0] == flows.TOP and sum(blocks[-1][:2]) == pytest.approx(flows.TOP + flows.HEIGHT, abs=0.02)
        assert len({round(high / objects, 2) for _, high, objects in blocks}) == 1
        gaps = [after[0] - before[0] - before[1] for before, after in pairwise(blocks)]
        assert max(gaps) < 8


def test_the_heatmap_tells_the_mean_of_objects_not_of_rows():
    ensemble = noisy(n=30, r=5, k=3, noise=0.4)
    counts = 1 + 9 * (np.arange(30) % 2)
    consensus = partita.consensus(ensemble.with_counts(counts), "voting", 3)
    heavy = HeatmapDisplay.from_consensus(ensemble.with_counts(counts), consensus)
    written_out = np.repeat(np.arange(30), counts)
    long = Ensemble.from_labels(ensemble.labels[written_out])
    wanted = HeatmapDisplay.from_consensus(long, Consensus.hard(consensus.labels[written_out])).within
    assert heavy.within == pytest.approx(wanted)


def test_a_row_of_the_tracking_chart_is_as_high_as_its_objects():
    shown = TrackingDisplay.from_labels({3: np.array([0, 1, 2])})
    drawn = flows.tracking(Numbered(), replace(shown, sizes=np.array([70, 20, 10])))
    heights = re.findall(r'height="([\d.]+)" class="c\d">', drawn)
    assert [float(one) for one in heights] == pytest.approx([210, 60, 30])
    assert re.findall(r"<li>k = 3: ([\d.]+)% of the objects in cluster", drawn) == ["70.0", "20.0", "10.0"]


def test_no_page_reaches_its_limit(made):
    _, data, _ = made
    whole = len(page(data))
    for less in (1, 50, 200):
        assert len(page(data, whole - less)) < whole - less


def test_coordinates_are_joined_by_id(tmp_path, monkeypatch):
    labels, _ = noisy_labels(n=12, r=3, k=2)
    table = "".join(f"o{i},{','.join(map(str, row))}\n" for i, row in enumerate(labels))
    (tmp_path / "labels.csv").write_text("id,a,b,c\n" + table)
    (tmp_path / "places.csv").write_text("id,x,y\n" + "".join(f"o{i},{i}.5,{-i}\n" for i in (5, 3, 8, 0, 11)))
    seen = []
    monkeypatch.setattr("partita.reporting.check_given", lambda *given: seen.append(given[2]))
    words = ["--id", "id", "--k", "2", "--method", "voting", "--compare", "none", "-o", str(tmp_path / "o.html")]
    done = CliRunner().invoke(
        app, ["report", str(tmp_path / "labels.csv"), "--coords", str(tmp_path / "places.csv"), *words]
    )
    assert done.exit_code == 0, done.exception
    wanted = np.full((12, 2), np.nan)
    for i in (5, 3, 8, 0, 11):
        wanted[i] = i + 0.5, -i
    np.testing.assert_array_equal(seen[0], wanted)
