"""Numbers as fixed-point words, whose sums modulo 2**word are exact in any order and under any mask.

A value v becomes the whole number nearest to v * 2**bits (halves to even), negative ones in two's complement. That is
exact up to the rounding, whatever the size of v; reading a word back into a float64 keeps its 53 leading bits alone.
"""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import FederatedError
from partita.core.types import FloatArray
from partita.federated.messages import Kind, Terms

Words: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""uint32 or uint64, added modulo 2**32 or 2**64."""

WIDE_BITS = 24
"""Bits of fraction in `wide` sums, which have words of 64 bits: counts, and sums over all objects."""
BLOCK = 1 << 15
"""Numbers worked on at a time, so that they stay in the processor's cache."""


def scale_of(kind: Kind, terms: Terms) -> tuple[int, int]:
    """Bits of fraction and bits of a word of a `narrow` or a `wide` sum."""
    if kind == "narrow":
        return terms.bits, terms.word
    if kind == "wide":
        return WIDE_BITS, 64
    raise FederatedError(f"arrays of kind {kind!r} are not added up; only 'narrow' and 'wide' ones are")


def word_type(word: int) -> type[np.unsignedinteger[Any]]:
    """The unsigned type of a word of 32 or 64 bits."""
    if word not in (32, 64):
        raise FederatedError(f"words have 32 or 64 bits, not {word}; set the word to one of them")
    return np.uint32 if word == 32 else np.uint64


def encode(values: FloatArray, bits: int, word: int, parties: int) -> Words:
    """The values as words, small enough that `parties` such arrays add up within the signed range of a word."""
    values = np.asarray(values, np.float64)
    _check_range(values, bits, word, parties)
    out = np.empty(values.shape, word_type(word))
    signed = out.reshape(-1).view(np.int32 if word == 32 else np.int64)
    flat, scale, held = values.reshape(-1), 2.0**bits, np.empty(min(BLOCK, values.size))
    for start in range(0, values.size, BLOCK):
        part = flat[start : start + BLOCK]
        scaled = np.multiply(part, scale, out=held[: len(part)])
        np.rint(scaled, out=scaled)
        np.copyto(signed[start : start + BLOCK], scaled, casting="unsafe")
    return out


def encode_unnamed(array: FloatArray, bits: int, word: int, sites: int) -> Words:
    """As words; what does not fit is not named, since the reason may travel."""
    try:
        return encode(array, bits, word, sites)
    except FederatedError:
        raise FederatedError(
            f"a number does not fit in words of {word} bits with {bits} of fraction over {sites} sites; "
            "take fewer bits, or word = 64"
        ) from None


def decode(words: Words, bits: int) -> FloatArray:
    """The signed values of words; of numbers beyond 2**53 units, the nearest that a float64 can hold."""
    if words.dtype not in (np.uint32, np.uint64):
        raise FederatedError(f"words are uint32 or uint64, not {words.dtype}; send what `encode` made")
    signed = words.view(np.int32 if words.dtype == np.uint32 else np.int64)
    return np.asarray(np.multiply(signed, 2.0**-bits), np.float64)


def add(arrays: Sequence[Words]) -> Words:
    """The sum of the arrays of all sites, modulo 2**word."""
    if not arrays:
        raise FederatedError("there is nothing to add up; ask at least one site")
    first = arrays[0]
    for array in arrays:
        if array.shape != first.shape or array.dtype != first.dtype or array.dtype.kind != "u":
            raise FederatedError(
                f"words of {array.dtype} {array.shape} cannot be added to {first.dtype} {first.shape}; "
                "every site must send the same"
            )
    total = first.copy()
    sums, rest = total.reshape(-1), [array.reshape(-1) for array in arrays[1:]]
    for start in range(0, total.size, BLOCK):
        part = sums[start : start + BLOCK]
        for array in rest:
            np.add(part, array[start : start + BLOCK], out=part)
    return total


def _check_range(values: FloatArray, bits: int, word: int, parties: int) -> None:
    """Refuse values of which `parties` could add up to more than the signed range of a word."""
    word_type(word)
    if parties < 1 or not 0 <= bits < word:
        raise FederatedError(f"{bits} bits of fraction and {parties} parties do not fit words of {word} bits")
    peak = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if not math.isfinite(peak):
        raise FederatedError(f"a value to be added up is {peak}; only finite numbers can be")
    units = (2 ** (word - 1) - 1) // parties
    scaled = peak * 2.0**bits
    if scaled >= 2.0**word or round(scaled) > units:
        way = "take fewer bits of fraction" + (" or words of 64 bits" if word == 32 else "")
        raise FederatedError(
            f"the largest value to be added up is {peak:.6g}, and with {bits} bits of fraction and {parties} parties "
            f"words of {word} bits hold no more than {units / 2**bits:.6g}; {way}"
        )
