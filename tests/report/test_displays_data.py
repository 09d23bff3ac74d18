"""What displays hold is what a slow, obvious computation says."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import partita
from partita import Consensus, Draws, Ensemble
from partita.core.errors import ParameterError
from partita.metrics import clustering_agreement, coassociation, consensus_matrix, contingency, item_consensus, nmi
from partita.report import (
    AgreementDisplay,
    AlluvialDisplay,
    CdfDisplay,
    ConfusionDisplay,
    ConsensusDisplay,
    HeatmapDisplay,
    ItemDisplay,
    NumbersDisplay,
    ResultDisplay,
    ScatterDisplay,
    TraceDisplay,
    TrackingDisplay,
)
from partita.report.displays.matching import matches
from partita.report.displays.ordering import most_frequent, ordered_bins
from partita.report.displays.untangling import crossings, untangled
from tests.report.cases import case, numbered, singletons, soft, weighted, with_agreement
from tests.samples import noisy_labels


def pairs_together(ensemble, one, other):
    """Mean co-association of two groups of rows, pairs of different objects; NaN where there is none."""
    above = below = 0.0
    for i in one:
        for j in other:
            if i != j:
                a, b = ensemble.labels[i], ensemble.labels[j]
                known = (a >= 0) & (b >= 0)
                above += float((known & (a == b)) @ ensemble.weights)
                below += float(known @ ensemble.weights)
    return above / below if below else np.nan


# ordering


def test_objects_by_cluster_then_confidence():
    labels, sure = np.array([2, 0, -1, 2, 0, 1]), np.array([0.1, 0.2, 0.9, 0.7, np.nan, 0.5])
    bins = ordered_bins(labels, sure)
    assert bins.rows.tolist() == [1, 4, 5, 3, 0] and bins.clusters.tolist() == [0, 0, 1, 2, 2]
    assert bins.places(6).tolist() == [4, 0, -1, 3, 1, 2]


@pytest.mark.parametrize("sizes", [[2990, 9, 1], [1000] * 3, [3] * 1000, [2000] + [1] * 1500])
def test_bins_stay_within_clusters(sizes):
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    sure = rng.random(len(labels))
    bins = ordered_bins(labels, sure, 2000, 100)
    assert len(bins) <= 100 and sorted(bins.rows) == list(range(len(labels)))
    for b, cluster in enumerate(bins.clusters):
        members = bins.rows[bins.starts[b] : bins.starts[b + 1]]
        assert len(members) and (cluster == -1 or (labels[members] == cluster).all())
    shown = bins.clusters[bins.clusters >= 0]
    assert (np.diff(shown) >= 0).all() and (bins.clusters[len(shown) :] == -1).all()
    if len(sizes) <= 50:
        assert set(bins.clusters.tolist()) == set(range(len(sizes)))
        means = bins.means(sure)
        assert all((np.diff(means[bins.clusters == c]) <= 0).all() for c in range(len(sizes)))
    else:
        assert set(np.argsort(-np.array(sizes), kind="stable")[:49].tolist()) == set(shown.tolist())


def test_bins_take_their_means_of_what_is_known():
    bins = ordered_bins(np.zeros(5, int), np.arange(5.0)[::-1], 2, 2)
    values, weights = np.array([1.0, np.nan, 4.0, np.nan, np.nan]), np.array([1.0, 1.0, 3.0, 1.0, 1.0])
    assert bins.lengths.tolist() == [2, 3] and bins.means(values, weights).tolist() == [1.0, 4.0]
    assert np.isnan(ordered_bins(np.zeros(2, int), np.zeros(2)).means(np.full(2, np.nan))).all()


@pytest.mark.parametrize("span", [5, 10**6])
def test_most_frequent_of_runs(span):
    rng = np.random.default_rng(1)
    values, lengths = rng.integers(-1, 4, 60) * (span // 5), np.array([10, 1, 20, 29])
    values[values < 0] = -1
    found, shares = most_frequent(values, lengths)
    for run, (value, share) in enumerate(zip(found, shares, strict=True)):
        part = values[lengths[:run].sum() : lengths[: run + 1].sum()].tolist()
        counts = Counter(part)
        assert counts[value] == max(counts.values()) and share == pytest.approx(counts[value] / len(part))


def test_matches_is_the_best_assignment():
    from itertools import permutations

    table = np.random.default_rng(0).integers(0, 9, (4, 4)) + np.eye(4, dtype=int)
    a, b = np.nonzero(table)
    found = matches(contingency(np.repeat(a, table[a, b]), np.repeat(b, table[a, b])), 4)
    best = max(sum(table[i, p[i]] for i in range(4)) for p in permutations(range(4)))
    assert sum(table[i, found[i]] for i in range(4)) == best


# heatmap and items


@pytest.mark.parametrize("made", [case, lambda: case(missing=0.5, hidden=2), singletons, weighted, soft])
def test_heatmap_of_single_objects(made):
    consensus, ensemble = made()
    display = HeatmapDisplay.from_consensus(ensemble, consensus)
    own = item_consensus(ensemble, consensus).own
    order = sorted(
        np.flatnonzero(consensus.labels >= 0),
        key=lambda i: (consensus.labels[i], -np.nan_to_num(own[i], nan=-1), i),
    )
    assert np.array_equal(display.matrix, consensus_matrix(ensemble, order), equal_nan=True)
    assert display.clusters.tolist() == consensus.labels[order].tolist()
    assert np.array_equal(display.item_consensus, own[order], equal_nan=True)
    assert display.sizes.sum() == ensemble.counts[consensus.labels >= 0].sum()
    assert display.unknown == consensus.unknown


def test_heatmap_of_bins():
    consensus, ensemble = case(n=60, missing=0.3, hidden=2)
    display = HeatmapDisplay.from_consensus(ensemble, consensus, most_rows=20, bins=9)
    own = item_consensus(ensemble, consensus).own
    bins = ordered_bins(consensus.labels, own, 20, 9)
    groups = [bins.rows[a:b] for a, b in zip(bins.starts[:-1], bins.starts[1:], strict=True)]
    assert len(groups) == 9 and display.sizes.tolist() == [len(group) for group in groups]
    expected = np.array([[pairs_together(ensemble, one, other) for other in groups] for one in groups])
    assert display.matrix == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert display.item_consensus == pytest.approx([np.nanmean(own[group]) for group in groups])


def test_bin_of_one_object_is_with_itself():
    labels = np.zeros((30, 2), int)
    labels[7] = 1
    display = HeatmapDisplay.from_consensus(
        Ensemble.from_labels(labels), Consensus.hard(labels[:, 0]), most_rows=10, bins=4
    )
    assert display.sizes.tolist()[-1] == 1 and display.matrix[-1].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert np.isnan(display.item_consensus[-1])


def test_heatmap_tells_its_numbers():
    consensus, ensemble = case()
    display = HeatmapDisplay.from_consensus(ensemble, consensus)
    apart = [
        pairs_together(ensemble, np.flatnonzero(consensus.labels == a), np.flatnonzero(consensus.labels != a))
        for a in range(4)
    ]
    assert f"{np.mean(apart):.0%}" in display.alt and "60 objects in 4 clusters" in display.alt
    assert f"{item_consensus(ensemble, consensus).own.mean():.0%}" in display.alt


@pytest.mark.parametrize("made", [case, singletons, weighted])
def test_items(made):
    consensus, ensemble = made()
    items = item_consensus(ensemble, consensus)
    display = ItemDisplay.from_items(items, consensus)
    for b in range(len(display.own)):
        same = (items.own == display.own[b]) | (np.isnan(items.own) & np.isnan(display.own[b]))
        assert (same & (consensus.labels == display.clusters[b])).any()
    assert np.array_equal(np.sort(display.own), np.sort(items.own), equal_nan=True)
    assert np.array_equal(display.cluster_consensus, items.clusters, equal_nan=True)
    counts = ensemble.counts
    known = np.isfinite(items.own)
    assert display.mean == pytest.approx((items.own * counts)[known].sum() / counts[known].sum())
    assert display.nearer == counts[items.other > items.own].sum()


# distribution of co-association


def test_cdf():
    found = {k: coassociation(case(k=k)[1]) for k in (4, 2, 3)}
    display = CdfDisplay.from_coassociations(found, k=3)
    assert display.ks == (2, 3, 4) and display.k == 3
    for place, k in enumerate(display.ks):
        assert display.cdf[place].tolist() == found[k].cdf.tolist() and display.pac[place] == found[k].pac
    areas = [found[k].area for k in (2, 3, 4)]
    assert display.delta == pytest.approx(
        [areas[0], (areas[1] - areas[0]) / areas[0], (areas[2] - areas[1]) / areas[1]]
    )
    assert f"least at k = {min(found, key=lambda k: found[k].pac)}" in display.alt
    with pytest.raises(ParameterError, match="at least one"):
        CdfDisplay.from_coassociations({})
    with pytest.raises(ParameterError, match="different limits"):
        CdfDisplay.from_coassociations({2: found[2], 3: coassociation(case()[1], limits=(0.2, 0.8))})


def test_from_selection():
    chosen = partita.select_k(case(r=6)[1], [2, 3, 4], repeats=4)
    cdf, tracking = CdfDisplay.from_selection(chosen), TrackingDisplay.from_selection(chosen)
    assert cdf.ks == tracking.ks == (2, 3, 4) and cdf.k == tracking.k == chosen.k
    assert cdf.pac.tolist() == [trial.pac for trial in chosen.trials]
    with pytest.raises(ParameterError, match="repeats"):
        CdfDisplay.from_selection(partita.select_k(case()[1], [2, 3], repeats=0))


# tracking


def test_clusters_keep_their_numbers():
    four = np.repeat([0, 1, 2, 3], 5)
    two, three = four // 2, np.array([2, 2, 0, 1])[four]
    shuffled = np.array([3, 0, 2, 1])[four]
    display = TrackingDisplay.from_labels({2: two, 3: three, 4: shuffled})
    assert display.colours.tolist() == [[0, 0, 0]] * 5 + [[0, 0, 3]] * 5 + [[1, 1, 1]] * 5 + [[1, 2, 2]] * 5
    assert display.moved == pytest.approx([0.25, 0.25]) and display.clusters.tolist() == [2, 3, 4]
    assert "2 to 3: 25%" in display.alt


def test_tracking_without_labels():
    display = TrackingDisplay.from_labels({2: [-1, -1, -1], 3: [5, -1, 7], 4: [0, 1, -1]})
    assert display.colours.tolist() == [[-1, 5, 5], [-1, 7, -1], [-1, -1, 8]]
    assert display.clusters.tolist() == [0, 2, 2] and display.moved.tolist() == [0.0, 0.0]
    with pytest.raises(ParameterError, match="k = 3 have shape"):
        TrackingDisplay.from_labels({2: [0, 1], 3: [0]})
    with pytest.raises(ParameterError, match="at least one k"):
        TrackingDisplay.from_labels({})


def test_tracking_in_bins():
    labels, truth = noisy_labels(n=900, r=2, k=4)
    display = TrackingDisplay.from_labels({4: numbered(truth), 5: labels[:, 0]}, most_rows=100, bins=30)
    assert display.colours.shape == (30, 2) and display.sizes.sum() == 900
    assert (display.shares[:, 0] >= 0.5).all() and display.colours[:, 0].tolist() == sorted(display.colours[:, 0])
    assert np.bincount(display.colours[:, 0]).tolist() == pytest.approx([7.5] * 4, abs=1)


# agreement


def test_agreement_is_ordered_and_joined():
    from scipy.cluster.hierarchy import dendrogram

    agreement = clustering_agreement(case(r=7)[1])
    display = AgreementDisplay.from_agreement(agreement)
    for i, one in enumerate(display.names):
        for j, other in enumerate(display.names):
            a, b = agreement.names.index(one), agreement.names.index(other)
            assert display.matrix[i, j] == agreement.matrix[a, b]
    drawn = dendrogram(agreement.linkage, no_plot=True)
    across, heights = (np.array(drawn["icoord"]) - 5) / 10, np.array(drawn["dcoord"])
    ours, theirs = np.argsort(display.heights[:, 1]), np.argsort(heights[:, 1])
    assert display.heights[ours] == pytest.approx(heights[theirs])
    assert display.across[ours] == pytest.approx(across[theirs])
    assert display.names[int(np.argmin(np.mean(display.matrix, axis=1)))] in display.alt


# alluvial


def test_flows_add_up():
    consensus, ensemble = case(n=200, r=6, missing=0.2, hidden=5)
    display = AlluvialDisplay.from_consensus(ensemble, consensus)
    assert len(display.stacks) == 5 and display.stacks[2].consensus
    agreements = [nmi(ensemble.labels[:, j], consensus.labels) for j in range(6)]
    ranked = [ensemble.names[j] for j in np.argsort(-np.array(agreements))]
    assert [stack.name for stack in display.stacks] == [ranked[1], ranked[0], "consensus", ranked[-2], ranked[-1]]
    for stack in display.stacks:
        assert stack.objects.sum() == 200
    flows = display.ribbons
    for j in range(4):
        left, right = display.stacks[j], display.stacks[j + 1]
        mine = flows.column == j
        assert np.bincount(flows.source[mine], flows.objects[mine]) == pytest.approx(left.objects)
        assert np.bincount(flows.target[mine], flows.objects[mine]) == pytest.approx(right.objects)
        for side, stack, block in ((flows.left, left, flows.source), (flows.right, right, flows.target)):
            ends = stack.tops + stack.heights
            assert (side[mine] >= stack.tops[block[mine]] - 1e-9).all()
            assert (side[mine] + flows.height[mine] <= ends[block[mine]] + 1e-9).all()
        for s, t, objects in zip(flows.source[mine], flows.target[mine], flows.objects[mine], strict=True):
            assert objects == count(display.stacks, j, s, t, consensus, ensemble)


def count(stacks, j, source, target, consensus, ensemble):
    """Objects in two blocks, by their names."""
    inside = np.ones(len(consensus), bool)
    for stack, block in ((stacks[j], source), (stacks[j + 1], target)):
        column = consensus.labels if stack.consensus else ensemble.labels[:, ensemble.names.index(stack.name)]
        name = stack.labels[block]
        classes = range(consensus.k) if stack.consensus else ensemble.classes[ensemble.names.index(stack.name)]
        code = -1 if name == "no label" else [str(value) for value in classes].index(name)
        inside &= column == code
    return np.count_nonzero(inside)


def test_small_clusters_share_a_block():
    consensus, ensemble = case(n=600, r=2, k=60)
    display = AlluvialDisplay.from_consensus(ensemble, consensus)
    for stack in display.stacks:
        assert len(stack.labels) == 32 and stack.labels[-1] == "other (29)" and stack.objects.sum() == 600
    middle = display.stacks[1]
    for stack in (display.stacks[0], display.stacks[2]):
        assert set(stack.clusters[stack.clusters >= 0]) == set(middle.clusters[middle.clusters >= 0])


def test_named_columns_and_too_many():
    consensus, ensemble = case(r=20)
    display = AlluvialDisplay.from_consensus(ensemble, consensus, ["c3", "c1"])
    assert [stack.name for stack in display.stacks] == ["c3", "consensus", "c1"]
    with pytest.raises(ParameterError, match="12 at most"):
        AlluvialDisplay.from_consensus(ensemble, consensus, ensemble.names)
    with pytest.raises(partita.PartitaError, match="no clustering 'x'"):
        AlluvialDisplay.from_consensus(ensemble, consensus, ["x"])


def test_crossings_by_counting():
    flow = np.random.default_rng(0).integers(0, 5, (4, 3)).astype(float)
    expected = sum(
        flow[a, b] * flow[c, d] for a in range(4) for c in range(a + 1, 4) for b in range(3) for d in range(b)
    )
    assert crossings(flow) == expected


def test_untangled_has_no_more_crossings_than_it_began_with():
    rng = np.random.default_rng(0)
    hidden = [rng.permutation(6) for _ in range(4)]
    flows = [10 * np.eye(6)[a][:, np.argsort(np.argsort(b))] for a, b in pairwise(hidden)]
    orders = untangled(flows, [6] * 4, 2)
    assert sum(crossings(flow[np.ix_(orders[j], orders[j + 1])]) for j, flow in enumerate(flows)) == 0
    fixed = untangled(flows, [4] * 4, 2)
    assert all(order[4:].tolist() == [4, 5] for order in fixed)


# confusion


def test_confusion():
    labels = ["b", "b", "a", "a", "a", None, "c"]
    truth = ["x", "x", "y", "y", "x", "y", None]
    display = ConfusionDisplay.from_labels(labels, truth)
    assert display.classes == ("x", "y") and display.clusters == ("0", "1")
    assert display.counts.tolist() == [[2, 1], [0, 2]] and display.shares[0].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert display.matched == 2 and display.left_out == 2 and display.misassigned == pytest.approx(0.2)
    assert "20.0% outside the best match" in display.alt and "x in cluster 0 (67%)" in display.alt
    weighed = ConfusionDisplay.from_labels(labels, truth, weights=[1, 2, 3, 4, 5, 6, 7])
    assert dict(zip(weighed.classes, weighed.counts.tolist(), strict=True)) == {"x": [3, 5], "y": [0, 7]}
    with pytest.raises(ParameterError, match="7 labels and 2 classes"):
        ConfusionDisplay.from_labels(labels, ["x", "y"])
    with pytest.raises(ParameterError, match="no object has both"):
        ConfusionDisplay.from_labels([0, -1], [-1, 0])


def test_confusion_of_many_classes():
    truth = np.repeat(np.arange(100), 3)
    display = ConfusionDisplay.from_labels(truth // 2, truth)
    assert display.counts.shape == (60, 50) and display.counts.sum() == 300 and display.classes[-1] == "other (41)"
    assert all(display.counts[i, i] > 0 for i in range(display.matched))


# traces, numbers, scatter


def test_trace_of_a_sampler_and_of_an_iteration():
    ensemble = case()[1]
    result = partita.consensus(ensemble, "bce-gibbs", k=3, chains=3, burn_in=5, draws=8)
    display = TraceDisplay.from_consensus(result)
    assert display.values.shape == (3, 13) and display.burn_in == 5 and display.step == "sweep"
    assert any(line.tolist() == list(result.trace) for line in display.values)
    result = partita.consensus(ensemble, "nbce-gibbs", chains=2, burn_in=5, draws=8)
    display = TraceDisplay.from_consensus(result)
    assert display.clusters.tolist() == [list(chain) for chain in result.detail["clusters by sweep"]]
    plain = TraceDisplay.from_consensus(Consensus.hard([0, 1], trace=tuple(range(2501))))
    assert plain.step == "iteration" and plain.total == 2501 and len(plain.iterations) <= 1001
    assert plain.iterations[-1] == 2501 and plain.values[0].tolist() == (plain.iterations - 1).tolist()
    with pytest.raises(ParameterError, match="no trace"):
        TraceDisplay.from_consensus(Consensus.hard([0, 1]))


def test_numbers():
    draws = Draws.of([[0, 0, 0, 0], [0, 1, 2, 3], [0, 1, 2, 2], [0, 1, 2, 2]], [7, 7, 9, 9])
    display = NumbersDisplay.from_draws(draws)
    assert display.clusters.tolist() == [1, 2, 3, 4] and display.shares.tolist() == [0.25, 0, 0.5, 0.25]
    assert display.chains.tolist() == [[0.5, 0, 0, 0.5], [0, 0, 1, 0]] and "3 (50%)" in display.alt
    held = NumbersDisplay.from_draws(Consensus.hard([0, 1, 1, 1], draws=draws))
    assert held.k == 2 and held.shares.tolist() == display.shares.tolist()
    with pytest.raises(ParameterError, match="keeps no draws"):
        NumbersDisplay.from_draws(Consensus.hard([0]))


def test_scatter_of_all_and_of_some():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(60_000, 3))
    places[5] = np.nan
    labels = np.zeros(60_000, int)
    labels[:30] = 1
    labels[30:40] = -1
    consensus = Consensus.hard(labels, confidence=rng.random(60_000))
    some = ScatterDisplay.from_consensus(consensus, places, seed=3)
    assert some.sampled and 20_000 <= len(some.points) <= 20_100 and some.unplaced == 1
    assert np.count_nonzero(some.clusters == 1) == 29 and np.count_nonzero(some.clusters == -1) == 10
    assert "a sample of 20,0" in some.caption and "of 59,999 objects" in some.caption
    again = ScatterDisplay.from_consensus(consensus, places, seed=3)
    assert again.points.tolist() == some.points.tolist()
    other = ScatterDisplay.from_consensus(consensus, places, seed=4)
    assert other.points.tolist() != some.points.tolist()
    rows = {tuple(row): i for i, row in enumerate(places[:, :2].tolist())}
    for point, cluster, sure in zip(some.points[:50].tolist(), some.clusters, some.confidence, strict=False):
        i = rows[tuple(point)]
        assert labels[i] == cluster and consensus.confidence[i] == sure
    few = ScatterDisplay.from_consensus(Consensus.hard([0, 1]), [[0, 1], [2, 3]], confidence=[0.5, 2.0])
    assert few.points.tolist() == [[0, 1], [2, 3]] and few.confidence.tolist() == [0.5, 1.0] and not few.sampled


@pytest.mark.parametrize(
    "coordinates, words", [([[0, 1]], "shape"), ([[0], [1]], "shape"), ([["a", "b"]] * 2, "not all numbers")]
)
def test_bad_coordinates(coordinates, words):
    with pytest.raises(ParameterError, match=words):
        ScatterDisplay.from_consensus(Consensus.hard([0, 1]), coordinates)


# the result without its ensemble


def test_result():
    consensus, ensemble = case(n=61, missing=0.2, hidden=2)
    consensus = with_agreement(ensemble, consensus)
    display = ResultDisplay.from_result(consensus)
    assert display.clusters.tolist() == [0, 1, 2, 3] and display.sizes.tolist() == consensus.sizes.tolist()
    assert display.unlabelled == 2 and display.objects == 61
    for cluster, quantiles in enumerate(display.confidence):
        values = consensus.confidence[consensus.labels == cluster]
        wanted = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95), method="nearest")
        assert quantiles.tolist() == wanted.tolist()
    expected = sorted(
        ensemble.names, key=lambda name: -nmi(ensemble.labels[:, ensemble.names.index(name)], consensus.labels)
    )
    assert display.names == tuple(expected) and (np.diff(display.agreement) <= 0).all()
    assert "2 objects without a label" in display.caption and "61 objects in 4 clusters" in display.alt


def test_result_without_confidence_and_agreement():
    display = ResultDisplay.from_result(Consensus.hard([0, 0, 1]))
    assert np.isnan(display.confidence).all() and display.names == () and "confidence" not in display.caption
    assert len(display.figure().axes[0].child_axes) == 2


def test_result_of_many_clusters_and_clusterings():
    labels = np.repeat(np.arange(90), np.arange(90) + 1)
    rows = tuple({"clustering": f"c{j}", "nmi": j / 100 if j else None} for j in range(100))
    display = ResultDisplay.from_result(Consensus.hard(labels, agreement=rows))
    assert display.clusters.tolist() == list(range(30, 90)) and "60 largest of 90 clusters" in display.caption
    assert display.names == tuple(f"c{j}" for j in [*range(99, 79, -1), *range(19, -1, -1)])
    assert np.isnan(display.agreement[-1]) and "60 clusterings of medium agreement" in display.caption


# the label table


def test_label_table():
    consensus, ensemble = case(missing=0.2, hidden=2)
    display = ConsensusDisplay.from_consensus(ensemble, consensus)
    order = sorted(
        np.flatnonzero(consensus.labels >= 0), key=lambda i: (consensus.labels[i], -consensus.confidence[i], i)
    )
    assert display.labels[:, 0].tolist() == consensus.labels[order].tolist()
    assert display.confidence.tolist() == consensus.confidence[order].tolist()
    for column, name in enumerate(display.names, 1):
        raw, shown = ensemble.labels[order, ensemble.names.index(name)], display.labels[:, column]
        assert ((raw == -1) == (shown == -1)).all()
        assert len(set(zip(raw.tolist(), shown.tolist(), strict=True))) == len(set(raw.tolist()))
        assert np.mean(shown == display.labels[:, 0]) > 0.5
    assert (np.diff(display.agreement) <= 0).all()


def test_label_table_of_many():
    consensus, ensemble = case(n=300, r=50)
    display = ConsensusDisplay.from_consensus(ensemble, consensus, most_rows=100, bins=40)
    assert display.labels.shape == (40, 41) and display.left_out == 10 and display.sizes.sum() == 300
    assert (display.labels[:, 1] == display.labels[:, 0]).mean() > 0.9


@pytest.mark.slow
def test_a_million_objects():
    import time

    labels, truth = noisy_labels(n=1_000_000, r=20, k=10, missing=0.03)
    ensemble = Ensemble.from_labels(labels, missing=-1)
    consensus = Consensus.hard(numbered(truth))
    from tests.report.cases import every_display

    start = time.perf_counter()
    for display in every_display(consensus, ensemble).values():
        display.figure().draw_without_rendering()
        assert sum(value.nbytes for value in vars(display).values() if isinstance(value, np.ndarray)) < 3e6
    assert time.perf_counter() - start < 60


def test_label_table_of_many_objects_shows_the_noise():
    """Labels that differ from the consensus are as frequent in the rows as among the objects; each row is an object."""
    rng = np.random.default_rng(1)
    for k, n in ((2, 20_000), (30, 60_000)):
        truth = np.arange(n) % k
        labels = np.where(rng.random((n, 6)) < 0.2, (truth[:, None] + 1) % k, truth[:, None])
        ensemble = Ensemble.from_labels(labels, transpose=False)
        consensus = Consensus.hard(truth, confidence=rng.random(n))
        display = ConsensusDisplay.from_consensus(ensemble, consensus)
        assert len(display.labels) == 500 and "one object" in display.caption
        differs = (display.labels[:, 1:] != display.labels[:, :1]).mean()
        assert abs(differs - 0.2) < 0.03
        columns = [ensemble.names.index(name) for name in display.names]
        objects = set(map(tuple, np.column_stack([truth, labels[:, columns]]).tolist()))
        assert set(map(tuple, display.labels.tolist())) <= objects


def test_label_table_of_periodic_objects_shows_all_of_them():
    """Objects of equal confidence in a periodic order: every 200th object would always have the same labels."""
    labels = np.tile([[0, 0], [0, 0], [0, 0], [0, 1]], (50_000, 1))
    consensus = Consensus.hard(labels[:, 0], confidence=np.full(len(labels), 0.5))
    display = ConsensusDisplay.from_consensus(Ensemble.from_labels(labels, transpose=False), consensus)
    assert 0.2 < (display.labels[:, 2] != 0).mean() < 0.3  # the clustering that agrees less
    same = ConsensusDisplay.from_consensus(Ensemble.from_labels(labels, transpose=False), consensus)
    assert np.array_equal(display.labels, same.labels)
