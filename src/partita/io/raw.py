"""What a file held, before it is an ensemble; and which of its columns are wanted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from partita.core.checks import MEMBERSHIP_COLUMN, allowed, check_names
from partita.core.errors import FileError, TableError
from partita.io.options import ReadOptions


@dataclass(frozen=True, slots=True)
class Raw:
    """The chosen columns of a file: one matrix, or Arrow and NumPy columns of their own kinds."""

    names: tuple[str, ...]
    columns: tuple[Any, ...] = ()
    matrix: NDArray[Any] | None = None
    empty: int | None = None
    """The value of an empty cell in an integer `matrix`."""
    ids: Any = None
    id_name: str = "id"
    text: bool = False
    """Whether strings that are numbers mean numbers, as in a text file."""
    header: bool = True
    """Whether the file named its columns."""

    @property
    def rows(self) -> int:
        """How many rows were read."""
        return len(self.columns[0]) if self.matrix is None else int(self.matrix.shape[0])

    def pick(self, places: Sequence[int]) -> "Raw":
        """Some of the columns."""
        if list(places) == list(range(len(self.names))):
            return self
        names = tuple(self.names[j] for j in places)
        if self.matrix is not None:
            return replace(self, names=names, matrix=np.ascontiguousarray(self.matrix[:, list(places)]))
        return replace(self, names=names, columns=tuple(self.columns[j] for j in places))

    def turned(self) -> "Raw":
        """Return the table with rows as columns: ids become the names, and the names of a header become the ids."""
        if self.ids is None:
            names = tuple(f"c{j}" for j in range(self.rows))
        else:
            names = tuple(str(name).strip() for name in as_list(self.ids))
        ids = np.array(self.names, dtype=object) if self.header else None
        if self.matrix is not None:
            return replace(self, names=names, matrix=np.ascontiguousarray(self.matrix.T), ids=ids, id_name="id")
        rows = zip(*(as_list(column) for column in self.columns), strict=True)
        return replace(self, names=names, columns=tuple(list(row) for row in rows), ids=ids, id_name="id")


def as_list(column: Any) -> list[Any]:
    """The values of a column as Python objects."""
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return list(column.to_pylist())
    return list(column.tolist() if hasattr(column, "tolist") else column)


class Choice(NamedTuple):
    """Where the ids stand in a file, if they do, and where the clusterings."""

    ids: int | None
    labels: tuple[int, ...]


def some(names: Sequence[str]) -> str:
    """The first few names, for a message."""
    shown = ", ".join(repr(name) for name in names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"


def choose(names: Sequence[str], row_names: int | None, options: ReadOptions) -> Choice:
    """Which columns hold the ids and the clusterings; `row_names` is an id column that the file itself marks."""
    ids = row_names
    if options.ids is not None:
        ids = place_of(options.ids, names)
    labels = [j for j in range(len(names)) if j not in (ids, row_names)]
    if not labels:
        raise FileError("holds ids and nothing else; give one column a clustering")
    if options.transpose:
        return Choice(ids, tuple(labels))
    return Choice(ids, select(names, labels, options))


def place_of(name: str, names: Sequence[str]) -> int:
    """Where the column of this name stands."""
    if name not in names:
        raise FileError(f"no column is called {name!r}; there are {some(names)}")
    return list(names).index(name)


def select(names: Sequence[str], places: Sequence[int], options: ReadOptions) -> tuple[int, ...]:
    """The places whose columns are asked for, in file order, each with a name of its own."""
    asked = _matching(names, places, options.columns, "columns") if options.columns else set(places)
    left_out = _matching(names, places, options.exclude, "exclude")
    kept = tuple(j for j in places if j in asked and j not in left_out)
    check_names([names[j] for j in kept], allowed(options.allow))
    if not kept:
        raise FileError("no clustering is left; choose fewer columns to leave out")
    seen: dict[str, int] = {}
    for j in kept:
        if not names[j]:
            raise FileError(
                f"column {j + 1} has no name; name it, or say header=False (--no-header) if there are no names"
            )
        if seen.setdefault(names[j], j) != j:
            raise TableError(
                f"column name {names[j]!r} appears twice (columns {seen[names[j]] + 1} and {j + 1}); rename one, "
                "or say header=False (--no-header) if the first row is data"
            )
    return kept


def _matching(names: Sequence[str], places: Sequence[int], patterns: Sequence[str], option: str) -> set[int]:
    found: set[int] = set()
    exact = exact_places(names, places)
    for pattern in (patterns,) if isinstance(patterns, str) else patterns:
        fitting = exact.get(pattern) or hits(names, places, pattern)
        if not fitting:
            several = f"; give each name by itself (--{option} A --{option} B)" if "," in pattern else ""
            raise FileError(
                f"{option}={pattern!r} fits no column; there are {some([names[j] for j in places])}{several}"
            )
        found |= fitting
    return found


def hits(names: Sequence[str], places: Sequence[int], pattern: str) -> set[int]:
    """The columns of exactly this name (or block of memberships), else that fit the pattern, else that begin so."""
    exact = exact_places(names, places)
    if pattern in exact:
        return exact[pattern]
    fitting = [columns for name, columns in exact.items() if fnmatchcase(name, pattern)]
    fitting = fitting or [columns for name, columns in exact.items() if pattern and name.startswith(pattern)]
    return set[int]().union(*fitting)


def exact_places(names: Sequence[str], places: Sequence[int]) -> dict[str, set[int]]:
    """Return the columns of each name; a block of memberships `name:0 …` also has the name of its clustering."""
    found: dict[str, set[int]] = {}
    for j in places:
        for name in {names[j], names[j].rpartition(":")[0] if is_soft(names[j]) else names[j]}:
            found.setdefault(name, set()).add(j)
    return found


def clusterings(names: Sequence[str]) -> dict[str, list[int]]:
    """The places of each clustering's columns: one for a hard one, the whole block `name:0 …` for a soft one.

    >>> clusterings(["a", "b:1", "b:0"])
    {'a': [0], 'b': [2, 1]}
    """
    found: dict[str, list[int]] = {}
    blocks: dict[str, dict[int, int]] = {}
    for place, name in enumerate(names):
        block = MEMBERSHIP_COLUMN.fullmatch(name)
        if block is None:
            if name in found:
                how = ", as labels and as memberships" if name in blocks else ""
                raise TableError(f"clustering {name!r} is given twice{how}; rename one of the two")
            found[name] = [place]
        elif block[1] in found and block[1] not in blocks:
            raise TableError(
                f"clustering {block[1]!r} is given twice, as labels and as memberships; rename one of the two"
            )
        else:
            found.setdefault(block[1], [])
            blocks.setdefault(block[1], {})[int(block[2])] = place
    for name, parts in blocks.items():
        if len(parts) < 2 or set(parts) != set(range(len(parts))):
            shown = ", ".join(f"{name}:{part}" for part in sorted(parts)[:8])
            raise FileError(
                f"the memberships of {name!r} are not complete: {shown} stand there, "
                f"{name}:0, {name}:1, … without a gap are needed; "
                "rename the columns if they are labels, or leave them out by exclude= (--exclude)"
            )
        found[name] = [parts[part] for part in range(len(parts))]
    return found


def is_soft(name: str) -> bool:
    """Whether a column belongs to a block of memberships by its name."""
    return MEMBERSHIP_COLUMN.fullmatch(name) is not None


def check_several(names: Sequence[str], options: ReadOptions, hint: str = "") -> None:
    """Refuse a file with one clustering, unless one is enough."""
    found = clusterings(names)
    if len(found) < 2 and not options.one:
        raise FileError(f"holds one clustering ({next(iter(found))!r}), and one clustering is no ensemble{hint}")
