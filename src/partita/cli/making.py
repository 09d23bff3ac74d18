"""Options of the commands that read features."""

from typing import Annotated, Any, Final, TypeAlias

import typer


def way_names(incomplete: str) -> list[str]:
    """For completion: the ways to make ensembles that begin so."""
    from partita.generate.registry import WAYS

    return [name for name in WAYS if name.startswith(incomplete)]


def base_names(incomplete: str) -> list[str]:
    """For completion: the base clusterers that begin so."""
    from partita.generate.clusterers import CLUSTERERS

    return [name for name in CLUSTERERS if name.startswith(incomplete)]


GENERATION: Final = "Base clusterings"
"""A panel of the help."""

FeatureFile: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Table of features with one row per object (CSV, TSV, Parquet, NPY, NPZ, MAT, or the X of an H5AD); - is "
        "standard input.",
    ),
]
Members: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--members",
        min=1,
        help="Number of base clusterings. Default: see `partita ways NAME`.",
        rich_help_panel=GENERATION,
    ),
]
Base: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="NAME",
        help="Base clusterer, see `partita ways`. Default: see `partita ways NAME`.",
        autocompletion=base_names,
        rich_help_panel=GENERATION,
    ),
]
WaySettings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Set a parameter of the strategy or of its base clusterer (see `partita ways NAME`); repeatable.",
        rich_help_panel=GENERATION,
    ),
]


def given(setting: list[str] | None, **options: Any) -> dict[str, Any]:
    """What --set says and, where they were given, what the options of these names say."""
    from partita.cli.options import settings

    found: dict[str, Any] = dict(settings(setting, "way", *options))
    return found | {name: value for name, value in options.items() if value is not None}


def read(
    data: str,
    id_column: str | None,
    columns: Any,
    exclude: Any,
    header: Any,
    input_format: str | None,
    max_input_gb: float | None,
) -> Any:
    """The features in a file."""
    from partita.cli.options import read_options
    from partita.io import read_features

    wanted = read_options(id_column, columns, exclude, None, None, None, header, input_format, None, max_input_gb)
    return read_features(data, wanted)
