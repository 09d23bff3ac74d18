"""Confidence of the objects, pairs of objects, the consensus matrix."""

import numpy as np

from partita.report.gathered import ReportData
from partita.report.html import charts, grids
from partita.report.html.elements import Numbered, counted, figure, figures, number, paragraph, section, share


def confidence(data: ReportData, ids: Numbered) -> str:
    """The section on how far the clusterings support the consensus."""
    pairs = data.diagnostics.coassociation
    low, high = pairs.limits
    lines = [
        "The confidence of an object is high if most clusterings put it together with the other members of its "
        "cluster, and rarely with those of other clusters. It is near 1 if all of them do. It cannot detect that the "
        "clusterings agree and are wrong together.",
    ]
    if np.isfinite(pairs.pac):
        lines.append(
            f"Of all pairs of objects{_seen(pairs.unseen)}, {share(pairs.pac)} are put together by more than {low:g} "
            f"and less than {high:g} of the clusterings: neither clearly together nor clearly apart (PAC; lower is "
            f"better). {_exactness(data)}"
        )
    else:
        lines.append("No two objects were labelled by the same clustering, so pairs tell nothing.")
    drawn = [
        figure(
            charts.histogram(ids, data.numbers.histogram, data.numbers.confidence),
            "Number of objects by confidence.",
        ),
        figure(
            charts.pairs_cdf(ids, pairs),
            "A curve that jumps at 0 and at 1 and is flat between is ideal. The shaded middle holds pairs in doubt.",
        ),
    ]
    shown = data.pictures.heatmap
    if shown is not None:
        drawn.append(grids.heatmap(ids, shown))
    if data.pictures.items is not None:
        drawn.append(charts.profile(ids, data.pictures.items))
    return section("confidence", "Confidence", *map(paragraph, lines), figures(*drawn))


def _seen(unseen: float) -> str:
    """Which pairs count, where some share no clustering."""
    return f" that some clustering labels both ({share(unseen)} share none)" if unseen > 0 else ""


def _exactness(data: ReportData) -> str:
    pairs = data.diagnostics.coassociation
    if pairs.exact:
        return "It is the only pair." if pairs.pairs == 1 else f"All {counted(pairs.pairs, 'pair')} were looked at."
    return (
        f"Estimated from {counted(pairs.pairs, 'pair')} drawn at random: with probability {pairs.level:.0%} the "
        f"curve is off by at most {number(pairs.error, 4)}, and PAC by at most {number(pairs.pac_error, 4)}."
    )
