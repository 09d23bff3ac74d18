"""Every check of the input finds the same, with the same code and the same way out, wherever the table comes from."""

import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import partita
from partita import ConsensusClustering, Ensemble, PartitaWarning, SoftEnsemble
from partita.cli.main import main
from partita.core.checks import ALL, ERRORS, WARNINGS
from partita.core.errors import CheckError, InputWarning, LabelError, ParameterError
from partita.core.ways_out import COMMAND, FILE, offering
from partita.datasets import segments_path
from tests.samples import noisy_labels

ROWS = 40


def labels(columns=4, rows=ROWS, k=3):
    table, _ = noisy_labels(n=rows, r=columns, k=k)
    return {f"run{j}": table[:, j].tolist() for j in range(columns)}


def measurements():
    rng = np.random.default_rng(0)
    size = rng.normal(100, 20, 300)
    return {f"length{j}": (size + rng.normal(0, 10, 300)).astype(int).tolist() for j in range(4)}


TABLES = {
    "id-like-column": labels() | {"customer": [1000 + 7 * i for i in range(ROWS)]},
    "transposed": labels(columns=40, rows=5),
    "partita-output": labels() | {"consensus": [0, 1] * 20, "confidence": [1, 0] * 20},
    "more-columns-than-rows": labels(columns=10, rows=6),
    "looks-like-features": measurements(),
    "all-missing-column": labels() | {"late": [None] * ROWS},
    "constant-column": labels() | {"old": [3] * ROWS},
}
"""A table for every code in which this is the only finding; `memberships` have a test of their own."""
TEXTS = {
    "id-like-column": "column 'customer' has 40 values that are all different",
    "transposed": "the table has 5 objects (rows) and 40 clusterings (columns) and looks transposed",
    "partita-output": "the columns 'consensus', 'confidence' are output of Partita",
    "more-columns-than-rows": "the table has 6 objects (rows) and 10 clusterings (columns); ",
    "looks-like-features": "the table looks like features",
    "all-missing-column": "column 'late' has no labels and is not used",
    "constant-column": "column 'old' has the same label for all objects",
}
NO_COLUMNS = {"ids": "", "transpose": "", "no_transpose": "", "cluster": "partita.cluster(X)"}
READ = "how=partita.Streaming(read=partita.io.ReadOptions(exclude={}))"
SYNTAX = {
    "python": {
        "ids": "set ids='customer' if it holds ids, ",
        "transpose": "set transpose=True if the clusterings are in rows, ",
        "no_transpose": "transpose=False or ",
        "allow": "allow='{}'",
        "without": lambda names: "drop the column" if len(names) == 1 else "drop these columns",
        "cluster": "partita.cluster(X)",
    }
}
SYNTAX["file"] = SYNTAX["python"] | {
    "without": lambda names: f"exclude {'the column' if len(names) == 1 else 'these columns'} (exclude={names})"
}
SYNTAX["stream"] = SYNTAX["python"] | {
    "transpose": "",
    "without": lambda names: f"exclude {'the column' if len(names) == 1 else 'these columns'} ({READ.format(names)})",
}
SYNTAX["anndata"] = NO_COLUMNS | {
    "allow": "allow='{}'",
    "without": lambda names: f"give other keys= without {'the column' if len(names) == 1 else 'these columns'}",
}
SYNTAX["estimator"] = SYNTAX["python"] | {"transpose": "give X.T if the clusterings are in rows, "}
SYNTAX["command"] = {
    "ids": "give --id customer if it holds ids, ",
    "transpose": "give --transpose if the clusterings are in rows, ",
    "no_transpose": "--no-transpose or ",
    "allow": "--allow {}",
    "without": lambda names: (
        f"exclude {'the column' if len(names) == 1 else 'these columns'} "
        f"({' '.join('--exclude ' + name for name in names)})"
    ),
    "cluster": "partita cluster",
}
"""Parts of the ways out for each kind of entry point."""


def ways_out(code, kind):
    """The end of the message of a code."""
    syntax = SYNTAX[kind]
    allow, without = syntax["allow"].format(code), syntax["without"]
    shape = f"{syntax['transpose']}set {syntax['no_transpose']}{allow} if they are in columns"
    return {
        "id-like-column": f"; {syntax['ids']}{without(['customer'])}, or set {allow} if it is a clustering",
        "transposed": f"; {shape}",
        "more-columns-than-rows": f"; {shape}",
        "partita-output": f", not base clusterings; {without(['consensus', 'confidence'])}; only if they are "
        f"clusterings that have these names by coincidence, set {allow}",
        "looks-like-features": f", use {syntax['cluster']}; set {allow} if they are cluster labels",
        "all-missing-column": f" is not used; check the missing values, or {without(['late'])}",
        "constant-column": f" for all objects; {without(['old'])} if this is a mistake",
    }[code]


def nothing_is_missing(table):
    return all(value is not None for column in table.values() for value in column)


def from_array(table, allow, folder):
    array = np.array([[np.nan if v is None else v for v in column] for column in table.values()]).T
    array = array.astype(np.int64) if nothing_is_missing(table) else array
    return Ensemble.from_labels(array, list(table), allow=allow)


def from_lists(table, allow, folder):
    return Ensemble.from_labels([list(row) for row in zip(*table.values(), strict=True)], list(table), allow=allow)


def from_mapping(table, allow, folder):
    return partita.consensus(table, "voting", 2, allow=allow).ensemble


def from_pandas(table, allow, folder):
    return partita.consensus(pd.DataFrame(table), "voting", 2, allow=allow).ensemble


def from_polars(table, allow, folder):
    return Ensemble.from_labels(pl.DataFrame(table), allow=allow)


def from_arrow(table, allow, folder):
    return Ensemble.from_labels(pa.table(table), allow=allow)


def csv_file(table, folder):
    pd.DataFrame({name: pd.array(column, "Int64") for name, column in table.items()}).to_csv(
        folder / "table.csv", index=False
    )
    return folder / "table.csv"


def parquet_file(table, folder):
    pq.write_table(
        pa.table({name: pa.array(column, pa.int64()) for name, column in table.items()}), folder / "t.parquet"
    )
    return folder / "t.parquet"


def from_csv(table, allow, folder):
    return partita.read(csv_file(table, folder), allow=allow)


def from_parquet(table, allow, folder):
    return partita.read(parquet_file(table, folder), allow=allow)


def from_anndata(table, allow, folder):
    anndata = pytest.importorskip("anndata")
    obs = pd.DataFrame(table).astype("category")
    obs.index = [f"cell{i}" for i in range(len(obs))]
    adata = anndata.AnnData(np.zeros((len(obs), 1)), obs)
    return partita.anndata.ensemble(adata, list(table), allow=allow)


def from_estimator(table, allow, folder):
    return ConsensusClustering("voting", n_clusters=2, allow=allow).fit(pd.DataFrame(table)).consensus_.ensemble


def from_stream(table, allow, folder):
    read = partita.io.ReadOptions(allow=allow)
    return partita.stream(str(parquet_file(table, folder)), None, "voting", 2, how=partita.Streaming(read=read))


ENTRIES = [
    from_array,
    from_lists,
    from_mapping,
    from_pandas,
    from_polars,
    from_arrow,
    from_csv,
    from_parquet,
    from_anndata,
    from_estimator,
    from_stream,
]


def found_by(entry, table, folder, allow=()):
    """The code and the text of everything that was found, and the notes of the ensemble."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", InputWarning)
        try:
            ensemble = entry(table, allow, folder)
        except CheckError as error:
            return [(error.code, str(error))]
    found = [(w.message.code, str(w.message)) for w in heard if isinstance(w.message, InputWarning)]
    assert found == [(note.code, str(note)) for note in ensemble.notes if note.code in WARNINGS]
    return found


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.__name__)
@pytest.mark.parametrize("code", sorted(TABLES))
def test_the_same_finding_everywhere(code, entry, tmp_path):
    ((found, text),) = found_by(entry, TABLES[code], tmp_path)
    kinds = {from_csv: "file", from_parquet: "file", from_anndata: "anndata", from_estimator: "estimator"}
    kind = "stream" if entry is from_stream else kinds.get(entry, "python")
    assert found == code and TEXTS[code] in text and text.endswith(ways_out(code, kind))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.__name__)
@pytest.mark.parametrize("code", sorted(TABLES))
def test_allow_switches_a_check_off(code, entry, tmp_path):
    again = {"transposed": ["more-columns-than-rows"]}.get(code, [])
    assert [found for found, _ in found_by(entry, TABLES[code], tmp_path, allow=code)] == again


def run(monkeypatch, capsys, *words):
    """Exit code, standard output and standard error of a command in this process."""
    monkeypatch.setattr(sys, "argv", ["partita", *map(str, words)])
    with warnings.catch_warnings():
        warnings.simplefilter("always", PartitaWarning)
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    out, err = capsys.readouterr()
    return code or 0, out, err


@pytest.mark.parametrize("code", sorted(TABLES))
def test_the_command_line_finds_the_same(code, tmp_path, monkeypatch, capsys):
    path = csv_file(TABLES[code], tmp_path)
    text = found_by(from_csv, TABLES[code], tmp_path)[0][1]
    assert text.endswith(ways_out(code, "file"))
    expected = text.removesuffix(ways_out(code, "file")) + ways_out(code, "command")
    words = ("run", path, "-m", "voting", "-k", 2, "--json")
    status, out, err = run(monkeypatch, capsys, *words)
    if code in ERRORS:
        assert status == 1 and err == f"partita: {expected}\n"
    else:
        assert status == 0 and f"warning: {expected}\n" in err
        assert {"code": code, "text": expected} in json.loads(out)["notes"]
        status, _, err = run(monkeypatch, capsys, *words, "--strict")
        assert status == 1 and err.startswith(f"partita: {expected}") and f"--allow {code}" in err
    allow = ("--allow", code) if code != "transposed" else ("--no-transpose",)
    status, out, err = run(monkeypatch, capsys, *words, *allow, "--strict")
    assert status == 0 and code not in [note["code"] for note in json.loads(out)["notes"]]


def test_the_ways_out_work(tmp_path):
    customer, wide = TABLES["id-like-column"], TABLES["transposed"]
    ensemble = Ensemble.from_labels(customer, ids="customer")
    assert not ensemble.notes and ensemble.id_name == "customer" and ensemble.ids[1] == 1007
    turned = Ensemble.from_labels(wide, transpose=True)
    assert len(turned) == 40 and not turned.notes
    assert len(Ensemble.from_labels(wide, transpose=False)) == 5
    path = csv_file(TABLES["partita-output"], tmp_path)
    assert partita.read(path, exclude=("consensus", "confidence")).names == ("run0", "run1", "run2", "run3")


def test_what_partita_wrote_is_not_read_as_clusterings(tmp_path):
    ensemble = Ensemble.from_labels(labels(), ids=[f"o{i}" for i in range(ROWS)])
    result = partita.consensus(ensemble, "mm", 3)
    frame = pd.DataFrame(labels()).join(result.to_frame())
    for name in ("out.csv", "out.parquet", "out.tsv"):
        partita.write(result, tmp_path / name)
        with pytest.raises(CheckError, match="output of Partita") as caught:
            partita.read(tmp_path / name)
        assert caught.value.code == "partita-output" and name in str(caught.value)
    with pytest.raises(CheckError, match="output of Partita"):
        partita.consensus(frame, ids="id")
    kept = frame.drop(columns=[c for c in frame.columns if c.startswith(("consensus", "confidence", "second"))])
    assert np.array_equal(partita.consensus(kept, "mm", 3, ids="id").labels, result.labels)


@pytest.mark.parametrize("shape", [(2, 8), (3, 10), (40, 100)])
def test_more_columns_than_rows(shape):
    table = np.random.default_rng(0).integers(0, 2, shape)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        Ensemble.from_labels(table, allow="constant-column")
    assert [w.message.code for w in heard] == ["more-columns-than-rows"]
    assert heard[0].filename == __file__  # the warning points to the line of the user


def test_limits_of_the_id_check():
    def column(rows, known):
        return {"a": [0, 1] * (rows // 2), "b": [i if i < known else None for i in range(rows)]}

    for rows, known in ((20, 20), (40, 20), (100, 60)):
        with pytest.raises(CheckError):
            Ensemble.from_labels(column(rows, known))
    for rows, known in ((18, 18), (42, 20)):  # fewer than 20 rows; fewer than half of the rows known
        Ensemble.from_labels(column(rows, known))
    Ensemble.from_labels(column(40, 40), weights={"b": 0})  # a clustering of weight 0 is not used


def test_memberships_are_checked_too(tmp_path):
    shares = np.full((30, 2), 0.5)
    with pytest.warns(InputWarning, match="column 'b' has the same label"):
        soft = SoftEnsemble.from_memberships({"a": shares, "b": ["x"] * 30})
    assert [note.code for note in soft.notes] == ["constant-column"]
    with pytest.raises(CheckError, match="'b' has 30 values that are all different"):
        SoftEnsemble.from_memberships({"a": shares, "b": [f"o{i}" for i in range(30)]})
    text = "a:0,a:1,b\n" + "".join(f"0.5,0.5,o{i}\n" for i in range(30))
    (tmp_path / "mixed.csv").write_text(text)
    with pytest.raises(CheckError, match="'b' has 30 values that are all different"):
        partita.read(tmp_path / "mixed.csv")


def test_warnings_become_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", PartitaWarning)
        with pytest.raises(InputWarning, match="'old'"):
            Ensemble.from_labels(TABLES["constant-column"])


def test_unknown_codes_and_options_of_a_finished_ensemble():
    with pytest.raises(ParameterError, match=r"allow='ids' is not the code of a check; codes: all-missing-column"):
        Ensemble.from_labels(labels(), allow="ids")
    with pytest.raises(ParameterError, match=r"ids= is an option for reading a table, but an Ensemble was given"):
        partita.consensus(Ensemble.from_labels(labels()), k=2, ids="customer")
    with pytest.raises(ParameterError, match=r"weights= is an option for reading a table"):
        partita.consensus(Ensemble.from_labels(labels()), k=2, weights=np.ones(4))
    with pytest.raises(ParameterError, match="transpose=True is not supported"):
        ConsensusClustering(transpose=True).fit(pd.DataFrame(labels()))


def test_estimator_with_ids():
    frame = pd.DataFrame(TABLES["id-like-column"])
    model = ConsensusClustering("voting", n_clusters=3, ids="customer").fit(frame)
    assert model.consensus_.ids.tolist() == frame["customer"].tolist()
    assert np.array_equal(model.predict(frame), model.labels_)
    array = frame[["customer", "run0", "run1"]].to_numpy()
    model = ConsensusClustering("voting", n_clusters=3, ids="c0").fit(array)
    assert np.array_equal(model.predict(array), model.labels_)


def test_the_ways_out_of_the_estimator_work():
    wide = pd.DataFrame(TABLES["transposed"])
    with pytest.raises(CheckError, match=r"give X\.T if"):
        ConsensusClustering("voting", n_clusters=2).fit(wide)
    assert len(ConsensusClustering("voting", n_clusters=2).fit(wide.T).labels_) == 40
    assert len(ConsensusClustering("voting", n_clusters=2, transpose=False).fit(wide).labels_) == 5


def test_the_ways_out_of_anndata_work():
    anndata = pytest.importorskip("anndata")
    obs = pd.DataFrame(TABLES["id-like-column"], index=[f"cell{i}" for i in range(ROWS)]).astype("category")
    adata = anndata.AnnData(np.zeros((ROWS, 1)), obs)
    keys = ["run*", "customer"]
    with pytest.raises(CheckError, match="'customer' has 40 values") as caught:
        partita.anndata.consensus(adata, keys, k=2, method="voting")
    assert "ids=" not in str(caught.value) and "exclude" not in str(caught.value)
    partita.anndata.consensus(adata, keys, k=2, method="voting", allow="id-like-column")
    partita.anndata.consensus(adata, "run*", k=2, method="voting")
    wide = partita.anndata.ensemble(adata[:5].copy(), "run*", allow="constant-column")
    with pytest.warns(InputWarning, match=r"columns\); set allow='more-columns-than-rows' if they"):
        partita.anndata.ensemble(adata[:3].copy(), "run*", allow="constant-column")
    assert len(wide) == 5


def test_names_are_quoted_for_the_shell(tmp_path, monkeypatch, capsys):
    frame = pd.DataFrame({f"run {j}": column for j, column in enumerate(labels().values())})
    frame.insert(0, "Unnamed: 0", [1000 + 7 * i for i in range(ROWS)])
    frame["old run"] = 3
    frame.to_csv(tmp_path / "t.csv", index=False)
    _, _, err = run(monkeypatch, capsys, "run", tmp_path / "t.csv", "-k", 2, "-m", "voting")
    assert "give --id 'Unnamed: 0' if it holds ids, exclude the column (--exclude 'Unnamed: 0'), or" in err
    _, _, err = run(monkeypatch, capsys, "run", tmp_path / "t.csv", "--id", "Unnamed: 0", "-k", 2, "-m", "voting")
    assert "exclude the column (--exclude 'old run') if this is a mistake" in err


def test_columns_of_a_result_are_still_to_be_dropped_when_the_check_is_off(tmp_path, monkeypatch, capsys):
    result = partita.consensus(labels(), "voting", 3)
    frame = pd.DataFrame(labels()).join(result.to_frame().drop(columns="id", errors="ignore"))
    with pytest.raises(CheckError, match=r"drop these columns; only if .* by coincidence, set allow='partita-output'"):
        partita.consensus(frame)
    frame = frame[[name for name in frame.columns if ":" not in name]]
    with pytest.raises(LabelError, match=r"'confidence', row 1: .*; drop the column if it is not a clustering"):
        partita.consensus(frame, allow="partita-output")
    frame.to_csv(tmp_path / "t.csv", index=False)
    _, _, err = run(monkeypatch, capsys, "run", tmp_path / "t.csv", "--allow", "partita-output")
    assert "exclude the column (--exclude confidence) if it is not a clustering" in err


def test_many_columns_are_named_in_part():
    table = labels() | {f"old{j}": [3] * ROWS for j in range(12)}
    with pytest.warns(InputWarning, match="and 4 more have the same .*; drop these columns if"):
        Ensemble.from_labels(table)
    with offering(COMMAND), pytest.warns(InputWarning, match=r"\(--exclude old0 .*--exclude old7 …\)"):
        Ensemble.from_labels(table)
    with offering(COMMAND), offering(FILE), pytest.warns(InputWarning, match=r"--exclude old7 …\)"):
        Ensemble.from_labels(table)
    with offering(FILE), pytest.warns(InputWarning, match=r"\(exclude=\['old0', .*, …\]\)"):
        Ensemble.from_labels(table)


def test_federate_simulate_has_the_options_that_errors_name(tmp_path, monkeypatch, capsys):
    np.save(tmp_path / "t.npy", np.array(list(noisy_labels(n=60, r=5, k=3)[0].T)))
    words = ("federate", "simulate", tmp_path / "t.npy", "-k", 3, "--sites", 3, "-m", "mm", "-q")
    status, _, err = run(monkeypatch, capsys, *words)
    assert status == 1 and "give --transpose if the clusterings are in rows, set --no-transpose or" in err
    assert run(monkeypatch, capsys, *words, "--transpose")[0] == 0
    (tmp_path / "t.csv").write_text("3,1\n" * 4 + "1,3\n" * 8)
    words = ("federate", "simulate", tmp_path / "t.csv", "-k", 2, "-q")
    status, _, err = run(monkeypatch, capsys, *words)
    assert status == 1 and "--no-header" in err
    assert run(monkeypatch, capsys, *words, "--no-header")[0] == 0


def data_folder():
    folder = os.environ.get("PARTITA_DATA")
    if not folder:
        pytest.skip("PARTITA_DATA names no folder with the data sets")
    return Path(folder)


def test_no_false_alarm_on_the_shared_pools():
    with warnings.catch_warnings():
        warnings.simplefilter("error", PartitaWarning)
        for path in sorted((data_folder() / "pools").glob("*.npz")):
            ensemble = partita.read(path)
            assert not ensemble.notes and len(ensemble.names) == 100
            for columns in (range(10), range(50, 70)):
                part = ensemble.columns(columns)
                Ensemble.from_labels(part.labels.astype(int))


def test_no_false_alarm_on_the_bundled_example():
    with warnings.catch_warnings():
        warnings.simplefilter("error", PartitaWarning)
        assert not partita.read(segments_path(), ids="customer").notes


def test_every_command_that_reads_labels_reports_a_column_of_ids(tmp_path, monkeypatch, capsys):
    path = csv_file(TABLES["id-like-column"], tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.csv").write_text("consensus\n" + "0\n1\n" * (ROWS // 2))
    for words in (
        ("run", path),
        ("select-k", path),
        ("compare", path),
        ("report", path, "-o", "r.html"),
        ("evaluate", "labels.csv", "--ensemble", path),
        ("federate", "simulate", path, "-k", 3),
        ("run", parquet_file(TABLES["id-like-column"], tmp_path), "--stream", "-o", "out.parquet"),
    ):
        status, _, err = run(monkeypatch, capsys, *words)
        assert status == 1 and "column 'customer' has 40 values" in err and "Traceback" not in err, (words, err)


def test_a_streamed_table_that_is_wider_than_long_is_confirmed(tmp_path, monkeypatch, capsys):
    path = parquet_file(TABLES["transposed"], tmp_path)
    words = ("run", path, "--stream", "-m", "voting", "-k", 2, "-o", tmp_path / "out.parquet")
    status, _, err = run(monkeypatch, capsys, *words)
    assert status == 1 and "; set --no-transpose or --allow transposed if they are in columns" in err
    assert run(monkeypatch, capsys, *words, "--no-transpose", "--strict")[0] == 0


@pytest.mark.parametrize("figure", ["confidence", "second", "second_item_consensus"])
def test_output_under_another_name_is_recognized(figure):
    with pytest.raises(CheckError, match=f"'final', 'final_{figure}' are output of Partita"):
        Ensemble.from_labels(labels() | {"final": [0, 1] * 20, f"final_{figure}": [1, 0] * 20})


def test_clusterings_of_weight_0_are_not_checked():
    weights = dict.fromkeys(measurements(), 0)
    table = measurements() | {f"run{j}": column * 10 for j, column in enumerate(labels(2, rows=30).values())}
    assert not Ensemble.from_labels(table, weights=weights).notes
    blocks = {"a": np.full((30, 2), 0.5), "b": ["x"] * 30, "c": [f"o{i}" for i in range(30)]}
    assert not SoftEnsemble.from_memberships(blocks, weights={"b": 0, "c": 0}).notes


def test_memberships_of_more_clusterings_than_objects():
    blocks = [np.full((5, 2), 0.5) for _ in range(40)]
    with pytest.raises(CheckError, match="looks transposed") as caught:
        SoftEnsemble.from_memberships(blocks)
    assert "allow='transposed'" in str(caught.value)
    with pytest.warns(InputWarning, match="6 objects"):
        SoftEnsemble.from_memberships([np.full((6, 2), 0.5)] * 10)


def test_strict_includes_labels_that_the_model_never_saw(tmp_path, monkeypatch, capsys):
    path = csv_file(labels(), tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, capsys, "run", path, "-k", 3, "-m", "mm", "-o", "c.csv", "--save-model", "m.npz")[0] == 0
    (tmp_path / "new.csv").write_text("run0,run1,run2,run3\n0,0,0,77\n")
    status, out, err = run(monkeypatch, capsys, "predict", "m.npz", "new.csv", "-o", "p.csv", "--json")
    assert status == 0 and "never seen in training" in err and json.loads(out)["notes"][0]["code"] == "unseen-labels"
    assert run(monkeypatch, capsys, "predict", "m.npz", "new.csv", "-o", "q.csv", "--strict")[0] == 1


def test_every_check_has_a_table():
    assert set(TABLES) == ALL - {"memberships"}


def soft_columns(values):
    """Two clusterings with three clusters each, as columns of memberships, in the order of files."""
    rng = np.random.default_rng(0)
    truth = np.arange(ROWS) % 3
    blocks = [values(np.eye(3)[np.where(rng.random(ROWS) < 0.2, rng.integers(3, size=ROWS), truth)]) for _ in "ab"]
    return {f"{name}:{c}": block[:, c].tolist() for name, block in zip("ab", blocks, strict=True) for c in range(3)}


@pytest.mark.parametrize("values", [lambda one_hot: one_hot.astype(int), lambda one_hot: 0.7 * one_hot + 0.1])
@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_memberships_in_a_table_of_labels(make, values, tmp_path):
    columns = soft_columns(values)
    with pytest.raises(CheckError) as caught:
        partita.consensus(make(columns), "mm", 3)
    text = str(caught.value)
    assert caught.value.code == "memberships" and "the columns 'a:0', 'a:1', 'a:2' are memberships" in text
    assert "partita.SoftEnsemble.from_memberships({'a': table[['a:0', 'a:1', 'a:2']], …})" in text
    # both ways out give the same ensemble
    frame = pd.DataFrame(columns)
    frame.to_csv(tmp_path / "soft.csv", index=False)
    soft = SoftEnsemble.from_memberships({name: frame[[f"{name}:{c}" for c in range(3)]] for name in "ab"})
    assert np.allclose(partita.read(tmp_path / "soft.csv").matrix, soft.matrix)


def test_columns_that_only_have_the_names_of_memberships():
    runs = {"leiden:0": [0, 0, 1, 2, 1], "leiden:1": [0, 0, 1, 1, 1]}
    assert len(Ensemble.from_labels(runs | {"text:0": list("ababa"), "text:1": list("aabbb")}).names) == 4
    pair = {"seed:0": [0, 1, 0, 1], "seed:1": [1, 0, 1, 0]}
    assert len(Ensemble.from_labels(pair, allow="memberships").names) == 2


def turned(rows=30):
    """A table with clusterings in rows, their names in the first column, and objects in the other columns."""
    frame = pd.DataFrame(labels(rows=rows)).T
    frame.columns = [f"object{i}" for i in range(rows)]
    return frame.reset_index(names="clustering")


@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas])
def test_names_of_clusterings_are_no_object(make, tmp_path):
    """In a table with clusterings in rows, their names would be the labels of one more object."""
    table = make(turned())
    text = "column 'clustering' looks like the names of the clusterings, not like the labels of an object; "
    with pytest.raises(CheckError, match=text) as caught:
        Ensemble.from_labels(table, transpose=True)
    assert caught.value.code == "id-like-column" and "set ids='clustering' if it holds names" in str(caught.value)
    ensemble = Ensemble.from_labels(table, transpose=True, ids="clustering")
    assert ensemble.names == ("run0", "run1", "run2", "run3") and ensemble.id_name == "id"
    assert ensemble.ids.tolist() == [f"object{i}" for i in range(30)]
    assert len(Ensemble.from_labels(table, transpose=True, allow="id-like-column")) == 31
    turned().to_csv(tmp_path / "turned.csv", index=False)
    turned().to_parquet(tmp_path / "turned.parquet", index=False)
    for name in ("turned.csv", "turned.parquet"):
        with pytest.raises(CheckError, match=text):
            partita.read(tmp_path / name, transpose=True)
        again = partita.read(tmp_path / name, transpose=True, ids="clustering")
        assert again.fingerprint == ensemble.fingerprint and again.names == ensemble.names
        assert again.ids.tolist() == ensemble.ids.tolist() and again.id_name == "id"


def test_an_object_alone_in_some_clusterings_is_not_taken_for_names():
    frame = turned().drop(columns="clustering").astype(str)
    frame["object3"] = ["alone", "0", "alone too", "1"]
    assert len(Ensemble.from_labels(frame, transpose=True)) == 30
    small = turned(rows=15).astype(str)  # fewer than 20 columns
    assert len(Ensemble.from_labels(small, transpose=True)) == 16


def test_ids_of_the_objects_in_a_row():
    """The table of a frame with ids, turned: the ids are one of its rows."""
    frame = pd.DataFrame({"customer": [f"c{i}" for i in range(30)]} | labels(rows=30))
    ensemble = Ensemble.from_labels(frame.T, transpose=True, ids="customer")
    assert ensemble.ids.tolist() == frame["customer"].tolist() and ensemble.id_name == "customer"
