"""Which objects sites have in common, found by keyed hashes of their ids: the key is the sites' alone.

Where all sites have the same ids, digests say so and no hash is sent. Otherwise the coordinator compares hashes, which
it cannot try out on guessed ids for want of the key; it then sees which sites share how many objects.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.ensemble import Ensemble
from partita.core.errors import FederatedError
from partita.core.soft import AnyEnsemble
from partita.core.types import MISSING, IntArray, frozen
from partita.federated import masks
from partita.federated.state import State

FEWEST: Final = 0.5
"""The share of a site's objects that other sites must know, lest ids be written differently."""


class Matched(NamedTuple):
    """Which objects a run is about."""

    hashes: NDArray[np.uint8]
    """(n, 16) in rising order."""
    found: dict[str, int]
    """How many of them each site has."""
    had: dict[str, int]
    """How many objects each site has in all."""

    def told(self) -> str:
        """One line for the log."""
        each = ", ".join(f"{site} {self.found[site]} of its {self.had[site]}" for site in self.had)
        return f"{len(self.hashes)} objects agreed on: {each}"


def ids_of(table: AnyEnsemble, site: str) -> list[str]:
    """The ids of a site's objects, as text."""
    if table.ids is None:
        raise FederatedError(f"site {site} has no ids, by which its objects are found at other sites; name them (--id)")
    return [str(value) for value in table.ids.tolist()]


def hashes_of(table: AnyEnsemble, state: State, site: str) -> NDArray[np.uint8]:
    """(n, 16) keyed hashes of the site's ids, in an order that tells nothing."""
    found = _hashed(table, state, site)
    return found[rising(found)]


def _hashed(table: AnyEnsemble, state: State, site: str) -> NDArray[np.uint8]:
    return masks.keyed_hashes(group_key(state, site), ids_of(table, site))


def group_key(state: State, site: str) -> bytes:
    """The key that all sites have, and the coordinator has not."""
    if state.secrets is None or not state.secrets.group:
        raise FederatedError(f"site {site} has no key of the sites; ids are not sent without one")
    return state.secrets.group


def digest_of(table: AnyEnsemble, state: State, site: str) -> NDArray[np.uint8]:
    """Equal for sites with the same ids, in whatever order; where rows are aligned already, for as many rows."""
    if state.terms.aligned:
        return np.frombuffer(hashlib.sha256(str(len(table)).encode()).digest(), np.uint8)
    hashed = _hashed(table, state, site)
    return np.frombuffer(masks.keyed_digest(group_key(state, site), hashed), np.uint8)


def rising(hashes: NDArray[np.uint8]) -> IntArray:
    """(n,) the order of the hashes, as bytes."""
    words = np.ascontiguousarray(hashes).view(">u8")
    return np.lexsort((words[:, 1], words[:, 0]))


def order_of(table: AnyEnsemble, state: State, site: str, hashes: NDArray[np.uint8] | None) -> IntArray:
    """(n,) for each object agreed on its row at this site, MISSING where the site does not know it.

    Objects that all sites know stand in the order of their ids, so that the same run gives the same result; where some
    know ids that others do not, in that of the hashes, which is another one in every run.
    """
    if state.terms.aligned:
        return np.arange(len(table))
    if hashes is None:
        return by_id(table, site, np.arange(len(table)))
    rows = {key.tobytes(): row for row, key in enumerate(_hashed(table, state, site))}
    found = np.array([rows.get(key.tobytes(), MISSING) for key in np.ascontiguousarray(hashes)], np.int64)
    if state.terms.objects == "any":
        return found
    if (found == MISSING).any():
        raise FederatedError(
            f"site {site} was given {np.count_nonzero(found == MISSING)} objects that it does not have"
        )
    return by_id(table, site, found)


def by_id(table: AnyEnsemble, site: str, rows: IntArray) -> IntArray:
    """Some rows in the order of their ids."""
    ids = ids_of(table, site)
    return np.array(sorted(rows.tolist(), key=ids.__getitem__), np.int64)


def match(hashes: Mapping[str, NDArray[np.uint8]], objects: str) -> Matched:
    """The objects of all sites: those that all have ("common") or that any has ("any")."""
    for site, found in hashes.items():
        if found.ndim != 2 or found.shape[1] != 16:
            raise FederatedError(f"site {site} sent hashes of shape {found.shape}; (objects, 16) are wanted")
    stacked = np.concatenate(list(hashes.values()))
    kinds, inverse, often = np.unique(stacked.view("V16")[:, 0], return_inverse=True, return_counts=True)
    chosen = often == len(hashes) if objects == "common" else often > 0
    known, at = {}, 0
    for site, found in hashes.items():
        places = inverse[at : at + len(found)]
        if len(np.unique(places)) < len(places):
            raise FederatedError(f"site {site} sent the same object twice; ids must be different")
        known[site] = int(np.count_nonzero(chosen[places]))
        elsewhere = int(np.count_nonzero(often[places] > 1))
        if elsewhere < FEWEST * len(found):
            raise FederatedError(
                f"site {site} shares {elsewhere} of its {len(found)} ids with other sites; "
                "check the id column and how ids are written"
            )
        at += len(found)
    agreed = kinds[chosen].view(np.uint8).reshape(-1, 16)
    if not len(agreed):
        raise FederatedError('no object is known at every site; take objects = "any", or check the ids')
    return Matched(agreed[rising(agreed)], known, {site: len(found) for site, found in hashes.items()})


def aligned(table: AnyEnsemble, order: IntArray) -> AnyEnsemble:
    """A site's clusterings of the objects agreed on, without those that say nothing."""
    if table.multiplicity is not None:
        raise FederatedError("its rows stand for several objects; divided by columns, each object needs its own")
    absent = order == MISSING
    part: Any = table.rows(order)
    if isinstance(part, Ensemble):
        labels = part.labels.copy()
        labels[absent] = MISSING
        known = (labels != MISSING).any(axis=0)
        part = replace(part, labels=frozen(labels), ids=None)
    else:
        matrix = part.matrix.copy()
        matrix[absent] = 0.0
        part = replace(part, matrix=frozen(matrix), ids=None)
        known = part.known.any(axis=0)
    tells = np.flatnonzero(known & (part.weights > 0))
    if not len(tells):
        raise FederatedError("none of its clusterings says anything of the objects agreed on; leave the site out")
    found: AnyEnsemble = part if len(tells) == len(part.names) else part.columns(tells)
    return with_occurring_labels(found) if isinstance(found, Ensemble) else found


def with_occurring_labels(part: Ensemble) -> Ensemble:
    """Return the same clusterings without labels that no object has."""
    picks = [np.unique(column[column != MISSING]) for column in part.labels.T]
    if all(len(pick) == size for pick, size in zip(picks, part.sizes, strict=True)):
        return part
    labels = part.labels.copy()
    for column, pick, size in zip(labels.T, picks, part.sizes, strict=True):
        codes = np.full(size + 1, MISSING, labels.dtype)  # the last one serves MISSING
        codes[pick] = np.arange(len(pick))
        column[:] = codes[column]
    classes = tuple(tuple(all_[code] for code in pick) for all_, pick in zip(part.classes, picks, strict=True))
    return replace(part, labels=frozen(labels), sizes=tuple(map(len, classes)), classes=classes)
