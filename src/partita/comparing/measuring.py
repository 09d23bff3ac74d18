"""One fit measured: what came of it, how long it took and how much memory, without what only a first fit costs."""

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from partita.api import consensus
from partita.comparing.records import Compared
from partita.core.consensus import Consensus
from partita.core.errors import PartitaError, PartitaWarning, line_of
from partita.core.peaks import Peak
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.types import FloatArray
from partita.kernels.compiling import compilations
from partita.metrics.items import item_consensus

MEGABYTE: Final = 10**6
SHORT: Final = 0.25
"""Seconds up to which loading compiled code from disk, some 0.02 a fit, would tell."""
FEW_ROWS: Final = 60
"""Rows of the fit that warms a method up."""
LOST: Final = "the process that fitted it died (killed, out of memory, or a crash in compiled code)"
_warm: set[tuple[Any, ...]] = set()


class Task(NamedTuple):
    """One method at one k."""

    method: str
    k: int | None


@dataclass(frozen=True, slots=True)
class Bench:
    """A table, and how fits are made on it."""

    ensemble: AnyEnsemble
    seed: int
    threads: int | None

    def measure(self, task: Task) -> Compared:
        """One fit. Whatever it raises is a row with its reason, so that the others go on."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                row = self._measured(task)
            except PartitaError as error:
                return Compared(*task, failed=str(error))
            except MemoryError:
                return Compared(*task, failed="out of memory; give fewer workers (--workers), or a smaller table")
            except Exception as error:
                return Compared(*task, failed=line_of(error))
        told = [str(each.message) for each in heard if issubclass(each.category, PartitaWarning)]
        return replace(row, notes=(*row.notes, *dict.fromkeys(told)))

    def _measured(self, task: Task) -> Compared:
        _ = self.ensemble.distinct  # found once for all methods, as `partita.consensus` would keep it
        self._warm_up(task)
        result, seconds, memory = self._timed(task)
        items = item_consensus(self.ensemble, result)
        assert result.confidence is not None
        counts = self.ensemble.counts
        return Compared(
            *task,
            clusters=result.k,
            anmi=known(float(result.scores["anmi"])),
            confidence=mean_known(result.confidence, counts),
            silhouette=mean_known(items.silhouette, counts),
            seconds=seconds,
            memory=None if memory is None else memory / MEGABYTE,
            notes=result.notes,
        )

    def _timed(self, task: Task) -> tuple[Consensus, float, int | None]:
        """The fit with its time and memory; a short one, or one while a kernel was compiled, is made once more: what is
        only loaded then weighs on it.
        """
        for _ in range(2):
            before, peak, begun = compilations(), Peak.begin(), time.perf_counter()
            result = self._fit(self.ensemble, task)
            seconds, memory = time.perf_counter() - begun, peak.rise()
            if compilations() == before and seconds > SHORT:
                break
        return result, seconds, memory

    def _fit(self, ensemble: AnyEnsemble, task: Task) -> Consensus:
        return consensus(ensemble, task.method, task.k, seed=self.seed, threads=self.threads)

    def _warm_up(self, task: Task) -> None:
        """Load, or compile, what the method needs: a fit of a few rows of the same table, once a process."""
        kind = self.ensemble.matrix.dtype if isinstance(self.ensemble, SoftEnsemble) else self.ensemble.labels.dtype
        key = (task.method, task.k is None, kind, self.ensemble.missing_share > 0)
        if key in _warm:
            return
        _warm.add(key)
        places = np.unique(np.linspace(0, len(self.ensemble) - 1, FEW_ROWS).astype(np.int64))
        few = self.ensemble.rows(places)
        most = max(len(few.distinct.first) - 1, 1)
        try:
            self._fit(few, task._replace(k=None if task.k is None else min(task.k, most)))
        except Exception:
            return  # a few rows may be too few; the fit itself tells what is wrong


def lost(task: Task) -> Compared:
    """What is told of a task whose worker died."""
    return Compared(*task, failed=LOST)


def mean_known(values: FloatArray, counts: FloatArray) -> float | None:
    """The mean over the objects that have a value, each row as often as it counts; None where none has."""
    there = ~np.isnan(values) & (counts > 0)
    return float(np.average(values[there], weights=counts[there])) if there.any() else None


def known(value: float) -> float | None:
    """A number, or None for NaN."""
    return None if np.isnan(value) else value
