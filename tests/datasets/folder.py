"""The data folder of these tests: the one PARTITA_DATA names, or a reason to skip."""

import os
from pathlib import Path

import pytest


def data_folder(what):
    """The folder; without one the test is skipped and says what it did not see."""
    folder = os.environ.get("PARTITA_DATA")
    if not folder:
        pytest.skip(f"PARTITA_DATA names no data folder: not checked: {what}")
    return Path(folder)
