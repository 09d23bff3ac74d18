"""What came out: the clusters, their sizes and how well they hold together."""

from typing import Any, Final

import numpy as np

from partita.report.gathered import ReportData
from partita.report.html import charts
from partita.report.html.elements import (
    Column,
    Markup,
    Numbered,
    counted,
    figure,
    figures,
    number,
    paragraph,
    section,
    share,
    table,
)
from partita.report.html.svg import colour

MOST_ROWS, MOST_BARS = 400, 30
COLUMNS: Final = (
    Column("Cluster"),
    Column("Objects"),
    Column("Share"),
    Column("Cluster-consensus"),
    Column("Silhouette"),
    Column("Doubtful"),
)


def largest(data: ReportData, most: int) -> Any:
    """The clusters to show, in order of their numbers: the largest where there are too many."""
    order = np.argsort(-data.numbers.objects, kind="stable")[:most]
    return np.sort(order)


def outcome(data: ReportData, ids: Numbered) -> str:
    """The section on the clusters."""
    items = data.diagnostics.items
    total = max(float(data.numbers.objects.sum()), 1.0)
    few, shown = largest(data, MOST_BARS), largest(data, MOST_ROWS)
    rows = (
        (
            key(cluster),
            whole(data.numbers.objects[cluster]),
            share(float(data.numbers.objects[cluster]) / total),
            float(items.clusters[cluster]),
            float(items.silhouettes[cluster]),
            whole(data.numbers.doubtful[cluster]),
        )
        for cluster in shown.tolist()
    )
    told = "How many objects each cluster has" + _of_all(few, data.consensus.k) + "."
    unknown = data.consensus.unknown
    lines = [
        f"Mean agreement with the clusterings (ANMI): {number(data.diagnostics.influence.anmi)}. Mean silhouette: "
        f"{number(data.numbers.silhouette)}.",
        "Cluster-consensus is the mean share of clusterings that put two members of the cluster together. The "
        "silhouette compares that with the nearest other cluster: near 1 is well apart, below 0 is misplaced.",
    ]
    if unknown:
        lines.append(f"{counted(unknown, 'object')} without any label got none (−1).")
    drawn = figures(
        figure(charts.sizes(ids, few, data.numbers.objects[few], total), told),
        figure(
            charts.cluster_spread(ids, few, data.numbers.spread[few], data.numbers.means[few]),
            "The box holds the middle half of a cluster's objects, the line 90% of them; the tick is the median, the "
            "dot the mean confidence.",
        ),
    )
    return section(
        "output", "What came out", *map(paragraph, lines), drawn,
        table(ids, "The clusters" + _of_all(shown, data.consensus.k), COLUMNS, rows),
    )  # fmt: skip


def _of_all(shown: Any, k: int) -> str:
    return f" (the {len(shown)} largest of {k:,})" if len(shown) < k else ""


def key(cluster: int) -> Markup:
    """A cluster's number beside its colour."""
    square = f'<rect width="8" height="8" class="{colour(cluster)}"/>'
    return Markup(f'<svg class="key" viewBox="0 0 8 8" aria-hidden="true">{square}</svg>{cluster}')


def whole(value: Any) -> Any:
    """A count as a whole number where it is one."""
    return int(value) if float(value).is_integer() else float(value)
