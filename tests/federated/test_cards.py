import json
from datetime import UTC, datetime, timedelta

import pytest

from partita.core.errors import FederatedError
from partita.federated.cards import CARD, Identity, _sign, _signed_text, card_of, check_site, read_card
from partita.federated.certs import make_certificates
from partita.federated.masks import public_of

x509 = pytest.importorskip("cryptography.x509")
from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa  # noqa: E402
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID  # noqa: E402

PUBLIC, OTHER = public_of(bytes(range(32))), public_of(bytes(range(1, 33)))
RUN = "trial-1"


def identity(folder, name):
    return Identity((folder / f"{name}.pem").read_bytes(), (folder / f"{name}.key").read_bytes())


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trial")
    make_certificates(folder, ["north", "south"])
    return folder


@pytest.fixture(scope="module")
def authority(trial):
    return (trial / "ca.pem").read_bytes()


@pytest.fixture(scope="module")
def card(trial):
    return card_of("north", RUN, PUBLIC, identity(trial, "north"))


def signed(names, issuer, signer, key, days=(-1, 1), uses=None):
    """A certificate that the package itself would not make."""
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name) for name in names]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(days=days[0]))
        .not_valid_after(now + timedelta(days=days[1]))
    )
    if uses:
        builder = builder.add_extension(x509.ExtendedKeyUsage(uses), critical=False)
    return builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def issued(issuer, names, days=(-1, 1), key=None, uses=None):
    """A certificate from the holder of an identity, whoever that is."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    subject = x509.load_pem_x509_certificate(issuer.certificate).subject
    signer = serialization.load_pem_private_key(issuer.key, None)
    return Identity(signed(names, subject, signer, key, days, uses), pem_of(key))


def pem_of(key):
    kind = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, kind, serialization.NoEncryption())


def altered(card, **fields):
    return json.dumps(json.loads(card) | fields).encode()


def forged(proof, run=RUN, site="north", public=PUBLIC):
    """A card that is signed rightly with an identity that `card_of` would refuse to sign with."""
    fields = {"site": site, "run": run, "public": public.hex(), "certificate": proof.certificate.decode()}
    return json.dumps(fields | {"signature": _sign(proof.key, _signed_text(site, run, public)).hex()}).encode()


def test_signed_cards(card, authority):
    assert read_card(card, "north", RUN, authority) == PUBLIC
    assert read_card(card, "north", RUN, None) == PUBLIC
    assert len(card) < 2000


@pytest.mark.parametrize("make", [lambda: rsa.generate_private_key(65537, 2048), ed25519.Ed25519PrivateKey.generate])
def test_other_kinds_of_keys(trial, authority, make):
    proof = issued(identity(trial, "ca"), ["north"], key=make())
    card = card_of("north", RUN, PUBLIC, proof)
    assert read_card(card, "north", RUN, authority) == PUBLIC
    with pytest.raises(FederatedError, match="'north': the signature"):
        read_card(altered(card, public=OTHER.hex()), "north", RUN, authority)


def test_unsigned_cards(authority):
    card = card_of("north", RUN, PUBLIC, None)
    assert read_card(card, "north", RUN, None) == PUBLIC
    with pytest.raises(FederatedError, match="'north': the key card is not signed"):
        read_card(card, "north", RUN, authority)


def test_a_stripped_signature_is_refused(card, authority):
    fields = json.loads(card)
    for left in ({"certificate", "signature"}, {"signature"}, {"certificate"}):
        stripped = json.dumps({name: fields[name] for name in fields if name not in left}).encode()
        with pytest.raises(FederatedError, match="'north'"):
            read_card(stripped, "north", RUN, authority)


def test_swapped_cards_are_refused(trial, card, authority):
    with pytest.raises(FederatedError, match="'south': the key card is that of site 'north'"):
        read_card(card, "south", RUN, authority)
    with pytest.raises(FederatedError, match="'south': the certificate is made out to north"):
        read_card(altered(card, site="south"), "south", RUN, authority)
    with pytest.raises(FederatedError, match="'south': the certificate is made out to north"):
        read_card(forged(identity(trial, "north"), site="south"), "south", RUN, authority)
    southern = json.loads(card_of("south", RUN, PUBLIC, identity(trial, "south")))
    for fields in ({"signature": southern["signature"]}, {"certificate": southern["certificate"]}):
        with pytest.raises(FederatedError, match="'north'"):
            read_card(altered(card, **fields), "north", RUN, authority)


def test_another_run_is_refused(card, authority):
    with pytest.raises(FederatedError, match="'north': the key card is for run 'trial-1', not 'trial-2'"):
        read_card(card, "north", "trial-2", authority)
    with pytest.raises(FederatedError, match="'north': the signature"):
        read_card(altered(card, run="trial-2"), "north", "trial-2", authority)


def test_another_key_is_refused(card, authority):
    for known in (authority, None):
        with pytest.raises(FederatedError, match="'north': the signature"):
            read_card(altered(card, public=OTHER.hex()), "north", RUN, known)
    signature = json.loads(card)["signature"]
    for wrong in ("00" + signature[2:], signature[:-2], "", "zz"):
        with pytest.raises(FederatedError, match="'north': the signature"):
            read_card(altered(card, signature=wrong), "north", RUN, authority)


def test_another_authority_is_refused(tmp_path, card, authority):
    make_certificates(tmp_path, ["north"])
    foreign = card_of("north", RUN, PUBLIC, identity(tmp_path, "north"))
    with pytest.raises(FederatedError, match="'north': its certificate was not issued"):
        read_card(foreign, "north", RUN, authority)
    both = (tmp_path / "ca.pem").read_bytes() + authority
    assert read_card(foreign, "north", RUN, both) == read_card(card, "north", RUN, both) == PUBLIC
    with pytest.raises(FederatedError, match="authority's certificate cannot be read"):
        read_card(card, "north", RUN, b"nothing")


def test_an_authority_of_the_same_name_is_refused(authority):
    """The issuer's name alone proves nothing."""
    pretender = Identity(authority, pem_of(ec.generate_private_key(ec.SECP256R1())))
    with pytest.raises(FederatedError, match="'north': its certificate was not issued"):
        read_card(forged(issued(pretender, ["north"])), "north", RUN, authority)


def test_a_site_cannot_issue_certificates(trial, authority):
    """A certificate signed by a site instead of the authority counts for nothing."""
    proof = issued(identity(trial, "north"), ["south"])
    with pytest.raises(FederatedError, match="'south': its certificate was not issued"):
        read_card(forged(proof, site="south"), "south", RUN, authority)


def test_an_authority_out_of_date_is_refused():
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "old authority")])
    old = Identity(signed(["old authority"], name, key, key, (-9, -1)), pem_of(key))
    with pytest.raises(FederatedError, match="'north': the certificate of old authority is valid from"):
        read_card(forged(issued(old, ["north"])), "north", RUN, old.certificate)


@pytest.mark.parametrize("days", [(-3, -1), (1, 3)])
def test_dates(trial, authority, days):
    proof = issued(identity(trial, "ca"), ["north"], days)
    with pytest.raises(FederatedError, match=r"'north': the certificate of north is valid from .* alone"):
        read_card(forged(proof), "north", RUN, authority)
    with pytest.raises(FederatedError, match="renew it"):
        card_of("north", RUN, PUBLIC, proof)


def test_a_certificate_for_servers_is_refused(trial, authority):
    server = issued(identity(trial, "ca"), ["north"], uses=[ExtendedKeyUsageOID.SERVER_AUTH])
    with pytest.raises(FederatedError, match="'north': the certificate is not for clients"):
        read_card(forged(server), "north", RUN, authority)
    both = issued(
        identity(trial, "ca"), ["north"], uses=[ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    )
    assert read_card(forged(both), "north", RUN, authority) == PUBLIC


@pytest.mark.parametrize("names", [[], ["north", "south"], ["NORTH"], ["north "]])
def test_the_common_name_is_the_site(trial, authority, names):
    with pytest.raises(FederatedError, match="'north': the certificate is made out to"):
        read_card(forged(issued(identity(trial, "ca"), names)), "north", RUN, authority)


@pytest.mark.parametrize(
    "card",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b"[" * 5000,
        b'{"site": "north", "run": "trial-1", "public": 5}',
        b'{"site": "north", "run": "trial-1", "public": "00"}',
        b'{"site": "north", "run": "trial-1", "public": "' + b"zz" * 32 + b'"}',
        b'{"site": "north", "run": "trial-1", "public": "' + b"AA" * 32 + b'"}',
        b'{"site": "north", "run": "' + b"r" * 129 + b'", "public": "' + b"00" * 32 + b'"}',
        b'{"site": "north", "run": "trial-1", "public": "' + b"00" * 32 + b'", "more": ""}',
    ],
)
def test_malformed_cards(card):
    with pytest.raises(FederatedError, match="site 'north'"):
        read_card(card, "north", RUN, None)


def test_a_card_beyond_its_size_is_not_even_read(card):
    padded = card + b" " * (CARD + 1 - len(card))
    assert read_card(padded[:-1], "north", RUN, None) == PUBLIC
    with pytest.raises(FederatedError, match=f"'north': the key card has {CARD + 1} bytes"):
        read_card(padded, "north", RUN, None)


def test_signatures_cover_every_field():
    cases = [("a", "b", PUBLIC), ("b", "b", PUBLIC), ("a", "a", PUBLIC), ("a", "b", OTHER), ('a", "b', "b", PUBLIC)]
    assert len({_signed_text(*case) for case in cases}) == len(cases)


@pytest.mark.parametrize("field", ["site", "run", "public", "certificate", "signature"])
def test_long_or_odd_fields(card, authority, field):
    for value in ("x" * 8193, 7, None, [], {}):
        with pytest.raises(FederatedError, match=f"'north': {field} on the key card"):
            read_card(altered(card, **{field: value}), "north", RUN, authority)


def test_a_card_is_not_made_of_things_that_do_not_belong_together(trial):
    north, south = identity(trial, "north"), identity(trial, "south")
    with pytest.raises(FederatedError, match="'south': the certificate is made out to north"):
        card_of("south", RUN, PUBLIC, north)
    with pytest.raises(FederatedError, match="'north': the signature"):
        card_of("north", RUN, PUBLIC, Identity(north.certificate, south.key))
    with pytest.raises(FederatedError, match="'north': the certificate or its key cannot be used"):
        card_of("north", RUN, PUBLIC, Identity(north.certificate, b"nothing"))
    with pytest.raises(FederatedError, match="'north': the public key"):
        card_of("north", RUN, b"short", north)
    with pytest.raises(FederatedError, match="cannot be the name"):
        card_of("no rth", RUN, PUBLIC, None)


def test_names_of_sites():
    for name in ("a", "A-b_c.9", "9" * 64):
        assert check_site(name) == name
    for name in ("", "a" * 65, "a/b", "-a", "..", "a b", "a\n", "é", None, 5):
        with pytest.raises(FederatedError, match="cannot be the name"):
            check_site(name)
