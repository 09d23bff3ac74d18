"""Known classes in a file: the options, the join with the objects, and the measures of a result."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from partita.cli import options
from partita.core.consensus import Consensus
from partita.core.errors import ParameterError
from partita.core.types import FrozenDict

if TYPE_CHECKING:
    from partita.report.tables import TextTable

TruthFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--truth",
        metavar="FILE",
        help="Label file with the known classes, to compare the result with.",
        rich_help_panel=options.EVALUATION,
    ),
]
TruthColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--truth-column",
        metavar="NAME",
        help="Column with the classes in --truth. Default: the only column besides the ids.",
        rich_help_panel=options.EVALUATION,
    ),
]
TruthId: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--truth-id",
        metavar="NAME",
        help="Column with the object ids in --truth. Default: the name given by --id.",
        rich_help_panel=options.EVALUATION,
    ),
]


def check_used(option: str, path: str | None, column: Any, id_name: str | None) -> None:
    """Refuse the names of columns of a file that is not given."""
    if path is None and (column or id_name):
        raise ParameterError(f"columns are named for {option}, but no file; give it by {option} FILE")


def read_classes(
    truth: str,
    column: str | None,
    id_name: str | None,
    missing: Any,
    ids: Any,
    n: int,
    other: str,
    quiet: bool = False,
    max_input_gb: float | None = None,
) -> Any:
    """Return the known class of each of the `n` objects with these ids (or None); None or -1 if it is unknown.

    A note on stderr reports that only one of the file and `other` has ids, so that rows are matched by position.
    """
    from partita import io

    known = io.read_labels(
        truth, column, ids=id_name, missing=options.missing_values(missing), max_input_gb=max_input_gb
    )
    if not quiet:
        note_one_sided(truth, known.ids is not None, other, ids is not None, "--truth-id")
    return io.match(known, ids, n, partial=True)


def note_one_sided(file: str, has_ids: bool, other: str, other_has_ids: bool, option: str) -> None:
    """Print a note if two files are compared row by row although one of them has ids."""
    if has_ids == other_has_ids:
        return
    with_ids, without = (file, other) if has_ids else (other, file)
    way_out = option if without == file else "--id"
    typer.echo(
        f"note: {with_ids} names its objects and {without} does not, so they are compared row by row; "
        f"{way_out} says which column names them",
        err=True,
    )


def unknown_class(missing: Any) -> Any:
    """Return the value that means an unknown class, as `partita.evaluate` takes it."""
    return () if options.missing_values(missing) == () else -1


def scored(result: Consensus, classes: Any, missing: Any) -> Consensus:
    """Return the result with its measures against the known classes in `scores`, as "truth_ari" and so on."""
    from partita.api import evaluate
    from partita.metrics import MEASURES

    scores = evaluate(result.labels, truth=classes, missing=unknown_class(missing))
    against = {f"truth_{name}": float(scores[name]) for name in ("compared", *MEASURES)}
    return replace(result, scores=FrozenDict({**result.scores, **against}))


def table(result: Consensus) -> "TextTable | None":
    """Return one row per measure of `scored`; None for a result that was not compared."""
    from partita.metrics import MEASURES
    from partita.report.tables import TextTable

    if "truth_compared" not in result.scores:
        return None
    rows: list[tuple[str, float, str]] = [
        ("compared", int(result.scores["truth_compared"]), "objects with a label and a known class")
    ]
    rows += [(name, result.scores[f"truth_{name}"], measure.summary) for name, measure in MEASURES.items()]
    return TextTable("Agreement with the known classes", ("measure", "value", "meaning"), tuple(rows))
