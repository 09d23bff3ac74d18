"""What was found for every k, as a table and as plain values."""

from dataclasses import asdict, replace
from typing import Any, Final

from partita.core.errors import note_records
from partita.report.summary import summary
from partita.report.tables import TextTable
from partita.selection import CRITERIA, Selection, Trial

COLUMNS: Final = {
    "k": "k",
    "clusters": "clusters",
    "covariance": "covariance",
    "log_likelihood": "log-likelihood",
    "bound": "bound",
    "free_parameters": "free parameters",
    "bic": "BIC",
    "icl": "ICL",
    "mml": "MML",
    "penalised_bound": "penalised bound",
    "stability": "stability",
    "spread": "spread",
    "pac": "PAC",
    "anmi": "ANMI",
}


def trials_table(selection: Selection) -> TextTable:
    """One row a k; figures that no k has are left out, and the last column marks the recommended k."""
    there = [name for name in COLUMNS if any(getattr(trial, name) is not None for trial in selection.trials)]
    rows = tuple((*(getattr(trial, name) for name in there), _remark(selection, trial)) for trial in selection.trials)
    return TextTable("Numbers of clusters", (*(COLUMNS[name] for name in there), "remark"), rows)


def _remark(selection: Selection, trial: Trial) -> str:
    return "recommended" if trial.k == selection.k else f"failed: {trial.failed}" if trial.failed else ""


def others(selection: Selection) -> str:
    """What the criteria that did not choose would have chosen."""
    told = [f"{name} {k}" for name, k in selection.preferred.items() if name != selection.criterion]
    return f"by other criteria: {', '.join(told)}" if told else ""


def as_record(selection: Selection) -> dict[str, Any]:
    """All of a selection but the objects, ready for JSON."""
    rule = CRITERIA[selection.criterion]
    return {
        "k": selection.k,
        "criterion": selection.criterion,
        "better": rule.better,
        "reason": selection.reason,
        "k_choice": None if selection.k_choice is None else selection.k_choice.as_record(),
        "preferred": dict(selection.preferred),
        "interrupted": selection.interrupted,
        "notes": note_records(selection.notes),
        "trials": [_plain(trial) for trial in selection.trials],
        "consensus": summary(selection.consensus),
    }


def _plain(trial: Trial) -> dict[str, Any]:
    """A trial's figures; of the co-association what fits a line."""
    found = trial.coassociation
    plain = asdict(replace(trial, coassociation=None)) | {"pac": trial.pac, "area": trial.area}
    del plain["coassociation"]
    return plain if found is None else plain | {"pac_error": found.pac_error}
