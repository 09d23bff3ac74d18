"""Whole results in files: `Consensus.save` and `partita.load`.

The file is an NPZ archive. It has one .npy entry per array and a JSON text with all other values. A value that is not
text, an integer, a boolean, None or a list is written as {type: content}, so that every value gets its type back.
Dataclasses are written field by field: a new field of `Consensus` needs no code here, and gets its default if the file
is older. Increase `VERSION` if older versions of Partita would misread a file.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from partita.core.checks import SUM_TOLERANCE
from partita.core.coding import MissingRule
from partita.core.consensus import Consensus
from partita.core.draws import Draws
from partita.core.ensemble import Ensemble
from partita.core.errors import FileError, Note, ParameterError
from partita.core.fields import check_counts, check_weights
from partita.core.k_choice import KChoice
from partita.core.model import ColumnModel
from partita.core.recipe import Recipe
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.types import MISSING, FrozenDict, PerCluster, frozen
from partita.io.archive import (
    RESULT,
    InconsistentError,
    check_archive_path,
    checked,
    need,
    read_archive,
    write_archive,
)
from partita.io.formats import READABLE, WRITABLE
from partita.io.labels import CONVERT, PLAIN, read_back, written
from partita.io.models import check_model
from partita.io.source import naming
from partita.version import __version__

VERSION: Final = 1
CLASSES: Final = {
    kind.__name__: kind
    for kind in (Consensus, KChoice, Recipe, ColumnModel, MissingRule, Draws, Ensemble, SoftEnsemble)
}
"""Dataclasses that a result consists of."""
OTHER_SUFFIXES: Final = {f".{name}" for name in (*READABLE, *WRITABLE, "gz")} - {".npz"}


def save(result: Consensus, path: str | Path, include_ensemble: bool = False) -> None:
    """Write a result to a file; see `Consensus.save`."""
    with naming(path):
        check_archive_path(path, RESULT)
        suffix = Path(path).suffix.lower()
        if suffix in OTHER_SUFFIXES:
            raise FileError(
                f"the suffix {suffix!r} is that of a table, but save writes a whole result; use a name such as "
                f"{RESULT.example}, or partita.write to write a table"
            )
        if not include_ensemble:
            result = replace(result, ensemble=None)
        elif result.ensemble is None:
            raise ParameterError("this result has no ensemble; use include_ensemble=False")
        encoder = _Encoder()
        content = encoder.encode(result, "")
        try:
            _check(result)
        except InconsistentError as error:
            raise ParameterError(f"this result cannot be saved: {error}") from None
        about = {"version": VERSION, "partita": __version__, "result": content}
        write_archive(path, RESULT, about, encoder.arrays)


def load(path: str | Path) -> Consensus:
    """Read a result from a file that `Consensus.save` wrote.

    All fields come back as they were: types, exact numbers, notes and the model, so that the result predicts as before.
    Nothing in the file is executed.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Consensus
        The result. `ensemble` is None unless it was saved with `include_ensemble=True`.

    Raises
    ------
    FileError
        If the file is damaged, was written by a newer version of Partita, or is not a saved result.

    Examples
    --------
    >>> import partita, tempfile, pathlib
    >>> result = partita.consensus([["a", 1], ["a", 1], ["b", 2]], "voting", 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(pathlib.Path(folder) / "result.partita")
    ...     loaded = partita.load(pathlib.Path(folder) / "result.partita")
    >>> loaded.labels.tolist(), loaded.predict([["b", 2]]).tolist()
    ([0, 0, 1], [1])
    """
    with naming(path):
        about, arrays = read_archive(path, RESULT)
        version, writer = about.get("version"), about.get("partita")
        if type(version) is not int or version < 1:
            raise FileError(f"is a damaged result: its version is {version!r:.20}; {RESULT.way_out}")
        if version > VERSION:
            raise FileError(
                f"was saved by a newer version of Partita ({writer!s:.20}, file version {version}; version "
                f"{__version__} of Partita reads file versions up to {VERSION}); install a newer partita"
            )

        def read() -> Consensus:
            result = _decode(about["result"], arrays)
            need(isinstance(result, Consensus), "content")
            _check(result)
            return result  # type: ignore[no-any-return]  # it was checked

        return checked(read, RESULT)


class _Encoder:
    """Turns values into what JSON can represent; collects arrays by name, equal objects once."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._names: dict[int, str] = {}

    def encode(self, value: Any, where: str) -> Any:
        """Return a value as JSON; `where` is the field, for names of arrays and for errors."""
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is list:
            return self._items(value, where)
        if kind is tuple:
            return {"tuple": self._items(value, where)}
        if kind is PerCluster:
            return {"per cluster": self._items(value, where)}
        if kind is frozenset:
            return {"frozenset": self._items(sorted(value, key=repr), where)}
        if kind in (dict, FrozenDict):
            pairs = [[self.encode(key, where), self.encode(value[key], f"{where}.{key}")] for key in value]
            return {"dict" if kind is dict else "frozen dict": pairs}
        if kind is Note:
            return {"note": [str(value), value.code]}
        if kind in CLASSES.values():
            names = [field.name for field in fields(value)]
            prefix = f"{where}." if where else ""
            return {kind.__name__: {name: self.encode(getattr(value, name), prefix + name) for name in names}}
        if kind is np.ndarray and value.dtype == object:
            return {"objects": [list(value.shape), self._items(value.ravel().tolist(), where)]}
        if kind is np.ndarray and not value.dtype.hasobject:
            return {"array": self._named(value, where)}
        if isinstance(value, np.generic) and not value.dtype.hasobject:
            return {"scalar": self._named(np.asarray(value), where)}
        try:
            return written(value, where)
        except FileError:
            article = "an" if kind.__name__[0] in "AEIOU" else "a"
            raise FileError(
                f"{where}: {value!r:.60} is {article} {kind.__name__}, which cannot be saved; {CONVERT}"
            ) from None

    def _items(self, values: Any, where: str) -> list[Any]:
        if set(map(type, values)) <= set(PLAIN):
            return list(values)
        return [self.encode(value, f"{where}.{place}") for place, value in enumerate(values)]

    def _named(self, array: NDArray[Any], where: str) -> str:
        if id(array) not in self._names:
            plain = re.sub(r"[^\w.-]", "_", where, flags=re.ASCII)
            name = plain if plain not in self.arrays else f"{plain}.{len(self.arrays)}"
            self.arrays[name] = array  # keeps the array, so that no other gets its id
            self._names[id(array)] = name
        return self._names[id(array)]


def _decode(value: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return the value that `_Encoder.encode` encoded; all arrays are read-only."""

    def items(values: Any) -> list[Any]:
        need(isinstance(values, list), "content")
        if set(map(type, values)) <= set(PLAIN):
            return values  # type: ignore[no-any-return]
        return [_decode(item, arrays) for item in values]

    if isinstance(value, list):
        return items(value)
    if not isinstance(value, dict):
        return read_back(value)
    ((tag, content),) = value.items()
    if tag == "tuple":
        return tuple(items(content))
    if tag == "per cluster":
        return PerCluster(items(content))
    if tag == "frozenset":
        return frozenset(items(content))
    if tag in ("dict", "frozen dict"):
        pairs = {_decode(key, arrays): _decode(item, arrays) for key, item in content}
        return pairs if tag == "dict" else FrozenDict(pairs)
    if tag == "note":
        return Note(*content)
    if tag == "array":
        return arrays[content]
    if tag == "scalar":
        return arrays[content][()]
    if tag == "objects":
        shape, values = content
        return frozen(np.fromiter(items(values), object, len(values)).reshape(shape))
    if tag in CLASSES:
        return _object(CLASSES[tag], content, arrays)
    return read_back(value)


def _object(kind: type[Any], content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return an instance of a dataclass; fields that the file does not have get their defaults."""
    for name in set(content) - {field.name for field in fields(kind)}:
        raise FileError(
            f"{kind.__name__} has a field {name!r:.40}, which this Partita does not know; install a newer partita"
        )
    return kind(**{name: _decode(item, arrays) for name, item in content.items()})


def _check(result: Consensus) -> None:
    """Raise an `InconsistentError` if a field has a type or a value that no result can have."""
    _check_types(result)
    n, k = len(result.labels), result.k
    known = result.labels != MISSING
    need(result.labels.ndim == 1 and (n == 0 or result.labels.min() >= MISSING), "labels")
    membership, confidence = result.membership, result.confidence
    if membership is not None:
        need(membership.ndim == 2 and len(membership) == n and membership.shape[1] >= k, "membership")
        need(_between(membership, 0, 1) and not np.isnan(membership[known]).any(), "membership")
    need(confidence is None or (confidence.shape == (n,) and _between(confidence, 0, 1)), "confidence")
    need(result.second is None or (result.second.shape == (n,) and _between(result.second, MISSING, k - 1)), "second")
    need(result.second_item_consensus is None or result.second_item_consensus.shape == (n,), "second_item_consensus")
    need(result.ids is None or result.ids.shape == (n,), "ids")
    for name in ("per_object", "candidate_labels"):
        values = getattr(result, name).values()
        need(all(isinstance(array, np.ndarray) and array.shape == (n,) for array in values), name)
    if result.draws is not None:
        draws, chain = result.draws.labels, result.draws.chain
        need(draws.ndim == 2 and draws.shape[1] == n and chain.shape == draws.shape[:1], "draws")
    if result.model is not None:
        check_model(result.model)
    if result.ensemble is not None:
        need(len(result.ensemble) == n, "ensemble")
        _check_ensemble(result.ensemble)


def _check_ensemble(ensemble: AnyEnsemble) -> None:
    sizes, names = ensemble.sizes, ensemble.names
    table: NDArray[Any]
    need(len(sizes) == len(names) == len(ensemble.classes) == len(set(names)), "names of the ensemble")
    if isinstance(ensemble, Ensemble):
        table = ensemble.labels
        need(table.ndim == 2 and table.shape[1] == len(sizes), "labels of the ensemble")
        holds = bool((table >= MISSING).all() and (table.max(axis=0, initial=MISSING) < np.array(sizes)).all())
        need(holds, "labels of the ensemble")
    else:
        table = ensemble.matrix
        need(table.ndim == 2 and table.shape[1] == sum(sizes), "memberships of the ensemble")
        need(_between(table, 0, 1) and not np.isnan(table).any(), "memberships of the ensemble")
    check_weights(ensemble.weights, names)
    if ensemble.multiplicity is not None:
        check_counts(ensemble.multiplicity, len(table))
    need(ensemble.ids is None or ensemble.ids.shape == table.shape[:1], "ids of the ensemble")


def _between(array: NDArray[Any], low: float, high: float) -> bool:
    """Return whether all values that are not NaN are in a range, up to rounding."""
    return not bool(((array < low - SUM_TOLERANCE) | (array > high + SUM_TOLERANCE)).any())


def _check_types(value: Any) -> None:
    """Raise an `InconsistentError` unless every field of a dataclass has the type of its annotation."""
    hints = get_type_hints(type(value))
    for field in fields(value):
        item = getattr(value, field.name)
        need(_fits(item, hints[field.name]), f"{field.name} ({type(item).__name__})")
        if type(item) in CLASSES.values():
            _check_types(item)


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value has an annotated type, not counting what containers contain."""
    kind = get_origin(hint) or hint
    if kind in (Union, UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if kind is Any:
        return True
    if kind is Literal:
        return value in get_args(hint)
    if kind is np.ndarray:
        scalar = get_args(get_args(hint)[1])[0]
        return isinstance(value, np.ndarray) and (
            scalar is Any or np.issubdtype(value.dtype, get_origin(scalar) or scalar)
        )
    return isinstance(value, {int: Integral, float: Real}.get(kind, kind))
