"""partita federate example: all that a first trial needs."""

from pathlib import Path
from typing import Annotated

import typer

from partita.core.errors import ParameterError


def example(
    folder: Annotated[Path, typer.Argument(help="New folder for the files.")] = Path("hospitals"),
    layout: Annotated[
        str, typer.Option("--layout", help="What each hospital has: columns (clusterings) or rows (patients).")
    ] = "columns",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port of the coordinator.")] = 8443,
) -> None:
    """Write an example with three fictitious hospitals: label tables, configurations and certificates.

    Run each of the printed commands in its own terminal. Every hospital then has the clusters of its patients.
    """
    from partita.federated.example import WHAT, write_example

    if layout not in WHAT:
        raise ParameterError(f"--layout {layout}: expected columns or rows")
    found = write_example(folder, layout, port)  # type: ignore[arg-type]  # checked above
    typer.echo(f"wrote {len(found.files)} files to {folder}: {WHAT[layout]}", err=True)
    for command in found.commands:
        typer.echo(command)
