"""Consensus by a model of the label table: parameters, scores, counts, and the loops that fit them."""
