"""Results in files: every field comes back, and a damaged or foreign file gives one clear error."""

import dataclasses
import json
import zipfile
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import partita
from partita.core.consensus import Consensus, placed
from partita.core.draws import Draws
from partita.core.ensemble import Ensemble
from partita.core.errors import FileError, Note, ParameterError
from partita.core.types import FrozenDict
from partita.federated.coordinate import Plan
from partita.federated.simulate import simulate
from partita.io.archive import RESULT, write_archive
from partita.registry import METHODS, get
from tests.samples import SHORT_CHAINS, noisy, noisy_labels, noisy_soft

SHORT = SHORT_CHAINS | {"auto": {"candidate_labels": True}}
"""Parameters that make samplers fast, or a result contain more."""


def assert_same(ours, theirs, where="result"):
    """Two values are equal and of equal types, down to every element; arrays are read-only."""
    assert type(ours) is type(theirs), where
    if dataclasses.is_dataclass(ours):
        for field in dataclasses.fields(ours):
            assert_same(getattr(ours, field.name), getattr(theirs, field.name), f"{where}.{field.name}")
    elif isinstance(ours, dict):
        assert list(map(repr, ours)) == list(map(repr, theirs)), where
        for (key, one), (other_key, other) in zip(ours.items(), theirs.items(), strict=True):
            assert_same(key, other_key, f"{where}: key")
            assert_same(one, other, f"{where}[{key!r}]")
    elif isinstance(ours, frozenset):
        assert_same(sorted(ours, key=repr), sorted(theirs, key=repr), where)
    elif isinstance(ours, (list, tuple)):
        assert len(ours) == len(theirs), where
        for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(one, other, f"{where}[{place}]")
    elif isinstance(ours, np.ndarray):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), where
        assert not theirs.flags.writeable and theirs.flags.aligned, where
        if ours.dtype == object:
            assert_same(ours.ravel().tolist(), theirs.ravel().tolist(), where)
        else:
            assert ours.tobytes() == theirs.tobytes(), where
            assert ours.flags.f_contiguous == theirs.flags.f_contiguous, where
    else:
        assert repr(ours) == repr(theirs), where  # repr tells nan, -0.0 and every bit of a float
        assert getattr(ours, "code", None) == getattr(theirs, "code", None), where


def saved(result, path, **options):
    result.save(path, **options)
    return partita.load(path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "result.partita"


def tables(method):
    """One ensemble of each kind that a method takes, all with ids of several types."""
    labels, _ = noisy_labels(n=40, r=5, k=3)
    words = [[f"label {x}" for x in row] for row in labels]
    weights = [5, 1, 0.1, 0, 1]
    yield "hard", Ensemble.from_labels(words, ids=[f"object {i}" for i in range(40)])
    yield "weighted", Ensemble.from_labels(labels, weights=weights, ids=[(i, "x") for i in range(40)])
    if method.handles_missing:
        gaps, _ = noisy_labels(n=40, r=5, k=3, missing=0.15)
        gaps[3] = -1
        yield "missing", Ensemble.from_labels(gaps, missing=-1, weights=weights, ids=range(40))
    if method.takes is not Ensemble:
        soft = noisy_soft(n=40)
        yield "soft", dataclasses.replace(soft, weights=np.array([1, 2, 0.5, 1, 1]))


@pytest.mark.parametrize("polish", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_every_field_of_every_method_comes_back(path, name, polish):
    method = get(name)
    for kind, ensemble in tables(method):
        result = partita.consensus(
            ensemble, name, None if kind == "weighted" else 3, polish=polish, **SHORT.get(name, {})
        )
        loaded = saved(result, path, include_ensemble=True)
        assert_same(result, loaded, f"{name}, {kind}")
        assert_same(dataclasses.replace(result, ensemble=None), saved(result, path), f"{name}, {kind}")
        assert np.array_equal(loaded.predict(ensemble), result.predict(ensemble))
        assert_same(placed(result.model, ensemble), placed(loaded.model, ensemble), f"{name}, {kind}: predicted")
        assert loaded.ensemble.fingerprint == ensemble.fingerprint
        first = path.read_bytes()
        partita.load(path).save(path)
        assert path.read_bytes() == first
    assert [file.name for file in path.parent.iterdir()] == ["result.partita"]


def test_the_sample_of_methods_has_every_field(path):
    """The property test above sees a value other than the default in each field of `Consensus`."""
    results = [
        partita.consensus(noisy(n=40, r=5, missing=0.1), "auto", candidate_labels=True),
        partita.consensus(pd.DataFrame(noisy_labels(n=40)[0]).assign(who=range(40)), "mcla", 3, ids="who"),
        partita.consensus(noisy(n=40, r=5), "bce-gibbs", 3, burn_in=2, draws=6),
        partita.consensus(noisy(n=40, r=5), "nbce-gibbs", burn_in=2, draws=6),
    ]
    empty = Consensus.hard([0])
    for field in dataclasses.fields(Consensus):
        default = repr(getattr(empty, field.name))
        assert any(repr(getattr(result, field.name)) != default for result in results), field.name


def test_results_of_other_functions_come_back(path):
    ensemble = noisy(n=60, missing=0.1)
    result = partita.consensus(ensemble, "mm", 3)
    others = {
        "predicted": placed(result.model, ensemble.rows(range(10))),
        "predicted by an approximate model": placed(partita.consensus(ensemble, "mcla", 3).model, ensemble),
        "selected": partita.select_k(ensemble, range(2, 5), method="voting").consensus,
        "federated, rows": simulate(ensemble, Plan((), "rows", "mm", 3), rows=3).consensus,
        "federated, columns": simulate(noisy(n=60), Plan((), "columns", "mm", 3), columns=5).consensus,
        "compact": partita.consensus(ensemble, "mm", 3, compress=False, seed=7),
        "by hand": Consensus.hard([0, 1, -1]),
        "no objects": Consensus.hard([]),
    }
    features = np.random.default_rng(0).normal(size=(40, 3))
    others["clustered"] = partita.cluster(features, 3)
    assert others["clustered"].recipe.made
    for name, found in others.items():
        assert_same(dataclasses.replace(found, ensemble=None), saved(found, path), name)


def test_values_of_every_type_come_back(path):
    kinds = {
        "text": "\ud800 \u00e9 \U0001f600 \0",
        "large": 10**40,
        "floats": (0.1, -0.0, float("nan"), float("-inf"), 5e-324),
        "plain list": [1, True, None, "a"],
        "list": [1, [2.5, (3, [])], {}],
        "keys": {1: "a", (2, "b"): "c", None: "d", 2.5: "e", "array": "f"},
        "frozen": FrozenDict({"a": FrozenDict()}),
        "note": Note("a sentence", "a-code"),
        "set": frozenset({(False, 1), (True, True), (False, "x")}),
        "dates": (date(2024, 5, 1), datetime(2024, 5, 1, 3), Decimal("1.50"), b"\0\xff"),
        "scalars": (np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("x"), np.datetime64("2024-05-01", "ns")),
        "arrays": (
            np.arange(6.0).reshape(2, 3).T,
            np.zeros((0, 3), np.int16),
            np.array(3, ">i4"),
            np.array(["a", "bcd"]),
            np.arange(10)[::-3],
            np.array([[1, "a"], [None, (2.5, b"x")]], object),
        ),
        "result": {"file": np.ones(2), "allow_pickle": np.ones(3), "a/../b": np.ones(4), "a_.._b": np.ones(5)},
    }
    result = Consensus.hard([0, 1], detail=FrozenDict(kinds), ids=np.array([date(2024, 5, 1), "x"], object))
    loaded = saved(result, path)
    for array in kinds["arrays"]:
        array.setflags(write=False)
    assert_same(
        dataclasses.replace(result, detail=FrozenDict({**kinds, "arrays": None})),
        dataclasses.replace(loaded, detail=FrozenDict({**loaded.detail, "arrays": None})),
    )
    for ours, theirs in zip(kinds["arrays"], loaded.detail["arrays"], strict=True):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape and repr(ours) == repr(theirs)
    with np.load(path) as archive:
        assert archive["labels"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"detail": {"a": {"x": {1, 2}}}}, r"detail\.a\.x: \{1, 2\} is a set, which cannot be saved"),
        ({"ids": np.array([Fraction(1, 3), 1], object)}, r"ids\.0: Fraction\(1, 3\) is a Fraction, .* use strings"),
        ({"scores": {"a": len}}, r"scores\.a: <built-in function len> is a builtin"),
        ({"confidence": np.ones(3)}, "cannot be saved: its confidence cannot be right"),
        ({"k_asked": "three"}, r"cannot be saved: its k_asked \(str\) cannot be right"),
    ],
)
def test_what_cannot_be_saved_is_named_and_leaves_no_file(path, fields, reason):
    with pytest.raises(partita.PartitaError, match=reason) as raised:
        Consensus.hard([0, 1], **fields).save(path)
    assert str(path) in str(raised.value) and "\n" not in str(raised.value)
    assert not list(path.parent.iterdir())


def test_places_that_cannot_be_written(path, tmp_path):
    result = partita.consensus(noisy(n=40, r=5), "voting", 3)
    for bad, reason in (
        (tmp_path, "directory"),
        (tmp_path / "no" / "r.partita", "does not exist"),
        ("-", "to a file"),
        (17, "not a path"),
        (tmp_path / "labels.csv", r"'\.csv' is that of a table.*partita\.write"),
        (tmp_path / "labels.json.gz", r"'\.gz' is that of a table"),
    ):
        with pytest.raises(FileError, match=reason):
            result.save(bad)
    with pytest.raises(ParameterError, match="has no ensemble; use include_ensemble=False"):
        saved(result, path).save(path, include_ensemble=True)
    assert [file.name for file in tmp_path.iterdir()] == ["result.partita"]


def test_a_failed_save_keeps_the_earlier_file(path):
    result = partita.consensus(noisy(n=40, r=5), "voting", 3)
    result.save(path)
    with pytest.raises(FileError):
        dataclasses.replace(result, detail={"a": object()}).save(path)
    assert_same(dataclasses.replace(result, ensemble=None), partita.load(path))


def test_other_files_are_named_with_what_reads_them(path, tmp_path):
    result = partita.consensus(noisy(n=40, r=5), "voting", 3)
    partita.save_model(result, tmp_path / "model.npz")
    with pytest.raises(FileError, match=r"contains a model, not a result; read it with partita\.load_model"):
        partita.load(tmp_path / "model.npz")
    result.save(path)
    with pytest.raises(FileError, match=r"contains a result, not a model; read it with partita\.load$"):
        partita.load_model(path)
    np.savez(tmp_path / "labels.npz", labels=np.zeros((3, 2)))
    np.savez(tmp_path / "pickled.npz", labels=np.array([{}], object))
    partita.write(result, tmp_path / "labels.csv")
    (tmp_path / "empty").touch()
    (tmp_path / "zip").write_bytes(b"PK\x03\x04 and so on")
    for name, reason in (
        ("labels.npz", r"is no result of Partita; save the result again"),
        ("pickled.npz", "pickled"),
        ("labels.csv", r"is no result of Partita.*use partita\.read$"),
        ("empty", "is no result of Partita"),
        ("zip", "cut off or damaged"),
        ("absent", "no such file"),
        ("", "is a directory"),
    ):
        with pytest.raises(FileError, match=reason) as raised:
            partita.load(tmp_path / name)
        assert str(tmp_path / name) in str(raised.value) and "\n" not in str(raised.value)


def contents(path):
    """JSON text and arrays of a file."""
    with np.load(path) as archive:
        arrays = dict(archive)
    return json.loads(arrays.pop("about").item()), arrays


def test_newer_files_say_to_install_a_newer_partita(path):
    partita.consensus(noisy(n=40, r=5), "voting", 3).save(path)
    about, arrays = contents(path)
    for change, reason in (
        ({"version": 2, "partita": "7.0"}, r"newer version of Partita \(7\.0, .* install a newer partita"),
        ({"version": 0}, "damaged result: its version is 0"),
        ({"version": "1"}, "damaged result: its version is '1'"),
    ):
        write_archive(path, RESULT, about | change, arrays)
        with pytest.raises(FileError, match=reason):
            partita.load(path)
    about["result"]["Consensus"]["mood"] = "good"
    write_archive(path, RESULT, about, arrays)
    with pytest.raises(FileError, match=r"Consensus has a field 'mood', .* install a newer partita"):
        partita.load(path)


def test_a_field_that_an_older_file_does_not_have_gets_its_default(path):
    result = partita.consensus(noisy(n=40, r=5), "voting", 3)
    result.save(path)
    about, arrays = contents(path)
    del about["result"]["Consensus"]["agreement"]
    write_archive(path, RESULT, about, arrays)
    assert_same(dataclasses.replace(result, ensemble=None, agreement=()), partita.load(path))


BAD_ARRAYS = {
    "a label less": ("labels", lambda array: array[1:]),
    "labels below -1": ("labels", lambda array: array - 2),
    "labels as numbers": ("labels", lambda array: array.astype(float)),
    "labels without memberships": ("labels", lambda array: array + 1),
    "labels in rows": ("labels", lambda array: array[:, None]),
    "memberships that are NaN": ("membership", lambda array: array * np.nan),
    "memberships above 1": ("membership", lambda array: array + 1),
    "confidence above 1": ("confidence", lambda array: array + 1),
    "confidence of fewer objects": ("confidence", lambda array: array[1:]),
    "second of no cluster": ("second", lambda array: array + 3),
    "item consensus of fewer objects": ("second_item_consensus", lambda array: array[1:]),
    "ids of fewer objects": ("ids", lambda array: array[1:]),
    "draws of fewer objects": ("draws.labels", lambda array: array[:, 1:]),
    "chains of fewer draws": ("draws.chain", lambda array: array[1:]),
    "model": ("model.bias", lambda array: -array),
    "model of another shape": ("model.tables.0", lambda array: array[:, 1:]),
    "labels of the ensemble": ("ensemble.labels", lambda array: array + 1),
    "weights of the ensemble": ("ensemble.weights", lambda array: -array),
    "multiplicity of the ensemble": ("ensemble.multiplicity", lambda array: array * 0),
}


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    """The bytes of a file with an array in nearly every field, and its result."""
    path = tmp_path_factory.mktemp("result") / "result.partita"
    ensemble = Ensemble.from_labels(noisy_labels(n=40, r=5, missing=0.1)[0], missing=-1, ids=range(40))
    ensemble = ensemble.with_counts(np.ones(40))
    result = partita.consensus(ensemble, "bce-gibbs", 3, burn_in=2, draws=6)
    result = dataclasses.replace(result, draws=Draws.of([result.labels, np.arange(40) % 3]))
    result.save(path, include_ensemble=True)
    return path.read_bytes(), result


@pytest.mark.parametrize("case", BAD_ARRAYS)
def test_arrays_that_cannot_be_right_are_refused(path, rich, case):
    path.write_bytes(rich[0])
    about, arrays = contents(path)
    name, change = BAD_ARRAYS[case]
    arrays[name] = change(arrays[name])
    write_archive(path, RESULT, about, arrays)
    with pytest.raises(FileError, match=r"is a damaged result: .*; save the result again") as raised:
        partita.load(path)
    assert str(path) in str(raised.value) and "\n" not in str(raised.value)


def test_entries_that_ask_for_too_much_are_refused(path, rich):
    """Compressed entries, two entries of one name, and headers with absurd shapes."""
    path.write_bytes(rich[0])
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    header = entries["labels.npy"]
    shape = next(line for line in (b"(40,), }", b"(40,)}") if line in header)
    absurd = header.replace(shape, b"(9999999999999,), }"[: len(shape) + 14]).replace(b" " * 14 + b"\n", b"\n", 1)

    def write(kind, more=(), **changed):
        with zipfile.ZipFile(path, "w", kind) as archive:
            for name, data in (*{**entries, **{f"{name}.npy": data for name, data in changed.items()}}.items(), *more):
                archive.writestr(name, data)

    write(zipfile.ZIP_STORED)
    assert_same(rich[1], partita.load(path))
    for kind, options, reason in (
        (zipfile.ZIP_DEFLATED, {}, "compressed"),
        (zipfile.ZIP_STORED, {"labels": absurd}, "too small for requested array|damaged"),
        (zipfile.ZIP_STORED, {"labels": header + bytes(4)}, "another size"),
        (zipfile.ZIP_STORED, {"labels": header[:-4]}, "too small"),
        (zipfile.ZIP_STORED, {"about": b""}, "damaged"),
    ):
        write(kind, **options)
        with pytest.raises(FileError, match=reason):
            partita.load(path)
    with pytest.warns(UserWarning, match="Duplicate name"):
        write(zipfile.ZIP_STORED, more=[("labels.npy", header)])
    with pytest.raises(FileError, match="same name"):
        partita.load(path)


def outcome(path, result):
    """ "refused" or "equal"; anything else fails."""
    try:
        loaded = partita.load(path)
    except FileError as error:
        assert str(path) in str(error) and "\n" not in str(error)
        return "refused"
    assert_same(result, loaded)
    return "equal"


def test_files_damaged_at_a_thousand_places_are_refused_or_load_equal(path, rich):
    whole, result = rich
    rng = np.random.default_rng(0)
    counts = {"refused": 0, "equal": 0}
    for number in range(1000):
        data, place = bytearray(whole), int(rng.integers(len(whole)))
        if number % 4 == 0:
            data[place] ^= 1 << int(rng.integers(8))
        elif number % 4 == 1:
            data[place] = int(rng.integers(256))
        elif number % 4 == 2:
            data[place : place + int(rng.integers(1, 600))] = b""
        else:
            data[place : place + int(rng.integers(1, 600))] = bytes(int(rng.integers(1, 600)))
        path.write_bytes(data)
        counts[outcome(path, result)] += 1
    assert counts["refused"] > 900, counts  # equal: the byte was not changed, or is not used, such as a date


def test_truncated_files_are_refused(path, rich):
    whole, result = rich
    for place in np.random.default_rng(1).integers(len(whole), size=200):
        path.write_bytes(whole[:place])
        assert outcome(path, result) == "refused"
    path.write_bytes(whole + b"x" * 50)
    assert outcome(path, result) in ("refused", "equal")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_under_correct_checksums_gives_a_result_or_one_error(path, rich, data):
    """Only the checks of contents are left; what they let pass is a result."""
    path.write_bytes(rich[0])
    with zipfile.ZipFile(path) as archive:
        entries = {name: bytearray(archive.read(name)) for name in archive.namelist()}
    content = entries[data.draw(st.sampled_from(["about.npy", *sorted(entries)]))]
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with zipfile.ZipFile(path, "w") as archive:
        for name, kept in entries.items():
            archive.writestr(name, bytes(kept))
    try:
        assert isinstance(partita.load(path), Consensus)
    except FileError as error:
        assert str(path) in str(error) and "\n" not in str(error)


def test_an_array_that_occurs_twice_is_stored_once(path):
    result = partita.consensus(Ensemble.from_labels(noisy_labels(n=40)[0], ids=range(40)), "voting", 3)
    loaded = saved(result, path, include_ensemble=True)
    assert loaded.ids is loaded.ensemble.ids


def result_with_ids(ids):
    labels = np.arange(len(ids)) % 2
    objects = np.empty(len(ids), object)
    objects[:] = ids
    return dataclasses.replace(Consensus.hard(labels), ids=objects)


def test_durations_are_saved(tmp_path):
    ids = [timedelta(days=-2, microseconds=1), timedelta(0), timedelta.max]
    for given_ids in (ids, [pd.Timedelta(1, unit="us"), pd.Timedelta(days=3)]):
        result_with_ids(given_ids).save(tmp_path / "a.partita")
        loaded = partita.load(tmp_path / "a.partita").ids.tolist()
        assert loaded == given_ids and list(map(hash, loaded)) == list(map(hash, given_ids))
        assert {type(value) for value in loaded} == {timedelta}


@pytest.mark.parametrize(
    "ids",
    [
        pd.to_datetime([1, 2]),
        pd.to_datetime([1, 2]).tz_localize("UTC"),
        pd.to_timedelta([1, 2]),
        pd.period_range("2024-01", periods=2, freq="M"),
        pd.interval_range(0, 2),
    ],
)
def test_ids_that_need_pandas_can_be_saved_as_text(tmp_path, ids):
    path = tmp_path / "a.partita"
    with pytest.raises(FileError, match=r"ids\.0: .* is an? \w+, which cannot be saved; .* convert .*astype\(str\)"):
        result_with_ids(list(ids)).save(path)
    assert not path.exists()
    result_with_ids(list(ids.astype(str))).save(path)
    assert len(set(partita.load(path).ids)) == 2
