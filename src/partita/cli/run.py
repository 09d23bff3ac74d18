"""partita run: a label file in, a consensus out."""

from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli import options, placing, streaming

if TYPE_CHECKING:
    from partita.core.consensus import Consensus
    from partita.core.ensemble import Ensemble
    from partita.core.soft import SoftEnsemble


def run(
    labels: options.LabelFile,
    output: options.Output = "-",
    method: options.MethodName = "auto",
    k: options.NumberOfClusters = None,
    setting: options.Settings = None,
    seed: options.Seed = 0,
    id_column: options.IdColumn = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    missing: options.Missing = None,
    weight: options.Weights = None,
    transpose: options.Transpose = None,
    header: options.Header = None,
    input_format: options.InputFormat = None,
    harden: options.Harden = False,
    compress: Annotated[
        bool, typer.Option("--compress/--no-compress", help="Work on distinct rows / on one row an object.")
    ] = True,
    polish: Annotated[
        bool, typer.Option("--polish", help="Then move objects between clusters while ANMI rises.")
    ] = False,
    membership: Annotated[
        bool | None,
        typer.Option(
            "--membership/--no-membership",
            help="Write the membership columns / leave them out; in blocks they are written when asked for.",
        ),
    ] = None,
    output_format: options.OutputFormat = None,
    key_added: placing.KeyAdded = None,
    overwrite: placing.Overwrite = False,
    save_model: Annotated[
        str | None,
        typer.Option("--save-model", metavar="FILE", help="Keep the fitted model (.npz) for `partita predict`."),
    ] = None,
    save_draws: Annotated[
        str | None,
        typer.Option(
            "--save-draws", metavar="FILE", help="Keep a sampler's draws (csv, tsv, parquet, npy) for `summarise`."
        ),
    ] = None,
    stream: streaming.Stream = False,
    fit: streaming.Fit = None,
    most_rows: streaming.MostRows = None,
    sample: streaming.Sample = None,
    engine: streaming.EngineName = None,
    scheduler: streaming.Scheduler = None,
    workers: streaming.Workers = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the consensus of the clusterings in a label file.

    The labels go to stdout or to --output; a summary goes to stderr. With --json, the result goes to stdout as JSON,
    or, where --output names a file, the summary does. An .h5ad is a copy of the one with the labels, with the result
    in obs, obsm and uns.

    LABELS may also be a folder or a pattern of Parquet or NPY files ("labels/*.parquet"). These, and one file with
    --stream, are read in blocks and need no more memory than --most-rows says; --output is then a file or a folder for
    one Parquet file a block, and a run that was stopped goes on when it is called again.
    """
    from partita import io
    from partita.api import consensus
    from partita.cli.warming import compile_beside
    from partita.core.interrupts import finishing

    numbers = options.k_values(k)
    wanted = options.read_options(id_column, columns, exclude, missing, weight, transpose, header, input_format)
    words = streaming.Words(stream, fit, most_rows, sample, engine, scheduler, workers)
    if words.apply(labels):
        streaming.refuse(
            transpose=transpose is not None,
            header=header is not None,
            harden=harden,
            no_compress=not compress,
            format=output_format is not None,
            save_draws=save_draws is not None,
            key_added=key_added is not None,
            overwrite=overwrite,
        )
        task = (labels, output, method, numbers, setting, seed, polish, membership, save_model, wanted)
        streaming.run(streaming.Task(*task), words, threads, as_json, quiet)
        return
    kind = "json" if as_json and output == "-" else output_format
    place = placing.Place.of(labels, output, kind, input_format, key_added, overwrite)
    if save_model is not None:
        options.check_model(save_model, labels, output)
    if save_draws is not None:
        options.check_draws(save_draws, labels, (output, save_model), method)
    compile_beside(method, polish)
    with options.working(threads, quiet):
        ensemble = options.hardened(io.read(labels, wanted), harden)
        place.check_table(len(ensemble), ensemble.names)
        if save_model is not None:
            io.check_labels(ensemble)
        params = options.settings(setting)
        result = consensus(
            ensemble, method, numbers, seed=seed, threads=threads, compress=compress, polish=polish, **params
        )
    with finishing():
        place.write(result, ensemble, membership is not False, id_column)
        if save_model is not None:
            io.save_model(result, save_model)
        if save_draws is not None and result.draws is not None:
            io.write_draws(result.draws, save_draws, ensemble.ids)
    report(result, ensemble, to_file=output != "-", as_json=as_json, quiet=quiet)
    if result.detail.get("interrupted"):
        raise typer.Exit(options.INTERRUPTED)


def report(
    result: "Consensus", ensemble: "Ensemble | SoftEnsemble", *, to_file: bool, as_json: bool, quiet: bool
) -> None:
    """The summary: for people on stderr, as JSON on stdout where the labels went to a file."""
    from partita.cli.show import show
    from partita.report.summary import candidates_table, clusterings_table, clusters_table, summary, told
    from partita.report.tables import as_json as to_json

    if as_json and to_file:
        typer.echo(to_json(summary(result)))
    if quiet:
        return
    typer.echo(f"{ensemble!r}", err=True)
    typer.echo(f"{result!r}\n", err=True)
    show(clusters_table(result), err=True)
    typer.echo("", err=True)
    show(clusterings_table(result, ensemble), err=True)
    tried = candidates_table(result)
    if tried is not None:
        typer.echo("", err=True)
        show(tried, err=True)
    for name, size in zip(ensemble.names, ensemble.sizes, strict=True):
        if size == len(ensemble) > 1:
            typer.echo(
                f"note: {name!r} gives every object a label of its own; if these are ids, say --id {name}", err=True
            )
    for line in told(result):
        typer.echo(line, err=True)
    for note in result.notes:
        typer.echo(f"note: {note}", err=True)
