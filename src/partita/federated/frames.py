"""Messages as bytes and back: a fixed start, a JSON header, raw arrays; nothing pickled, nothing taken on trust.

A frame is `magic, version, kind, length of the header` (12 bytes, little-endian), the header as UTF-8 JSON filled up
with spaces, then each array in C order and little-endian, filled up with zeros: everything begins at a multiple of 8
bytes, so that arrays are read where they lie. `pack` and `unpack` know this much; `encode` and `decode` the messages.
"""

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final, Literal, NamedTuple, NoReturn, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import FederatedError
from partita.core.types import FrozenDict, frozen
from partita.federated.messages import STEPS, Arrays, Ask, Hello, Message, Refusal, Share, Spec, Terms

MAGIC: Final = b"\x89PTTA\n"
FRAME_VERSION: Final = 1
START: Final = struct.Struct("<6sBBI")
HEADER_MOST: Final = 1 << 24
"""Bytes of a header: names and labels of clusterings are the largest that it can hold."""
FRAME_MOST: Final = (1 << 31) - (1 << 20)
"""No frame is larger: the transport counts bytes in 31 bits."""
TEXT_MOST: Final = 4096
DEPTH_MOST: Final = 8
RANK_MOST: Final = 4
ALIGN: Final = 8

KINDS: Final[Mapping[int, type[Any]]] = {1: Hello, 2: Terms, 3: Ask, 4: Share, 5: Refusal}
CODES: Final = {kind: code for code, kind in KINDS.items()}
HINTS: Final = {kind: get_type_hints(kind) for kind in CODES}
WIRE: Final = ("float64", "int64", "uint8", "uint32", "uint64")
ALLOWED: Final[Mapping[str, tuple[str, ...]]] = {
    "float": ("float64",),
    "int": ("int64",),
    "bytes": ("uint8",),
    "narrow": ("uint32", "uint64", "float64"),
    "wide": ("uint64", "float64"),
}
LABELS: Final = (str, int, float, bool)
Side = Literal["ask", "share"]


class Packed(NamedTuple):
    """A frame taken apart."""

    kind: int
    header: dict[str, Any]
    arrays: FrozenDict


def encode(message: Message) -> bytes:
    """The message as one frame; the line of a refusal is made printable first."""
    if isinstance(message, Refusal):
        message = Refusal(_printable(message.site, 256), _printable(message.reason, TEXT_MOST))
    header = header_of(message)
    arrays = getattr(message, "arrays", {})
    if isinstance(message, (Ask, Share)):
        _check_names(message.step, _side(message), {name: (a.dtype.name, a.ndim) for name, a in arrays.items()})
    return pack(CODES[type(message)], header, arrays)


def decode(frame: bytes, most: int) -> Message:
    """The message in a frame of at most so many bytes; whatever is wrong with it raises FederatedError."""
    kind, header, listed, at = _opened(frame, most)
    if kind not in KINDS:
        raise FederatedError(f"a frame of an unknown kind ({kind}); install the same partita version everywhere")
    message: Message = message_of(KINDS[kind], header)
    if isinstance(message, (Ask, Share)):
        _check_names(message.step, _side(message), {name: (dtype, len(shape)) for name, dtype, shape in listed})
        return replace(message, arrays=_arrays(frame, listed, at, WIRE))
    if listed:
        _refuse("arrays in a message that has none")
    _arrays(frame, listed, at, WIRE)
    return message


def pack(kind: int, header: Mapping[str, Any], arrays: Arrays, finite: bool = True) -> bytes:
    """Header and arrays as a frame; `finite` says whether the header must do without NaN and infinities."""
    plain = {name: np.ascontiguousarray(a, a.dtype.newbyteorder("<")) for name, a in arrays.items()}
    listed = [[name, array.dtype.name, arrays[name].shape] for name, array in plain.items()]
    try:
        text = json.dumps({**header, "arrays": listed}, allow_nan=not finite, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise FederatedError(
            f"a message holds what cannot be sent ({_printable(error, 100)}); labels are texts, numbers, true or false"
        ) from None
    text += b" " * (-(START.size + len(text)) % ALIGN)
    if len(text) > HEADER_MOST:
        _refuse(f"a header of {len(text)} bytes, more than {HEADER_MOST}")
    parts: list[Any] = [START.pack(MAGIC, FRAME_VERSION, kind, len(text)), text]
    for array in plain.values():
        parts += [array.reshape(-1).view(np.uint8).data, bytes(-array.nbytes % ALIGN)]
    return b"".join(parts)


def unpack(frame: bytes, most: int, dtypes: tuple[str, ...] = WIRE, finite: bool = True) -> Packed:
    """A frame taken apart, with arrays of these types alone; they are read-only and lie in the frame."""
    kind, header, listed, at = _opened(frame, most, finite)
    return Packed(kind, header, _arrays(frame, listed, at, dtypes))


def header_of(message: Any) -> dict[str, Any]:
    """The fields of a message, less its arrays, as JSON can hold them."""
    hints = HINTS[type(message)]
    found = {}
    for field in fields(message):
        if field.name != "arrays":
            value = getattr(message, field.name)
            if hints[field.name] is float:
                value = float(value)
            found[field.name] = tuple(map(float, value)) if hints[field.name] == tuple[float, ...] else value
    return found


def message_of(kind: type[Any], header: Mapping[str, Any]) -> Any:
    """A message of this kind from its fields, each of the type that the dataclass says, none missing, none unknown."""
    hints = {name: hint for name, hint in HINTS[kind].items() if name != "arrays"}
    if header.keys() != hints.keys():
        odd = sorted(header.keys() ^ hints.keys())[0]
        _refuse(f"field {_printable(odd, 40)!r} is {'unknown' if odd in header else 'missing'} in a {kind.__name__}")
    found = {name: _as(header[name], hint, f"{kind.__name__}.{name}") for name, hint in hints.items()}
    if "step" in found and found["step"] not in STEPS:
        _refuse(f"step {_printable(found['step'], 40)!r} is unknown")
    if "round" in found and found["round"] < (-1 if kind is Hello else 0):
        _refuse(f"round {found['round']} in a {kind.__name__}")
    return kind(**found)


def check_arrays(side: Side, step: str, arrays: Arrays, terms: Terms, sizes: Mapping[str, int]) -> None:
    """Refuse arrays that are not those of the step under these terms, or have other sizes than those agreed on.

    `sizes` gives what is known of n, t, k, s and the other names of `messages.Spec`; equal names are equal sizes
    also where it says nothing. Floating-point arrays must be finite.
    """
    specs = getattr(STEPS[step], side)
    _check_names(step, side, {name: (array.dtype.name, array.ndim) for name, array in arrays.items()})
    known = {"one": 1, **sizes}
    for name, array in arrays.items():
        dtype = expected_dtype(specs[name], terms)
        if array.dtype != dtype:
            _refuse(f"{side} {step}: {name} has numbers of type {array.dtype}; agreed was {dtype}")
        for symbol, size in zip(specs[name].shape, array.shape, strict=True):
            if known.setdefault(symbol, size) != size:
                _refuse(f"{side} {step}: {name} has shape {array.shape}, where {symbol} is {known[symbol]}")
        if array.dtype == np.float64 and not np.isfinite(array).all():
            _refuse(f"{side} {step}: {name} holds NaN or infinite numbers")


def expected_dtype(spec: Spec, terms: Terms) -> str:
    """The type of an array under these terms."""
    if spec.kind in ("narrow", "wide"):
        if terms.transport == "float":
            return "float64"
        return "uint32" if spec.kind == "narrow" and terms.word == 32 else "uint64"
    return ALLOWED[spec.kind][0]


def frame_limit(terms: Terms, objects: int) -> int:
    """Bytes of the largest frame that a run under these terms with so many objects can need, generously."""
    truncation = terms.params.get("truncation")
    clusters = 2 * (terms.k or (truncation if isinstance(truncation, int) else 100)) + 16
    if terms.layout == "rows":
        labels = sum(len(labels) for labels in terms.classes)
        numbers = 2 * labels * max(labels, clusters) + 4 * clusters * clusters
    else:
        numbers = objects * clusters * (64 if terms.protocol == "paper" else 1)
    return min(8 * numbers + 64 * objects + HEADER_MOST + (1 << 20), FRAME_MOST)


def _side(message: Ask | Share) -> Side:
    return "ask" if isinstance(message, Ask) else "share"


def _refuse(what: str) -> NoReturn:
    raise FederatedError(f"not a valid message: {what}")


def _printable(value: Any, most: int) -> str:
    """A text in one line without control characters."""
    return "".join(sign if sign.isprintable() else " " for sign in str(value))[:most]


def _check_names(step: str, side: Side, found: Mapping[str, tuple[str, int]]) -> None:
    """Refuse arrays that the step does not have, of another type or number of dimensions, and missing ones."""
    specs: Mapping[str, Spec] = getattr(STEPS[step], side)
    for name, spec in specs.items():
        if name not in found and not spec.optional:
            _refuse(f"{side} {step}: {name} is missing")
    for name, (dtype, rank) in found.items():
        if name not in specs:
            _refuse(f"{side} {step}: {_printable(name, 40)!r} is unknown")
        if dtype not in ALLOWED[specs[name].kind] or rank != len(specs[name].shape):
            _refuse(f"{side} {step}: {name} of type {dtype} in {rank} dimensions")


def _opened(frame: bytes, most: int, finite: bool = True) -> tuple[int, dict[str, Any], list[Any], int]:
    """Kind, header, list of arrays and where they begin."""
    if len(frame) > most:
        raise FederatedError(f"a message of {len(frame)} bytes, more than the {most} this run can need")
    if len(frame) < START.size:
        _refuse(f"{len(frame)} bytes are too few")
    magic, version, kind, length = START.unpack_from(frame)
    if magic != MAGIC:
        _refuse("it does not begin as one")
    if version != FRAME_VERSION:
        raise FederatedError(
            f"messages of format {version}, here {FRAME_VERSION}; install the same partita version everywhere"
        )
    at = START.size + length
    if length > HEADER_MOST or at > len(frame) or at % ALIGN:
        _refuse(f"a header of {length} bytes in a frame of {len(frame)}")
    header = _json(frame[START.size : at], finite)
    listed = header.pop("arrays", None)
    if not isinstance(listed, list) or not all(_is_listed(entry) for entry in listed):
        _refuse("its list of arrays")
    return kind, header, listed, at


def _json(text: bytes, finite: bool) -> dict[str, Any]:
    """The header, without repeated names and, if so said, without NaN and infinities."""

    def number(word: str) -> float:
        value = float(word)
        return value if math.isfinite(value) or not finite else _refuse("a number that is not finite")

    def named(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        return found if len(found) == len(pairs) else _refuse("a field twice")

    try:
        found = json.loads(text.decode(), parse_float=number, parse_constant=number, object_pairs_hook=named)
    except FederatedError:
        raise
    except (ValueError, RecursionError):
        _refuse("its header is no JSON")
    return found if isinstance(found, dict) else _refuse("its header is no JSON object")


def _is_listed(entry: Any) -> bool:
    if not (isinstance(entry, list) and len(entry) == 3 and all(isinstance(part, str) for part in entry[:2])):
        return False
    shape = entry[2]
    return isinstance(shape, list) and len(shape) <= RANK_MOST and all(type(d) is int and d >= 0 for d in shape)


def _arrays(frame: bytes, listed: list[Any], at: int, dtypes: tuple[str, ...]) -> FrozenDict:
    """The arrays, read-only and where they lie; every size is checked before anything is made."""
    found: dict[str, NDArray[Any]] = {}
    for name, dtype, shape in listed:
        if dtype not in dtypes or name in found:
            _refuse(f"array {_printable(name, 40)!r} of type {_printable(dtype, 40)!r}")
        kind = np.dtype(dtype).newbyteorder("<")
        if math.prod(max(size, 1) for size in shape) * kind.itemsize > FRAME_MOST:
            _refuse(f"array {_printable(name, 40)!r} of shape {shape}")
        count = math.prod(shape)
        end = at + count * kind.itemsize
        filled = end + -(count * kind.itemsize) % ALIGN
        if filled > len(frame) or any(frame[end:filled]):
            _refuse(f"array {_printable(name, 40)!r} of shape {shape} does not fit the frame")
        flat = np.frombuffer(frame, kind, count, at) if count else np.empty(0, kind)
        found[name] = frozen(flat.reshape(shape))
        at = filled
    if at != len(frame):
        _refuse(f"{len(frame) - at} bytes too many")
    return FrozenDict(found)


def _as(value: Any, hint: Any, place: str) -> Any:
    """The value, if it is of the hinted type; lists become tuples."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return (
            value if type(value) in LABELS else _refuse(f"{place} holds {_printable(value, 40)!r}, which is no label")
        )
    if origin is Literal:
        return value if value in inner and isinstance(value, str) else _refuse(f"{place} is {_printable(value, 40)!r}")
    if origin is tuple:
        if not isinstance(value, list):
            _refuse(f"{place} is no list")
        return tuple(_as(part, inner[0], place) for part in value)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            _refuse(f"{place} is no object")
        return FrozenDict({name: _plain(part, place) for name, part in value.items()})
    if type(None) in inner:
        return None if value is None else _as(value, inner[0], place)
    if type(value) is not hint or (hint is int and not -(2**63) <= value < 2**64):
        _refuse(f"{place} is {_printable(value, 40)!r}, which is no {hint.__name__}")
    if hint is str and (len(value) > TEXT_MOST or not (value.isprintable() or place.endswith(".names"))):
        _refuse(f"{place} is too long or holds control characters")
    return value


def _plain(value: Any, place: str, depth: int = 0) -> Any:
    """A text, number, true, false, null, or a list or object of such, not nested deep."""
    if depth > DEPTH_MOST:
        _refuse(f"{place} is nested too deep")
    if isinstance(value, list):
        return tuple(_plain(part, place, depth + 1) for part in value)
    if isinstance(value, dict):
        return FrozenDict({name: _plain(part, place, depth + 1) for name, part in value.items()})
    return value
