"""A site: what it holds, what it agrees to, and its answer to each ask. Pure: what it remembers is passed in and out.

Whoever carries the messages saves the state before sending the share, so that a site that dies and returns is never
behind what the coordinator has got.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import FederatedError
from partita.core.model import ColumnModel
from partita.core.types import FloatArray, FrozenDict, IntArray
from partita.federated import aligning, at_columns, at_paper, at_rows, fixed, masks, setup
from partita.federated.config import check_terms
from partita.federated.guards import check_ask, check_terms_make_sense, width_of
from partita.federated.local import NOISED, Local, guarded, randomised
from partita.federated.messages import STEPS, Arrays, Ask, Hello, Share, Terms
from partita.federated.state import Secrets, State
from partita.version import __version__

FEWEST: Final = 3
"""Sites below which a sum tells each of them what another one sent."""
TWO_SITES: Final = (
    "with {sites} sites each can subtract its own share from the sum and has the other's; "
    "take a third site, or say --allow-two-sites on both sides if that may be"
)


class SiteResult(NamedTuple):
    """What a site has of a finished run."""

    labels: IntArray
    """(n,) the consensus label of each of its objects, MISSING where nothing is known."""
    membership: FloatArray | None
    confidence: FloatArray | None
    """(n,) as of any other result; None where it is omitted, see `privacy.why_no_confidence`."""
    model: ColumnModel
    """Predicts new objects. Columns: from the clusterings of this site alone."""
    ids: NDArray[Any] | None
    terms: Terms
    trace: tuple[float, ...]
    """The objective (a log-likelihood, its bound, or a divergence) after each iteration; empty in a run with noise."""
    converged: bool | None


class Worked(NamedTuple):
    """What a step came to, before it is made ready to be sent."""

    arrays: Arrays
    state: State
    over: bool = False
    best: bool = False


def hello(local: Local, layout: str, state: State | None = None) -> Hello:
    """How a site presents itself; one that returns says where it stood."""
    names: tuple[str, ...] = ()
    classes: tuple[tuple[Any, ...], ...] = ()
    if layout == "rows":
        names = local.table.names
        found = zip(names, local.table.classes, strict=True)
        classes = tuple(tuple(local.declared.get(name, labels)) for name, labels in found)
    stood = ("", -1) if state is None else (state.terms.run, state.round)
    return Hello(local.name, __version__, layout, names, classes, *stood)  # type: ignore[arg-type]


def agree(local: Local, terms: Terms) -> State:
    """The beginning of a run on these terms; what the site does not accept raises."""
    if terms.version != __version__:
        raise FederatedError(
            f"site {local.name} has partita {__version__}, the coordinator {terms.version}; install the same"
        )
    if local.name not in terms.sites:
        raise FederatedError(f"site {local.name} is not among the sites of this run ({', '.join(terms.sites)})")
    if list(terms.sites) != sorted(set(terms.sites)):
        raise FederatedError("the sites of a run come in alphabetical order, each once; mend the coordinator's list")
    if len(terms.sites) < FEWEST and not local.allow_two_sites:
        raise FederatedError(f"site {local.name} refuses: " + TWO_SITES.format(sites=len(terms.sites)))
    if local.layout is not None and terms.layout != local.layout:
        raise FederatedError(
            f"site {local.name} comes with {local.layout}, the coordinator's terms are for {terms.layout}"
        )
    if terms.aligned and local.identity is not None:
        raise FederatedError(f"site {local.name} has objects with ids; only a simulation goes by their order")
    check_terms(local.require, terms, local.name)
    with naming(local.name, "agree"):
        check_terms_make_sense(terms)
    local.cache.clear()
    return State(terms, arrays=FrozenDict({"place": np.array([terms.sites.index(local.name)])}))


def answer(local: Local, state: State, ask: Ask) -> tuple[State, Share]:
    """The share that an ask calls for, and where the site stands then.

    The same ask again gets the same share; a round that is past, another ask for the same round, or another run raise.
    """
    digest = digest_of(ask)
    if ask.run != state.terms.run:
        raise FederatedError(f"site {local.name} takes part in run {state.terms.run}, was asked in {ask.run}")
    if ask.round == state.round and state.share is not None and digest == state.asked:
        return state, state.share
    if ask.round <= state.round:
        raise FederatedError(
            f"site {local.name} has answered round {state.round} and was asked for round {ask.round} again, "
            "otherwise than before; a round is answered once"
        )
    if state.terms.protocol == "sums" and ask.round != state.round + 1:
        raise FederatedError(f"site {local.name} has answered round {state.round}, and was asked for round {ask.round}")
    with naming(local.name, ask.step):
        check_ask(state, ask)
        worked = _work(ask.step)(local, state, ask)
        arrays = prepared(local, worked.state, digest, ask, worked.arrays)
    share = Share(ask.run, ask.round, ask.step, local.name, FrozenDict(arrays), worked.over, worked.best)
    return replace(worked.state, round=ask.round, asked=digest, share=share), share


@contextmanager
def naming(site: str, step: str) -> Iterator[None]:
    """Errors that name the site; what may hold labels is only told here, not to those who asked."""
    try:
        yield
    except FederatedError as error:
        raise error if site in str(error) else FederatedError(f"site {site}: {error}") from None
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, AssertionError) as error:
        raise FederatedError(f"site {site}: cannot do step {step!r} ({type(error).__name__})") from error


def digest_of(ask: Ask) -> bytes:
    """Tells one ask from another."""
    found = hashlib.blake2b(f"{ask.run} {ask.round} {ask.step}".encode(), digest_size=32)
    for name in sorted(ask.arrays):
        array = ask.arrays[name]
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.digest()


def prepared(local: Local, state: State, digest: bytes, ask: Ask, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """What a step gave as it is sent: sums in words, under masks that cancel where all were asked the same."""
    terms, out = state.terms, {}
    for name, array in arrays.items():
        kind = STEPS[ask.step].share[name].kind
        if kind not in ("narrow", "wide") or terms.transport == "float":
            out[name] = array if kind in ("int", "bytes") else np.asarray(array, np.float64)
            continue
        bits, word = fixed.scale_of(kind, terms)
        words = fixed.encode_unnamed(np.asarray(array, np.float64), bits, word, len(terms.sites))
        if terms.transport == "masked":
            context = _context(terms, ask.round, digest, name)
            words += masks.pairwise(local.name, keyed(state), terms.sites, context, words.shape, word)
            if terms.layout == "columns" and local.name == terms.sites[0]:
                words += masks.group_mask(keyed(state), context, words.shape, word)
        out[name] = words
    return out


def _context(terms: Terms, number: int, digest: bytes, name: str) -> str:
    """What a mask belongs to: a run, a round, all that was asked in it, and one array of the answer."""
    return masks.context_of(terms.run, number, f"{name} {digest.hex()}")


def keyed(state: State) -> Secrets:
    """The keys that masks are made of: with every other site, and of all sites."""
    terms, secrets = state.terms, state.secrets
    if secrets is None or not secrets.group or len(secrets.pairs) != len(terms.sites) - 1:
        raise FederatedError("masked sums were agreed on, and the sites have no keys yet; nothing is sent without")
    return secrets


def unsealed(state: State, ask: Ask) -> Arrays | None:
    """The sums of the last round, as numbers; None where the ask brings none."""
    terms, out = state.terms, {}
    for name in ("values", "scalars"):
        if name not in ask.arrays:
            return None
        bits, word = fixed.scale_of(STEPS["round"].share[name].kind, terms)
        words = ask.arrays[name]
        if terms.transport == "masked":
            context = _context(terms, state.round, state.asked, name)
            words = words - masks.group_mask(keyed(state), context, words.shape, word)
        out[name] = words if terms.transport == "float" else fixed.decode(words, bits)
    return out


def _work(step: str) -> Callable[[Local, State, Ask], Worked]:
    return _row_step if step in at_rows.STEPS else WORK[step]


def held_rows(local: Local, terms: Terms) -> at_rows.Held:
    """Rows: the site's table under the labels agreed on."""
    if "rows" not in local.cache:
        local.cache["rows"] = at_rows.hold(randomised(local, at_rows.coded(local.table, terms, local.name)))
    found: at_rows.Held = local.cache["rows"]
    return found


def held_columns(local: Local, state: State) -> at_columns.Columns:
    """Columns: the site's clusterings of the objects agreed on."""
    if "columns" not in local.cache:
        if "order" not in state.arrays:
            raise FederatedError("the objects have not been agreed on yet")
        part = aligning.aligned(randomised(local, local.table), state.arrays["order"])
        local.cache["columns"] = at_columns.Columns(part, state.terms, local.name == state.terms.sites[0])
    found: at_columns.Columns = local.cache["columns"]
    return found


def merged(state: State, kept: Mapping[str, NDArray[Any] | None], notes: Mapping[str, Any] | None = None) -> State:
    """The state with more kept; None is forgotten."""
    arrays = {name: array for name, array in {**state.arrays, **kept}.items() if array is not None}
    return replace(state, arrays=FrozenDict(arrays), notes=FrozenDict({**state.notes, **(notes or {})}))


def _row_step(local: Local, state: State, ask: Ask) -> Worked:
    terms = state.terms
    if terms.rho and ask.step not in NOISED:
        raise FederatedError(f'step {ask.step!r} cannot be made private by noise; set init = "random"')
    did = at_rows.STEPS[ask.step](held_rows(local, terms), terms, state.arrays, ask.arrays)
    arrays = guarded(local, state, ask, did.share)
    told = {"released": state.notes.get("released", 0) + 1}
    width = width_of(ask)
    return Worked(arrays, merged(state, did.kept, told if width is None else {**told, "width": width}))


def _column_round(local: Local, state: State, ask: Ask) -> Worked:
    site, total = held_columns(local, state), unsealed(state, ask)
    notes = state.notes
    if "phase" not in notes:
        did = at_columns.first_round(site)
    else:
        if total is None:
            more, told = at_columns.run_over(site, state.arrays, notes, bool(ask.arrays["best"][0]))
            state = merged(state, more, told)
        did = at_columns.next_round(site, state.arrays, state.notes, total)
    return Worked(
        {"values": did.values, "scalars": did.scalars}, merged(state, did.kept, did.notes), did.over, did.best
    )


def _keys(local: Local, state: State, ask: Ask) -> Worked:
    card, secrets = setup.make_card(local.name, state.terms, local.identity)
    return Worked({"card": card}, replace(state, secrets=secrets))


def _seal(local: Local, state: State, ask: Ask) -> Worked:
    sealed, secrets = setup.seal_group(local.name, state, ask.arrays["cards"], local.authority)
    return Worked({"sealed": sealed}, replace(state, secrets=secrets))


def _open(local: Local, state: State, ask: Ask) -> Worked:
    return Worked({}, replace(state, secrets=setup.open_group(local.name, state, ask.arrays["sealed"])))


def _ids(local: Local, state: State, ask: Ask) -> Worked:
    digest = aligning.digest_of(local.table, state, local.name)
    return Worked({"digest": digest, "objects": np.array([len(local.table)])}, state)


def _hashes(local: Local, state: State, ask: Ask) -> Worked:
    return Worked({"hashes": aligning.hashes_of(local.table, state, local.name)}, state)


def _align(local: Local, state: State, ask: Ask) -> Worked:
    order = aligning.order_of(local.table, state, local.name, ask.arrays.get("hashes"))
    return Worked({}, merged(state, {"order": order}))


def _turn(local: Local, state: State, ask: Ask) -> Worked:
    did = at_rows.turn_step(held_rows(local, state.terms), state.terms, state.arrays, ask.arrays)
    return Worked(did.share, merged(state, did.kept))


def _paper(local: Local, state: State, ask: Ask) -> Worked:
    shown, kept = at_paper.paper_step(held_columns(local, state), ask.arrays["phi"])
    return Worked(shown, merged(state, kept))


def _known(local: Local, state: State, ask: Ask) -> Worked:
    return Worked(at_paper.known_step(held_columns(local, state)), state)


def _spread(local: Local, state: State, ask: Ask) -> Worked:
    return Worked(at_paper.spread_step(held_columns(local, state), ask.arrays["basis"]), state)


def _close(local: Local, state: State, ask: Ask) -> Worked:
    if state.terms.layout == "rows":
        held = held_rows(local, state.terms)
        kept = at_rows.placed(held, state.terms, ask.arrays)
        told = {"closed": True, "converged": bool(ask.arrays["converged"][0])}
        agreed = hashlib.sha256(digest_of(replace(ask, run="", round=0))).digest()
        return Worked({"digest": np.frombuffer(agreed, np.uint8)}, merged(state, kept, told))
    if state.terms.protocol == "sums":
        site = held_columns(local, state)
        more, told = at_columns.run_over(site, state.arrays, state.notes, bool(ask.arrays["best"][0]))
        state = merged(state, more, told)
    else:
        state = merged(state, *at_paper.paper_close(held_columns(local, state), state.arrays, ask.arrays))
    labels, _, _ = at_columns.consensus(state.arrays)
    key = state.secrets.group if state.secrets else b""
    agreed = hashlib.blake2b(np.ascontiguousarray(labels, "<i4").tobytes(), key=key[:64], digest_size=32).digest()
    return Worked({"digest": np.frombuffer(agreed, np.uint8)}, merged(state, {}, {"closed": True}))


WORK: Final[Mapping[str, Callable[[Local, State, Ask], Worked]]] = {
    "keys": _keys,
    "seal": _seal,
    "open": _open,
    "ids": _ids,
    "hashes": _hashes,
    "align": _align,
    "round": _column_round,
    "turn": _turn,
    "known": _known,
    "spread": _spread,
    "paper": _paper,
    "close": _close,
}


def result(local: Local, state: State) -> SiteResult:
    """What the site has once the run is closed."""
    if not state.notes.get("closed"):
        raise FederatedError(f"site {local.name}: run {state.terms.run} has not come to its end; take part again")
    if state.terms.layout == "rows":
        held = held_rows(local, state.terms)
        found = at_rows.told(held, state.terms, state.arrays)
        objectives = tuple(state.arrays.get("trace", np.empty(0)).tolist())
        return SiteResult(*found, local.table.ids, state.terms, objectives, state.notes.get("converged"))
    labels, membership, model = at_columns.told(held_columns(local, state), state.arrays, len(local.table))
    trace = tuple(state.notes["best trace"])
    return SiteResult(labels, membership, None, model, local.table.ids, state.terms, trace, state.notes["converged"])
