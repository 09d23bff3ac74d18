"""Who runs what on the benchmark page: every method of ours beside every rival, and why a rival is near or ahead."""

from dataclasses import dataclass
from functools import lru_cache

from benchmarks.adapter import NEWER
from benchmarks.rivals import OFFERS, OFFERS_IN_R

OURS = "partita"
SAME, PLAIN, OTHER, VARIANT = "the same method", "written by hand", "another method", "ours, other settings"


@dataclass(frozen=True)
class Entry:
    """One contestant for one method of ours."""

    method: str
    program: str
    """Its name in `adapter.py`, `adapter.R` or `worker.py`."""
    kind: str = SAME
    asked: str = ""
    """What the program calls the method, where it differs."""
    against: str = OURS
    """The program of ours whose time is the measure."""
    turned: bool = False
    """It takes clusterings in rows."""
    largest: int = 10**7
    """The most objects it is tried on."""

    @property
    def ours(self) -> bool:
        """Whether it is a method of ours."""
        return self.program.startswith(OURS)


LIKE = {"bce-gibbs": "partita, one chain"}
"""Where our default does something else than the rivals: the settings under which it does the same."""
ADDED = (
    Entry("hgpa", "partita, cut", VARIANT),
    Entry("bce-gibbs", "partita, one chain", VARIANT),
    Entry("mcla", "SciPy product + pymetis", PLAIN),
    Entry("lwgp", "NumPy/SciPy transfer cut", PLAIN),
    Entry("lwgp", "scikit-learn SpectralCoclustering", OTHER),
    Entry("eac", "SciPy average linkage", PLAIN),
    Entry("qmi", "scikit-learn KMeans, one-hot", PLAIN),
    Entry("qmi", "scikit-learn KMeans, one-hot, sparse", PLAIN),
    Entry("bce-vb", "scikit-learn LDA", PLAIN),
)
LOSSES = {"summarise VI": "vi", "summarise Binder": "binder"}
"""Point estimates of `partita.summarise`, which find the number of clusters: beside salso, the clusterings as draws."""


@lru_cache
def entries() -> tuple[Entry, ...]:
    """Every contestant, method by method, ours first."""
    from partita import registry

    found: list[Entry] = []
    for method in registry.METHODS:
        found.append(Entry(method, OURS))
        found += [entry for entry in ADDED if entry.method == method and entry.ours]
        rivals = [rival for rival, offered in (OFFERS | OFFERS_IN_R).items() if method in offered]
        found += [Entry(method, rival, against=LIKE.get(method, OURS)) for rival in rivals]
        found += [entry for entry in ADDED if entry.method == method and not entry.ours]
    for name, loss in LOSSES.items():
        found += [Entry(name, "partita search", asked=loss)]
        found += [Entry(name, "salso", asked=loss, against="partita search", turned=True, largest=10**5)]
    return tuple(found)


def quality_entries() -> tuple[Entry, ...]:
    """Those of `entries`, and the methods that only py-cluster-ensemble has, beside `auto`."""
    return entries() + tuple(Entry("auto", f"py-cluster-ensemble {name}", OTHER, name) for name in NEWER)
