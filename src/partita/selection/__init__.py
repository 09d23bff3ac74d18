"""Choosing the number of clusters: every k is tried, a criterion chooses, and the reason is told."""

from partita.selection.criteria import CRITERIA
from partita.selection.leaving import LeaveOneOut, leave_one_out
from partita.selection.records import Selection, Trial
from partita.selection.selecting import select_k

__all__ = ["CRITERIA", "LeaveOneOut", "Selection", "Trial", "leave_one_out", "select_k"]
