"""partita federate example: all that a first trial needs."""

from pathlib import Path
from typing import Annotated

import typer


def example(
    folder: Annotated[Path, typer.Argument(help="A new folder for the files.")] = Path("hospitals"),
    layout: Annotated[
        str, typer.Option("--layout", help="What each hospital holds: columns (clusterings) or rows (patients).")
    ] = "columns",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Where the coordinator listens.")] = 8443,
) -> None:
    """Write a trial of three made-up hospitals: label tables, configurations and certificates.

    Run the commands it prints, each in a terminal of its own; every hospital then has its patients' clusters.
    """
    from partita.core.errors import ParameterError
    from partita.federated.example import WHAT, write_example

    if layout not in WHAT:
        raise ParameterError(f"layout={layout!r} is neither; give columns or rows")
    found = write_example(folder, layout, port)  # type: ignore[arg-type]  # checked above
    typer.echo(f"wrote {len(found.files)} files to {folder}: {WHAT[layout]}", err=True)
    for command in found.commands:
        typer.echo(command)
