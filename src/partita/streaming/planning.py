"""What is asked of a streamed run, checked before anything is read."""

from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np

from partita.core.ensemble import Ensemble
from partita.core.errors import MethodError, ParameterError
from partita.core.method import is_several
from partita.io.blocks import LabelBlocks
from partita.io.options import ReadOptions
from partita.io.result_table import check_id_name
from partita.registry import get
from partita.streaming.fitting import Wanted
from partita.streaming.full import SPLITS
from partita.version import __version__

FitAsked: TypeAlias = Literal["auto", "distinct", "sample", "full"]
MOST_ROWS: Final = 1 << 21
"""Different rows that are counted, unless said otherwise: some 200 MB at 20 clusterings."""
SAMPLE: Final = 500_000
"""Rows of a sample, unless said otherwise."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked for."""

    wanted: Wanted
    fit: FitAsked = "auto"
    most: int = MOST_ROWS
    """Different rows that are kept; where there are more, "auto" fits a sample."""
    sample: int = SAMPLE
    confidence: bool = True
    membership: bool = False
    read: ReadOptions = field(default_factory=ReadOptions)

    def check(self) -> None:
        """Refuse what cannot be done."""
        method = get(self.wanted.method)
        if self.fit not in get_args(FitAsked):
            raise ParameterError(f"fit={self.fit!r} is not known; give one of {', '.join(get_args(FitAsked))}")
        for name, value in (("most", self.most), ("sample", self.sample)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ParameterError(f"{name}={value!r} is not a whole number >= 1")
        if self.fit == "full" and self.wanted.polish:
            raise ParameterError("polish moves rows that are fitted whole; leave it out of a full fit (--polish)")
        check_id_name(self.read.ids)
        if self.fit == "full" and self.wanted.method not in SPLITS:
            raise MethodError(
                f"{self.wanted.method} cannot be fitted part by part; choose one of {', '.join(SPLITS)}, or another fit"
            )
        if method.takes is not None and not issubclass(Ensemble, method.takes):
            raise MethodError(f"{self.wanted.method} takes memberships, which are not read in blocks; choose another")

    def whole(self, engine: str) -> bool:
        """Whether too many different rows mean a fit to all rows: on a cluster, by a method that can be divided."""
        return self.fit == "full" or (self.fit == "auto" and engine == "dask" and self.wanted.method in SPLITS)

    def about(self, source: LabelBlocks, engine: str) -> dict[str, Any]:
        """What must be the same for a run to be gone on with."""
        wanted = self.wanted
        return {
            "version": __version__,
            "table": list(source.signature),
            "blocks": len(source.blocks),
            "columns": list(source.names),
            "method": wanted.method,
            "k": list(wanted.k) if is_several(wanted.k) else wanted.k,
            "settings": {name: repr(value) for name, value in sorted(wanted.params.items())},
            "seed": wanted.seed,
            "polish": wanted.polish,
            "fit": self.fit,
            "fit of many different rows": "full" if self.whole(engine) else "sample",
            "most rows": self.most,
            "sample": self.sample,
            "confidence": self.confidence,
            "membership": self.membership,
            "missing": repr(self.read.missing),
            "weights": repr(self.read.weights),
            "id": self.read.ids,
        }
