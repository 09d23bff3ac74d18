"""What the tests of the transport share."""

import ipaddress
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from partita.core.errors import FederatedError
from partita.federated.config import Tls
from partita.federated.frames import decode
from partita.federated.messages import Hello, Refusal, Share, Terms
from partita.federated.partaking import Party
from partita.federated.state import State


def typed(value):
    """A value with the types of all its parts, so that 1, 1.0 and True differ."""
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {name: typed(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return tuple(typed(part) for part in value)
    return type(value).__name__, repr(value)


def same(left, right):
    assert type(left) is type(right)
    for field in fields(left):
        assert typed(getattr(left, field.name)) == typed(getattr(right, field.name)), field.name


def make_tls(folder, names, authority=None, days=1):
    """Certificates signed by one authority, by name; `authority` gives a signed pair to go on with."""
    folder.mkdir(parents=True, exist_ok=True)
    signer = authority or _signed("authority", None, True, days)
    _put(folder / "ca.pem", signer[1])
    found = {}
    for name in names:
        pair = _signed(name, signer, False, days)
        _put(folder / f"{name}.pem", pair[1])
        (folder / f"{name}.key").write_bytes(_pem_key(pair[0]))
        found[name] = Tls(folder / "ca.pem", folder / f"{name}.pem", folder / f"{name}.key")
    return found


def _put(path, certificate):
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def _pem_key(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _signed(name, signer, is_authority, days):
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    hosts = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(signer[1].subject if signer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(is_authority, None), True)
        .add_extension(x509.SubjectAlternativeName(hosts), False)
    )
    return key, builder.sign(signer[0] if signer else key, hashes.SHA256())


class Fake:
    """A site that answers each round of "totals" with numbers that depend on its name and the round alone."""

    def __init__(self, name, version="1", layout="rows"):
        self.name, self.version, self.layout = name, version, layout
        self.asked = []

    def hello(self, state):
        place = ("", -1) if state is None else (state.terms.run, state.round)
        return Hello(self.name, self.version, self.layout, ("c",), (("x", "y"),), *place)

    def agree(self, terms):
        return State(terms)

    def answer(self, state, ask):
        self.asked.append(ask.round)
        if ask.round == state.round:
            return state, state.share
        if ask.round != state.round + 1:
            raise FederatedError(f"site {self.name}: round {ask.round} after {state.round}")
        share = Share(ask.run, ask.round, ask.step, self.name, share_arrays(self.name, ask))
        return replace(state, round=ask.round, share=share), share

    def result(self, state):
        return self.name, state.round

    @property
    def party(self):
        return Party(self.name, self.hello, self.agree, self.answer, self.result)


def share_arrays(name, ask):
    if ask.step == "close":
        return {"digest": np.zeros(2, np.uint8)}
    base = sum(name.encode()) + 1000 * ask.round
    return {"labels": np.array([base, base + 1], np.uint64), "scalars": np.array([1], np.uint64)}


SITES = ("a", "b", "c")
TERMS = Terms("run1", SITES, "rows", "mm", 2, names=("c",), classes=(("x", "y"),), version="1")


def total(round_):
    base = sum(sum(name.encode()) + 1000 * round_ for name in SITES)
    return [base, base + 3]


def refusal(reply):
    """The reason in a reply that must be a refusal."""
    found = decode(reply, 1 << 20)
    assert isinstance(found, Refusal), found
    assert "\n" not in found.reason
    return found.reason
