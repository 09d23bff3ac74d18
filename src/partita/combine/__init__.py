"""Consensus functions made of others: several run, the one that agrees best with the base clusterings is kept."""
