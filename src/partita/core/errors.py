"""Errors, warnings and notes for users.

PartitaError (a ValueError)
├── TableError         the table as a whole: shape, orientation, names, ids, weights
│   ├── LabelError     one cell, row or column of it
│   └── CheckError     a check of the input that `allow=` can switch off; see `core/checks.py`
├── FileError          a file that cannot be read or written
│   └── AbsentDataError  a data set that is not on this machine
├── ParameterError     k, seed, threads, a method's parameters, a measure's arguments
│   └── MethodError    an unknown method, or one that cannot take this ensemble
├── MissingExtraError  an optional package is not installed
├── EngineError        a cluster that cannot be reached, or whose workers cannot do the work
└── FederatedError     a site, the coordinator, or what they agreed on

PartitaWarning (a UserWarning): the work is done, but may not be what the user expects
├── InputWarning              a check of the input
│   ├── WideTableWarning      more-columns-than-rows
│   ├── FeatureTableWarning   looks-like-features
│   ├── EmptyColumnWarning    all-missing-column
│   └── ConstantColumnWarning constant-column
├── UnseenLabelWarning        unseen-labels: `predict` treats them as missing
├── LikelihoodWarning         impossible-rows: the likelihood of new objects is 0
└── DuplicateNamesWarning     duplicate-names: objects are matched by row position

Every message names the place, the value and the way out, in one line. Every warning has a `code`, which does not change
if its text does; it is also recorded as a `Note` of the ensemble and of the result.
"""

import os
import re
import traceback
import warnings
from collections.abc import Iterable
from pathlib import Path
from sys import _getframe
from typing import Any, Final


class PartitaError(ValueError):
    """Something a user can put right; the message says how, in one line that every stream can print."""

    def __init__(self, message: str = "") -> None:
        # The text of an object may have several lines, a path or a label lone surrogates, which no stream can print.
        text = re.sub(r"\s*\n\s*", " ", str(message))
        printable = text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8", "replace")
        super().__init__(printable)

    def reworded(self, message: str) -> "PartitaError":
        """Return the same error with another message."""
        return type(self)(message)

    def at(self, place: str) -> "PartitaError":
        """Return the same error with a place, such as the name of a file, in front of its message."""
        return self.reworded(f"{place}: {self}")


class TableError(PartitaError):
    """The table as a whole cannot be an ensemble."""


class LabelError(TableError):
    """A cell, row or column of the table cannot be read as labels or memberships."""


class CheckError(TableError):
    """The table is probably not what the user meant to give; `allow=<code>` switches the check off.

    Parameters
    ----------
    message : str
        What was found, and the ways out.
    code : str
        Name of the check, such as "id-like-column".
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code

    def reworded(self, message: str) -> "CheckError":
        """Return the same error with another message."""
        return CheckError(message, self.code)

    def __reduce__(self) -> tuple[Any, ...]:
        return CheckError, (str(self), self.code)


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
    """Base class of all warnings of Partita.

    `warnings.simplefilter("error", partita.PartitaWarning)` turns them into errors, on the command line `--strict`.
    """

    code: str = "warning"


class InputWarning(PartitaWarning):
    """The table may not be what the user meant to give."""


class WideTableWarning(InputWarning):
    """The table has more clusterings (columns) than objects (rows)."""

    code = "more-columns-than-rows"


class FeatureTableWarning(InputWarning):
    """The table looks like features of the objects, not like cluster labels."""

    code = "looks-like-features"


class EmptyColumnWarning(InputWarning):
    """A clustering has no labels."""

    code = "all-missing-column"


class ConstantColumnWarning(InputWarning):
    """A clustering has one label for all objects."""

    code = "constant-column"


class UnseenLabelWarning(PartitaWarning):
    """New objects have labels that did not occur in training."""

    code = "unseen-labels"


class LikelihoodWarning(PartitaWarning):
    """The likelihood of new objects is 0, or depends on labels that their cluster hardly ever has."""

    code = "impossible-rows"


class DuplicateNamesWarning(PartitaWarning):
    """Several observations of an AnnData object have the same name."""

    code = "duplicate-names"


class Note(str):
    """A sentence about a result, with a code that programs can test.

    Examples
    --------
    >>> note = Note("column 'a' has no labels", "all-missing-column")
    >>> note.code, note.startswith("column")
    ('all-missing-column', True)
    """

    code: str

    def __new__(cls, text: str, code: str = "") -> "Note":
        """Create a note; a text that is a note already keeps its code, other texts get the code "note"."""
        note = super().__new__(cls, text)
        note.code = code or getattr(text, "code", "note")
        return note

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # str has one argument
        return str(self), self.code

    def as_record(self) -> dict[str, str]:
        """Return code and text as a dictionary."""
        return {"code": self.code, "text": str(self)}


def note_records(notes: Iterable[str]) -> list[dict[str, str]]:
    """Return notes as dictionaries with the keys "code" and "text", for JSON."""
    return [Note(note).as_record() for note in notes]


_PACKAGE: Final = str(Path(__file__).parents[1]) + os.sep


def warn(warning: PartitaWarning) -> Note:
    """Issue a warning at the line outside Partita that called it, and return it as a note."""
    level, frame = 2, _getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)
    return Note(str(warning), warning.code)


def line_of(error: BaseException) -> str:
    """What was raised and where, in one line."""
    frames = traceback.extract_tb(error.__traceback__)
    at = f" ({frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno})" if frames else ""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}{at}"
