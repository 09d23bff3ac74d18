"""partita cluster: the consensus of clusterings that are generated from features."""

from dataclasses import replace
from typing import Annotated

import typer

from partita.cli import making, options, placing
from partita.cli.run import print_summary


def cluster(
    data: making.FeatureFile,
    output: options.Output = "-",
    k: options.NumberOfClusters = None,
    way: Annotated[
        str,
        typer.Option(
            "--way",
            "-w",
            metavar="NAME",
            help="Strategy that generates the base clusterings, see `partita ways`.",
            autocompletion=making.way_names,
            rich_help_panel=making.GENERATION,
        ),
    ] = "uspec",
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help="Consensus method, see `partita methods`.",
            autocompletion=options.method_names,
            rich_help_panel=options.METHOD,
        ),
    ] = "lwgp",
    members: making.Members = None,
    base: making.Base = None,
    base_k: Annotated[
        str | None,
        typer.Option(
            "--base-k",
            metavar="K",
            help="Number of clusters of each base clustering: 5, or a range 5..20. Default: k to 4 k, if k is given.",
            rich_help_panel=making.GENERATION,
        ),
    ] = None,
    setting: making.WaySettings = None,
    method_setting: Annotated[
        list[str] | None,
        typer.Option(
            "--method-set",
            metavar="NAME=VALUE",
            help="Set a parameter of the method (see `partita methods NAME`); repeatable.",
            rich_help_panel=options.METHOD,
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            "--scale",
            metavar="NAME",
            help="standard: scale each feature to mean 0 and standard deviation 1; none: unchanged. Default: standard.",
            rich_help_panel=making.GENERATION,
        ),
    ] = None,
    seed: options.Seed = 0,
    id_column: options.IdColumn = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    header: options.Header = None,
    input_format: options.InputFormat = None,
    max_input_gb: options.MaxInput = None,
    membership: options.Membership = True,
    output_format: options.OutputFormat = None,
    key_added: placing.KeyAdded = None,
    overwrite: placing.Overwrite = False,
    threads: options.Threads = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Cluster objects by their features: generate base clusterings and compute their consensus.

    The labels are written to --output (default: stdout), a summary is printed to stderr. With --json, the result is
    printed to stdout as JSON; if --output is a file, the summary is.
    """
    from partita.clustering import Clustering
    from partita.core.interrupts import finishing

    kind = "json" if as_json and output == "-" else output_format
    place = placing.Place.of(data, output, kind, input_format, key_added, overwrite, "features")
    params = making.given(setting, members=members, base=base, base_k=base_k, scale=scale)
    asked = Clustering.of(
        options.k_values(k), (way, method), params, options.pairs(method_setting, "--method-set"), seed
    )
    with options.working(threads, quiet):
        features = making.read(data, id_column, columns, exclude, header, input_format, max_input_gb)
        made, result = asked.on(features, threads)
        result = replace(result, id_name=id_column or "id")
    with finishing():
        place.write(result, made.ensemble, membership)
    print_summary(result, made.ensemble, to_file=output != "-", as_json=as_json, quiet=quiet)
    if result.detail.get("interrupted"):
        raise typer.Exit(options.INTERRUPTED)
