"""AnnData: the clusterings among the observation columns in, the consensus into the same object.

Needs `partita[anndata]`. The columns are those of which `partita.consensus` would be given the table; nothing else of
the object is read or changed.
"""

import importlib
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from partita import api
from partita.core.checks import allowed, check_names
from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.errors import MissingExtraError, ParameterError, TableError
from partita.core.fields import check_length
from partita.core.soft import AnyEnsemble, SoftEnsemble, as_ensemble
from partita.core.ways_out import ANNDATA, offering
from partita.io.annotation import Annotation, annotation, check_key, figure_keys, is_ours, results_in
from partita.io.assemble import assemble
from partita.io.options import ReadOptions
from partita.io.raw import Raw, clusterings, hits, some
from partita.metrics import column_nmi

__all__ = ["annotate", "consensus", "ensemble"]

_READING = ("missing", "weights", "allow")


def consensus(
    adata: Any,
    keys: str | Sequence[str] = "leiden_*",
    k: Any = None,
    key_added: str = "consensus",
    *,
    method: str = "auto",
    seed: int | None = 0,
    copy: bool = False,
    **params: Any,
) -> Any:
    """One clustering from the clusterings in `adata.obs`, written into the object as scanpy's functions do.

    Parameters
    ----------
    adata
        An AnnData object, in memory or backed by a file. A view becomes an object of its own.
    keys
        The columns of `obs` to take: a name, a pattern ("leiden_*"), or what names begin with ("leiden_"), or several
        of these. A name that is there counts as a name. They are taken in the order of `obs`; what this function wrote
        is never fitted by a pattern.
    k
        The number of clusters, a range or a list of them to choose from; if omitted, it is chosen as in
        `partita.consensus`.
    key_added : str, default "consensus"
        Name of the result. These entries are written:

        - `obs[key_added]`: the cluster "0", "1", … (categorical), missing for an object without labels;
        - `obs[f"{key_added}_confidence"]`: see `partita.metrics.confidence`;
        - `obs[f"{key_added}_second"]` and `obs[f"{key_added}_second_item_consensus"]`: the nearest other cluster
          (-1 if there is none) and the item consensus with it;
        - `obsm[f"{key_added}_membership"]`: membership probabilities, if the method has them;
        - `uns[key_added]`: schema version, metadata to reproduce the result, scores and notes.
    method, seed
        As in `partita.consensus`.
    copy
        True returns a new object and leaves this one as it is.
    **params
        `weights`, `missing` and `allow` as in `Ensemble.from_labels`, `threads`, `compress` and `polish` as in
        `partita.consensus`, and the method's own settings.

    >>> import anndata, numpy, pandas, partita
    >>> obs = pandas.DataFrame({"leiden_1": ["a", "a", "b"], "leiden_2": [1, 1, 0]}, index=["x", "y", "z"])
    >>> adata = anndata.AnnData(numpy.zeros((3, 2)), obs)
    >>> partita.anndata.consensus(adata, k=2)
    >>> adata.obs["consensus"].tolist()
    ['0', '0', '1']
    """
    reading = {name: params.pop(name) for name in _READING if name in params}
    check_key(key_added)
    _check_changeable(adata, copy)
    adata = adata.copy() if copy else adata
    table = _ensemble(adata, keys, key_added, **reading)
    result = api.consensus(table, method, k, seed=seed, **params)
    annotate(adata, result, key_added, table)
    return adata if copy else None


def ensemble(
    adata: Any, keys: str | Sequence[str] = "leiden_*", *, weights: Any = None, missing: Any = None, allow: Any = ()
) -> Any:
    """The ensemble of some columns of `adata.obs`, chosen as in `consensus`; the observation names are the ids.

    Where those are not all different, the objects have no ids. The same as `Ensemble.from_labels(adata.obs[columns])`,
    but that columns `name:0`, `name:1`, … are the memberships of one soft clustering and that a label "-1" is refused
    until `missing=` says what it means.
    """
    return _ensemble(adata, keys, None, weights, missing, allow)


def annotate(adata: Any, result: Consensus, key_added: str = "consensus", ensemble: Any = None) -> None:
    """Write a result into an AnnData object, under the names that `consensus` tells of.

    For results made by other ways, such as `partita.select_k(partita.anndata.ensemble(adata)).consensus`. `ensemble`,
    if given, tells which clusterings it is of, and how well it agrees with each. A result of the same name is replaced.
    """
    _check_changeable(adata)
    check_length("the result", len(result), "adata", adata.n_obs)
    parts = described(result, check_key(key_added), None if ensemble is None else as_ensemble(ensemble))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*view", category=UserWarning)  # it becomes an object of its own
        _put(adata, parts)


def described(result: Consensus, key: str, ensemble: AnyEnsemble | None = None, membership: bool = True) -> Annotation:
    """The parts of a result that go into an AnnData object or file."""
    agreement = None if ensemble is None else column_nmi(ensemble, result.labels)
    return annotation(result, key, ensemble, agreement, membership)


def _put(adata: Any, parts: Annotation) -> None:
    pandas = importlib.import_module("pandas")
    replaced = is_ours(adata.uns.get(parts.key))
    adata.obs[parts.key] = pandas.Categorical.from_codes(parts.codes, categories=list(parts.categories))
    for key, figures in zip(figure_keys(parts.key), parts.figures.values(), strict=True):
        if figures is not None:
            adata.obs[key] = figures.copy()
        elif replaced and key in adata.obs.columns:
            del adata.obs[key]
    if parts.membership is not None:
        adata.obsm[parts.membership_key] = parts.membership.copy()
    elif replaced and parts.membership_key in adata.obsm:
        del adata.obsm[parts.membership_key]
    adata.uns[parts.key] = parts.told
    if len(adata.uns.get(parts.colors_key, parts.categories)) != len(parts.categories):
        del adata.uns[parts.colors_key]


def _check(adata: Any) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kind = importlib.import_module("anndata").AnnData
    except ImportError:
        raise MissingExtraError("partita.anndata needs an extra: pip install 'partita[anndata]'") from None
    if not isinstance(adata, kind):
        raise TableError(
            f"a {type(adata).__name__} is not an AnnData object; give one, or give partita.consensus a table of labels"
        )
    if not hasattr(adata.obs, "iloc"):
        raise TableError(f"adata.obs is a {type(adata.obs).__name__}, not yet read; take adata.to_memory() first")


def _check_changeable(adata: Any, copy: bool = False) -> None:
    """Refuse, before long work, an object that could not be written to."""
    _check(adata)
    if adata.isbacked and (adata.is_view or copy):
        what = "copy=True: adata is" if copy else "adata is a view of an object"
        raise ParameterError(f"{what} backed by a file, which would have to be copied; take adata.to_memory() first")


def _ensemble(
    adata: Any, keys: Any, key_added: str | None, weights: Any = None, missing: Any = None, allow: Any = ()
) -> Ensemble | SoftEnsemble:
    _check(adata)
    places = _chosen(adata, keys, key_added)
    names = tuple(str(adata.obs.columns[j]) for j in places)
    with offering(ANNDATA):
        check_names(names, allowed(allow))
    found = clusterings(names)
    if len(found) < 2:
        raise TableError(
            f"keys={keys!r:.60} fits one clustering ({next(iter(found))!r}), and one clustering is no ensemble; "
            "give a pattern such as 'leiden_*', or several names"
        )
    ids = adata.obs_names.to_numpy() if adata.obs_names.is_unique else None
    columns = tuple(adata.obs.iloc[:, j] for j in places)
    with offering(ANNDATA):
        return assemble(Raw(names, columns, ids=ids), ReadOptions(weights=weights, missing=missing, allow=allow))


def _chosen(adata: Any, keys: Any, key_added: str | None) -> list[int]:
    """Where the columns asked for stand, in the order of `obs`."""
    names = [str(name) for name in adata.obs.columns]
    asked = [keys] if isinstance(keys, str) else list(keys) if isinstance(keys, Iterable) else [keys]
    if not asked or not all(isinstance(key, str) and key for key in asked):
        raise ParameterError(f"keys={keys!r:.60} names no columns of obs; give a name, a pattern, or a list of them")
    own = set() if key_added is None else {key_added, *figure_keys(key_added)}
    made = set(results_in(adata))
    made |= {figure for key in made for figure in figure_keys(key)}
    by_name: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        by_name.setdefault(name, []).append(j)
    open_ones = [j for j, name in enumerate(names) if name not in own and name not in made]
    found: set[int] = set()
    for key in asked:
        if key in own and key in by_name:
            raise ParameterError(
                f"keys={key!r} is where the result goes; leave it out, or choose another key_added than {key_added!r}"
            )
        places = set(by_name.get(key, ())) or hits(names, open_ones, key)
        if not places:
            able = [names[j] for j in open_ones if _holds_labels(adata.obs.dtypes.iloc[j])]
            there = f"columns that may hold labels: {some(able)}" if able else "no column there holds labels"
            raise TableError(f"keys={key!r} fits no column of obs; {there}")
        found |= places
    return sorted(found)


def _holds_labels(dtype: Any) -> bool:
    """Whether a column of this type may hold labels; figures with a fraction do not."""
    return str(dtype) in ("category", "string", "str") or getattr(dtype, "kind", "O") in "iubO"
