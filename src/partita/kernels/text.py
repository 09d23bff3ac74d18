"""Reading a plain table of integer labels straight from the bytes of a delimited file."""

from partita.kernels.compiling import Array, kernel

NEWLINE, RETURN, MINUS, DOT, ZERO, NINE = 10, 13, 45, 46, 48, 57
LETTER_N, LETTER_A, SMALL_N, SMALL_A = 78, 65, 110, 97


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
def parse_labels(text: Array, start: int, stop: int, delimiter: int, missing: int, out: Array, row: int) -> int:
    """Parse whole lines of integer cells into `out[row:]`; empty, NA and NaN cells become `missing`.

    Returns -1, or the place of the first byte this plain reading does not understand (quotes, words, fractions,
    too many digits, too few or too many cells); the caller then takes the general reader. `12.0` counts as 12. The
    loop is one function because a call per cell would double its time.
    """
    columns = out.shape[1]
    i = start
    column = 0
    while i < stop:
        negative = text[i] == MINUS
        if negative:
            i += 1
        value = 0
        begin = i
        while i < stop and ZERO <= text[i] <= NINE:
            value = value * 10 + (text[i] - ZERO)
            i += 1
        digits = i - begin
        if digits > 9 or (negative and digits == 0):
            return i
        if digits > 0:
            if i < stop and text[i] == DOT:
                i += 1
                while i < stop and text[i] == ZERO:
                    i += 1
            if negative:
                value = -value
        else:
            i = skip_missing_word(text, i, stop)
            value = missing
        if i < stop and text[i] == RETURN and (i + 1 == stop or text[i + 1] == NEWLINE):
            i += 1
        if i == stop or text[i] == NEWLINE:
            if column != columns - 1:
                return min(i, stop - 1)
            out[row, column] = value
            column = 0
            row += 1
        elif text[i] == delimiter and column < columns - 1:
            out[row, column] = value
            column += 1
            if i + 1 == stop:
                return i
        else:
            return i
        i += 1
    return -1
