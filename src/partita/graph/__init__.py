"""Consensus by what base clusters share: graphs over objects and clusters, and votes."""
