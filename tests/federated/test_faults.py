"""Whole runs over loopback with mutual TLS: one coordinator and three sites, left in peace and disturbed."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from partita import io, load_model
from partita.core.errors import FederatedError, FileError, PartitaError
from partita.federated import grpc_site
from partita.federated import site as site_module
from partita.federated.certs import make_certificates
from partita.federated.config import CoordinatorConfig, Require, SiteConfig, Tls
from partita.federated.coordinate import Plan
from partita.federated.desk import AwayError, Hooks
from partita.federated.grpc_server import serve
from partita.federated.grpc_site import UnreachableError, take_part
from partita.federated.simulate import simulate
from partita.federated.store import RunLog, load_state

pytest.importorskip("grpc")
SITES = ("north", "south", "west")
N, K = 2000, 4
LONG = {"tol": 0.0, "max_iter": 60}
GATE = 20
"""The round after which a coordinator that starts in a folder with a file `closed` waits until the file is gone."""
GATED = f"""
import pathlib, sys, time
from partita.federated.store import RunLog
from partita.cli.main import main
append = RunLog.append
def append_and_wait(self, round, *rest):
    append(self, round, *rest)
    while round >= {GATE} and pathlib.Path("closed").exists():
        time.sleep(0.001)
RunLog.append = append_and_wait
sys.exit(main())
"""


def table(n=N, clusterings=9, seed=0):
    """Noisy copies of one clustering, as texts."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=n)
    noisy = [
        np.where(rng.random(n) < 0.5, rng.permutation(K)[truth], rng.integers(K, size=n)) for _ in range(clusterings)
    ]
    return np.array([[f"L{label}" for label in column] for column in noisy]).T


def put(path, labels, rows, columns):
    lines = [",".join(["id", *(f"c{j}" for j in columns)])]
    lines += [",".join([f"p{i:05d}", *labels[i, columns]]) for i in rows]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Label files of every site, divided both ways, and certificates."""
    place = tmp_path_factory.mktemp("parties")
    make_certificates(place / "certs", SITES)
    rng = np.random.default_rng(1)
    for name, n in (("", N), ("small-", 120)):
        labels = table(n)
        put(place / f"{name}all.csv", labels, range(n), range(9))
        for site, rows in zip(SITES, np.array_split(rng.permutation(n), 3), strict=True):
            put(place / f"{name}rows-{site}.csv", labels, rows, range(9))
        for site, columns in zip(SITES, np.array_split(np.arange(9), 3), strict=True):
            put(place / f"{name}columns-{site}.csv", labels, rng.permutation(n), columns)
    return place


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


# real processes


class Parties:
    """The processes of one run, as a shell would start them."""

    def __init__(self, made, folder, layout, method, settings):
        self.made, self.folder, self.layout = made, folder, layout
        port, self.running = free_port(), {}
        lines = [
            f'listen = "127.0.0.1:{port}"',
            f"sites = {list(SITES)}",
            f'layout = "{layout}"',
            f'method = "{method}"',
        ]
        lines += [f"k = {K}", 'folder = "run"', "patience = 120", "[settings]"]
        lines += [f"{name} = {value}" for name, value in settings.items()]
        (folder / "coordinator.toml").write_text("\n".join([*lines, *self.tls("coordinator")]))
        for site in SITES:
            lines = [f'site = "{site}"', f'coordinator = "localhost:{port}"', f'layout = "{layout}"', 'ids = "id"']
            lines += [f'state = "state-{site}"', f'output = "{site}.csv"', "patience = 120", *self.tls(site)]
            lines += ["[require]", f"k = {K}", 'transport = "masked"', "min_sites = 3"]
            (folder / f"{site}.toml").write_text("\n".join(lines))

    def tls(self, name):
        certs = self.made / "certs"
        return [
            "[tls]",
            f'authority = "{certs / "ca.pem"}"',
            f'certificate = "{certs / name}.pem"',
            f'key = "{certs / name}.key"',
        ]

    def start(self, *names):
        for name in names:
            words = ["coordinator", "--json"] if name == "coordinator" else ["site"]
            if name != "coordinator":
                words += ["--labels", str(self.made / f"{self.layout}-{name}.csv"), "--id", "id"]
            with (self.folder / f"{name}.err").open("ab") as err, (self.folder / f"{name}.out").open("wb") as out:
                gated = name == "coordinator" and (self.folder / "closed").exists()
                program = ["-c", GATED] if gated else ["-m", "partita"]
                command = [sys.executable, *program, "federate", *words, "--config", f"{name}.toml"]
                self.running[name] = subprocess.Popen(command, cwd=self.folder, stdout=out, stderr=err)

    def start_and_wait_at_gate(self):
        """Start everybody; the run has finished round `GATE` and cannot go on before `open_gate`."""
        (self.folder / "closed").touch()
        self.start("coordinator", *SITES)
        until(lambda: finished_rounds(self) > GATE)

    def open_gate(self):
        (self.folder / "closed").unlink()

    def kill(self, name):
        self.running[name].send_signal(signal.SIGKILL)
        assert self.running[name].wait(10) == -signal.SIGKILL

    def wait(self, seconds=120):
        until = time.monotonic() + seconds
        codes = {name: process.wait(max(until - time.monotonic(), 0.1)) for name, process in self.running.items()}
        said = {name: (self.folder / f"{name}.err").read_text() for name in codes}
        assert set(codes.values()) == {0}, (codes, said)
        assert not any("Traceback" in text for text in said.values())
        return json.loads((self.folder / "coordinator.out").read_text())

    def ended(self, *names):
        """Those of them that run no more: how they ended and what they said."""
        codes = {name: self.running[name].poll() for name in names}
        return {
            name: (code, (self.folder / f"{name}.err").read_text()) for name, code in codes.items() if code is not None
        }

    def results(self):
        return {site: (self.folder / f"{site}.csv").read_bytes() for site in SITES}

    def stop(self):
        for process in self.running.values():
            if process.poll() is None:
                process.kill()
                process.wait()


@pytest.fixture
def parties(made, tmp_path, request):
    started = []

    def start(layout, method, settings=LONG):
        folder = tmp_path / f"{layout}-{len(started)}"
        folder.mkdir()
        started.append(Parties(made, folder, layout, method, settings))
        return started[-1]

    yield start
    for each in started:
        each.stop()


def until(condition, seconds=100.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.001)


def finished_rounds(run):
    return len(list((run.folder / "run").glob("round-*")))


@pytest.fixture(scope="module")
def undisturbed(made, tmp_path_factory):
    """What runs come to that nobody disturbs."""
    found = {}

    def get(layout, method):
        if (layout, method) not in found:
            folder = tmp_path_factory.mktemp("undisturbed")
            run = Parties(made, folder, layout, method, LONG)
            try:
                run.start("coordinator", *SITES)
                found[layout, method] = run.wait(), run.results()
            finally:
                run.stop()
        return found[layout, method]

    return get


def labels_by_id(results):
    """The consensus of each object, from the files of all sites."""
    found = {}
    for held in results.values():
        for line in held.decode().splitlines()[1:]:
            name, label = line.split(",")[:2]
            found.setdefault(name, label)
            assert found[name] == label, "sites disagree"
    return found


def check_same(run, undisturbed):
    """The run came to what one left in peace comes to, to the byte."""
    assert run.results() == undisturbed(run.layout, "bce-vb")[1]


@pytest.mark.parametrize("layout", ["rows", pytest.param("columns", marks=pytest.mark.slow)])
def test_one_coordinator_and_three_sites(made, undisturbed, layout):
    said, results = undisturbed(layout, "bce-vb")
    print(f"\n{layout}: {said['rounds']} rounds, median {1000 * said['median seconds a round']:.1f} ms")
    assert said["rounds"] > 60
    assert said["median seconds a round"] < 0.1
    found = labels_by_id(results)
    assert len(found) == N
    ensemble = io.read(str(made / "all.csv"), io.ReadOptions(ids="id"))
    alone = simulate(ensemble, Plan((), layout, "bce-vb", K, LONG, seed=0), **{layout: 3}).consensus
    ours = [found[name] for name in alone.ids.tolist()]
    pairs = set(zip(ours, alone.labels.tolist(), strict=True))
    assert len(pairs) == K, "the simulation comes to the same clusters under other numbers"


@pytest.mark.parametrize("layout", ["rows", pytest.param("columns", marks=pytest.mark.slow)])
@pytest.mark.parametrize("victim", ["north", pytest.param("west", marks=pytest.mark.slow)])
def test_a_site_killed_in_the_middle_returns(parties, undisturbed, layout, victim):
    run = parties(layout, "bce-vb")
    run.start_and_wait_at_gate()
    path = run.folder / f"state-{victim}" / "state"
    assert load_state(path).round >= 15
    run.kill(victim)
    run.open_gate()
    assert load_state(path).share.step != "close" and finished_rounds(run) < 60
    time.sleep(0.3)
    stood = finished_rounds(run)
    time.sleep(0.3)
    assert finished_rounds(run) == stood, "nothing goes on without it"
    run.start(victim)
    run.wait()
    check_same(run, undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_a_coordinator_killed_in_the_middle_returns(parties, undisturbed, layout):
    run = parties(layout, "bce-vb")
    run.start("coordinator", *SITES)
    until(lambda: finished_rounds(run) >= 15)
    run.kill("coordinator")
    assert finished_rounds(run) < 60
    time.sleep(0.5)
    assert run.ended(*SITES) == {}, "sites wait for it"
    run.start("coordinator")
    run.wait()
    check_same(run, undisturbed)
    assert "goes on at round" in (run.folder / "coordinator.err").read_text()


@pytest.mark.slow
def test_everybody_killed_at_once_returns(parties, undisturbed):
    run = parties("columns", "bce-vb")
    run.start("coordinator", *SITES)
    until(lambda: finished_rounds(run) >= 15)
    for name in ("coordinator", *SITES):
        run.kill(name)
    assert finished_rounds(run) < 60
    run.start(*SITES, "coordinator")
    run.wait()
    check_same(run, undisturbed)


def test_ctrl_c_keeps_the_state_and_says_how_to_go_on(parties, undisturbed):
    run = parties("rows", "bce-vb")
    run.start("coordinator", *SITES)
    until(lambda: finished_rounds(run) >= 15)
    for name in ("south", "coordinator"):
        run.running[name].send_signal(signal.SIGINT)
        assert run.running[name].wait(20) == 130
    assert "its state is kept in state-south; the same command goes on" in (run.folder / "south.err").read_text()
    assert "finished rounds are kept in run; the same command goes on" in (run.folder / "coordinator.err").read_text()
    run.start("coordinator", "south")
    run.wait()
    check_same(run, undisturbed)


# all parties as threads of this process, on small tables


class Told:
    def __init__(self):
        self.lines = []
        self.hooks = Hooks(self.lines.append)


class Background(threading.Thread):
    def __init__(self, act):
        super().__init__(daemon=True)
        self.act, self.found, self.error = act, None, None
        self.start()

    def run(self):
        try:
            self.found = self.act()
        except PartitaError as error:
            self.error = error

    def get(self, seconds=60):
        self.join(seconds)
        assert not self.is_alive(), "still at work"
        if self.error is not None:
            raise self.error
        return self.found


class Small:
    """Configurations of a small run, to be changed before it starts."""

    def __init__(self, made, folder, layout="rows"):
        certs, port = made / "certs", free_port()

        def tls(name):
            return Tls(certs / "ca.pem", certs / f"{name}.pem", certs / f"{name}.key")

        self.told = {name: Told() for name in ("coordinator", *SITES)}
        self.coordinator = CoordinatorConfig(
            SITES, layout, "mm", tls("coordinator"), f"127.0.0.1:{port}", K, patience=20.0, folder=folder / "run"
        )
        self.sites = {
            site: SiteConfig(
                site,
                f"127.0.0.1:{port}",
                layout,
                made / f"small-{layout}-{site}.csv",
                tls(site),
                "id",
                state=folder / f"state-{site}",
                output=folder / f"{site}.csv",
                patience=20.0,
            )
            for site in SITES
        }

    def change(self, name, **changes):
        if name == "coordinator":
            self.coordinator = replace(self.coordinator, **changes)
        else:
            self.sites[name] = replace(self.sites[name], **changes)

    def start(self, *names):
        found = {}
        for name in names or ("coordinator", *SITES):
            hooks = self.told[name].hooks
            if name == "coordinator":
                found[name] = Background(lambda hooks=hooks: serve(self.coordinator, hooks))
            else:
                found[name] = Background(lambda name=name, hooks=hooks: take_part(self.sites[name], hooks))
        return found


@pytest.fixture
def small(made, tmp_path):
    return Small(made, tmp_path)


def refusing(run, words, names=("coordinator", *SITES)):
    """All these parties stop with the same reason, in one line."""
    for name in names:
        with pytest.raises(FederatedError, match=words) as caught:
            run[name].get()
        assert "\n" not in str(caught.value)


def test_a_run_by_the_library(small):
    run = small.start()
    outcome = run["coordinator"].get()
    results = {site: run[site].get() for site in SITES}
    assert all(result.terms.run == outcome.terms.run for result in results.values())
    assert sum(len(result.labels) for result in results.values()) == 120
    for site, result in results.items():
        lines = small.sites[site].output.read_text().splitlines()[1:]
        assert [int(line.split(",")[1]) for line in lines] == result.labels.tolist()
    model = load_model(small.coordinator.folder / "model.npz")
    table = io.read(str(small.sites["north"].labels), io.ReadOptions(ids="id"))
    assert np.array_equal(model.predict(table), results["north"].labels)


def test_a_late_site_is_waited_for(small):
    run = small.start("coordinator", "north", "west")
    time.sleep(1.0)
    assert all(party.is_alive() for party in run.values())
    run |= small.start("south")
    for party in run.values():
        party.get()


def test_a_site_that_stays_away_is_named_and_the_same_command_goes_on(small):
    small.change("coordinator", patience=0.5)
    with pytest.raises(AwayError, match=r"site north has not come and was not heard of for 0.5 s; .* same command"):
        small.start("coordinator")["coordinator"].get()
    small.change("coordinator", patience=20.0)
    for party in small.start().values():
        party.get()


def test_a_site_that_dies_and_stays_away_is_named(small, monkeypatch):
    """The coordinator stops, the checkpoint stays; then all go on and finish."""
    whole = grpc_site.save_state
    stop = threading.Event()

    def dying(path, state):
        whole(path, state)
        if state.round == 4 and "south" in str(path) and not stop.is_set():
            stop.set()
            raise FileError("killed")

    monkeypatch.setattr(grpc_site, "save_state", dying)
    small.change("coordinator", patience=1.0)
    run = small.start()
    with pytest.raises(AwayError, match=r"site south has not answered round 4 \(.*\) and was not heard of for 1 s"):
        run["coordinator"].get()
    assert len(list(small.coordinator.folder.glob("round-*"))) == 4
    small.change("coordinator", patience=20.0)
    again = small.start("coordinator", "south")
    assert again["coordinator"].get().terms.run
    for party in (again["south"], run["north"], run["west"]):
        party.get()


def test_a_coordinator_that_dies_before_the_first_round_goes_on_with_the_same_run(small, monkeypatch):
    """Sites that have answered already need not be started again."""
    first = small.start("coordinator", "north", "south")
    with RunLogPatched(monkeypatch):
        first |= small.start("west")
        with pytest.raises(AwayError, match="killed"):
            first["coordinator"].get()
    with RunLog(small.coordinator.folder) as log:
        terms = log.terms()
        assert log.read() == []
    again = small.start("coordinator")
    assert again["coordinator"].get().terms == terms
    assert all(first[site].get().terms == terms for site in SITES)


class RunLogPatched:
    """A coordinator that dies when it would keep its first round."""

    def __init__(self, monkeypatch):
        self.monkeypatch = monkeypatch

    def __enter__(self):
        def dying(*_):
            raise AwayError("killed")

        self.monkeypatch.setattr(RunLog, "append", dying)

    def __exit__(self, *_):
        self.monkeypatch.undo()


def test_a_complete_run_is_told_again(small):
    first = small.start()
    outcome = first["coordinator"].get()
    for site in SITES:
        first[site].get()
        small.sites[site].output.unlink()
    again = small.start()
    assert again["coordinator"].get().terms == outcome.terms
    for site in SITES:
        assert np.array_equal(again[site].get().labels, first[site].found.labels)
        assert small.sites[site].output.exists()
    assert any("is complete; give another folder" in line for line in small.told["coordinator"].lines)


def test_a_finished_site_has_its_result_though_nobody_answers(small):
    first = small.start()
    for party in first.values():
        party.get()
    small.sites["north"].output.unlink()
    small.change("north", patience=0.3)
    again = small.start("north")["north"].get()
    assert np.array_equal(again.labels, first["north"].found.labels)
    assert small.sites["north"].output.exists()


def test_sites_begin_anew_with_a_new_run(small, tmp_path):
    for party in small.start().values():
        party.get()
    small.change("coordinator", folder=tmp_path / "other", k=3)
    run = small.start()
    assert run["coordinator"].get().terms.k == 3
    assert all(run[site].get().terms.k == 3 for site in SITES)


def test_another_version_is_refused(small, monkeypatch):
    ours = site_module.hello

    def older(local, layout, state=None):
        hello = ours(local, layout, state)
        return replace(hello, version="0.0.1") if local.name == "south" else hello

    monkeypatch.setattr(site_module, "hello", older)
    small.change("coordinator", patience=1.0)
    run = small.start()
    refusing(run, r"site south has partita 0.0.1, the coordinator .*; install the same everywhere", ("south",))
    with pytest.raises(AwayError, match="site south has not come"):
        run["coordinator"].get()
    assert any(line.startswith("refused: site south has partita 0.0.1") for line in small.told["coordinator"].lines)


def test_another_layout_is_refused(small):
    small.change("coordinator", patience=1.0)
    small.change("west", layout="columns")
    run = small.start()
    refusing(run, "site west comes with columns, this run divides rows", ("west",))
    with pytest.raises(AwayError, match="site west"):
        run["coordinator"].get()


@pytest.mark.parametrize(
    ("require", "words"),
    [
        (Require(k=5), "site west requires k = 5, the coordinator offers k = 4"),
        (Require(method="bce-vb"), "site west requires method = bce-vb"),
        (Require(suppress=3.0), "site west requires suppress of at least 3"),
        (Require(max_rho=0.1), "site west requires noise"),
    ],
)
def test_terms_that_a_site_does_not_accept_stop_the_run_everywhere(small, require, words):
    small.change("west", require=require)
    refusing(small.start(), words)


def test_other_clusterings_stop_the_run_everywhere(small):
    small.change("south", exclude=("c3",))
    refusing(small.start(), "site north has a clustering 'c3', site south has not")


def test_other_ids_stop_the_run_everywhere(made, tmp_path):
    small = Small(made, tmp_path, "columns")
    held = small.sites["south"].labels.read_text()
    (tmp_path / "south-labels.csv").write_text(held.replace("p0", "q0"))
    small.change("south", labels=tmp_path / "south-labels.csv")
    refusing(small.start(), r"site (north|south|west) shares 0 of its 120 ids|no object is known at every site")


def test_missing_ids_stop_the_run_everywhere(made, tmp_path):
    small = Small(made, tmp_path, "columns")
    small.change("south", ids=None, exclude=("id",))
    refusing(small.start(), "site south has no ids")


def test_columns_whose_objects_differ_are_matched(made, tmp_path):
    small = Small(made, tmp_path, "columns")
    lines = small.sites["south"].labels.read_text().splitlines()
    (tmp_path / "south-labels.csv").write_text("\n".join(lines[:101]) + "\n")
    small.change("south", labels=tmp_path / "south-labels.csv")
    run = small.start()
    outcome = run["coordinator"].get()
    assert any("100 objects agreed on: north 100 of its 120, south 100 of its 100" in note for note in outcome.notes)
    for site in SITES:
        assert np.count_nonzero(run[site].get().labels >= 0) == 100


def test_other_labels_than_before_are_refused(small, monkeypatch, tmp_path):
    whole = grpc_site.save_state

    def dying(path, state):
        whole(path, state)
        if state.round == 4 and "south" in str(path):
            raise FileError("killed")

    monkeypatch.setattr(grpc_site, "save_state", dying)
    small.change("coordinator", patience=1.0)
    run = small.start()
    with pytest.raises(AwayError):
        run["coordinator"].get()
    held = small.sites["south"].labels.read_text().splitlines()
    (tmp_path / "changed.csv").write_text("\n".join(held[:-1]) + "\n")
    small.change("south", labels=tmp_path / "changed.csv")
    with pytest.raises(FileError, match=r"changed.csv: holds other labels than when run .* began"):
        take_part(small.sites["south"])
    small.change("coordinator", k=5)
    with pytest.raises(FederatedError, match=r"holds a run with k = 4, asked for is 5; finish it as it was"):
        serve(small.coordinator)
    small.change("coordinator", k=K, settings={"tol": 0.1})
    with pytest.raises(FederatedError, match=r"holds a run with tol = .*, asked for is 0.1"):
        serve(small.coordinator)


def test_another_sites_state_and_certificate_are_refused(small):
    for party in small.start().values():
        party.get()
    small.change("north", state=small.sites["south"].state)
    with pytest.raises(FileError, match="holds the state of site south"):
        take_part(small.sites["north"])
    small.change("west", tls=small.sites["south"].tls)
    with pytest.raises(FederatedError, match=r"south.pem: is made out to south, not to west"):
        take_part(small.sites["west"])


def test_two_processes_do_not_share_a_folder(small):
    with RunLog(small.coordinator.folder), pytest.raises(FileError, match="another coordinator"):
        serve(small.coordinator)
    with grpc_site.holding(small.sites["north"].state, ""), pytest.raises(FileError, match="another process of this"):
        take_part(small.sites["north"])


def test_certificates_are_checked_before_the_first_call(small, made, tmp_path):
    make_certificates(tmp_path / "other", SITES)
    right, other = small.sites["north"].tls, tmp_path / "other"
    for tls, words in (
        (replace(right, authority=other / "ca.pem"), "was not issued by"),
        (replace(right, key=other / "north.key"), "is not the key of"),
        (replace(right, key=made / "rows-north.csv"), "is no PEM file"),
        (replace(right, certificate=tmp_path / "none.pem"), "cannot be read"),
    ):
        small.change("north", tls=tls)
        with pytest.raises((FederatedError, FileError), match=words):
            take_part(small.sites["north"])


def test_a_site_without_a_valid_certificate_gets_nothing(small, tmp_path, made, monkeypatch):
    """One that skips the check of its own files is refused by the coordinator itself."""
    make_certificates(tmp_path / "other", SITES)
    monkeypatch.setattr(grpc_site, "check_tls", lambda tls, name: None)
    foreign = Tls(made / "certs" / "ca.pem", tmp_path / "other" / "north.pem", tmp_path / "other" / "north.key")
    right = small.sites["north"]
    small.change("north", tls=foreign, patience=1.0)
    run = small.start()
    with pytest.raises((UnreachableError, FederatedError), match="certificate"):
        run["north"].get()
    small.sites["north"] = right
    for party in [run["coordinator"], run["south"], run["west"], small.start("north")["north"]]:
        party.get()


def test_what_a_site_draws_by_lot_stays_the_same(small):
    """Else a site that restarts would randomise its labels anew, and several answers betray them."""
    small.sites["north"].state.mkdir()
    first, second = (grpc_site.local_of(small.sites["north"], Hooks()).entropy for _ in range(2))
    assert first == second
    assert (small.sites["north"].state / "entropy").stat().st_mode & 0o777 == 0o600
    small.sites["south"].state.mkdir()
    assert grpc_site.local_of(small.sites["south"], Hooks()).entropy != first
