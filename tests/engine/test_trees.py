"""The shape of a sum depends on the number of shares alone."""

import numpy as np
import pytest

from partita.engine.trees import FAN, Tree, added, groups


def joined(group):
    return "(" + " ".join(group) + ")"


def layer_by_layer(shares, add):
    """The obvious way: all shares at hand, a whole level at a time; as the workers of a cluster do it."""
    level = list(shares)
    while len(level) > 1:
        level = [added(add, group) for group in groups(level)]
    return level[0]


@pytest.mark.parametrize("count", [*range(1, 150), 511, 512, 513, 520, 577, 4095, 4096, 4097])
def test_taking_one_by_one_gives_the_tree_of_whole_levels(count):
    tree, most = Tree(joined), 0
    for share in map(str, range(count)):
        tree.push(share)
        most = max(most, sum(map(len, tree.levels)))
    assert tree.total() == layer_by_layer(map(str, range(count)), joined)
    assert most <= FAN * len(tree.levels)


def test_floats_add_in_that_order():
    rng = np.random.default_rng(0)
    shares = (rng.normal(size=100) * 10.0 ** rng.integers(-8, 9, 100)).tolist()
    tree = Tree(sum)
    for share in shares:
        tree.push(share)
    found = tree.total()
    assert found == layer_by_layer(shares, sum)
    assert found != sum(shares)
    assert found == pytest.approx(sum(shares))
