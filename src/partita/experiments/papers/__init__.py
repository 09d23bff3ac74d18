"""The papers, one file each: their tables and figures as data, and what they printed as CSV."""

from importlib import import_module
from pathlib import Path
from typing import Final

from partita.core.errors import ParameterError
from partita.experiments.exhibit import Exhibit, Paper

PAPERS: Final[dict[str, str]] = {
    "strehl2002": "partita.experiments.papers.strehl2002",
    "topchy2004": "partita.experiments.papers.topchy2004",
    "punera2007": "partita.experiments.papers.punera2007",
    "wang2009": "partita.experiments.papers.wang2009",
    "wang2010": "partita.experiments.papers.wang2010",
}
"""By key, the module that exports PAPER; one line a paper."""


def module_of(name: str) -> str:
    """The module of a paper: a key of PAPERS, or a module of one's own by its dotted path."""
    if name in PAPERS:
        return PAPERS[name]
    if "." in name:
        return name
    raise ParameterError(f"no paper is called {name!r}; there are {', '.join(PAPERS) or 'none'}, or all")


def get(name: str) -> Paper:
    """The paper of this key or module."""
    module = module_of(name)
    try:
        found = import_module(module).PAPER
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise ParameterError(f"{name}: no module of this name; there are {', '.join(PAPERS)}, or all") from None
    except AttributeError:
        raise ParameterError(f"{name}: the module has no PAPER; export one of partita.experiments.exhibit") from None
    if not isinstance(found, Paper):
        raise ParameterError(f"{name}: PAPER is a {type(found).__name__}; make it a partita.experiments.exhibit.Paper")
    return found


def csv_of(name: str) -> Path:
    """Where the published numbers of a paper stand: `<key>.csv` beside its file."""
    home = import_module(module_of(name)).__file__
    return Path(str(home)).with_name(f"{get(name).key}.csv")


def exhibit(paper: Paper, key: str) -> Exhibit:
    """The exhibit of this key."""
    for found in paper.exhibits:
        if found.key == key:
            return found
    if key in paper.drawings:
        raise ParameterError(f"{paper.key} {key} cannot be measured: {paper.drawings[key]}; choose another exhibit")
    there = ", ".join(each.key for each in paper.exhibits)
    raise ParameterError(f"{paper.key} has no {key!r}; there are {there}")
