"""A consensus as plain values that strict JSON can hold."""

import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from partita.core.consensus import Consensus
from partita.core.errors import note_records
from partita.core.recipe import Recipe

SCHEMA: Final = 1
"""Version of the columns, the JSON and the metadata of results; it changes if a name or its meaning changes."""


def summary(consensus: Consensus, membership: bool) -> dict[str, Any]:
    """All of a result but its model."""
    objects: dict[str, Any] = {}
    if consensus.ids is not None:
        objects["id"] = plain(id_list(consensus.ids).to_pylist())
    objects["consensus"] = consensus.labels.tolist()
    objects["confidence"] = plain(consensus.confidence)
    if consensus.second is not None:
        objects["second"] = plain(consensus.second)
        objects["second_item_consensus"] = plain(consensus.second_item_consensus)
    if membership and consensus.membership is not None:
        objects["membership"] = plain(consensus.membership)
    return {
        "schema": SCHEMA,
        "fingerprint": None if consensus.recipe is None else consensus.recipe.fingerprint,
        "recipe": recipe_of(consensus),
        "k": consensus.k,
        "k_asked": consensus.k_asked,
        "k_choice": None if consensus.k_choice is None else plain(consensus.k_choice.as_record()),
        "scores": plain(consensus.scores),
        "agreement": plain(consensus.agreement),
        "candidates": plain(consensus.candidates),
        "notes": note_records(consensus.notes),
        "converged": plain(consensus.converged),
        "trace": plain(consensus.trace),
        "detail": detail_of(consensus),
        "clusters": consensus.sizes.tolist(),
        "objects": objects,
    }


def recipe_of(consensus: Consensus) -> Any:
    """The recipe as plain values, None when there is none."""
    return plain_recipe(consensus.recipe)


def plain_recipe(recipe: Recipe | None) -> Any:
    """The same of a recipe alone."""
    if recipe is None:
        return None
    return {name: plain(getattr(recipe, name)) for name in type(recipe).__dataclass_fields__}


def detail_of(consensus: Consensus) -> dict[str, Any]:
    """What else the method told, as plain values, less the arrays."""
    return {name: plain(value) for name, value in consensus.detail.items() if not isinstance(value, np.ndarray)}


def plain(value: Any) -> Any:
    """Any setting or figure as JSON can hold it: NaN and infinities as None, what is unknown as text."""
    if isinstance(value, np.ndarray):
        return _plain_array(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    return str(value)


def _plain_array(array: Any) -> Any:
    if array.dtype.kind in "iub":
        return array.tolist()
    if array.dtype.kind == "f":
        finite = np.isfinite(array)
        if finite.all():
            return array.tolist()
        values = array.astype(object)
        values[~finite] = None
        return values.tolist()
    return plain(array.tolist())


def column(values: NDArray[Any]) -> pa.Array:
    """Numbers as an Arrow column that is empty where they are NaN.

    Made of buffers: `pa.array` first imports pandas wherever that is installed, for some fifty MB and a fraction of a
    second.
    """
    plain_values = np.ascontiguousarray(values)
    known = ~np.isnan(plain_values) if plain_values.dtype.kind == "f" else np.True_
    validity = None if known.all() else pa.py_buffer(np.packbits(known, bitorder="little"))
    kind = pa.from_numpy_dtype(plain_values.dtype)
    return pa.Array.from_buffers(kind, len(plain_values), [validity, pa.py_buffer(plain_values)])


def id_list(ids: Any) -> pa.Array:
    """Ids as an Arrow column of their own kind, or as text when they are of several kinds."""
    try:
        array = pa.array(ids)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        array = pa.array([str(value) for value in ids.tolist()])
    if pa.types.is_nested(array.type):
        return pa.array([str(value) for value in ids.tolist()])
    return array.cast(pa.string()) if pa.types.is_binary(array.type) or pa.types.is_nested(array.type) else array
