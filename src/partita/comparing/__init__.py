"""Comparing methods: every method at every k, with what it costs and what it brings."""

from partita.comparing.comparing import compare
from partita.comparing.records import Compared, Comparison

__all__ = ["Compared", "Comparison", "compare"]
