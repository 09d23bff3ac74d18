"""The progress bar: on stderr, after the first second, only where stderr is a terminal."""

import sys
import time
from types import TracebackType
from typing import Any

PATIENCE = 1.0
MOST_SHOWN = 4


class Bar:
    """Draws what the library reports, once it is clear that it takes longer than a second."""

    def __init__(self, quiet: bool) -> None:
        self.silent = quiet or not sys.stderr.isatty()
        self.begun = time.monotonic()
        self.drawing: Any = None
        self.tasks: dict[str, Any] = {}

    def __enter__(self) -> "Bar":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.drawing is not None:
            self.drawing.stop()

    def report(self, what: str, done: float, total: float) -> None:
        """Draw one step, if it is time to draw."""
        if self.silent or time.monotonic() - self.begun < PATIENCE:
            return
        if self.drawing is None:
            from rich.console import Console
            from rich.progress import Progress, ProgressColumn, Task
            from rich.text import Text

            class Speed(ProgressColumn):
                """Rows a second, of work on rows."""

                def render(self, task: Task) -> Text:
                    return Text(speed(task.description, task.speed), "progress.data.speed")

            columns = (*Progress.get_default_columns(), Speed())
            self.drawing = Progress(*columns, console=Console(stderr=True), transient=True)
            self.drawing.start()
        if what not in self.tasks:
            self.tasks[what] = self.drawing.add_task(what, total=total)
        full = len(self.tasks) > MOST_SHOWN and done >= total  # of many, those at work are the ones to see
        self.drawing.update(self.tasks[what], completed=done, visible=not full)


def speed(what: str, steps: float | None) -> str:
    """How fast work on rows goes; nothing of other work, whose steps are no rows.

    >>> speed("placing rows", 1234567.8), speed("candidates", 3.0)
    ('1,234,568 rows/s', '')
    """
    return f"{steps:,.0f} rows/s" if steps and what.endswith("rows") else ""
