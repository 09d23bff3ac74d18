"""Data that comes with the package."""

from partita.datasets.segments import segments_path, truth_path

__all__ = ["segments_path", "truth_path"]
