"""write_report(): fit, diagnose, and put everything on one page."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from partita import io, registry
from partita.api import consensus
from partita.core import params as settings
from partita.core.consensus import Consensus
from partita.core.errors import ParameterError, PartitaError
from partita.core.method import is_several
from partita.core.params import setting
from partita.core.progress import steps
from partita.core.soft import AnyEnsemble, SoftEnsemble, as_ensemble
from partita.core.suggest import suggests_names
from partita.core.threads import thread_limit
from partita.metrics import ari_of, contingency
from partita.metrics.confidence import confidence
from partita.metrics.items import item_consensus
from partita.report.gathered import ReportData, Rival
from partita.report.gathering import Beside, Found, check_given, gather
from partita.report.html.page import page
from partita.selection import Selection, select_k

SELECTING: Final = "mm"
"""The method that is fitted to several numbers of clusters in place of `auto` and `supra`: it is fast and has a
likelihood."""
FAILURES: Final = (PartitaError, ArithmeticError, MemoryError, RuntimeError, np.linalg.LinAlgError)
MOST_ROWS: Final = 300_000
"""Distinct rows beyond which only the quickest methods are compared."""
DATA: Final = ("truth", "coordinates")
"""Options that the call on the page names instead of writing them out."""
UNSEEN: Final = ("seed", "command", "threads")
"""Options that it leaves out: the seed always stands in it, the others change nothing."""
HARD_METHODS: Final = ("voting", "mm", "lwea", "lwgp", "mcla", "hbgf")
"""Methods that a report of hard clusterings compares by default."""
SOFT_METHODS: Final = ("mm", "lwea", "shbgf", "smcla")
"""Methods that a report of soft clusterings compares by default."""
FAST_METHODS: Final = frozenset({"voting", "mm", "lwea", "lwgp"})
"""Those of them that are compared on large tables, too."""


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a report may be told beside the table, the number of clusters and the method."""

    truth: Any = setting(None, "known classes, one an object; a pandas Series with ids is joined by id")
    coordinates: Any = setting(None, "(n, 2) where objects lie, such as UMAP gives; NaN where unknown")
    names: Any = setting(("x", "y"), "what the two coordinates are called")
    compare: Any = setting("auto", 'other methods to show: "auto" for a few that suit the table, "none", or names')
    criterion: str | None = setting(None, "criterion that chooses among several k, as in select_k")
    repeats: int = setting(10, "random halves of the clusterings that stability compares, as in select_k", low=0)
    seed: int = setting(0, "fixes every random choice", low=0)
    params: Any = setting(None, "the method's own settings, a dictionary")
    threads: int | None = setting(None, "at most so many threads; the result does not depend on it", low=1)
    title: str = setting("", "what stands above the page")
    source: str = setting("a table in memory", "what the table is called")
    id_name: str = setting("id", "what the column of ids is called")
    command: str = setting("", "how to make the page again; left out, the call in Python")


@suggests_names
def write_report(path: Any, ensemble: Any, k: Any = None, method: str = "auto", **options: Any) -> ReportData:
    """Find the consensus, diagnose it, and write one HTML page that shows it; everything shown is returned.

    The page needs no network, no JavaScript to be read, and stays below 5 MB. The same call writes the same bytes.

    Parameters
    ----------
    path
        Where the page goes, usually ending in .html. It appears whole or not at all.
    ensemble
        As for `partita.consensus`.
    k
        The number of clusters; or several to try, such as `range(2, 11)`, of which `partita.select_k` recommends one.
        If omitted, it is chosen as in `partita.consensus`; with `criterion`, by `partita.select_k`.
    method
        A name from `partita.methods()`. Where several k are tried and the method is made of others ("auto", "supra"),
        `mm` is fitted to all of them and the method to the recommended one.
    **options
        Fields of `partita.reporting.ReportOptions`: truth, coordinates, compare, criterion, repeats, seed, params,
        threads, title and others.
    """
    if isinstance(ensemble, (str, Path)) and not isinstance(path, (str, Path)):
        raise ParameterError(
            f"path is a {type(path).__name__}: expected the path of the page as the first argument, and the ensemble "
            "as the second: write_report('report.html', ensemble)"
        )
    registry.get(method)
    wanted = settings.build(ReportOptions, options, "write_report", write_report)
    with io.naming(path):
        io.check_place(Path(path))
    data = make_report(as_ensemble(ensemble), k, method, wanted)
    with io.replacing(Path(path)) as file:
        file.write(page(data))
    return data


def make_report(
    ensemble: AnyEnsemble, k: Any, method: str, options: ReportOptions, result: Consensus | None = None
) -> ReportData:
    """Return all that the page shows.

    If `result` is given, it is the consensus of this method and k, which is then not fitted again.
    """
    rivals = rival_names(options.compare)
    check_given(ensemble, options.truth, options.coordinates)
    with thread_limit(options.threads):
        if result is None:
            result, selection, how = _fitted(ensemble, k, method, options)
        else:
            selection, how = None, _how(result, k, method)
        others = _rivals(ensemble, result, method, rivals, options.seed)
        notes = () if selection is None else selection.notes
        beside = Beside(
            options.truth, options.coordinates, tuple(options.names), options.title, options.source, options.id_name,
            options.command or _call(k, method, options), _labels_call(result, method, options), options.seed,
        )  # fmt: skip
        return gather(ensemble, Found(result, how, selection, others, notes), beside)


def _fitted(
    ensemble: AnyEnsemble, k: Any, method: str, options: ReportOptions
) -> tuple[Consensus, Selection | None, str]:
    """The consensus, the selection of k if several were tried, and a sentence on how k was chosen."""
    chosen = registry.get(method)
    if not is_several(k) and (k is not None or options.criterion is None):
        result = _fit(ensemble, k, method, options)
        return result, None, _how(result, k, method)
    by = SELECTING if chosen.combines else method
    selection = select_k(
        ensemble, k, by, criterion=options.criterion, repeats=options.repeats, seed=options.seed,
        **({} if by != method else options.params or {}),
    )  # fmt: skip
    if selection.interrupted:
        raise KeyboardInterrupt
    tried = len(selection.trials)
    said = f"Of {tried} numbers of clusters tried, {selection.k} is recommended: {selection.reason}."
    said = said if tried > 1 else f"The number of clusters, {selection.k}, is the only one that was tried."
    if by == method:
        return _whole(selection.consensus), selection, said
    result = replace(_fit(ensemble, selection.k, method, options), k_choice=selection.consensus.k_choice)
    return result, selection, f"{said} ({by} was fitted to every number, {method} then found the clusters.)"


def _fit(ensemble: AnyEnsemble, k: int | None, method: str, options: ReportOptions) -> Consensus:
    return _whole(consensus(ensemble, method, k, seed=options.seed, **(options.params or {})))


def _whole(result: Consensus) -> Consensus:
    """The result, unless Ctrl-C cut it short: half a fit is no report."""
    if result.detail.get("interrupted"):
        raise KeyboardInterrupt
    return result


def _how(result: Consensus, k: Any, method: str) -> str:
    if is_several(k) and result.k_choice is not None:
        return f"The default rule chose {result.k_choice.k} of the given numbers of clusters: {result.k_choice.reason}."
    if k is not None:
        more = "" if result.k == k else f"; {result.k} {'was' if result.k == 1 else 'were'} found"
        return f"The number of clusters, {k}, was given{more}."
    if result.k_choice is None:
        return f"The number of clusters was not given; {method} inferred it."
    return (
        f"The number of clusters was not given; the default rule chose {result.k_choice.k}: {result.k_choice.reason}."
    )


def rival_names(compare: Any) -> tuple[str, ...] | None:
    """The methods to compare; None for those that suit, nothing for none."""
    if compare is None or compare == "none":
        return ()
    if compare == "auto":
        return None
    words = compare.split(",") if isinstance(compare, str) else compare
    if not isinstance(words, Iterable):
        raise ParameterError(f"compare={compare!r} is not a list of methods; give names, 'auto' or 'none'")
    names = tuple(dict.fromkeys(str(word).strip() for word in words))
    for name in names:
        registry.get(name)
    return names


def _rivals(
    ensemble: AnyEnsemble, result: Consensus, method: str, names: tuple[str, ...] | None, seed: int
) -> tuple[Rival, ...]:
    """The method of the report first, then the others with as many clusters."""
    if names is None:
        rows = len(ensemble.distinct.first)
        suited = SOFT_METHODS if isinstance(ensemble, SoftEnsemble) else HARD_METHODS
        names = tuple(name for name in suited if rows <= MOST_ROWS or name in FAST_METHODS)
    others = [name for name in names if name != method]
    if not others or result.k < 1:
        return ()
    fitted = (_rival(ensemble, result, name, seed) for name in others)
    return (_row(ensemble, result, result, method), *steps(fitted, len(others), "other methods"))


def _rival(ensemble: AnyEnsemble, result: Consensus, name: str, seed: int) -> Rival:
    try:
        found = _whole(consensus(ensemble, name, result.k, seed=seed))
    except FAILURES as error:
        return Rival(name, remark=str(error) or type(error).__name__)
    return _row(ensemble, found, result, name)


def _row(ensemble: AnyEnsemble, found: Consensus, result: Consensus, name: str) -> Rival:
    items = item_consensus(ensemble, found)
    same = found is result
    return Rival(
        name,
        found.k,
        float(found.scores["anmi"]),
        _mean(confidence(ensemble, found), ensemble.counts),
        _mean(items.silhouette, ensemble.counts),
        None if same else float(ari_of(contingency(found.labels, result.labels))),
        "the consensus of this report" if same else "",
        same,
    )


def _mean(values: Any, counts: Any) -> float | None:
    known = np.isfinite(values)
    return float(np.average(values[known], weights=counts[known])) if known.any() else None


def _call(k: Any, method: str, options: ReportOptions) -> str:
    said = ""
    for field in fields(ReportOptions):
        value = getattr(options, field.name)
        if field.name in DATA and value is not None:
            said += f", {field.name}={field.name}"
        elif field.name not in (*DATA, *UNSEEN) and value != field.default:
            said += f", {field.name}={value!r}"
    return f'partita.write_report("report.html", ensemble, {k!r}, "{method}", seed={options.seed}{said})'


def _labels_call(result: Consensus, method: str, options: ReportOptions) -> str:
    extra = "".join(f", {name}={value!r}" for name, value in (options.params or {}).items())
    k = result.k_asked
    return (
        f'result = partita.consensus(ensemble, "{method}", {k!r}, seed={options.seed}{extra})\n'
        'partita.write(result, "consensus.csv")'
    )
