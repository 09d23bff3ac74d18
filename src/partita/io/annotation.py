"""Columns of a consensus in AnnData: labels, confidence, and metadata to reproduce them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from partita.core.checks import FIGURES
from partita.core.consensus import Consensus
from partita.core.errors import Note, ParameterError
from partita.core.soft import AnyEnsemble
from partita.core.types import FloatArray, IntArray
from partita.io.summary import SCHEMA, plain

MARK: Final = "partita"
"""The entry of `uns[key]["params"]` that tells results of ours: the version that made them."""


@dataclass(frozen=True, slots=True, eq=False)
class Annotation:
    """The parts of a result, each for its place in an AnnData object."""

    key: str
    """The column of `obs`, and the entry of `uns`."""
    codes: IntArray
    """(n,) the place of each label among the categories, -1 where nothing is known."""
    categories: tuple[str, ...]
    """The clusters as text, 0, 1, …"""
    figures: Mapping[str, NDArray[Any] | None]
    """For `obs`, each under `<key>_<name>`: "confidence", "second" and "second_item_consensus"; None if not defined."""
    membership: FloatArray | None
    """For `obsm`, under `membership_key`."""
    told: dict[str, Any]
    """For `uns[key]`: texts, numbers, arrays and dictionaries of such, all of which an .h5ad can hold."""

    @property
    def membership_key(self) -> str:
        """The entry of `obsm` that holds the memberships."""
        return membership_key(self.key)

    @property
    def colors_key(self) -> str:
        """The entry of `uns` in which scanpy keeps one colour a category."""
        return f"{self.key}_colors"


def figure_keys(key: str) -> list[str]:
    """Return the columns of `obs` that belong to the result of this name, in addition to its labels."""
    return [f"{key}_{name}" for name in FIGURES]


def membership_key(key: str) -> str:
    """The entry of `obsm` that holds the memberships of the result of this name."""
    return f"{key}_membership"


def check_key(key: Any) -> str:
    """A name that a result may have in an AnnData object; one that its files cannot hold raises."""
    if not isinstance(key, str) or not key.strip() or "/" in key or "\0" in key or key in (".", "_index", "index"):
        raise ParameterError(
            f"key_added={key!r:.60} cannot name a result in AnnData; give a text without a slash, such as 'consensus'"
        )
    return key


def annotation(
    consensus: Consensus,
    key: str,
    ensemble: AnyEnsemble | None = None,
    agreement: FloatArray | None = None,
    membership: bool = True,
) -> Annotation:
    """The parts of a result; `ensemble` and `agreement` tell the clusterings behind it, weights and NMI with it."""
    return Annotation(
        key,
        consensus.labels,
        tuple(map(str, range(consensus.k))),
        {name: getattr(consensus, name) for name in FIGURES},
        consensus.membership if membership else None,
        _told(consensus, ensemble, agreement),
    )


def is_ours(told: Any) -> bool:
    """Whether an entry of `uns`, in an object or in an open file, tells of a result of ours."""
    params = told.get("params") if hasattr(told, "get") else None
    return params is not None and hasattr(params, "keys") and MARK in params


def results_in(adata: Any) -> list[str]:
    """The names of results of ours in an AnnData object or an open file."""
    told = adata.uns if hasattr(adata, "uns") else adata.get("uns")
    return [str(key) for key in told if is_ours(told[key])] if hasattr(told, "keys") else []


def _told(consensus: Consensus, ensemble: AnyEnsemble | None, agreement: FloatArray | None) -> dict[str, Any]:
    """The recipe and the scores; what is not known is left out, since older AnnData files cannot hold None."""
    params: dict[str, Any] = {}
    recipe = consensus.recipe
    if recipe is not None:
        settings = {name: _storable(value) for name, value in recipe.params.items() if value is not None}
        params |= {"method": recipe.method, "seed": recipe.seed, MARK: recipe.version}
        params |= {"fingerprint": recipe.fingerprint, "compress": recipe.compress, "polish": recipe.polish}
        params |= {"settings": settings} if settings else {}
        params |= {} if recipe.k is None else {"k": recipe.k}
        params |= {} if recipe.made is None else {"made": _storable(recipe.made)}
    if ensemble is not None:
        params |= {"keys": _texts(ensemble.names), "weights": np.array(ensemble.weights)}
    told: dict[str, Any] = {"schema": SCHEMA, "params": params, "clusters": consensus.k}
    told |= {"notes": _texts(consensus.notes), "note_codes": _texts([Note(note).code for note in consensus.notes])}
    told |= {name: float(value) for name, value in consensus.scores.items() if np.isfinite(value)}
    if agreement is not None:
        told["nmi"] = np.array(agreement)
    return told


def _texts(values: Sequence[str]) -> NDArray[Any]:
    return np.array(values, dtype=object)


def _storable(value: Any) -> Any:
    """A setting as an .h5ad can hold it: numbers and texts as they are, the rest as JSON."""
    found = plain(value)
    return found if isinstance(found, (bool, int, float, str)) else json.dumps(found)
