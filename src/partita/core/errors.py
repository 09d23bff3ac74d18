"""What can go wrong for a user, one class a kind.

PartitaError (a ValueError)
├── TableError         the table as a whole: shape, orientation, names, ids, weights
│   └── LabelError     one cell, row or column of it
├── FileError          a file that cannot be read or written
│   └── AbsentDataError  a data set that is not on this machine
├── ParameterError     k, seed, threads, a method's parameters, a measure's arguments
│   └── MethodError    an unknown method, or one that cannot take this ensemble
├── MissingExtraError  an optional package is not installed
├── EngineError        a cluster that cannot be reached, or whose workers cannot do the work
└── FederatedError     a site, the coordinator, or what they agreed on

Every message names the place, the value and the way out, in one line. `PartitaWarning` marks what was done anyway.
"""

import traceback


class PartitaError(ValueError):
    """Something a user can put right; the message says how."""


class TableError(PartitaError):
    """The table as a whole cannot be an ensemble."""


class LabelError(TableError):
    """A cell, row or column of the table cannot be read as labels or memberships."""


class FileError(PartitaError):
    """A file cannot be read or written."""


class AbsentDataError(FileError):
    """A data set is not on this machine; the message tells how to get it. Experiments skip its rows."""


class ParameterError(PartitaError):
    """A parameter has a value that is not allowed."""


class MethodError(ParameterError):
    """No such consensus function, or it cannot take this ensemble."""


class MissingExtraError(PartitaError):
    """An optional package is needed for this and not installed."""


class EngineError(PartitaError):
    """What runs the work, such as a Dask cluster, cannot be reached or cannot go on."""


class FederatedError(PartitaError):
    """Sites that cluster together cannot go on; the message names the site."""


class PartitaWarning(UserWarning):
    """Something was done that the user may not expect; the message says what."""


def line_of(error: BaseException) -> str:
    """What was raised and where, in one line."""
    frames = traceback.extract_tb(error.__traceback__)
    at = f" ({frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno})" if frames else ""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}{at}"
