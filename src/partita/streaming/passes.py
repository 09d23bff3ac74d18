"""The two passes over all blocks: looking, and placing."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from partita.core.coding import MissingRule
from partita.core.progress import report
from partita.core.rng import named
from partita.engine.base import Engine
from partita.io.blocks import Block, LabelBlocks, naming_file, rows_of
from partita.io.parts import labels_table, part_path, read_totals, write_part
from partita.streaming.coding import columns_of
from partita.streaming.counting import Look, Looking, Tally
from partita.streaming.placing import Placer, Totals, add_totals

OFTEN: Final = 30.0
"""Seconds between two notes of how far the first pass came."""


def sample_places(rows: int, size: int, seed: int) -> NDArray[np.int64]:
    """The rising places of a sample of the rows, which hang on nothing but these numbers."""
    if size >= rows:
        return np.arange(rows)
    return np.sort(named(seed, "sample").choice(rows, size, replace=False, shuffle=False)).astype(np.int64)


def look(
    source: LabelBlocks,
    tally: Tally,
    engine: Engine,
    rule: MissingRule,
    places: NDArray[np.int64] | None,
    keep: Callable[[Tally], None],
) -> None:
    """The first pass, from where the tally stands: different rows as long as they are few, and the sample.

    `keep` gets the tally now and then, and where the pass is stopped. Once the different rows are too many, only the
    sample's rows are read.
    """
    total, last = rows_of(source), time.monotonic()
    rest = [block for block in source.blocks if block.first >= tally.rows]
    try:
        while rest:
            most = tally.most if not tally.over else (-1 if places is not None else 0)
            items = [(block, _within(places, block)) for block in rest]
            with closing(_looks(engine, Looking(source, rule, most), items)) as looks:
                for found in looks:
                    tally.add(found, rest.pop(0).rows)
                    report("looking at rows", tally.rows, total)
                    if time.monotonic() - last > OFTEN:
                        keep(tally)
                        last = time.monotonic()
                    if tally.over and most > 0:
                        break
    except KeyboardInterrupt:
        keep(tally)
        raise


def _looks(engine: Engine, looking: Looking, items: list[Any]) -> Generator[Look]:
    yield from engine.map(looking, items)


def _within(places: NDArray[np.int64] | None, block: Block) -> NDArray[np.int64] | None:
    if places is None:
        return None
    low, high = np.searchsorted(places, [block.first, block.first + block.rows])
    return places[low:high] - block.first


@dataclass(frozen=True, slots=True)
class Placing:
    """How to place a block and write its part; a function that can be sent anywhere."""

    source: LabelBlocks
    rule: MissingRule
    placer: Placer
    folder: Path
    id_name: str

    def __call__(self, block: Block) -> Totals:
        """One block; a part that is there is not made again."""
        path = part_path(self.folder, block.number)
        held = read_totals(path)
        if held is not None:
            return Totals(*held)
        found: list[Totals] = []
        with naming_file(block):
            write_part(path, self._tables(block, found), lambda: tuple(add_totals(found)))
        return add_totals(found)

    def _tables(self, block: Block, totals: list[Totals]) -> Iterator[pa.Table]:
        done = 0
        for raw in self.source.pieces(block):
            placed = self.placer.place(columns_of(raw, self.rule, (block.row + done).__add__))
            done += raw.rows
            totals.append(placed.totals)
            columns = (placed.labels, placed.confidence, placed.second, placed.membership)
            yield labels_table(*columns, raw.ids, self.id_name)


def place(source: LabelBlocks, placing: Placing, engine: Engine) -> Totals:
    """The second pass: all parts that are not there yet."""
    total, parts, done = rows_of(source), [], 0
    with closing(_places(engine, placing, source)) as places:
        for found, block in zip(places, source.blocks, strict=True):
            parts.append(found)
            done += block.rows
            report("placing rows", done, total)
            if len(parts) > 64:
                parts = [add_totals(parts)]
    return add_totals(parts)


def _places(engine: Engine, placing: Placing, source: LabelBlocks) -> Generator[Totals]:
    yield from engine.map(placing, source.blocks)
