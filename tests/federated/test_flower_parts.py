"""The parts of the Flower app without Flower: sites that keep all they know in files, the coordinator, the launcher."""

import itertools
import json
import tomllib

import pytest

from partita.core.errors import FederatedError, MissingExtraError
from partita.federated import flower, flower_app, flower_run, flower_serve, flower_site
from partita.federated.certs import make_certificates
from partita.federated.flower_carrier import Node
from partita.federated.flower_serve import coordinator, serve
from partita.federated.flower_site import reply
from partita.federated.frames import decode, encode
from partita.federated.messages import Ask, Hello, Refusal, Share, Terms
from partita.federated.store import RunLog, load_state
from partita.version import __version__
from tests.federated.flower_files import SITES, check_labels, files, make_table, rounds_done

MOST = 1 << 28
GREETING = encode(Hello("", __version__, "rows"))


@pytest.fixture(scope="module")
def trust(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trust")
    make_certificates(folder / "trust", SITES)
    return folder / "trust"


class Office:
    """SuperNodes that answer as Flower has them do, from their files alone; a `fatal` round is not heard of."""

    def __init__(self, folder):
        self.since = dict.fromkeys(range(len(SITES)), 0)
        self.folder = folder
        self.letters = {}
        self.number = itertools.count()
        self.fatal = {}

    def nodes(self):
        return [Node(node, f"{since:04d}", SITES[node]) for node, since in self.since.items()]

    def post(self, node, frame):
        letter = str(next(self.number))
        answer = reply(frame, {"site-config": str(self.folder / f"{SITES[node]}.toml")})
        message = decode(frame, MOST)
        if isinstance(message, Ask) and self.fatal.get(message.round) == SITES[node]:
            del self.fatal[message.round]
            self.since[node] += 1
        else:
            self.letters[letter] = answer
        return letter

    def collect(self, letters):
        return {letter: self.letters.pop(letter) for letter in letters if letter in self.letters}


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_the_same_labels_as_in_one_process(tmp_path, trust, layout, monkeypatch):
    """Also where sites die after they have answered and before anybody heard it."""
    monkeypatch.setattr("partita.federated.flower_carrier.POLL", 0.001)
    monkeypatch.setattr(flower_serve.carried, "__defaults__", (0.001,))
    table, folder = make_table(), tmp_path / layout
    config = coordinator(files(folder, trust, table, layout))
    office = Office(folder)
    office.fatal = {0: "north", 4: "east", 6: "south"}
    outcome = serve(config, office)
    assert not office.fatal
    check_labels(folder, table, layout)
    assert outcome.rounds == rounds_done(folder)
    assert json.loads((folder / "run" / "status.json").read_text()) == {"status": "finished", "line": ""}
    told = json.loads((folder / "run" / "outcome.json").read_text())
    assert (told["run"], told["rounds"], told["layout"]) == (outcome.terms.run, outcome.rounds, layout)
    assert (folder / "run" / "model.npz").exists() == (layout == "rows")


def test_a_coordinator_that_fails_goes_on_where_it_stopped(tmp_path, trust, monkeypatch):
    monkeypatch.setattr(flower_serve.carried, "__defaults__", (0.001,))
    table, folder = make_table(), tmp_path / "rows"
    config = coordinator(files(folder, trust, table, "rows"))
    append = RunLog.append

    def failing(self, number, *rest):
        if number == 5:
            raise OSError("no room\nfor round 5")
        append(self, number, *rest)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="no room"):
        patch.setattr(RunLog, "append", failing)
        serve(config, Office(folder))
    status = json.loads((folder / "run" / "status.json").read_text())
    assert status == {"status": "failed", "line": "OSError: no room for round 5"}
    assert rounds_done(folder) == 5
    serve(config, Office(folder))
    check_labels(folder, table, "rows")


def test_what_a_plan_cannot_do_is_noted_and_raised(tmp_path, trust):
    path = files(tmp_path / "rows", trust, make_table(), "rows")
    path.write_text(path.read_text().replace('"mm"', '"cspa"'))
    office = Office(tmp_path / "rows")
    with pytest.raises(ValueError, match="cspa cannot be divided by rows"):
        serve(coordinator(path), office)
    assert next(office.number) == 0, "no site may be asked"
    status = json.loads((tmp_path / "rows" / "run" / "status.json").read_text())
    assert status["status"] == "failed" and status["line"].startswith("cspa cannot be divided by rows")


@pytest.fixture
def north(tmp_path, trust):
    """The settings of a SuperNode, and its site's folder."""
    folder = tmp_path / "rows"
    files(folder, trust, make_table(), "rows")
    return {"site-config": str(folder / "north.toml")}, folder


def terms(run="a"):
    names = tuple(f"c{j}" for j in range(6))
    return Terms(
        run, SITES, "rows", "mm", 3, {"max_iter": 3}, names=names, classes=((0, 1, 2),) * 6, weights=(1.0,) * 6,
        version=__version__,
    )  # fmt: skip


def said(frame):
    return decode(frame, MOST)


def test_a_site_says_who_it_is_and_where_it_stands(north):
    settings, _ = north
    hello = said(reply(GREETING, settings))
    assert (hello.site, hello.layout, hello.run, hello.round) == ("north", "rows", "", -1)
    assert said(reply(encode(terms()), settings)).run == "a"
    assert said(reply(GREETING, settings)).run == "a"


def test_a_state_is_kept_before_a_share_is_sent_and_the_same_ask_gets_the_same_share(north):
    settings, folder = north
    reply(encode(terms()), settings)
    ask = encode(Ask("a", 0, "keys"))
    first = reply(ask, settings)
    assert isinstance(said(first), Share)
    kept = load_state(folder / "north" / "state")
    assert (kept.round, encode(kept.share)) == (0, first)
    assert reply(ask, settings) == first
    assert said(reply(encode(terms()), settings)).round == 0, "the same terms again must not begin the run anew"
    assert reply(ask, settings) == first
    assert said(reply(encode(terms("b")), settings)).run == "b"
    assert "was asked in a" in said(reply(ask, settings)).reason


def test_what_a_site_refuses(north):
    settings, _ = north
    assert "takes part in no run" in said(reply(encode(Ask("a", 0, "keys")), settings)).reason
    assert "not a valid message" in said(reply(b"\0" * 12, settings)).reason
    assert "was sent a Refusal" in said(reply(encode(Refusal("x", "y")), settings)).reason
    assert said(reply(encode(terms()), settings)).run == "a"
    other = said(reply(encode(Terms("c", ("east", "south", "west"), "rows", "mm", 3, version=__version__)), settings))
    assert "north is not among the sites" in other.reason
    assert said(reply(GREETING, settings)).run == "a"
    assert "--node-config 'site-config=" in said(reply(GREETING, {})).reason


def test_a_refusal_shows_nothing_of_a_sites_files(north, caplog):
    """Flower itself would send the text of an error to the coordinator, and with it labels and paths."""
    settings, folder = north
    (folder / "north.csv").write_text("id,c0\nsecret,1\nsecret,2\n")
    refusal = said(reply(GREETING, settings))
    assert (refusal.site, refusal.reason) == ("north", "TableError at the site; the log of its SuperNode says more")
    assert "secret" in caplog.text
    text = (folder / "north.toml").read_text()
    (folder / "north.toml").write_text(text.replace("north.pem", "south.pem"))
    refusal = said(reply(GREETING, settings))
    assert refusal.reason == "its certificate cannot be used; the log of its SuperNode says why"
    missing = said(reply(GREETING, {"site-config": str(folder / "none.toml")}))
    assert (missing.site, missing.reason) == ("", "FileError at the site; the log of its SuperNode says more")


def test_a_site_does_not_go_on_with_other_labels(north, caplog):
    settings, folder = north
    reply(encode(terms()), settings)
    (folder / "north.csv").write_bytes((folder / "south.csv").read_bytes())
    assert said(reply(GREETING, settings)).reason.startswith("FileError at the site")
    assert "other labels than when run a began" in caplog.text


def test_a_folder_in_use_is_waited_for(north, monkeypatch):
    settings, folder = north
    monkeypatch.setattr(flower_site, "BUSY", 0.3)
    with flower_site.holding(folder / "north", "stop it"):
        assert said(reply(GREETING, settings)).reason.startswith("FileError at the site")
    assert isinstance(said(reply(GREETING, settings)), Hello)


@pytest.mark.parametrize(
    ("code", "final", "crash"),
    [
        *[(code, False, True) for code in (0, 8, 99)],
        *[(code, True, False) for code in (1, 2, 6, 7)],
        *[(code, False, False) for code in (3, 4, 5)],
    ],
)
def test_what_errors_of_flower_mean(code, final, crash):
    found = flower.lost(code, "a\nreason")
    assert (found.final, found.crash) == (final, crash) and "\n" not in found.reason


def test_without_flower_it_is_said_how_to_get_it(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(flower, "import_module", missing)
    for name in flower_app.__all__:
        with pytest.raises(MissingExtraError, match=r"partita\[flower\]"):
            getattr(flower_app, name)
    monkeypatch.setattr(flower_run.shutil, "which", lambda *_, **__: None)
    with pytest.raises(MissingExtraError, match=r"partita\[flower\]"):
        flower_run.run_flower("app", "trial")


def test_the_app_is_one_file_without_code(tmp_path):
    odd = tmp_path / 'a "quoted" \\ place \x7f'
    odd.mkdir()
    flower_run.write_app(tmp_path / "app", odd / "coordinator.toml")
    assert [path.name for path in (tmp_path / "app").iterdir()] == ["pyproject.toml"]
    held = tomllib.loads((tmp_path / "app" / "pyproject.toml").read_text())
    assert held["tool"]["flwr"]["app"]["config"] == {"coordinator": str(odd / "coordinator.toml")}
    for reference in held["tool"]["flwr"]["app"]["components"].values():
        module, name = reference.split(":")
        assert module == flower_app.__name__ and name in flower_app.__all__
    assert held["project"]["dependencies"] == []


def script(folder, *answers):
    """A `flwr` that gives these answers in turn and keeps what it was asked in which environment."""
    path = folder / "flwr"
    for number, (code, text) in enumerate(answers):
        (folder / f"{number}.out").write_text(text)
        (folder / f"{number}.code").write_text(str(code))
    path.write_text(
        '#!/bin/sh\ncd "$(dirname "$0")"\nn=$(ls | grep -c asked); echo "$@" > "asked-$n"\n'
        'env | grep FLWR > "env-$n"\ncat "$n.out"; exit "$(cat "$n.code")"\n'
    )
    path.chmod(0o755)
    return path


RUNNING = json.dumps({"success": True, "runs": [{"status": "running", "status-details": ""}]})
STARTED = (0, 'some words\n{"success": true, "run-id": "7"}')
COMPLETED = json.dumps({"success": True, "runs": [{"status": "finished:completed", "status-details": ""}]})


def ended(details, status="finished:failed"):
    return 0, json.dumps({"success": True, "runs": [{"status": status, "status-details": details}]})


def test_a_run_is_followed_to_its_end(tmp_path, monkeypatch):
    flwr = script(tmp_path, STARTED, (0, RUNNING), (0, COMPLETED))
    monkeypatch.setattr(flower_run.shutil, "which", lambda *_, **__: str(flwr))
    monkeypatch.setattr(flower_run, "PAUSE", 0.01)
    assert flower_run.run_flower("app", "trial") == "7"
    assert (tmp_path / "asked-0").read_text() == "run app trial --stream --format json\n"
    assert (tmp_path / "asked-2").read_text() == "list trial --run-id 7 --format json\n"
    kept = (tmp_path / "env-0").read_text().splitlines()
    assert {"FLWR_TELEMETRY_ENABLED=0", "FLWR_DISABLE_UPDATE_CHECK=1"} <= set(kept)


@pytest.mark.parametrize(
    ("answers", "line"),
    [
        ([STARTED, ended("ServerApp failed with exception: site north: it hurts")], "^site north: it hurts$"),
        ([STARTED, ended("", "finished:stopped")], "run 7 on SuperLink 'trial': finished:stopped"),
        ([STARTED, ended("Task failed.")], "^Task failed.$"),
        ([(0, "no json at all")], "flwr run ended with 0: no json at all"),
        (
            [(1, '{"success": false, "error-message": "no such\\nSuperLink"}')],
            "flwr run ended with 1: no such SuperLink",
        ),
        ([(0, '{"success": true}')], "did not start the run"),
        ([STARTED, (1, "")], "flwr list ended with 1: nothing said"),
    ],
)
def test_what_went_wrong_is_told_whatever_flwr_run_says(tmp_path, monkeypatch, answers, line):
    flwr = script(tmp_path, *answers)
    monkeypatch.setattr(flower_run.shutil, "which", lambda *_, **__: str(flwr))
    with pytest.raises(FederatedError, match=line):
        flower_run.run_flower("app", "trial")


def test_the_launcher_ends_with_1_and_one_line(monkeypatch, capsys):
    def fail(app, superlink):
        raise FederatedError("site north: it hurts")

    monkeypatch.setattr(flower_run, "run_flower", fail)
    monkeypatch.setattr(flower_run.sys, "argv", ["flower_run", "coordinator.toml", "trial"])
    with pytest.raises(SystemExit) as stop:
        flower_run.main()
    assert stop.value.code == "partita: site north: it hurts"
    monkeypatch.setattr(flower_run.sys, "argv", ["flower_run"])
    with pytest.raises(SystemExit, match="usage"):
        flower_run.main()
