"""Reading a plain table of integer labels straight from the bytes of a delimited file."""

from typing import Final

from partita.kernels.compiling import Array, kernel

EMPTY: Final = -(1 << 31)
"""What an empty cell becomes."""
SKIPPED: Final = -1
"""The target of a file column that is passed over."""
RECORDED: Final = -2
"""The target of the file column whose cells are recorded by their places."""

NEWLINE, RETURN, QUOTE, MINUS, DOT, ZERO, NINE = 10, 13, 34, 45, 46, 48, 57
LETTER_N, LETTER_A, SMALL_N, SMALL_A = 78, 65, 110, 97


@kernel
def line_end(text: Array, start: int) -> int:
    """The place after the first newline from `start` on, or the end of the text."""
    i = start
    while i < text.shape[0]:
        i += 1
        if text[i - 1] == NEWLINE:
            break
    return i


@kernel
def count_lines(text: Array, start: int, stop: int) -> int:
    """How many newlines stand in `start..stop`."""
    lines = 0
    for i in range(start, stop):
        lines += text[i] == NEWLINE
    return lines


@kernel
def skip_missing_word(text: Array, i: int, stop: int) -> int:
    """The place after NA, NaN or nan beginning at i, or i when none of them stands there."""
    if i + 1 < stop and text[i] == LETTER_N and text[i + 1] == LETTER_A:
        return i + 2
    if i + 2 < stop and text[i + 1] == SMALL_A:
        if text[i] == LETTER_N and text[i + 2] == LETTER_N:
            return i + 3
        if text[i] == SMALL_N and text[i + 2] == SMALL_N:
            return i + 3
    return i


@kernel
def parse_labels(
    text: Array, start: int, stop: int, delimiter: int, targets: Array, out: Array, spans: Array, row: int
) -> int:
    """Parse whole lines of cells into `out[row:]`; empty, NA and NaN cells become EMPTY.

    `targets` says for each file column which column of `out` it is, or SKIPPED, or RECORDED: then `spans[row:]` gets
    where its cells begin and end. Returns -1, or the place of the first byte this plain reading does not understand
    (quotes, words, fractions, too many digits, too few or too many cells); the caller then takes the general reader.
    `12.0` counts as 12. The loop is one function because a call per cell would double its time.
    """
    last = targets.shape[0] - 1
    i = start
    column = 0
    while i < stop:
        target = targets[column]
        begin = i
        value = 0
        if target < 0:
            while i < stop and text[i] != delimiter and text[i] != NEWLINE and text[i] != RETURN:
                if text[i] == QUOTE:
                    return i
                i += 1
            if target == RECORDED:
                spans[row, 0] = begin
                spans[row, 1] = i
        else:
            negative = text[i] == MINUS
            if negative:
                i += 1
                begin += 1
            while i < stop and ZERO <= text[i] <= NINE:
                value = value * 10 + (text[i] - ZERO)
                i += 1
            if i - begin > 9 or (negative and i == begin):
                return i
            if i > begin:
                if i < stop and text[i] == DOT:
                    i += 1
                    while i < stop and text[i] == ZERO:
                        i += 1
                if negative:
                    value = -value
            else:
                i = skip_missing_word(text, i, stop)
                value = EMPTY
            out[row, target] = value
        if i < stop and text[i] == RETURN and (i + 1 == stop or text[i + 1] == NEWLINE):
            i += 1
        if i == stop or text[i] == NEWLINE:
            if column != last:
                return min(i, stop - 1)
            column = 0
            row += 1
        elif text[i] == delimiter and column < last and i + 1 < stop:
            column += 1
        else:
            return i
        i += 1
    return -1


@kernel
def gather_spans(text: Array, spans: Array, offsets: Array, out: Array, start: int, stop: int) -> None:
    """Copy the recorded cells one after the other: cell `row` to `out[offsets[row]:]`."""
    for row in range(start, stop):
        place = offsets[row]
        for i in range(spans[row, 0], spans[row, 1]):
            out[place] = text[i]
            place += 1


@kernel
def broken_quote(text: Array, delimiter: int) -> tuple[int, int, bool]:
    """Where a quote opens that does not end its cell (-1 if none does), in which column, and whether it ends at all.

    A quote opens a cell only as its first byte; two quotes inside a quoted cell stand for one.
    """
    quoted, fresh, opened, column = False, True, -1, 0
    i = 0
    while i < text.shape[0]:
        last = i + 1 == text.shape[0]
        if not quoted:
            if text[i] == QUOTE and fresh:
                quoted, opened = True, i
            fresh = text[i] == delimiter or text[i] == NEWLINE
            if fresh:
                column = column + 1 if text[i] == delimiter else 0
        elif text[i] == QUOTE and not last and text[i + 1] == QUOTE:
            i += 1
        elif text[i] == QUOTE:
            quoted = False
            if not (last or text[i + 1] == delimiter or text[i + 1] == NEWLINE or text[i + 1] == RETURN):
                return opened, column, True
        i += 1
    return (opened, column, False) if quoted else (-1, 0, True)
