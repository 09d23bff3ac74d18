"""A data set with known classes: what a loader returns."""

from dataclasses import dataclass

from partita.core.types import FloatArray, FrozenArrays, IntArray


@dataclass(frozen=True, eq=False)
class Dataset(FrozenArrays):
    """Objects with features and a known class each; for experiments, never an input of a consensus function."""

    name: str
    X: FloatArray
    """(n, d) features, as in the source: nothing scaled or imputed."""
    labels: IntArray
    """(n,) classes 0..k-1."""
    classes: tuple[str, ...]
    """What the classes are called."""
    source: str = ""
    """Where these values come from: a checked file, another copy, scikit-learn, or made from a description."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def k(self) -> int:
        """The number of classes."""
        return len(self.classes)
