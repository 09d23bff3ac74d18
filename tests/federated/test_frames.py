"""Messages as bytes: exact both ways, and nothing but FederatedError for whatever else arrives."""

import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.core.errors import FederatedError
from partita.federated import frames
from partita.federated.frames import START, check_arrays, decode, encode, frame_limit
from partita.federated.messages import STEPS, Ask, Hello, Refusal, Share, Terms
from tests.federated.wire import same

MOST = 1 << 24
TERMS = Terms(
    run="r1",
    sites=("a", "b", "c"),
    layout="rows",
    method="mm",
    k=3,
    params={"tol": 1e-7, "init": "spectral", "restarts": 2, "levels": (1, 2), "nothing": None},
    names=("x", "y\nz"),
    classes=(("red", "blue", "1"), (1, 1.0, True, -0.0)),
    weights=(1.0, 0.5),
    suppress=5.0,
    version="1.2",
)
HELLO = Hello("a", "1.2", "rows", ("x", "ÿ"), ((True, 1, 1.0, "1", "ü"), (0, 2**70)), "r1", 4)
ASK = Ask("r1", 7, "mixture", {"log_weights": np.log([0.5, 0.5]), "log_probs": np.arange(6.0).reshape(3, 2)})
SHARE = Share(
    "r1",
    7,
    "mixture",
    "a",
    {
        "labels": np.arange(6, dtype=np.uint64).reshape(3, 2) + np.uint64(2**63),
        "sizes": np.array([1, 2], np.uint64),
        "scalars": np.array([9], np.uint64),
    },
    True,
)
REFUSAL = Refusal("b", "site b: k is 3 here, 4 there; agree on one")
MESSAGES = (HELLO, TERMS, ASK, SHARE, REFUSAL)


def parts(frame):
    """The header of a frame, and the bytes after it."""
    length = START.unpack_from(frame)[3]
    return json.loads(frame[START.size : START.size + length]), frame[START.size + length :]


def rebuilt(header, rest, kind, text=None):
    text = json.dumps(header).encode() if text is None else text
    text += b" " * (-(START.size + len(text)) % 8)
    return START.pack(frames.MAGIC, frames.FRAME_VERSION, kind, len(text)) + text + rest


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_round_trip(message):
    same(decode(encode(message), MOST), message)


def test_arrays_lie_in_the_frame_and_cannot_be_changed():
    frame = encode(SHARE)
    found = decode(frame, MOST)
    for array in found.arrays.values():
        assert not array.flags.writeable
        assert array.flags.aligned and array.flags.c_contiguous
        assert np.shares_memory(array, np.frombuffer(frame, np.uint8))
    with pytest.raises(TypeError):
        found.arrays["labels"] = 1


def test_big_endian_and_turned_arrays_arrive_the_same():
    table = np.arange(6.0).reshape(2, 3)
    sent = Ask("r", 0, "mixture", {"log_weights": np.array([1.0, 2.0], ">f8"), "log_probs": table.T})
    found = decode(encode(sent), MOST).arrays
    assert np.array_equal(found["log_weights"], [1.0, 2.0]) and found["log_weights"].dtype == np.float64
    assert np.array_equal(found["log_probs"], table.T)


def test_empty_arrays_and_odd_lengths():
    for size in range(10):
        card = np.arange(size, dtype=np.uint8)
        assert np.array_equal(decode(encode(Share("r", 0, "keys", "a", {"card": card})), MOST).arrays["card"], card)
    none = decode(encode(Share("r", 0, "hashes", "a", {"hashes": np.empty((0, 16), np.uint8)})), MOST)
    assert none.arrays["hashes"].shape == (0, 16)


def test_a_refusal_is_made_printable():
    found = decode(encode(Refusal("a", "line\nline\x1b[31m")), MOST)
    assert found.reason == "line line [31m"


labels = st.one_of(st.text(max_size=5), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans())


@given(st.lists(st.lists(labels, max_size=4).map(tuple), max_size=3).map(tuple), st.integers(-1, 2**40))
def test_labels_come_back_with_their_types(classes, place):
    same(
        decode(encode(Hello("a", "1", "rows", ("n",), classes, "r", place)), MOST),
        Hello("a", "1", "rows", ("n",), classes, "r", place),
    )


@given(st.data())
@settings(max_examples=200)
def test_every_step_round_trips(data):
    step = data.draw(st.sampled_from(sorted(STEPS)))
    side = data.draw(st.sampled_from(["ask", "share"]))
    sizes = {}
    arrays = {}
    for name, spec in getattr(STEPS[step], side).items():
        if spec.optional and data.draw(st.booleans()):
            continue
        shape = tuple(sizes.setdefault(letter, data.draw(st.integers(0, 4))) for letter in spec.shape)
        kind = data.draw(st.sampled_from(frames.ALLOWED[spec.kind]))
        arrays[name] = np.frombuffer(
            data.draw(st.binary(min_size=64 * 8, max_size=64 * 8)), kind, int(np.prod(shape))
        ).reshape(shape)
    message = Ask("r", 3, step, arrays) if side == "ask" else Share("r", 3, step, "s", arrays, data.draw(st.booleans()))
    same(decode(encode(message), MOST), message)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(noise):
    for frame in (noise, START.pack(frames.MAGIC, frames.FRAME_VERSION, 3, len(noise)) + noise):
        with pytest.raises(FederatedError):
            decode(frame, MOST)


@given(st.sampled_from(MESSAGES), st.integers(0, 10**6))
@settings(max_examples=300)
def test_truncations_are_refused(message, cut):
    frame = encode(message)
    with pytest.raises(FederatedError):
        decode(frame[: cut % len(frame)], MOST)


@given(st.sampled_from(MESSAGES), st.lists(st.integers(0, 10**7), min_size=1, max_size=3))
@settings(max_examples=500)
def test_flipped_bits_raise_nothing_else(message, places):
    frame = bytearray(encode(message))
    for place in places:
        at = place % (8 * len(frame))
        frame[at // 8] ^= 1 << at % 8
    try:
        found = decode(bytes(frame), MOST)
    except FederatedError as error:
        assert "\n" not in str(error)
    else:
        encode(found)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(MESSAGES), st.data())
@settings(max_examples=400)
def test_strange_headers_raise_nothing_else(message, data):
    frame = encode(message)
    header, rest = parts(frame)
    header[data.draw(st.sampled_from(sorted(header)))] = data.draw(json_values)
    try:
        decode(rebuilt(header, rest, frame[7]), MOST)
    except FederatedError as error:
        assert "\n" not in str(error)


def refused(frame, words, most=MOST):
    with pytest.raises(FederatedError, match=words) as caught:
        decode(frame, most)
    assert "\n" not in str(caught.value)


def test_trailing_bytes():
    refused(encode(SHARE) + bytes(8), "8 bytes too many")
    refused(encode(HELLO) + b"x", "1 bytes too many")


def test_too_large():
    frame = encode(SHARE)
    refused(frame, f"a message of {len(frame)} bytes, more than the {len(frame) - 1}", len(frame) - 1)


def test_padding_must_be_zero():
    frame = encode(Share("r", 0, "keys", "a", {"card": np.array([7], np.uint8)}))
    refused(frame[:-1] + b"x", "does not fit")


def test_other_versions_kinds_and_beginnings():
    frame = encode(HELLO)
    refused(b"X" + frame[1:], "does not begin")
    refused(frame[:6] + b"\x02" + frame[7:], "messages of format 2, here 1; install the same")
    refused(frame[:7] + b"\x10" + frame[8:], "unknown kind")
    refused(frame[:7] + b"\x02" + frame[8:], "in a Terms")


def test_header_length_is_checked():
    frame = encode(HELLO)
    for length in (2**32 - 4, len(frame), 5):
        refused(START.pack(frames.MAGIC, frames.FRAME_VERSION, 1, length) + frame[START.size :], "a header of")


def test_nothing_is_allocated_for_sizes_that_are_only_claimed():
    header, rest = parts(encode(SHARE))
    for shape in ([2**40, 1], [2**62, 2], [0, 2**62], [2**20, 2**8]):
        header["arrays"][0][2] = shape
        frame = rebuilt(header, rest, 4)
        tracemalloc.start()
        refused(frame, "shape")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 10**6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda h: h.update(more=1), "'more' is unknown"),
        (lambda h: h.pop("run"), "'run' is missing"),
        (lambda h: h.update(round=True), "no int"),
        (lambda h: h.update(round=1.0), "no int"),
        (lambda h: h.update(round=-1), "round -1"),
        (lambda h: h.update(round=2**70), "no int"),
        (lambda h: h.update(site="a\nb"), "control characters"),
        (lambda h: h.update(site="a" * 5000), "too long"),
        (lambda h: h.update(step="nonsense"), "unknown"),
        (lambda h: h.update(step="bce-vb"), "unknown"),
        (lambda h: h.update(over=1), "no bool"),
        (lambda h: h["arrays"].pop(), "scalars is missing"),
        (lambda h: h["arrays"].append(h["arrays"][0]), "array 'labels'"),
        (lambda h: h["arrays"][0].__setitem__(0, "extra"), "labels is missing"),
        (lambda h: h["arrays"].append(["extra", "float64", [0]]), "'extra' is unknown"),
        (lambda h: h["arrays"][0].__setitem__(1, "object"), "type object"),
        (lambda h: h["arrays"][0].__setitem__(1, "int64"), "type int64"),
        (lambda h: h["arrays"][0].__setitem__(2, [6]), "1 dimensions"),
        (lambda h: h["arrays"][0].__setitem__(2, [-3, -2]), "list of arrays"),
        (lambda h: h["arrays"][0].__setitem__(2, [True, 2]), "list of arrays"),
        (lambda h: h.update(arrays=None), "list of arrays"),
    ],
)
def test_schema(change, words):
    header, rest = parts(encode(SHARE))
    change(header)
    refused(rebuilt(header, rest, 4), words)


@pytest.mark.parametrize(
    "classes", [[["a", None]], [["a", ["b"]]], [{"a": 1}], "ab", [[{}]]], ids=["none", "list", "object", "text", "dict"]
)
def test_labels_are_texts_numbers_and_truth_values(classes):
    header, rest = parts(encode(HELLO))
    header["classes"] = classes
    refused(rebuilt(header, rest, 1), "classes")


def test_numbers_must_be_finite_and_names_single():
    for text in (b'{"site":NaN,"arrays":[]}', b'{"site":-Infinity,"arrays":[]}', b'{"site":1e999,"arrays":[]}'):
        refused(rebuilt(None, b"", 1, text), "not finite")
    refused(rebuilt(None, b"", 1, b'{"site":"a","site":"b","arrays":[]}'), "twice")
    refused(rebuilt(None, b"", 1, b"[" * 100000), "no JSON")
    refused(rebuilt(None, b"", 1, b"9" * 5000), "no JSON")
    refused(rebuilt(None, b"", 1, b"[]"), "no JSON object")
    refused(rebuilt(None, b"", 1, b'"\xff"'), "no JSON")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None.__class__, b"x", {1, 2}])
def test_what_cannot_be_sent_is_said_before_it_is(value):
    with pytest.raises(FederatedError, match="cannot be sent"):
        encode(Hello("a", "1", "rows", ("n",), ((value,),)))


def test_only_arrays_of_the_step_are_sent():
    with pytest.raises(FederatedError, match="secret"):
        encode(Share("r", 0, "keys", "a", {"card": np.zeros(1, np.uint8), "secret": np.zeros(1)}))
    with pytest.raises(FederatedError, match="card of type int8"):
        encode(Share("r", 0, "keys", "a", {"card": np.zeros(1, np.int8)}))


def counts(word=np.uint64, t=3, k=2):
    return {"labels": np.zeros((t, k), word), "sizes": np.zeros(k, word), "scalars": np.zeros(1, word)}


def terms(**changes):
    return Terms("r", ("a", "b"), "rows", "mm", 2, **changes)


def test_check_arrays_takes_what_was_agreed():
    check_arrays("share", "mixture", counts(), terms(), {"t": 3, "k": 2})
    check_arrays("share", "mixture", counts(np.float64), terms(transport="float"), {"t": 3, "k": 2})
    for word, dtype in ((32, np.uint32), (64, np.uint64)):
        values = {"values": np.zeros((5, 2), dtype), "scalars": np.zeros(2, np.uint64)}
        check_arrays("share", "round", values, terms(word=word, transport="fixed"), {"n": 5, "q": 2})
    check_arrays("ask", "round", {}, terms(), {"n": 5})


@pytest.mark.parametrize(
    ("arrays", "changes", "sizes", "words"),
    [
        (counts(np.float64), {}, {}, "agreed was uint64"),
        (counts(), {"transport": "float"}, {}, "agreed was float64"),
        (counts(t=4), {}, {"t": 3}, "t is 3"),
        (counts(k=3), {}, {"k": 2}, "k is 2"),
        ({**counts(), "sizes": np.zeros(3, np.uint64)}, {}, {}, "k is 2"),
        ({**counts(np.float64), "scalars": np.array([np.nan])}, {"transport": "float"}, {}, "NaN"),
        ({**counts(np.float64), "scalars": np.array([-np.inf])}, {"transport": "float"}, {}, "infinite"),
        ({"labels": np.zeros((3, 2), np.uint64)}, {}, {}, "is missing"),
    ],
)
def test_check_arrays_refuses(arrays, changes, sizes, words):
    with pytest.raises(FederatedError, match=words):
        check_arrays("share", "mixture", arrays, terms(**changes), sizes)


def test_narrow_words_are_those_agreed_on():
    values = {"values": np.zeros((5, 2), np.uint64), "scalars": np.zeros(2, np.uint64)}
    with pytest.raises(FederatedError, match="agreed was uint32"):
        check_arrays("share", "round", values, terms(word=32), {})


def test_one_is_one():
    with pytest.raises(FederatedError, match="one is 1"):
        check_arrays("ask", "farthest", {"most": np.zeros(2, np.int64)}, terms(), {})


def test_frame_limit_holds_every_frame_of_a_run():
    n, k = 100_000, 10
    columns = Terms("r", ("a", "b", "c"), "columns", "mm", k)
    values = Share("r", 0, "round", "a", {"values": np.zeros((n, k), np.uint64), "scalars": np.zeros(4, np.uint64)})
    hashes = Share("r", 0, "hashes", "a", {"hashes": np.zeros((n, 32), np.uint8)})
    limit = frame_limit(columns, n)
    assert all(len(encode(message)) <= limit for message in (values, hashes))
    assert limit < 8 * n * (2 * k + 30) + (1 << 25)
    rows = Terms("r", ("a",), "rows", "mm", 3, classes=(tuple(range(40)),) * 20)
    table = np.zeros((800, 800), np.uint64)
    assert len(encode(Share("r", 0, "overlaps", "a", {"overlaps": table}))) <= frame_limit(rows, 0)
    assert frame_limit(columns, 10**10) == frames.FRAME_MOST


def test_little_is_added_to_the_numbers():
    """A round of the columns costs its words and hardly more."""
    n, k = 10_000, 10
    share = Share(
        "r" * 32, 12, "round", "a", {"values": np.zeros((n, k), np.uint32), "scalars": np.zeros(4, np.uint64)}
    )
    assert len(encode(share)) <= 4 * n * k + 300
