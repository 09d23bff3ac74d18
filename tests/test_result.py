"""A result as tables, as text and under other cluster numbers."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import partita
from partita import Consensus, Ensemble, registry
from partita.core.consensus import placed
from partita.core.errors import FileError, ParameterError, TableError
from partita.metrics import column_nmi, item_matrix
from tests.samples import noisy, noisy_labels, noisy_soft

IDS = [f"o{i}" for i in range(60)]


@pytest.fixture(scope="module")
def ensemble():
    labels, _ = noisy_labels(missing=0.1)
    return Ensemble.from_labels(labels, ids=IDS, missing=-1)


@pytest.fixture(scope="module")
def result(ensemble):
    return partita.consensus(ensemble, "mm", 4)


def test_the_same_columns_everywhere(result, tmp_path):
    columns = [
        "id",
        "consensus",
        "confidence",
        "second",
        "second_item_consensus",
        *(f"consensus:{c}" for c in range(4)),
    ]
    frame = result.to_frame()
    assert list(frame.columns) == result.to_arrow().column_names == columns
    partita.write(result, tmp_path / "out.csv")
    partita.write(result, tmp_path / "out.parquet")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out.csv"), frame, check_dtype=False)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), frame)
    for name in columns[1:5]:
        field = {"consensus": "labels"}.get(name, name)
        np.testing.assert_array_equal(frame[name], getattr(result, field))
    np.testing.assert_array_equal(frame[columns[5:]], result.membership)
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(np.zeros((60, 1)), pd.DataFrame(index=IDS))
    partita.anndata.annotate(adata, result)
    assert list(adata.obs) == [
        "consensus",
        "consensus_confidence",
        "consensus_second",
        "consensus_second_item_consensus",
    ]
    np.testing.assert_array_equal(adata.obs["consensus_second"], result.second)
    assert adata.uns["consensus"]["schema"] == 1 and adata.uns["consensus"]["params"]["fingerprint"]


def test_the_metadata_of_tables(result, tmp_path):
    partita.write(result, tmp_path / "out.parquet")
    for schema in (pq.read_schema(tmp_path / "out.parquet"), result.to_arrow().schema):
        about = json.loads(schema.metadata[b"partita"])
        assert about["schema"] == 1 and about["fingerprint"] == result.ensemble.fingerprint
        assert about["recipe"]["method"] == "mm"


def test_the_id_column_keeps_its_name(tmp_path):
    table = {"customer": IDS, "a": [0, 1] * 30, "b": [0, 1, 1] * 20}
    result = partita.consensus(pd.DataFrame(table), "voting", 2, ids="customer")
    assert result.to_frame().columns[0] == "customer" and result.to_frame("who").columns[0] == "who"
    assert len(pd.DataFrame(table).merge(result.to_frame(), on="customer")) == 60
    indexed = pd.DataFrame(table).set_index("customer")
    assert partita.consensus(indexed, "voting", 2).to_arrow().column_names[0] == "customer"
    indexed.reset_index().to_csv(tmp_path / "t.csv", index=False)
    read = partita.consensus(partita.read(tmp_path / "t.csv", ids="customer"), "voting", 2)
    assert read.to_arrow().column_names[0] == "customer"
    with pytest.raises(partita.PartitaError, match="cannot be called 'consensus'"):
        read.to_arrow("consensus")


def test_to_frame_without_pandas(tmp_path):
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "import partita\n"
        "r = partita.consensus([[0, 1], [0, 1], [1, 0]], k=2)\n"
        "print(r.to_arrow().num_rows)\n"
        "try: r.to_frame()\n"
        "except partita.PartitaError as e: print(e)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["3", "to_frame() needs pandas: pip install pandas, or use to_arrow()"]


@pytest.mark.parametrize("name", ["voting", "mm", "lwea", "auto"])
@pytest.mark.parametrize("make", [noisy, noisy_soft])
def test_second_is_the_nearest_other_cluster(name, make):
    if make is noisy_soft and name == "voting":
        pytest.skip("voting takes hard labels")
    base = make()
    result = partita.consensus(base, name, 3)
    shares = item_matrix(base, result.labels)
    shares[np.arange(len(base)), result.labels] = -1
    np.testing.assert_allclose(result.second_item_consensus, shares.max(axis=1), rtol=1e-12)
    np.testing.assert_allclose(shares[np.arange(len(base)), result.second], shares.max(axis=1), rtol=1e-12)


@pytest.mark.parametrize("make", [noisy, noisy_soft])
def test_second_of_new_objects(make):
    """New rows are compared with all training objects: a row of training plus a copy of itself in its cluster."""
    base = make()
    result = partita.consensus(base, "mm", 3)
    found = placed(result.model, base)
    tables = result.model.counts
    for i in range(len(base)):
        shares = []
        for h in range(result.k):
            top = low = 0.0
            for j, table in enumerate(tables):
                row = base.block(j)[i] if make is noisy_soft else np.eye(base.sizes[j])[base.labels[i, j]]
                top += row @ table[h]
                low += table[h].sum()
            shares.append(top / low if h != found.labels[i] else -1)
        assert found.second_item_consensus[i] == pytest.approx(max(shares))
        assert shares[found.second[i]] == pytest.approx(max(shares))


def test_one_cluster_has_no_second():
    result = partita.consensus([[0, 1], [0, 1], [1, 0]], "voting", 1)
    assert result.second.tolist() == [-1, -1, -1] and np.isnan(result.second_item_consensus).all()


@pytest.mark.parametrize("name", sorted(registry.METHODS))
def test_agreement_is_the_nmi_with_every_clustering(name):
    labels, _ = noisy_labels(n=40, r=5, k=3)
    table = np.column_stack([labels, np.arange(40) % 2])
    base = Ensemble.from_labels(table, weights=[1, 1, 1, 2, 1, 0])
    result = partita.consensus(base, name, 3)
    assert [row["clustering"] for row in result.agreement] == list(base.names)
    assert [row["weight"] for row in result.agreement] == base.weights.tolist()
    np.testing.assert_allclose([row["nmi"] for row in result.agreement], column_nmi(base, result.labels), rtol=1e-12)
    assert result.ensemble is base


def test_agreement_with_missing_labels(ensemble, result):
    table = pd.DataFrame(result.agreement)
    assert list(table) == ["clustering", "clusters", "missing", "weight", "nmi"]
    np.testing.assert_allclose(table["missing"], (ensemble.labels < 0).mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(table["nmi"], column_nmi(ensemble, result.labels), rtol=1e-12)
    empty = Ensemble.from_labels({"a": [0, 1, 1], "b": [0, 1, 1], "c": [None] * 3}, allow="all-missing-column")
    last = partita.consensus(empty, "voting", 2).agreement[-1]
    assert last["missing"] == 1 and np.isnan(last["nmi"])


def test_candidates_and_summary():
    result = partita.consensus(noisy(), k=4)
    rows = pd.DataFrame(result.candidates)
    assert list(rows) == ["method", "k", "anmi", "covariance", "seconds", "refused", "chosen"]
    assert rows["chosen"].sum() == 1 and rows.loc[rows["chosen"], "method"].item() == result.detail["chosen"]
    summary = json.loads(json.dumps(result.summary()))
    assert summary["clusters"] == 4 and len(summary["candidates"]) == 3 and len(summary["agreement"]) == 7


def test_repr(ensemble, result):
    lines = repr(result).splitlines()
    sizes = ", ".join(map(str, result.sizes))
    assert lines[0] == (
        f"Consensus of 7 clusterings of 60 objects: 4 clusters ({sizes}), mean confidence {result.mean_confidence:.2f}"
    )
    assert lines[1] == f"method mm, mean NMI with the clusterings {result.scores['anmi']:.3f}, seed 0"
    with_note = partita.consensus({"a": [0, 1, None], "b": [0, 1, None]}, k=2)
    assert repr(with_note).splitlines()[2].startswith("note: 1 object has no label")
    assert repr(Consensus.hard([0, 0, 1])) == "Consensus of 3 objects: 2 clusters (2, 1)"


@pytest.mark.parametrize("name", sorted(registry.METHODS))
def test_clusters_numbered_by_size(name):
    labels, _ = noisy_labels(n=50, r=5, k=3, noise=0.1)
    labels = np.concatenate([labels, labels[[0] * 10]])
    result = partita.consensus(labels, name, 3)
    ours = result.number_by_size()
    assert (np.diff(ours.sizes) <= 0).all() and sorted(ours.sizes) == sorted(result.sizes)
    check_renumbered(result, ours, labels)


def check_renumbered(before, after, table):
    """The same clusters under other numbers, in every field."""
    number = dict(zip(before.labels.tolist(), after.labels.tolist(), strict=True))
    assert len(set(number.values())) == len(number)
    seconds = [number[h] if h >= 0 else -1 for h in before.second.tolist()]
    assert after.second.tolist() == seconds and np.array_equal(after.confidence, before.confidence, equal_nan=True)
    for old, new in number.items():
        if before.membership is not None:
            np.testing.assert_array_equal(after.membership[:, new], before.membership[:, old])
    assert [number[label] for label in before.predict(table).tolist()] == after.predict(table).tolist()


def test_match_to_a_reference(result, ensemble):
    rng = np.random.default_rng(0)
    order = rng.permutation(4)
    other = order[result.labels]
    ours = result.match_to(other)
    assert np.array_equal(ours.labels, other)
    check_renumbered(result, ours, ensemble)
    names = np.array(["w", "x", "y", "z"])[other].tolist()
    assert np.array_equal(result.match_to(names).labels, result.labels)  # texts count by first appearance
    noisy_other = np.where(rng.random(60) < 0.2, rng.integers(0, 4, 60), other)
    noisy_other[:5] = -1
    assert np.array_equal(result.match_to(noisy_other).labels, other)


def test_match_to_results_with_ids_and_other_numbers_of_clusters(result, ensemble):
    mixed = np.random.default_rng(1).permutation(60)
    earlier = partita.consensus(ensemble.rows(mixed), "mm", 4)
    ours = result.match_to(earlier)
    assert np.array_equal(ours.labels[mixed], earlier.labels)
    fewer = result.match_to(np.minimum(result.labels, 1))
    assert sorted(set(fewer.labels.tolist())) == [0, 1, 2, 3]
    assert fewer.labels[result.labels == 0][0] == 0
    more = result.match_to(np.where(np.arange(60) % 2, result.labels, result.labels + 4))
    assert sorted(set(more.labels.tolist())) == [0, 1, 2, 3]
    with pytest.raises(partita.PartitaError, match="labels has 3 objects and the result 60"):
        result.match_to([0, 1, 2])


def test_modules_resolve_without_an_import():
    code = (
        "import partita; print(partita.report.ConsensusDisplay.__name__, partita.datasets.__name__, partita.federated)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("ConsensusDisplay partita.datasets <module"), done.stderr


@pytest.mark.parametrize("name", ["second", "consensus:0"])
def test_an_id_column_with_the_name_of_a_result_column_is_refused_before_the_fit(name, tmp_path):
    (tmp_path / "t.csv").write_text(f"{name},a,b\n" + "".join(f"p{i},{i % 2},{i % 3}\n" for i in range(6)))
    words = ("run", str(tmp_path / "t.csv"), "--id", name, "-k", "2", "-o", str(tmp_path / "o.csv"))
    done = subprocess.run([sys.executable, "-m", "partita", *words], capture_output=True, text=True)
    assert done.returncode == 1 and not (tmp_path / "o.csv").exists()
    assert (
        done.stderr == f"partita: the id column cannot be called {name!r}, which is a column of the result; rename it\n"
    )


def test_integer_ids_of_a_text_file_join_a_dataframe(tmp_path):
    table = pd.DataFrame({"id": range(100, 130), "a": [0, 1] * 15, "b": [0, 1, 1] * 10})
    table.to_csv(tmp_path / "t.csv", index=False)
    result = partita.consensus(partita.read(tmp_path / "t.csv", ids="id"), "voting", 2)
    joined = pd.read_csv(tmp_path / "t.csv").merge(result.to_frame(), on="id")
    assert len(joined) == 30 and joined["consensus"].tolist() == result.labels.tolist()
    text = (tmp_path / "t.csv").read_text().replace("\n100,", "\n0100,")
    (tmp_path / "zeros.csv").write_text(text)
    assert partita.read(tmp_path / "zeros.csv", ids="id").ids[:2].tolist() == ["0100", "101"]


def test_ids_of_a_multiindex_are_written_as_text(tmp_path):
    index = pd.MultiIndex.from_product([["x", "y"], range(3)])
    frame = pd.DataFrame({"a": [0, 0, 0, 1, 1, 1], "b": [0, 0, 1, 1, 1, 1]}, index=index)
    result = partita.consensus(frame, "voting", 2)
    assert result.to_frame()["id"].tolist()[0] == ("x", 0)
    assert result.to_arrow().column("id").to_pylist()[0] == "('x', 0)"


def test_notes_are_kept_once_and_follow_the_columns():
    table = {"a": [0, 1, 1, 0], "b": [0, 1, 1, 0], "c": [1, 1, 1, 1], "d": [None] * 4}
    ensemble = Ensemble.from_labels(table)
    codes = ["all-missing-column", "constant-column"]
    result = partita.consensus(ensemble, "voting", 2)
    assert [note.code for note in result.notes] == codes
    assert [note.code for note in partita.polish(ensemble, result).notes] == codes
    assert [note.code for note in partita.consensus(table, "voting", 2, polish=True).notes] == codes
    assert ensemble.columns(["a", "b"]).notes == ()


def test_the_way_out_at_functions_without_reading_options():
    frame = pd.DataFrame({"a": [0, 1] * 15, "b": [0, 1, 1] * 10, "id": range(30)})
    for call in (partita.select_k, partita.compare, lambda t: partita.diagnose(t, [0, 1] * 15)):
        with pytest.raises(partita.PartitaError, match=r"partita\.Ensemble\.from_labels and give its result") as caught:
            call(frame)
        assert caught.value.code == "id-like-column"
    with pytest.raises(
        partita.PartitaError, match=r"unknown parameter 'ids'; set it in partita\.Ensemble\.from_labels"
    ):
        partita.select_k(frame, ids="id")
    assert partita.select_k(Ensemble.from_labels(frame, ids="id"), k=2, method="voting", repeats=0).k == 2


def test_candidate_labels_follow_the_numbers():
    result = partita.consensus(noisy(), k=4, candidate_labels=True).number_by_size()
    assert np.array_equal(result.candidate_labels[result.detail["chosen"]], result.labels)


def test_a_reference_with_an_index_is_matched_by_id():
    table, truth = noisy_labels(n=60, k=3, noise=0.1)
    ids = [f"o{i}" for i in range(60)]
    result = partita.consensus(Ensemble.from_labels(table, ids=ids), "mm", 3)
    expected = result.match_to(truth)
    assert (expected.labels == truth).mean() > 0.9
    shuffled = pd.Series(truth, index=ids).sample(frac=1, random_state=0)
    assert np.array_equal(result.match_to(shuffled).labels, expected.labels)
    assert np.array_equal(result.match_to(pd.Series(truth)).labels, expected.labels)  # the index only counts the rows
    with pytest.raises(TableError, match="the reference has no object 'o0'"):
        result.match_to(pd.Series(truth, index=[f"p{i}" for i in range(60)]))


def test_ids_of_several_types_join_with_the_table():
    table, _ = noisy_labels(n=40)
    frame = pd.DataFrame(table).add_prefix("run")
    frame["who"] = [i if i % 2 else f"x{i}" for i in range(40)]
    result = partita.consensus(frame, "voting", 4, ids="who")
    assert frame.merge(result.to_frame(), on="who")["consensus"].tolist() == result.labels.tolist()
    assert result.to_arrow().column("who").to_pylist()[:2] == ["x0", "1"]


def test_name_of_the_id_column():
    result = partita.consensus(pd.DataFrame({"second": list("abc"), "x": [1, 1, 2], "y": [1, 1, 3]}), k=2, ids="second")
    with pytest.raises(FileError, match=r"the id column cannot be called 'second', .*; set id_name="):
        result.to_frame()
    with pytest.raises(FileError, match=r"cannot be called 'consensus', .*; choose another id_name"):
        result.to_frame(id_name="consensus")
    with pytest.raises(ParameterError, match="id_name=5 is not text"):
        result.to_frame(id_name=5)
    assert result.to_frame(id_name="who")["who"].tolist() == ["a", "b", "c"]


def test_an_array_whose_ids_are_a_column_predicts_arrays_of_the_same_columns():
    table, _ = noisy_labels(n=40)
    whole = np.column_stack([np.arange(100, 140), table])
    result = partita.consensus(whole, "mm", 4, ids="c0")
    assert np.array_equal(result.predict(whole), result.labels)
    assert np.array_equal(result.predict(table), result.labels)
