"""What is drawn is what displays hold."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

import partita
from partita import Consensus
from partita.report import CdfDisplay, ConfusionDisplay, NumbersDisplay, ScatterDisplay, TrackingDisplay, plots
from partita.report.themes import DARK, LIGHT, colour_of, hatch_of
from tests.report.cases import ODD, case, every_display
from tests.samples import noisy


@pytest.fixture(scope="module")
def made():
    """Ten clusters, so that colours come again."""
    return every_display(*case(n=120, r=8, k=10, missing=0.1, names=ODD))


def panels(display, theme="light"):
    """The panels that a display draws: those but the one whose place they take."""
    (axes,) = display.figure(theme).axes
    return axes.child_axes or [axes]


def words(axes):
    return [text.get_text() for text in axes.texts if text.get_text()]


def test_heatmap(made):
    display = made["heatmap"]
    strip, matrix, sure, key = panels(display)
    assert np.array_equal(matrix.images[0].get_array().filled(np.nan), display.matrix, equal_nan=True)
    assert len(strip.patches) == 10 and key.get_ylabel() == "together, share of clusterings"
    for cluster, patch in enumerate(strip.patches):
        assert to_hex(patch.get_facecolor()).upper() == colour_of(cluster, LIGHT)
        assert (patch.get_hatch() or "") == hatch_of(cluster)
        assert patch.get_height() == np.count_nonzero(display.clusters == cluster)
    assert sure.patches[0].get_data().values.tolist() == np.nan_to_num(display.item_consensus).tolist()
    borders = np.flatnonzero(np.diff(display.clusters)) + 0.5
    assert [line.get_ydata()[0] for line in matrix.lines[::2]] == borders.tolist()


def test_heatmap_of_many_clusters_frames_them():
    display = every_display(*case(n=240, r=3, k=60))["heatmap"]
    matrix = panels(display)[1]
    assert len(matrix.lines) == 60
    for cluster, line in enumerate(matrix.lines):
        low, high = np.flatnonzero(display.clusters == cluster)[[0, -1]]
        assert (line.get_xdata().min(), line.get_xdata().max()) == (low - 0.5, high + 0.5)


def test_curves(made):
    display = made["cdf"]
    curves, delta, pac = panels(display)
    for place, k in enumerate(display.ks):
        line = curves.lines[place]
        assert line.get_ydata().tolist() == display.cdf[place].tolist() and line.get_label() == f"k = {k}"
        assert (line.get_linewidth() > 2) == (k == display.k)
    assert len({line.get_linestyle() for line in curves.lines[: len(display.ks)]}) == len(display.ks)
    assert delta.lines[0].get_ydata().tolist() == display.delta.tolist()
    assert pac.lines[0].get_ydata().tolist() == display.pac.tolist()


def test_error_of_sampled_pairs_is_drawn():
    held = {
        "title": "", "ks": (2, 3), "edges": np.linspace(0, 1, 101), "cdf": np.tile(np.linspace(0, 1, 101), (2, 1)),
        "errors": np.array([0.01, 0.02]), "level": 0.99, "areas": np.ones(2), "delta": np.ones(2),
        "pac": np.array([0.5, 0.4]), "limits": (0.1, 0.9), "k": None,
    }  # fmt: skip
    display = CdfDisplay(**held)
    band = panels(display)[2].collections[0].get_paths()[0].vertices[:, 1]
    assert band.min() == pytest.approx(0.36) and band.max() == pytest.approx(0.52)
    assert "±0.02 with 99% confidence" in display.caption


def test_tracking():
    colours = {2: np.repeat([0, 1], 10), 3: np.repeat([0, 1, 2, 2], 5)}
    display = TrackingDisplay.from_labels(colours, k=3)
    (axes,) = panels(display, "dark")
    expected = [[to_rgb(colour_of(c, DARK)) for c in row] for row in display.colours.tolist()]
    assert np.allclose(axes.images[0].get_array(), expected)
    assert words(axes) == ["0", "1", "0", "2", "1"]
    assert [tick.get_fontweight() for tick in axes.get_xticklabels()] == ["normal", "bold"]


def test_bars_of_items(made):
    display = made["items"]
    objects, clusters = panels(display)
    drawn = np.concatenate([patch.get_data().values for patch in objects.patches[:10]])
    assert drawn.tolist() == np.nan_to_num(display.own).tolist()
    assert np.array_equal(objects.patches[-1].get_data().values, display.other, equal_nan=True)
    assert [patch.get_width() for patch in clusters.patches] == np.nan_to_num(display.cluster_consensus).tolist()
    assert words(clusters) == [f"{value:.2f}" for value in display.cluster_consensus]
    assert clusters.lines[0].get_xdata().tolist() == display.silhouettes.tolist()


def test_agreement(made):
    display = made["agreement"]
    tree, matrix, _ = panels(display)
    assert np.array_equal(matrix.images[0].get_array().filled(np.nan), display.matrix, equal_nan=True)
    assert words(matrix) == [f"{value:.2f}" for value in display.matrix.ravel()]
    assert [line.get_ydata().tolist() for line in tree.lines] == display.heights.tolist()
    names = [label.get_text() for label in matrix.get_yticklabels()]
    assert len(set(names)) == len(ODD) and r"\$a\$" in names and "_x" in names
    assert all(len(name) <= 26 for name in names)


def test_alluvial(made):
    display = made["alluvial"]
    (axes,) = panels(display)
    blocks = [block for stack in display.stacks for block in zip(stack.tops, stack.heights, strict=True)]
    assert [(patch.get_y(), patch.get_height()) for patch in axes.patches] == pytest.approx(np.array(blocks), abs=1e-12)
    assert len(axes.collections) == len(display.ribbons.objects)
    for ribbon, left, right, height in zip(
        axes.collections, display.ribbons.left, display.ribbons.right, display.ribbons.height, strict=True
    ):
        outline = ribbon.get_paths()[0].vertices
        at_left = outline[outline[:, 0] == outline[:, 0].min(), 1]
        at_right = outline[outline[:, 0] == outline[:, 0].max(), 1]
        assert (at_left.min(), at_left.max()) == pytest.approx((left, left + height))
        assert (at_right.min(), at_right.max()) == pytest.approx((right, right + height))


def test_confusion():
    display = ConfusionDisplay.from_labels([0] * 1500 + [1] * 3, ["$a$"] * 1501 + ["b"] * 2)
    table, _ = panels(display)
    assert table.images[0].get_array().tolist() == display.shares.tolist()
    assert words(table) == ["1,500", "1", "2"] and len(table.lines) == 4
    dark = {text.get_color() for text in table.texts}
    assert dark == {"#000000", "#FFFFFF"}


def test_trace_and_numbers(made):
    above, below = panels(made["trace"])
    assert [line.get_ydata().tolist() for line in above.lines] == made["trace"].values.tolist()
    assert [line.get_ydata().tolist() for line in below.lines] == made["trace"].clusters.tolist()
    display: NumbersDisplay = made["numbers"]
    (axes,) = panels(display)
    assert [patch.get_height() for patch in axes.patches] == display.shares.tolist()
    assert axes.lines[0].get_ydata().tolist() == display.chains[0].tolist()


def test_scatter():
    labels = np.arange(20) % 10 - 1
    points = np.random.default_rng(0).normal(size=(20, 2))
    display = ScatterDisplay.from_consensus(Consensus.hard(labels), points, confidence=np.linspace(0, 1, 20))
    (axes,) = panels(display)
    assert np.concatenate([one.get_offsets() for one in axes.collections]).shape == (20, 2)
    for cluster, drawn in zip(np.unique(labels), axes.collections, strict=True):
        mine = labels == cluster
        assert np.array_equal(drawn.get_offsets(), points[mine])
        assert drawn.get_alpha() == pytest.approx(0.15 + 0.85 * display.confidence[mine])
    shapes = [len(one.get_paths()[0].vertices) for one in axes.collections]
    assert len(set(shapes)) > 3 and words(axes) == [str(cluster) for cluster in range(9)]


def test_label_table(made):
    display = made["consensus"]
    table, sure, agreement = panels(display)
    expected = [[to_rgb(colour_of(c, LIGHT, display.k)) for c in row] for row in display.labels.tolist()]
    assert np.allclose(table.images[0].get_array(), expected)
    assert sure.patches[0].get_data().values.tolist() == display.confidence.tolist()
    assert [patch.get_width() for patch in agreement.patches] == display.agreement.tolist()


def test_result(made):
    display = made["result"]
    sizes, confidence, agreement = panels(display)
    assert [patch.get_width() for patch in sizes.patches] == display.sizes.tolist()
    for cluster, patch in enumerate(sizes.patches):
        assert to_hex(patch.get_facecolor()).upper() == colour_of(cluster, LIGHT)
    boxes = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in confidence.patches]
    assert boxes == pytest.approx(display.confidence[:, [1, 3]])
    assert [line.get_xdata()[0] for line in confidence.lines[1::2]] == display.confidence[:, 2].tolist()
    assert [patch.get_width() for patch in agreement.patches] == display.agreement.tolist()


def test_names_of_thirty_clusters_are_drawn():
    """Every cluster has its own color and its number, in every display of clusters."""
    made = every_display(*case(n=1500, r=3, k=30))
    names = [str(cluster) for cluster in range(30)]
    for name, place in (("consensus", 0), ("heatmap", 0), ("items", 1), ("result", 0), ("result", 1)):
        ticks = [tick.get_text().removeprefix("cluster ") for tick in panels(made[name])[place].get_yticklabels()]
        assert ticks == names, name
    (axes,) = panels(made["scatter"])
    assert words(axes) == names
    points = {to_hex(one.get_facecolor()[0]) for one in axes.collections}
    bars = {to_hex(patch.get_facecolor()) for patch in panels(made["result"])[0].patches}
    assert len(points) == len(bars) == 30
    stack = made["alluvial"].stacks[2]
    assert sorted(stack.labels, key=int) == names and set(stack.labels) <= set(words(panels(made["alluvial"])[0]))


def test_selection(made):
    (axes,) = panels(made["selection"])
    (curve,) = made["selection"].curves
    assert np.array_equal(axes.lines[1].get_ydata(), curve.values, equal_nan=True)
    assert axes.get_title() == r"BIC (\$)" and axes.title.get_fontweight() == "bold"
    assert axes.lines[2].get_xdata()[0] == 4 and axes.lines[0].get_xdata()[0] == made["selection"].k


@pytest.mark.parametrize("most", [4, 40])
def test_short_names_are_apart_and_short(most):
    from partita.report.displays.words import short_names

    names = [f"{'x' * 50}{j}" for j in range(30)] + ["", " ", "a\x00b"]
    shown = short_names(names, most)
    assert len(set(shown)) == len(names)
    assert all(len(name) <= max(most, 6) and name.isprintable() for name in shown)


def test_short_names_keep_what_differs_and_have_no_ranks():
    from partita.report.displays.words import short_names

    departments = [f"a very long name of a clustering from the {j} department" for j in (15, 1, 5, 25)]
    for name, j in zip(short_names(departments), (15, 1, 5, 25), strict=True):
        assert re.findall(r"\d+", name) == [str(j)] and len(name) <= 24
    grid = [f"leiden_res_{a}_neighbors_{b}_seed_0" for a in ("0.2", "0.5", "1.0") for b in (15, 30)]
    for name, full in zip(short_names(grid), grid, strict=True):
        assert re.findall(r"\d\.\d|15|30", name) == re.findall(r"\d\.\d|15|30", full)
    assert short_names([*grid[::2], "a name without any relation to the others"])[0] == "leiden_res_0.2…"
    assert short_names(["x" * 30, "x" * 31], 8) == ("x" * 30, "x" * 31)
    assert short_names(["abc", "abc"]) == ("abc", "abc")


@pytest.mark.parametrize("most", [6, 12, 24])
def test_short_names_are_distinct_if_the_names_are(most):
    from partita.report.displays.words import short_names

    rng = np.random.default_rng(0)
    for _ in range(100):
        words = np.array(["ab", "1", "_", " ", "res", "0.5", "聚", "\n", "a" * 9])
        names = ["".join(rng.choice(words, rng.integers(1, 14))) for _ in range(20)]
        shown = short_names(names, most, plots.drawable)
        assert len(set(zip(names, shown, strict=True))) == len(set(names)) == len(set(shown))


def test_a_thousand_clusters_stay_bounded():
    """The largest clusters have looks of their own, however many there are."""
    consensus, ensemble = case(n=2400, r=2, k=1000)
    made = every_display(consensus, ensemble)
    largest = set(np.argsort(-consensus.sizes, kind="stable")[:80].tolist())
    bars = panels(made["items"])[1]
    assert len(bars.patches) == 80 and {int(tick.get_text()) for tick in bars.get_yticklabels()} <= largest
    (points,) = panels(made["scatter"])
    assert len(points.collections) == 101 and sum(len(one.get_offsets()) for one in points.collections) == 2400
    assert len(words(points)) == 100 and "grey: all but the 100 largest" in made["scatter"].caption


def test_save_keeps_the_theme_of_the_plot(tmp_path):
    result = partita.consensus(noisy(), "voting", 4)
    display = result.plot(theme="dark")
    display.save(tmp_path / "a.svg")
    result.plot().save(tmp_path / "b.svg")
    display.save(tmp_path / "c.svg", theme="light")
    dark, light, again = ((tmp_path / f"{name}.svg").read_text() for name in "abc")
    assert DARK.ground.lower() in dark.lower() and light == again != dark
    plt.close("all")
