"""The one door to native partitioners: a weighted graph or hypergraph and k in, k balanced blocks out.

METIS, KaHIP and Mt-KaHyPar do the work. What they cannot take is settled before they see it, what they return is
checked by its cut and balance, and small inputs are solved exactly.
"""

from partita.partition.blocks import Partition, Try
from partita.partition.graph import Graph, GraphOptions, partition_graph
from partita.partition.hypergraph import Hypergraph, HypergraphOptions, NamedStart, partition_hypergraph
from partita.partition.tables import improve_pairs, partition_members

__all__ = [
    "Graph",
    "GraphOptions",
    "Hypergraph",
    "HypergraphOptions",
    "NamedStart",
    "Partition",
    "Try",
    "improve_pairs",
    "partition_graph",
    "partition_hypergraph",
    "partition_members",
]
