"""One labelling from a file (known classes, or a consensus written earlier), and its join with other objects."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from partita.core.coding import MissingRule
from partita.core.errors import FileError, TableError
from partita.core.suggest import suggests_names
from partita.core.types import MISSING, frozen
from partita.io.arrays import read_arrays, reference
from partita.io.assemble import code, id_array
from partita.io.columnar import index_column_of, observation_names, parquet_schema, read_observations, read_parquet
from partita.io.formats import READABLE, TEXT
from partita.io.header import NUMBER, read_header, trimmed
from partita.io.limits import check_input_size
from partita.io.raw import Choice, Raw, place_of, some
from partita.io.source import Source, naming, open_source
from partita.io.text import read_columns, read_top

CONSENSUS = "consensus"
"""The column that holds the labels in a file of ours."""


@dataclass(frozen=True, slots=True, eq=False)
class Labelling:
    """One label an object."""

    name: str
    """The column or array it was read from."""
    values: NDArray[Any]
    """(n,) integers, MISSING where unobserved; or other label values, None where unobserved."""
    ids: NDArray[Any] | None
    """(n,) what the objects are called, if the file says."""

    def __len__(self) -> int:
        return len(self.values)


@suggests_names
def read_labels(
    path: str | Path,
    column: str | None = None,
    ids: str | None = None,
    format: str | None = None,  # noqa: A002  # as in `write`
    missing: Any = MISSING,
    max_input_gb: float | None = None,
) -> Labelling:
    """One labelling from a file, `-` for standard input; -1 means unobserved there unless `missing` says otherwise.

    `column` names it; left out, it is the column `consensus` if there is one (so a file of ours can be read back), else
    the only column that does not hold ids; in array files the array `gt` or `reference`. `ids` names the column of
    object ids; left out, or absent from a file of ours, it is an unnamed first column, the column before `consensus`,
    or one called `id`. `max_input_gb` is the maximum memory in GB that the contents of the file may take; left
    out, half of the available memory.
    """
    with naming(path):
        raw = _load(open_source(path, format, (*READABLE, "json"), max_input_gb), column, ids)
        labels, classes = code(raw, MissingRule.of(missing))
        return Labelling(raw.names[0], frozen(_values(labels[:, 0], classes[0])), id_array(raw.ids, raw.rows))


def _load(source: Source, column: str | None, id_name: str | None) -> Raw:
    if source.format in TEXT:
        data, header = read_top(source, False if _is_bare(source) else None)
        return read_columns(data, header, _choose(header.names, header.row_names, column, id_name), source.limit)
    if source.format == "parquet":
        schema = parquet_schema(source)
        return read_parquet(source, schema, _choose(schema.names, index_column_of(schema), column, id_name))
    if source.format == "h5ad":
        frame = read_observations(source)
        names = [str(name) for name in frame.columns]
        if column is not None:
            place_of(column, names)
        choice = _choose(["obs_names", *names], 0, column, id_name)  # which stand before the columns
        ids = frame.iloc[:, choice.ids - 1].to_numpy() if choice.ids else observation_names(frame)
        place = choice.labels[0] - 1
        return Raw((names[place],), (frame.iloc[:, place],), ids=ids)
    if source.format == "json":
        return _load_json(source, column)
    if id_name is not None:
        raise FileError(f"array files hold no ids, so there is no {id_name!r}; omit ids= (--id)")
    name, values = reference(read_arrays(source), column)
    return Raw((name,), (values,))


def _is_bare(source: Source) -> bool:
    """Whether a text is one column of numbers from its first line on."""
    assert source.data is not None
    names = read_header(trimmed(source.data), None, True, source.limit).names
    return len(names) == 1 and NUMBER.fullmatch(names[0]) is not None


def _choose(names: Any, row_names: int | None, column: str | None, id_name: str | None) -> Choice:
    """Where the labelling stands, and its ids."""
    names = list(names)
    ours = names[1:2] == [CONSENSUS]
    ids = row_names if id_name is None or (ours and id_name not in names) else place_of(id_name, names)
    if ids is None and column is None and ours:
        ids = 0
    elif ids is None and column != "id" and "id" in names and len(names) > 1:
        ids = names.index("id")
    if column is not None:
        return Choice(ids, (place_of(column, names),))
    others = [j for j in range(len(names)) if j not in (ids, row_names)]
    if CONSENSUS in names and names.index(CONSENSUS) in others:
        return Choice(ids, (names.index(CONSENSUS),))
    if len(others) != 1:
        shown = some([names[j] for j in others]) or "only ids"
        raise FileError(f"holds {shown}; say which column is the labelling by column= (--column), or --truth-column")
    return Choice(ids, (others[0],))


def _load_json(source: Source, column: str | None) -> Raw:
    """The labels of a result written as JSON."""
    assert source.data is not None
    # Python needs 50 to 240 bytes for a list or a dictionary, and about 40 for a number that is not a small integer.
    lists, dicts, cells, keys = (int(np.count_nonzero(source.data == ord(sign))) for sign in "[{,:")
    needed = 2 * len(source.data) + 240 * (lists + dicts) + 40 * (cells + keys)
    check_input_size(needed, source.limit, "the JSON text")
    try:
        objects = json.loads(source.data.tobytes())["objects"]
        values, ids = objects[column or CONSENSUS], objects.get("id")
        table = pa.array(values)
        names = None if ids is None else pa.array(ids)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:80]
        raise FileError(
            f"is not a result written by partita ({type(error).__name__}: {reason}); give such a file"
        ) from None
    if not len(table):
        raise FileError("holds no objects")
    return Raw((column or CONSENSUS,), (table,), ids=names)


def _values(codes: Any, classes: tuple[Any, ...]) -> NDArray[Any]:
    """Codes back to the values they stand for."""
    values = np.empty(len(classes) + 1, dtype=object)
    values[: len(classes)] = classes
    whole = all(isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 for value in classes)
    if whole and MISSING not in classes:
        values[MISSING] = MISSING
        values = values.astype(np.int64)
    found: NDArray[Any] = values[codes]
    return found


def match(labelling: Labelling, ids: Any, n: int, partial: bool = False) -> NDArray[Any]:
    """The labels in the order of the `n` objects called `ids` (None when they have no names).

    Joined by id (compared as text) when both sides have ids, else by position. When `partial`, objects may lack a
    label, which is then unobserved, and labels of other objects are left out.

    >>> match(Labelling("class", np.array([5, 6]), np.array(["b", "a"])), ["a", "b"], 2).tolist()
    [6, 5]
    """
    if labelling.ids is None or ids is None:
        if len(labelling) != n:
            raise TableError(
                f"{labelling.name!r} has {len(labelling)} labels for {n} objects; give one label an object in the same "
                "order, or ids on both sides (--id)"
            )
        return labelling.values
    wanted, given = _texts(ids), _texts(labelling.ids)
    places = pc.index_in(wanted, given)
    if partial and places.null_count == len(wanted):
        raise TableError(
            f"{labelling.name!r} has no label for any of the {n} objects, such as {wanted[0].as_py()!r}, but for "
            f"{given[0].as_py()!r}{_more(given)}; say which columns hold the ids (--id, --truth-id)"
        )
    if partial:
        found = pc.fill_null(places, MISSING).to_numpy()
        unobserved = MISSING if labelling.values.dtype.kind == "i" else None
        values = np.append(labelling.values, np.array([unobserved], labelling.values.dtype))
        return np.asarray(values[found])
    if places.null_count:
        lacking = wanted.filter(places.is_null())
        raise TableError(f"{labelling.name!r} has no label for object {lacking[0].as_py()!r}{_more(lacking)}; add it")
    if len(given) > len(wanted):
        strangers = given.filter(pc.invert(pc.is_in(given, wanted)))
        raise TableError(
            f"{labelling.name!r} has a label for {strangers[0].as_py()!r}{_more(strangers)}, which is no object here; "
            "remove it"
        )
    matched: NDArray[Any] = labelling.values[places.to_numpy()]
    return matched


def _texts(ids: Any) -> pa.Array:
    return pa.array([str(value) for value in (ids.tolist() if hasattr(ids, "tolist") else ids)], pa.large_string())


def _more(names: pa.Array) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""
