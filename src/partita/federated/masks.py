"""Keys that sites share with each other and the masks made from them: the coordinator sees numbers without meaning.

Two sites find a key of their own by X25519; AES-256 in counter mode turns it into a stream of words, which one of the
two adds to what it sends and the other takes off. A stream depends on key, run, round and array, and is used once.
"""

import hmac
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import FederatedError, MissingExtraError
from partita.federated.fixed import Words, word_type
from partita.federated.state import Secrets

KEY = 32
"""Bytes of every key."""
NONCE = 12
TAG = 16
HASH = 16
"""Bytes of the keyed hash of an id."""
_ZEROS = bytes(1 << 18)
_SPARE = 16  # what older releases of the cryptography package want behind the last byte


@contextmanager
def cryptography_needed() -> Iterator[None]:
    """Around imports from the cryptography package."""
    try:
        yield
    except ImportError:
        raise MissingExtraError(
            'keys and certificates need the cryptography package: pip install "partita[federated]"'
        ) from None


def new_private() -> bytes:
    """A new private key, from the operating system."""
    return os.urandom(KEY)


def public_of(private: bytes) -> bytes:
    """The X25519 public key that belongs to a private one."""
    with cryptography_needed():
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    return X25519PrivateKey.from_private_bytes(_checked(private)).public_key().public_bytes_raw()


def pair_key(private: bytes, peer_public: bytes, context: bytes) -> bytes:
    """The key that two parties share for `context`: the same from either side, and nobody else's."""
    with cryptography_needed():
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    own = X25519PrivateKey.from_private_bytes(_checked(private))
    peer = X25519PublicKey.from_public_bytes(_checked(peer_public))
    try:
        shared = own.exchange(peer)
    except ValueError:  # the shared secret is all zeros
        raise FederatedError(
            "a public key is of small order and gives no secret; let that site make new keys"
        ) from None
    both = b"".join(sorted([own.public_key().public_bytes_raw(), peer_public]))
    return HKDF(SHA256(), KEY, salt=both, info=context).derive(shared)


def context_of(run: str, round: int, name: str) -> str:  # noqa: A002  # the word of the messages
    """What a stream is for, different for every array of every round of every run.

    >>> context_of("trial", 3, "values")
    '5:trial:3:values'
    """
    return f"{len(run)}:{run}:{round}:{name}"


def stream(key: bytes, context: str, count: int, word: int) -> Words:
    """`count` words that nobody without the key can tell from random ones; the same for the same key and context."""
    out = np.empty(count, word_type(word))
    for start, block in _blocks(key, context, count, word):
        out[start : start + len(block)] = block
    return out


def pairwise(
    site: str, secrets: Secrets, sites: Sequence[str], context: str, shape: tuple[int, ...], word: int
) -> Words:
    """A site's mask: the streams it shares with later sites less those with earlier ones. All sites' masks add to 0."""
    if site not in sites or len(set(sites)) != len(sites):
        raise FederatedError(f"site {site!r}: the sites of the run are {', '.join(sites)}; each must be there once")
    out, place = np.zeros(math.prod(shape), word_type(word)), list(sites).index(site)
    for at, peer in enumerate(sites):
        if at == place:
            continue
        if peer not in secrets.pairs:
            raise FederatedError(f"site {site!r} has no key with site {peer!r}; exchange key cards first")
        change = np.add if at > place else np.subtract
        for start, block in _blocks(secrets.pairs[peer], context, out.size, word):
            part = out[start : start + len(block)]
            change(part, block, out=part)
    return out.reshape(shape)


def group_mask(secrets: Secrets, context: str, shape: tuple[int, ...], word: int) -> Words:
    """The mask that every site can take off and the coordinator cannot."""
    if not secrets.group:
        raise FederatedError("this site has no group key yet; open the one that the leading site sealed for it")
    return stream(secrets.group, context, math.prod(shape), word).reshape(shape)


def seal(key: bytes, plain: bytes, context: str) -> bytes:
    """What only those with the key can read, and nobody can alter or use in another context."""
    with cryptography_needed():
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    nonce = os.urandom(NONCE)
    return nonce + ChaCha20Poly1305(_derived(key, "seal", context)).encrypt(nonce, plain, context.encode())


def open_sealed(key: bytes, sealed: bytes, context: str) -> bytes:
    """What `seal` was given; refused when the key, the context or a single bit differs."""
    with cryptography_needed():
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    box = ChaCha20Poly1305(_derived(key, "seal", context))
    try:
        if len(sealed) < NONCE + TAG:
            raise InvalidTag
        return box.decrypt(sealed[:NONCE], sealed[NONCE:], context.encode())
    except InvalidTag:
        raise FederatedError(
            f"what was sealed for {context!r} was altered, cut short or made with another key; start a new run"
        ) from None


def keyed_hashes(group: bytes, ids: Sequence[str]) -> NDArray[np.uint8]:
    """(n, 16) HMAC-SHA256 of every id, cut to 16 bytes: equal for equal ids, and nothing to those without the key.

    Ids that occur twice are refused by their places, not their names: a refusal may be shown to others.
    """
    if len(set(ids)) != len(ids):
        seen: dict[str, int] = {}
        for place, name in enumerate(ids):
            first = seen.setdefault(name, place)
            if first != place:
                raise FederatedError(f"objects {first + 1} and {place + 1} have the same id; keep one of them")
    key = _derived(group, "ids", "")
    hashes = [hmac.digest(key, name.encode("utf-8", "surrogatepass"), "sha256")[:HASH] for name in ids]
    return np.frombuffer(bytearray(b"".join(hashes)), np.uint8).reshape(len(ids), HASH)


def keyed_digest(group: bytes, hashes: NDArray[np.uint8]) -> bytes:
    """32 bytes that two sites share exactly when they have the same hashes, in whatever order."""
    if hashes.dtype != np.uint8 or hashes.ndim != 2 or hashes.shape[1] != HASH:
        raise FederatedError(f"hashes of ids are uint8 (n, {HASH}), not {hashes.dtype} {hashes.shape}")
    halves = np.ascontiguousarray(hashes).view(">u8")
    ordered = hashes[np.lexsort((halves[:, 1], halves[:, 0]))]
    return hmac.digest(_derived(group, "digest", ""), ordered.tobytes(), "sha256")


def _checked(key: bytes) -> bytes:
    if not isinstance(key, bytes) or len(key) != KEY:
        found = f"{len(key)} bytes" if isinstance(key, bytes) else type(key).__name__
        raise FederatedError(f"a key has {KEY} bytes, not {found}; exchange keys anew")
    return key


def _derived(key: bytes, purpose: str, context: str) -> bytes:
    """A key for one purpose and context, which says nothing about those for others."""
    with cryptography_needed():
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
    return HKDFExpand(SHA256(), KEY, f"partita {purpose}:{context}".encode()).derive(_checked(key))


def _blocks(key: bytes, context: str, count: int, word: int) -> Iterator[tuple[int, Words]]:
    """A stream in blocks that stay in the processor's cache: where each begins, and its words until the next."""
    with cryptography_needed():
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import AES256
        from cryptography.hazmat.primitives.ciphers.modes import CTR
    cipher = Cipher(AES256(_derived(key, "mask", context)), CTR(bytes(16))).encryptor()
    held, size, zeros = np.empty(len(_ZEROS) + _SPARE, np.uint8), word // 8, memoryview(_ZEROS)
    words, native = held[: len(_ZEROS)].view(f"<u{size}"), word_type(word)
    for start in range(0, count, len(words)):
        length = min(len(words), count - start)
        cipher.update_into(zeros[: length * size], held.data)
        yield start, words[:length].astype(native, copy=False)
