"""Soft cluster ensembles (Punera and Ghosh 2007): Tables V-X and Figures 1-4."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from partita.core.types import FloatArray
from partita.experiments.exhibit import Claim, Exhibit, Paper, Row, Samples
from partita.experiments.papers.punera2007_trials import (
    ATTRIBUTES,
    ENSEMBLES,
    FIGURE_1,
    FIGURE_3,
    HARD,
    METHODS,
    QUICK_ROWS,
    SEVEN,
    THREE,
    TOUGH_ROWS,
    on_ensemble,
    with_attributes,
    with_clusterings,
)
from partita.experiments.ranking import LEVEL, ROUNDING
from partita.experiments.verdicts import (
    UNMEASURED,
    Compared,
    Judge,
    Verdict,
    all_above,
    decided,
    draws_of,
    mean,
    none_below,
    not_below,
    pools,
    together,
    variance,
    welch,
)
from partita.metrics import gmr

LEAST: Final = 1e-5
"""What a score of 0 counts as, in the paper and in `gmr`."""


def of_set(name: str) -> tuple[Row, ...]:
    """The ensembles of one data set."""
    return tuple(row for row in ENSEMBLES if row.panel == name)


def averages(samples: Samples, rows: Sequence[Row], methods: Sequence[str]) -> FloatArray:
    """(methods, ensembles) mean NMI over draws, of the ensembles that all these methods were run on."""
    table = np.array([[mean(samples, row, method) for row in rows] for method in methods])
    return np.asarray(table[:, np.isfinite(table).all(axis=0)])


def ratio(samples: Samples, rows: Sequence[Row], first: str, second: str) -> float:
    """The geometric mean of second / first over ensembles; NaN where there are none."""
    scores = averages(samples, rows, (first, second))
    return gmr(*scores) if scores.size else np.nan


def matrix(samples: Samples, rows: Sequence[Row], methods: Sequence[str]) -> Mapping[tuple[str, str], float]:
    """The table as the paper has it: rows first, columns second; above 1 the column is better."""
    return {(a, b): ratio(samples, rows, a, b) for a in methods for b in methods}


def contrast(samples: Samples, parts: Sequence[tuple[float, Sequence[Row]]], signs: Mapping[str, int]) -> Compared:
    """Sums and differences of log mean NMI of methods, averaged over ensembles, with the noise of the draws.

    `parts` are groups of ensembles with a factor each; where a group has none that all methods were run on, the gap is
    NaN. The noise is that of the logarithm of a mean to first order, draws paired within an ensemble.
    """
    weights: dict[str, float] = {}
    for factor, rows in parts:
        known = [row.name for row in rows if all(draws_of(samples, row, name).size for name in signs)]
        for name in known:
            weights[name] = weights.get(name, 0.0) + factor / len(known)
        if not known:
            return Compared("", np.nan, np.inf, 1, "")
    gap, noises = 0.0, []
    for name, weight in weights.items():
        cells = {method: np.asarray(samples[name][method], np.float64) for method in signs}
        means = {method: max(float(np.nanmean(cell)), LEAST) for method, cell in cells.items()}
        gap += weight * sum(sign * np.log(means[method]) for method, sign in signs.items())
        moved = sum(sign * cells[method] / means[method] for method, sign in signs.items())
        moved = np.asarray(moved)[np.isfinite(moved)]
        noises.append((weight**2 * variance(moved), len(moved) - 1))
    return Compared("", 0.0 if abs(gap) < ROUNDING else gap, *welch(noises), "")


def gain(samples: Samples, rows: Sequence[Row], first: str, second: str) -> Compared:
    """How far the second is ahead of the first: the logarithm of their ratio."""
    found = contrast(samples, [(1.0, rows)], {second: 1, first: -1})
    return found._replace(text=f"{second} / {first} {np.exp(found.gap):.3f}")


def of_all(find: Callable[[Samples], list[Compared]], decide: Callable[[list[Compared], int], Verdict]) -> Judge:
    """A verdict for which every comparison must have been measured."""

    def found(samples: Samples) -> list[Compared]:
        pairs = find(samples)
        return pairs if np.isfinite([pair.gap for pair in pairs]).all() else []

    return Judge(found, decide)


def ahead(rows: Sequence[Row], pairs: Sequence[tuple[str, str]]) -> Judge:
    """The second of every pair is ahead of the first."""
    return of_all(lambda samples: [gain(samples, rows, *pair) for pair in pairs], all_above)


def more_when_tough(pairs: Sequence[tuple[str, str]]) -> Judge:
    """The second of each pair gains more over the first on tough ensembles than on all."""

    def more(samples: Samples, first: str, second: str) -> Compared:
        found = contrast(samples, [(1.0, TOUGH_ROWS), (-1.0, ENSEMBLES)], {second: 1, first: -1})
        tough, every = (ratio(samples, rows, first, second) for rows in (TOUGH_ROWS, ENSEMBLES))
        return found._replace(text=f"{second} / {first} {tough:.3f} tough, {every:.3f} all")

    return of_all(lambda samples: [more(samples, *pair) for pair in pairs], all_above)


def smcla_gains_most(samples: Samples) -> Verdict:
    """The gain of sMCLA over MCLA is larger than those of the two others."""
    others = [pair for pair in HARD.items() if pair[0] != "mcla"]

    def more(samples: Samples, hard: str, soft: str) -> Compared:
        found = contrast(samples, [(1.0, ENSEMBLES)], {"smcla": 1, "mcla": -1, soft: -1, hard: 1})
        return found._replace(text=f"{soft} / {hard} {ratio(samples, ENSEMBLES, hard, soft):.3f}")

    verdict, text = of_all(lambda samples: [more(samples, *pair) for pair in others], all_above)(samples)
    return verdict, text if text == UNMEASURED else f"{gain(samples, ENSEMBLES, 'mcla', 'smcla').text}; {text}"


def alike(rows: Sequence[Row]) -> Judge:
    """All three are within 6 % of each other, as in the printed table."""

    def decide(pairs: list[Compared], family: int) -> Verdict:
        sides = [pair._replace(gap=np.log(1.06) - sign * pair.gap) for pair in pairs for sign in (1, -1)]
        verdict, _ = none_below(sides, family)
        return verdict, "; ".join(pair.text for pair in pairs)

    pairs = [(a, b) for a in THREE for b in THREE if a < b]
    return of_all(lambda samples: [gain(samples, rows, *pair) for pair in pairs], decide)


def rising(rows: Sequence[Row], methods: Sequence[str]) -> Judge:
    """Every curve ends higher than it begins."""

    def find(samples: Samples) -> list[Compared]:
        found = []
        for panel in dict.fromkeys(row.panel for row in rows):
            for method in methods:
                along = [row for row in rows if row.panel == panel and draws_of(samples, row, method).size]
                ends = pools(samples, along[-1:], along[:1], method) if len(along) > 1 else []
                found += [each._replace(row=f"{method} on {panel}") for each in ends]
        return found

    def decide(pairs: list[Compared], family: int) -> Verdict:
        falling = [pair.row for pair in pairs if pair.below(LEVEL / family)]
        rise = sum(pair.above() for pair in pairs)
        text = f"{rise} of {len(pairs)} curves rise beyond the noise"
        text += f"; {', '.join(falling)} fall" if falling else "; none falls"
        return decided(rise == len(pairs), bool(falling), all(pair.known for pair in pairs)), text

    return Judge(find, decide)


def _table(number: int, title: str, rows: Sequence[Row], methods: Sequence[str], **told: Any) -> Exhibit:
    """A matrix of geometric mean ratios over some of the ensembles."""
    names = tuple(Row(method) for method in methods)
    return Exhibit(
        key=f"table-{number}",
        title=title,
        rows=names,
        columns=tuple(methods),
        score="geometric mean ratio of NMI, column / row",
        of="table-4",
        derive=partial(matrix, rows=rows, methods=methods),
        data=tuple(dict.fromkeys(row.panel for row in rows)),
        **told,
    )


WITHOUT: Final = "HyperSpectral is not to be had: its ensembles are left out of Tables V to VIII"
NOT_RATIOS: Final = (
    "GMR(i, j) GMR(j, i) = 1 must hold. In the printed Table V all six pairs with MCLA fail (CSPA and MCLA 0.718 x "
    "1.163 = "
    "0.84), in Table VI two: these are no geometric mean ratios (MISPRINTS 29)."
)
NO_CURVES: Final = "The text we have of the paper has no curves of this figure: only ours are drawn."
MADE: Final = (
    "Base clusterings: EM on a Gaussian mixture with diagonal covariances, from k-means, on randomly chosen "
    "attributes; k "
    "= number of classes. ITK 10K is never explained (MISPRINTS 33): here ten random starts, the least divergence "
    "wins. MM "
    "has three random starts. A score of 0 counts as 1e-5, as in the paper."
)

PAPER: Final = Paper(
    "punera2007",
    "Soft cluster ensembles (Punera and Ghosh 2007)",
    (
        Exhibit(
            key="table-4",
            title="NMI on each kind of ensemble of Table IV, from which Tables V to X follow (not in the paper)",
            rows=ENSEMBLES,
            columns=METHODS,
            score="NMI",
            trial=on_ensemble,
            draws=3,
            quick_draws=2,
            quick_rows=QUICK_ROWS,
            data=tuple(ATTRIBUTES),
            cuts=(
                WITHOUT,
                "2, 3, 4, 6 and 10 clusterings (pendigits 2, 4 and 8), each ensemble with clusterings of its own: "
                "the paper "
                "has every size from 2 to 10 or 15, chosen from a pool",
                "3 draws of each; the paper does not say how many",
                "CSPA, HBGF and their soft forms not on pendigits, as in the paper",
            ),
            quick_cuts=("8d5k, glass and yeast, two numbers of attributes, 3 and 6 clusterings",),
            remarks=(MADE,),
        ),
        _table(
            5,
            "Geometric mean ratio over all ensembles (Table V)",
            ENSEMBLES,
            SEVEN,
            cuts=(WITHOUT,),
            remarks=(
                NOT_RATIOS,
                "The effect of the value that stands for 0 does not vanish in the root, as the text says: one zero "
                "among 100 "
                "ensembles moves the ratio by up to 12 % (MISPRINTS 34).",
            ),
            claims=(
                Claim("Each soft version performs better than its hard version", ahead(ENSEMBLES, tuple(HARD.items()))),
                Claim(
                    "The mixture of multinomials is worse than all but MCLA",
                    ahead(ENSEMBLES, [("mm", name) for name in SEVEN if name not in ("mm", "mcla")]),
                ),
                Claim(
                    "The gain of sMCLA over MCLA is by far the largest (here: larger than the others)", smcla_gains_most
                ),
            ),
        ),
        _table(
            6,
            "Geometric mean ratio over tough ensembles (Table VI)",
            TOUGH_ROWS,
            SEVEN,
            cuts=(WITHOUT,),
            remarks=(NOT_RATIOS,),
            claims=(
                Claim(
                    "Each soft version performs better than its hard version", ahead(TOUGH_ROWS, tuple(HARD.items()))
                ),
                Claim("The gain is higher than over all ensembles", more_when_tough(tuple(HARD.items()))),
            ),
        ),
        _table(
            7,
            "Geometric mean ratio of ITK, sHBGF and sMCLA over all ensembles (Table VII)",
            ENSEMBLES,
            THREE,
            cuts=(WITHOUT,),
            claims=(
                Claim(
                    "ITK performs appreciably better than both (here: any ratio above 1)",
                    ahead(ENSEMBLES, (("shbgf", "itk"), ("smcla", "itk"))),
                ),
            ),
        ),
        _table(
            8,
            "Geometric mean ratio of ITK, sHBGF and sMCLA over tough ensembles (Table VIII)",
            TOUGH_ROWS,
            THREE,
            cuts=(WITHOUT,),
            claims=(
                Claim(
                    "The gain of ITK is higher on tough ensembles",
                    more_when_tough((("shbgf", "itk"), ("smcla", "itk"))),
                ),
            ),
        ),
        _table(
            9,
            "Geometric mean ratio on 8D5K (Table IX)",
            of_set("8d5k"),
            THREE,
            claims=(Claim("On 8D5K all are fairly comparable (here: within 6 %)", alike(of_set("8d5k"))),),
        ),
        _table(
            10,
            "Geometric mean ratio on Yeast (Table X)",
            of_set("yeast"),
            THREE,
            claims=(
                Claim(
                    "On Yeast ITK is by far the best (here: any ratio above 1)",
                    ahead(of_set("yeast"), (("shbgf", "itk"), ("smcla", "itk"))),
                ),
            ),
        ),
        Exhibit(
            key="figure-1",
            title="Hard methods and their soft forms with increasing number of attributes",
            rows=FIGURE_1,
            columns=METHODS,
            score="NMI",
            trial=with_attributes,
            draws=5,
            quick_draws=2,
            quick_rows=tuple(row for row in FIGURE_1 if row.panel.startswith("vowel") and row.x in (3, 7)),
            form="curves",
            x_label="attributes of a base clusterer",
            data=("pendigits", "vowel"),
            cuts=("5 draws",),
            quick_cuts=("vowel with 3 and 7 attributes, 2 draws",),
            remarks=(NO_CURVES, MADE),
            claims=(Claim("With more attributes all accuracies increase", rising(FIGURE_1, METHODS[:6])),),
        ),
        Exhibit(
            key="figure-2",
            title="ITK, sMCLA and sHBGF with increasing number of attributes",
            rows=FIGURE_1,
            columns=THREE,
            score="NMI",
            of="figure-1",
            form="curves",
            x_label="attributes of a base clusterer",
            data=("pendigits", "vowel"),
            remarks=(NO_CURVES,),
            claims=(
                Claim(
                    "ITK outperforms the others over the whole range (here: nowhere below either)",
                    together(*(not_below(FIGURE_1, "itk", name) for name in ("smcla", "shbgf"))),
                ),
            ),
        ),
        Exhibit(
            key="figure-3",
            title="Hard methods and their soft forms with increasing number of clusterings",
            rows=FIGURE_3,
            columns=METHODS,
            score="NMI",
            trial=with_clusterings,
            draws=5,
            quick_draws=2,
            quick_rows=tuple(row for row in FIGURE_3 if row.panel.startswith("vowel") and row.x in (2, 10)),
            form="curves",
            x_label="clusterings",
            data=("pendigits", "vowel"),
            cuts=("5 draws; 4 attributes (what the paper took is not in the text we have)",),
            quick_cuts=("vowel with 2 and 10 clusterings, 2 draws",),
            remarks=(NO_CURVES, MADE),
            claims=(Claim("With more clusterings all accuracies increase", rising(FIGURE_3, METHODS[:6])),),
        ),
        Exhibit(
            key="figure-4",
            title="ITK, sMCLA and sHBGF with increasing number of clusterings",
            rows=FIGURE_3,
            columns=THREE,
            score="NMI",
            of="figure-3",
            form="curves",
            x_label="clusterings",
            data=("pendigits", "vowel"),
            remarks=(NO_CURVES,),
            claims=(
                Claim(
                    "ITK performs better than the others (here: nowhere below either)",
                    together(*(not_below(FIGURE_3, "itk", name) for name in ("smcla", "shbgf"))),
                ),
            ),
        ),
    ),
    absent=("HyperSpectral (5211 pixels, 30 features, 13 classes): the data are not to be had",),
)
