"""Texts of plots: short names that stay distinct, numbers with nouns, numbers with separators."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

LONG: Final = 24
"""Characters of a name that are shown."""
ELLIPSIS: Final = "…"
_WORD: Final = re.compile(r"(?:[^\W_]|(?<=\d)\.(?=\d))+[\W_]*?(?=[^\W_]|$)|[\W_]+")
"""A word or a number with the separators after it; leading separators."""


def short_names(names: Sequence[object], most: int = LONG, drawn: Callable[[str], str] = str) -> tuple[str, ...]:
    """Return names on one line in which "…" replaces parts that long names have in common.

    Different names stay different: the words, or if they are too long the characters, in which a name differs from
    another one are kept. A name can be longer than `most` only if it cannot be told apart from another one otherwise.

    Parameters
    ----------
    names : sequence
        Their texts are shown.
    most : int, default 24
        Maximum number of characters.
    drawn : callable, optional
        Replaces characters that cannot be drawn. Names that would become equal are shown as in Python source.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> short_names([f"leiden_res_{r}_neighbors_15_seed_{s}" for r in (0.2, 1.0) for s in (0, 1)])
    ('leiden_res_0.2…15_seed_0', 'leiden_res_0.2…15_seed_1', 'leiden_res_1.0…15_seed_0', 'leiden_res_1.0…15_seed_1')
    >>> short_names(["a" * 40 + "1", "a" * 40 + "2", " b\\n c "], 9)
    ('…aaaaaaa1', '…aaaaaaa2', 'b c')
    """
    full = [str(name) for name in names]
    lines = {name: _one_line(drawn(name)) for name in full}
    repeated = _repeated(lines.values())
    lines = {name: ascii(name) if line in repeated else line for name, line in lines.items()}
    short = {line: line for line in lines.values()}
    for shorten in (_keep_words, _keep_characters):
        repeated = _repeated(short.values())
        for line, branches in _branches([line for line in short if len(line) > most]).items():
            if len(short[line]) > most or short[line] in repeated:
                short[line] = shorten(line, branches, most)
    repeated = _repeated(short.values())
    return tuple(lines[name] if short[lines[name]] in repeated else short[lines[name]] for name in full)


def _one_line(name: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())


def _repeated(lines: Iterable[str]) -> set[str]:
    return {line for line, count in Counter(lines).items() if count > 1}


def _branches(names: Sequence[str]) -> dict[str, list[int]]:
    """Return for each name the positions of the first characters in which it differs from each of the others.

    >>> _branches(["a1", "a2", "b"])
    {'a1': [0, 1], 'a2': [0, 1], 'b': [0]}
    """
    names = sorted(names)
    shared = np.array([_shared_characters(a, b) for a, b in pairwise(names)], int)
    branches = {}
    for place, name in enumerate(names):
        before = np.minimum.accumulate(shared[:place][::-1])
        after = np.minimum.accumulate(shared[place:])
        branches[name] = np.unique(np.concatenate([before, after])).tolist()
    return branches


def _shared_characters(a: str, b: str) -> int:
    """Return the number of characters at the beginning that two texts share."""
    return next((place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _keep_words(name: str, branches: Sequence[int], most: int) -> str:
    return _keep([match.group() for match in _WORD.finditer(name)], branches, most)


def _keep_characters(name: str, branches: Sequence[int], most: int) -> str:
    return _keep(list(name), branches, most)


def _keep(parts: Sequence[str], branches: Sequence[int], most: int) -> str:
    """Join the parts of a name in which it differs from others, and as many parts next to these as fit.

    Parts before a kept one are added first, the nearest ones first. A name that differs from no other one keeps its
    beginning and its end.
    """
    ends = np.cumsum([len(part) for part in parts])
    needed = sorted({min(int(np.searchsorted(ends, at, side="right")), len(parts) - 1) for at in branches})
    if not needed:
        name = "".join(parts)
        head = (most - 1) // 2
        return f"{name[:head]}{ELLIPSIS}{name[-(most - 1 - head) :]}"

    def distance(place: int) -> tuple[bool, int]:
        following = [other - place for other in needed if other > place]
        return (False, following[0]) if following else (True, place - needed[-1])

    # A part has at least one character, so that only the next `most` parts can fit; of a run of others one is enough.
    near = {place for at in needed for place in range(max(at - most, 0), min(at + most, len(parts) - 1) + 1)}
    shown = sorted(near | {place + 1 for place in near if place + 1 < len(parts)} | {0})
    kept = set(needed)
    for place in sorted(near - kept, key=distance):
        if len(_joined(parts, shown, kept | {place})) > most:
            break
        kept.add(place)
    return _joined(parts, shown, kept)


def _joined(parts: Sequence[str], shown: Iterable[int], kept: set[int]) -> str:
    """Join the kept ones of the shown parts; "…" replaces each run of others, and the separators before it.

    >>> _joined(["res_", "0.2_", "seed_", "1"], range(4), {1, 3})
    '…0.2…1'
    """
    text = ""
    for place in shown:
        part = parts[place]
        if place in kept:
            text += part
        elif not text.endswith(ELLIPSIS):
            text = (re.sub(r"[\W_]+$", "", text) if len(part) > 1 else text) + ELLIPSIS
    return text


def counted(number: float, what: str) -> str:
    """A number of things.

    >>> counted(1, "cluster"), counted(12500, "object")
    ('1 cluster', '12,500 objects')
    """
    return f"{amount(number)} {what}" if number == 1 else f"{amount(number)} {what}s"


def amount(number: float) -> str:
    """A count, with two decimals at most.

    >>> amount(1234567.0), amount(2.5), amount(999)
    ('1,234,567', '2.5', '999')
    """
    return f"{int(number):,}" if number == int(number) else f"{number:,.2f}".rstrip("0")


def listed(words: Sequence[str]) -> str:
    """Several words as a sentence has them.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
