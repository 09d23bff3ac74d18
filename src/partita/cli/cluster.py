"""partita cluster: features in, clusters out."""

from typing import Annotated

import typer

from partita.cli import making, options, placing
from partita.cli.run import report


def cluster(
    data: making.FeatureFile,
    output: options.Output = "-",
    k: options.NumberOfClusters = None,
    way: Annotated[
        str, typer.Option("--way", "-w", help="A name from `partita ways`.", autocompletion=making.way_names)
    ] = "uspec",
    method: Annotated[
        str,
        typer.Option("--method", "-m", help="A name from `partita methods`.", autocompletion=options.method_names),
    ] = "lwgp",
    members: making.Members = None,
    base: making.Base = None,
    base_k: Annotated[
        str | None, typer.Option("--base-k", metavar="K", help="Clusters of each member: 5, or a range 5..20.")
    ] = None,
    setting: making.WaySettings = None,
    method_setting: Annotated[
        list[str] | None,
        typer.Option("--method-set", metavar="NAME=VALUE", help="A setting of the method; repeatable."),
    ] = None,
    scale: Annotated[
        str | None, typer.Option("--scale", help="standard (the default): each feature counts alike; none.")
    ] = None,
    seed: options.Seed = 0,
    id_column: options.IdColumn = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    header: options.Header = None,
    input_format: options.InputFormat = None,
    membership: options.Membership = True,
    output_format: options.OutputFormat = None,
    key_added: placing.KeyAdded = None,
    overwrite: placing.Overwrite = False,
    threads: options.Threads = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Cluster objects by their features: make an ensemble of base clusterings and find its consensus.

    The labels go to stdout or to --output; a summary goes to stderr. With --json, the result goes to stdout as JSON,
    or, where --output names a file, the summary does. An .h5ad is a copy of the one with the features.
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
        features = making.read(data, id_column, columns, exclude, header, input_format)
        made, result = asked.on(features, threads)
    with finishing():
        place.write(result, made.ensemble, membership, id_column)
    report(result, made.ensemble, to_file=output != "-", as_json=as_json, quiet=quiet)
    if result.detail.get("interrupted"):
        raise typer.Exit(options.INTERRUPTED)
