"""What can go wrong for a user, one class a kind.

PartitaError (a ValueError)
├── TableError         the table as a whole: shape, orientation, names, ids, weights
│   └── LabelError     one cell, row or column of it
├── FileError          a file that cannot be read or written
├── ParameterError     k, seed, threads, a method's parameters, a measure's arguments
│   └── MethodError    an unknown method, or one that cannot take this ensemble
└── MissingExtraError  an optional package is not installed

Every message names the place, the value and the way out, in one line. `PartitaWarning` marks what was done anyway.
"""


class PartitaError(ValueError):
    """Something a user can put right; the message says how."""


class TableError(PartitaError):
    """The table as a whole cannot be an ensemble."""


class LabelError(TableError):
    """A cell, row or column of the table cannot be read as labels or memberships."""


class FileError(PartitaError):
    """A file cannot be read or written."""


class ParameterError(PartitaError):
    """A parameter has a value that is not allowed."""


class MethodError(ParameterError):
    """No such consensus function, or it cannot take this ensemble."""


class MissingExtraError(PartitaError):
    """An optional package is needed for this and not installed."""


class PartitaWarning(UserWarning):
    """Something was done that the user may not expect; the message says what."""
