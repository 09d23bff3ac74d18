"""The public surface is what it says it is, costs nothing to import, and is documented."""

import subprocess
import sys

import pytest

import partita


def test_everything_exported_is_there():
    for name in partita.__all__:
        assert getattr(partita, name) is not None
    assert sorted([*partita.__all__, *partita._MODULES]) == dir(partita)
    assert set(partita.__all__) - {"__version__"} == set(partita._HOMES)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = partita.nothing


def test_import_loads_nothing_heavy():
    """Importing partita must not load the numerical packages: they load when used."""
    heavy = ("numpy", "numba", "scipy", "sklearn", "pyarrow", "matplotlib", "rich")
    code = f"import sys, partita; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_consensus_loads_no_picture_or_learning_package():
    """The path from labels to consensus does not need scikit-learn, pandas or matplotlib."""
    code = (
        "import sys, partita; partita.consensus([[0,1],[0,1],[1,0]], k=2);"
        "print([m for m in ('sklearn','pandas','matplotlib','polars') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", sorted(set(partita.__all__) - {"__version__"}))
def test_public_names_are_documented(name):
    assert (getattr(partita, name).__doc__ or "").strip()
