"""partita run: the consensus of a label file."""

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli import options, placing, streaming, truth
from partita.cli.report import check_page, source_name, typed, write_page

if TYPE_CHECKING:
    from partita.core.consensus import Consensus
    from partita.core.ensemble import Ensemble
    from partita.core.soft import SoftEnsemble


def run(
    labels: options.LabelFile,
    id_column: options.IdColumn = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    missing: options.Missing = None,
    weight: options.Weights = None,
    transpose: options.Transpose = None,
    header: options.Header = None,
    allow: options.Allow = None,
    max_input_gb: options.MaxInput = None,
    strict: options.Strict = False,
    input_format: options.InputFormat = None,
    harden: options.Harden = False,
    k: options.NumberOfClusters = None,
    method: options.MethodName = "auto",
    setting: options.Settings = None,
    seed: options.Seed = 0,
    compress: Annotated[
        bool,
        typer.Option(
            "--compress/--no-compress",
            help="Fit the unique rows with their multiplicities / one row per object.",
            rich_help_panel=options.METHOD,
        ),
    ] = True,
    polish: Annotated[
        bool,
        typer.Option(
            "--polish",
            help="After the fit, move objects between clusters as long as ANMI rises (local search).",
            rich_help_panel=options.METHOD,
        ),
    ] = False,
    output: options.Output = "-",
    output_format: options.OutputFormat = None,
    membership: Annotated[
        bool | None,
        typer.Option(
            "--membership/--no-membership",
            help="Write / omit the membership probabilities, if the method computes them. Default: write; with "
            "--stream: omit.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    number_by_size: Annotated[
        bool,
        typer.Option(
            "--number-by-size",
            help="Number the clusters by size, the largest first. Default: by first appearance.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = False,
    key_added: placing.KeyAdded = None,
    overwrite: placing.Overwrite = False,
    report: Annotated[
        str | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Also write an HTML report of this result (.html); it fits a few other methods for comparison.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Also write a plot of the clusters and the base clusterings (.png, .svg or .pdf).",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    save_model: Annotated[
        str | None,
        typer.Option(
            "--save-model",
            metavar="FILE",
            help="Also write the fitted model (.npz), for `partita predict`.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    save_draws: Annotated[
        str | None,
        typer.Option(
            "--save-draws",
            metavar="FILE",
            help="Also write the posterior samples of a Gibbs sampler (.csv, .tsv, .parquet or .npy), for "
            "`partita summarise`.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    truth_file: truth.TruthFile = None,
    truth_column: truth.TruthColumn = None,
    truth_id: truth.TruthId = None,
    stream: streaming.Stream = False,
    fit: streaming.Fit = None,
    most_rows: streaming.MostRows = None,
    sample: streaming.Sample = None,
    engine: streaming.EngineName = None,
    scheduler: streaming.Scheduler = None,
    workers: streaming.Workers = None,
    threads: options.Threads = None,
) -> None:
    """Compute the consensus of the clusterings in a label table.

    The labels are written to --output (default: stdout), a summary is printed to stderr. With --json, the result is
    printed to stdout as JSON; if --output is a file, the summary is.

    Example: partita run labels.csv --id customer --k 4 --output consensus.csv --report report.html

    A table larger than memory is read in blocks: LABELS is then a folder or a pattern of Parquet or NPY files
    ("labels/*.parquet"), or one such file with --stream, and --output a file, or a folder with one Parquet file per
    block. To resume an interrupted run, enter the same command again.
    """
    from partita import io
    from partita.api import consensus
    from partita.cli.warming import compile_beside
    from partita.core.interrupts import finishing
    from partita.io.result_table import check_id_name

    numbers = options.k_values(k)
    wanted = options.read_options(
        id_column, columns, exclude, missing, weight, transpose, header, input_format, allow, max_input_gb
    )
    words = streaming.Words(stream, fit, most_rows, sample, engine, scheduler, workers)
    if words.apply(labels):
        streaming.refuse(
            labels,
            words,
            transpose=transpose is True,
            header=header is not None,
            harden=harden,
            no_compress=not compress,
            format=output_format is not None,
            save_draws=save_draws is not None,
            key_added=key_added is not None,
            overwrite=overwrite,
            number_by_size=number_by_size,
            report=report is not None,
            plot=plot is not None,
            truth=truth_file is not None,
            max_input_gb=max_input_gb is not None,
        )
        task = (labels, output, method, numbers, setting, seed, polish, membership, save_model, wanted)
        streaming.run(streaming.Task(*task), words, threads, as_json, quiet)
        return
    kind = "json" if as_json and output == "-" else output_format
    if not output.endswith(".h5ad"):
        check_id_name(id_column)
    place = placing.Place.of(labels, output, kind, input_format, key_added, overwrite)
    if save_model is not None:
        options.check_model(save_model, labels)
    if save_draws is not None:
        options.check_draws(save_draws, labels, method)
    if report is not None:
        check_page(report, labels, "--report")
    if plot is not None:
        placing.check_picture(plot, labels)
    files = {"output": output, "save_model": save_model, "save_draws": save_draws, "report": report, "plot": plot}
    options.check_distinct(**files)
    truth.check_used("--truth", truth_file, truth_column, truth_id)
    for name, path in files.items() if truth_file is not None else ():
        options.check_apart(str(truth_file), path or "-", "known classes", f"--{name.replace('_', '-')}")
    compile_beside(method, polish)
    with options.working(threads, quiet):
        ensemble = options.hardened(io.read(labels, wanted), harden)
        place.check_table(len(ensemble), ensemble.names)
        if save_model is not None:
            io.check_labels(ensemble)
        classes = None
        if truth_file is not None:
            names = (truth_column, truth_id or id_column)
            classes = truth.read_classes(
                truth_file, *names, missing, ensemble.ids, len(ensemble), labels, quiet, max_input_gb
            )
        params = options.settings(setting)
        result = consensus(
            ensemble, method, numbers, seed=seed, threads=threads, compress=compress, polish=polish, **params
        )
        result = result.number_by_size() if number_by_size else result
        if classes is not None:
            result = truth.scored(result, classes, missing)
    with finishing():
        place.write(result, ensemble, membership is not False)
        if save_model is not None:
            io.save_model(result, save_model)
        if save_draws is not None and result.draws is not None:
            io.write_draws(result.draws, save_draws, ensemble.ids)
    print_summary(result, ensemble, to_file=output != "-", as_json=as_json, quiet=quiet)
    if plot is not None:
        placing.draw(plot, result, ensemble)
    if result.detail.get("interrupted"):
        raise typer.Exit(options.INTERRUPTED)
    if report is not None:
        from partita.reporting import ReportOptions, make_report

        with options.working(threads, quiet):
            extra = ReportOptions(
                truth=classes, seed=seed, params=params, threads=threads, source=source_name(labels),
                id_name=ensemble.id_name, command=typed(),
            )  # fmt: skip
            write_page(make_report(ensemble, numbers, method, extra, result), typed(), report)
    for path in () if quiet else filter(None, (plot, report)):
        typer.echo(f"wrote {path}", err=True)


def print_summary(
    result: "Consensus", ensemble: "Ensemble | SoftEnsemble", *, to_file: bool, as_json: bool, quiet: bool
) -> None:
    """Print the summary: as text to stderr, and as JSON to stdout if the labels went to a file."""
    from partita.cli.show import show
    from partita.core.consensus import headline
    from partita.report.summary import candidates_table, clusterings_table, clusters_table, summary, told
    from partita.report.tables import as_json as to_json

    if as_json and to_file:
        typer.echo(to_json(summary(result)))
    if quiet:
        return
    typer.echo(f"{ensemble!r}", err=True)
    typer.echo("\n".join(headline(result)) + "\n", err=True)
    show(clusters_table(result), err=True)
    typer.echo("", err=True)
    show(clusterings_table(result), err=True)
    tried = candidates_table(result)
    if tried is not None:
        typer.echo("", err=True)
        show(tried, err=True)
    compared = truth.table(result)
    if compared is not None:
        typer.echo("", err=True)
        show(compared, err=True)
    apart = [name for name, size in zip(ensemble.names, ensemble.sizes, strict=True) if size == len(ensemble) > 1]
    if apart:
        which = repr(apart[0]) if len(apart) == 1 else f"{apart[0]!r} and {len(apart) - 1} more columns"
        text = f"{which}: a different label for each object; if a column holds ids, give --id {shlex.quote(apart[0])}"
        typer.echo(f"note: {text}", err=True)
    for line in told(result):
        typer.echo(line, err=True)
    for note in result.notes:
        if note not in ensemble.notes:  # those were printed as warnings
            typer.echo(f"note: {note}", err=True)
