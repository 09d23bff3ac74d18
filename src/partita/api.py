"""consensus() and evaluate(): validate, seed, call, wrap."""

from dataclasses import replace
from typing import Any

from partita import io
from partita.core import params as settings
from partita.core.coding import MissingRule
from partita.core.columns import code_labels
from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.errors import MethodError, ParameterError
from partita.core.fields import check_length, index_of, places_of
from partita.core.interrupts import finishing
from partita.core.soft import SoftEnsemble, as_ensemble
from partita.core.suggest import suggests_names
from partita.core.threads import thread_limit
from partita.fitting import Asked
from partita.metrics import MEASURES, anmi, column_nmi, contingency
from partita.polishing import polish as polished


@suggests_names
def consensus(
    ensemble: Any,
    method: str = "auto",
    k: Any = None,
    *,
    ids: Any = None,
    missing: Any = None,
    weights: Any = None,
    transpose: bool | None = None,
    allow: Any = (),
    seed: int | None = 0,
    threads: int | None = None,
    compress: bool = True,
    polish: bool = False,
    **params: Any,
) -> Consensus:
    """Combine several clusterings of the same objects into one.

    Parameters
    ----------
    ensemble : Ensemble, SoftEnsemble, dataframe, array, mapping of columns or nested list
        The base clusterings: one row per object, one column per clustering.
    method : str, default "auto"
        Name of a method, see `partita.methods()`. "auto" fits several methods and chooses one.
    k : int, range or list of int, optional
        Number of clusters, or several numbers to choose from. Default: chosen by the rule of docs/choose-k.md, or
        inferred by the method (nbce-cvb, nbce-gibbs, nbce-vb). `k_choice` of the result has the reason.
    ids, missing, weights, transpose, allow
        Options for reading a table that is not an `Ensemble` yet; see `Ensemble.from_labels`. `ids` are the ids of the
        objects or the name of the column that holds them, `missing` are values that mean a missing label, `weights`
        are weights of the clusterings, `transpose` is True if clusterings are in rows, `allow` has codes of checks to
        switch off.
    seed : int or None, default 0
        Seed of every random choice. None draws a seed, which the recipe records.
    threads : int, optional
        Maximum number of threads; does not affect the result. Default: one per CPU.
    compress : bool, default True
        Work on unique rows with multiplicities. With False, methods that balance cluster sizes balance single objects,
        as in the papers, and may separate objects with the same labels.
    polish : bool, default False
        Move objects between clusters while the average NMI (ANMI) rises. The memberships of the method are dropped and
        its model is replaced, because they describe its own labels; `detail["polish"]` reports the search.
    **params
        Parameters of the method; `partita methods` and docs/methods.md list them.

    Returns
    -------
    Consensus
        `labels`, `confidence`, `second`, `membership`, `agreement`, `scores`, `notes`, `model`, …; see its
        documentation. `to_frame()`, `summary()`, `plot()` and `save()` show and store it, `predict()` labels new
        objects.

    Raises
    ------
    PartitaError
        If the table cannot be an ensemble, a parameter is not valid, or a check of the input fails (docs/checks.md).

    Warns
    -----
    PartitaWarning
        If the table is unusual. Warnings are also `notes` of the result.

    Examples
    --------
    >>> import partita
    >>> segments = {"customer": ["a", "b", "c", "d"], "region": ["n", "n", "s", "s"], "value": [1, 1, 2, 2]}
    >>> result = partita.consensus(segments, ids="customer", k=2)
    >>> result.labels.tolist()
    [0, 0, 1, 1]
    >>> result
    Consensus of 2 clusterings of 4 objects: 2 clusters (2, 2), mean confidence 1.00
    method auto (voting), mean NMI with the clusterings 1.000, seed 0
    """
    if not isinstance(method, str):
        raise MethodError(
            f"method={method!r:.60}: expected the name of a method, such as 'mcla', as the second argument; give the "
            f"number of clusters by name: k={method!r:.60}"
        )
    request = Asked.of(method, params, seed, compress, consensus)
    reading = {"ids": ids, "missing": missing, "weights": weights, "transpose": transpose, "allow": allow}
    with thread_limit(threads):
        fitting = request.on(as_ensemble(ensemble, **reading))
        result = fitting.fit(k)
        fitting = fitting.emptied()  # the prepared rows are not needed any more, only their inverse index
        with finishing():
            result = fitting.restored(result)
        if not polish:
            return result
        return replace(polished(fitting.given, result), candidate_labels=result.candidate_labels)


def read(path: Any, **options: Any) -> Ensemble | SoftEnsemble:
    """Read an ensemble from a file.

    Parameters
    ----------
    path : str or path
        CSV, TSV (also .gz), Parquet, NPY, NPZ, MAT or H5AD file; "-" is standard input.
    **options
        Fields of `partita.io.ReadOptions`: `ids` (name of the column with ids), `columns` and `exclude` (names or
        patterns), `missing`, `weights`, `transpose`, `header`, `format`, `allow` (checks to switch off), and
        `max_input_gb` (maximum memory that the contents of the file may take; default: half of the available memory).

    Returns
    -------
    Ensemble or SoftEnsemble
        A `SoftEnsemble` if the file has memberships: columns `name:0`, `name:1`, …
    """
    return io.read(path, settings.build(io.ReadOptions, options, "read", read))


@suggests_names
def evaluate(result: Any, *, ensemble: Any = None, truth: Any = None, missing: Any = None) -> dict[str, Any]:
    """Measure the agreement of a clustering with the base clusterings and with known classes.

    Parameters
    ----------
    result : Consensus or array-like of shape (n,)
        The clustering; -1 is an object without a label.
    ensemble : Ensemble, SoftEnsemble or table, optional
        The base clusterings.
    truth : array-like of shape (n,), optional
        Known classes. If `result` and the other side have ids (an ensemble, or the index of a pandas Series), objects
        are matched by id.
    missing : label or list of labels, optional
        Values of `truth` that mean an unknown class, such as -1.

    Returns
    -------
    dict
        "objects" and "clusters"; with `ensemble` also "anmi" and "nmi by clustering"; with `truth` also "compared", the
        number of objects known in both, and every measure of `partita.metrics.MEASURES` on them.

    Examples
    --------
    >>> scores = evaluate([0, 0, 1, 1], truth=["a", "a", "b", "b"])
    >>> scores["compared"], scores["ari"]
    (4, 1.0)
    """
    if ensemble is None and truth is None:
        raise ParameterError("nothing to compare with; give ensemble= or truth= (--ensemble or --truth)")
    ids = result.ids if isinstance(result, Consensus) else None
    codes = code_labels(result.labels if isinstance(result, Consensus) else result, "labels")
    scores: dict[str, Any] = {"objects": len(codes), "clusters": int(codes.max(initial=-1)) + 1}
    if ensemble is not None:
        base = as_ensemble(ensemble)
        base = base if ids is None or base.ids is None else base.rows(places_of(ids, base.ids, "ensemble"))
        check_length("labels", len(codes), "the ensemble", len(base))
        scores["anmi"] = anmi(base, codes)
        scores["nmi by clustering"] = dict(zip(base.names, column_nmi(base, codes).tolist(), strict=True))
    if truth is not None:
        classes = code_labels(truth, "truth", MissingRule.of(missing))
        named = index_of(truth) if ids is not None else None
        classes = classes if named is None else classes[places_of(ids, named, "truth")]
        check_length("labels", len(codes), "truth", len(classes))
        table = contingency(codes, classes)
        scores |= {"compared": int(table.total)}
        scores |= {name: float(measure.of(table)) for name, measure in MEASURES.items()}
    return scores
