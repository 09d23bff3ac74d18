"""Rows of new objects under the codes of a training table: clusterings found by name, labels by value."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from partita.core.coding import NOTHING_SAID, Indexed, Label, MissingRule, label_key
from partita.core.columns import index_column
from partita.core.ensemble import Ensemble
from partita.core.errors import TableError
from partita.core.soft import SoftEnsemble
from partita.core.tables import as_table
from partita.core.types import MISSING, FloatArray, IntArray, smallest_type

TRUTHS: Final = {"true": True, "false": False}
WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}(\.0*)?")
"""How text files spell whole numbers."""


@dataclass(frozen=True, slots=True)
class Clusterings:
    """What a model knows of the clusterings it was trained on."""

    names: tuple[str, ...]
    classes: tuple[tuple[Label, ...], ...]
    """Per clustering the labels seen in training, in code order; none where it took no part."""
    missing: MissingRule = NOTHING_SAID

    @property
    def sizes(self) -> tuple[int, ...]:
        """Labels per clustering."""
        return tuple(map(len, self.classes))


class NewRows(NamedTuple):
    """New objects under the codes of training."""

    rows: Ensemble | SoftEnsemble
    unseen: int
    """How many cells held a label never seen in training; they are treated as missing."""


def code_rows(table: Any, known: Clusterings) -> NewRows:
    """An ensemble, or any table of labels, under the codes of training.

    Clusterings are found by name, or by place in a table without names; one that took no part in training is not
    looked at. Labels are found by value, and numbers and booleans also as the text that spells them, since a text file
    says no more.
    """
    if isinstance(table, (Ensemble, SoftEnsemble)) and _same(table, known):
        return NewRows(table, 0)
    if isinstance(table, SoftEnsemble):
        return _code_soft(table, known)
    if isinstance(table, Ensemble):
        places = find_columns(table.names, known)
        columns = [None if p is None else Indexed(table.labels[:, p], table.classes[p]) for p in places]
        rows, unseen = _code_hard(columns, len(table), known)
        rows = replace(rows, ids=table.ids, id_name=table.id_name, multiplicity=table.multiplicity)
        return NewRows(rows, unseen)
    found = as_table(table)
    places = find_columns(found.names, known)
    columns = [
        None if p is None else index_column(found.columns[p], name) for p, name in zip(places, known.names, strict=True)
    ]
    return NewRows(*_code_hard(columns, found.rows, known))


def _same(table: Ensemble | SoftEnsemble, known: Clusterings) -> bool:
    """Whether an ensemble has the codes of training already."""
    if table.names != known.names or table.sizes != known.sizes:
        return False
    pairs = zip(table.classes, known.classes, strict=True)
    return all(list(map(label_key, ours)) == list(map(label_key, theirs)) for ours, theirs in pairs)


def find_columns(names: tuple[str, ...], known: Clusterings) -> list[int | None]:
    """Where each clustering of training stands among the new ones; None for one that took no part in training."""
    needed = [name for name, classes in zip(known.names, known.classes, strict=True) if classes]
    unnamed = names == tuple(f"c{j}" for j in range(len(names)))
    as_many = len(names) == len(known.names)
    # An array from which a column of ids was taken has left a gap in the names c0, c1, … of its columns.
    by_name = as_many or not unnamed or known.names != tuple(f"c{j}" for j in range(len(known.names)))
    if set(needed) <= set(names) and by_name:
        place_of = {name: j for j, name in enumerate(names)}
        return [place_of[name] if classes else None for name, classes in zip(known.names, known.classes, strict=True)]
    if unnamed and as_many:
        return [j if classes else None for j, classes in enumerate(known.classes)]
    if unnamed:
        raise TableError(f"the new table has {len(names)} clusterings, the model {len(known.names)}; give the same")
    absent = next(name for name in needed if name not in names)
    raise TableError(f"the new table has no clustering {absent!r}; give the same clusterings as in training")


def find_labels(values: Any, classes: tuple[Label, ...]) -> IntArray:
    """The code of each value among the classes, MISSING where it is none of them.

    A column of a text file is numbers if all its cells are: "1.0" among words is read as text, alone as 1, and either
    is found as the other, as are booleans and the words for them.

    >>> find_labels([2, "a", True, 1.0], ("a", "2", 1)).tolist()
    [1, 0, -1, 2]
    >>> find_labels(["1.0", "true", 3], (True, 1, "03")).tolist()
    [1, 0, 2]
    """
    exact = {label_key(value): code for code, value in enumerate(classes)}
    spelled = {str(value): code for code, value in enumerate(classes) if type(value) in (int, str)}
    texts, others = (_meanings(classes, text) for text in (True, False))

    def found(value: Label) -> int:
        code = exact.get(label_key(value))
        if code is None and type(value) in (int, str):
            code = spelled.get(str(value))
        if code is None:
            code = (others if type(value) is str else texts).get(_meaning(value))
        return MISSING if code is None else code

    return np.array([found(value) for value in values], np.int64)


def _meanings(classes: tuple[Label, ...], text: bool) -> dict[Label, int]:
    """The code of each number and truth value that one class means, among those that are text or among the others."""
    meant = [(_meaning(value), code) for code, value in enumerate(classes) if (type(value) is str) == text]
    often = Counter(key for key, _ in meant)
    return {key: code for key, code in meant if key is not None and often[key] == 1}


def _meaning(value: Label) -> tuple[bool, Label] | None:
    """The whole number or truth value that a label is or spells; None where it is neither."""
    if type(value) is str:
        word = value.strip().lower()
        value = TRUTHS[word] if word in TRUTHS else int(word.partition(".")[0]) if WHOLE.fullmatch(word) else None
    return label_key(value) if type(value) in (int, bool) else None


def _code_hard(columns: list[Indexed | None], rows: int, known: Clusterings) -> tuple[Ensemble, int]:
    labels = np.full((rows, len(columns)), MISSING, smallest_type(max(known.sizes)))
    unseen = 0
    for j, column in enumerate(columns):
        if column is None:
            continue
        target = np.append(find_labels(column.values, known.classes[j]), MISSING)
        strange = np.array([not known.missing.drops(value) for value in column.values] + [False]) & (target == MISSING)
        labels[:, j] = target[column.indices]
        unseen += int(np.count_nonzero(strange[column.indices])) if strange.any() else 0
    return Ensemble(
        labels, known.sizes, known.names, known.classes, np.ones(len(columns)), missing=known.missing
    ), unseen


def _code_soft(table: SoftEnsemble, known: Clusterings) -> NewRows:
    matrix, unseen = np.zeros((len(table), sum(known.sizes))), 0
    start = 0
    for j, place in enumerate(find_columns(table.names, known)):
        if place is not None:
            block = table.block(place)
            target = _find_memberships(block, table.classes[place], known.names[j], known.classes[j])
            found = target != MISSING
            matrix[:, start + target[found]] = block[:, found]
            unseen += int(np.count_nonzero(block[:, ~found].any(axis=1)))
        start += known.sizes[j]
    fields = (known.sizes, known.names, known.classes, np.ones(len(known.names)), table.ids, table.multiplicity)
    return NewRows(SoftEnsemble(matrix, *fields, id_name=table.id_name), unseen)


def _find_memberships(block: FloatArray, values: Any, name: str, classes: tuple[Label, ...]) -> IntArray:
    """The code of each cluster of a block: by value, or by place where values tell nothing.

    Labels given as memberships of 0 and 1 may be fewer than in training or new; true memberships need all clusters.
    """
    found = find_labels(values, classes)
    labels = bool(((block == 0) | (block == 1)).all())
    if len(found) != len(classes) and not labels:
        raise TableError(
            f"clustering {name!r} has {len(found)} memberships in the new rows and {len(classes)} in the model; "
            "give one for each cluster, in the same order"
        )
    whole = len(found) == len(classes) and len(set(found.tolist())) == len(found) and (found != MISSING).all()
    if whole or (labels and (len(found) != len(classes) or (found != MISSING).any())):
        return found
    return np.arange(len(classes))
