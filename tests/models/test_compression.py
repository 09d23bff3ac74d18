"""Equal rows are weights, however many: above the size of a start's sample too."""

import numpy as np
import pytest

import partita
from partita import Ensemble
from tests.samples import noisy_labels


@pytest.fixture(scope="module")
def many():
    """Twenty thousand objects, of which only 256 differ."""
    labels, _ = noisy_labels(n=20_000, r=4, k=4, noise=0.6)
    table = Ensemble.from_labels(labels, transpose=False)
    assert len(table.distinct.first) == 256
    return table


@pytest.mark.parametrize("method", ["mm", "qmi", "itk", "bce-vb", "lwgp", "nbce-vb", "nbce-cvb"])
def test_compressed_and_whole_fits_of_many_rows_agree(many, method):
    few = {"max_iter": 100} if method == "bce-vb" else {}
    whole, short = (partita.consensus(many, method, 6, compress=compress, **few) for compress in (False, True))
    assert np.array_equal(whole.labels, short.labels)
    assert (whole.membership is None) == (short.membership is None)
    if whole.membership is not None:
        assert np.allclose(whole.membership, short.membership, rtol=0, atol=1e-8)
