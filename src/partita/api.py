"""consensus() and evaluate(): validate, seed, call, wrap."""

import dataclasses
from typing import Any

from partita import io, registry
from partita.core import params as settings
from partita.core.coding import MissingRule
from partita.core.columns import code_labels
from partita.core.consensus import Consensus, Recipe, restore
from partita.core.ensemble import Ensemble
from partita.core.errors import ParameterError
from partita.core.fields import check_length, index_of, places_of
from partita.core.method import checked_k, suited
from partita.core.prepare import prepare
from partita.core.rng import generator, resolve_seed
from partita.core.soft import SoftEnsemble, as_ensemble
from partita.core.threads import thread_limit
from partita.core.types import FrozenDict
from partita.metrics import MEASURES, anmi, column_nmi, contingency
from partita.metrics.scoring import scored
from partita.polishing import polish as polished
from partita.version import __version__


def consensus(
    ensemble: Any,
    method: str = "auto",
    k: int | None = None,
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
        A name from `partita.methods()`; "auto" runs those that suit the table and keeps the best.
    k
        The number of clusters; optional for methods that find it, such as "auto".
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
    chosen = registry.get(method)
    options = settings.build(chosen.Params, params, method)
    drawn = resolve_seed(seed)
    with thread_limit(threads):
        given = as_ensemble(ensemble)
        work = prepare(suited(given, chosen, method), chosen.compresses and (compress or chosen.together))
        single = chosen.balanced and not compress
        clusters = checked_k(k, len(work.ensemble if single else work.ensemble.distinct.first), chosen, method)
        result = chosen.fit(work.ensemble, clusters, options, generator(drawn))
        used = FrozenDict(dataclasses.asdict(options))
        recipe = Recipe(method, used, clusters, drawn, __version__, given.fingerprint, compress)
        result = scored(dataclasses.replace(result, k_asked=clusters, recipe=recipe), work.ensemble)
        work = dataclasses.replace(work, ensemble=None)  # only the way back is needed while memberships are laid out
        result = restore(result, work, given)
        return polished(result, given) if polish else result


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
