"""Where a result goes: a table of its own, or, as .h5ad, a copy of the file its labels came from."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from partita.cli import options
from partita.core.errors import ParameterError

if TYPE_CHECKING:
    from partita.core.consensus import Consensus
    from partita.io import Annotating

KeyAdded: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--key-added",
        metavar="NAME",
        help="Name of the result in an .h5ad output. Default: consensus.",
        rich_help_panel=options.OUTPUT,
    ),
]
Overwrite: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Replace an earlier result of the same name in an .h5ad output.",
        rich_help_panel=options.OUTPUT,
    ),
]


@dataclass(frozen=True, slots=True)
class Place:
    """A place for the result, checked before the work."""

    output: str
    kind: str | None
    annotating: "Annotating | None"

    @classmethod
    def of(
        cls,
        source: str,
        output: str,
        kind: str | None,
        input_format: str | None,
        key_added: str | None,
        overwrite: bool,
        what: str = "label table",
    ) -> "Place":
        """The place that --output, --format, --key-added and --overwrite name; what cannot be written raises."""
        from partita import io

        if _is_anndata(output, kind):
            copying = io.Annotating.of(source, output, key_added or "consensus", overwrite, input_format)
            return cls(output, kind, copying)
        for option, given in (("--key-added", key_added is not None), ("--overwrite", overwrite)):
            if given:
                raise ParameterError(f"{option} is for an .h5ad alone, and --output {output} is none; leave it out")
        io.check_writable(output, kind)
        options.check_apart(source, output, what)
        return cls(output, kind, None)

    def check_table(self, objects: int, names: Iterable[str]) -> None:
        """Refuse a table of other objects than those of the file that is copied, and a result in place of its input."""
        if self.annotating is not None:
            self.annotating.check_table(objects, names)

    def write(self, result: "Consensus", ensemble: Any, membership: bool) -> None:
        """The result, whole or not at all."""
        from partita import io

        if self.annotating is None:
            return io.write(result, self.output, format=self.kind, membership=membership)
        from partita.anndata import described

        return self.annotating.write(described(result, self.annotating.key, ensemble, membership))


def check_picture(path: str, labels: str) -> None:
    """Refuse, before the work, a picture that could not be written."""
    from partita import io
    from partita.report.plots import check_drawing, file_kind

    file_kind(path)
    check_drawing()
    io.check_writable(path, "csv")
    options.check_apart(labels, path, option="--plot")


def draw(path: "str | Path", result: "Consensus", ensemble: Any, title: str = "") -> None:
    """Write the picture of a consensus: PNG, SVG or PDF by the file extension."""
    from partita.report import ConsensusDisplay

    ConsensusDisplay.from_consensus(ensemble, result, title).save(path)


def _is_anndata(output: str, kind: str | None) -> bool:
    from partita.io import format_of
    from partita.io.source import naming

    if Path(output).is_dir():  # what comes next says so
        return False
    with naming(output, "standard output"):
        return format_of(output, kind) == "h5ad"
