"""What outlives a process: exact, whole or not at all, for its owner alone, and held by one coordinator."""

import os
import stat
import subprocess
import sys

import numpy as np
import pytest

from partita.core.errors import FileError
from partita.federated.messages import Share, Terms
from partita.federated.state import Secrets, State
from partita.federated.store import RunLog, load_state, save_state
from tests.federated.wire import same, typed

TERMS = Terms("r1", ("a", "b", "c"), "columns", "mm", 3, params={"levels": (1, 2)}, classes=(("x", 1, 1.0, True),))
SHARE = Share("r1", 4, "keys", "a", {"card": np.arange(5, dtype=np.uint8)}, True)
STATE = State(
    TERMS,
    4,
    b"\x00\xff",
    SHARE,
    Secrets(b"\x01\x02", {"b": b"key", "c": b""}, b"group"),
    {"codes": np.arange(6, dtype=np.int8).reshape(2, 3), "resp": np.eye(2), "known": np.array([True, False])},
    {"last": float("-inf"), "trace": (1.0, 2.5), "word": "é", "none": None, "deep": {"a": (1, (2,))}},
)


def test_a_state_comes_back_as_it_was(tmp_path):
    save_state(tmp_path / "state", STATE)
    found = load_state(tmp_path / "state")
    same(found.terms, TERMS)
    same(found.share, SHARE)
    assert (found.round, found.asked) == (4, b"\x00\xff")
    assert found.secrets == STATE.secrets
    assert typed(dict(found.arrays)) == typed(STATE.arrays)
    assert typed(dict(found.notes)) == typed(STATE.notes)


def test_a_bare_state(tmp_path):
    save_state(tmp_path / "state", State(TERMS))
    found = load_state(tmp_path / "state")
    assert (found.round, found.share, found.secrets, found.arrays, found.notes) == (-1, None, None, {}, {})


def test_no_state(tmp_path):
    assert load_state(tmp_path / "state") is None


def test_a_state_is_for_its_owner_alone(tmp_path):
    before = os.umask(0)
    try:
        save_state(tmp_path / "state", STATE)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_a_failed_write_leaves_the_old_state(tmp_path, monkeypatch):
    save_state(tmp_path / "state", STATE)

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left"):
        save_state(tmp_path / "state", State(TERMS, 9))
    assert load_state(tmp_path / "state").round == 4
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_every_damaged_byte_is_seen(tmp_path):
    path = tmp_path / "state"
    save_state(path, STATE)
    whole = path.read_bytes()
    damaged = [whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :] for at in range(0, len(whole), 7)]
    for held in [*damaged, whole[:-1], whole + b"x", b"", b"x" * 10]:
        path.write_bytes(held)
        with pytest.raises(FileError, match=r"state: is damaged .*; move it away") as caught:
            load_state(path)
        assert "\n" not in str(caught.value)


def test_a_round_is_no_state(tmp_path):
    with RunLog(tmp_path) as log:
        log.append(0, "keys", {}, False)
    with pytest.raises(FileError, match="another kind"):
        load_state(tmp_path / "round-00000000")


def word(*values):
    return {"values": np.array([values], np.uint32)}


def test_rounds_come_back_in_order(tmp_path):
    with RunLog(tmp_path / "new" / "run") as log:
        assert log.terms() is None and log.read() == []
        log.write_terms(TERMS)
        log.append(0, "keys", {"a": {"card": np.arange(3, dtype=np.uint8)}, "b": {}}, False)
        log.append(1, "totals", {"": {"labels": np.arange(3, dtype=np.uint64)}}, True)
    with RunLog(tmp_path / "new" / "run") as log:
        same(log.terms(), TERMS)
        first, second = log.read()
    assert (first.round, first.step, first.over, second.over) == (0, "keys", False, True)
    assert list(first.shares) == ["a", "b"] and first.shares["b"] == {}
    assert np.array_equal(first.shares["a"]["card"], [0, 1, 2])
    assert np.array_equal(second.shares[""]["labels"], [0, 1, 2])


def test_only_the_last_round_and_one_that_ends_all_keep_their_arrays(tmp_path):
    with RunLog(tmp_path) as log:
        log.append(0, "keys", {"": word(1)}, False)
        for place in (1, 2, 3):
            log.append(place, "round", {"": word(place)}, place == 2)
        log.append(4, "close", {}, False)
        entries = log.read()
    assert [list(entry.shares) for entry in entries] == [[""], [""], [""], [""], []]
    assert [list(entry.shares.get("", ())) for entry in entries] == [["values"], [], ["values"], ["values"], []]
    assert [entry.over for entry in entries] == [False, False, True, False, False]
    assert entries[3].shares[""]["values"].tolist() == [[3]]


def test_arrays_are_dropped_also_by_another_process(tmp_path):
    for place in (0, 1, 2):
        with RunLog(tmp_path) as log:
            log.append(place, "round", {"": word(place)}, place == 0)
    with RunLog(tmp_path) as log:
        assert [list(entry.shares[""]) for entry in log.read()] == [["values"], [], ["values"]]


def test_a_round_written_again_takes_the_place_of_the_first(tmp_path):
    with RunLog(tmp_path) as log:
        for value in (1, 2):
            log.append(0, "round", {"": word(value)}, False)
        assert [entry.shares[""]["values"].tolist() for entry in log.read()] == [[[2]]]


def test_a_missing_or_damaged_round_is_named(tmp_path):
    with RunLog(tmp_path) as log:
        for place in range(3):
            log.append(place, "totals", {}, False)
        (tmp_path / "round-00000001").write_bytes(b"")
        with pytest.raises(FileError, match="round-00000001: is damaged"):
            log.read()
        (tmp_path / "round-00000001").unlink()
        with pytest.raises(FileError, match=r"round-00000001: is missing; move .* away and begin a new run"):
            log.read()


def test_one_coordinator_a_folder(tmp_path):
    with RunLog(tmp_path), pytest.raises(FileError, match="another coordinator"):
        RunLog(tmp_path)
    RunLog(tmp_path).close()


def test_a_killed_coordinator_leaves_the_folder_free(tmp_path):
    code = f"import os, pathlib; from partita.federated.store import RunLog; RunLog(pathlib.Path({str(tmp_path)!r})); "
    subprocess.run([sys.executable, "-c", code + "os.kill(os.getpid(), 9)"], check=False)
    RunLog(tmp_path).close()


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot keep a run"):
        RunLog(tmp_path / "file")
