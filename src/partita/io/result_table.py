"""The columns of a result, which are the same in dataframes, Arrow tables, CSV, TSV and Parquet files."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
from numpy.typing import NDArray

from partita.core.checks import FIGURES
from partita.core.consensus import Consensus
from partita.core.errors import FileError, ParameterError
from partita.io.summary import SCHEMA, column, id_list, recipe_of

METADATA_KEY: Final = b"partita"
CONSENSUS: Final = "consensus"


def result_columns(result: Consensus, membership: bool = True) -> dict[str, NDArray[Any]]:
    """Return the columns of a result by name, without ids.

    Parameters
    ----------
    result : Consensus
        The result; columns that it does not have are omitted.
    membership : bool, default True
        Include the memberships.

    Returns
    -------
    dict of str to ndarray
        "consensus", "confidence", "second" (nearest other cluster, -1 if there is none), "second_item_consensus",
        "consensus:0", … (memberships) and "candidate <method>" (labels of the candidates).
    """
    columns: dict[str, NDArray[Any] | None] = {
        CONSENSUS: result.labels,
        "confidence": result.confidence,
        "second": result.second,
        "second_item_consensus": result.second_item_consensus,
    }
    if membership and result.membership is not None:
        columns |= {f"{CONSENSUS}:{c}": shares for c, shares in enumerate(result.membership.T)}
    columns |= {f"candidate {name}": labels for name, labels in result.candidate_labels.items()}
    return {name: values for name, values in columns.items() if values is not None}


def check_id_name(name: str | None) -> None:
    """Raise if the column of ids has the name of a column that a result has, or may have.

    >>> check_id_name("customer")
    """
    if name is not None and (name in (CONSENSUS, *FIGURES) or name.startswith((f"{CONSENSUS}:", "candidate "))):
        raise FileError(f"the id column cannot be called {name!r}, which is a column of the result; rename it")


def result_tables(
    result: Consensus, membership: bool = True, id_name: str | None = None, rows: int | None = None
) -> Iterator[pa.Table]:
    """Yield a result as Arrow tables, whose metadata has schema version, fingerprint and recipe.

    Parameters
    ----------
    result : Consensus
        The result.
    membership : bool, default True
        Include the memberships.
    id_name : str, optional
        Name of the column of ids. Default: its name in the input, or "id".
    rows : int, optional
        Number of rows per table, so that a large result is not copied as a whole. Default: one table with all rows.
    """
    columns, ids = result_columns(result, membership), None
    name = result.id_name if id_name is None else id_name
    if result.ids is not None:
        if not isinstance(name, str):
            raise ParameterError(f"id_name={name!r:.60} is not text; give the name of the column of ids")
        if name in columns:
            way = "set id_name=" if id_name is None else "choose another id_name"
            raise FileError(f"the id column cannot be called {name!r}, which is a column of the result; {way}")
        ids = id_list(result.ids)
    about = metadata(result)
    step = max(len(result), 1) if rows is None else rows
    for start in range(0, max(len(result), 1), step):
        part = slice(start, start + step)
        arrays = {} if ids is None else {name: ids[part]}
        arrays |= {called: column(values[part]) for called, values in columns.items()}
        yield pa.table(arrays).replace_schema_metadata(about)


def metadata(result: Consensus) -> dict[bytes, bytes]:
    """Return the metadata of Arrow tables and Parquet files: schema version, fingerprint of the input, and recipe."""
    return metadata_of(recipe_of(result))


def metadata_of(recipe: Any) -> dict[bytes, bytes]:
    """Return the metadata for a recipe that is given as plain values, or None."""
    about = {"schema": SCHEMA, "fingerprint": recipe and recipe["fingerprint"], "recipe": recipe}
    return {METADATA_KEY: json.dumps(about, allow_nan=False).encode()}
