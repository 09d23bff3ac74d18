"""How sites come to keys: one with each other site, and one that all sites have and the coordinator has not.

The coordinator carries public keys and sealed boxes, which tell it nothing. Key cards are signed under the sites'
certificates, so that it cannot put keys of its own in their place.
"""

import hashlib
import os
import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import FederatedError
from partita.federated import masks
from partita.federated.cards import Identity, card_of, read_card
from partita.federated.frames import encode
from partita.federated.messages import Terms
from partita.federated.state import Secrets, State

LENGTH = struct.Struct("<I")
MOST = 1 << 20
"""Bytes of one card or box."""


def pack(parts: Sequence[bytes]) -> NDArray[np.uint8]:
    """Several runs of bytes as one.

    >>> unpack(pack([b"a", b"", b"bc"]), 3)
    [b'a', b'', b'bc']
    """
    return np.frombuffer(b"".join(LENGTH.pack(len(part)) + part for part in parts), np.uint8)


def unpack(packed: NDArray[np.uint8], count: int) -> list[bytes]:
    """What `pack` made of `count` runs."""
    data, at, parts = packed.tobytes(), 0, []
    for _ in range(count):
        if at + LENGTH.size > len(data):
            break
        (size,) = LENGTH.unpack_from(data, at)
        at += LENGTH.size
        parts.append(data[at : at + size])
        at += size
        if size > MOST or at > len(data):
            break
    if len(parts) != count or at != len(data):
        raise FederatedError(f"the coordinator sent {len(data)} bytes that are not {count} cards or boxes")
    return parts


def make_card(site: str, terms: Terms, identity: Identity | None) -> tuple[NDArray[np.uint8], Secrets]:
    """A new key pair for this run: the card with its public part, and the secret."""
    private = masks.new_private()
    card = card_of(site, terms.run, masks.public_of(private), identity)
    return np.frombuffer(card, np.uint8), Secrets(private)


def seal_group(
    site: str, state: State, cards: NDArray[np.uint8], authority: bytes | None
) -> tuple[NDArray[np.uint8], Secrets]:
    """A key with each other site; from the leader also the key of all sites, in a box for each of the others."""
    terms = state.terms
    secrets = _own(site, state)
    pairs = {}
    for other, card in zip(terms.sites, unpack(cards, len(terms.sites)), strict=True):
        public = read_card(card, other, terms.run, authority)
        if other == site:
            if public != masks.public_of(secrets.private):
                raise FederatedError(f"site {site}: the coordinator passes round another key than the site's own")
            continue
        pairs[other] = masks.pair_key(secrets.private, public, b"partita pair " + digest_of(terms))
    if site != terms.sites[0]:
        return np.empty(0, np.uint8), Secrets(secrets.private, pairs)
    group = os.urandom(32)
    boxes = [masks.seal(pairs[other], group, _box(terms, other)) if other != site else b"" for other in terms.sites]
    return pack(boxes), Secrets(secrets.private, pairs, group)


def open_group(site: str, state: State, sealed: NDArray[np.uint8]) -> Secrets:
    """The key of all sites, out of this site's box."""
    terms, secrets = state.terms, _own(site, state)
    if site == terms.sites[0]:
        return secrets
    box = unpack(sealed, len(terms.sites))[terms.sites.index(site)]
    group = masks.open_sealed(secrets.pairs[terms.sites[0]], box, _box(terms, site))
    return Secrets(secrets.private, secrets.pairs, group)


def digest_of(terms: Terms) -> bytes:
    """All that was agreed on: sites with other terms come to other keys, and their masks do not cancel."""
    return hashlib.sha256(encode(terms)).digest()


def _box(terms: Terms, site: str) -> str:
    return f"partita group {terms.run} {site}"


def _own(site: str, state: State) -> Secrets:
    if state.secrets is None:
        raise FederatedError(f"site {site} has no keys for run {state.terms.run}; the coordinator skipped a step")
    return state.secrets
