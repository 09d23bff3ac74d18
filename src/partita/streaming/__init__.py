"""Consensus of label tables that are never in memory as a whole: count or sample, fit, place a block at a time."""
