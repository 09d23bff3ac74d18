"""Every display bears every case, in both themes, without a warning; and is the same file every time."""

import io
import pickle
import re
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import partita
import partita.report
from partita.core.errors import FileError, MissingExtraError, ParameterError
from partita.report import ConsensusDisplay, ResultDisplay, plots
from partita.report.displays.base import Display
from partita.report.themes import DARK, LIGHT
from tests.report.cases import CASES, case, every_display

SIGNS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture(scope="module")
def small():
    return every_display(*case())


@pytest.mark.parametrize("name", CASES)
def test_every_display_bears(name):
    themes = cycle(("light", "dark"))
    made = every_display(*CASES[name]())
    shown = [made[each] for each in made if name == "small" or each not in ("trace", "numbers", "selection")]
    for display, theme in zip(shown, themes, strict=False):
        figure = display.figure(theme)
        figure.set_layout_engine("none")  # its second pass finds no other fault
        figure.draw_without_rendering()
        assert len(display.alt) > 20 and not re.search(r"\bnan\b|\n", display.alt + display.caption)
        held = sum(value.nbytes for value in vars(display).values() if isinstance(value, np.ndarray))
        assert held < 3e6


def test_other_theme_of_each(small):
    """The ground is the theme's, and no word is cut off at the edge."""
    for (name, display), theme in zip(small.items(), cycle(("dark", "light")), strict=False):
        figure = display.figure(theme)
        figure.draw_without_rendering()
        ground = {"light": LIGHT, "dark": DARK}[theme].ground
        assert "#{:02X}{:02X}{:02X}".format(*(round(255 * part) for part in figure.get_facecolor()[:3])) == ground
        box = figure.get_tightbbox()
        width, height = figure.get_size_inches()
        inside = box.x0 >= -0.02 and box.y0 >= -0.02 and box.x1 <= width + 0.02 and box.y1 <= height + 0.02
        assert inside, (name, box, width, height)


def test_everything_exported_is_a_display(small):
    assert {type(display).__name__ for display in small.values()} == set(partita.report.__all__)
    assert dir(partita.report) == sorted(partita.report.__all__)
    assert all(issubclass(getattr(partita.report, name), Display) for name in partita.report.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = partita.report.nothing


def test_fields_cannot_be_changed(small):
    with pytest.raises(ValueError, match="read-only"):
        small["heatmap"].matrix[0, 0] = 2.0
    with pytest.raises(AttributeError):
        small["heatmap"].title = "other"


@pytest.mark.parametrize("suffix", SIGNS)
def test_files(small, suffix, tmp_path):
    path = tmp_path / f"picture{suffix}"
    small["numbers"].save(path)
    first = path.read_bytes()
    assert first.startswith(SIGNS[suffix])
    small["numbers"].save(str(path))
    assert path.read_bytes() == first
    small["numbers"].save(path, theme="dark")
    assert path.read_bytes() != first
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_file_carries_its_words(small, tmp_path):
    small["numbers"].save(tmp_path / "a.svg")
    assert small["numbers"].alt.split(":")[0] in (tmp_path / "a.svg").read_text()
    from PIL import Image

    small["numbers"].save(tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.info["Description"] == small["numbers"].alt


def test_file_object_and_notebook(small):
    file = io.BytesIO()
    small["numbers"].save(file)
    shown = small["numbers"]._repr_mimebundle_()
    assert file.getvalue().startswith(SIGNS[".png"]) and shown["image/png"].startswith(SIGNS[".png"])
    assert shown["text/plain"] == small["numbers"].alt


def test_unknown_suffix_writes_nothing(small, tmp_path):
    with pytest.raises(FileError, match=r"\.png, \.svg or \.pdf"):
        small["numbers"].save(tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())


def test_small_png_is_small(small):
    figure = small["heatmap"].figure()
    assert len(plots.small_png(figure, 70)) < 0.7 * len(plots.as_png(figure, 70))


def test_unknown_theme(small):
    with pytest.raises(ParameterError, match="choose one of light, dark"):
        small["numbers"].figure("pink")


def test_plot_on_given_axes_returns_the_display(small):
    """Other axes of the figure stay as they are; panels divide the area of the given axes."""
    from matplotlib.figure import Figure

    for display in small.values():
        figure = Figure(figsize=(9, 4))
        left, right = figure.subplots(1, 2)
        assert display.plot(ax=right, theme="dark") is display
        assert display.ax_ is right and display.figure_ is figure and figure.axes == [left, right]
        figure.draw_without_rendering()
        panels = right.child_axes or [right]
        assert all(panel.get_position().x0 >= left.get_position().x1 for panel in panels)
        assert any(panel.has_data() for panel in panels) and not left.has_data()


def overlapping(panels):
    """Pairs of panels with their labels, and pairs of titles, that overlap by more than a pixel."""
    areas = [panel.get_tightbbox(for_layout_only=True) for panel in panels]
    titles = [panel.title.get_window_extent() for panel in panels if panel.get_title()]
    both = [(a, b) for boxes in (areas, titles) for i, a in enumerate(boxes) for b in boxes[:i]]
    return [pair for pair in both if all(min(a) - max(b) > 1 for a, b in _sides(*pair))]


def _sides(one, other):
    return [((one.x1, other.x1), (one.x0, other.x0)), ((one.y1, other.y1), (one.y0, other.y0))]


SLOW_LAYOUTS = [pytest.param(layout, marks=pytest.mark.slow) for layout in ("tight", "constrained")]


@pytest.mark.parametrize("layout", [None, *SLOW_LAYOUTS])
def test_labels_of_panels_do_not_overlap_in_any_layout(small, layout):
    from matplotlib.figure import Figure

    for name, display in small.items():
        figure = Figure(figsize=(11, 9), layout=layout)
        for axes in figure.subplots(2, 2).flat:
            display.plot(axes)
        figure.draw_without_rendering()
        panels = [panel for axes in figure.axes for panel in (axes.child_axes or [axes])]
        assert not overlapping(panels), name
        title, panel = figure.axes[0].title.get_window_extent(), panels[0].get_tightbbox()
        assert title.y0 >= panel.y1 - 1 or not figure.axes[0].child_axes


def test_panels_keep_apart_if_the_figure_is_resized(small):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 8))
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    small["consensus"].plot(axes)
    for size in ((12, 8), (7, 5), (20, 6)):
        figure.set_size_inches(size)
        figure.draw_without_rendering()
        assert not overlapping(axes.child_axes)


@pytest.fixture
def pyplot():
    from matplotlib import pyplot

    pyplot.close("all")
    yield pyplot
    pyplot.close("all")


def test_plot_without_axes_makes_a_pyplot_figure(small, pyplot):
    display = small["numbers"].plot()
    assert display is small["numbers"] and display.ax_.get_xlabel() == "clusters"
    assert display.figure_ is pyplot.gcf() and display.figure_.axes == [display.ax_]
    assert display.figure_.get_suptitle() == display.title


def test_plot_with_pyplot_axes(small, pyplot, tmp_path):
    figure, ax = pyplot.subplots()
    small["consensus"].plot(ax=ax)
    pyplot.tight_layout()
    pyplot.savefig(tmp_path / "picture.png")
    assert pyplot.get_fignums() == [figure.number] and (tmp_path / "picture.png").stat().st_size > 5000


def test_a_notebook_shows_a_plot_once(small, pyplot, monkeypatch):
    """The inline backend shows the figure at the end of the cell and closes it; the display shows itself otherwise."""
    display = small["numbers"].plot()
    assert "image/png" in display._repr_mimebundle_()  # the backend of tests shows nothing
    monkeypatch.setattr(pyplot, "get_backend", lambda: "inline")
    assert list(display._repr_mimebundle_()) == ["text/plain"]
    assert "image/png" in small["trace"]._repr_mimebundle_()
    pyplot.close(display.figure_)
    assert "image/png" in display._repr_mimebundle_()


def test_every_cell_of_a_real_notebook_shows_its_plots_once(tmp_path, monkeypatch):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    from traitlets.config import Config

    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.delenv("MPLBACKEND", raising=False)
    cells = {
        "from partita import Draws\nfrom partita.report import NumbersDisplay\n"
        "display = NumbersDisplay.from_draws(Draws.of([[0, 0, 1], [0, 1, 2]], [0, 0]))": 0,
        "display": 1,
        "display.plot()": 1,
        "display.plot();": 1,
        "display.figure_": 1,
        "for theme in ('light', 'dark'): display.plot(theme=theme)": 2,
        "import matplotlib.pyplot as plt\nfigure, ax = plt.subplots()\ndisplay.plot(ax=ax)": 1,
        "display  # again": 1,
    }
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    local = Config({"KernelManager": {"transport": "ipc", "connection_file": str(tmp_path / "kernel.json")}})
    nbclient.NotebookClient(notebook, timeout=120, config=local).execute()
    for cell, images in zip(notebook.cells, cells.values(), strict=True):
        assert sum("image/png" in output.get("data", {}) for output in cell.outputs) == images, cell.source


def test_a_plotted_display_is_copied_without_its_figure(small):
    from matplotlib.figure import Figure

    display = small["numbers"].plot(ax=Figure().subplots())
    again = pickle.loads(pickle.dumps(display))
    assert again.shares.tolist() == display.shares.tolist() and not hasattr(again, "figure_")


def test_settings_are_left_as_they_were(small):
    import matplotlib

    with matplotlib.rc_context({"text.usetex": False, "font.size": 31, "axes.facecolor": "red"}):
        before = dict(matplotlib.rcParams)
        small["cdf"].save(io.BytesIO())
        assert dict(matplotlib.rcParams) == before


def test_computing_needs_no_matplotlib_and_drawing_no_pyplot():
    code = """
import sys, io
import partita.report
assert not {"numpy", "matplotlib"} & set(sys.modules), "importing"
sys.modules["matplotlib.pyplot"] = None
from tests.report.cases import case, every_display
made = every_display(*case())
assert not [m for m in sys.modules if m.startswith("matplotlib") and m != "matplotlib.pyplot"], "computing"
words = [display.alt + display.caption + str(display.inches) for display in made.values()]
assert not [m for m in sys.modules if m.startswith("matplotlib") and m != "matplotlib.pyplot"], "words"
made["heatmap"].save(io.BytesIO())
assert sys.modules["matplotlib.pyplot"] is None
sys.modules["matplotlib.figure"] = None
assert list(made["numbers"]._repr_mimebundle_()) == ["text/plain"]
try: made["numbers"].figure()
except Exception as error: print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(MissingExtraError.__name__) and "partita[report]" in done.stdout


def test_text_is_drawn_as_it_is():
    assert plots.safe("a$b$") == r"a\$b\$" and plots.drawable("聚a\n") == f"{plots.UNKNOWN_SIGN}a\n"


def test_repr_is_one_short_line(small):
    for name, display in small.items():
        text = repr(display)
        assert text.startswith(f"<{type(display).__name__}: ") and text.endswith(">"), name
        assert len(text) <= 150 and "\n" not in text


def test_axes_that_are_given_have_the_caption():
    consensus, ensemble = case(n=2500, r=3, k=5)
    for display in (ConsensusDisplay.from_consensus(ensemble, consensus), ResultDisplay.from_result(consensus)):
        for layout in (None, "constrained"):
            figure, ax = plt.subplots(figsize=(9, 5), layout=layout)
            display.plot(ax)
            title, *caption = ax.get_title().split("\n")
            assert title == display.title and " ".join(caption) == display.caption != ""
            plt.close(figure)
    figure, axes = plt.subplots(1, 4)
    assert display.plot(axes[0]).ax_.get_title() == display.title  # no room
    plt.close(figure)


@pytest.mark.parametrize(
    ("ax", "way_out"),
    [
        ("x.png", r"got 'x.png'; to write a file, use .plot\(\).save\('x.png'\)"),
        (Path("x.png"), r".plot\(\).save\('x.png'\)"),
        (np.array([[None, None]]), r"got 1 x 2 of them; give one, such as axes\[0, 0\]"),
        ([None, None, None], r"got 3 of them; give one, such as axes\[0\]"),
        (Figure(), r"got a Figure; give axes of it, such as figure.add_subplot\(\)"),
        (3, "got a int; give one of the axes"),
    ],
)
def test_other_things_than_axes(ax, way_out):
    result = partita.consensus([[0, 0], [0, 0], [1, 1]], "voting", 2)
    with pytest.raises(ParameterError, match=way_out):
        result.plot(ax)
