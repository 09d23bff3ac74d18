"""What outlives a process: a site's state, and the coordinator's log of finished rounds. Nothing is pickled."""

import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from partita.core.errors import FederatedError, FileError
from partita.core.types import FrozenDict
from partita.federated.frames import FRAME_MOST, Packed, header_of, message_of, pack, unpack
from partita.federated.hub import Entry
from partita.federated.messages import Arrays, Share, Terms
from partita.federated.state import Secrets, State
from partita.io.holding import settle, take_folder

STATE: Final = 16
TERMS: Final = 17
ROUND: Final = 18
DTYPES: Final = (
    *("float64", "float32", "int64", "int32", "int16", "int8"),
    *("uint64", "uint32", "uint16", "uint8", "bool"),
)
CHECKSUM: Final = 32


def save_state(path: Path, state: State) -> None:
    """Write a site's state, whole or not at all, for its owner's eyes alone."""
    arrays = {f"state:{name}": array for name, array in state.arrays.items()}
    if state.share is not None:
        arrays |= {f"share:{name}": array for name, array in state.share.arrays.items()}
    header = {
        "terms": header_of(state.terms),
        "round": state.round,
        "asked": state.asked.hex(),
        "share": None if state.share is None else header_of(state.share),
        "secrets": None if state.secrets is None else _hidden(state.secrets),
        "notes": dict(state.notes),
    }
    _write(path, STATE, header, arrays)


def load_state(path: Path) -> State | None:
    """A site's state, None where there is no such file; lists in its notes come back as tuples."""
    if not path.exists():
        return None
    way_out = "move it away, and the site begins anew with the next run"
    with _reading(path, way_out):
        packed = _read(path, STATE)
        head = packed.header
        share = None
        if head["share"] is not None:
            share = replace(message_of(Share, head["share"]), arrays=_part(packed.arrays, "share:"))
        return State(
            terms=message_of(Terms, head["terms"]),
            round=head["round"],
            asked=bytes.fromhex(head["asked"]),
            share=share,
            secrets=None if head["secrets"] is None else _shown(head["secrets"]),
            arrays=_part(packed.arrays, "state:"),
            notes=_tuples(head["notes"]),
        )


class RunLog:
    """The coordinator's folder: the terms of a run and one file a finished round. One coordinator at a time holds it.

    Use it as a context, so that the folder is free again afterwards; it is also when the process dies.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._before: Entry | None = None
        """The round kept last, without its arrays."""
        self._lock = take_folder(folder, "another coordinator keeps its run there; stop it")

    def __enter__(self) -> "RunLog":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let another coordinator have the folder."""
        self._lock.close()

    def write_terms(self, terms: Terms) -> None:
        """Keep what was agreed on."""
        _write(self.folder / "terms", TERMS, header_of(terms), {})

    def terms(self) -> Terms | None:
        """What was agreed on, None before that."""
        path = self.folder / "terms"
        if not path.exists():
            return None
        with _reading(path, self._way_out):
            found: Terms = message_of(Terms, _read(path, TERMS).header)
            return found

    def append(self, round: int, step: str, shares: Mapping[str, Arrays], over: bool) -> None:  # noqa: A002
        """Keep a finished round; of the step "round" the last arrays suffice: those before are dropped, unless over."""
        _write_round(self._path(round), Entry(round, step, shares, over))
        before, path = self._before, self._path(round - 1)
        if step == "round" and (before is None or before.round != round - 1) and path.exists():
            before = self._entry(path)
        if before is not None and (before.round, before.step, step, before.over) == (
            round - 1,
            "round",
            "round",
            False,
        ):
            _write_round(path, before._replace(shares=_bare(before.shares)))
        self._before = Entry(round, step, _bare(shares), over)

    def read(self) -> list[Entry]:
        """The finished rounds in order."""
        entries = [self._entry(path) for path in sorted(self.folder.glob("round-*"))]
        for place, entry in enumerate(entries):
            if entry.round != place:
                raise FileError(f"{self._path(place)}: is missing; {self._way_out}")
        return entries

    @property
    def _way_out(self) -> str:
        return f"move {self.folder} away and begin a new run"

    def _path(self, round: int) -> Path:  # noqa: A002
        return self.folder / f"round-{round:08d}"

    def _entry(self, path: Path) -> Entry:
        with _reading(path, self._way_out):
            packed = _read(path, ROUND)
            head = packed.header
            sites = dict(zip(head["sites"], range(len(head["sites"])), strict=True))
            shares = {site: _part(packed.arrays, f"{place}:") for site, place in sites.items()}
            return Entry(head["round"], head["step"], FrozenDict(shares), head["over"])


def secret_seed(path: Path) -> int:
    """A number that nobody else knows, made when first asked for and kept in a file."""
    if path.exists():
        with _reading(path, "move it away to have a new one made"):
            return int(path.read_text(encoding="ascii"), 16)
    number = secrets.randbits(128)
    _put(path, f"{number:032x}".encode())
    return number


def _bare(shares: Mapping[str, Arrays]) -> dict[str, Arrays]:
    return {site: {} for site in shares}


def _write_round(path: Path, entry: Entry) -> None:
    places = {site: place for place, site in enumerate(entry.shares)}
    arrays = {f"{places[site]}:{name}": a for site, found in entry.shares.items() for name, a in found.items()}
    header = {"round": entry.round, "step": entry.step, "sites": list(places), "over": entry.over}
    _write(path, ROUND, header, arrays)


def _write(path: Path, kind: int, header: Mapping[str, Any], arrays: Arrays) -> None:
    """One frame and its checksum."""
    frame = pack(kind, header, arrays, finite=False)
    _put(path, frame, hashlib.sha256(frame).digest())


def _put(path: Path, *parts: bytes) -> None:
    """A new file that takes the place of the old one when it is on the disk."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        settle(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise FileError(f"{path}: cannot be written ({error.strerror}); make room or give another folder") from None


def _read(path: Path, kind: int) -> Packed:
    held = path.read_bytes()
    frame = held[:-CHECKSUM]
    if hashlib.sha256(frame).digest() != held[-CHECKSUM:]:
        raise FederatedError("its checksum is wrong")
    packed = unpack(frame, FRAME_MOST, DTYPES, finite=False)
    if packed.kind != kind:
        raise FederatedError("it is another kind of file")
    return packed


@contextmanager
def _reading(path: Path, way_out: str) -> Iterator[None]:
    """A damaged file as an error that names it."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}); {way_out}") from None
    except (FederatedError, KeyError, TypeError, ValueError) as error:
        raise FileError(f"{path}: is damaged ({error}); {way_out}") from None


def _part(arrays: Arrays, prefix: str) -> FrozenDict:
    return FrozenDict({name[len(prefix) :]: a for name, a in arrays.items() if name.startswith(prefix)})


def _hidden(kept: Secrets) -> dict[str, Any]:
    pairs = {site: key.hex() for site, key in kept.pairs.items()}
    return {"private": kept.private.hex(), "pairs": pairs, "group": kept.group.hex()}


def _shown(head: Mapping[str, Any]) -> Secrets:
    pairs = FrozenDict({site: bytes.fromhex(key) for site, key in head["pairs"].items()})
    return Secrets(bytes.fromhex(head["private"]), pairs, bytes.fromhex(head["group"]))


def _tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_tuples(part) for part in value)
    if isinstance(value, dict):
        return FrozenDict({name: _tuples(part) for name, part in value.items()})
    return value
