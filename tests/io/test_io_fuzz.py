"""Whatever the bytes: an ensemble, or one of our errors in one line."""

import contextlib
import csv
import gzip
import importlib.util
import io
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from partita.core.ensemble import Ensemble
from partita.core.errors import PartitaError
from partita.io import ReadOptions, read, read_labels, text

SUFFIXES = ["csv", "tsv", "csv.gz", "parquet", "npy", "npz", "mat", "h5ad", "json"]
quick = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def survives(path, options):
    for reading in (lambda: read(path, options), lambda: read_labels(path)):
        with contextlib.suppress(PartitaError):
            try:
                reading()
            except PartitaError as error:
                assert "\n" not in str(error) and str(path) in str(error)
                raise


CHOICES = st.builds(
    ReadOptions,
    ids=st.sampled_from([None, "a", "c0"]),
    columns=st.sampled_from([(), ("*",), ("a", "b*")]),
    exclude=st.sampled_from([(), ("b",)]),
    missing=st.sampled_from([None, -1, (), "x"]),
    transpose=st.sampled_from([None, True, False]),
    header=st.sampled_from([None, True, False]),
)


@quick
@given(data=st.binary(max_size=200), suffix=st.sampled_from(SUFFIXES), options=CHOICES)
def test_random_bytes(tmp_path, data, suffix, options):
    path = tmp_path / f"random.{suffix}"
    path.write_bytes(data)
    survives(path, options)


@settings(quick, max_examples=300)
@given(data=st.text(st.sampled_from('ab01239.:,;\t\n\r" -eNAµ\0\ufeff'), max_size=80), options=CHOICES)
def test_random_text(tmp_path, data, options):
    path = tmp_path / "random.csv"
    path.write_bytes(data.encode())
    survives(path, options)


def valid(suffix):
    labels = np.array([[1, 5], [1, 6], [2, 5], [2, 6]])
    frame = pd.DataFrame({"a": ["x", "y", "x", "y"], "b": [1, 1, 2, 2]}, index=list("pqrs"))
    held = io.BytesIO()
    if suffix in ("csv", "csv.gz"):
        data = frame.to_csv().encode()
        return gzip.compress(data) if suffix == "csv.gz" else data
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pandas(frame), held)
    elif suffix == "npy":
        np.save(held, labels)
    elif suffix == "npz":
        np.savez_compressed(held, labels=labels, reference=labels[:, 0])
    elif suffix == "mat":
        savemat(held, {"members": labels, "gt": labels[:, :1]})
    else:
        import h5py
        from anndata.io import write_elem

        with warnings.catch_warnings(), h5py.File(held, "w") as file:
            warnings.simplefilter("ignore")
            write_elem(file, "obs", frame)
    return held.getvalue()


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "npy", "npz", "mat", "h5ad"])
@quick
@given(draw=st.data())
def test_mutated_files(tmp_path, suffix, draw):
    if suffix == "h5ad" and importlib.util.find_spec("anndata") is None:
        pytest.skip("the extra 'anndata' is not installed")
    data = bytearray(valid(suffix))
    for _ in range(draw.draw(st.integers(1, 4)) if suffix != "h5ad" else 0):  # flipped bytes crash libhdf5 itself
        place = draw.draw(st.integers(0, len(data) - 1))
        data[place] = draw.draw(st.integers(0, 255))
    if suffix == "h5ad" or draw.draw(st.booleans()):
        del data[draw.draw(st.integers(0, len(data) - 1)) :]
    path = tmp_path / f"mutated.{suffix}"
    path.write_bytes(data)
    survives(path, ReadOptions(columns=("a", "b")) if suffix == "h5ad" else ReadOptions())


words = st.text(st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Zs", "Cc"]), max_size=4)
cells = st.one_of(st.none(), st.integers(-3, 300).filter(lambda value: value != -1), words)


@settings(quick, max_examples=150)
@given(
    rows=st.integers(1, 8).flatmap(lambda r: st.lists(st.tuples(*[cells] * 3), min_size=r, max_size=r)),
    delimiter=st.sampled_from([",", ";", "\t"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_random_tables_round_trip(tmp_path, rows, delimiter, end):
    path = tmp_path / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator=end)
        writer.writerow(["a", "b", "c"])
        writer.writerows(rows)
    written = {
        name: [None if cell is None else str(cell).strip() for cell in column]
        for name, column in zip("abc", zip(*rows, strict=True), strict=True)
    }
    try:
        found = read(path)
    except PartitaError as error:
        assert any("-1" in column or "." in "".join(filter(None, column)) for column in written.values()), error
        return
    for j, column in enumerate(Ensemble.from_labels(written).labels.T):
        merged = {}  # "1", "01" and "+1" are one label when all of a column are numbers
        for code, other in zip(column, found.labels[:, j], strict=True):
            assert merged.setdefault(code, other) == other


integers = st.one_of(
    st.none(), st.integers(0, 12), st.integers(-(10**9) + 1, 10**9 - 1).filter(lambda value: value != -1)
)


@settings(quick, max_examples=100)
@given(rows=st.lists(st.tuples(integers, integers, integers), min_size=1, max_size=12), ids=st.booleans())
def test_both_routes_agree(tmp_path, rows, ids):
    path = tmp_path / "table.csv"
    frame = pd.DataFrame(rows, columns=["a", "b", "c"], dtype="Int64")
    frame.index = [f"o{i}" for i in frame.index]
    frame.to_csv(path, index=ids)
    expected = Ensemble.from_labels(
        {name: frame[name].tolist() for name in frame}, ids=frame.index.tolist() if ids else None
    )
    fast = read(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "read_plain", lambda *args: None)
        slow = read(path)
    for one in (fast, slow):
        assert one.classes == expected.classes and one.names == expected.names
        np.testing.assert_array_equal(one.labels, expected.labels)
        assert (one.ids is None) if not ids else (one.ids.tolist() == expected.ids.tolist())


@quick
@given(
    rows=st.integers(2, 4).flatmap(
        lambda k: st.lists(st.lists(st.floats(0.01, 1), min_size=k, max_size=k), min_size=1, max_size=6)
    )
)
def test_memberships_round_trip(tmp_path, rows):
    path = tmp_path / "soft.csv"
    block = np.array(rows)
    block /= block.sum(axis=1, keepdims=True)
    frame = pd.DataFrame(block, columns=[f"g:{j}" for j in range(block.shape[1])])
    frame["h"] = "x"
    frame.sample(frac=1, axis=1, random_state=0).to_csv(path, index=False)
    found = read(path)
    np.testing.assert_allclose(found.block(found.names.index("g")), block, rtol=1e-12)
