"""Clustering together without showing labels: sites hold rows or columns of a table, and send sums alone.

`simulate` runs all parties in one process. Between machines: `partita federate coordinator`, `partita federate site`.
"""

from partita.federated.coordinate import Outcome, Plan
from partita.federated.simulate import Simulated, simulate

__all__ = ["Outcome", "Plan", "Simulated", "simulate"]
