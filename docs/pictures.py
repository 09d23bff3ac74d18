"""Makes the images of docs/plots.md by running its code: `python docs/pictures.py [FOLDER]`.

Every display that the page's lines leave in a variable is saved under its name.
"""

import re
import sys
from pathlib import Path

from partita.report.displays.base import Display
from partita.report.plots import small_png

HERE = Path(__file__).parent
PAGE = HERE / "plots.md"
DARK = {"scatter"}
"""Shown on dark ground."""


def displays() -> dict[str, Display]:
    """The displays of the page by name; files that it writes are not written."""
    lines = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
    found: dict[str, object] = {}
    exec(re.sub(r"^.*\.save\(.*$", "", lines, flags=re.MULTILINE), found)
    return {name: value for name, value in found.items() if isinstance(value, Display)}


def make(folder: Path) -> None:
    """Write all pictures."""
    folder.mkdir(exist_ok=True)
    for name, display in displays().items():
        figure = display.figure("dark" if name in DARK else "light")
        (folder / f"{name}.png").write_bytes(small_png(figure, 100, 96))


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "plots")
