"""Base class of the displays: plot with matplotlib, save to a file, show in a notebook."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, Final, Self

from partita.core.errors import MissingExtraError, ParameterError
from partita.core.types import FrozenArrays
from partita.report import plots
from partita.report.themes import Theme, theme_of

MAX_REPR: Final = 120
"""Characters of the description that `repr` shows."""


class Display(FrozenArrays, ABC):
    """Base class of the displays. The fields hold all data that is drawn; drawing computes nothing.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes of the last call of `plot`. A display of several panels divides the area of these axes.
    figure_ : matplotlib.figure.Figure
        Figure of these axes.
    """

    title: str
    ax_: Any
    figure_: Any

    def __repr__(self) -> str:
        text = self.alt.split(". ")[0].rstrip(".")
        return f"<{type(self).__name__}: {text if len(text) <= MAX_REPR else text[: MAX_REPR - 1] + '…'}>"

    @property
    @abstractmethod
    def alt(self) -> str:
        """Description of the plot in words and numbers, as alternative text for screen readers."""

    @property
    def caption(self) -> str:
        """Text below the plot."""
        return ""

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height of the figure if no axes are given."""
        return 7.0, 4.5

    @abstractmethod
    def draw(self, axes: Any, theme: Theme) -> None:
        """Draw on these axes, or divide their area into panels."""

    def figure(self, theme: str = "light") -> Any:
        """Return a new matplotlib figure that pyplot does not know; nothing opens a window.

        Parameters
        ----------
        theme : {"light", "dark"}, default "light"

        Returns
        -------
        matplotlib.figure.Figure
        """
        return self._draw_in(plots.figure_classes()[0], theme).figure

    def _draw_in(self, make: Callable[..., Any], theme: str) -> Any:
        """Draw in a new figure with title and caption; return its axes."""
        look = theme_of(theme)
        # outside of the settings: a first figure of pyplot selects the backend, which changes settings for good
        figure = plots.new_figure(make, self.inches, look)
        with plots.settings():
            axes = figure.add_subplot()
            self.draw(axes, look)
            plots.finish(figure, look, self.title, self.caption)
        return axes

    def plot(self, ax: Any = None, theme: str = "light") -> Self:
        """Draw with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. A display of several panels divides the area of these axes. The caption is below the title
            if there is room, and always in `caption`. Default: a new pyplot figure with title and caption, which
            `matplotlib.pyplot.show()` shows.
        theme : {"light", "dark"}, default "light"
            With `ax`, the theme that suits the background of its figure.

        Returns
        -------
        Display
            The display itself. `ax_` and `figure_` are the axes and their figure.
        """
        if ax is None:
            ax = self._draw_in(plots.pyplot_figure, theme)
        elif not hasattr(ax, "inset_axes"):
            raise ParameterError(f"ax must be one matplotlib Axes, got {_not_axes(ax)}")
        else:
            look = theme_of(theme)
            with plots.settings():
                self.draw(ax, look)
                plots.title_with_caption(ax, look, self.title, self.caption)
        vars(self).update(ax_=ax, figure_=ax.figure, theme_=theme)
        return self

    def save(self, path: Any, theme: str | None = None) -> None:
        """Save the plot as PNG, SVG or PDF; needs neither `plot` nor pyplot.

        Parameters
        ----------
        path : str, path or binary file object
            The suffix of a path selects the format; a file object receives PNG.
        theme : {"light", "dark"}, optional
            Default: that of the last `plot`, else "light".
        """
        plots.save(self.figure(theme or self._last_theme), path, self.alt)

    @property
    def _last_theme(self) -> str:
        return str(vars(self).get("theme_", "light"))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("ax_", "figure_", "theme_")}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return the plot as PNG with its description.

        Only the description is returned if pyplot shows the figure of `plot` itself, so that a notebook cell does not
        show the plot twice.
        """
        if plots.shown_by_pyplot(getattr(self, "figure_", None)):
            return {"text/plain": self.alt}
        try:
            return {"image/png": plots.as_png(self.figure(self._last_theme)), "text/plain": self.alt}
        except MissingExtraError:
            return {"text/plain": self.alt}


def _not_axes(value: Any) -> str:
    """Describe a value that is no axes, and what to give in its place."""
    if isinstance(value, (str, PurePath)):
        return f"{str(value)!r}; to write a file, use .plot().save({str(value)!r})"
    shape = getattr(value, "shape", None) or ((len(value),) if isinstance(value, (list, tuple)) else None)
    if shape:
        size = " x ".join(map(str, shape))
        return f"{size} of them; give one, such as axes[{', '.join('0' for _ in shape)}]"
    if hasattr(value, "add_subplot"):
        return f"a {type(value).__name__}; give axes of it, such as figure.add_subplot()"
    return f"a {type(value).__name__}; give one of the axes that matplotlib.pyplot.subplots() returns"
