"""The partition that represents draws: 100 000 objects, 1000 draws of 20 clusters; fewer draws compared with salso."""

from typing import Any

import numpy as np

from benchmarks.harness import Case, Contestant
from benchmarks.rivals import rivals_of

SECONDS, MEGABYTES = 120.0, 4000.0


def posterior_draws(n: int, draws: int, k: int = 20, seed: int = 0) -> np.ndarray:
    """(draws, n) int8: every object has a cluster, a rival cluster, and a share of draws of its own in neither."""
    rng = np.random.default_rng(seed)
    home, rival, doubt = rng.integers(k, size=n), rng.integers(k, size=n), rng.beta(1, 3, size=n)
    table = np.empty((draws, n), np.int8)
    for s in range(draws):
        chance = rng.random(n)
        elsewhere = np.where(chance < 0.7 * doubt, rival, rng.integers(k, size=n))
        table[s] = np.where(chance < doubt, elsewhere, home)
    return table


def ours(loss: str) -> Any:
    """partita.summarise: labels canonical, the search, ball, certainty."""

    def run(table: np.ndarray) -> Any:
        from partita import summarise

        return summarise(table, loss, seed=0)

    return run


def central_draw(loss: str) -> Any:
    """The best of the first 100 draws by expected loss, as samplers without a search give it."""

    def run(table: np.ndarray) -> Any:
        from partita import Draws
        from partita.posterior.losses import expected_loss

        draws = Draws.of(table)
        return min(expected_loss(draws, row, loss) for row in draws.labels[:100])

    return run


def searched(loss: str) -> Any:
    """The search alone, which is what salso does."""

    def run(data: tuple[np.ndarray]) -> Any:
        from partita import Draws
        from partita.posterior.point import best_partition

        return best_partition(Draws.of(data[0]), loss, rng=np.random.default_rng(0))

    return run


def noisy_samples(n: int, draws: int = 20, k: int = 10, noise: float = 0.3) -> np.ndarray:
    """(draws, n) labels of k clusters, of which each draw has a share replaced by random ones."""
    rng = np.random.default_rng(0)
    truth = rng.integers(k, size=n)
    return np.where(rng.random((draws, n)) < noise, rng.integers(k, size=(draws, n)), truth)


def fine_samples(n: int, draws: int = 20) -> np.ndarray:
    """(draws, n) cells of 100 to 300 random points of the unit square, other points in each draw."""
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(0)
    points = rng.random((n, 2))
    centers = [points[rng.choice(n, int(rng.integers(100, 300)), replace=False)] for _ in range(draws)]
    return np.stack([cKDTree(chosen).query(points)[1] for chosen in centers])


def loss_found(result: Any, data: tuple[np.ndarray]) -> dict[str, float]:
    """The expected loss, where the result is ours; salso reports its own."""
    return {"expected loss": result.loss} if hasattr(result, "loss") else {}


def quality(result: Any, table: np.ndarray) -> float:
    """The expected loss."""
    return float(getattr(result, "expected_loss", result))


CASES = (
    [
        Case(
            f"posterior-{loss}",
            f"summary of 10^5 objects, 1000 draws, 20 clusters; allowed {SECONDS:.0f} s (quality: expected {loss})",
            lambda: posterior_draws(10**5, 1000),
            (
                Contestant("partita summarise", ours(loss), lambda: posterior_draws(300, 30)),
                Contestant("best of 100 draws", central_draw(loss), lambda: posterior_draws(300, 101)),
            ),
            quality,
            repeats=0,
            floor=Contestant("floor: sum the draws", lambda table: float("nan") if table.sum() else 0.0),
            allowed=MEGABYTES,
            on_request=True,
        )
        for loss in ("vi", "binder")
    ]
    + [
        Case(
            f"salso-{loss}",
            f"the partition of least expected {loss} (VI in nats) of 2000 objects, 500 draws, 10 clusters",
            lambda: (posterior_draws(2000, 500, 10),),
            (
                Contestant("partita best_partition", searched(loss), lambda: (posterior_draws(300, 30),)),
                *rivals_of(loss, 10),
            ),
            loss_found,
            repeats=1,
            on_request=True,
        )
        for loss in ("vi", "binder")
    ]
    + [
        Case(
            f"binder-{name}-{n}",
            f"the partition of least expected Binder loss of {n} objects, 20 draws: {said}",
            lambda make=make, n=n: (make(n),),
            (
                Contestant("partita best_partition", searched("binder"), lambda make=make: (make(3000),)),
                *rivals_of("binder", 10),
            ),
            loss_found,
            repeats=1,
            on_request=True,
        )
        for n in (2_000, 20_000)
        for name, make, said in (
            ("noisy", noisy_samples, "10 clusters, 30 % of the labels random"),
            ("fine", fine_samples, "100 to 300 clusters each"),
        )
    ]
)
