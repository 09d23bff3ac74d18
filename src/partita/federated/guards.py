"""What a site lets itself be asked: the steps of the protocol agreed on, in numbers that make sense."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from partita.core.errors import FederatedError
from partita.federated.frames import check_arrays
from partita.federated.messages import Arrays, Ask, Terms
from partita.federated.state import State
from partita.models.bce import HIGHEST, LOWEST

SETUP: Final = frozenset({"keys", "seal", "open", "close"})
STARTING: Final = frozenset({"overlaps", "nearest", "chosen", "assign"})
BY_ROWS: Final[Mapping[str, frozenset[str]]] = {
    "mm": STARTING | {"mixture"},
    "nbce-vb": STARTING | {"mixture"},
    "bce-vb": STARTING | {"bce"},
    "qmi": STARTING | {"totals", "farthest", "move"},
    "itk": STARTING | {"totals", "farthest", "move"},
}
ALIGNING: Final = frozenset({"ids", "hashes", "align"})
OFFERED: Final = 8
"""Badly fitted rows that a site offers at most for each cluster."""
LARGEST: Final = 1e12
"""No score that a method sends is further from 0, but for those that stand for minus infinity."""


def steps_of(terms: Terms) -> frozenset[str]:
    """The steps that a run on these terms can ask for."""
    if terms.layout == "columns":
        return SETUP | ALIGNING | ({"known", "spread", "paper"} if terms.protocol == "paper" else {"round"})
    if terms.protocol == "sequential":
        return SETUP | STARTING | {"turn", "count"}
    return SETUP | {"count"} | BY_ROWS.get(terms.method, frozenset())


def check_ask(state: State, ask: Ask) -> None:
    """Refuse a step that was not agreed on, and arrays that no such step has."""
    terms = state.terms
    if ask.step not in steps_of(terms):
        how = f"{terms.method} divided by {terms.layout}, protocol {terms.protocol}"
        raise FederatedError(f"step {ask.step!r} was not agreed on: it is no part of {how}")
    check_arrays("ask", ask.step, ask.arrays, terms, _sizes(state))
    if terms.layout == "rows":
        _check_rows(state, ask)
    elif ask.step == "round":
        _check_round(state, ask.arrays)


def _sizes(state: State) -> dict[str, int]:
    found = {"s": len(state.terms.sites)}
    if state.terms.layout == "rows":
        found["t"] = sum(len(labels) for labels in state.terms.classes)
    elif "order" in state.arrays:
        found["n"] = len(state.arrays["order"])
    return found


def _check_round(state: State, arrays: Arrays) -> None:
    """A sum has the shape of the share it is a sum of; where there is none, the leader's word is."""
    last = state.share
    if last is None or last.step != "round":
        wanted: set[str] = set()
    else:
        wanted = {"best"} if "best" in arrays else {"values", "scalars"}
    if set(arrays) != wanted:
        raise FederatedError("step 'round' came out of turn; a site answers with what the last round left")
    for name in wanted - {"best"}:
        assert last is not None
        if arrays[name].shape != last.arrays[name].shape:
            raise FederatedError(f"the sum of {name} has another shape than the site's share of it")


def _check_rows(state: State, ask: Ask) -> None:
    """Numbers within the bounds of what the methods send."""
    arrays, terms = ask.arrays, state.terms
    width = int(state.notes.get("width", 0))
    if ask.step in ("chosen", "move", "farthest") and not width:
        raise FederatedError(f"step {ask.step!r} came out of turn; no clusters have been chosen yet")
    if "clusters" in arrays and int(arrays["clusters"][0]) != width:
        raise FederatedError(f"step {ask.step!r} speaks of {int(arrays['clusters'][0])} clusters, there are {width}")
    if "moves" in arrays and not ((arrays["moves"] >= 0) & (arrays["moves"] <= width)).all():
        raise FederatedError(f"step 'move' names clusters beyond the {width} there are")
    if "most" in arrays and not 1 <= int(arrays["most"][0]) <= OFFERED * width:
        raise FederatedError(f"step 'farthest' wants more rows than {OFFERED} for each cluster")
    if "lengths" in arrays and terms.method != "qmi":
        raise FederatedError("lengths are for qmi")
    _check_widths(state, ask, width)
    for name in ("tables", "centers", "lengths", "bias", "log_weights", "log_probs", "model_tables", "model_bias"):
        if name in arrays and arrays[name].size and float(arrays[name].max()) > LARGEST:
            raise FederatedError(f"step {ask.step!r}: {name} is too large to be what a method sends")
    for name in ("tables", "centers", "lengths", "log_weights", "log_probs", "model_tables"):
        if name in arrays and arrays[name].size and float(arrays[name].min()) < -LARGEST:
            raise FederatedError(f"step {ask.step!r}: {name} is too small to be what a method sends")
    if "edges" in arrays and not (arrays["edges"] > 0).all():
        raise FederatedError("step 'overlaps': edges are above 0")
    alpha = arrays.get("alpha", arrays.get("bias") if _is_alpha(terms, ask.step) else None)
    if alpha is not None and not ((alpha >= LOWEST) & (alpha <= HIGHEST)).all():
        raise FederatedError(f"step {ask.step!r}: alpha lies between {LOWEST:g} and {HIGHEST:g}")


def _check_widths(state: State, ask: Ask, width: int) -> None:
    """As many clusters as were agreed on, and where a step goes on from another, as many as there: kernels trust it."""
    terms, arrays = state.terms, ask.arrays
    most = terms.k or 0
    if terms.method == "nbce-vb":  # begins with more clusters than it keeps, up to as many as there are labels
        most = max(most, terms.params["truncation"], sum(len(labels) for labels in terms.classes))
    for name in ("bias", "alpha", "log_weights", "centers"):
        if name in arrays and not 1 <= len(arrays[name]) <= most:
            raise FederatedError(
                f"step {ask.step!r} has {name} of {len(arrays[name])} clusters; 1 to {most} are agreed on"
            )
    goes_on = arrays.get("alpha", arrays.get("bias") if ask.step == "turn" and terms.method == "bce-vb" else None)
    if goes_on is None:
        return
    if not width:
        raise FederatedError(f"step {ask.step!r} came out of turn; no clusters have been chosen yet")
    kept = state.arrays.get("gamma")
    held = width if kept is None else kept.shape[1]
    if not len(goes_on) == width == held:
        raise FederatedError(f"step {ask.step!r} has {len(goes_on)} clusters, the site's objects lie in {held}")


def _is_alpha(terms: Terms, step: str) -> bool:
    return terms.method == "bce-vb" and step in ("turn", "close", "count")


def width_of(ask: Ask) -> int | None:
    """How many clusters an ask chooses among, if it does."""
    if ask.step == "assign":
        return len(ask.arrays["bias"])
    return len(ask.arrays["centers"]) if ask.step == "nearest" else None


def check_terms_make_sense(terms: Terms) -> None:
    """Refuse terms under which what they promise would not be done."""
    private = terms.rho > 0 or terms.suppress > 0
    if private and (terms.layout != "rows" or terms.protocol != "sums"):
        raise FederatedError("noise and suppression were offered for a protocol that has neither; they are for rows")
    if terms.rho > 0 and terms.method not in ("mm", "bce-vb"):
        raise FederatedError(f"noise was offered for {terms.method}, which it does not make private")
    if terms.rho > 0 and terms.params.get("learn_alpha") and terms.method == "bce-vb":
        raise FederatedError("noise was offered together with a learned alpha, which it does not make private")
    numbers = (terms.suppress, terms.rho, terms.delta, *terms.weights)
    if not all(np.isfinite(number) and number >= 0 for number in numbers):
        raise FederatedError("suppress, rho, delta and weights are numbers of at least 0")
    if terms.layout == "rows" and not (len(terms.names) == len(terms.classes) == len(terms.weights) > 0):
        raise FederatedError("the clusterings, their labels and their weights do not belong together")
