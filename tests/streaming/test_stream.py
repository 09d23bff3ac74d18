"""A table read in blocks gives what the same table gives in memory, however it is cut and wherever a run is stopped."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import partita
from partita import Streaming, io
from partita.core.consensus import placed
from partita.core.errors import CheckError, FileError, LabelError, MethodError, ParameterError, TableError
from partita.core.progress import reporting
from partita.engine import open_engine
from partita.engine.serial import Serial
from partita.io.blocks import Block, made_blocks, open_blocks, rows_of
from partita.io.options import ReadOptions
from partita.metrics import anmi
from partita.streaming import run as running
from partita.streaming import stream as streams
from tests.samples import noisy_labels, same_partition

METHODS = ("mm", "bce-vb", "nbce-vb", "qmi", "voting", "mcla", "lwgp")
SAMPLE = Streaming(fit="sample", sample=300)
READ = ReadOptions(ids="who")
N, K = 1000, 3


def small_blocks(monkeypatch, rows=64, piece=19):
    """Blocks of few rows, so that a small table has many."""
    monkeypatch.setattr("partita.io.blocks.PIECE", piece)
    usual = streams.open_blocks
    monkeypatch.setattr(streams, "open_blocks", lambda table, options: usual(table, options, rows))
    arrays = streams.array_blocks
    monkeypatch.setattr(streams, "array_blocks", lambda table: arrays(table, None, rows))


@pytest.fixture
def cut(monkeypatch):
    small_blocks(monkeypatch)


def words(n=N, missing=0.1, seed=0, noise=0.1):
    """Labels as texts of different kinds of columns, None where missing."""
    labels, _ = noisy_labels(n=n, r=6, k=K, missing=missing, seed=seed, noise=noise)
    labels[7] = -1
    return [[None if x < 0 else f"L{x}" for x in column] for column in labels.T]


def put(folder, columns, files=3, group=50):
    """Parquet files with ids, each of several row groups."""
    folder.mkdir(exist_ok=True)
    table = pa.table({"who": [f"p{i}" for i in range(len(columns[0]))], **{f"c{j}": c for j, c in enumerate(columns)}})
    for number, places in enumerate(np.array_split(np.arange(len(table)), files)):
        part = table.slice(int(places[0]), len(places))
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=group)
    return folder


def whole(folder):
    return pq.read_table(sorted(folder.glob("*.parquet")))


# all different rows


@pytest.mark.parametrize("method", [*METHODS, "auto", "cspa"])
def test_all_different_rows_give_what_the_table_gives_in_memory(method, tmp_path, cut):
    folder = put(tmp_path / "labels", words())
    k = None if method == "nbce-vb" else K
    central = partita.consensus(whole(folder).drop(["who"]), method, k)
    found = partita.stream(folder, tmp_path / "out.parquet", method, k, how=Streaming(read=READ, membership=True))
    got = pq.read_table(tmp_path / "out.parquet")
    assert found.fit == "distinct" and found.rows == N and found.fitted_rows < N
    assert got["who"].to_pylist() == [f"p{i}" for i in range(N)]
    assert np.array_equal(got["consensus"].to_numpy(), central.labels)
    assert np.array_equal(got["confidence"].to_numpy(), central.confidence, equal_nan=True)
    if central.membership is not None:
        shares = np.stack([got[f"consensus:{h}"].to_numpy() for h in range(central.membership.shape[1])], axis=1)
        assert np.array_equal(shares, central.membership, equal_nan=True)
    assert found.scores["anmi"] == central.scores["anmi"] and found.sizes.tolist() == central.sizes.tolist()
    assert found.unknown == central.unknown == 1 and central.notes[-1] in found.notes
    np.testing.assert_array_equal(got["second"].to_numpy(), central.second)
    np.testing.assert_array_equal(got["second_item_consensus"].to_numpy(), central.second_item_consensus)
    told = json.loads(got.schema.metadata[b"partita"])["recipe"]
    assert told["method"] == method and told["k"] == k
    assert (found.model is None) == (central.model is None)
    if central.model is not None:
        assert np.array_equal(found.model.predict(whole(folder)), central.model.predict(whole(folder)))


def test_the_same_from_every_kind_of_table(tmp_path, cut):
    labels, _ = noisy_labels(n=500, r=5, k=4)
    central = partita.consensus(labels, "mm", 4).labels
    np.save(tmp_path / "all.npy", labels.astype(np.uint8))
    for number, part in enumerate(np.array_split(labels, 3)):
        np.save(tmp_path / f"part{number}.npy", part.astype(np.int64))
    tables = {"far": labels * 10**6 + 5, "small": labels.astype(np.int16), "wide": labels.astype(np.int32)}
    for name, table in tables.items():
        pq.write_table(pa.table({f"c{j}": column for j, column in enumerate(table.T)}), tmp_path / f"{name}.parquet")
    words = pa.table(
        {f"c{j}": pa.array([f"{x}" for x in column]).dictionary_encode() for j, column in enumerate(labels.T)}
    )
    pq.write_table(words, tmp_path / "words.parquet")
    made = made_blocks(lambda start, stop: labels[start:stop], 500, [f"c{j}" for j in range(5)], 70)
    uri = (tmp_path / "far.parquet").as_uri()
    sources = [labels, made, tmp_path / "all.npy", str(tmp_path / "part*.npy"), uri, uri.replace("far", "fa*")]
    sources += [tmp_path / f"{name}.parquet" for name in (*tables, "words")]
    sources += [[tmp_path / f"part{number}.npy" for number in range(3)]]
    for source in sources:
        assert np.array_equal(partita.stream(source, None, "mm", 4).labels, central), source


def test_counts_of_different_rows_are_those_of_unique(cut):
    labels, _ = noisy_labels(n=700, r=4, k=3, missing=0.2)
    plan = streams.Plan(streams.Wanted("mm", 3, 0, False, {}), read=ReadOptions(missing=-1))
    source = streams.blocks_of(labels, plan.read)
    tally = _tallied(source, plan)
    rows, counts = tally.table()
    back = np.array([[tally.words.values[j][x] if x >= 0 else -1 for j, x in enumerate(row)] for row in rows])
    wanted, totals = np.unique(labels, axis=0, return_counts=True)
    order = np.lexsort(back.T[::-1])
    assert np.array_equal(back[order], wanted) and np.array_equal(counts[order], totals)
    first = {tuple(row): place for place, row in reversed(list(enumerate(labels.tolist())))}
    places = [first[tuple(row)] for row in back.tolist()]
    assert places == sorted(places), "in the order in which they are met"


def _tallied(source, plan):
    class Kept:
        load_tally = staticmethod(lambda names, most: None)
        save_tally = staticmethod(lambda tally: None)

    with open_engine("serial") as engine:
        return running._Run(source, plan, engine, Kept)._tally()


@pytest.mark.parametrize("most", [1, 30, 10**6])
def test_a_tally_goes_on_from_its_state(most, cut):
    """Stopped after every block it comes to what it comes to in one go."""
    labels, _ = noisy_labels(n=600, r=4, k=3, noise=0.4)
    source = streams.blocks_of(labels, ReadOptions())
    plan = streams.Plan(streams.Wanted("mm", 3, 0, False, {}), most=most, sample=90)
    wanted = _tallied(source, plan)
    assert wanted.over == (most < len(np.unique(labels, axis=0)))
    places = running.sample_places(600, 90, 0)
    tally, looking = running.Tally(source.names, most), None
    for block in source.blocks:
        state = tally.state()
        tally = running.Tally.from_state(
            source.names, most, json.loads(json.dumps({**state, "arrays": 0})) | {"arrays": state["arrays"]}
        )
        looking = running_looking(source, most if not tally.over else -1)
        inside = places[(places >= block.first) & (places < block.first + block.rows)] - block.first
        tally.add(looking((block, inside)), block.rows)
    assert tally.over == wanted.over and np.array_equal(tally.sample(), wanted.sample())
    assert all(np.array_equal(a, b) for a, b in zip(tally.table(), wanted.table(), strict=True))
    assert np.array_equal(tally.sample(), labels[places]) or tally.words.values != [[0, 1, 2]] * 4


def running_looking(source, most):
    from partita.core.coding import MissingRule
    from partita.streaming.counting import Looking

    return Looking(source, MissingRule(), most)


# a sample


@pytest.mark.parametrize("method", METHODS)
def test_a_sample_places_all_rows_as_its_model_does(method, tmp_path, cut):
    folder = put(tmp_path / "labels", words())
    how = replace(SAMPLE, read=READ, membership=True)
    k = None if method == "nbce-vb" else K
    found = partita.stream(folder, tmp_path / "out", method, k, how=how)
    got = pq.read_table(sorted((tmp_path / "out").glob("*.parquet")))
    table = whole(folder).drop(["who"])
    assert found.fit == "sample" and found.fitted_rows == 300 and len(got) == N
    labels = got["consensus"].to_numpy()
    assert np.array_equal(labels, found.model.predict(table))
    assert labels[7] == -1 and found.unknown == 1 and np.isnan(got["confidence"].to_numpy()[7])
    first = list(dict.fromkeys(labels[labels >= 0].tolist()))
    assert first == sorted(first), "numbered as they come"
    assert found.sizes.tolist() == np.bincount(labels[labels >= 0], minlength=found.model.width).tolist()
    known = np.array(labels, float)
    known[labels < 0] = np.nan
    assert found.scores["anmi"] == pytest.approx(anmi(partita.Ensemble.from_labels(table), known), abs=1e-12)
    if found.model.link not in ("best", "nearest"):
        shares = np.stack([got[f"consensus:{h}"].to_numpy() for h in range(found.model.width)], axis=1)
        assert np.allclose(shares, found.model.predict_proba(table), atol=1e-12, equal_nan=True)
    else:
        assert "consensus:0" not in got.column_names
    confidence = got["confidence"].to_numpy()
    assert np.array_equal(confidence, placed(found.model, table).confidence, equal_nan=True)
    assert 0 < np.nanmin(confidence) <= np.nanmax(confidence) <= 1


@pytest.mark.parametrize("method", METHODS)
def test_the_quick_way_places_as_the_slow_one(method, tmp_path, cut):
    """Memberships, where they are asked for, are made from all scores; labels and confidence need not be."""
    folder = put(tmp_path / "labels", words(noise=0.3))
    found = {}
    for membership in (False, True):
        output = tmp_path / f"{membership}.parquet"
        how = replace(SAMPLE, read=READ, membership=membership)
        result = partita.stream(folder, output, method, None if method == "nbce-vb" else K, how=how)
        found[membership] = result, pq.read_table(output)
    (quick, placed), (slow, wanted) = found.values()
    assert np.array_equal(placed["consensus"].to_numpy(), wanted["consensus"].to_numpy())
    assert np.allclose(placed["confidence"].to_numpy(), wanted["confidence"].to_numpy(), atol=1e-12, equal_nan=True)
    assert quick.scores == slow.scores and quick.sizes.tolist() == slow.sizes.tolist()
    assert quick.detail.keys() == slow.detail.keys()
    for name, value in quick.detail.items():
        assert value == (pytest.approx(slow.detail[name], rel=1e-12) if isinstance(value, float) else slow.detail[name])


def test_what_a_sample_costs_is_told(cut):
    """The log-likelihood a label of the rows that were fitted and of all others, from its definition."""
    labels, _ = noisy_labels(n=N, r=6, k=K)
    found = partita.stream(labels, None, "mm", K, how=SAMPLE, smoothing=0.5)
    inside = np.zeros(N, bool)
    inside[running.sample_places(N, 300, 0)] = True
    assert inside.sum() == 300
    sample = found.model.log_likelihood(labels[inside]) / (300 * 6)
    others = found.model.log_likelihood(labels[~inside]) / (700 * 6)
    assert found.detail["log likelihood a label, sample"] == pytest.approx(sample, abs=1e-12)
    assert found.detail["log likelihood a label, other rows"] == pytest.approx(others, abs=1e-12)
    assert found.detail["cost of the sample, a label"] == pytest.approx(sample - others, abs=1e-12)
    assert found.detail["anmi of all rows"] == found.scores["anmi"]
    central = partita.consensus(labels[inside], "mm", K, smoothing=0.5)
    assert same_partition(found.labels[inside], central.labels)


def test_alpha_of_a_fit_to_a_sample_follows_the_clusters_of_the_stream():
    """Clusters are numbered by the first block; those of the fit are numbered by the sample."""
    differ = 0
    for seed in range(4):
        labels, _ = noisy_labels(n=N, r=6, k=K, noise=0.3, seed=seed)
        how = Streaming(fit="sample", sample=300)
        found = partita.stream(labels, None, "bce-vb", K, how=how, seed=seed)
        inside = running.sample_places(N, 300, seed)
        fitted = partita.consensus(labels[inside], "bce-vb", K, seed=seed)
        assert found.detail["alpha"] == found.model.bias.tolist()
        assert sorted(found.detail["alpha"]) == pytest.approx(sorted(fitted.detail["alpha"]), rel=1e-9)
        differ += found.detail["alpha"] != list(fitted.detail["alpha"])
    assert differ


def test_too_many_different_rows_lead_to_a_sample():
    labels, _ = noisy_labels(n=N, r=6, k=K, noise=0.3)
    few = partita.stream(labels, None, "mm", K, how=Streaming(most=50, sample=300))
    asked = partita.stream(labels, None, "mm", K, how=SAMPLE)
    assert few.fit == "sample" and np.array_equal(few.labels, asked.labels)
    with pytest.raises(
        ParameterError, match=r"more than 50 different rows; raise most \(--most-rows\), or fit a sample"
    ):
        partita.stream(labels, None, "mm", K, how=Streaming(fit="distinct", most=50))


@pytest.mark.parametrize("how", [Streaming(), SAMPLE, Streaming(fit="full")], ids=["distinct", "sample", "full"])
def test_cuts_engines_and_workers_change_nothing(how, monkeypatch):
    """Blocks may be cut anywhere: labels are the same, sums to rounding; engines agree to the last bit."""
    labels, _ = noisy_labels(n=N, r=6, k=K, missing=0.1)
    how = replace(how, read=ReadOptions(missing=-1))
    usual = partita.stream(labels, None, "mm", K, how=how)
    for rows, piece in ((N, 7), (333, 100), (64, 64)):
        with monkeypatch.context() as patch:
            small_blocks(patch, rows, piece)
            alone = partita.stream(labels, None, "mm", K, how=replace(how, engine="serial"))
            for workers in (1, 3):
                side = partita.stream(labels, None, "mm", K, how=replace(how, engine="threads", workers=workers))
                assert np.array_equal(side.labels, alone.labels) and side.scores == alone.scores
                assert side.detail == alone.detail
        assert np.array_equal(alone.labels, usual.labels)
        assert alone.scores["anmi"] == pytest.approx(usual.scores["anmi"], rel=1e-12)


def test_auto_fits_a_sample_as_it_fits_a_table():
    labels, _ = noisy_labels(n=N, r=6, k=K)
    found = partita.stream(labels, None, k=K, how=SAMPLE)
    assert {row["method"] for row in found.candidates} >= {"voting", "mm", "lwea"}
    assert found.recipe["method"] == "auto" and found.detail["chosen"]


@pytest.mark.parametrize("method", ["auto", "mm"])
@pytest.mark.parametrize("k", [None, range(2, 9)])
def test_k_is_chosen_from_what_is_fitted(method, k):
    """From all different rows as `partita.consensus` chooses it, else from a sample, which a note says."""
    labels, _ = noisy_labels(n=N, r=6, k=K)
    whole = partita.stream(labels, None, method, k)
    usual = partita.consensus(labels, method, k)
    assert whole.k_asked == usual.k_asked == K and np.array_equal(whole.labels, usual.labels)
    assert whole.k_choice["reason"] == usual.k_choice.reason and usual.notes[0] in whole.notes
    found = partita.stream(labels, None, method, k, how=SAMPLE)
    assert found.k_asked == found.k_choice["k"] == K and found.summary()["k_choice"] == found.k_choice
    assert "k was chosen from a sample of 300 rows" in found.notes
    assert not any(note.startswith("asked for") for note in found.notes)


def test_k_of_a_full_fit_is_chosen_from_a_sample():
    labels, _ = noisy_labels(n=N, r=6, k=K)
    how = replace(SAMPLE, fit="full")
    found = partita.stream(labels, None, "mm", how=how)
    same = partita.stream(labels, None, "mm", K, how=how)
    assert found.k_asked == K and np.array_equal(found.labels, same.labels) and same.k_choice is None
    assert "k was chosen from a sample of 300 rows" in found.notes
    assert partita.stream(labels, None, "nbce-vb", how=how).k_asked is None


def test_labels_that_a_sample_lacks_count_as_missing_and_are_told(cut):
    labels, _ = noisy_labels(n=N, r=6, k=K)
    absent = np.setdiff1d(np.arange(N), running.sample_places(N, 300, 0))[5]
    labels[absent, 2] = 77
    found = partita.stream(labels, None, "mm", K, how=SAMPLE)
    assert any("1 labels do not occur in the rows that were fitted" in note for note in found.notes)
    labels[absent, 2] = -1
    hidden = partita.stream(labels, None, "mm", K, how=replace(SAMPLE, read=ReadOptions(missing=-1)))
    assert np.array_equal(found.labels, hidden.labels)


def test_weights_and_columns_are_those_asked_for(tmp_path, cut):
    folder = put(tmp_path / "labels", words())
    read = ReadOptions(ids="who", exclude=("c5",), weights={"c0": 3.0})
    found = partita.stream(folder, None, "mm", K, how=Streaming(read=read))
    table = whole(folder).drop(["who", "c5"])
    central = partita.consensus(
        partita.Ensemble.from_labels(table, weights={f"c{j}": 3.0 if j == 0 else 1.0 for j in range(5)}), "mm", K
    )
    assert found.names == ("c0", "c1", "c2", "c3", "c4") and np.array_equal(found.labels, central.labels)


# a run that is stopped goes on


class Stopping:
    """A table of files that stops after so many blocks, and remembers which it has read."""

    def __init__(self, source, after):
        self.source, self.after, self.read = source, after, []
        self.names, self.blocks, self.signature = source.names, source.blocks, source.signature

    def pieces(self, block, picks=None):
        if len(self.read) == self.after:
            raise KeyboardInterrupt
        self.read.append(block.number)
        return self.source.pieces(block, picks)


@pytest.mark.parametrize("how", [Streaming(), SAMPLE, Streaming(fit="full")], ids=["distinct", "sample", "full"])
@pytest.mark.parametrize("kind", ["out.parquet", "folder", "out.csv"])
def test_a_run_that_is_stopped_anywhere_goes_on(how, kind, tmp_path, cut):
    folder = put(tmp_path / "labels", words(n=400), files=2)
    how = replace(how, engine="serial", read=READ)
    source = open_blocks(folder, READ, 64)
    undisturbed = tmp_path / f"undisturbed-{kind}"
    wanted = partita.stream(source, undisturbed, "mm", K, how=how)
    output, reads, stops = tmp_path / kind, [], 0
    while True:
        stopping = Stopping(source, 6 if how.fit == "full" else 3)
        try:
            found = partita.stream(stopping, output, "mm", K, how=how)
            break
        except KeyboardInterrupt:
            stops += 1
            assert not output.is_file() and stops < 50
        finally:
            reads += stopping.read
    assert stops >= 2
    assert found.summary() | {"output": ""} == wanted.summary() | {"output": ""}
    assert _bytes(output) == _bytes(undisturbed)
    assert len(reads) <= (4 if how.fit == "full" else 2) * len(source.blocks) + 2 * stops + 2, (
        "what was read is not read again"
    )
    assert not list(tmp_path.glob("*.parts")) and not (output / "_partita").exists()


def _bytes(place):
    files = sorted(place.iterdir()) if place.is_dir() else [place]
    return [(file.name if place.is_dir() else "", file.read_bytes()) for file in files]


def test_a_run_goes_on_only_as_it_began(tmp_path, cut):
    folder = put(tmp_path / "labels", words(n=400), files=2)
    with pytest.raises(KeyboardInterrupt):
        partita.stream(
            Stopping(open_blocks(folder, READ, 64), 3), tmp_path / "out.csv", "mm", K, how=Streaming(read=READ)
        )
    with pytest.raises(FileError, match=r"out.csv.parts: holds an unfinished run that differs in method, k; finish it"):
        partita.stream(open_blocks(folder, READ, 64), tmp_path / "out.csv", "qmi", 4, how=Streaming(read=READ))
    put(folder, words(n=400, seed=1), files=2)
    with pytest.raises(FileError, match="differs in table"):
        partita.stream(open_blocks(folder, READ, 64), tmp_path / "out.csv", "mm", K, how=Streaming(read=READ))


def test_a_finished_folder_is_not_mixed_with_another_result(tmp_path):
    labels, _ = noisy_labels(n=200, r=4, k=K)
    partita.stream(labels, tmp_path / "out", "voting", K)
    with pytest.raises(FileError, match="holds the parts of another result; remove them, or name another place"):
        partita.stream(labels, tmp_path / "out", "voting", K)


def test_a_part_that_was_damaged_is_made_again(tmp_path, cut):
    folder = put(tmp_path / "labels", words(n=400), files=2)
    source = open_blocks(folder, READ, 64)
    wanted = partita.stream(source, tmp_path / "one", "mm", K, how=Streaming(read=READ, engine="serial"))
    with pytest.raises(KeyboardInterrupt):
        stopping = Stopping(source, len(source.blocks) + 2)
        partita.stream(stopping, tmp_path / "two", "mm", K, how=Streaming(read=READ, engine="serial"))
    (tmp_path / "two" / "part-000001.parquet").write_bytes(b"PAR1 half a file")
    found = partita.stream(source, tmp_path / "two", "mm", K, how=Streaming(read=READ, engine="serial"))
    assert _bytes(tmp_path / "one") == _bytes(tmp_path / "two") and found.scores == wanted.scores


# what cannot be


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"c1": None}, FileError, r"1.parquet: has no column 'c1', which .*0.parquet has"),
        ({"c1": [1] * 40}, FileError, r"1.parquet: column 'c1' holds int64, in .*0.parquet string"),
    ],
)
def test_files_must_have_the_same_columns(change, error, message, tmp_path):
    folder = put(tmp_path / "labels", words(n=80), files=2)
    table = pq.read_table(folder / "1.parquet")
    for name, column in change.items():
        place = table.column_names.index(name)
        table = table.remove_column(place) if column is None else table.set_column(place, name, pa.array(column))
    pq.write_table(table, folder / "1.parquet")
    with pytest.raises(error, match=message):
        partita.stream(folder, None, "mm", K, how=Streaming(read=READ))


def test_errors_name_the_place_and_the_way_out(tmp_path, cut):
    labels, _ = noisy_labels(n=300, r=4, k=K)
    labels[123, 2] = -1
    with pytest.raises(LabelError, match=r"column 'c2', row 124: -1 may be a label or mean 'unobserved'"):
        partita.stream(labels, None, "mm", K)
    with pytest.raises(LabelError, match=r"column 'c2', row 124: -1 may be"):
        partita.stream(labels, None, "mm", K, how=Streaming(fit="sample", sample=299))
    labels[123, 2] = 0
    ids = np.column_stack([labels, np.arange(300)])
    with pytest.raises(CheckError, match=r"column 'c4' has 300 values that are all different"):
        partita.stream(ids, None, "mm", K)
    with pytest.raises(TableError, match="an array of float64 and shape"):
        partita.stream(labels.astype(float), None, "mm", K)
    with pytest.raises(FileError, match=r"blocks are written as .parquet, .csv or .tsv, or into a folder"):
        partita.stream(labels, tmp_path / "x.json", "mm", K)
    with pytest.raises(ParameterError, match="fit='all' is not known; give one of auto, distinct, sample, full"):
        partita.stream(labels, None, "mm", K, how=Streaming(fit="all"))
    with pytest.raises(MethodError, match="lwgp cannot be fitted part by part; choose one of mm, bce-vb"):
        partita.stream(labels, None, "lwgp", K, how=Streaming(fit="full"))
    with pytest.raises(ParameterError, match="polish moves the rows that it is given"):
        partita.stream(labels, None, "mm", K, how=replace(SAMPLE, polish=True))
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match="only Parquet and NPY files can be read in blocks"):
        partita.stream(tmp_path / "x.csv", None, "mm", K)
    with pytest.raises(FileError, match="no such file, and no Parquet or NPY file fits it"):
        partita.stream(str(tmp_path / "no*.parquet"), None, "mm", K)
    pq.write_table(pa.table({"a:0": [0.5], "a:1": [0.5], "b": [1]}), tmp_path / "soft.parquet")
    with pytest.raises(FileError, match=r"soft.parquet: column 'a:0' belongs to memberships"):
        partita.stream(tmp_path / "soft.parquet", None, "mm", K)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1nothing")
    with pytest.raises(FileError, match=r"bad.parquet: cannot be read as a Parquet file"):
        partita.stream(tmp_path / "bad.parquet", None, "mm", K)


def test_an_output_is_never_the_table_nor_among_it(tmp_path):
    """Else labels would be lost, or read with the result the next time."""
    folder = put(tmp_path / "labels", words(n=60))
    before = _bytes(folder)
    for table, output in (
        (folder / "0.parquet", folder / "0.parquet"),
        (folder, folder),
        (folder, folder / "out.parquet"),
        (str(folder / "*.parquet"), folder / "out.parquet"),
        ([folder / "0.parquet", folder / "1.parquet"], folder / "1.parquet"),
    ):
        with pytest.raises(FileError, match="choose another output"):
            partita.stream(table, output, "mm", K, how=Streaming(read=READ))
        assert _bytes(folder) == before
    assert partita.stream(folder, folder / "out.csv", "mm", K, how=Streaming(read=READ)).rows == 60


class OtherEngine(Serial):
    """A stand-in for a cluster: it decides what "auto" fits."""

    name = "dask"


@pytest.mark.parametrize("after", [3, 9])
def test_an_engine_that_would_fit_something_else_does_not_go_on(after, tmp_path, cut):
    source = open_blocks(put(tmp_path / "labels", words(n=400), files=2), READ, 64)
    how = Streaming(read=READ, most=20, sample=100)
    with pytest.raises(KeyboardInterrupt):
        partita.stream(Stopping(source, after), tmp_path / "out", "mm", K, how=replace(how, engine=OtherEngine()))
    with pytest.raises(FileError, match="differs in fit of many different rows"):
        partita.stream(source, tmp_path / "out", "mm", K, how=how)
    assert partita.stream(source, tmp_path / "out", "mm", K, how=replace(how, engine=OtherEngine())).fit == "full"


ID_TYPES = [
    (pa.int32(), pa.int64()),
    (pa.string(), pa.large_string()),
    (pa.string(), pa.dictionary(pa.int32(), pa.string())),
]


@pytest.mark.parametrize("output", ["out.parquet", "out.csv", "out"])
@pytest.mark.parametrize("types", ID_TYPES, ids=str)
def test_ids_of_one_kind_come_as_one_type(types, output, tmp_path):
    (tmp_path / "labels").mkdir()
    labels, _ = noisy_labels(n=40, r=4, k=2)
    for number, (kind, part) in enumerate(zip(types, np.array_split(labels, 2), strict=True)):
        ids = pa.array([number * 20 + i for i in range(20)])
        ids = ids.cast(kind) if pa.types.is_integer(kind) else ids.cast(pa.string()).cast(kind)
        columns = {f"c{j}": column for j, column in enumerate(part.T)}
        pq.write_table(pa.table({"who": ids, **columns}), tmp_path / "labels" / f"{number}.parquet")
    for fit in ("distinct", "sample"):
        place = tmp_path / f"{fit}-{output}"
        partita.stream(tmp_path / "labels", place, "mm", 2, how=Streaming(fit=fit, sample=30, read=READ))
        if output != "out.csv":
            table = pq.read_table(sorted(place.glob("*.parquet")) if place.is_dir() else place)
            assert [str(value) for value in table["who"].to_pylist()] == [str(i) for i in range(40)]


def test_more_that_cannot_be(tmp_path):
    labels, _ = noisy_labels(n=300, r=4, k=K)
    np.save(tmp_path / "big.npy", labels.astype(">i4"))
    central = partita.stream(labels, None, "mm", K).labels
    assert np.array_equal(partita.stream(tmp_path / "big.npy", None, "mm", K).labels, central)
    pq.write_table(pa.table({"who": [[1], [2]], "a": [0, 1], "b": [0, 1]}), tmp_path / "lists.parquet")
    with pytest.raises(FileError, match=r"lists.parquet: column 'who' holds list<.*>, no ids"):
        partita.stream(tmp_path / "lists.parquet", None, "mm", 2, how=Streaming(read=READ))
    for name in ("consensus", "confidence", "consensus:0"):
        with pytest.raises(FileError, match=f"the id column cannot be called '{name}'"):
            partita.stream(labels, None, "mm", K, how=Streaming(read=ReadOptions(ids=name)))
    for empty in ([], [3]):
        with pytest.raises(FileError, match="names no file; give a path, a pattern, a folder or a list of them"):
            partita.stream(empty, None, "mm", K)
    with pytest.raises(ParameterError, match="a dict cannot be read in blocks"):
        partita.stream({"a": [1]}, None, "mm", K)
    with pytest.raises(ParameterError, match=r"is no partita\.Streaming"):
        partita.stream(labels, None, "mm", K, how={"fit": "sample"})
    with pytest.raises(ParameterError, match="leave it out of a full fit"):
        partita.stream(labels, None, "mm", K, how=Streaming(fit="full", polish=True))
    with pytest.raises(ParameterError, match="k=301 is more than the 300 distinct rows"):
        partita.stream(labels, None, "mm", 301, how=Streaming(fit="full"))
    with open_engine("serial") as engine, pytest.raises(ParameterError, match="the engine is open already"):
        partita.stream(labels, None, "mm", K, how=Streaming(engine=engine, workers=2))


@pytest.mark.parametrize("kind", [pa.float64(), pa.decimal128(12, 2)], ids=str)
def test_a_fraction_is_told_with_its_row(kind, tmp_path, cut):
    values = pa.array([float(i % 3) for i in range(200)])
    half = pa.array([1.5 if i == 150 else float(i % 3) for i in range(200)])
    pq.write_table(pa.table({"a": values.cast(kind), "b": half.cast(kind)}), tmp_path / "x.parquet")
    with pytest.raises(LabelError, match=r"x.parquet: column 'b', row 151: 1.5 is not a label"):
        partita.stream(tmp_path / "x.parquet", None, "mm", K)


def test_texts_in_views_are_texts(tmp_path, cut):
    """Also where only a sample's rows are taken."""
    labels, _ = noisy_labels(n=N, r=4, k=K)
    columns = {f"c{j}": pa.array([f"x{x}" for x in column]) for j, column in enumerate(labels.T)}
    pq.write_table(
        pa.table({name: column.cast(pa.string_view()) for name, column in columns.items()}), tmp_path / "v.parquet"
    )
    for how in (Streaming(), SAMPLE):
        found = partita.stream(tmp_path / "v.parquet", None, "mm", K, how=how)
        assert np.array_equal(found.labels, partita.stream(labels, None, "mm", K, how=how).labels)


@pytest.mark.parametrize("method", ["mm", "bce-vb", "qmi", "itk", "nbce-vb"])
def test_the_confidence_of_a_full_fit_is_computed_from_the_counts_of_all_rows(method, tmp_path, cut):
    labels = noisy_labels(n=300, r=4, k=K)[0]
    found = partita.stream(labels, tmp_path / "out.parquet", method, K, how=Streaming(fit="full"))
    got = pq.read_table(tmp_path / "out.parquet")
    clusters, confidence = got["consensus"].to_numpy(), got["confidence"].to_numpy()
    for j, table in enumerate(found.model.counts):
        for label, code in enumerate(found.model.classes[j]):
            expected = np.bincount(clusters[labels[:, j] == code], minlength=found.model.width)
            assert np.array_equal(table[:, label], expected)
    assert np.array_equal(confidence, placed(found.model, labels).confidence)


@pytest.mark.parametrize("method", ["hbgf", "cspa", "greedy", "supra"])
def test_a_method_without_a_model_predicts_the_other_rows_by_a_vote(method):
    labels, _ = noisy_labels(n=N, r=6, k=K)
    found = partita.stream(labels, None, method, K, how=SAMPLE)
    assert found.fit == "sample" and np.array_equal(found.labels, found.model.predict(labels))
    assert found.model.approximate == ("predict agreement" in found.detail)


def test_a_larger_run_of_an_array_that_was_stopped_leaves_nothing(tmp_path):
    labels, _ = noisy_labels(n=500, r=4, k=K)

    def stopping(start, stop):
        if start >= 300 and (tmp_path / "out" / "part-000001.parquet").exists():
            raise KeyboardInterrupt
        return labels[start:stop]

    names = ["a", "b", "c", "d"]
    with pytest.raises(KeyboardInterrupt):
        partita.stream(made_blocks(stopping, 500, names, 64), tmp_path / "out", "mm", K, how=Streaming(engine="serial"))
    partita.stream(made_blocks(lambda start, stop: labels[start:stop], 100, names, 64), tmp_path / "out", "mm", K)
    assert sorted(part.name for part in (tmp_path / "out").iterdir()) == ["part-000000.parquet", "part-000001.parquet"]


def test_nothing_known_anywhere_is_refused():
    with pytest.raises(FileError, match="no object has a label in any clustering"):
        partita.stream(np.full((50, 3), -1), None, "mm", 2, how=Streaming(read=ReadOptions(missing=-1)))


def test_blocks_cover_all_rows_once(tmp_path):
    folder = put(tmp_path / "labels", words(n=500), files=4, group=30)
    for size in (1, 40, 100, 10**6):
        source = open_blocks(folder, READ, size)
        firsts = [block.first for block in source.blocks]
        assert (
            firsts == np.cumsum([0, *(block.rows for block in source.blocks)])[:-1].tolist() and rows_of(source) == 500
        )
        assert [block.number for block in source.blocks] == list(range(len(source.blocks)))
        ids = [value for block in source.blocks for raw in source.pieces(block) for value in raw.ids.to_pylist()]
        assert ids == [f"p{i}" for i in range(500)]
        some = np.array([0, 3, 29])
        block = source.blocks[-1]
        some = some[some < block.rows]
        picked = [value for raw in source.pieces(block, some) for value in raw.ids.to_pylist()]
        assert picked == [ids[block.first + place] for place in some]
    assert isinstance(source.blocks[0], Block)


def test_progress_is_told_in_rows(cut):
    told = []
    with reporting(lambda what, done, total: told.append((what, done, total))):
        partita.stream(noisy_labels(n=300, r=4, k=K)[0], None, "voting", K)
    for what in ("looking at rows", "placing rows"):
        dones = [done for name, done, total in told if name == what]
        assert dones == sorted(dones) and dones[-1] == 300 and len(dones) == 5


def test_a_model_that_is_saved_places_the_same(tmp_path):
    labels, _ = noisy_labels(n=N, r=6, k=K)
    found = partita.stream(labels, None, "lwgp", K, how=SAMPLE)
    io.save_model(found.model, tmp_path / "model.npz")
    assert np.array_equal(io.load_model(tmp_path / "model.npz").predict(labels), found.labels)


def customers(folder):
    """A table with a column of ids, in two files."""
    labels, _ = noisy_labels(n=60, r=4, k=K)
    for number, part in enumerate(np.array_split(np.arange(60), 2)):
        columns = {f"c{j}": labels[part, j] for j in range(4)}
        pq.write_table(pa.table({"cust": part + 1000, **columns}), folder / f"{number}.parquet")
    return labels


def test_options_for_reading_are_parameters(tmp_path):
    (tmp_path / "parts").mkdir()
    labels = customers(tmp_path / "parts")
    with pytest.raises(CheckError, match="set ids='cust'"):
        partita.stream(tmp_path / "parts", method="mm", k=K)
    found = partita.stream(tmp_path / "parts", tmp_path / "out.csv", "mm", K, ids="cust", weights={"c3": 0.5})
    assert found.names == ("c0", "c1", "c2", "c3")
    assert (tmp_path / "out.csv").read_text().startswith("cust,consensus,")
    expected = partita.consensus(labels, "mm", K, weights=[1, 1, 1, 0.5]).labels
    again = Streaming(read=ReadOptions(ids="cust", weights={"c3": 0.5}))
    assert np.array_equal(partita.stream(tmp_path / "parts", None, "mm", K, how=again).labels, expected)
    found = partita.stream(tmp_path / "parts", None, "mm", K, ids="cust", how=Streaming(read=ReadOptions(exclude="c3")))
    assert found.names == ("c0", "c1", "c2")
    assert partita.stream(tmp_path / "parts", None, "voting", K, allow="id-like-column").names[0] == "cust"
    assert partita.stream(np.where(labels == 0, -1, labels), None, "mm", 2, missing=-1).rows == 60
    assert partita.stream(np.where(labels == 0, -1, labels), None, "mm", 3, missing=()).k == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ids": "cust", "how": Streaming(read=ReadOptions(ids="who"))}, "ids='cust' is also set in how.read"),
        ({"allow": "transposed", "how": Streaming(read=ReadOptions(allow="transposed"))}, "is also set in how.read"),
        ({"ids": "c0"}, "ids='c0': an array has no column names; omit ids"),
        ({"transpose": True}, "transpose=True is not supported for a table that is read in blocks"),
    ],
)
def test_options_for_reading_that_are_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        partita.stream(np.array([[0, 1], [1, 0]]), None, "voting", 2, **given)
