import ipaddress
import os
import socket
import ssl
import stat
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from partita.core.errors import FileError, ParameterError
from partita.federated.certs import make_certificates

x509 = pytest.importorskip("cryptography.x509")
SITES = ("north", "south-2", "Old_Town.3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("certs") / "new" / "trial"
    make_certificates(place, SITES, ["hub.example.org", "192.0.2.7", "2001:db8::1"], days=3)
    return place


def certificate(path):
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_what_is_written(tmp_path):
    made = make_certificates(tmp_path, SITES)
    names = ["ca", "coordinator", *SITES]
    assert [m.path for m in made] == [tmp_path / f"{n}{end}" for n in names for end in (".pem", ".key")]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(m.path.name for m in made)
    assert [m.secret for m in made] == [False, True] * 5
    assert made[-1].holder == "site Old_Town.3 alone" and made[0].holder == "everybody"
    for m in made:
        assert (b"PRIVATE KEY" in m.path.read_bytes()) == m.secret
        if m.secret and os.name == "posix":
            assert stat.S_IMODE(m.path.stat().st_mode) == 0o600


def test_keys_are_private_whatever_the_mask_is(tmp_path):
    before = os.umask(0)
    try:
        made = make_certificates(tmp_path, ["a"])
    finally:
        os.umask(before)
    assert all(stat.S_IMODE(m.path.stat().st_mode) == (0o600 if m.secret else 0o644) for m in made)


def test_certificates_say_what_they_are_for(folder):
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    authority = certificate(folder / "ca.pem")
    assert authority.extensions.get_extension_for_class(x509.BasicConstraints).value == x509.BasicConstraints(True, 0)
    for name in ("coordinator", *SITES):
        found = certificate(folder / f"{name}.pem")
        found.verify_directly_issued_by(authority)
        assert [a.value for a in found.subject.get_attributes_for_oid(NameOID.COMMON_NAME)] == [name]
        assert not found.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
        use = ExtendedKeyUsageOID.SERVER_AUTH if name == "coordinator" else ExtendedKeyUsageOID.CLIENT_AUTH
        assert list(found.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value) == [use]
        assert found.public_key().curve.name == "secp256r1"
        key = load_pem_private_key((folder / f"{name}.key").read_bytes(), None)
        assert key.public_key() == found.public_key()
        assert timedelta(days=3) < found.not_valid_after_utc - found.not_valid_before_utc < timedelta(days=3, hours=1)
    names = certificate(folder / "coordinator.pem").extensions.get_extension_for_class(x509.SubjectAlternativeName)
    assert set(names.value.get_values_for_type(x509.DNSName)) == {"localhost", "hub.example.org"}
    addresses = {"127.0.0.1", "::1", "192.0.2.7", "2001:db8::1"}
    assert set(names.value.get_values_for_type(x509.IPAddress)) == {ipaddress.ip_address(a) for a in addresses}


def contexts(folder, site, authority=None):
    """A server that wants a certificate of its clients, and a client with a site's certificate."""
    trusted = str((authority or folder) / "ca.pem")
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(folder / "ca.pem"))
    server.load_cert_chain(folder / "coordinator.pem", folder / "coordinator.key")
    server.verify_mode = ssl.CERT_REQUIRED
    client = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=trusted)
    if site is not None:
        client.load_cert_chain(site.with_suffix(site.suffix + ".pem"), site.with_suffix(site.suffix + ".key"))
    for context in (server, client):
        context.verify_flags |= ssl.VERIFY_X509_STRICT
    return server, client


def shake_hands(server, client, host):
    """Over loopback: the name of the client that the server saw, or the first error on either side."""
    seen = []

    def serve(listener):
        connection, _ = listener.accept()
        connection.settimeout(10)
        try:
            with server.wrap_socket(connection, server_side=True) as secured:
                seen.append(dict(part[0] for part in secured.getpeercert()["subject"])["commonName"])
                secured.sendall(b"welcome")
        except OSError as error:
            seen.append(error)
            connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        try:
            with (
                socket.create_connection(listener.getsockname(), timeout=10) as raw,
                client.wrap_socket(raw, server_hostname=host) as secured,
            ):
                assert secured.recv(7) == b"welcome"
        except (OSError, AssertionError) as error:
            return error
        finally:
            thread.join(10)
    return seen[0]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "hub.example.org", "192.0.2.7"])
def test_mutual_tls(folder, host):
    for site in SITES:
        assert shake_hands(*contexts(folder, folder / site), host) == site


def test_tls_refuses_others(folder, tmp_path):
    make_certificates(tmp_path, SITES)
    assert isinstance(shake_hands(*contexts(folder, None), "localhost"), Exception)
    assert isinstance(shake_hands(*contexts(folder, tmp_path / "north"), "localhost"), Exception)
    assert isinstance(shake_hands(*contexts(folder, folder / "coordinator"), "localhost"), Exception)
    assert isinstance(shake_hands(*contexts(folder, folder / "north", tmp_path), "localhost"), ssl.SSLError)
    assert isinstance(shake_hands(*contexts(folder, folder / "north"), "elsewhere.example.org"), ssl.SSLError)


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "south-2.key").write_text("precious")
    with pytest.raises(FileError, match=r"south-2\.key.* exists already"):
        make_certificates(tmp_path, SITES)
    assert [p.name for p in tmp_path.iterdir()] == ["south-2.key"]
    assert (tmp_path / "south-2.key").read_text() == "precious"


@pytest.mark.parametrize("fails_at", [0, 3])
def test_nothing_is_half_written(tmp_path, monkeypatch, fails_at):
    rename, calls = Path.rename, []

    def failing(self, target):
        calls.append(target)
        if len(calls) > fails_at:
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(FileError, match="No space left"):
        make_certificates(tmp_path / "new", SITES)
    assert not list(tmp_path.iterdir())


def test_a_file_for_a_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="give another folder"):
        make_certificates(tmp_path / "file", SITES)


@pytest.mark.parametrize(
    ("sites", "hosts", "days", "message"),
    [
        (("a",), ("hub." * 63 + "de",), 30, "neither"),
        (("a",), (), True, "days"),
        ((), (), 30, "no sites"),
        (("a", "a"), (), 30, "taken"),
        (("a", "A"), (), 30, "taken"),
        (("CA",), (), 30, "taken"),
        (("coordinator",), (), 30, "taken"),
        (("",), (), 30, "cannot be the name"),
        (("../a",), (), 30, "cannot be the name"),
        ((".a",), (), 30, "cannot be the name"),
        (("a b",), (), 30, "cannot be the name"),
        (("a\n",), (), 30, "cannot be the name"),
        (("ä",), (), 30, "cannot be the name"),
        (("a" * 65,), (), 30, "cannot be the name"),
        (("a",), ("hub:8080",), 30, "without port"),
        (("a",), ("https://hub",), 30, "without port"),
        (("a",), ("-hub",), 30, "neither"),
        (("a",), ("",), 30, "neither"),
        (("a",), (), 0, "days"),
        (("a",), (), 826, "days"),
        (("a",), (), 1.5, "days"),
    ],
)
def test_bad_input(tmp_path, sites, hosts, days, message):
    with pytest.raises(ParameterError, match=message):
        make_certificates(tmp_path / "new", sites, hosts, days)
    assert not (tmp_path / "new").exists()
