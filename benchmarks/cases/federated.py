"""Row- and column-distributed consensus: seconds and bytes a round, beside the undivided fit and the bytes alone."""

import statistics
import time
from typing import Any

import numpy as np

from benchmarks.data import noisy_table
from benchmarks.harness import Case, Contestant, Reported

SITES, OBJECTS, CLUSTERS, COLUMNS = 20, 10**5, 10, 20
ROUNDS = 6


def made() -> Any:
    """Labels of 10^5 objects in 20 clusterings."""
    return noisy_table(OBJECTS, COLUMNS, CLUSTERS, 0.3)


def divided(layout: str, transport: str) -> Any:
    """A few rounds from a random start, all sites in this process; what is timed is the median round."""

    def run(data: Any) -> Reported:
        from partita.federated.coordinate import Plan
        from partita.federated.simulate import simulate

        step, settings = "round" if layout == "columns" else "mixture", {"max_iter": ROUNDS, "tol": 0.0}
        plan = Plan((), layout, "mm", CLUSTERS, settings, transport=transport, init="random")  # type: ignore[arg-type]
        ledger = simulate(data[0], plan, **{layout: SITES}).ledger
        bytes_a_site = {f"bytes {way} a site": ledger.a_message(step, way) for way in ("to", "from")}
        return Reported(wall=statistics.median(ledger.seconds[step]), quality=bytes_a_site)

    return run


def central(data: Any) -> Reported:
    """The same iterations of the undivided fit."""
    from partita.core.ensemble import Ensemble
    from partita.models import mm
    from partita.models.mixture import softened

    ensemble = Ensemble.from_labels(data[0])
    start = softened(ensemble, np.random.default_rng(0).integers(CLUSTERS, size=len(ensemble)), CLUSTERS)
    mm.one_run(ensemble, mm.Params(max_iter=1), start)
    begun = time.perf_counter()
    mm.one_run(ensemble, mm.Params(max_iter=ROUNDS, tol=0.0), start)
    return Reported(wall=(time.perf_counter() - begun) / ROUNDS)


def bytes_alone(layout: str) -> Any:
    """Only the traffic of a round: every site's numbers copied and added up, and the sum copied for every site."""

    def run(data: Any) -> Reported:
        words = OBJECTS * CLUSTERS if layout == "columns" else CLUSTERS * CLUSTERS * COLUMNS
        shares = [np.ones(words, np.uint64) for _ in range(SITES)]
        seconds = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            total = np.zeros(words, np.uint64)
            for share in shares:
                total += share.copy()
            for _ in shares:
                total.copy()
            seconds.append(time.perf_counter() - begun)
        size = 8.0 * words
        return Reported(wall=statistics.median(seconds), quality={"bytes to a site": size, "bytes from a site": size})

    return run


def case(layout: str) -> Case:
    """One layout with its transports."""
    what = "8 n k = 8 MB each way" if layout == "columns" else "independent of n"
    return Case(
        f"federated-{layout}",
        f"mm divided by {layout} among {SITES} sites, {OBJECTS} objects, k = {CLUSTERS}, in one process; bytes {what}",
        made,
        (
            Contestant("masked", divided(layout, "masked")),
            Contestant("fixed", divided(layout, "fixed")),
            Contestant("float", divided(layout, "float")),
            Contestant("undivided", central),
        ),
        lambda found, data: {},
        repeats=0,
        floor=Contestant("copying and adding the bytes", bytes_alone(layout)),
    )


CASES = (case("columns"), case("rows"))
