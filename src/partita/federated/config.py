"""One short TOML file each for the coordinator and for a site, checked whole before anything begins."""

import math
import re
import tomllib
import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args, get_type_hints

from partita.core.coding import Label, label_key
from partita.core.errors import FederatedError, FileError, ParameterError
from partita.core.params import build, setting
from partita.core.suggest import did_you_mean
from partita.core.types import FrozenDict
from partita.federated.messages import Layout, Protocol, Terms, Transport

SITE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
DAY: Final = 86400.0
C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Tls:
    """Who proves to be whom: certificates in PEM."""

    authority: Path
    """The certificate of the authority that signed those of all parties."""
    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Require:
    """What a site insists on; None is whatever the coordinator says."""

    method: str | None = None
    k: int | None = setting(None, "number of clusters", low=1)
    layout: Layout | None = None
    protocol: Protocol | None = "sums"
    """Say so to accept one that shows more."""
    transport: Transport | None = "masked"
    """Say so to accept sums that the coordinator can read."""
    init: str | None = None
    seed: int | None = None
    objects: Literal["common", "any"] | None = None
    sites: tuple[str, ...] | None = None
    bits: int | None = None
    word: Literal[32, 64] | None = None
    min_sites: int = setting(0, "fewest sites", low=0)
    suppress: float = setting(0.0, "counts below at least this are not sent", low=0)
    max_rho: float | None = setting(None, "most zCDP budget; a run without noise has no limit", low=0)
    max_delta: float | None = setting(None, "largest delta", low=0, high=1)


@dataclass(frozen=True, slots=True)
class CoordinatorConfig:
    """What a coordinator is told."""

    sites: tuple[str, ...]
    layout: Layout
    method: str
    tls: Tls
    listen: str = "0.0.0.0:8443"
    k: int | None = setting(None, "number of clusters", low=1)
    settings: FrozenDict = field(default_factory=FrozenDict)
    protocol: Protocol = "sums"
    transport: Transport = "masked"
    bits: int | None = setting(None, "bits of fraction", low=4, high=40)
    word: Literal[32, 64] = 64
    seed: int = setting(0, "seed of every random choice", low=0, high=2**63 - 1)
    init: str | None = None
    objects: Literal["common", "any"] = "common"
    allow_two_sites: bool = False
    suppress: float = setting(0.0, "counts below this are sent as 0", low=0)
    rho: float = setting(0.0, "zCDP budget of the run, 0 for no noise", low=0)
    delta: float = setting(1e-6, "delta at which the budget is told", low=1e-300, high=0.5)
    patience: float = setting(300.0, "seconds to wait for a site", low=0.1, high=30 * DAY)
    largest: int = setting(512, "largest message in MiB", low=1, high=2047)
    folder: Path = Path("partita-run")
    labels: FrozenDict = field(default_factory=FrozenDict)
    weights: FrozenDict = field(default_factory=FrozenDict)


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """What a site is told."""

    site: str
    coordinator: str
    layout: Layout
    """Whether it holds rows (objects) or columns (clusterings)."""
    labels: Path
    tls: Tls
    ids: str | None = None
    missing: tuple[Label, ...] | None = None
    columns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    state: Path = Path("partita-site")
    output: Path | None = None
    model: Path | None = None
    """File for the fitted model (`partita predict`); by columns it predicts from this site's clusterings."""
    randomise: float | None = setting(None, "epsilon of randomised response, each label", low=1e-6, high=50)
    patience: float = setting(300.0, "seconds to wait for the coordinator", low=0.1, high=30 * DAY)
    largest: int = setting(512, "largest message in MiB", low=1, high=2047)
    declare: FrozenDict = field(default_factory=FrozenDict)
    """Rows: all labels that a clustering may have, where not all of them occur at this site."""
    weights: FrozenDict = field(default_factory=FrozenDict)
    """Columns: how much each of its clusterings counts."""
    allow_two_sites: bool = False
    require: Require = Require()


def read_coordinator(path: Path | None, given: Mapping[str, Any] = types.MappingProxyType({})) -> CoordinatorConfig:
    """The coordinator's file; what is `given` (and not None) goes before what it says."""
    found = _read(CoordinatorConfig, path, given)
    for site in found.sites:
        _check_site(site, _owner(path))
    if len(set(found.sites)) != len(found.sites) or len(found.sites) < 2:
        raise ParameterError(f"{_owner(path)}: sites={list(found.sites)} is not allowed; give two or more, each once")
    split_address(found.listen, f"{_owner(path)}: listen", lowest=0)
    return found


def read_site(path: Path | None, given: Mapping[str, Any] = types.MappingProxyType({})) -> SiteConfig:
    """A site's file; what is `given` (and not None) goes before what it says."""
    found = _read(SiteConfig, path, given)
    _check_site(found.site, _owner(path))
    split_address(found.coordinator, f"{_owner(path)}: coordinator")
    unused = {"columns": ("declare",), "rows": ("weights",)}[found.layout]
    for name in unused:
        if getattr(found, name):
            where = "rows" if found.layout == "columns" else "columns; those of rows stand in the coordinator's file"
            raise ParameterError(f"{_owner(path)}: {name} is for {where}; leave it out")
    return found


def split_address(address: str, place: str, lowest: int = 1) -> tuple[str, int]:
    """Host and port of `host:port`, where an IPv6 host stands in brackets.

    >>> split_address("[::1]:8443", "listen")
    ('[::1]', 8443)
    """
    host, colon, port = address.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host.replace(":", " ")
    if not colon or not re.fullmatch(r"[\w.:%-]+", bare) or not re.fullmatch(r"[0-9]{1,5}", port):
        raise ParameterError(f"{place}={address!r} is not allowed; give host:port")
    if not lowest <= int(port) < 65536:
        raise ParameterError(f"{place}={address!r} has no port between {lowest} and 65535; give host:port")
    return host, int(port)


def check_terms(require: Require, terms: Terms, site: str) -> None:
    """Refuse terms that are not what the site insists on."""
    for name in ("method", "k", "layout", "protocol", "transport", "init", "seed", "objects", "bits", "word"):
        wanted, offered = getattr(require, name), getattr(terms, name)
        if wanted is not None and wanted != offered:
            _unmet(site, f"{name} = {wanted}", f"{name} = {offered}")
    if require.sites is not None and sorted(require.sites) != sorted(terms.sites):
        _unmet(site, f"the sites {', '.join(sorted(require.sites))}", ", ".join(terms.sites))
    if len(terms.sites) < require.min_sites:
        _unmet(site, f"at least {require.min_sites} sites", str(len(terms.sites)))
    if terms.suppress < require.suppress:
        _unmet(site, f"suppress of at least {require.suppress:g}", f"{terms.suppress:g}")
    if require.max_rho is not None and not 0 < terms.rho <= require.max_rho:
        _unmet(site, f"noise with rho of at most {require.max_rho:g}", f"{terms.rho:g}" if terms.rho else "no noise")
    if require.max_delta is not None and terms.delta > require.max_delta:
        _unmet(site, f"delta of at most {require.max_delta:g}", f"{terms.delta:g}")


def _unmet(site: str, wanted: str, offered: str) -> None:
    raise FederatedError(
        f"site {site} requires {wanted}, the coordinator offers {offered}; agree on one in both configurations"
    )


def _owner(path: Path | None) -> str:
    return "options" if path is None else str(path)


def _check_site(name: str, owner: str) -> None:
    if not SITE_NAME.fullmatch(name):
        raise ParameterError(
            f"{owner}: site {name!r} is not allowed; give up to 63 letters, digits, dots, dashes and underscores"
        )


def _read(kind: type[C], path: Path | None, given: Mapping[str, Any]) -> C:
    """The file as a configuration of this kind; paths in it are relative to its folder, given ones are not."""
    owner = _owner(path)
    held = {} if path is None else _toml(path)
    _check_keys(kind, held, owner)
    told = {name: value for name, value in given.items() if value is not None}
    for name in told.keys() & held.keys():
        if isinstance(held[name], Mapping) and isinstance(told[name], Mapping):
            told[name] = {**_absolute(held[name], path if name == "tls" else None), **told[name]}
    said = {name: _converted(kind, name, value, path, owner) for name, value in held.items() if name not in told}
    said |= {name: _converted(kind, name, value, None, owner) for name, value in told.items()}
    return _built(kind, said, owner)


def _absolute(table: Mapping[str, Any], path: Path | None) -> dict[str, Any]:
    """A table of paths relative to the file's folder, as paths from here."""
    return {
        key: str(path.parent / value) if path is not None and isinstance(value, str) else value
        for key, value in table.items()
    }


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except ValueError as error:
        raise FileError(f"{path}: is no TOML ({error}); see docs/federated.md for an example") from None


def _check_keys(kind: type[Any], held: Mapping[str, Any], owner: str) -> None:
    known = [one.name for one in fields(kind)]
    for name in held:
        if name not in known:
            raise ParameterError(f"{owner}: {name!r} is unknown; {did_you_mean(name, known)}valid: {', '.join(known)}")


def _built(kind: type[C], said: Mapping[str, Any], owner: str) -> C:
    for one in fields(kind):  # type: ignore[arg-type]  # C is a dataclass
        if one.default is MISSING and one.default_factory is MISSING and one.name not in said:
            raise ParameterError(f"{owner}: {one.name} is missing; say it there or as an option")
    return build(kind, said, owner)


def _converted(kind: type[Any], name: str, value: Any, path: Path | None, owner: str) -> Any:
    """A value as its field's type where TOML has no such type: paths, tables, one value in place of a list."""
    hint = get_type_hints(kind)[name]
    place = f"{owner}: [{name}]"
    if hint in (Tls, Require):
        if not isinstance(value, Mapping):
            raise ParameterError(f"{place} is a table; write its lines below [{name}]")
        _check_keys(hint, value, place)
        return _built(hint, {key: _converted(hint, key, part, path, place) for key, part in value.items()}, place)
    if Path in (hint, *get_args(hint)) and isinstance(value, str) and value:
        return Path(value) if path is None else path.parent / value
    if hint is FrozenDict:
        if not isinstance(value, Mapping):
            raise ParameterError(f"{place} is a table; write its lines below [{name}]")
        return FrozenDict({key: _entry(name, key, part, place) for key, part in value.items()})
    if name == "missing" and not isinstance(value, (list, tuple)):
        value = (value,)
    return value


def _entry(table: str, key: str, value: Any, place: str) -> Any:
    """An entry of [settings], [weights], [labels] or [declare]."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if table == "weights":
        if not number or not 0 <= value < math.inf:
            raise ParameterError(f"{place} {key}={value!r} is not allowed; give a number >= 0")
        return float(value)
    if table in ("labels", "declare"):
        listed = value if isinstance(value, list) else []
        if not listed or not all(isinstance(part, (str, int, float)) for part in listed):
            raise ParameterError(f"{place} {key}={value!r} is not allowed; give a list of labels")
        if len({label_key(part) for part in listed}) < len(listed):
            raise ParameterError(f"{place} {key} names a label twice; name each once")
        return tuple(listed)
    if not isinstance(value, (str, int, float, list)):
        raise ParameterError(f"{place} {key}={value!r} is not allowed; see `partita methods NAME`")
    return tuple(value) if isinstance(value, list) else value
