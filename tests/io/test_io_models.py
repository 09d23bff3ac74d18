"""Models in files: what comes back is what went in, and whatever the bytes, one clear error."""

import io
import json
import zipfile
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import partita
from partita.core.coding import label_key
from partita.core.consensus import Consensus
from partita.core.errors import FileError, MethodError, ParameterError
from tests.samples import noisy

quick = settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])


def fitted(name="mm", **options):
    return partita.consensus(noisy(missing=0.1), name, 3, **options)


def saved(result, path):
    partita.save_model(result, path)
    return partita.load_model(path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


@pytest.mark.parametrize("name", ["mm", "qmi", "voting", "mcla"])
def test_everything_comes_back(path, name):
    result = fitted(name)
    loaded = saved(result, path)
    for field in ("bias", "strength", "reference", "weights", "stacked"):
        ours, theirs = getattr(loaded, field), getattr(result.model, field)
        assert (ours is None and theirs is None) or np.array_equal(ours, theirs)
    for field in ("link", "names", "classes", "missing", "recipe"):
        assert getattr(loaded, field) == getattr(result.model, field)
    assert np.array_equal(loaded.offsets, result.model.offsets) and not loaded.bias.flags.writeable
    first = path.read_bytes()
    partita.save_model(loaded, path)
    assert path.read_bytes() == first
    assert [p.name for p in path.parent.iterdir()] == ["model.npz"]


labels = st.one_of(
    st.text(max_size=5).filter(lambda text: text.strip()),
    st.integers(-(10**20), 10**20).filter(lambda value: value != -1),
    st.booleans(),
    st.dates(),
    st.datetimes(),
    st.times(),
    st.binary(max_size=4),
    st.decimals(allow_nan=False, allow_infinity=False, places=2),
)


@settings(quick, max_examples=60)
@given(st.lists(labels, min_size=2, max_size=6, unique_by=lambda value: (type(value), value)))
def test_labels_keep_their_types(path, values):
    ensemble = partita.Ensemble.from_labels({"a": values, "b": list(range(len(values)))}, transpose=False)
    loaded = saved(partita.consensus(ensemble, "voting", 2), path)
    before = ensemble.classes[0]
    assert list(map(label_key, loaded.classes[0])) == list(map(label_key, before))
    assert list(map(type, loaded.classes[0])) == list(map(type, before))


def test_labels_of_every_kind(path):
    kinds = [
        "text",
        3,
        True,
        b"\x00\xff",
        date(2024, 5, 1),
        datetime(2024, 5, 1, 3, 4, 5, 6),
        time(3, 4),
        Decimal("1.50"),
    ]
    loaded = saved(partita.consensus({"a": kinds, "b": kinds}, "voting", 2), path)
    assert loaded.classes == (tuple(kinds), tuple(kinds)) and loaded.classes[0][2] is True


def test_missing_values_come_back(path):
    rows = [[1, 1], [1, 1], [2, 2], [-1, 2]]
    for said in (-1, (), [-1, "none", 0.5, None, float("nan")]):
        result = partita.consensus(partita.Ensemble.from_labels(rows, missing=said), "voting", 2)
        loaded = saved(result, path)
        assert loaded.missing.said
        assert repr(sorted(loaded.missing.values, key=repr)) == repr(sorted(result.model.missing.values, key=repr))
    assert not saved(partita.consensus(rows[:3], "voting", 2), path).missing.said


def test_what_cannot_be_saved(path, tmp_path):
    result = partita.consensus({"a": [Fraction(1, 3), Fraction(2, 3), 1], "b": [1, 2, 2]}, "voting", 2)
    with pytest.raises(FileError, match=r"clustering 'a': the label Fraction\(1, 3\) is a Fraction"):
        partita.save_model(result, path)
    with pytest.raises(MethodError, match="this consensus has no model"):
        partita.save_model(Consensus.hard([0, 1]), path)
    with pytest.raises(ParameterError, match=r"expected save_model\(result, path\), got save_model\(.*Consensus\)"):
        partita.save_model(str(path), result)
    with pytest.raises(MethodError, match="a list is no result"):
        partita.save_model([1], path)
    assert not path.exists()
    good = fitted()
    for bad, reason in ((tmp_path, "directory"), (tmp_path / "no" / "m.npz", "does not exist"), ("-", "to a file")):
        with pytest.raises(FileError, match=reason):
            partita.save_model(good, bad)


def test_what_is_no_model(path, tmp_path):
    foreign, pickled = io.BytesIO(), io.BytesIO()
    np.savez(foreign, labels=np.zeros((3, 2)))
    np.savez(pickled, about=np.array([{"format": "partita model"}], dtype=object))
    for data, reason in (
        (b"", "is no model"),
        (b"a,b\n1,2\n", "is no model"),
        (b"PK\x03\x04 and so on", "cut off or damaged"),
        (foreign.getvalue(), "is no model of Partita; make it again"),
        (pickled.getvalue(), "pickled"),
    ):
        path.write_bytes(data)
        with pytest.raises(FileError, match=reason) as raised:
            partita.load_model(path)
        assert str(path) in str(raised.value) and "\n" not in str(raised.value)
    for place, reason in (
        (tmp_path / "absent.npz", "no such file"),
        (tmp_path, "directory"),
        ("zero\0byte", "zero byte"),
        (17, "not a path"),
    ):
        with pytest.raises(FileError, match=reason):
            partita.load_model(place)


def entries(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path, arrays):
    np.savez(path, **arrays)
    return path


def changed(path, **change):
    """The model at a path with some of what it says of itself changed."""
    with np.load(path) as archive:
        arrays = dict(archive)
    about = json.loads(arrays["about"].item()) | change
    return rewritten(path, arrays | {"about": np.array(json.dumps(about).encode())})


BAD_ABOUT = {
    "newer": ({"version": 3}, "version 3, this Partita reads version 2; make it again"),
    "older": ({"version": 1}, "version 1, this Partita reads version 2; make it again"),
    "no version": ({"version": None}, "version None"),
    "other format": ({"format": "something"}, "no model of Partita"),
    "unknown link": ({"link": "sorcery"}, "link 'sorcery'"),
    "link of another type": ({"link": ["share"]}, "link"),
    "too few names": ({"names": ["a"]}, "names"),
    "equal names": ({"names": ["a"] * 7}, "names"),
    "names of another type": ({"names": 3}, "names"),
    "a name is no text": ({"names": [1, 2, 3, 4, 5, 6, 7]}, "names"),
    "too few classes": ({"classes": [[0, 1]] * 7}, "cannot be right"),
    "equal labels": ({"classes": [[0, 0, 1, 2]] * 7}, "classes"),
    "labels of no kind": ({"classes": [[{"sorcery": "x"}]] * 7}, "damaged"),
    "labels that cannot be read": ({"classes": [[{"date": "yesterday"}]] * 7}, "damaged"),
    "classes of another type": ({"classes": 3}, "damaged"),
    "recipe": ({"recipe": {"method": 3}}, "damaged"),
    "recipe of another type": ({"recipe": [1]}, "damaged"),
    "missing": ({"missing": [[1]]}, "damaged"),
    "missing of another type": ({"missing": "abc"}, "missing values cannot be right"),
    "missing by name": ({"missing": {"a": 1}}, "missing values cannot be right"),
}


@pytest.mark.parametrize("case", list(BAD_ABOUT))
def test_what_the_text_says_is_checked(path, case):
    change, reason = BAD_ABOUT[case]
    partita.save_model(fitted(), path)
    with pytest.raises(FileError, match=reason) as raised:
        partita.load_model(changed(path, **change))
    assert str(path) in str(raised.value) and "\n" not in str(raised.value)


BAD_ARRAYS = {
    "nan": lambda arrays: arrays | {"tables": arrays["tables"] * np.nan},
    "infinite bias": lambda arrays: arrays | {"bias": arrays["bias"] - np.inf},
    "other numbers": lambda arrays: arrays | {"bias": arrays["bias"].astype(np.float32)},
    "text": lambda arrays: arrays | {"bias": arrays["bias"].astype(str)},
    "flat": lambda arrays: arrays | {"tables": arrays["tables"].ravel()},
    "a cluster less": lambda arrays: arrays | {"tables": arrays["tables"][:, 1:]},
    "a label less": lambda arrays: arrays | {"tables": arrays["tables"][1:]},
    "no cluster": lambda arrays: arrays | {"bias": arrays["bias"][:0], "tables": arrays["tables"][:, :0]},
    "negative weight": lambda arrays: arrays | {"weights": -arrays["weights"]},
    "number": lambda arrays: arrays | {"bias": np.float64(3)},
    "text as numbers": lambda arrays: arrays | {"about": np.zeros(3)},
    "no JSON": lambda arrays: arrays | {"about": np.array(b"{")},
    "deep JSON": lambda arrays: arrays | {"about": np.array(b"[" * 100_000)},
    "no text": lambda arrays: {name: array for name, array in arrays.items() if name != "about"},
    "no bias": lambda arrays: {name: array for name, array in arrays.items() if name != "bias"},
    "no weights": lambda arrays: {name: array for name, array in arrays.items() if name != "weights"},
    "no tables": lambda arrays: {name: array for name, array in arrays.items() if name != "tables"},
}


@pytest.mark.parametrize("case", list(BAD_ARRAYS))
def test_arrays_are_checked(path, case):
    partita.save_model(fitted(), path)
    with np.load(path) as archive:
        arrays = dict(archive)
    with pytest.raises(FileError) as raised:
        partita.load_model(rewritten(path, BAD_ARRAYS[case](arrays)))
    assert str(path) in str(raised.value) and "\n" not in str(raised.value)


def raised(tables):
    """The chance of the first label in the last component raised by a thousandth of 1, of all others as it was."""
    found = tables.copy()
    found[0, -1] = np.log(np.exp(found[0, -1]) + 0.001)
    return found


BAD_VALUES = {
    "negative alpha": ("bce-vb", {"bias": lambda bias: np.array([-1e300, 1.0, 1.0])}),
    "alpha of 0": ("bce-vb", {"bias": lambda bias: bias * 0}),
    "huge alpha": ("bce-gibbs", {"bias": lambda bias: bias * 1e300}),
    "log beta above 0": ("bce-vb", {"tables": lambda tables: tables * 0 + 5}),
    "log beta without end": ("bce-vb", {"tables": lambda tables: tables * 0 - 1e300}),
    "log theta above 0": ("mm", {"tables": lambda tables: tables * 0 + 5}),
    "log theta without end": ("mm", {"tables": lambda tables: tables * 0 - 1e308}),
    "log shares above 0": ("mm", {"bias": lambda bias: bias * 0 + 5}),
    "no weight": ("mm", {"weights": lambda weights: weights * 0}),
    "no weight in bce": ("bce-vb", {"weights": lambda weights: weights * 0}),
    "infinite weight": ("bce-vb", {"weights": lambda weights: weights * np.inf}),
    "weights above 1 on average": ("mm", {"weights": lambda weights: weights * 1.001}),
    "weights above 1 in bce": ("bce-vb", {"weights": lambda weights: weights * 1.001}),
    "weights beyond numbers": ("mm", {"weights": lambda weights: weights * 1e308}),
    "chances of components above 1": ("mm", {"bias": lambda bias: np.minimum(bias + 0.001, 0)}),
    "chances of components below 1": ("mm", {"bias": lambda bias: bias - 0.001}),
    "components all dead": ("mm", {"bias": lambda bias: bias * 0 - 1e8}),
    "chances of labels above 1": ("mm", {"tables": lambda tables: tables * 0}),
    "chances of a label too high": ("mm", {"tables": lambda tables: raised(tables)}),
    "chances of labels above 1 in bce": ("bce-vb", {"tables": lambda tables: tables * 0}),
    "chances of a label too high in bce": ("bce-vb", {"tables": lambda tables: raised(tables)}),
    "chances of labels above 1 in nbce": ("nbce-vb", {"tables": lambda tables: raised(tables)}),
    "components shared out twice": ("nbce-vb", {"shares": lambda shares: shares * 1.001}),
    "shares beyond numbers": ("nbce-cvb", {"shares": lambda shares: shares + 1e308}),
    "negative shares": ("voting", {"tables": lambda tables: tables - 1}),
}


@pytest.mark.parametrize("case", list(BAD_VALUES))
def test_values_are_checked(path, case):
    """What no fit can have written would give nonsense, or iterations without end, where rows are placed."""
    method, change = BAD_VALUES[case]
    partita.save_model(fitted(method, **({"burn_in": 2, "draws": 5} if method == "bce-gibbs" else {})), path)
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays |= {name: alter(arrays[name]) for name, alter in change.items()}
    with np.errstate(invalid="ignore"), pytest.raises(FileError, match=r"cannot be right; make it again") as raised:
        partita.load_model(rewritten(path, arrays))
    assert str(path) in str(raised.value) and f"its {next(iter(change))} " in str(raised.value)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("bce-gibbs", {"alpha": 1e-6, "burn_in": 1, "draws": 4}),
        ("bce-gibbs", {"alpha": 1e6, "burn_in": 1, "draws": 4}),
        ("bce-vb", {}),
        ("mm", {"smoothing": 0.0}),
        ("itk", {}),
    ],
)
def test_extreme_values_of_fits_are_accepted(path, method, options):
    result = fitted(method, **options)
    table = noisy(missing=0.1)
    assert np.array_equal(saved(result, path).predict(table), result.predict(table))


@pytest.mark.parametrize("weights", [[5, 1, 0.1, 0, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1e-320]])
@pytest.mark.parametrize("method", ["mm", "bce-vb", "bce-gibbs", "nbce-vb", "nbce-cvb", "nbce-gibbs"])
def test_weights_of_clusterings_survive_a_file(path, method, weights):
    """A model of weighted clusterings, one of which knows nothing of a label that others have, is no damaged one."""
    table = noisy(missing=0.1)
    labels = np.where(table.labels < 0, -1, table.labels)
    labels[:, 1] = np.where(np.arange(len(labels)) == 4, 9, -1)
    table = partita.Ensemble.from_labels(labels, missing=-1, weights=weights)
    short = {"burn_in": 2, "draws": 5} if method.endswith("gibbs") else {}
    result = partita.consensus(table, method, 3, **short)
    loaded = saved(result, path)
    assert np.array_equal(loaded.weights, result.model.weights)
    assert np.array_equal(loaded.predict(table), result.predict(table))


@pytest.mark.parametrize("case", ["few", "light", "dead"])
def test_probabilities_that_sum_to_less_are_accepted(path, case):
    """Labels may keep a chance for others, weights may be small, and a dead component counts 0."""
    partita.save_model(fitted(), path)
    with np.load(path) as archive:
        arrays = dict(archive)
    if case == "few":
        arrays["tables"] = arrays["tables"] - 1
    if case == "light":
        arrays |= {"weights": arrays["weights"] / 2, "tables": arrays["tables"] / 2}
    if case == "dead":
        arrays["bias"] = np.array([np.log(0.5), -1e8, np.log(0.5)])
    assert np.array_equal(partita.load_model(rewritten(path, arrays)).bias, arrays["bias"])


def test_timestamps_come_back(path, tmp_path):
    """pandas keeps times in a type of its own, with a time zone or without."""
    moments = pd.to_datetime(["2024-01-01", "2024-01-01", "2024-07-01 03:04:05.123456"], format="ISO8601")
    frame = pd.DataFrame({"plain": moments, "zoned": moments.tz_localize("Europe/Berlin"), "c": ["x", "x", "y"]})
    frame.to_parquet(tmp_path / "table.parquet")
    for table in (frame, partita.read(tmp_path / "table.parquet")):
        result = partita.consensus(table, "voting", 2)
        loaded = saved(result, path)
        assert loaded.classes == result.model.classes and loaded.coded(table).unseen == 0
        assert all(type(value) is datetime for value in (*loaded.classes[0], *loaded.classes[1]))
        assert loaded.classes[1][1].utcoffset() == timedelta(hours=2)
        assert loaded.predict(table).tolist() == [0, 0, 1]
    finer = partita.consensus({"a": [pd.Timestamp(1, unit="ns"), pd.Timestamp(2, unit="ns")], "b": [1, 2]}, "voting", 2)
    with pytest.raises(FileError, match=r"clustering 'a': the label Timestamp.* which a model file cannot hold"):
        partita.save_model(finer, path)


def survives(path):
    """A damaged file gives a model or one of our errors, in a line."""
    try:
        assert partita.load_model(path).bias.ndim == 1
    except FileError as error:
        assert str(path) in str(error) and "\n" not in str(error)


@pytest.fixture(scope="module", params=["mm", "voting"])
def whole(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.npz"
    partita.save_model(fitted(request.param), path)
    return path.read_bytes()


@quick
@given(changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4))
def test_flipped_bytes(whole, path, changes):
    data = bytearray(whole)
    for where, value in changes:
        data[int(where * len(data))] = value
    path.write_bytes(data)
    survives(path)


@quick
@given(where=st.floats(0, 1, exclude_max=True))
def test_cut_off(whole, path, where):
    path.write_bytes(whole[: int(where * len(whole))])
    with pytest.raises(FileError):
        partita.load_model(path)


@quick
@given(data=st.data())
def test_damaged_entries_in_a_sound_archive(whole, path, data):
    """The archive's checksums are right, so that only our own checks stand between the bytes and a model."""
    path.write_bytes(whole)
    held = entries(path)
    name = data.draw(st.sampled_from(sorted(held)))
    content = bytearray(held[name])
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with zipfile.ZipFile(path, "w") as archive:
        for entry, kept in held.items():
            archive.writestr(entry, bytes(content) if entry == name else kept)
    survives(path)
