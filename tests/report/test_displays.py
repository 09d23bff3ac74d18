"""Every display bears every case, in both themes, without a warning; and is the same file every time."""

import io
import re
import subprocess
import sys
from itertools import cycle

import numpy as np
import pytest

import partita.report
from partita.core.errors import FileError, MissingExtraError, ParameterError
from partita.report import plots
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


def test_on_given_axes(small):
    """Pictures go where the user wants them, beside others; panels divide that place."""
    from matplotlib.figure import Figure

    for display in small.values():
        figure = Figure(figsize=(9, 4))
        left, right = figure.subplots(1, 2)
        assert display.plot(right, theme="dark") is right
        figure.draw_without_rendering()
        middle = left.get_position().x1
        drawn = [axes for axes in figure.axes if axes is not left]
        assert all(axes.get_position().x0 >= middle for axes in drawn)
        assert any(axes.has_data() for axes in drawn) and not left.has_data()
    by_hand = Figure().add_axes((0.1, 0.1, 0.8, 0.8))
    small["agreement"].plot(by_hand)
    assert by_hand.child_axes
    assert small["numbers"].plot().get_xlabel() == "clusters"


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
