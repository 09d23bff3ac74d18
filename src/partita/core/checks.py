"""Checks of the input: tables that are probably not what the user meant to give.

Arrays, dataframes, files, AnnData objects, estimators, streamed tables and the command line all call these functions.
A check that finds an error raises `CheckError`. Other checks issue a warning and return it as a note, which the
ensemble and the result keep. `allow=` switches a check off by its code. docs/checks.md has the thresholds, and the
false alarms that were measured.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from partita.core.coding import Label
from partita.core.errors import (
    CheckError,
    ConstantColumnWarning,
    EmptyColumnWarning,
    FeatureTableWarning,
    Note,
    ParameterError,
    WideTableWarning,
    warn,
)
from partita.core.feature_tables import looks_like_features
from partita.core.types import FloatArray, IntArray, is_sequence
from partita.core.ways_out import ways_out

ID_LIKE: Final = "id-like-column"
TRANSPOSED: Final = "transposed"
PARTITA_OUTPUT: Final = "partita-output"
MEMBERSHIPS: Final = "memberships"
ERRORS: Final = (ID_LIKE, TRANSPOSED, PARTITA_OUTPUT, MEMBERSHIPS)
WARNINGS: Final = tuple(
    kind.code for kind in (WideTableWarning, FeatureTableWarning, EmptyColumnWarning, ConstantColumnWarning)
)
ALL: Final = frozenset((*ERRORS, *WARNINGS))
"""Codes of all checks; `allow=ALL` switches all of them off, for tables that Partita itself makes."""
SHAPE: Final = frozenset((TRANSPOSED, WideTableWarning.code))
"""Checks of the numbers of rows and columns."""
MADE: Final = frozenset((ID_LIKE, FeatureTableWarning.code))
"""Checks that do not apply to base clusterings that Partita generates for the user."""

MIN_ID_ROWS: Final = 20
"""Number of rows from which a column of different values is taken for ids."""
MIN_KNOWN: Final = 0.5
"""Share of the rows that must have a value for that."""
TRANSPOSED_COLUMNS, TRANSPOSED_RATIO = 20, 3
"""A table is taken for transposed if it has at least this number of columns, and this many times more than rows."""
FIGURES: Final = ("confidence", "second", "second_item_consensus")
"""Columns that a result of Partita has next to its labels: fields of `Consensus` with one number per object."""


MEMBERSHIP_COLUMN: Final = re.compile(r"(.+):(0|[1-9][0-9]{0,5})", re.DOTALL)
"""Name of a column of memberships: that of the clustering, a colon, and the number of the cluster."""
SUM_TOLERANCE: Final = 1e-3
"""Maximum deviation of the sum of the memberships of an object from 1."""


def allowed(allow: Any) -> frozenset[str]:
    """Return the codes in `allow`, one code or several; an unknown code is an error.

    >>> sorted(allowed("transposed")), sorted(allowed(()))
    (['transposed'], [])
    """
    codes = (allow,) if isinstance(allow, str) else allow
    if not (is_sequence(codes) or isinstance(codes, frozenset | set)):
        raise ParameterError(f"allow={allow!r:.60} is not a code or a list of codes; codes: {', '.join(sorted(ALL))}")
    for code in codes:
        if code not in ALL:
            raise ParameterError(f"allow={code!r:.60} is not the code of a check; codes: {', '.join(sorted(ALL))}")
    return frozenset(codes)


def check_names(names: Sequence[str], allow: frozenset[str]) -> None:
    """Raise if the columns are those of a result of Partita: "consensus" with its confidence or memberships."""
    if PARTITA_OUTPUT in allow:
        return
    known = set(names)
    own = [name for name in names if name in FIGURES or name.startswith(("consensus:", "candidate "))]
    own = ["consensus", *own] if own and "consensus" in known else []
    # In AnnData and its `obs`, the columns of a result have the name of the result in front.
    for key in names:
        figures = [f"{key}_{figure}" for figure in FIGURES if f"{key}_{figure}" in known]
        own += [name for name in (key, *figures) if figures and name not in own]
    if not own:
        return
    ways = ways_out()
    # to exclude consensus also excludes the memberships consensus:0, consensus:1, …
    excluded = ways.without([name for name in own if not name.startswith("consensus:")])
    raise CheckError(
        f"the columns {_listed(own)} are output of Partita, not base clusterings; {excluded}; only if they are "
        f"clusterings that have these names by coincidence, set {ways.allow.format(ways.quoted(PARTITA_OUTPUT))}",
        PARTITA_OUTPUT,
    )


def check_clustering_names(names: Sequence[str], columns: Iterable[Sequence[Any]], allow: frozenset[str]) -> None:
    """Raise if one of the objects of a table with clusterings in rows is the column with the names of the clusterings.

    It is text, all its values are different, and none occurs in another column. In a table with at least `MIN_ID_ROWS`
    columns, an object that is alone in every clustering is less probable.
    """
    if ID_LIKE in allow or len(names) < MIN_ID_ROWS:
        return
    texts = [[value for value in column if isinstance(value, str) and value.strip()] for column in columns]
    times = Counter(value for column in texts for value in set(column))
    rows = max(map(len, texts))
    own = [
        name
        for name, column in zip(names, texts, strict=True)
        if rows > 1 and len(column) == rows == len(set(column)) and all(times[value] == 1 for value in column)
    ]
    if len(own) == 1:
        ways = ways_out()
        raise CheckError(
            f"column {own[0]!r} looks like the names of the clusterings, not like the labels of an object; "
            f"{ways.ids.format(ways.quoted(own[0]))} if it holds names, or "
            f"{ways.allow.format(ways.quoted(ID_LIKE))} if it is an object",
            ID_LIKE,
        )


def check_memberships(names: Sequence[str], columns: Sequence[Any], allow: frozenset[str]) -> None:
    """Raise if columns `name:0`, `name:1`, … of a table of labels are memberships: numbers that sum to 1 in each row.

    In files they make a `SoftEnsemble`; as labels, each of them would be a clustering. Missing rows are not checked.
    """
    if MEMBERSHIPS in allow:
        return
    blocks: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        match = MEMBERSHIP_COLUMN.fullmatch(name)
        if match:
            blocks.setdefault(match[1], []).append(j)
    for name, places in blocks.items():
        try:
            block = np.array([np.asarray(columns[j], dtype=float) for j in places])
        except (TypeError, ValueError):  # not numbers
            continue
        sums = block.sum(axis=0)
        known = block[:, ~np.isnan(sums)]
        if len(places) < 2 or not known.size or (known < 0).any() or (abs(known.sum(axis=0) - 1) > SUM_TOLERANCE).any():
            continue
        own, ways = [names[j] for j in places], ways_out()
        raise CheckError(
            f"the columns {_listed(own)} are memberships of one clustering, {name!r}: they sum to 1; give them as "
            f"partita.SoftEnsemble.from_memberships({{{name!r}: table[{own[:8]!r}], …}}), read them from a file with "
            f"partita.read, or set {ways.allow.format(ways.quoted(MEMBERSHIPS))} if each column is a clustering",
            MEMBERSHIPS,
        )


def check_shape(
    rows: int, columns: int, transpose: bool | None, allow: frozenset[str], transposable: bool = True
) -> list[Note]:
    """Check a table of `rows` objects and `columns` clusterings; `transpose` other than None confirms its shape.

    Raises if the table looks transposed, and warns if it has more columns than rows. `transposable` is False for
    tables that cannot be transposed when they are read.
    """
    if transpose is not None or columns <= rows:
        return []
    ways = ways_out()
    table = f"the table has {rows} objects (rows) and {columns} clusterings (columns)"
    turn = f"{ways.transpose} if the clusterings are in rows, " if transposable and ways.transpose else ""

    def kept(code: str) -> str:
        options = filter(None, (ways.no_transpose, ways.allow.format(ways.quoted(code))))
        return f"{turn}set {' or '.join(options)} if they are in columns"

    if columns >= TRANSPOSED_COLUMNS and columns >= TRANSPOSED_RATIO * rows and TRANSPOSED not in allow:
        raise CheckError(f"{table} and looks transposed; {kept(TRANSPOSED)}", TRANSPOSED)
    if WideTableWarning.code in allow:
        return []
    return [warn(WideTableWarning(f"{table}; {kept(WideTableWarning.code)}"))]


def check_columns(
    names: Sequence[str],
    labels: IntArray,
    classes: Sequence[Sequence[Label]],
    weights: FloatArray,
    allow: frozenset[str],
    rows: int | None = None,
) -> list[Note]:
    """Check the columns of hard labels that have a weight above 0.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    labels : (n, r) array
        Codes, -1 where missing.
    classes : sequence of sequences
        Label values of each column, in the order of the codes.
    weights : (r,) array
        Weights of the clusterings; columns of weight 0 are not checked.
    allow : frozenset of str
        Codes of the checks to omit.
    rows : int, optional
        Number of rows of the table, if `labels` has only some of them. A column then looks like ids only if it has as
        many values as the table has rows.

    Returns
    -------
    list of Note
        The warnings that were issued: a column without labels, a column with one label, a table that looks like
        features. A column that looks like ids raises `CheckError`.
    """
    used = [j for j in range(len(names)) if weights[j] > 0]
    for j in used if ID_LIKE not in allow else ():
        if len(classes[j]) >= _min_ids(rows or len(labels)):
            known = rows or int(np.count_nonzero(labels[:, j] >= 0))
            _check_ids(names[j], len(classes[j]), known, (rows or len(labels)) - known)
    notes = check_sizes([names[j] for j in used], [len(classes[j]) for j in used], allow)
    part = labels if len(used) == len(names) else labels[:, used]
    if FeatureTableWarning.code not in allow and looks_like_features(part, [classes[j] for j in used]):
        ways = ways_out()
        text = (
            "the table looks like features (measurements of the objects), not like cluster labels: columns of many "
            "different integers are ordered alike, but do not group alike; to cluster by features, use "
            f"{ways.cluster}; set {ways.allow.format(ways.quoted(FeatureTableWarning.code))} if they are cluster labels"
        )
        notes.append(warn(FeatureTableWarning(text)))
    return notes


def check_sizes(names: Sequence[str], sizes: Sequence[int], allow: frozenset[str]) -> list[Note]:
    """Warn of clusterings without labels and of those with one cluster; `sizes` are the clusters of each."""
    notes = []
    empty = [name for name, size in zip(names, sizes, strict=True) if size == 0]
    constant = [name for name, size in zip(names, sizes, strict=True) if size == 1]
    if empty and EmptyColumnWarning.code not in allow:
        what = "column {} has no labels and is" if len(empty) == 1 else "the columns {} have no labels and are"
        text = f"{what.format(_listed(empty))} not used; check the missing values, or {ways_out().without(empty)}"
        notes.append(warn(EmptyColumnWarning(text)))
    if constant and ConstantColumnWarning.code not in allow:
        what = "column {} has" if len(constant) == 1 else "the columns {} have"
        text = f"{what.format(_listed(constant))} the same label for all objects; {ways_out().without(constant)} if "
        notes.append(warn(ConstantColumnWarning(text + "this is a mistake")))
    return notes


def check_blocks(names: Sequence[str], blocks: Sequence[FloatArray], allow: frozenset[str]) -> list[Note]:
    """Check clusterings given as (n, k_j) memberships, in which labels are one-hot rows; see `check_columns`."""
    for name, block in zip(names, blocks, strict=True):
        if ID_LIKE not in allow and block.shape[1] >= _min_ids(len(block)) and (block.sum(axis=0) == 1).all():
            known = int(np.count_nonzero(block.any(axis=1)))
            _check_ids(name, block.shape[1], known, len(block) - known)
    return check_sizes(names, [int(block.any(axis=0).sum()) for block in blocks], allow)


def _min_ids(rows: int) -> float:
    """Return the minimum number of different values in a column of ids, for a table with `rows` rows."""
    return max(MIN_ID_ROWS, MIN_KNOWN * rows)


def _check_ids(name: str, values: int, known: int, missing: int) -> None:
    """Raise if the values of a column are all different."""
    if values < known:
        return
    ways = ways_out()
    first = f" (after giving ids to the {missing} rows without one)" if missing else ""
    ids = f"{ways.ids.format(ways.quoted(name))} if it holds ids{first}, " if ways.ids else ""
    raise CheckError(
        f"column {name!r} has {known} values that are all different, so it looks like ids, not like cluster labels; "
        f"{ids}{ways.without([name])}, or set {ways.allow.format(ways.quoted(ID_LIKE))} if it is a clustering",
        ID_LIKE,
    )


def _listed(names: Iterable[str], most: int = 8) -> str:
    quoted = [repr(name) for name in names]
    return ", ".join(quoted[:most]) + (f" and {len(quoted) - most} more" if len(quoted) > most else "")
