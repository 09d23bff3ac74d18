"""The enumeration that holds the nonparametric methods: its priors sum to 1, and what the paper prints does not."""

import pytest

from tests.models.nbce_oracle import Exact, prior_mass


@pytest.mark.parametrize("prior", ["tsb", "fsd"])
@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.5])
def test_both_priors_sum_to_one(prior, alpha):
    for n, clusters in [(1, 3), (4, 3), (6, 3), (3, 5)]:
        assert prior_mass(n, clusters, alpha, prior) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("prior", ["tsb", "fsd"])
def test_evidence_of_all_tables_sums_to_one(prior):
    tables = [[[a, b], [c, d]] for a in range(2) for b in range(3) for c in range(2) for d in range(3)]
    masses = [Exact(table, (2, 3), 3, 0.7, 0.4, prior).log_evidence for table in tables]
    assert sum(2.718281828459045**mass for mass in masses) == pytest.approx(1, abs=1e-10)
