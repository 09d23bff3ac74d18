"""Runs over Flower itself: a SuperLink and three SuperNodes on loopback, with TLS and registered keys."""

import json
import os
import subprocess
import sys
import sysconfig
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from partita.federated.flower_run import run_flower, write_app
from tests.federated.flower_files import SITES, check_labels, files, make_table, rounds_done
from tests.federated.flower_net import NAME, make_key, network

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("flwr") is None, reason='Flower is not installed (pip install "partita[flower]")'),
]

TIME = 1500.0


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flower")
    with network(folder, SITES) as found:
        os.environ["FLWR_HOME"] = found.environment["FLWR_HOME"]
        for site in SITES:
            found.register(site)
        try:
            yield found
        finally:
            del os.environ["FLWR_HOME"]


@pytest.fixture(scope="module")
def table():
    return make_table()


def started(app):
    """A run in the background and what it came to."""
    said = []

    def go():
        try:
            said.append(run_flower(app, NAME, TIME))
        except Exception as error:
            said.append(error)

    thread = threading.Thread(target=go)
    thread.start()
    return thread, said


def wait_for(condition, what, seconds=TIME):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.2)


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_the_same_labels_as_in_one_process_though_a_site_dies(net, table, tmp_path, layout):
    folder = tmp_path / layout
    path = files(folder, net.folder / "trust", table, layout)
    for site in SITES:
        net.node(site, folder / f"{site}.toml")
    thread, said = started(write_app(folder / "app", path))
    try:
        wait_for(lambda: said or rounds_done(folder) >= 4, "four rounds")
        assert not said, said
        net.kill("north")
        done = rounds_done(folder)
        net.revive("north", folder / "north.toml")
        thread.join(TIME)
    finally:
        for site in SITES:
            net.end(site)
    assert len(said) == 1 and isinstance(said[0], str), said
    check_labels(folder, table, layout)
    assert done < rounds_done(folder)
    assert json.loads((folder / "run" / "status.json").read_text()) == {"status": "finished", "line": ""}
    outcome = json.loads((folder / "run" / "outcome.json").read_text())
    assert (outcome["layout"], outcome["rounds"]) == (layout, rounds_done(folder))
    assert (folder / "run" / "model.npz").exists() == (layout == "rows")


def launched(path):
    """What a user sees who starts a run."""
    words = [sys.executable, "-W", "ignore", "-m", "partita.federated.flower_run", str(path), NAME]
    return subprocess.run(words, capture_output=True, text=True, timeout=TIME)


def test_a_coordinator_that_fails_is_told_though_flower_ends_well(net, table, tmp_path):
    path = files(tmp_path / "rows", net.folder / "trust", table, "rows")
    path.write_text(path.read_text().replace('"mm"', '"cspa"'))
    app = write_app(tmp_path / "app", path)
    flwr = Path(sysconfig.get_path("scripts")) / "flwr"
    plain = subprocess.run([flwr, "run", app, NAME, "--stream"], env=net.environment, capture_output=True, timeout=TIME)
    assert plain.returncode == 0
    told = launched(path)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith("partita: cspa cannot be divided by rows") and told.stderr.count("\n") == 1
    status = json.loads((tmp_path / "rows" / "run" / "status.json").read_text())
    assert status["status"] == "failed" and status["line"].startswith("cspa cannot be divided by rows")
    nowhere = launched(tmp_path / "nowhere.toml")
    assert nowhere.returncode == 1 and "nowhere.toml" in nowhere.stderr


def test_a_site_that_does_not_agree_stops_the_run_and_shows_nothing(net, table, tmp_path):
    folder = tmp_path / "rows"
    path = files(folder, net.folder / "trust", table, "rows")
    (folder / "south.toml").write_text((folder / "south.toml").read_text() + '[require]\nmethod = "bce-vb"\n')
    (folder / "north.csv").write_text("id,c0\na secret,another secret\na secret,1\n")
    try:
        for site in ("east", "south"):
            net.node(site, folder / f"{site}.toml")
        false = (folder / "east.toml").read_text().replace('state = "east"', 'state = "impostor"')
        (folder / "impostor.toml").write_text(false)
        net.node("north", folder / "impostor.toml")
        assert "SuperNode 'north' says that it is site 'east'" in launched(path).stderr
        net.end("north")
        net.node("north", folder / "north.toml")
        told = launched(path)
        assert (told.returncode, told.stderr) == (
            1,
            "partita: site north cannot take part: TableError at the site; the log of its SuperNode says more\n",
        )
        assert "a secret" in net.log("north") and "a secret" not in net.log("superlink")
        files(folder / "again", net.folder / "trust", table, "rows")
        (folder / "north.csv").write_bytes((folder / "again" / "north.csv").read_bytes())
        told = launched(path)
        assert told.returncode == 1 and "site south requires method = bce-vb" in told.stderr
    finally:
        for site in SITES:
            net.end(site)


def test_a_supernode_with_an_unknown_key_is_refused(net, tmp_path):
    make_key(net.folder, "mallory")
    process = net.node("mallory", tmp_path / "mallory.toml")
    assert process.wait(60) != 0
    assert "Exit Code: 305" in net.log("mallory")
    assert "No SuperNode found with the given public key" in net.log("superlink")
