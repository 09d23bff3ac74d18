"""Suggestions for unknown names: a different spelling, the name that Partita uses, or the nearest known name."""

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Final, ParamSpec, TypeVar

from partita.core.errors import ParameterError

P = ParamSpec("P")
R = TypeVar("R")

PARAMETERS: Final = (
    ("k", "n_clusters", "num_clusters", "number_of_clusters", "clusters", "ks"),
    ("seed", "random_state", "random_seed", "rng"),
    ("threads", "workers", "n_jobs", "jobs"),
    ("ids", "id", "id_column", "index"),
    ("restarts", "n_init"),
    ("ensemble", "X", "labels", "data", "table", "df"),
    ("result", "labels", "consensus"),
)
"""Names of the same parameter, here or in other libraries; those that the function has are suggested."""
READING: Final = ("ids", "missing", "weights", "transpose", "allow")
"""Options for reading a table, which only the functions that make an ensemble have."""
METHODS: Final[Mapping[str, tuple[str, ...]]] = {
    "k-means": ("qmi",),
    "kmeans": ("qmi",),
    "em": ("mm",),
    "mixture": ("mm",),
    "gibbs": ("nbce-gibbs", "bce-gibbs"),
    "bce": ("bce-vb", "bce-gibbs"),
    "nbce": ("nbce-vb", "nbce-gibbs", "nbce-cvb"),
    "hungarian": ("voting",),
    "majority-voting": ("voting",),
    "spectral": ("lwgp",),
    "hierarchical": ("eac", "lwea"),
    "co-association": ("eac",),
    "default": ("auto",),
}
ATTRIBUTES: Final[Mapping[str, tuple[str, ...]]] = {
    "fit": ("consensus",),
    "run": ("consensus",),
    "from-labels": ("Ensemble",),
    "score": ("evaluate",),
    "read-csv": ("read",),
    "load-result": ("load",),
}
"""Names in the module `partita`."""
RESULT: Final[Mapping[str, tuple[str, ...]]] = {
    "n-clusters": ("k",),
    "num-clusters": ("k",),
    "probabilities": ("membership",),
    "proba": ("membership",),
    "responsibilities": ("membership",),
    "cluster-sizes": ("sizes",),
    "anmi": ("scores",),
    "to-pandas": ("to_frame",),
    "to-csv": ("to_frame", "to_arrow"),
    "random-state": ("recipe",),
    "seed": ("recipe",),
    "method": ("recipe",),
    "params": ("recipe",),
}
"""Attributes of a result, under the names that they have in other libraries."""
OF_A_RESULT: Final = ("to_frame", "to_arrow", "save", "plot", "summary", "predict", "predict_proba", "match_to")
"""Methods of a result, which are not functions of the module `partita`."""
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "consensus": ("run",),
    "fit": ("run",),
    "ensemble": ("generate",),
    "make-ensemble": ("generate",),
    "plot": ("report",),
    "diagnose": ("report",),
    "score": ("evaluate",),
}


def similar(name: object, known: Iterable[str], others: Mapping[str, tuple[str, ...]] | None = None) -> list[str]:
    """Return the known names that were probably meant, the best first.

    Parameters
    ----------
    name : object
        The unknown name. Case, and hyphens in place of underscores, do not matter.
    known : iterable of str
        The names to choose from.
    others : mapping, optional
        Other words, in lower case with hyphens, and the names that they stand for. Default: `PARAMETERS`.

    Returns
    -------
    list of str
        Empty if no name is similar.

    >>> similar("bce_vb", ["mm", "bce-vb"]), similar("n_clusters", ["k", "seed"]), similar("sede", ["k", "seed"])
    (['bce-vb'], ['k'], ['seed'])
    """
    names = {_folded(one): one for one in known}
    if others is None:
        words = {word for group in PARAMETERS for word in group}
        others = {_folded(word): sum((group for group in PARAMETERS if word in group), ()) for word in sorted(words)}
    meant = {
        word: list(dict.fromkeys(names[_folded(one)] for one in group if _folded(one) in names))
        for word, group in others.items()
    }
    meant = {word: found for word, found in meant.items() if found} | {word: [one] for word, one in names.items()}
    return [one for close in difflib.get_close_matches(_folded(str(name)), meant, n=1) for one in meant[close]]


def did_you_mean(name: object, known: Iterable[str], others: Mapping[str, tuple[str, ...]] | None = None) -> str:
    """Return the question with the similar names, for a message, or an empty text.

    >>> did_you_mean("n_jobs", ["workers", "threads"])
    "did you mean 'threads' or 'workers'? "
    """
    found = " or ".join(map(repr, similar(name, known, others)))
    return f"did you mean {found}? " if found else ""


def arguments(function: Callable[..., object]) -> list[str]:
    """Return the names of the arguments that can be given to a function by name."""
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    found = inspect.signature(function).parameters.values()
    return [one.name for one in found if one.kind in by_name and one.name not in ("self", "cls")]


def suggests_names(function: Callable[P, R]) -> Callable[P, R]:
    """Raise `ParameterError` with a suggestion if the function is called with an unknown argument.

    A function with `**kwargs` checks the other names itself; here only a name is unknown that stands for a required
    argument which was not given, such as `data` for `ensemble`.
    """
    known = arguments(function)
    signature = inspect.signature(function)
    required = [name for name in known if signature.parameters[name].default is inspect.Parameter.empty]
    extra = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in signature.parameters.values())
    owner = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        absent = {name for name in required[len(args) :] if name not in kwargs}
        for name in kwargs:
            if name not in known and (not extra or absent & set(similar(name, known))):
                raise unknown_parameter(owner, name, known)
        return function(*args, **kwargs)

    return checked


def unknown_parameter(owner: str, name: str, valid: Iterable[str], more: Iterable[str] = ()) -> ParameterError:
    """Return the error for an unknown parameter; names in `more` are suggested, but not listed."""
    listed = list(valid)
    guess = did_you_mean(name, [*listed, *more])
    if name in READING:
        guess = "set it in partita.Ensemble.from_labels or partita.read, and give the ensemble; "
    return ParameterError(
        f"{owner}: unknown parameter {name!r}; {guess}valid parameters: {', '.join(listed) or 'none'}"
    )


def module_attribute(name: str, known: Iterable[str], methods: Iterable[str]) -> str:
    """Return the hint for a name that the module `partita` does not have.

    >>> module_attribute("plot", ["consensus"], ["mcla"])
    'a result has it: partita.consensus(...).plot'
    >>> module_attribute("mcla", ["consensus"], ["mcla"])
    "use partita.consensus(..., method='mcla')"
    """
    if name in OF_A_RESULT:
        return f"a result has it: partita.consensus(...).{name}"
    if (folded := _folded(name)) in methods:
        return f"use partita.consensus(..., method={folded!r})"
    return did_you_mean(name, known, ATTRIBUTES).rstrip()


def _folded(name: str) -> str:
    return name.lower().replace("_", "-")
