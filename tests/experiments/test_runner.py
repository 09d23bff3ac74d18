"""The runner: seeds by place, any number of workers, nothing finished is lost, nothing that fails ends a run."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from partita.core.errors import FileError, ParameterError
from partita.core.progress import reporting
from partita.core.records import Absence, Failure
from partita.core.rng import keyed
from partita.datasets.catalogue import entry_of
from partita.datasets.folder import COPIES
from partita.experiments.measuring import measure
from partita.experiments.runner import RECORDS, choose, run
from partita.experiments.store import Store, read_records
from partita.experiments.units import Settings, Unit, sources_of, stamp, units_of
from partita.io.holding import holding
from partita.version import __version__
from tests.experiments import fake_paper

FAKE = "tests.experiments.fake_paper"
ROOT = Path(__file__).parents[2]


def fake(*exhibits):
    return choose([FAKE], exhibits)


def values(results):
    """What must not depend on anything but the seed: no times."""
    return [(r.exhibit, r.row, r.column, r.draw, r.value) for r in results.records]


def same(first, second):
    """Equal, NaN for NaN."""
    assert [each[:4] for each in first] == [each[:4] for each in second]
    np.testing.assert_array_equal([each[4] for each in first], [each[4] for each in second])


def test_a_unit_draws_from_its_own_place():
    unit = Unit(FAKE, "fake", "table-1", "wine", 3)
    shared = keyed(5, "fake", "table-1", "wine", 3)
    level, noise = shared.normal(0.8, 0.05), shared.normal(0, 0.01, 3)
    found = measure(unit, Settings(seed=5)).values
    assert found == {"a": level + noise[0], "b": level + 0.05 + noise[1], "c": level - 0.3 + noise[2]}
    places = [unit, unit._replace(draw=4), unit._replace(row="iris")]
    assert len({measure(each, Settings(seed=5)).values["a"] for each in places}) == 3
    assert measure(unit, Settings(seed=6)).values != found


def test_workers_order_and_company_change_nothing(tmp_path):
    folders = [tmp_path / name for name in ("one", "two", "alone")]
    for folder in folders:
        folder.mkdir()
    one = run(fake("table-1", "figure-1"), Settings(), folders[0], workers=1)
    two = run(fake("table-1", "figure-1"), Settings(), folders[1], workers=2)
    alone = run(fake("figure-1"), Settings(), folders[2], workers=1)
    same(values(one), values(two))
    same([each for each in values(one) if each[0] == "figure-1"], values(alone))
    assert len(one.records) == 3 * 3 * 8 + 8 * 2 * 6 and not one.failures and not one.interrupted


def test_quick_takes_fewer_rows_and_draws(tmp_path):
    results = run(fake("table-1"), Settings(quick=True), tmp_path, workers=1)
    assert {r.row for r in results.records} == {"iris", "wine"} and {r.draw for r in results.records} == set(range(4))
    (chosen,) = fake("table-1")
    assert len(list(units_of(chosen, quick=False, wanted=2))) == 6


def test_draws_that_another_exhibit_shows_are_measured_once(tmp_path):
    results = run(fake("table-1", "table-2", "figure-2"), Settings(), tmp_path, workers=1, draws=2)
    assert len(results.records) == 3 * 3 * 2 and {r.exhibit for r in results.records} == {"table-1"}


def test_records_have_date_and_version(tmp_path):
    """A rerun keeps those of the run that measured them."""
    path = tmp_path / "records.jsonl"
    results = run(fake("table-1"), Settings(), tmp_path, 1, 1)
    assert {(record.date, record.version) for record in results.records} == {
        (datetime.now(UTC).date().isoformat(), __version__)
    }
    path.write_text(path.read_text().replace(datetime.now(UTC).date().isoformat(), "2026-01-31"))
    assert {record.date for record in run(fake("table-1"), Settings(), tmp_path, 1, 1).records} == {"2026-01-31"}


def test_a_rerun_measures_nothing_and_more_draws_only_the_new(tmp_path, caplog):
    first = run(fake("table-1"), Settings(), tmp_path, workers=1, draws=3)
    before = (tmp_path / RECORDS).read_bytes()
    again = run(fake("table-1"), Settings(), tmp_path, workers=1, draws=3)
    assert (tmp_path / RECORDS).read_bytes() == before and again.resumed == 9
    assert again.records == first.records
    with caplog.at_level("INFO", "partita"):
        more = run(fake("table-1"), Settings(), tmp_path, workers=1, draws=5)
    assert len((tmp_path / RECORDS).read_text().splitlines()) == 15
    assert "9 of 15 trials are in records.jsonl already" in caplog.text
    assert [r for r in more.records if r.draw < 3] == list(first.records)


def test_other_settings_are_not_mixed_in(tmp_path, caplog):
    zero = run(fake("table-1"), Settings(), tmp_path, workers=1, draws=2)
    with caplog.at_level("INFO", "partita"):
        one = run(fake("table-1"), Settings(seed=1), tmp_path, workers=1, draws=2)
    assert "6 trials are in records.jsonl with another seed" in caplog.text and one.resumed == 0
    assert not {r.value for r in zero.records} & {r.value for r in one.records}
    assert run(fake("table-1"), Settings(), tmp_path, workers=1, draws=2).records == zero.records


def test_the_stamp_follows_what_is_measured_and_not_what_is_said():
    plain, settings = fake_paper.PLAIN, Settings()
    mine = stamp(plain, settings)
    assert mine == stamp(replace(plain, title="other", draws=99, claims=(), rows=plain.rows[:1]), settings)
    assert mine != stamp(replace(plain, trial=fake_paper.curve), settings)
    assert mine != stamp(replace(plain, columns=("a", "b")), settings)
    assert mine != stamp(plain, Settings(seed=1)) and mine != stamp(plain, Settings(quick=True))


def module_with(text):
    space = {"__name__": "somewhere"}
    exec(compile(text, "somewhere.py", "exec"), space)
    return stamp(replace(fake_paper.PLAIN, trial=space["trial"]), Settings())


def test_the_stamp_sees_helpers_and_constants_but_not_comments():
    text = (
        'SIZE = 3\n\ndef helper(x):\n    """Say."""\n    return x + 1\n\ndef trial(t):\n    return {"a": helper(SIZE)}'
    )
    mine = module_with(text)
    assert mine == module_with(text.replace("Say.", "Say more.") + "\n# and a comment\n")
    assert mine != module_with(text.replace("x + 1", "x + 2"))
    assert mine != module_with(text.replace("SIZE = 3", "SIZE = 4"))
    assert mine != module_with(text.replace("x + 1", "x - 1"))


def test_the_stamp_is_the_same_in_another_process():
    code = f"from {FAKE} import *; from partita.experiments.units import *; print(stamp(PLAIN, Settings()))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == stamp(fake_paper.PLAIN, Settings())


@pytest.mark.parametrize("left", [b'{"paper": "fake", "exh', b'{"paper": "fake"}', b"\x00\x00\x00"])
def test_a_torn_last_line_is_done_again(tmp_path, left):
    whole = run(fake("table-1"), Settings(), tmp_path, workers=1, draws=2)
    path = tmp_path / RECORDS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + left)
    again = run(fake("table-1"), Settings(), tmp_path, workers=1, draws=2)
    assert values(again) == values(whole) and again.resumed == 5
    assert read_records(path).torn == 0 and len(path.read_bytes().splitlines()) == 6


def test_a_line_torn_in_the_middle_costs_only_itself(tmp_path, caplog):
    whole = run(fake("table-1"), Settings(), tmp_path, workers=1, draws=2)
    path = tmp_path / RECORDS
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b"rubbish\n"
    path.write_bytes(b"".join(lines))
    with caplog.at_level("INFO", "partita"):
        again = run(fake("table-1"), Settings(), tmp_path, workers=1, draws=2)
    assert values(again) == values(whole) and again.resumed == 5 and "1 lines of records.jsonl cannot" in caplog.text


def test_values_that_are_no_numbers_survive_the_file(tmp_path):
    outcome = measure(Unit(FAKE, "fake", "table-4", "good", 0), Settings())
    outcome = replace(outcome, values={"a": float("nan"), "b": float("-inf"), "c": 0.1 + 0.2})
    store = Store(tmp_path / RECORDS)
    store.add(outcome, "s")
    store.close()
    json.loads((tmp_path / RECORDS).read_text(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    line = read_records(tmp_path / RECORDS).find(outcome.unit, "s")
    assert np.isnan(line.values["a"]) and line.values["b"] == float("-inf") and line.values["c"] == 0.1 + 0.2


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_what_fails_or_is_absent_is_told_and_ends_nothing(tmp_path, workers):
    results = run(fake("table-4"), Settings(), tmp_path, workers)
    said = "ValueError: this trial fails | always (fake_paper.py:"
    assert [(f.row, f.draw) for f in results.failures] == [("bad", 0), ("bad", 1), ("bad", 2)]
    assert all(f.error.startswith(said) and isinstance(f, Failure) for f in results.failures)
    assert results.absences == (Absence("fake", "table-4", "gone", "gone.csv is not here; get it from nowhere"),)
    assert {r.row for r in results.records} == {"good", "killer"} and len(results.records) == 2 * 3 * 2
    held = [json.loads(line) for line in (tmp_path / RECORDS).read_text().splitlines()]
    assert len(held) == 9 and sum("error" in line for line in held) == 3
    assert "gone" not in {line["row"] for line in held}, "absent data may be there next time"


def test_a_failure_is_tried_again(tmp_path):
    run(fake("table-4"), Settings(), tmp_path, workers=1)
    again = run(fake("table-4"), Settings(), tmp_path, workers=1)
    assert again.resumed == 6 and len(again.failures) == 3
    assert len((tmp_path / RECORDS).read_text().splitlines()) == 12


@pytest.mark.slow
def test_a_worker_that_dies_costs_its_unit_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_KILL", "1")
    results = run(fake("table-4"), Settings(), tmp_path, workers=2, draws=1)
    assert [(f.row, "died" in f.error) for f in results.failures] == [("bad", False), ("killer", True)]
    assert {r.row for r in results.records} == {"good"}


def test_a_trial_must_measure_the_columns_it_says(monkeypatch):
    monkeypatch.setattr(fake_paper, "PAPER", replace(
        fake_paper.PAPER, exhibits=(replace(fake_paper.PLAIN, columns=("a", "b", "d")),)))  # fmt: skip
    assert "differ in c, d" in measure(Unit(FAKE, "fake", "table-1", "iris", 0), Settings()).error


def start(folder, *words, **variables):
    command = [sys.executable, "-m", "partita", "reproduce", FAKE, "-o", str(folder), *words]
    environment = {**os.environ, "COLUMNS": "200", **variables}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for_lines(path, lines, process):
    for _ in range(1200):
        if path.exists() and path.read_bytes().count(b"\n") >= lines:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    pytest.fail(f"{path} never had {lines} lines")


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see the workers")
def test_kill_and_resume(tmp_path):
    whole = run(fake("table-3"), Settings(), tmp_path, workers=1)
    (tmp_path / "killed").mkdir()
    path = tmp_path / "killed" / RECORDS
    process = start(tmp_path / "killed", "--table", "3", "--workers", "2", FAKE_SLEEP="0.3")
    wait_for_lines(path, 4, process)
    workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.kill()
    process.communicate()
    finished = {(u["row"], u["draw"]) for u in map(json.loads, path.read_text().splitlines(keepends=False)[:4])}
    for _ in range(200):
        if not any(alive(int(pid)) for pid in workers):
            break
        time.sleep(0.05)
    assert not any(alive(int(pid)) for pid in workers), "workers must end with the process that started them"
    marks = tmp_path / "marks"
    process = start(tmp_path / "killed", "--table", "3", "--workers", "2", FAKE_MARKS=str(marks), FAKE_SLEEP="0")
    _, told = process.communicate(timeout=120)
    assert process.returncode == 0, told
    results = run(fake("table-3"), Settings(), tmp_path / "killed", workers=1)
    assert values(results) == values(whole) and results.resumed == 20
    assert len(marks.read_text().splitlines()) <= 20 - len(finished), "what is finished must not run again"


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_ctrl_c_keeps_and_shows_what_is_finished(tmp_path, workers):
    process = start(tmp_path, "--table", "3", "--workers", workers, FAKE_SLEEP="0.3")
    wait_for_lines(tmp_path / RECORDS, 3, process)
    process.send_signal(signal.SIGINT)
    shown, told = process.communicate(timeout=120)
    assert process.returncode == 130 and "Traceback" not in told, told
    kept = len((tmp_path / RECORDS).read_text().splitlines())
    assert 3 <= kept < 20 and "slow 0" in shown and "interrupted" in told
    assert "interrupted" in (tmp_path / "fake.md").read_text()
    assert run(fake("table-3"), Settings(), tmp_path, workers=1, draws=1).resumed >= 3


def test_progress_is_told_exhibit_by_exhibit(tmp_path):
    heard = []
    with reporting(lambda what, done, total: heard.append((what, done, total))):
        run(fake("table-1", "figure-1"), Settings(quick=True), tmp_path, workers=1)
    assert heard[7] == ("fake table-1", 8, 8) and heard[-1] == ("fake figure-1", 24, 24)
    assert [done for what, done, _ in heard if what == "fake table-1"] == list(range(1, 9))


def test_long_rows_begin_first(tmp_path):
    run(fake("table-3"), Settings(), tmp_path, workers=1, draws=1)
    path = tmp_path / RECORDS
    slow = [json.loads(line) for line in path.read_text().splitlines()]
    for line in slow:
        line["seconds"] = {"slow 2": 9.0, "slow 0": 5.0}.get(line["row"], 1.0)
    path.write_text("".join(json.dumps(line) + "\n" for line in slow))
    run(fake("table-3"), Settings(), tmp_path, workers=1, draws=2)
    after = [json.loads(line)["row"] for line in path.read_text().splitlines()[4:]]
    assert after == ["slow 2", "slow 0", "slow 3", "slow 1"]


@pytest.mark.parametrize(
    ("names", "exhibits", "said"),
    [
        (["nobody2020"], (), "no paper is called 'nobody2020'; there are"),
        ([FAKE], ("table-77",), "fake has no 'table-77'; there are table-1, table-2"),
        (["tests.experiments.nowhere"], (), "no module of this name"),
        ([FAKE, "wang2010"], ("table-1", "table-77"), "none of tests.experiments.fake_paper, wang2010 has table-77"),
        (["tests.samples"], (), "the module has no PAPER"),
    ],
)
def test_wrong_names(names, exhibits, said):
    with pytest.raises(ParameterError, match=said):
        choose(names, exhibits)


def test_a_paper_named_twice_is_run_once():
    twice = choose([FAKE, "wang2010", FAKE], ("table-1", "table-2", "table-1"))
    assert [each.paper.key for each in twice] == ["fake", "wang2010"]
    assert [each.key for each in twice[0].exhibits] == ["table-1", "table-2"]


def test_a_folder_that_cannot_hold_records(tmp_path):
    (tmp_path / RECORDS).mkdir()
    with pytest.raises(FileError, match="cannot be read"):
        run(fake("table-1"), Settings(), tmp_path, workers=1)


def test_two_runs_do_not_share_a_folder(tmp_path):
    with holding(tmp_path, "taken"), pytest.raises(FileError, match="another run keeps its records there"):
        run(fake(), Settings(), tmp_path, 1)


def test_records_of_other_data_are_not_mixed_in(tmp_path):
    """What is made from its description, or a copy, has a stamp of its own; scikit-learn's set has none."""
    exhibit = replace(fake_paper.PLAIN, data=("iris", "2d2k"))
    plain = stamp(replace(exhibit, data=("iris",)), Settings(data=str(tmp_path)))
    assert plain == stamp(replace(exhibit, data=()), Settings(data=str(tmp_path)))
    made = stamp(exhibit, Settings(data=str(tmp_path)))
    assert sources_of(exhibit, Settings(data=str(tmp_path))) == {"2d2k": "made"}
    (tmp_path / COPIES).mkdir()
    (tmp_path / COPIES / "2d2k.csv").write_text("")
    copied = stamp(exhibit, Settings(data=str(tmp_path)))
    (tmp_path / entry_of("2d2k").file).parent.mkdir(exist_ok=True, parents=True)
    (tmp_path / entry_of("2d2k").file).write_text("")
    assert len({plain, made, copied}) == 3
    assert stamp(exhibit, Settings(data=str(tmp_path))) == plain
