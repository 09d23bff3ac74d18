"""All that may cross a site's boundary, as frozen types; `federated.frames` turns them into bytes and back.

A coordinator asks every site the same thing (`Ask`), each answers (`Share`). What they may hold, and which
parts of a share are added up over sites, stands in `STEPS`: nothing else is sent, nothing else is accepted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from numpy.typing import NDArray

from partita.core.coding import Label
from partita.core.types import FrozenDict

Layout: TypeAlias = Literal["rows", "columns"]
Protocol: TypeAlias = Literal["sums", "sequential", "paper"]
Transport: TypeAlias = Literal["masked", "fixed", "float"]
Arrays: TypeAlias = Mapping[str, NDArray[Any]]
Kind: TypeAlias = Literal["float", "int", "bytes", "narrow", "wide"]


class Spec(NamedTuple):
    """One array of a message."""

    kind: Kind
    """float64; int64; uint8; or a sum: `narrow` in words of `Terms.word` bits, `wide` in words of 64. Sums are float64
    where the transport is float."""
    shape: tuple[str, ...]
    """The names of its dimensions; equal names in one message are equal sizes, `n` and `t` those agreed on."""
    optional: bool = False


class Step(NamedTuple):
    """What an ask and a share hold in one step of a protocol."""

    ask: Mapping[str, Spec]
    share: Mapping[str, Spec]


TABLE: Final = Spec("float", ("t", "k"))
COUNTS: Final = {"labels": Spec("wide", ("t", "k")), "sizes": Spec("wide", ("k",)), "scalars": Spec("wide", ("a",))}
NOTHING: Final[Mapping[str, Spec]] = {}

STEPS: Final[Mapping[str, Step]] = {
    # agreeing
    "keys": Step(NOTHING, {"card": Spec("bytes", ("b",))}),
    "seal": Step({"cards": Spec("bytes", ("b",))}, {"sealed": Spec("bytes", ("c",))}),
    "open": Step({"sealed": Spec("bytes", ("c",))}, NOTHING),
    "ids": Step(NOTHING, {"digest": Spec("bytes", ("d",)), "objects": Spec("int", ("one",))}),
    "hashes": Step(NOTHING, {"hashes": Spec("bytes", ("h", "d"))}),
    "align": Step({"hashes": Spec("bytes", ("n", "d"), True), "found": Spec("int", ("s",), True)}, NOTHING),
    "close": Step(
        {
            "best": Spec("int", ("one",), True),
            "gamma": Spec("float", ("n", "k"), True),
            "tables": Spec("float", ("t", "m"), True),
            "bias": Spec("float", ("m",), True),
            "model_tables": Spec("float", ("t", "c"), True),
            "model_bias": Spec("float", ("c",), True),
            "shares": Spec("float", ("c", "m"), True),
            "counts": Spec("float", ("t", "m"), True),
            "scale": Spec("float", ("one",), True),
            "trace": Spec("float", ("i",), True),
            "converged": Spec("int", ("one",), True),
        },
        {"digest": Spec("bytes", ("d",))},
    ),
    # rows: counts add
    "overlaps": Step({"edges": Spec("float", ("t",), True)}, {"overlaps": Spec("wide", ("t", "t"))}),
    "nearest": Step(
        {"tables": Spec("float", ("t", "p")), "centers": Spec("float", ("k", "p"))},
        {"sums": Spec("wide", ("k", "p")), "sizes": Spec("wide", ("k",)), "scalars": Spec("wide", ("a",))},
    ),
    "totals": Step(NOTHING, {"labels": Spec("wide", ("t",)), "scalars": Spec("wide", ("a",))}),
    "chosen": Step({"clusters": Spec("int", ("one",))}, COUNTS),
    "assign": Step({"tables": TABLE, "bias": Spec("float", ("k",)), "lengths": Spec("float", ("t",), True)}, COUNTS),
    "farthest": Step(
        {"most": Spec("int", ("one",))}, {"distances": Spec("wide", ("s", "e")), "clusters": Spec("wide", ("s", "e"))}
    ),
    "move": Step({"moves": Spec("int", ("s", "e")), "clusters": Spec("int", ("one",))}, COUNTS),
    "count": Step({"tables": TABLE, "bias": Spec("float", ("k",))}, {"labels": Spec("wide", ("t", "k"))}),
    "mixture": Step({"log_weights": Spec("float", ("k",)), "log_probs": TABLE}, COUNTS),
    "bce": Step({"alpha": Spec("float", ("k",)), "log_probs": TABLE}, COUNTS),
    "turn": Step(
        {"bias": Spec("float", ("k",)), "log_probs": TABLE},
        {"bias": Spec("float", ("k",)), "log_probs": TABLE, "scalars": Spec("float", ("a",))},
    ),
    # columns: scores or expected labels add
    "round": Step(
        {
            "values": Spec("narrow", ("m", "p"), True),
            "scalars": Spec("wide", ("a",), True),
            "best": Spec("int", ("one",), True),
        },
        {"values": Spec("narrow", ("m", "q")), "scalars": Spec("wide", ("c",))},
    ),
    # columns, as in the paper: shows every site's partitions to the coordinator
    "known": Step(
        NOTHING,
        {"known": Spec("int", ("c", "n")), "weights": Spec("float", ("c",)), "marks": Spec("float", ("n", "k"))},
    ),
    "spread": Step({"basis": Spec("float", ("n", "k"))}, {"values": Spec("float", ("n", "k"))}),
    "paper": Step(
        {"phi": Spec("float", ("c", "n", "k"))},
        {"log_probs": Spec("float", ("c", "n", "k")), "prior": Spec("float", ("one",))},
    ),
}
"""Every step of every protocol."""


@dataclass(frozen=True, slots=True)
class Hello:
    """A site comes to the door."""

    site: str
    version: str
    layout: Layout
    names: tuple[str, ...] = ()
    """Rows: what the clusterings are called."""
    classes: tuple[tuple[Label, ...], ...] = ()
    """Rows: the labels that occur in each, or those that the site was told to declare."""
    run: str = ""
    """The run it has taken part in before, if it returns."""
    round: int = -1
    """The last round it answered there."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What all have agreed on before anything is computed."""

    run: str
    sites: tuple[str, ...]
    """In alphabetical order; the first leads where one has to."""
    layout: Layout
    method: str
    k: int | None
    params: Mapping[str, Any] = field(default_factory=FrozenDict)
    """Settings of the method, all of them."""
    protocol: Protocol = "sums"
    transport: Transport = "masked"
    bits: int = 30
    """Bits of fraction in `narrow` sums."""
    word: int = 64
    """Bits of a `narrow` sum: 32 or 64."""
    seed: int = 0
    init: str = "spectral"
    names: tuple[str, ...] = ()
    classes: tuple[tuple[Label, ...], ...] = ()
    weights: tuple[float, ...] = ()
    """Rows: clusterings, their labels and weights."""
    objects: Literal["common", "any"] = "common"
    """Columns: the objects that all sites know, or those that any knows."""
    aligned: bool = False
    """Columns: the sites' rows are in the same order already, as in a simulation."""
    suppress: float = 0.0
    """Rows: expected counts below it are sent as 0."""
    rho: float = 0.0
    """Rows: zCDP budget of a whole run for the objects of a site; 0 for no noise."""
    delta: float = 1e-6
    version: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """What the coordinator wants of a site."""

    run: str
    round: int
    """Rises by one with every ask of a run; a site answers each once."""
    step: str
    arrays: Arrays = field(default_factory=FrozenDict)


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """What a site answers."""

    run: str
    round: int
    step: str
    site: str
    arrays: Arrays = field(default_factory=FrozenDict)
    over: bool = False
    """Columns: the leading site's word that the iterations have settled."""
    best: bool = False
    """Columns: and that none from an earlier start settled higher."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a run cannot go on, in one line that names the site."""

    site: str
    reason: str


Message: TypeAlias = Hello | Terms | Ask | Share | Refusal
