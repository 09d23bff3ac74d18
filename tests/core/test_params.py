"""Settings of methods: what is read, what is refused, what the message says."""

import dataclasses
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.core.errors import ParameterError
from partita.core.params import build, describe, setting, type_name
from tests.core.oracles import steady


@dataclasses.dataclass(frozen=True)
class Params:
    count: int = setting(3, "how many", low=1, high=9)
    share: float = setting(0.5, "how much", low=0)
    way: Literal["up", "down", 2] = setting("up", "which way")
    flag: bool = setting(False, "whether")
    perhaps: int | None = setting(None, "how many, if any", low=0)
    text: str = setting("a", "a word")
    either: int | str = setting("auto", "a number or a word")
    parts: tuple[int, ...] = setting((1, 2), "several numbers")
    words: tuple[str, ...] = setting((), "several words")
    free: Any = setting(None, "anything")


GOOD = [
    ("count", 5, 5),
    ("count", "5", 5),
    ("count", 5.0, 5),
    ("count", np.int8(5), 5),
    ("count", np.float64(5), 5),
    ("count", 1, 1),
    ("count", 9, 9),
    ("share", 1, 1.0),
    ("share", "1e-3", 0.001),
    ("share", np.float32(0.5), 0.5),
    ("share", 0, 0.0),
    ("way", "down", "down"),
    ("way", 2, 2),
    ("way", "2", 2),
    ("flag", True, True),
    ("flag", "yes", True),
    ("flag", "No", False),
    ("flag", "TRUE", True),
    ("flag", "0", False),
    ("flag", np.True_, True),
    ("perhaps", None, None),
    ("perhaps", "none", None),
    ("perhaps", "7", 7),
    ("perhaps", 0, 0),
    ("text", "b", "b"),
    ("either", "5", 5),
    ("either", 5, 5),
    ("either", "five", "five"),
    ("parts", "1,2,3", (1, 2, 3)),
    ("parts", [1, "2"], (1, 2)),
    ("parts", np.array([4, 5]), (4, 5)),
    ("parts", "", ()),
    ("words", "a,b", ("a", "b")),
    ("free", {"a": 1}, {"a": 1}),
]


@pytest.mark.parametrize(("name", "given_value", "expected"), GOOD)
def test_values_that_fit(name, given_value, expected):
    found = getattr(build(Params, {name: given_value}, "toy"), name)
    assert found == expected and type(found) is type(expected)


BAD = [
    ("count", 0, r"toy: count=0 is out of range; give int >= 1 and <= 9"),
    ("count", 10, "out of range"),
    ("count", "10", "out of range"),
    ("count", 2.5, "count=2.5 is not allowed; give int"),
    ("count", "2.5", "is not allowed"),
    ("count", True, "count=True is not allowed; give int"),
    ("count", np.True_, "is not allowed"),
    ("count", None, "is not allowed"),
    ("count", [1], "is not allowed"),
    ("count", np.array([1, 2]), "is not allowed"),
    ("count", float("inf"), "is not allowed"),
    ("share", "inf", "is not allowed"),
    ("count", float("nan"), "is not allowed"),
    ("count", 1 + 0j, "is not allowed"),
    ("share", -0.1, r"share=-0.1 is out of range; give float >= 0"),
    ("share", float("nan"), "is not allowed; give float"),
    ("share", "nan", "is not allowed"),
    ("share", True, "is not allowed"),
    ("share", "much", "is not allowed"),
    ("share", 10**400, "is not allowed|out of range"),
    ("share", None, "is not allowed"),
    ("way", "left", r"way='left' is not allowed; give up \| down \| 2"),
    ("way", None, "is not allowed"),
    ("way", np.array(["up", "down"]), "is not allowed"),
    ("flag", "maybe", "flag='maybe' is not allowed; give bool"),
    ("flag", 1, "is not allowed"),
    ("flag", None, "is not allowed"),
    ("perhaps", -1, "out of range"),
    ("perhaps", "some", r"give int \| none"),
    ("perhaps", 2.5, "is not allowed"),
    ("text", 5, "text=5 is not allowed; give str"),
    ("parts", 5, "parts=5 is not allowed; give list of int"),
    ("parts", "1,x", "is not allowed"),
    ("parts", [1, None], "is not allowed"),
    ("parts", [[1]], "is not allowed"),
    ("parts", [float("inf")], "is not allowed"),
]


@pytest.mark.parametrize(("name", "value", "words"), BAD)
def test_values_that_do_not_fit(name, value, words):
    with pytest.raises(ParameterError, match=words):
        build(Params, {name: value}, "toy")


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(
        ParameterError, match=r"toy: unknown parameter 'cuont'; did you mean 'count'\? valid parameters: count, share"
    ):
        build(Params, {"cuont": 3}, "toy")
    with pytest.raises(ParameterError, match="unknown parameter 'zzzzzz'; valid parameters: count"):
        build(Params, {"zzzzzz": 3}, "toy")

    @dataclasses.dataclass(frozen=True)
    class Nothing:
        pass

    with pytest.raises(ParameterError, match="unknown parameter 'x'; valid parameters: none"):
        build(Nothing, {"x": 1}, "toy")


def test_defaults_stand_where_nothing_is_given():
    assert build(Params, {}, "toy") == Params()


def test_describe_says_all():
    rows = {row["name"]: row for row in describe(Params)}
    assert rows["count"]["default"] == 3 and rows["count"]["meaning"] == "how many" and rows["count"]["type"] == "int"
    assert [rows[name]["type"] for name in ("way", "perhaps", "parts", "flag")] == [
        "up | down | 2",
        "int | none",
        "list of int",
        "bool",
    ]
    assert type_name(str) == "str"


@steady
@given(
    st.sampled_from([field.name for field in dataclasses.fields(Params)]),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.complex_numbers()),
        lambda inner: (
            st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(st.text(max_size=1), inner, max_size=2)
        ),
        max_leaves=4,
    ),
)
def test_any_value_is_taken_or_refused(name, value):
    try:
        built = build(Params, {name: value}, "toy")
    except ParameterError as error:
        assert name in str(error)
    else:
        assert built.count in range(1, 10) and built.share >= 0 and built.way in ("up", "down", 2)
