"""The bundled example: 300 customers of an invented shop, seven old segmentations of them, four true groups.

Made by `make_segments` (checked by a test), released with the package under its licence. It has what real tables have:
labels of every kind, different numbers of segments, gaps, one segmentation that has nothing to do with the others
(`region`), and one customer nobody ever segmented.
"""

from pathlib import Path
from typing import Final

import numpy as np

SEED: Final = 2026
CUSTOMERS: Final = 300
GROUPS: Final = ("families", "collectors", "bargain hunters", "businesses")
SHARES: Final = (0.35, 0.25, 0.25, 0.15)

# name: (label of each true group, share of wrong labels, share of missing labels)
SEGMENTATIONS: Final[dict[str, tuple[tuple[str, ...], float, float]]] = {
    "crm_2019": (("gold", "silver", "bronze", "platinum"), 0.08, 0.05),
    "agency": (("B", "A", "C", "D"), 0.15, 0.10),
    "rfm": (("3", "1", "2", "2"), 0.10, 0.15),
    "web_shop": (("browser", "expert", "coupon", "bulk"), 0.20, 0.30),
    "call_centre": (("1", "1", "0", "2"), 0.12, 0.20),
    "survey": (("home", "hobby", "price", "office"), 0.05, 0.60),
}
REGIONS: Final = ("north", "south", "east", "west")


def segments_path() -> Path:
    """The label table: one row a customer, one column a segmentation."""
    return Path(__file__).with_name("segments.csv")


def truth_path() -> Path:
    """The true group of each customer, for evaluation only."""
    return Path(__file__).with_name("segments_truth.csv")


def make_segments() -> tuple[str, str]:
    """The text of the two files."""
    rng = np.random.default_rng(SEED)
    truth = rng.choice(len(GROUPS), size=CUSTOMERS, p=SHARES)
    columns = {name: _segmentation(truth, *recipe, rng) for name, recipe in SEGMENTATIONS.items()}
    columns["region"] = [REGIONS[place] for place in rng.integers(len(REGIONS), size=CUSTOMERS)]
    for cells in columns.values():
        cells[-1] = ""
    ids = [f"C{number:04d}" for number in range(1, CUSTOMERS + 1)]
    table = [["customer", *columns], *([name, *cells] for name, *cells in zip(ids, *columns.values(), strict=True))]
    classes = [["customer", "group"], *([name, GROUPS[group]] for name, group in zip(ids, truth, strict=True))]
    return _csv(table), _csv(classes)


def _segmentation(
    truth: np.typing.NDArray[np.int64], labels: tuple[str, ...], wrong: float, gaps: float, rng: np.random.Generator
) -> list[str]:
    groups = np.where(rng.random(len(truth)) < wrong, rng.integers(len(labels), size=len(truth)), truth)
    return ["" if gap else labels[group] for group, gap in zip(groups, rng.random(len(truth)) < gaps, strict=True)]


def _csv(rows: list[list[str]]) -> str:
    return "".join(",".join(row) + "\n" for row in rows)
