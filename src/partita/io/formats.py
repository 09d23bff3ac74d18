"""Which formats there are, and how to tell them by a file's name or by its first bytes."""

from pathlib import Path
from typing import Final

from partita.core.errors import FileError

STREAM: Final = "-"
"""The path that means standard input or output."""

GZIP_MAGIC: Final = b"\x1f\x8b"
HDF5_MAGIC: Final = b"\x89HDF\r\n\x1a\n"
MAGIC: Final = (
    (b"PAR1", "parquet"),
    (b"\x93NUMPY", "npy"),
    (b"PK\x03\x04", "npz"),
    (HDF5_MAGIC, "h5ad"),
    (b"MATLAB ", "mat"),
)
MAGIC_BYTES: Final = 16
"""How many first bytes are enough to tell."""

READABLE: Final = ("csv", "tsv", "parquet", "npy", "npz", "mat", "h5ad")
WRITABLE: Final = ("csv", "tsv", "parquet", "json", "h5ad")
"""A result as H5AD is a copy of the file its labels came from: `io.Annotating`."""
TEXT: Final = ("csv", "tsv")
_PACKED: Final = ("csv", "tsv", "json")


def detect_format(path_or_magic: str | Path | bytes, written: tuple[str, ...] = WRITABLE) -> str:
    """The format of a file by its suffix, or by its first bytes; bytes without a known mark are taken for CSV.

    `written` are the formats that an error names as written.

    >>> detect_format("labels.tsv.gz"), detect_format(b"PAR1")
    ('tsv', 'parquet')
    """
    if isinstance(path_or_magic, bytes):
        return next((name for magic, name in MAGIC if path_or_magic.startswith(magic)), "csv")
    name = Path(path_or_magic).name.lower()
    packed = name.endswith(".gz")
    suffix = Path(name.removesuffix(".gz")).suffix[1:]
    known = _PACKED if packed else {*READABLE, *WRITABLE}
    if suffix not in known:
        shown = Path(name.removesuffix(".gz")).suffix + (".gz" if packed else "")
        raise FileError(f"{f'the suffix {shown!r}' if shown else 'no suffix'} tells no format; {_ways_out(written)}")
    return suffix


def is_packed(path: str | Path) -> bool:
    """Whether the name says that the file is compressed."""
    return Path(path).name.lower().endswith(".gz")


def check_format(name: str, known: tuple[str, ...]) -> str:
    """A format named by the user, such as `csv` or `.CSV.gz`, as one of `known`."""
    if not isinstance(name, str):
        raise FileError(f"format={name!r:.40} is not a name; there are {', '.join(known)}")
    plain = name.lower().removeprefix(".").removesuffix(".gz")
    if plain not in known:
        raise FileError(f"format {name!r} is not known here; there are {', '.join(known)}")
    return plain


def _ways_out(written: tuple[str, ...]) -> str:
    packed = " and, to write, .json.gz" if "json" in written else ""
    return (
        f"read: {', '.join(f'.{name}' for name in READABLE)}; written: {', '.join(f'.{name}' for name in written)} "
        f"(also .csv.gz, .tsv.gz{packed}); rename the file or say format= (--input-format to read, "
        "--format to write)"
    )
