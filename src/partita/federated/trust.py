"""Certificates and keys as files: read, and checked before a connection fails for less clear reasons."""

from datetime import UTC, datetime
from pathlib import Path

from partita.core.errors import FederatedError, FileError
from partita.federated.config import Tls
from partita.federated.masks import cryptography_needed


def read_pem(path: Path, what: str) -> bytes:
    """A certificate or key."""
    try:
        held = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: the {what} cannot be read ({error.strerror}); check [tls]") from None
    if b"-----BEGIN " not in held:
        raise FileError(f"{path}: the {what} is no PEM file; `partita federate certs` makes some for a trial")
    return held


def check_tls(tls: Tls, name: str | None = None) -> None:
    """Refuse a certificate that is not `name`'s, not of this key, not of this authority, or not valid now."""
    with cryptography_needed():
        from cryptography import x509
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
        from cryptography.x509.oid import NameOID
    held = {what: read_pem(getattr(tls, what), what) for what in ("certificate", "authority", "key")}
    try:
        chain = x509.load_pem_x509_certificates(held["certificate"])
        authorities = x509.load_pem_x509_certificates(held["authority"])
        key = load_pem_private_key(held["key"], None)
    except (ValueError, TypeError) as error:
        raise FileError(
            f"{tls.certificate}, {tls.authority} or {tls.key} cannot be used ({error}); check [tls]"
        ) from None
    own, form = chain[0], (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if own.public_key().public_bytes(*form) != key.public_key().public_bytes(*form):
        raise FederatedError(f"{tls.key}: is not the key of {tls.certificate}; give files that belong together")
    names = [str(found.value) for found in own.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    if name is not None and names != [name]:
        raise FederatedError(f"{tls.certificate}: is made out to {', '.join(names)}, not to {name}; give its own")
    if not own.not_valid_before_utc <= datetime.now(UTC) <= own.not_valid_after_utc:
        raise FederatedError(
            f"{tls.certificate}: is valid from {own.not_valid_before_utc:%Y-%m-%d %H:%M} to "
            f"{own.not_valid_after_utc:%Y-%m-%d %H:%M} UTC, not now; have a new one made"
        )
    if len(chain) > 1:  # what stands between it and the authority is for TLS to judge
        return
    for authority in authorities:
        try:
            own.verify_directly_issued_by(authority)
        except (ValueError, TypeError, InvalidSignature):
            continue
        return
    raise FederatedError(f"{tls.certificate}: was not issued by {tls.authority}; all parties need one authority")
