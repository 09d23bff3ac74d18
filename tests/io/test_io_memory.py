"""Small files that unpack to much more: refused before the memory is taken, measured as the peak of a process."""

import gzip
import io
import json
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.io import savemat

import partita
from partita.core import memory
from partita.core.errors import FileError, ParameterError
from partita.io import ReadOptions, read, read_features, read_labels
from partita.io.limits import check_input_size, input_limit

LIMIT = 0.05
SLACK = 0.06
"""Gigabytes for the interpreter, a block that is unpacked, and text while its size is counted."""
SAMPLE = 0.15
"""Gigabytes for a chunk of 4 MB in which different words are counted."""

READER = """
import json, pathlib, sys, warnings
warnings.simplefilter("ignore")
import partita
from partita import io

def status(name):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

def measure(path, reader, limit):
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # VmHWM starts again
    before = status("VmRSS")
    try:
        if reader == "features":
            message = repr(io.read_features(path, io.ReadOptions(max_input_gb=limit)))
        elif reader == "labels":
            message = repr(io.read_labels(path, max_input_gb=limit))
        else:
            columns = ("a", "b") if path.endswith("h5ad") else ()
            message = repr(io.read(path, io.ReadOptions(max_input_gb=limit, columns=columns)))
    except partita.PartitaError as error:
        message = f"{type(error).__name__}: {error}"
    return [message, (status("VmHWM") - before) / 1e9]

small, *tasks = json.loads(sys.argv[1])
for path, reader, limit in small:
    measure(path, reader, None)  # imports and kernels
print(json.dumps([measure(*task) for task in tasks]))
"""


def measured(small, *tasks):
    """Return the message and the peak memory (GB) of each reading, in one process."""
    words = [sys.executable, "-c", READER, json.dumps([small, *tasks])]
    done = subprocess.run(words, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def npy(dtype, shape):
    header = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    header = header.ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header


def gz_line(path):
    member = gzip.compress(b"1" * 10_000_000, 1)
    path.write_bytes(gzip.compress(b"a,b\n1,2\n") + member * 30)


def commas(path):
    path.write_bytes(b"," * 1_000_000)


def names(path):
    path.write_bytes(b",".join(b"c%d" % j for j in range(300_000)) + b"\n1,2\n")


def commas_below(path):
    path.write_bytes(b"a,b\n1,2\n" + b"," * 30_000_000 + b"\n")


def words(path):
    path.write_bytes(b"a,b\n" + b"".join(b"w%d,v%d\n" % (i, i) for i in range(800_000)))


def few_words(path):
    path.write_bytes(b"a,b\n" + b"".join(b"w%d,v%d\n" % (i, i) for i in range(100_000)))


def short_lines(path):
    path.write_bytes(b",".join(b"c%d" % j for j in range(1000)) + b"\n" + b"1\n" * 1_000_000)


def npy_rows(path):
    path.write_bytes(npy("|i1", (10**9, 2)))


def npy_empty_cells(path):
    path.write_bytes(npy("<U0", (10**9, 2)))


def npz_zeros(path):
    np.savez_compressed(path, labels=np.zeros((10**8, 2), np.int8))


def npz_claim(path):
    import zipfile

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labels.npy", npy("|i1", (10**9, 2)))


def parquet_run(path):
    column = pa.array(np.zeros(10**7, np.int8))
    pq.write_table(pa.table({"a": column, "b": column}), path)


def parquet_ids(path):
    long = pa.DictionaryArray.from_arrays(pa.array(np.zeros(10**5, np.int32)), pa.array(["x" * 10**5]))
    plain = pa.array(np.zeros(10**5, np.int8))
    # The schema says text, as another program would write it.
    table = pa.table({"consensus": plain, "id": long})
    pq.write_table(table, path, store_schema=False)


def mat_zeros(path):
    savemat(path, {"members": np.zeros((10**8, 2), np.int8)}, do_compression=True)


def mat_wider(path):
    """Doubles that are stored as bytes."""
    savemat(path, {"members": np.ones((6 * 10**6, 2))})
    whole = path.read_bytes()
    assert len(whole) > 6 * 10**6 * 16
    stored = np.ones(2 * 6 * 10**6, np.uint8).tobytes()
    values = struct.pack("<II", 2, len(stored)) + stored
    parts = whole[136 : 136 + 16 + 16 + 16] + values
    path.write_bytes(whole[:128] + struct.pack("<II", 14, len(parts)) + parts)


def mat_73(path):
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("members", shape=(2, 10**9), dtype="u1", chunks=(2, 1000))


def h5ad_column(path):
    import h5py
    import pandas as pd
    from anndata.io import write_elem

    with h5py.File(path, "w") as file:
        write_elem(file, "obs", pd.DataFrame({"a": list("xxyy"), "b": [1, 1, 2, 2]}, index=list("pqrs")))
        del file["obs/b"]
        column = file.create_dataset("obs/b", shape=(10**9,), dtype="i8", chunks=(1000,))
        column.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})


def h5ad_text(path):
    import h5py

    h5ad_column(path)
    with h5py.File(path, "r+") as file:
        del file["obs/b"]
        text = h5py.string_dtype()
        column = file.create_dataset("obs/b", shape=(10**6,), dtype=text, chunks=(1000,), fillvalue="x" * 1000)
        column.attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})


def h5ad_x(path):
    import h5py
    import pandas as pd
    from anndata.io import write_elem

    with h5py.File(path, "w") as file:
        write_elem(file, "obs", pd.DataFrame({"a": list("xxyy")}, index=list("pqrs")))
        write_elem(file, "var", pd.DataFrame(index=list("pqrs")))
        X = file.create_dataset("X", shape=(10**5, 10**5), dtype="f8", chunks=(100, 100))
        X.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})


def json_lists(path):
    path.write_bytes(b'{"objects": {"consensus": [' + b"[]," * 1_000_000 + b"[]]}}")


def open_quote(path):
    path.write_bytes(b'a,"b\n' + b"1,2\n" * 3_000_000)


CASES = {
    "gz_line.csv.gz": (gz_line, "unpacked data"),
    "commas.csv": (commas, "1000001 columns"),
    "names.csv": (names, "300000 columns"),
    "commas_below.csv": (commas_below, "the table"),
    "words.csv": (words, "1.6e+06 different text labels"),
    "few_words.csv": (few_words, "200000 or more different text labels"),
    "short_lines.csv": (short_lines, "1000000 rows and 1000 columns"),
    "npy_rows.npy": (npy_rows, "claims an array of int8 and shape (1000000000, 2)"),
    "npy_empty_cells.npy": (npy_empty_cells, "claims an array of <U0"),
    "npz_zeros.npz": (npz_zeros, "the archive needs 0.2 GB"),
    "npz_claim.npz": (npz_claim, "claims an array of int8"),
    "parquet_run.parquet": (parquet_run, "10000000 rows and 2 columns needs 0.16"),
    "parquet_ids.parquet": (parquet_ids, "the column of 100000 ids needs 10 GB"),
    "mat_zeros.mat": (mat_zeros, "a compressed array needs more than"),
    "mat_wider.mat": (mat_wider, "the file up to the array 'members' needs 0.108 GB"),
    "mat_73.mat": (mat_73, "'/members' of shape (2, 1000000000)"),
    "h5ad_column.h5ad": (h5ad_column, "'/obs/b' of shape (1000000000,)"),
    "h5ad_text.h5ad": (h5ad_text, "'/obs/b' of shape (1000000,)"),
    "h5ad_x.h5ad": (h5ad_x, "'/X' of shape (100000, 100000)"),
    "json_lists.json": (json_lists, "the JSON text"),
    "open_quote.csv": (open_quote, "the first line"),
}
READERS = {"h5ad_x.h5ad": "features", "json_lists.json": "labels", "parquet_ids.parquet": "labels"}


def test_files_that_unpack_to_more_than_the_limit_are_refused_at_little_memory(tmp_path):
    pytest.importorskip("anndata")
    for name, (make, _) in CASES.items():
        make(tmp_path / name)
    (tmp_path / "words_small.csv").write_text("a,b\nx,2\ny,3\ny,2\n")
    (tmp_path / "numbers_small.csv").write_text("a,b\n1,2\n1,3\n2,2\n")
    np.save(tmp_path / "small.npy", np.array([[1, 2], [1, 3]]))
    warm = [(str(path), "read", None) for path in tmp_path.glob("*small.*")]
    found = measured(warm, *((str(tmp_path / name), READERS.get(name, "read"), LIMIT) for name in CASES))
    for name, (message, peak) in zip(CASES, found, strict=True):
        assert message.startswith("FileError: ") and CASES[name][1] in message, message
        assert "\n" not in message and f"{name}: " in message
        assert "claims" in message or ("the limit is 0.05 GB" in message and "--max-input-gb" in message)
        size = (tmp_path / name).stat().st_size / 1e9
        slack = SLACK + SAMPLE * (name in ("words.csv", "few_words.csv"))
        assert peak < LIMIT + slack + size, f"{name}: {peak:.3f} GB"


@pytest.mark.parametrize(
    ("make", "name"),
    [(gz_line, "a.csv.gz"), (npz_zeros, "a.npz"), (parquet_run, "a.parquet"), (mat_73, "a.mat")],
)
def test_the_default_limit_is_half_of_the_available_memory(tmp_path, monkeypatch, make, name):
    monkeypatch.setattr("partita.io.limits.available_memory", lambda: 10**8)
    if make is mat_73:
        pytest.importorskip("h5py")
    path = tmp_path / name
    make(path)
    for reading in (read, lambda path: read_labels(path, "a"), read_features, partita.read_draws):
        with pytest.raises(FileError, match=r"the limit is 0\.05 GB \(default: half of the available memory\)"):
            reading(path)


def test_a_larger_limit_lets_a_file_through(tmp_path):
    path = tmp_path / "labels.npz"
    np.savez_compressed(path, labels=np.tile([[1, 5], [2, 6]], (50_000, 1)))
    with pytest.raises(FileError, match=r"set max_input_gb= \(--max-input-gb\) to 0\.0016 or more"):
        read(path, ReadOptions(max_input_gb=0.001))
    assert len(read(path, ReadOptions(max_input_gb=0.0016))) == 100_000
    assert len(partita.read(path, max_input_gb=1)) == 100_000


@pytest.mark.parametrize("value", [0, -1, float("nan"), "2", True, None])
def test_the_limit_is_a_number_above_0(tmp_path, value):
    path = tmp_path / "labels.csv"
    path.write_text("a,b\n1,2\n1,3\n")
    if value is None:
        assert len(read(path, ReadOptions(max_input_gb=None))) == 2
        return
    with pytest.raises(ParameterError, match="max_input_gb"):
        read(path, ReadOptions(max_input_gb=value))


def test_no_limit_where_the_system_does_not_report_its_memory(monkeypatch):
    monkeypatch.setattr("partita.io.limits.available_memory", lambda: None)
    check_input_size(10**18, input_limit(), "the table")


def test_standard_input_is_limited(tmp_path, monkeypatch):
    import types

    for data in (b"a,b\n" + b"1,2\n" * 1000, gzip.compress(b"a,b\n" + b"1,2\n" * 1000)):
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(data)))
        with pytest.raises(FileError, match="standard input: the unpacked data needs more than"):
            read("-", ReadOptions(max_input_gb=1e-6))


def test_truncated_compressed_matlab_arrays_are_damaged(tmp_path):
    path = tmp_path / "pool.mat"
    packed = zlib.compress(b"\0" * 1000)[:-6]
    head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\x01IM"
    path.write_bytes(head + struct.pack("<II", 15, len(packed)) + packed)
    with pytest.raises(FileError, match="cut off or damaged"):
        read(path)


def test_models_and_results_larger_than_the_limit(tmp_path, monkeypatch):
    result = partita.consensus([["a", 1], ["a", 1], ["b", 2]], "voting", 2)
    result.save(tmp_path / "result.partita")
    partita.save_model(result, tmp_path / "model.npz")
    monkeypatch.setattr("partita.io.limits.available_memory", lambda: 1000)
    for load, name in ((partita.load, "result.partita"), (partita.load_model, "model.npz")):
        with pytest.raises(FileError, match=f"{name}: the file needs"):
            load(tmp_path / name)


def command(*words):
    return subprocess.run([sys.executable, "-m", "partita", *words], capture_output=True, text=True, timeout=300)


def test_the_command_line_option(tmp_path):
    path, small = tmp_path / "labels.csv.gz", tmp_path / "small.csv"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n3,4\n" * 100_000))
    small.write_text("a,b\n1,2\n3,4\n")
    for words in (["run", path], ["evaluate", small, "--column", "a", "--truth", path, "--truth-column", "a"]):
        done = command(*map(str, words), "--max-input-gb", "0.0001")
        assert done.returncode == 1 and "--max-input-gb" in done.stderr and "Traceback" not in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_the_three_cases_of_the_audit(tmp_path):
    """15 MB of gz with one line of 3.3 GB, a 128-byte NPY, and 100 MB of commas, with a limit of 1 GB and without."""
    line, header, row = tmp_path / "line.csv.gz", tmp_path / "rows.npy", tmp_path / "commas.csv"
    member = gzip.compress(b"1" * 33_000_000, 9)
    line.write_bytes(gzip.compress(b"a,b\n1,2\n") + member * 100)
    header.write_bytes(npy("<U0", (10**9, 2)))
    row.write_bytes(b"," * 10**8)
    tasks = [(str(path), "read", 1.0) for path in (line, header, row)]
    for (message, peak), path in zip(measured([], *tasks), (line, header, row), strict=True):
        assert message.startswith("FileError: ") and f"{path}: " in message
        assert peak < 1.3, message
    if (memory.available_memory() or 0) > 9 * 10**9:
        ((message, peak),) = measured([], (str(line), "read", None))
        assert "line 3 has 3.3 GB" in message and peak < 4
    assert Path(row).exists()
