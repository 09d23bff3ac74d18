"""Wide tables: work that grows with the number of columns, not with its square."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import partita
from partita.core.checks import ALL
from partita.io import ReadOptions, blocks, columnar, raw


class CountingSchema:
    """A schema that counts how often its lists of names and types, which are new at each access, are made."""

    def __init__(self, schema):
        self.schema, self.lists = schema, 0

    @property
    def names(self):
        self.lists += 1
        return self.schema.names

    @property
    def types(self):
        self.lists += 1
        return self.schema.types

    @property
    def pandas_metadata(self):
        return self.schema.pandas_metadata


def wide_file(path, columns, text):
    labels = np.random.default_rng(0).integers(3, size=(6, columns))
    frame = pd.DataFrame(labels.astype(str) if text else labels, columns=[f"c{j}" for j in range(columns)])
    frame.index = [f"row {i}" for i in range(6)]
    frame.to_parquet(path)
    return frame


@pytest.mark.parametrize("text", [False, True])
def test_the_lists_of_a_parquet_schema_are_made_a_fixed_number_of_times(tmp_path, monkeypatch, text):
    made = []
    for columns in (5, 60):
        frame = wide_file(tmp_path / f"{columns}.parquet", columns, text)
        schemas = []

        def counting(file, schemas=schemas):
            schemas.append(CountingSchema(pq.ParquetFile(file).schema_arrow))
            return schemas[-1]

        monkeypatch.setattr(columnar.pq, "read_schema", counting)
        found = partita.read(tmp_path / f"{columns}.parquet", transpose=False, allow=ALL)
        assert found.names == tuple(frame.columns) and found.ids.tolist() == frame.index.tolist()
        assert [found.classes[j][code] for j, code in enumerate(found.labels[2])] == frame.iloc[2].tolist()
        made.append([schema.lists for schema in schemas])
    assert made[0] == made[1]


def test_columns_of_several_files_are_compared_by_name(tmp_path):
    for name, type_ in (("a", pa.int64()), ("b", pa.int32()), ("c", pa.string())):
        table = pa.table({f"c{j}": pa.array(range(4)).cast(type_) for j in range(30)})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    options = ReadOptions(transpose=None)
    assert len(blocks.open_blocks([tmp_path / "a.parquet", tmp_path / "b.parquet"], options).names) == 30
    with pytest.raises(partita.PartitaError, match=r"column .c0. holds string, in .*a\.parquet int64"):
        blocks.open_blocks([tmp_path / "a.parquet", tmp_path / "c.parquet"], options)


def test_many_names_are_looked_up_without_a_pass_over_all_columns(monkeypatch):
    names = [f"c{j}" for j in range(50)] + ["s:0", "s:1", "cx*"]
    monkeypatch.setattr(raw, "hits", lambda *arguments: pytest.fail("a pass over all columns"))
    options = ReadOptions(columns=(*names[:50:2], "s", "cx*"))
    assert raw.select(names, range(len(names)), options) == (*range(0, 50, 2), 50, 51, 52)


def test_patterns_fit_names_and_blocks_as_before():
    names, places = ["leiden_1", "leiden_2", "s:0", "s:1", "soft:0", "soft:1"], range(6)
    assert raw.hits(names, places, "leiden_*") == {0, 1}
    assert raw.hits(names, places, "s") == {2, 3}
    assert raw.hits(names, places, "s*") == {2, 3, 4, 5}
    assert raw.hits(names, places, "so") == {4, 5}
    assert raw.hits(names, places, "lei") == {0, 1}
    assert raw.hits(names, places, "x") == raw.hits(names, places, "") == set()


def test_tables_of_labels_and_memberships_keep_weights_and_order(tmp_path):
    table = pa.table(
        {"s:0": [0.5, 1.0, 0.0], "s:1": [0.5, 0.0, 1.0], "h": [1, 1, 2], "t:0": [1.0, 1.0, 0.2], "t:1": [0.0, 0.0, 0.8]}
    )
    pq.write_table(table, tmp_path / "mixed.parquet")
    found = partita.read(tmp_path / "mixed.parquet", weights={"h": 2.0, "t": 0.5})
    assert found.names == ("s", "h", "t") and found.weights.tolist() == [1.0, 2.0, 0.5]
    assert found.block(1).tolist() == [[1, 0], [1, 0], [0, 1]]
