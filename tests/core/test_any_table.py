"""Whatever is handed in: an ensemble comes out, or a PartitaError; never another exception."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from partita import Ensemble, PartitaError, SoftEnsemble
from tests.core.oracles import steady

cells = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-2, 3),
    st.floats(),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    st.text(st.characters(exclude_categories=()), max_size=3),
    st.binary(max_size=3),
    st.dates(),
    st.datetimes(timezones=st.none() | st.just(dt.UTC)),
    st.timedeltas(),
    st.decimals(),
    st.complex_numbers(),
    st.sampled_from([pd.NA, pd.NaT, np.int8(3), np.float32(0.5), np.str_("x"), np.True_, decimal.Decimal(2)]),
    st.tuples(st.integers(0, 2)),
    st.frozensets(st.integers(0, 2), max_size=2),
)
anything = st.recursive(
    cells,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.text(max_size=2), st.integers(0, 3), st.none()), inner, max_size=3),
        st.sets(st.integers(0, 3), max_size=2),
    ),
    max_leaves=12,
)
rectangles = st.tuples(st.integers(1, 4), st.integers(1, 3)).flatmap(
    lambda shape: st.lists(st.lists(cells, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0])
)
arrays = hnp.arrays(
    st.one_of(
        hnp.scalar_dtypes(),
        hnp.unicode_string_dtypes(max_len=3),
        hnp.byte_string_dtypes(max_len=3),
        hnp.array_dtypes(max_size=2),
    ),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
choices = st.fixed_dictionaries(
    {},
    optional={
        "missing": st.one_of(st.none(), st.just(-1), st.just(()), st.integers(-3, 3), st.floats(), st.text(max_size=2)),
        "transpose": st.sampled_from([None, True, False]),
    },
)
many = settings(steady, max_examples=300)


def build(table, **options):
    try:
        ensemble = Ensemble.from_labels(table, **options)
    except PartitaError as error:
        assert str(error).strip()
        return
    labels = ensemble.labels
    assert labels.ndim == 2 and labels.shape[1] == len(ensemble.names) == len(ensemble.sizes) == len(ensemble.classes)
    for j, size in enumerate(ensemble.sizes):
        known = labels[:, j][labels[:, j] >= 0].tolist()
        first = [known.index(code) for code in range(size)]
        assert first == sorted(first) and set(known) == set(range(size)) and len(ensemble.classes[j]) == size
    assert labels.min(initial=0) >= -1 and not labels.flags.writeable
    assert len(ensemble.fingerprint) == 32 and repr(ensemble) and len(ensemble.distinct.inverse) == len(ensemble)


@many
@given(anything, choices)
def test_anything(table, options):
    build(table, **options)


@many
@given(rectangles, choices)
def test_rectangles(rows, options):
    build(rows, **options)
    build({f"n{j}": list(column) for j, column in enumerate(zip(*rows, strict=True))}, **options)


@many
@given(rectangles)
def test_pandas(rows):
    try:
        frame = pd.DataFrame(rows)
    except (TypeError, ValueError, OverflowError):
        return
    build(frame)


@steady
@given(st.lists(st.lists(st.one_of(st.none(), st.integers(-1, 3)), min_size=2, max_size=2), min_size=1, max_size=4))
def test_polars(rows):
    build(pl.DataFrame(rows, schema=["a", "b"], orient="row"), missing=-1)


@many
@given(arrays, choices)
def test_arrays(array, options):
    build(array, **options)


def build_soft(blocks, **options):
    try:
        ensemble = SoftEnsemble.from_memberships(blocks, **options)
    except PartitaError as error:
        assert str(error).strip()
        return
    sums = np.stack([ensemble.block(j).sum(axis=1) for j in range(len(ensemble.names))], axis=1)
    assert np.allclose(sums, ensemble.known) and (ensemble.matrix >= 0).all() and not ensemble.matrix.flags.writeable
    assert len(ensemble.fingerprint) == 32 and repr(ensemble) and len(ensemble.distinct.inverse) == len(ensemble)
    assert np.array_equal(ensemble.harden().labels >= 0, ensemble.known)


@many
@given(anything)
def test_anything_as_memberships(blocks):
    build_soft(blocks)


@many
@given(st.lists(st.one_of(arrays, rectangles), max_size=3))
def test_arrays_as_memberships(blocks):
    build_soft(blocks)


@steady
@given(hnp.arrays("f8", (3, 2), elements=st.floats(0, 1)), st.integers(0, 2))
def test_memberships_close_to_shares(block, row):
    block = np.stack([block[:, 0], 1 - block[:, 0]], axis=1)
    block[row] += 1e-4
    build_soft([block, ["a", None, "b"]])
