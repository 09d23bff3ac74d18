"""The coordinator: what is asked for, what all agree on, and the whole course of a run."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from partita.core import params as settings
from partita.core.coding import Label
from partita.core.errors import FederatedError, MethodError, ParameterError
from partita.core.fields import check_weights
from partita.core.model import ColumnModel
from partita.core.rng import resolve_seed
from partita.core.types import FrozenDict
from partita.federated import aligning, privacy, setup
from partita.federated.at_paper import LEAK as PAPER_LEAK
from partita.federated.at_rows import model_of
from partita.federated.columns import paper_rounds, relay_rounds
from partita.federated.hub import Hub
from partita.federated.messages import Arrays, Hello, Layout, Protocol, Terms, Transport
from partita.federated.rows import fit_rows
from partita.federated.sequential import LEAK as SEQUENTIAL_LEAK
from partita.federated.sequential import fit_sequential
from partita.federated.site import FEWEST, TWO_SITES
from partita.registry import METHODS, get
from partita.version import __version__

SMOOTHING: Final = 1.0
"""Imaginary objects with each label in each cluster, unless said otherwise, where a site's own counts decide or cells
are suppressed or noisy: a label that is lacking there must not become impossible."""
INITS: Final[Mapping[Layout, tuple[str, ...]]] = {"rows": ("spectral", "random"), "columns": ("transfer-cut", "random")}
"""Initializations by layout, the default first."""
BITS: Final = {64: 30, 32: 16}
"""Default bits of fraction by word."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked for."""

    sites: tuple[str, ...]
    layout: Layout
    method: str
    k: int | None = None
    settings: Mapping[str, Any] = field(default_factory=FrozenDict)
    protocol: Protocol = "sums"
    transport: Transport = "masked"
    bits: int | None = None
    """Columns: bits of fraction in sums; 30 with words of 64 bits and 16 with words of 32 bits if omitted."""
    word: int = 64
    """Columns: bits per number in sums, 64 or 32."""
    seed: int | None = None
    init: str | None = None
    """Initialization; by rows "spectral" (default) or "random", by columns "transfer-cut" (default) or "random"."""
    objects: Literal["common", "any"] = "common"
    allow_two_sites: bool = False
    suppress: float = 0.0
    rho: float = 0.0
    delta: float = 1e-6
    labels: Mapping[str, Sequence[Label]] = field(default_factory=FrozenDict)
    """Rows: the labels of clusterings, declared; without them the sites say which occur."""
    weights: Mapping[str, float] = field(default_factory=FrozenDict)
    """Rows: weights of clusterings, 1 where not said."""
    aligned: bool = False


class Outcome(NamedTuple):
    """What a coordinator has at the end of a run."""

    terms: Terms
    rounds: int
    trace: tuple[float, ...]
    """The objective, where the coordinator sees it."""
    converged: bool | None
    model: ColumnModel | None
    """Rows: the fitted model."""
    notes: tuple[str, ...]
    """What was agreed on, what it shows to whom, what it costs."""


def check_plan(plan: Plan) -> None:
    """Refuse what cannot be done, before any site is asked."""
    if plan.layout not in ("rows", "columns"):
        raise ParameterError(f"layout={plan.layout!r} is neither; give rows or columns")
    if plan.layout not in get(plan.method).splits:
        known = ", ".join(name for name in METHODS if plan.layout in get(name).splits)
        raise MethodError(f"{plan.method} cannot be divided by {plan.layout}; choose one of {known}")
    if plan.k is None and plan.method != "nbce-vb":
        raise ParameterError(
            f"{plan.method} needs one number of clusters in a federated run, because no party has all labels from "
            "which it could be chosen; give k (--k)"
        )
    if plan.objects not in ("common", "any"):
        raise ParameterError(f"objects={plan.objects!r} is neither; give common or any")
    if plan.layout == "columns" and (plan.weights or plan.labels):
        raise ParameterError("weights and labels of clusterings are the sites' own where columns are divided")
    if plan.k is not None and (isinstance(plan.k, bool) or not isinstance(plan.k, (int, np.integer)) or plan.k < 1):
        raise ParameterError(f"k={plan.k!r} is not a whole number >= 1; give how many clusters you want")
    if plan.init not in (None, *INITS[plan.layout]):
        known = ", ".join(INITS[plan.layout])
        raise ParameterError(f"init={plan.init!r} is not available with layout={plan.layout}; give one of {known}")
    if plan.transport not in ("masked", "fixed", "float"):
        raise ParameterError(f"transport={plan.transport!r} is not known; give masked, fixed or float")
    if plan.word not in BITS or not isinstance(bits_of(plan), int) or not 1 <= bits_of(plan) <= plan.word // 2 + 8:
        raise ParameterError(
            f"bits={plan.bits} is not allowed with word={plan.word}; give 1 to 24 bits of fraction with word=32, or 1 "
            "to 40 with word=64"
        )
    if len(plan.sites) < FEWEST and not plan.allow_two_sites:
        raise FederatedError(TWO_SITES.format(sites=len(plan.sites)))
    if plan.layout == "rows" and plan.objects != "common":
        raise ParameterError(f"objects={plan.objects} needs layout=columns; sites that share out rows have no others")
    if plan.layout == "rows" and plan.word != 64:
        raise ParameterError(f"word={plan.word} needs layout=columns; omit it: sums over rows always have 64 bits")
    _check_protocol(plan)
    _check_noise(plan)
    method_settings(plan)


def _check_protocol(plan: Plan) -> None:
    if plan.protocol == "sums":
        return
    fits = {"sequential": ("rows", ("mm", "bce-vb")), "paper": ("columns", ("bce-vb",))}
    if plan.protocol not in fits:
        raise ParameterError(
            f"protocol={plan.protocol!r} is not known; give sums, sequential (rows) or paper (columns)"
        )
    layout, methods = fits[plan.protocol]
    if plan.layout != layout or plan.method not in methods:
        raise ParameterError(
            f"protocol={plan.protocol} is for {' and '.join(methods)} divided by {layout}; use protocol=sums"
        )


def _check_noise(plan: Plan) -> None:
    for name in ("suppress", "rho"):
        value = getattr(plan, name)
        if not value >= 0:
            raise ParameterError(f"{name}={value:g} is out of range; give a number >= 0")
        if value and (plan.layout != "rows" or plan.protocol != "sums"):
            raise ParameterError(
                f"{name}={value:g} needs layout=rows and protocol=sums; sites can randomise their labels instead"
            )
    if not 0 < plan.delta < 1:
        raise ParameterError(f"delta={plan.delta:g} is out of range; give a number between 0 and 1")
    if not plan.rho:
        return
    if plan.method not in ("mm", "bce-vb") or plan.init != "random" or "max_iter" not in plan.settings:
        raise ParameterError(
            f"rho={plan.rho:g} needs method=mm or method=bce-vb, init=random and a maximum number of iterations, over "
            "which the noise is distributed; give all of them (--set max_iter=20)"
        )
    if plan.settings.get("restarts", 1) != 1:
        raise ParameterError(
            f"rho={plan.rho:g} needs a single run, got {plan.settings['restarts']} restarts; set restarts to 1 "
            "(--set restarts=1)"
        )
    if plan.method == "bce-vb" and plan.settings.get("learn_alpha", True):
        raise ParameterError(
            f"rho={plan.rho:g}: alpha cannot be learned from noisy sums; set learn_alpha to false "
            "(--set learn_alpha=false)"
        )


def method_settings(plan: Plan) -> dict[str, Any]:
    """All settings of the method, checked."""
    if "init" in plan.settings:
        raise ParameterError(
            f"init is not a setting of {plan.method} in a federated run, because all sites use the same; give "
            f"init={plan.settings['init']} as a parameter of the run"
        )
    given = dict(plan.settings)
    lacking = plan.protocol == "sequential" or plan.suppress or plan.rho
    if lacking and "smoothing" in {one.name for one in dataclasses.fields(get(plan.method).Params)}:
        given.setdefault("smoothing", SMOOTHING)
    if given.get("stable"):
        raise ParameterError("sites do not report which labels changed; leave stable at 0 (--set stable=0)")
    return dataclasses.asdict(settings.build(get(plan.method).Params, given, plan.method))


def bits_of(plan: Plan) -> int:
    """Return the bits of fraction of a plan, the default ones if it names none."""
    return BITS[plan.word] if plan.bits is None else plan.bits


def init_of(plan: Plan) -> str:
    """Return the initialization of a plan, the default one if it names none."""
    return plan.init or INITS[plan.layout][0]


def agree_terms(plan: Plan, hellos: Mapping[str, Hello], run: str | None = None) -> Terms:
    """What all sites will be held to."""
    check_plan(plan)
    for site, hello in hellos.items():
        if hello.version != __version__:
            raise FederatedError(
                f"site {site} has partita {hello.version}, the coordinator {__version__}; install the same everywhere"
            )
        if hello.layout != plan.layout:
            raise FederatedError(f"site {site} comes with {hello.layout}, this run divides {plan.layout}")
    names: tuple[str, ...] = ()
    classes: tuple[tuple[Label, ...], ...] = ()
    weights: tuple[float, ...] = ()
    if plan.layout == "rows":
        names, classes = vocabulary(plan, hellos)
        weights = tuple(check_weights({name: plan.weights.get(name, 1.0) for name in names}, names).tolist())
    return Terms(
        run=os.urandom(8).hex() if run is None else run,
        sites=tuple(sorted(plan.sites)),
        layout=plan.layout,
        method=plan.method,
        k=None if plan.k is None else int(plan.k),
        params=FrozenDict(method_settings(plan)),
        protocol=plan.protocol,
        transport=plan.transport,
        bits=bits_of(plan),
        word=plan.word,
        seed=resolve_seed(plan.seed),
        init=init_of(plan),
        names=names,
        classes=classes,
        weights=weights,
        objects=plan.objects,
        aligned=plan.aligned,
        suppress=plan.suppress,
        rho=plan.rho,
        delta=plan.delta,
        version=__version__,
    )


def vocabulary(plan: Plan, hellos: Mapping[str, Hello]) -> tuple[tuple[str, ...], tuple[tuple[Label, ...], ...]]:
    """The clusterings, which all sites must have, and the labels of each: those declared, or all that any site has."""
    first = min(hellos)
    names = hellos[first].names
    for site, hello in hellos.items():
        if set(hello.names) != set(names):
            odd = sorted(set(hello.names) ^ set(names))[0]
            has, lacks = (site, first) if odd in hello.names else (first, site)
            raise FederatedError(f"site {has} has a clustering {odd!r}, site {lacks} has not; give the same to all")
    unknown = sorted(set(plan.labels) - set(names)) or sorted(set(plan.weights) - set(names))
    if unknown:
        raise FederatedError(f"there is no clustering {unknown[0]!r} at the sites; they have {', '.join(names)}")
    classes = []
    for name in names:
        found: dict[str, Label] = {}
        said = [plan.labels[name]] if name in plan.labels else [h.classes[h.names.index(name)] for h in hellos.values()]
        for label in (label for labels in said for label in labels):
            found.setdefault(str(label), label)
        classes.append(tuple(sorted(found.values(), key=lambda label: (type(label).__name__, label))))
    kept = [j for j, labels in enumerate(classes) if labels and plan.weights.get(names[j], 1.0) > 0]
    if not kept:
        raise FederatedError("no clustering has a label at any site; check the missing values and the weights")
    return tuple(names[j] for j in kept), tuple(classes[j] for j in kept)


def coordinate(hub: Hub) -> Outcome:
    """The whole run: keys, objects, the fit, and each site's copy of the result."""
    terms, notes = hub.terms, list(warnings_of(hub.terms))
    if terms.transport == "masked" or (terms.layout == "columns" and not terms.aligned):
        share_keys(hub)
    if terms.layout == "columns":
        notes += [agree_objects(hub), privacy.why_no_confidence(terms)]
        return _columns(hub, notes)
    fitted = fit_sequential(hub) if terms.protocol == "sequential" else fit_rows(hub)
    asked = {"tables": fitted.tables, "bias": fitted.bias}
    if fitted.model.shares is not None:
        asked |= {
            "model_tables": fitted.model.stacked,
            "model_bias": fitted.model.bias,
            "shares": fitted.model.shares,
        }
    counts = None
    if omitted := privacy.why_no_confidence(terms):
        notes.append(omitted)
    else:
        counts = hub.total("count", {"tables": fitted.tables, "bias": fitted.bias})["labels"]
        asked["counts"] = counts = np.maximum(counts, 0.0)
    told = fitted.runs.told()
    if not terms.rho:
        asked["trace"] = np.array(told["trace"])
    asked["converged"] = np.array([told["converged"]], np.int64)
    close(hub, asked)
    said = () if terms.rho else told["notes"]
    model = model_of(terms, fitted.model.bias, fitted.model.stacked, fitted.model.shares, counts)
    trace = () if terms.rho else told["trace"]
    return Outcome(terms, hub.round + 1, trace, told["converged"], model, (*notes, *said))


def _columns(hub: Hub, notes: list[str]) -> Outcome:
    if hub.terms.protocol == "paper":
        asked, runs = paper_rounds(hub)
        close(hub, asked)
        told = runs.told()
        return Outcome(hub.terms, hub.round + 1, told["trace"], told["converged"], None, (*notes, *told["notes"]))
    close(hub, relay_rounds(hub))
    return Outcome(hub.terms, hub.round + 1, (), None, None, tuple(notes))


def share_keys(hub: Hub) -> None:
    """Carry public keys and sealed boxes between sites."""
    sites = hub.terms.sites
    cards = hub.gather("keys")
    packed = setup.pack([cards[site]["card"].tobytes() for site in sites])
    boxes = hub.gather("seal", {"cards": packed})
    hub.gather("open", {"sealed": boxes[sites[0]]["sealed"]})


def agree_objects(hub: Hub) -> str:
    """Have all sites put the same objects in the same order; tells how many there are."""
    shares, k = hub.gather("ids"), hub.terms.k
    counts = {site: int(arrays["objects"][0]) for site, arrays in shares.items()}
    if len({arrays["digest"].tobytes() for arrays in shares.values()}) == 1:
        count = next(iter(counts.values()))
        check_enough(k, count)
        hub.gather("align")
        return f"all sites have the same {count} objects"
    if hub.terms.aligned:
        told = ", ".join(f"{site} {count}" for site, count in counts.items())
        raise FederatedError(f"the sites have different numbers of objects ({told}); give all the same")
    hashes = {site: arrays["hashes"] for site, arrays in hub.gather("hashes").items()}
    matched = aligning.match(hashes, hub.terms.objects)
    check_enough(k, len(matched.hashes))
    found = np.array([matched.found[site] for site in hub.terms.sites])
    hub.gather("align", {"hashes": matched.hashes, "found": found})
    return matched.told()


def check_enough(k: int | None, objects: int) -> None:
    """Refuse more clusters than objects."""
    if k is not None and k > objects:
        raise FederatedError(f"k={k} is more than the {objects} objects of the run; give a smaller k")


def close(hub: Hub, arrays: Arrays) -> None:
    """Give every site what it needs for its result, and see that all have the same."""
    digests = {site: found["digest"].tobytes() for site, found in hub.gather("close", arrays).items()}
    leader = hub.terms.sites[0]
    for site, digest in digests.items():
        if digest != digests[leader]:
            raise FederatedError(
                f"site {site} came to another result than site {leader}; check that both run the same versions"
            )


def warnings_of(terms: Terms) -> tuple[str, ...]:
    """What a run shows to whom beyond sums, and what its noise costs."""
    notes = []
    if terms.protocol == "paper":
        notes.append(PAPER_LEAK)
    if terms.protocol == "sequential":
        notes.append(SEQUENTIAL_LEAK)
    if terms.protocol == "sums" and terms.transport != "masked":
        notes.append(f"transport {terms.transport}: the coordinator sees each site's sums; masked hides them")
    if len(terms.sites) < FEWEST:
        notes.append(TWO_SITES.format(sites=len(terms.sites)).partition(";")[0])
    if terms.rho:
        weights = np.array(terms.weights) / np.mean(terms.weights)
        rounds = terms.params["max_iter"] + 1
        notes.append(privacy.Budget(terms.rho, terms.delta, rounds, privacy.sensitivity_of(weights)).told())
    if terms.suppress:
        notes.append(f"expected counts below {terms.suppress:g} are sent as 0: the fit is not the central one")
    return tuple(notes)
