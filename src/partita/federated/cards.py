"""Key cards: a site's public key for one run, signed with its certificate, so that no coordinator can slip in its own.

A card says which site and run a key is for. Sites that know the authority behind all certificates accept a card only
if it is signed with a certificate that the authority itself has issued to that site and that is within its dates.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from partita.core.errors import FederatedError
from partita.federated.masks import KEY, cryptography_needed

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

LIMITS: Final = {"site": 64, "run": 128, "public": 2 * KEY, "certificate": 8192, "signature": 2048}
"""The most characters of each field of a card."""
CARD: Final = 2 * sum(LIMITS.values())
"""The most bytes of a card."""
SITE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Identity(NamedTuple):
    """What a site proves itself with: its certificate and the private key that belongs to it, both PEM."""

    certificate: bytes
    key: bytes


def check_site(name: Any) -> str:
    """The name of a site, if it is one that files and certificates can carry."""
    if not isinstance(name, str) or not SITE.fullmatch(name):
        raise FederatedError(
            f"{name!r} cannot be the name of a site; take 1 to 64 letters, digits, '-', '_' and '.', a letter or "
            "digit first"
        )
    return name


def card_of(site: str, run: str, public: bytes, identity: Identity | None = None) -> bytes:
    """A site's card for a run, signed where it has an identity; read back by `read_card` before it is given out."""
    fields = {"site": check_site(site), "run": run, "public": public.hex()}
    if identity is not None:
        with _refusing(site, "the certificate or its key cannot be used; give PEM files that belong together"):
            fields["certificate"] = _leaf(identity.certificate)
            fields["signature"] = _sign(identity.key, _signed_text(site, run, public)).hex()
    card = json.dumps(fields).encode()
    read_card(card, site, run, None)
    return card


def read_card(card: bytes, site: str, run: str, authority: bytes | None) -> bytes:
    """The public key on a card, if it is `site`'s for `run`.

    `authority` is the PEM certificate of whoever issued the sites' certificates, or several of them. Without one,
    signed cards are checked for themselves and unsigned ones pass: only a simulation can do with that.
    """
    fields = _fields(card, site)
    if fields["site"] != site:
        raise FederatedError(f"site {site!r}: the key card is that of site {fields['site']!r}; do not go on")
    if fields["run"] != run:
        raise FederatedError(f"site {site!r}: the key card is for run {fields['run']!r}, not {run!r}; start a new run")
    with _refusing(site, f"the public key on the card is not {KEY} bytes in hexadecimal"):
        public = bytes.fromhex(fields["public"])
        if len(public) != KEY or public.hex() != fields["public"]:
            raise ValueError
    if "signature" in fields:
        _check_signature(fields, public, authority)
    elif authority is not None:
        raise FederatedError(f"site {site!r}: the key card is not signed; give that site its certificate and key")
    return public


def _fields(card: bytes, site: str) -> dict[str, str]:
    """What stands on a card, every field a text within its limit."""
    if len(card) > CARD:
        raise FederatedError(f"site {site!r}: the key card has {len(card)} bytes; there can be no more than {CARD}")
    try:
        fields = json.loads(card)
    except (ValueError, RecursionError):
        fields = None
    wanted = {"site", "run", "public"}
    if not isinstance(fields, dict) or set(fields) not in (wanted, set(LIMITS)):
        raise FederatedError(f"site {site!r}: the key card cannot be read; let that site join anew")
    for name, limit in LIMITS.items():
        value = fields.get(name, "")
        if not isinstance(value, str) or len(value) > limit:
            raise FederatedError(f"site {site!r}: {name} on the key card is not a text of at most {limit} characters")
    return fields


def _check_signature(fields: dict[str, str], public: bytes, authority: bytes | None) -> None:
    """Refuse a card whose certificate is another's, out of date or of another authority, or did not sign the card."""
    site = fields["site"]
    with cryptography_needed():
        from cryptography.x509 import load_pem_x509_certificate
    with _refusing(site, "the certificate on the key card cannot be read"):
        certificate = load_pem_x509_certificate(fields["certificate"].encode())
        names, for_clients = _names(certificate), _for_clients(certificate)
    if names != [site]:
        raise FederatedError(
            f"site {site!r}: the certificate is made out to {', '.join(names) or 'nobody'}; do not go on"
        )
    if not for_clients:
        raise FederatedError(f"site {site!r}: the certificate is not for clients; let the authority issue one that is")
    _check_dates(certificate, site)
    if authority is not None:
        _check_issuer(certificate, authority, site)
    with _refusing(site, "the signature on the key card is wrong: the card was altered; do not go on"):
        _verify(certificate, bytes.fromhex(fields["signature"]), _signed_text(site, fields["run"], public))


def _check_issuer(certificate: "Certificate", authority: bytes, site: str) -> None:
    with cryptography_needed():
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.x509 import load_pem_x509_certificates
    try:
        known = load_pem_x509_certificates(authority)
    except ValueError:
        raise FederatedError("the authority's certificate cannot be read; give its PEM file") from None
    for issuer in known:
        try:
            certificate.verify_directly_issued_by(issuer)
        except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
            continue
        return _check_dates(issuer, site)
    raise FederatedError(
        f"site {site!r}: its certificate was not issued by the authority that this site knows; do not go on"
    )


def _check_dates(certificate: "Certificate", site: str) -> None:
    first, last = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if not first <= datetime.now(UTC) <= last:
        raise FederatedError(
            f"site {site!r}: the certificate of {', '.join(_names(certificate))} is valid from {first:%Y-%m-%d %H:%M} "
            f"to {last:%Y-%m-%d %H:%M} UTC alone; renew it or set the clock"
        )


def _signed_text(site: str, run: str, public: bytes) -> bytes:
    """What a card's signature is over, the same for no two cards."""
    return b"partita key card 1\0" + json.dumps([site, run, public.hex()]).encode()


def _names(certificate: "Certificate") -> list[str]:
    """The common names of a certificate."""
    with cryptography_needed():
        from cryptography.x509.oid import NameOID
    return [str(part.value) for part in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]


def _for_clients(certificate: "Certificate") -> bool:
    """Whether a certificate is for clients, or says nothing of its purpose."""
    with cryptography_needed():
        from cryptography.x509 import ExtendedKeyUsage, ExtensionNotFound
        from cryptography.x509.oid import ExtendedKeyUsageOID
    try:
        uses = certificate.extensions.get_extension_for_class(ExtendedKeyUsage).value
    except ExtensionNotFound:
        return True
    return ExtendedKeyUsageOID.CLIENT_AUTH in uses


def _leaf(pem: bytes) -> str:
    """The first certificate of a PEM file, without what may follow it."""
    with cryptography_needed():
        from cryptography.hazmat.primitives.serialization import Encoding
        from cryptography.x509 import load_pem_x509_certificate
    return load_pem_x509_certificate(pem).public_bytes(Encoding.PEM).decode()


def _sign(pem: bytes, text: bytes) -> bytes:
    with cryptography_needed():
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    key = load_pem_private_key(pem, None)
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return key.sign(text, ec.ECDSA(hashes.SHA256()))
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(text, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256())
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key.sign(text)
    raise ValueError


def _verify(certificate: "Certificate", signature: bytes, text: bytes) -> None:
    with cryptography_needed():
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
    key = certificate.public_key()
    if isinstance(key, ec.EllipticCurvePublicKey):
        key.verify(signature, text, ec.ECDSA(hashes.SHA256()))
    elif isinstance(key, rsa.RSAPublicKey):
        key.verify(signature, text, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256())
    elif isinstance(key, ed25519.Ed25519PublicKey):
        key.verify(signature, text)
    else:
        raise ValueError


@contextmanager
def _refusing(site: str, reason: str) -> Iterator[None]:
    """Turn whatever the cryptography package finds wrong into one line that names the site."""
    with cryptography_needed():
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.x509 import DuplicateExtension, UnsupportedGeneralNameType
    try:
        yield
    except (
        ValueError,
        TypeError,
        InvalidSignature,
        UnsupportedAlgorithm,
        DuplicateExtension,
        UnsupportedGeneralNameType,
    ):
        raise FederatedError(f"site {site!r}: {reason}") from None
