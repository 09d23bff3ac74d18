"""The version, in one place that imports nothing."""

from typing import Final

__version__: Final = "0.1.0"
