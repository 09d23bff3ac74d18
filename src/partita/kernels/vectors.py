"""Rows of tables added up in vector registers, written as the compiler's own code.

A plain loop that adds table rows to a row of scores keeps the scores in memory, since the compiler cannot know that the
tables lie elsewhere: every addition waits until the last one's result is stored. Here the scores of a row are vectors
that stay in registers from the first column to the last. Each score is still the sum of the same numbers in the same
order, so it is the same to the last bit. Where the machine's vectors are shorter, the compiler takes several.

All arrays are one-dimensional and contiguous. A table has `stride` numbers a row, a multiple of 4; label x of column j
has its row at `starts[j] + x * stride`, and the row before a column's first, that of the label -1, holds zeros.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

DOUBLE, INDEX, SHORT = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
LANES: Final = 8
"""Numbers in a vector; the last of a row may be half as long."""


class Code(NamedTuple):
    """Where instructions go: numba's view of the call, and the builder that appends them."""

    context: Any
    builder: Any
    kinds: Any
    values: Any

    def data(self, argument: int) -> Any:
        """The address of an array's first number."""
        array = self.context.make_array(self.kinds[argument])
        return array(self.context, self.builder, self.values[argument]).data

    def label(self, address: Any, kind: Any) -> Any:
        """A label of any integer type as an index."""
        label = self.builder.load(address)
        if kind.bitwidth == INDEX.width:
            return label
        return self.builder.sext(label, INDEX) if kind.signed else self.builder.zext(label, INDEX)

    def pieces(self, data: Any, place: Any, width: int) -> list[Any]:
        """The addresses of the vectors that `width` numbers from `place` on are made of."""
        found, shift = [], 0
        while shift < width:
            lanes = LANES if width - shift >= LANES else LANES // 2
            address = self.builder.gep(data, [self.builder.add(place, INDEX(shift))])
            found.append(self.builder.bitcast(address, ir.VectorType(DOUBLE, lanes).as_pointer()))
            shift += lanes
        return found

    def load(self, data: Any, place: Any, width: int) -> list[Any]:
        """The numbers there; a table need not begin at a multiple of the vectors' length."""
        return [self.builder.load(address, align=8) for address in self.pieces(data, place, width)]

    def store(self, vectors: list[Any], data: Any, place: Any) -> None:
        """Write vectors one behind the other."""
        width = sum(vector.type.count for vector in vectors)
        for vector, address in zip(vectors, self.pieces(data, place, width), strict=True):
            self.builder.store(vector, address, align=8)

    def larger(self, one: Any, other: Any) -> Any:
        """The larger of two, element by element."""
        return self.builder.select(self.builder.fcmp_ordered(">", one, other), one, other)

    def folded(self, vector: Any, lanes: int) -> Any:
        """The larger of the two halves, and so on, until so many elements are left."""
        while vector.type.count > lanes:
            half = vector.type.count // 2
            spans = (range(half), range(half, 2 * half))
            low, high = (self.builder.shuffle_vector(vector, vector, picks(span)) for span in spans)
            vector = self.larger(low, high)
        return vector

    def largest(self, vectors: list[Any]) -> Any:
        """The largest element of vectors, of which none is longer than those before."""
        top = vectors[0]
        for vector in vectors[1:]:
            top = self.larger(self.folded(top, vector.type.count), vector)
        return self.builder.extract_element(self.folded(top, 1), SHORT(0))

    def repeated(self, value: Any, lanes: int) -> Any:
        """A vector with one value everywhere."""
        one = ir.Constant(ir.VectorType(DOUBLE, lanes), ir.Undefined)
        one = self.builder.insert_element(one, value, SHORT(0))
        return self.builder.shuffle_vector(one, one, picks([0] * lanes))


def picks(places: Any) -> Any:
    """Which elements a shuffle takes."""
    return ir.Constant(ir.VectorType(SHORT, len(places)), [SHORT(place) for place in places])


def written(function: Callable[..., Any]) -> Callable[..., Any]:
    """Code that is put in place of a call; `function` tells the types, and writes it."""
    return cast(Callable[..., Any], intrinsic(prefer_literal=True)(function))


@written
def sum_rows(
    typing: Any,
    labels: Any,
    at: Any,
    columns: Any,
    starts: Any,
    tables: Any,
    stride: Any,
    bias: Any,
    first: Any,
    out: Any,
    place: Any,
    rows: Any,
    width: Any,
) -> Any:
    """Write to `out` the bias plus the table rows of the labels of some consecutive rows, the first at `labels[at]`.

    Takes `width` numbers from `first` on; row i's go to `place + i * stride`. Rows, which are few, and width are
    literals.
    """
    many, wide = rows.literal_value, width.literal_value

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        code = Code(context, builder, signature.args, values)
        _, at, columns, _, _, stride, _, first, _, place, _, _ = values
        before, loop = builder.block, builder.append_basic_block("columns")
        after = builder.append_basic_block("summed")
        initial = code.load(code.data(6), first, wide)
        table, start = builder.gep(code.data(4), [first]), code.data(3)
        lines = [builder.gep(code.data(0), [builder.add(at, builder.mul(columns, INDEX(i)))]) for i in range(many)]
        builder.branch(loop)
        builder.position_at_end(loop)
        j = builder.phi(INDEX)
        sums = [[builder.phi(vector.type) for vector in initial] for _ in range(many)]
        begin, nexts = builder.load(builder.gep(start, [j])), []
        for line, old in zip(lines, sums, strict=True):
            label = code.label(builder.gep(line, [j]), signature.args[0].dtype)
            terms = code.load(table, builder.add(begin, builder.mul(label, stride)), wide)
            nexts.append([builder.fadd(vector, term) for vector, term in zip(old, terms, strict=True)])
        following = builder.add(j, INDEX(1))
        steps = [(j, INDEX(0), following)]
        for old, new in zip(sums, nexts, strict=True):
            steps.extend(zip(old, initial, new, strict=True))
        for phi, was, becomes in steps:
            phi.add_incoming(was, before)
            phi.add_incoming(becomes, loop)
        builder.cbranch(builder.icmp_signed("<", following, columns), loop, after)
        builder.position_at_end(after)
        for i, vectors in enumerate(nexts):
            code.store(vectors, code.data(8), builder.add(place, builder.mul(stride, INDEX(i))))
        return context.get_dummy_value()

    whole = types.int64
    taken = (labels, whole, whole, starts, tables, whole, bias, whole, out, whole, rows, width)
    return types.void(*taken), write


@written
def spread_row(
    typing: Any,
    labels: Any,
    at: Any,
    columns: Any,
    starts: Any,
    tables: Any,
    stride: Any,
    shares: Any,
    place: Any,
    first: Any,
    width: Any,
) -> Any:
    """Add `width` numbers, `shares[place]` and on, to the table rows of a row's labels, from number `first` on."""
    wide = width.literal_value

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        code = Code(context, builder, signature.args, values)
        _, at, columns, _, _, stride, _, place, first, _ = values
        before, loop = builder.block, builder.append_basic_block("columns")
        after = builder.append_basic_block("spread")
        terms = code.load(code.data(6), place, wide)
        table, line, start = builder.gep(code.data(4), [first]), builder.gep(code.data(0), [at]), code.data(3)
        builder.branch(loop)
        builder.position_at_end(loop)
        j = builder.phi(INDEX)
        label = code.label(builder.gep(line, [j]), signature.args[0].dtype)
        begin = builder.add(builder.load(builder.gep(start, [j])), builder.mul(label, stride))
        old = code.load(table, begin, wide)
        code.store([builder.fadd(one, term) for one, term in zip(old, terms, strict=True)], table, begin)
        following = builder.add(j, INDEX(1))
        j.add_incoming(INDEX(0), before)
        j.add_incoming(following, loop)
        builder.cbranch(builder.icmp_signed("<", following, columns), loop, after)
        builder.position_at_end(after)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(labels, whole, whole, starts, tables, whole, shares, whole, whole, width), write


@written
def lead(typing: Any, scores: Any, place: Any, width: Any) -> Any:
    """The largest of `width` numbers, a literal, from `place` on, and which is the first that is as large."""
    wide = width.literal_value

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        code = Code(context, builder, signature.args, values)
        vectors = code.load(code.data(0), values[1], wide)
        top, found, shift = code.largest(vectors), INDEX(0), 0
        for vector in vectors:
            equal = builder.fcmp_ordered("==", vector, code.repeated(top, vector.type.count))
            bits = builder.zext(builder.bitcast(equal, ir.IntType(vector.type.count)), INDEX)
            found = builder.or_(found, builder.shl(bits, INDEX(shift)))
            shift += vector.type.count
        winner = builder.cttz(found, ir.IntType(1)(1))
        return context.make_tuple(builder, signature.return_type, [top, winner])

    pair = types.Tuple((types.float64, types.int64))  # type: ignore[no-untyped-call]  # numba has no types
    return pair(scores, types.int64, width), write
