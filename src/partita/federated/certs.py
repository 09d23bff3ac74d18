"""Certificates for a trial: an authority, the coordinator and every site, ECDSA on P-256.

They let a group try things out between machines; for data that matter, an authority that none of the parties can use
alone should issue them, and nobody should hold another's key.
"""

import ipaddress
import os
import re
import secrets
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from partita.core.errors import FederatedError, FileError, ParameterError
from partita.federated.cards import check_site
from partita.federated.masks import cryptography_needed

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, ExtensionType

AUTHORITY: Final = "ca"
COORDINATOR: Final = "coordinator"
SECRET: Final = ".key"
ALWAYS: Final = ("localhost", "127.0.0.1", "::1")
MOST_DAYS: Final = 825
_HOST = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*")
_EARLIER = timedelta(minutes=10)  # clocks of different machines differ


class Made(NamedTuple):
    """A file that was written and who is to have it."""

    path: Path
    holder: str
    secret: bool


class _Pair(NamedTuple):
    certificate: "Certificate"
    key: "EllipticCurvePrivateKey"


def make_certificates(
    folder: str | Path, sites: Sequence[str], hosts: Sequence[str] = (), days: int = 30
) -> tuple[Made, ...]:
    """Write certificates and keys for a trial; all of them or none, and never over a file that is there.

    Parameters
    ----------
    folder
        Where to put them; made when it does not exist.
    sites
        What the sites are called: the common names of their certificates.
    hosts
        Names and addresses under which sites reach the coordinator; this machine's own are always among them.
    days
        For how long they are valid.
    """
    _check(sites, hosts, days)
    authority = _signed(f"Partita trial authority {secrets.token_hex(4)}", AUTHORITY, (), days, None)
    files = _pems(AUTHORITY, authority) | _pems(COORDINATOR, _signed(COORDINATOR, COORDINATOR, hosts, days, authority))
    holders = ["everybody", "nobody else: who has it can pass for any site", "the coordinator", "the coordinator alone"]
    for site in sites:
        files |= _pems(site, _signed(site, "site", (), days, authority))
        holders += [f"site {site}", f"site {site} alone"]
    place = Path(folder)
    _write(place, files)
    return tuple(Made(place / name, who, name.endswith(SECRET)) for name, who in zip(files, holders, strict=True))


def _check(sites: Sequence[str], hosts: Sequence[str], days: int) -> None:
    if not sites:
        raise ParameterError("there are no sites; name at least one")
    taken = {AUTHORITY, COORDINATOR}
    for site in sites:
        try:
            check_site(site)
        except FederatedError as error:
            raise ParameterError(str(error)) from None
        if site.lower() in taken:
            raise ParameterError(f"the name of site {site!r} is taken already; file names do not tell capitals apart")
        taken.add(site.lower())
    for host in hosts:
        if not _is_address(host) and not (len(host) <= 253 and _HOST.fullmatch(host)):
            raise ParameterError(f"host {host!r} is neither a host name nor an address; give it without port or path")
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MOST_DAYS:
        raise ParameterError(f"certificates are valid for 1 to {MOST_DAYS} days, not {days!r}")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _signed(name: str, kind: str, hosts: Sequence[str], days: int, issuer: _Pair | None) -> _Pair:
    """A new key and its certificate, signed by the issuer or, where there is none, by itself."""
    with cryptography_needed():
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import NameOID
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLIER)
        .not_valid_after(now + timedelta(days=days))
    )
    signer = issuer.key if issuer else key
    extensions = [
        *_purpose(kind, hosts),
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
        (x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False),
    ]
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return _Pair(builder.sign(signer, hashes.SHA256()), key)


def _purpose(kind: str, hosts: Sequence[str]) -> "list[tuple[ExtensionType, bool]]":
    """What the certificate of an authority, a coordinator or a site may be used for, and what is critical of it."""
    with cryptography_needed():
        from cryptography import x509
        from cryptography.x509.oid import ExtendedKeyUsageOID
    signs = kind == AUTHORITY
    uses = dict.fromkeys(("content_commitment", "key_encipherment", "data_encipherment", "key_agreement"), False)
    uses |= {"key_cert_sign": signs, "crl_sign": signs, "encipher_only": False, "decipher_only": False}
    found: list[tuple[ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=signs, path_length=0 if signs else None), True),
        (x509.KeyUsage(digital_signature=not signs, **uses), True),
    ]
    if kind == COORDINATOR:
        names = [
            x509.IPAddress(ipaddress.ip_address(host)) if _is_address(host) else x509.DNSName(host)
            for host in dict.fromkeys([*ALWAYS, *hosts])
        ]
        found += [(x509.SubjectAlternativeName(names), False)]
    if not signs:
        use = ExtendedKeyUsageOID.SERVER_AUTH if kind == COORDINATOR else ExtendedKeyUsageOID.CLIENT_AUTH
        found += [(x509.ExtendedKeyUsage([use]), False)]
    return found


def _pems(name: str, pair: _Pair) -> dict[str, bytes]:
    """The two files of a certificate and its key."""
    with cryptography_needed():
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    key = pair.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return {f"{name}.pem": pair.certificate.public_bytes(Encoding.PEM), f"{name}{SECRET}": key}


def _write(folder: Path, files: dict[str, bytes]) -> None:
    """Write all files beside their places, then move them there; on any failure nothing is left."""
    moved: list[Path] = []
    new = not folder.exists()
    staging = folder / f".partita.{secrets.token_hex(4)}.tmp"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in files:
            if os.path.lexists(folder / name):
                raise FileError(f"{str(folder / name)!r} exists already; give another folder, or remove it first")
        staging.mkdir(mode=0o700)
        for name, content in files.items():
            mode = 0o600 if name.endswith(SECRET) else 0o644
            with os.fdopen(os.open(staging / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for name in files:
            (staging / name).rename(folder / name)
            moved.append(folder / name)
    except BaseException as error:
        for path in moved:
            path.unlink(missing_ok=True)
        shutil.rmtree(staging, ignore_errors=True)
        if new and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
        if isinstance(error, OSError):
            raise FileError(
                f"cannot write certificates into {str(folder)!r} ({error.strerror}); give another folder"
            ) from None
        raise
    staging.rmdir()
