"""Ways out that error messages name, in the syntax of the function or command that the user called.

A column of ids can be named with `ids=` in `partita.consensus`, with `--id` on the command line, and not at all in
`partita.anndata.consensus`. Each public function or command that reads tables sets its `WaysOut`; messages
use it and name only options that exist.
"""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Final

MAX_NAMES: Final = 8
"""Maximum number of columns that a way out names."""


@dataclass(frozen=True, slots=True)
class WaysOut:
    """Syntax of the options for reading a table; an empty text means that there is no such option.

    `{}` is replaced by the name of a column or by a code.
    """

    ids: str = "set ids={}"
    transpose: str = "set transpose=True"
    no_transpose: str = "transpose=False"
    allow: str = "allow={}"
    exclude: str = ""
    """Option for several columns. If empty, the table itself has to be changed."""
    drop: str = "drop {}"
    """Sentence on one column or several, `{}` is "the column" or "these columns"."""
    each: bool = False
    """True if `exclude` is given once per column, as on the command line."""
    cluster: str = "partita.cluster(X)"

    def quoted(self, name: str) -> str:
        """Return a name as it is written in a call or in a command."""
        return shlex.quote(name) if self.each else repr(name)

    def without(self, names: Sequence[str]) -> str:
        """Return how to omit columns.

        >>> PYTHON.without(["a"]), FILE.without(["a", "b"]), COMMAND.without(["late run"])
        ('drop the column', "exclude these columns (exclude=['a', 'b'])", "exclude the column (--exclude 'late run')")
        """
        text = self.drop.format("the column" if len(names) == 1 else "these columns")
        if not self.exclude:
            return text
        shown, more = [self.quoted(name) for name in names[:MAX_NAMES]], len(names) > MAX_NAMES
        if self.each:
            return f"{text} ({' '.join(self.exclude.format(name) for name in shown)}{' …' if more else ''})"
        return f"{text} ({self.exclude.format('[' + ', '.join(shown) + (', …' if more else '') + ']')})"


PYTHON: Final = WaysOut()
"""Functions that take a table in memory."""
FILE: Final = WaysOut(drop="exclude {}", exclude="exclude={}")
"""`partita.read`."""
STREAM: Final = replace(FILE, exclude="how=partita.Streaming(read=partita.io.ReadOptions(exclude={}))")
"""`partita.stream` with files; with an array there are no names of columns."""
STREAMED_ARRAY: Final = WaysOut(ids="")
MEMBERSHIPS: Final = WaysOut(ids="give its values as ids= and omit it", transpose="", no_transpose="")
"""`SoftEnsemble.from_memberships`, which takes one matrix per clustering."""
ANNDATA: Final = WaysOut(ids="", transpose="", no_transpose="", drop="give other keys= without {}")
"""`partita.anndata`, where the observation names are the ids."""
ESTIMATOR: Final = WaysOut(transpose="give X.T")
"""`ConsensusClustering`, whose X has one row per object."""
COMMAND: Final = WaysOut(
    ids="give --id {}",
    transpose="give --transpose",
    no_transpose="--no-transpose",
    allow="--allow {}",
    exclude="--exclude {}",
    drop="exclude {}",
    each=True,
    cluster="partita cluster",
)
"""The command line."""

_CURRENT: ContextVar[WaysOut | None] = ContextVar("ways_out", default=None)


def ways_out() -> WaysOut:
    """Return the ways out of the function or command that the user called."""
    return _CURRENT.get() or PYTHON


@contextmanager
def offering(ways: WaysOut) -> Iterator[None]:
    """Name these ways out in messages; inside another `offering`, those of the outer one, which the user called."""
    if _CURRENT.get() is not None:
        yield
        return
    token = _CURRENT.set(ways)
    try:
        yield
    finally:
        _CURRENT.reset(token)
