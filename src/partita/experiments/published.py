"""What the papers print: a CSV beside each paper's file, checked against its exhibits."""

import csv
import math
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path

from partita.core.errors import FileError
from partita.core.records import Published
from partita.experiments.exhibit import Exhibit, Paper

COLUMNS = ("exhibit", "row", "column", "statistic", "value", "place", "remark", "comparable")


def read_published(path: Path, paper: Paper) -> tuple[Published, ...]:
    """Every number of the file; one that fits no exhibit is refused with its line."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return tuple(_checked(csv.DictReader(file), path, paper))
    except OSError as error:
        raise FileError(f"{path}: the published numbers cannot be read ({error.strerror})") from None


def _checked(lines: "csv.DictReader[str]", path: Path, paper: Paper) -> Iterator[Published]:
    if tuple(lines.fieldnames or ()) != COLUMNS:
        raise FileError(f"{path}: the first line is not {','.join(COLUMNS)}")
    exhibits = {exhibit.key: exhibit for exhibit in paper.exhibits}
    seen = set()
    for line in lines:
        at = f"{path}, line {lines.line_num}"
        if None in line or None in line.values():
            raise FileError(f"{at}: it has not {len(COLUMNS)} cells; quote a cell that holds a comma")
        if line["exhibit"] not in exhibits:
            raise FileError(f"{at}: {paper.key} has no exhibit {line['exhibit']!r}; there are {', '.join(exhibits)}")
        _check_place(line, exhibits[line["exhibit"]], at)
        key = (line["exhibit"], line["row"], line["column"], line["statistic"])
        if key in seen:
            raise FileError(f"{at}: {' '.join(key)} stands twice; keep one")
        seen.add(key)
        value, step = number(line["value"], at)
        if line["comparable"] not in ("", "no") or (line["comparable"] and not line["remark"]):
            raise FileError(f"{at}: comparable is {line['comparable']!r}; leave it empty, or say no and why in remark")
        yield Published(*key, value, line["place"], line["remark"], step, not line["comparable"])


def _check_place(line: dict[str, str], exhibit: Exhibit, at: str) -> None:
    """Row, column and statistic are the exhibit's; what `derive` shows of an exhibit's own draws is known only then."""
    there: dict[str, tuple[str, ...]] = {"statistic": exhibit.statistics}
    if exhibit.derive is None or exhibit.of:
        there["row"] = tuple(row.name for row in exhibit.rows)
        there["column"] = exhibit.columns
    for name, known in there.items():
        if line[name] not in known:
            raise FileError(f"{at}: {exhibit.key} has no {name} {line[name]!r}; there are {', '.join(known)}")


def number(text: str, at: str = "") -> tuple[float, float]:
    """A printed number, and one unit of its last digit.

    >>> number("0.85"), number("12"), number(".890")
    ((0.85, 0.01), (12.0, 1.0), (0.89, 0.001))
    """
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        raise FileError(f"{at}: {text!r} is not a number; leave out what the paper does not print") from None
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or not math.isfinite(value):
        raise FileError(f"{at}: {text!r} is not a finite number; leave out what the paper does not print")
    return float(value), float(Decimal(1).scaleb(exponent))
