"""Co-association as a matrix: of some objects, or between groups of all of them."""

from functools import partial
from typing import Any, Final

import numpy as np

from partita.core.errors import ParameterError
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import FloatArray
from partita.kernels.coassociation import share_matrix
from partita.metrics.coassociation import by_columns
from partita.metrics.items import check_rows, cluster_means, ratios
from partita.metrics.together import together

MOST_OBJECTS: Final = 5_000
"""Objects whose co-association fits a matrix of 200 MB."""


def consensus_matrix(ensemble: AnyEnsemble, rows: Any = None) -> FloatArray:
    """(m, m) co-association of each two objects, of all or of those in `rows`: at most 5000.

    1 on the diagonal; NaN where no clustering that counts knows both objects. Multiplicities play no part.

    >>> from partita import Ensemble
    >>> consensus_matrix(Ensemble.from_labels([[0, 0], [0, 1], [1, 1]])).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    index = check_rows(rows, len(ensemble))
    if len(index) > MOST_OBJECTS:
        raise ParameterError(
            f"{len(index)} objects make a matrix of {len(index)} x {len(index)}; give at most {MOST_OBJECTS} rows, or "
            "groups of objects to block_matrix"
        )
    part = ensemble if rows is None else ensemble.rows(index)
    out = np.empty((len(index), len(index)))
    map_chunks(partial(share_matrix, by_columns(part, part.weights), isinstance(part, SoftEnsemble), out), len(out), 64)
    return np.asarray(np.maximum(out, out.T)) if isinstance(part, SoftEnsemble) else out


def block_matrix(ensemble: AnyEnsemble, blocks: Any) -> FloatArray:
    """(B, B) the mean co-association of the objects of one block with those of another, in time linear in objects.

    `blocks` is a consensus or one label an object, MISSING for objects in no block. On the diagonal pairs are of
    different objects: NaN for a block of one. With missing labels it is the ratio of sums that `item_consensus` takes.

    >>> from partita import Ensemble
    >>> block_matrix(Ensemble.from_labels([[0, 0], [0, 1], [1, 1]]), ["a", "a", "b"]).tolist()
    [[0.5, 0.25], [0.25, nan]]
    """
    tables = together(ensemble, blocks)
    if len(tables.sizes) > MOST_OBJECTS:
        size = len(tables.sizes)
        raise ParameterError(f"{size} blocks make a matrix of {size} x {size}; give at most {MOST_OBJECTS} blocks")
    sums = tables.weighted_cells().T @ tables.cells
    above = np.array(sums.toarray() if tables.sparse else sums)
    shares = ratios(above, (ensemble.weights[:, None] * tables.totals).T @ tables.totals)
    np.fill_diagonal(shares, cluster_means(ensemble, tables))
    return shares
