"""The plain reader of label tables against Python's csv."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.kernels.text import EMPTY, RECORDED, SKIPPED, count_lines, gather_spans, line_end, parse_labels
from tests.core.oracles import steady

good = st.one_of(
    st.integers(-(10**9) + 1, 10**9 - 1).map(str),
    st.integers(0, 20).map(str),
    st.sampled_from(["", "NA", "NaN", "nan", "0", "-0", "007", "12.0", "-3.00"]),
)
words = st.sampled_from(["x", "ab c", "1.5", "-", "", "7"])
bad = st.sampled_from(
    [
        "x",
        "1.5",
        "-",
        "--1",
        "+1",
        "1e3",
        "1234567890",
        '"1"',
        "NAN",
        "NAx",
        "nAn",
        " 1",
        "1 ",
        "0x1",
        "1.0.0",
        "N",
        "é",
    ]
)
delimiters = st.sampled_from([",", "\t", ";", "|", " "])
endings = st.sampled_from(["\n", "\r\n"])


def value(cell):
    return EMPTY if cell in ("", "NA", "NaN", "nan") else int(float(cell))


def parse(text, columns, delimiter, targets=None, rows=None):
    data = np.frombuffer(text.encode(), np.uint8)
    rows = text.count("\n") + 2 if rows is None else rows
    targets = np.arange(columns) if targets is None else np.array(targets)
    out = np.full((rows, max(targets.max() + 1, 1)), 77, np.int32)
    spans = np.zeros((rows, 2), np.int64)
    place = parse_labels(data, 0, len(data), ord(delimiter), targets, out, spans, 0)
    return place, out, spans, data


def rectangles(cells, least=1):
    return st.integers(least, 4).flatmap(
        lambda r: st.lists(st.lists(cells, min_size=r, max_size=r), min_size=1, max_size=6)
    )


@steady
@given(rectangles(good), delimiters, endings, st.booleans())
def test_plain_tables_are_read_as_csv_reads_them(rows, delimiter, ending, closed):
    text = ending.join(delimiter.join(row) for row in rows)
    text += ending if closed or rows[-1][-1] == "" else ""
    expected = [
        row or [""] for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=csv.QUOTE_NONE)
    ]
    place, out, _, _ = parse(text, len(rows[0]), delimiter)
    assert place == -1
    assert (
        out[: len(rows)].tolist()
        == [[value(cell) for cell in row] for row in expected]
        == [[value(c) for c in row] for row in rows]
    )
    assert (out[len(rows) :] == 77).all()


@steady
@given(rectangles(good), bad, endings, st.data())
def test_what_is_not_plain_is_pointed_at(rows, cell, ending, data):
    i, j = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, len(rows[0]) - 1))
    rows[i][j] = cell
    lines = [",".join(row) + ending for row in rows]
    place, out, _, _ = parse("".join(lines), len(rows[0]), ",")
    begin = len("".join(lines[:i]).encode()) + len(",".join([*rows[i][:j], ""]).encode())
    assert begin <= place <= begin + len((cell + ending).encode())
    assert out[:i].tolist() == [[value(c) for c in row] for row in rows[:i]]


@steady
@given(rectangles(good, least=2), st.booleans(), endings, st.booleans(), st.data())
def test_ragged_lines_are_pointed_at(rows, longer, ending, closed, data):
    i = data.draw(st.integers(0, len(rows) - 1))
    ragged = [list(row) for row in rows]
    ragged[i] = [*rows[i], "1"] if longer else rows[i][:-1]
    lines = [",".join(row) + ending for row in ragged]
    text = "".join(lines) if closed or i < len(rows) - 1 else "".join(lines)[: -len(ending)]
    if not text:
        return
    place, _, _, _ = parse(text, len(rows[0]), ",")
    begin = len("".join(lines[:i]))
    assert begin <= place < max(begin + len(lines[i]), len(text))


@steady
@given(st.lists(st.tuples(words, good, words, good), min_size=1, max_size=6), endings)
def test_columns_are_skipped_recorded_and_moved(rows, ending):
    text = "".join(",".join(row) + ending for row in rows)
    place, out, spans, data = parse(text, 4, ",", [RECORDED, 1, SKIPPED, 0])
    assert place == -1
    assert out[: len(rows)].tolist() == [[value(row[3]), value(row[1])] for row in rows]
    cells = [bytes(data[start:stop]).decode() for start, stop in spans[: len(rows)]]
    assert cells == [row[0] for row in rows]
    lengths = np.array([len(cell) for cell in cells])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    gathered = np.zeros(int(offsets[-1]), np.uint8)
    gather_spans(data, spans, offsets, gathered, 0, len(rows))
    assert bytes(gathered).decode() == "".join(cells)


def test_a_quote_in_a_skipped_column_is_not_plain():
    assert parse('"a,b",1\n', 2, ",", [SKIPPED, 0])[0] == 0
    assert parse('x"y,1\n', 2, ",", [RECORDED, 0])[0] == 1


def test_a_return_in_the_middle_is_not_plain():
    assert parse("1\r2,3\n", 2, ",")[0] == 1
    assert parse("1,2\r", 2, ",")[0] == -1


@pytest.mark.parametrize("text", ["", "1", "1\n", "1\n2", "\n", "\n\n", "1\r\n2\r\n"])
def test_lines(text):
    data = np.frombuffer(text.encode(), np.uint8)
    assert count_lines(data, 0, len(data)) == text.count("\n")
    for start in range(len(text) + 1):
        found = text.find("\n", start)
        assert line_end(data, start) == (len(text) if found < 0 else found + 1)


@steady
@given(rectangles(good), st.integers(1, 5))
def test_parts_of_a_text_are_read_where_they_lie(rows, cut):
    """Whole lines from the middle of a text, into rows from the middle of a table."""
    cut = min(cut, len(rows))
    lines = [",".join(row) + "\n" for row in rows]
    data = np.frombuffer("".join(lines).encode(), np.uint8)
    out = np.full((len(rows), len(rows[0])), 77, np.int32)
    spans = np.zeros((len(rows), 2), np.int64)
    start = sum(map(len, lines[:cut]))
    targets = np.arange(len(rows[0]))
    assert parse_labels(data, start, len(data), ord(","), targets, out, spans, cut) == -1
    assert parse_labels(data, 0, start, ord(","), targets, out, spans, 0) == -1
    assert out.tolist() == [[value(cell) for cell in row] for row in rows]
