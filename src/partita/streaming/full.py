"""A fit to all rows, part by part, where the parts lie: each iteration is one pass over all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

import numpy as np

from partita.core.coding import Label, MissingRule
from partita.core.ensemble import Ensemble
from partita.core.errors import ParameterError, note_records
from partita.core.memory import check_memory
from partita.core.method import checked_number
from partita.core.model import ColumnModel
from partita.core.types import FloatArray, FrozenDict, IntArray, smallest_type
from partita.engine.base import Engine
from partita.federated.rows import METHODS
from partita.io.blocks import Block, LabelBlocks, naming_file, rows_of
from partita.io.summary import plain, plain_recipe
from partita.streaming import fitting_parts
from partita.streaming.coding import coded, columns_of, known_codes
from partita.streaming.counting import Tally
from partita.streaming.fitting import Fitted, Wanted

SPLITS: Final = tuple(METHODS)
"""The methods that can be fitted part by part."""
COPIES: Final = 3
"""How often the labels of a part are in memory at the most while it is loaded."""


@dataclass(frozen=True, slots=True)
class Loading:
    """How to load a block under codes agreed on; a function that can be sent anywhere."""

    source: LabelBlocks
    rule: MissingRule
    columns: tuple[int, ...]
    """The clusterings that take part."""
    classes: tuple[tuple[Label, ...], ...]

    def __call__(self, block: Block) -> Ensemble:
        """All its rows."""
        parts: list[IntArray] = []
        sizes = tuple(map(len, self.classes))
        done = 0
        with naming_file(block):
            for raw in self.source.pieces(block):
                found = columns_of(raw, self.rule, (block.row + done).__add__)
                picked = [found[j] for j in self.columns]
                parts.append(coded(picked, known_codes(picked, self.classes), smallest_type(max(sizes))))
                done += raw.rows
        names = tuple(self.source.names[j] for j in self.columns)
        labels = np.ascontiguousarray(np.concatenate(parts))
        return Ensemble(labels, sizes, names, self.classes, np.ones(len(names)), missing=self.rule)


def fit_full(
    source: LabelBlocks, tally: Tally, rule: MissingRule, weights: FloatArray, wanted: Wanted, engine: Engine
) -> Fitted:
    """The fit to all rows; the tally knows their labels."""
    if wanted.polish:
        raise ParameterError("polish moves rows that are fitted whole; leave it out of a full fit (--polish)")
    if wanted.k is not None:
        checked_number(wanted.k, rows_of(source))
    values = tally.words.values
    columns = tuple(j for j, column in enumerate(values) if column and weights[j] > 0)
    classes = tuple(tuple(values[j]) for j in columns)
    if engine.name != "dask":
        cells = rows_of(source) * len(columns) * np.dtype(smallest_type(max(map(len, classes)))).itemsize
        check_memory(COPIES * cells, "all rows in memory", 'fit a sample (fit="sample", --fit sample), or use Dask')
    settings = dict(wanted.params)
    start = settings.pop("init", "spectral")
    asked = fitting_parts.Wanted(wanted.method, wanted.k, settings, wanted.seed, start)
    names = tuple(source.names[j] for j in columns)
    terms = fitting_parts.terms_of(names, classes, weights[list(columns)].tolist(), asked)
    loading = Loading(source, rule, columns, classes)
    parts = fitting_parts.hold_rows(engine, loading, source.blocks, terms)
    try:
        fitted = fitting_parts.fit_parts(parts, terms)
    finally:
        parts.release()
    model = _widened(fitted.model, source.names, columns, rule)
    assert model.recipe is not None
    recipe = replace(
        model.recipe, fingerprint=_print_of(source), params=FrozenDict({**model.recipe.params, "init": start})
    )
    runs: dict[str, Any] = fitted.runs.told()
    told = {
        "recipe": plain_recipe(recipe),
        "scores": {},
        "detail": plain(runs["detail"]) | {"converged": plain(runs["converged"]), "iterations": len(runs["trace"])},
        "notes": note_records(runs["notes"]),
        "rows": rows_of(source),
    }
    return Fitted(told, None, replace(model, recipe=recipe))


def _widened(model: ColumnModel, names: Sequence[str], columns: Sequence[int], rule: MissingRule) -> ColumnModel:
    """The model of some clusterings as one of all, in which the others take no part."""
    place = {j: found for found, j in enumerate(columns)}
    empty, empty_counts = np.empty((len(model.bias), 0)), np.empty((model.width, 0))
    weights = None
    if model.weights is not None:
        weights = np.zeros(len(names))
        weights[list(columns)] = model.weights
    return replace(
        model,
        tables=tuple(model.tables[place[j]] if j in place else empty for j in range(len(names))),
        counts=tuple(model.counts[place[j]] if j in place else empty_counts for j in range(len(names))),
        names=tuple(names),
        classes=tuple(model.classes[place[j]] if j in place else () for j in range(len(names))),
        weights=weights,
        missing=rule,
    )


def _print_of(source: LabelBlocks) -> str:
    """Names the table by its files."""
    return blake2b("\n".join(source.signature).encode(), digest_size=16).hexdigest()
