"""Configurations: complete examples, every slip named in one line with its way out."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from partita.core.errors import FederatedError, FileError, ParameterError
from partita.federated.config import Require, check_terms, read_coordinator, read_site, split_address
from partita.federated.messages import Terms

COORDINATOR = """
listen = "127.0.0.1:0"
sites = ["north", "south", "west"]
layout = "columns"
method = "mm"
k = 3
protocol = "paper"
transport = "float"
bits = 20
word = 32
seed = 7
init = "random"
objects = "any"
allow_two_sites = true
suppress = 5
rho = 0.5
delta = 1e-5
patience = 60
folder = "run"

[settings]
tol = 1e-7
restarts = 3

[tls]
authority = "ca.pem"
certificate = "keys/c.pem"
key = "/abs/c.key"

[labels]
colour = ["red", "blue", 3]

[weights]
colour = 2
"""
SITE = """
site = "north"
coordinator = "host.example:8443"
layout = "columns"
labels = "mine.csv"
ids = "id"
missing = [-1, "NA"]
state = "kept"
output = "out.csv"
randomise = 2.5

[tls]
authority = "ca.pem"
certificate = "n.pem"
key = "n.key"

[require]
method = "mm"
k = 3
min_sites = 3
suppress = 5
"""


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "conf"
    folder.mkdir()
    (folder / "c.toml").write_text(COORDINATOR)
    (folder / "s.toml").write_text(SITE)
    return folder


def test_a_coordinator(place):
    found = read_coordinator(place / "c.toml")
    assert found.sites == ("north", "south", "west")
    assert (found.layout, found.method, found.k, found.word, found.suppress) == ("columns", "mm", 3, 32, 5.0)
    assert found.settings == {"tol": 1e-7, "restarts": 3}
    assert found.labels == {"colour": ("red", "blue", 3)} and found.weights == {"colour": 2.0}
    assert (found.folder, found.tls.certificate, found.tls.key) == (
        place / "run",
        place / "keys" / "c.pem",
        Path("/abs/c.key"),
    )
    default = {"settings", "labels", "weights", "listen", "largest"}
    bare = read_coordinator(
        None,
        {
            "sites": ["a", "b"],
            "layout": "rows",
            "method": "qmi",
            "tls": dict.fromkeys(("authority", "certificate", "key"), "x"),
        },
    )
    for field in fields(found):
        assert field.name in default or getattr(found, field.name) != getattr(bare, field.name), field.name
    assert (bare.protocol, bare.transport, bare.bits, bare.word, bare.patience) == ("sums", "masked", None, 64, 300)


def test_a_site(place):
    found = read_site(place / "s.toml")
    assert (found.site, found.coordinator, found.ids, found.missing) == ("north", "host.example:8443", "id", (-1, "NA"))
    assert (found.labels, found.state, found.output) == (place / "mine.csv", place / "kept", place / "out.csv")
    assert found.require == Require(method="mm", k=3, min_sites=3, suppress=5.0)
    assert found.randomise == 2.5


def test_options_go_before_the_file(place, monkeypatch):
    monkeypatch.chdir(place.parent)
    found = read_site(place / "s.toml", {"labels": "other.csv", "ids": "key", "output": None, "missing": "NA"})
    assert (found.labels, found.ids, found.output, found.missing) == (
        Path("other.csv"),
        "key",
        place / "out.csv",
        ("NA",),
    )


def test_options_may_be_parts_of_a_table(place):
    found = read_coordinator(place / "c.toml", {"tls": {"key": "new.key"}, "settings": {"tol": 0.5}})
    assert (found.tls.key, found.tls.certificate) == (Path("new.key"), place / "keys" / "c.pem")
    assert found.settings == {"tol": 0.5, "restarts": 3}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("method =", "methd =", r"c.toml: 'methd' is unknown; did you mean 'method'\?"),
        ("[settings]", "[zzz]", "'zzz' is unknown; valid: sites, "),
        ('method = "mm"', "", "c.toml: method is missing"),
        ("k = 3", 'k = "three"', "c.toml: k='three' is not allowed; give int"),
        ("k = 3", "k = 0", "k=0 is out of range"),
        ("word = 32", "word = 48", "word=48 is not allowed; give 32 | 64"),
        ('layout = "columns"', 'layout = "cols"', "layout='cols' is not allowed; give rows | columns"),
        ("rho = 0.5", "rho = -1", "rho=-1 is out of range"),
        ("rho = 0.5", "rho = nan", "rho=nan is not allowed"),
        ("delta = 1e-5", "delta = 0.9", "delta=0.9 is out of range"),
        ("patience = 60", "patience = 0", "patience=0 is out of range"),
        ('"127.0.0.1:0"', '"127.0.0.1"', "listen='127.0.0.1' is not allowed; give host:port"),
        ('"south"', '"north"', "give two or more, each once"),
        ('"south"', '"../south"', "site '../south' is not allowed"),
        ('["north", "south", "west"]', '["north"]', "give two or more"),
        ("bits = 20", "bits = 60", "bits=60 is out of range"),
        ('"ca.pem"', "3", "authority=3 is not allowed"),
        ("authority =", "authorty =", r"\[tls\]: 'authorty' is unknown; did you mean 'authority'"),
        ('authority = "ca.pem"', "", r"\[tls\]: authority is missing"),
        ('colour = ["red", "blue", 3]', 'colour = "red"', r"\[labels\] colour='red' is not allowed"),
        ('colour = ["red", "blue", 3]', 'colour = ["red", "red"]', "names a label twice"),
        ("colour = 2", "colour = -2", r"\[weights\] colour=-2 is not allowed"),
        ("[settings]\n", "[settings]\na = {b = 1}\n", r"\[settings\] a="),
        ("allow_two_sites = true", "allow_two_sites = 7", "allow_two_sites=7 is not allowed"),
    ],
)
def test_slips_of_a_coordinator(place, old, new, words):
    assert old in COORDINATOR
    (place / "c.toml").write_text(COORDINATOR.replace(old, new))
    with pytest.raises(ParameterError, match=words) as caught:
        read_coordinator(place / "c.toml")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"host.example:8443"', '"host.example:0"', "no port between 1"),
        ('"host.example:8443"', '"https://host:1"', "give host:port"),
        ('site = "north"', 'site = ""', "site '' is not allowed"),
        ("min_sites", "minsites", "did you mean 'min_sites'"),
        ("randomise = 2.5", "randomise = 0", "randomise=0 is out of range"),
        ("[require]", "[[require]]", "is a table"),
        ('"mine.csv"', '""', "labels='' is not allowed"),
    ],
)
def test_slips_of_a_site(place, old, new, words):
    assert old in SITE
    (place / "s.toml").write_text(SITE.replace(old, new))
    with pytest.raises(ParameterError, match=words):
        read_site(place / "s.toml")


def test_files_that_are_no_toml(place):
    (place / "c.toml").write_text("k = = 3")
    with pytest.raises(FileError, match=r"c.toml: is no TOML .*line 1"):
        read_coordinator(place / "c.toml")
    (place / "c.toml").write_bytes(b"\xff")
    with pytest.raises(FileError, match="is no TOML"):
        read_coordinator(place / "c.toml")
    with pytest.raises(FileError, match=r"none.toml: cannot be read"):
        read_site(place / "none.toml")


def test_addresses():
    assert split_address("[::]:8443", "listen") == ("[::]", 8443)
    for wrong in ("::1:8443", "host:", ":1", "host:99999", "a b:1", "host:1x", "unix:/tmp/x"):
        with pytest.raises(ParameterError, match="give host:port"):
            split_address(wrong, "listen")


TERMS = Terms("r", ("a", "b", "c"), "rows", "mm", 3, suppress=5.0, rho=0.5, delta=1e-6)


def test_terms_that_suit():
    check_terms(Require(), TERMS, "a")
    check_terms(
        Require("mm", 3, "rows", "sums", "masked", sites=("c", "b", "a"), min_sites=3, suppress=5.0, max_rho=0.5),
        TERMS,
        "a",
    )


@pytest.mark.parametrize(
    ("require", "changes", "words"),
    [
        (Require(method="qmi"), {}, "site a requires method = qmi, the coordinator offers method = mm; agree"),
        (Require(k=4), {}, "k = 4, the coordinator offers k = 3"),
        (Require(layout="columns"), {}, "layout = columns"),
        (Require(transport="masked"), {"transport": "fixed"}, "transport = masked"),
        (Require(protocol="sums"), {"protocol": "paper"}, "protocol = sums"),
        (Require(word=32), {}, "word = 32"),
        (Require(min_sites=4), {}, "at least 4 sites"),
        (Require(sites=("a", "b")), {}, "the sites a, b"),
        (Require(suppress=6.0), {}, "suppress of at least 6"),
        (Require(max_rho=0.4), {}, "rho of at most 0.4"),
        (Require(max_rho=0.4), {"rho": 0.0}, "offers no noise"),
        (Require(max_delta=1e-7), {}, "delta of at most 1e-07"),
    ],
)
def test_terms_that_do_not(require, changes, words):
    with pytest.raises(FederatedError, match=words):
        check_terms(require, replace(TERMS, **changes), "a")
