"""What all displays share: a figure in a theme, on given axes, in a file. Each computes, holds, then draws."""

from abc import ABC, abstractmethod
from typing import Any

from partita.core.errors import MissingExtraError
from partita.core.types import FrozenArrays
from partita.report import plots
from partita.report.themes import Theme, theme_of


class Display(FrozenArrays, ABC):
    """A picture whose fields hold all that is drawn."""

    title: str

    @property
    @abstractmethod
    def alt(self) -> str:
        """What the picture shows, in words and numbers, for those who do not see it."""

    @property
    def caption(self) -> str:
        """What stands small below the picture."""
        return ""

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height of a figure of its own."""
        return 7.0, 4.5

    @abstractmethod
    def draw(self, axes: Any, theme: Theme) -> None:
        """Draw on these axes, or in their place."""

    def figure(self, theme: str = "light") -> Any:
        """A matplotlib figure, which belongs to no window."""
        look = theme_of(theme)
        with plots.settings():
            figure = plots.new_figure(self.inches, look)
            self.draw(figure.add_subplot(), look)
            plots.finish(figure, look, self.title, self.caption)
        return figure

    def plot(self, axes: Any = None, theme: str = "light") -> Any:
        """Draw on matplotlib axes of yours, or on new ones, and return them.

        A picture of several panels divides the place of the axes.
        """
        if axes is None:
            return self.figure(theme).axes[0]
        look = theme_of(theme)
        with plots.settings():
            self.draw(axes, look)
            plots.set_title(axes, look, self.title)
        return axes

    def save(self, path: Any, theme: str = "light") -> None:
        """Write it as PNG, SVG or PDF by the name's suffix; as PNG to a file object."""
        plots.save(self.figure(theme), path, self.alt)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """What a notebook shows: the picture, and its words for those who do not see it."""
        try:
            return {"image/png": plots.as_png(self.figure()), "text/plain": self.alt}
        except MissingExtraError:
            return {"text/plain": self.alt}
