import hashlib
import hmac
import sys
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2

from partita.core.errors import FederatedError, MissingExtraError
from partita.federated import masks
from partita.federated.fixed import add, decode, encode
from partita.federated.state import Secrets

pytest.importorskip("cryptography")

A, B = bytes(range(32)), bytes(range(32, 64))
WORDS = (32, 64)


def party(count, seed=0):
    """Secrets of sites that have exchanged keys; private keys from a seed, so that a failure can be replayed."""
    names = tuple(f"site{i}" for i in range(count))
    rng = np.random.default_rng(seed)
    private = {name: rng.bytes(32) for name in names}
    pairs = {name: {} for name in names}
    for one, two in combinations(names, 2):
        pairs[one][two] = masks.pair_key(private[one], masks.public_of(private[two]), b"run")
        pairs[two][one] = masks.pair_key(private[two], masks.public_of(private[one]), b"run")
    return names, {name: Secrets(private[name], pairs[name], A) for name in names}


def uniform(array):
    """The chance of byte frequencies at least this uneven, were the bytes uniform."""
    seen = np.bincount(array.view(np.uint8).ravel(), minlength=256)
    expected = seen.sum() / 256
    return chi2.sf(((seen - expected) ** 2 / expected).sum(), 255)


def test_x25519_by_the_book():
    """The example of RFC 7748, section 6.1, and HKDF (RFC 5869) written out by hand."""
    alice = bytes.fromhex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
    bob = bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
    publics = [masks.public_of(alice), masks.public_of(bob)]
    assert publics[0].hex() == "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
    assert publics[1].hex() == "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
    shared = bytes.fromhex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
    extracted = hmac.digest(b"".join(publics), shared, hashlib.sha256)
    wanted = hmac.digest(extracted, b"run\x01", hashlib.sha256)
    assert masks.pair_key(alice, publics[1], b"run") == masks.pair_key(bob, publics[0], b"run") == wanted


def test_pair_keys_are_symmetric_and_their_own():
    names, secrets = party(4)
    for one, two in combinations(names, 2):
        assert secrets[one].pairs[two] == secrets[two].pairs[one]
    assert len({key for s in secrets.values() for key in s.pairs.values()}) == 6
    other = masks.pair_key(secrets[names[0]].private, masks.public_of(secrets[names[1]].private), b"next run")
    assert other != secrets[names[0]].pairs[names[1]]
    assert masks.new_private() != masks.new_private()
    assert len(masks.new_private()) == 32


@pytest.mark.parametrize("low", [bytes(32), bytes([1]) + bytes(31)])
def test_points_of_small_order_are_refused(low):
    with pytest.raises(FederatedError, match="small order"):
        masks.pair_key(A, low, b"run")


@pytest.mark.parametrize("key", [b"", bytes(31), bytes(33), "x" * 32])
def test_keys_of_another_length_are_refused(key):
    calls = [
        lambda: masks.public_of(key),
        lambda: masks.pair_key(key, A, b""),
        lambda: masks.pair_key(A, key, b""),
        lambda: masks.stream(key, "c", 1, 32),
        lambda: masks.seal(key, b"", "c"),
        lambda: masks.keyed_hashes(key, ["a"]),
    ]
    for call in calls:
        with pytest.raises(FederatedError, match="32 bytes"):
            call()


def test_contexts_are_unambiguous():
    cases = [("a", 1, "b"), ("a:1", 1, "b"), ("a", 11, "b"), ("a", 1, "1:b"), ("a:1", 1, "1:b"), ("1:a", 1, "b")]
    cases += [("", 1, "a:1:b"), ("a:1:b", 1, ""), ("a", 1, ""), ("1", 1, "1"), ("11", 1, ""), ("", 11, "1")]
    assert len({masks.context_of(*case) for case in cases}) == len(cases)


@pytest.mark.parametrize("word", WORDS)
def test_stream_is_aes_in_counter_mode(word):
    """Against AES block by block on counters, with a key from HKDF written out by hand."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    once = hmac.digest(A, b"partita mask:c\x01", hashlib.sha256)
    cipher = Cipher(algorithms.AES(once), modes.ECB()).encryptor()
    count = (1 << 20) // word + 5
    blocks = b"".join(i.to_bytes(16, "big") for i in range(count * word // 128 + 1))
    wanted = np.frombuffer(cipher.update(blocks), f"<u{word // 8}")[:count]
    found = masks.stream(A, "c", count, word)
    assert found.dtype == (np.uint32 if word == 32 else np.uint64)
    assert np.array_equal(found, wanted)
    assert np.array_equal(masks.stream(A, "c", 5, word), wanted[:5])
    assert masks.stream(A, "c", 0, word).shape == (0,)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("count", range(2, 8))
def test_masks_of_all_sites_cancel(word, count):
    names, secrets = party(count)
    found = [masks.pairwise(name, secrets[name], names, "5:trial:1:x", (1234, 3), word) for name in names]
    assert all(array.shape == (1234, 3) for array in found)
    assert not add(found).any()
    for left_out in range(count):
        assert add(found[:left_out] + found[left_out + 1 :]).any()


@pytest.mark.parametrize("word", WORDS)
def test_masks_cancel_over_many_blocks(word):
    names, secrets = party(3)
    found = [masks.pairwise(name, secrets[name], names, "c", (70_001, 2), word) for name in names]
    assert not add(found).any()
    assert (found[0] == 0).mean() < 1e-4


@pytest.mark.parametrize("word", WORDS)
def test_masked_sums_equal_unmasked_ones(word):
    names, secrets = party(5)
    values = np.random.default_rng(2).normal(size=(5, 200, 4))
    plain = [encode(value, 16, word, 5) for value in values]
    sent = [p + masks.pairwise(s, secrets[s], names, "c", p.shape, word) for s, p in zip(names, plain, strict=True)]
    assert np.array_equal(add(sent), add(plain))
    assert np.allclose(decode(add(sent), 16), values.sum(axis=0), atol=5 * 2.0**-17)


@pytest.mark.parametrize("word", WORDS)
def test_a_masked_message_is_uniform(word):
    """What is masked is as telling a message as there can be: all the same number."""
    names, secrets = party(3)
    message = encode(np.ones((50_000, 4)), 16, word, 3)
    assert uniform(message) < 1e-9
    for name in names:
        masked = message + masks.pairwise(name, secrets[name], names, "c", message.shape, word)
        assert uniform(masked) > 1e-4
        assert len(np.unique(masked)) > 0.99 * masked.size
    blind = message + masks.group_mask(secrets[names[0]], "c", message.shape, word)
    assert uniform(blind) > 1e-4


def test_other_contexts_and_keys_give_unrelated_streams():
    contexts = [masks.context_of("run", r, name) for r in range(3) for name in ("values", "scalars")]
    streams = [masks.stream(key, context, 20_000, 64) for key in (A, B) for context in contexts]
    for one, two in combinations(streams, 2):
        assert not np.any(one == two)
        assert uniform(one ^ two) > 1e-4
        assert uniform(one - two) > 1e-4
        assert abs(np.corrcoef(one / 2.0**64, two / 2.0**64)[0, 1]) < 0.04


def test_group_masks_are_shared():
    names, secrets = party(3)
    found = [masks.group_mask(secrets[name], "c", (7, 3), 32) for name in names]
    assert all(np.array_equal(array, found[0]) for array in found)
    assert np.array_equal(found[0].ravel(), masks.stream(A, "c", 21, 32))
    with pytest.raises(FederatedError, match="group key"):
        masks.group_mask(Secrets(A), "c", (7, 3), 32)


def test_a_mask_needs_every_pair():
    names, secrets = party(3)
    with pytest.raises(FederatedError, match="'site0' has no key with site 'site9'"):
        masks.pairwise("site0", secrets["site0"], (*names, "site9"), "c", (2,), 32)
    with pytest.raises(FederatedError, match="'site9'"):
        masks.pairwise("site9", secrets["site0"], names, "c", (2,), 32)
    with pytest.raises(FederatedError, match="once"):
        masks.pairwise("site0", secrets["site0"], (*names, "site1"), "c", (2,), 32)


def test_sealed_boxes():
    sealed = masks.seal(A, b"the group key", "c")
    assert masks.open_sealed(A, sealed, "c") == b"the group key"
    assert b"group" not in sealed
    assert masks.seal(A, b"the group key", "c") != sealed
    assert masks.open_sealed(A, masks.seal(A, b"", "c"), "c") == b""
    for place in range(len(sealed)):
        altered = bytearray(sealed)
        altered[place] ^= 1
        with pytest.raises(FederatedError, match="altered"):
            masks.open_sealed(A, bytes(altered), "c")
    for key, box, context in [(B, sealed, "c"), (A, sealed, "d"), (A, sealed[:-1], "c"), (A, b"", "c"), (A, b"x", "c")]:
        with pytest.raises(FederatedError, match="altered"):
            masks.open_sealed(key, box, context)


def test_keyed_hashes():
    ids = ["ann", "bob", "cem", "dör", ""]
    found = masks.keyed_hashes(A, ids)
    assert found.shape == (5, 16) and found.dtype == np.uint8
    assert len(np.unique(found, axis=0)) == 5
    assert np.array_equal(found, masks.keyed_hashes(A, ids))
    assert np.array_equal(found[::-1], masks.keyed_hashes(A, ids[::-1]))
    assert not np.any(np.all(found == masks.keyed_hashes(B, ids), axis=1))
    once = hmac.digest(A, b"partita ids:\x01", hashlib.sha256)
    assert found[3].tobytes() == hmac.digest(once, "dör".encode(), hashlib.sha256)[:16]
    assert masks.keyed_hashes(A, []).shape == (0, 16)


def test_hashes_of_ids_do_not_betray_other_keys():
    """An id chosen to look like the derivation of the mask's key gets a hash of its own."""
    crafted = "partita mask:c\x01"
    found = masks.keyed_hashes(A, [crafted])[0].tobytes()
    assert found != hmac.digest(A, crafted.encode(), hashlib.sha256)[:16]


def test_equal_ids_are_refused_without_naming_them():
    with pytest.raises(FederatedError, match="objects 2 and 4 have the same id") as refusal:
        masks.keyed_hashes(A, ["x", "secret", "y", "secret", "x"])
    assert "secret" not in str(refusal.value)


def test_digest_is_free_of_order():
    rng = np.random.default_rng(5)
    hashes = masks.keyed_hashes(A, [f"id{i}" for i in range(500)])
    hashes = np.concatenate([hashes, hashes[:1]])
    hashes[-1, -1] ^= 1  # differs from another in its last bit
    digest = masks.keyed_digest(A, hashes)
    assert len(digest) == 32
    for _ in range(5):
        assert masks.keyed_digest(A, hashes[rng.permutation(len(hashes))]) == digest
    assert masks.keyed_digest(B, hashes) != digest
    assert masks.keyed_digest(A, hashes[1:]) != digest
    altered = hashes.copy()
    altered[7, 9] ^= 1
    assert masks.keyed_digest(A, altered) != digest
    with pytest.raises(FederatedError, match="uint8"):
        masks.keyed_digest(A, hashes[:, :8])


def test_without_the_package(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("cryptography")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingExtraError, match=r'pip install "partita\[federated\]"'):
        masks.public_of(A)
