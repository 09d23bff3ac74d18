"""KChoice: the number of clusters that was chosen for a table, and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from partita.core import notebook
from partita.core.errors import Note
from partita.core.types import FrozenDict

Rule: TypeAlias = Literal["no structure", "common k", "covariance"]
TITLES: Final[Mapping[Rule, str]] = FrozenDict(
    {
        "no structure": "the clusterings are statistically independent",
        "common k": "share of the clusterings with exactly k clusters",
        "covariance": "covariance criterion",
    }
)
"""The criterion of each rule."""


@dataclass(frozen=True)
class KChoice:
    """The number of clusters that was chosen because no single k was given, and the reason.

    The choice depends on the table alone: not on the method, the seed, the order of the rows or the number of threads.

    Parameters
    ----------
    k : int
        The chosen number of clusters.
    rule : {"no structure", "common k", "covariance"}
        The rule that decided. "no structure": the clusterings do not agree more than random ones, so k is 1.
        "common k": at least half of the clusterings have exactly k clusters. "covariance": k has the largest value of
        the covariance criterion.
    reason : str
        The reason in a sentence.
    criterion : mapping of int to float
        The value of the criterion for every k that was compared: the share of the clusterings with exactly k clusters
        for "common k", the covariance criterion for "covariance", empty for "no structure".
    runner_up : int or None
        The k with the second largest value.
    p_value : float or None
        Probability that independent clusterings agree at least as much as these. None if the test does not apply: fewer
        than 20 objects, fewer than two clusterings, or clusterings without two clusters of at least 5 objects.
    omitted : mapping of str to float
        Clusterings that are independent of all others and were therefore not used to choose k, with their p values.
        They are still used in the fit.
    notes : tuple of str
        Remarks on the choice.
    gamma : float or None
        γ of the covariance criterion: 0.5, or 0.35 if most clusterings have many more than k clusters.

    Examples
    --------
    >>> choice = KChoice(3, "covariance", "the covariance criterion is largest", FrozenDict({2: 0.5, 3: 0.75}), 2)
    >>> choice
    KChoice(k = 3: the covariance criterion is largest)
    >>> choice.gap
    0.25
    >>> choice.table()
    [{'k': 2, 'criterion': 0.5, 'remark': 'runner-up'}, {'k': 3, 'criterion': 0.75, 'remark': 'chosen'}]
    """

    k: int
    rule: Rule
    reason: str
    criterion: Mapping[int, float] = field(default_factory=FrozenDict)
    runner_up: int | None = None
    p_value: float | None = None
    omitted: Mapping[str, float] = field(default_factory=FrozenDict)
    notes: tuple[str, ...] = ()
    gamma: float | None = None

    @property
    def gap(self) -> float | None:
        """Value of the criterion at k minus the value at the runner-up; None if only one k was compared."""
        return None if self.runner_up is None else self.criterion[self.k] - self.criterion[self.runner_up]

    def table(self) -> list[dict[str, Any]]:
        """Return one row per k that was compared, for example for `pandas.DataFrame`.

        Returns
        -------
        list of dict
            Keys "k", "criterion" and "remark"; "remark" is "chosen", "runner-up" or empty.
        """
        remarks = {self.runner_up: "runner-up", self.k: "chosen"}
        compared: Mapping[int, float | None] = self.criterion or {self.k: None}
        return [{"k": k, "criterion": value, "remark": remarks.get(k, "")} for k, value in compared.items()]

    def as_record(self) -> dict[str, Any]:
        """Return all fields as plain values that JSON can represent."""
        return {
            "k": self.k,
            "rule": self.rule,
            "reason": self.reason,
            "runner_up": self.runner_up,
            "gap": self.gap,
            "p_value": self.p_value,
            "omitted": dict(self.omitted),
            "notes": list(self.notes),
            "gamma": self.gamma,
            "table": self.table(),
        }

    def sentences(self) -> tuple[str, ...]:
        """Return the choice and the remarks as sentences for the notes of a result."""
        return (Note(f"k = {self.k} was chosen: {self.reason}", "k-chosen"), *self.notes)

    def __repr__(self) -> str:
        return f"KChoice(k = {self.k}: {self.reason})"

    def _repr_html_(self) -> str:
        rows = [(row["k"], row["criterion"], row["remark"]) for row in self.table()]
        title = TITLES[self.rule].capitalize()
        shown = notebook.table(title, ("k", "criterion", ""), rows, len(rows), "numbers of clusters")
        tested = notebook.facts([("p value of the test of independence", self.p_value)])
        return notebook.card(self, [shown, tested, notebook.notes(self.notes)])
