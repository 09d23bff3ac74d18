"""consensus() and evaluate(): validate, seed, call, wrap."""

from dataclasses import replace
from typing import Any

from partita import io
from partita.core import params as settings
from partita.core.coding import MissingRule
from partita.core.columns import code_labels
from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.errors import ParameterError
from partita.core.fields import check_length, index_of, places_of
from partita.core.interrupts import finishing
from partita.core.soft import SoftEnsemble, as_ensemble
from partita.core.threads import thread_limit
from partita.fitting import Asked
from partita.metrics import MEASURES, anmi, column_nmi, contingency
from partita.polishing import polish as polished


def consensus(
    ensemble: Any,
    method: str = "auto",
    k: Any = None,
    *,
    seed: int | None = 0,
    threads: int | None = None,
    compress: bool = True,
    polish: bool = False,
    **params: Any,
) -> Consensus:
    """One clustering from many.

    Parameters
    ----------
    ensemble
        An `Ensemble` or `SoftEnsemble`, or any table that `Ensemble.from_labels` takes: objects in rows.
    method
        A name from `partita.methods()`; "auto" fits several methods and chooses one.
    k : int, range or list of int, optional
        The number of clusters. Of several numbers one is chosen by the default rule, and if k is omitted, the rule
        chooses freely; `k_choice` of the result has the reason. Methods that infer the number of clusters (nbce-cvb,
        nbce-gibbs, nbce-vb) do so if k is omitted. See docs/choose-k.md.
    seed
        Fixes every random choice; None draws a new seed, which the recipe records.
    threads
        At most so many threads; the result does not depend on it.
    compress
        False works on one row an object instead of distinct rows with multiplicities. Methods that balance then do so
        object by object, as in the papers, and may part objects with the same labels.
    polish
        Then move objects between clusters while ANMI rises; memberships and the model, which described the method's
        own labels, are dropped, and `detail["polish"]` tells what was done.
    **params
        The method's own settings.

    >>> consensus([[0, "a"], [0, "a"], [1, "b"]], method="qmi", k=2).labels.tolist()
    [0, 0, 1]
    """
    asked = Asked.of(method, params, seed, compress)
    with thread_limit(threads):
        fitting = asked.on(ensemble)
        result = fitting.fit(k)
        fitting = fitting.emptied()  # only the way back is needed while memberships are laid out
        with finishing():
            result = fitting.restored(result)
        if not polish:
            return result
        return replace(polished(result, fitting.given), candidate_labels=result.candidate_labels)


def read(path: Any, **options: Any) -> Ensemble | SoftEnsemble:
    """An ensemble from a CSV, TSV, Parquet, NPY, NPZ, MAT or H5AD file; options as in `partita.io.ReadOptions`."""
    return io.read(path, settings.build(io.ReadOptions, options, "read"))


def evaluate(labels: Any, *, ensemble: Any = None, truth: Any = None, missing: Any = None) -> dict[str, Any]:
    """How well a labelling agrees with the base clusterings and with known classes.

    `labels` is a `Consensus` or one label an object (-1 where unknown). With `ensemble`: "anmi" and "nmi by
    clustering". With `truth` (in which -1 means unknown only if `missing=-1` says so): every measure of
    `partita.metrics.MEASURES`, over the objects known in both, which "compared" counts. Where both sides carry ids (a
    consensus of named objects; an ensemble, or a pandas Series with an index of its own), they are joined by id.
    """
    if ensemble is None and truth is None:
        raise ParameterError("nothing to compare with; give ensemble= or truth= (--ensemble or --truth)")
    ids = labels.ids if isinstance(labels, Consensus) else None
    codes = code_labels(labels.labels if isinstance(labels, Consensus) else labels, "labels")
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
