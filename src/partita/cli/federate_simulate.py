"""partita federate simulate: a table divided among sites in one process."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli import options

if TYPE_CHECKING:
    from partita.federated.coordinate import Plan
    from partita.federated.simulate import Simulated


def simulate(
    labels: options.LabelFile,
    rows: Annotated[int | None, typer.Option("--rows", min=1, help="Divide the objects among so many sites.")] = None,
    columns: Annotated[
        int | None, typer.Option("--columns", min=1, help="Divide the clusterings among so many sites.")
    ] = None,
    method: Annotated[str, typer.Option("--method", "-m", help="mm, bce-vb; rows also qmi, itk, nbce-vb.")] = "mm",
    k: Annotated[int | None, typer.Option("--k", "-k", help="Number of clusters.")] = None,
    setting: options.Settings = None,
    protocol: Annotated[
        str, typer.Option("--protocol", help="sums; sequential (rows) or paper (columns), which show more.")
    ] = "sums",
    transport: Annotated[
        str, typer.Option("--transport", help="masked: only sums are seen; fixed: the same unmasked; float.")
    ] = "masked",
    bits: Annotated[int, typer.Option("--bits", help="Bits of fraction in sums over columns.")] = 16,
    word: Annotated[int, typer.Option("--word", help="Bits of a number in sums over columns: 32 or 64.")] = 32,
    start: Annotated[str, typer.Option("--start", help="spectral or random.")] = "spectral",
    suppress: Annotated[float, typer.Option("--suppress", help="Rows: counts below it are sent as 0.")] = 0.0,
    rho: Annotated[float, typer.Option("--rho", help="Rows: zCDP budget of the run; 0 for no noise.")] = 0.0,
    delta: Annotated[float, typer.Option("--delta", help="Rows: at which the budget is told as epsilon.")] = 1e-6,
    randomise: Annotated[
        float | None, typer.Option("--randomise", metavar="EPSILON", help="Randomise each label at its site first.")
    ] = None,
    allow_two_sites: Annotated[
        bool, typer.Option("--allow-two-sites", help="Two sites may run, though each can tell what the other sent.")
    ] = False,
    seed: options.Seed = 0,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the labels (csv, tsv, parquet, json).")
    ] = None,
    id_column: options.IdColumn = None,
    exclude: options.Exclude = None,
    missing: options.Missing = None,
    weight: options.Weights = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Divide a table among sites in one process: the same functions and bytes as between machines.

    Tells the clusters found, who would have seen what, the bytes of each kind of message, and whether the labels are
    those of the undivided table.
    """
    from partita import io
    from partita.federated.coordinate import Plan
    from partita.federated.simulate import simulate as run

    if output is not None:
        io.check_writable(output)
        options.check_apart(labels, output)
    wanted = options.read_options(id_column, None, exclude, missing, weight, None, None, None)
    given = (options.settings(setting), protocol, transport, bits, word, seed, start)
    layout = "rows" if columns is None else "columns"
    rest = ("common", allow_two_sites, suppress, rho, delta)
    plan = Plan((), layout, method, k, *given, *rest)  # type: ignore[arg-type]  # words that check_plan looks at
    with options.working(threads, quiet):
        ensemble = io.read(labels, wanted)
        found = run(ensemble, plan, rows=rows, columns=columns, randomise=randomise)
        equal = _equal(ensemble, plan, found)
    if output is not None:
        io.write(found.consensus, output, id_name=id_column or "id")
    _report(found, equal, as_json, quiet)


def _equal(ensemble: Any, plan: "Plan", found: "Simulated") -> int:
    """How many objects are where the same fit puts them in one place, clusters matched one to one."""
    import numpy as np

    from partita.federated.simulate import simulate as run
    from partita.metrics import misassignment

    whole = {plan.layout: 1}
    alone = replace(plan, transport="float", protocol="sums", suppress=0.0, rho=0.0, allow_two_sites=True)
    central = run(ensemble, alone, **whole).consensus  # type: ignore[arg-type]  # rows or columns, by name
    known = np.flatnonzero((central.labels >= 0) & (found.consensus.labels >= 0))
    wrong = misassignment(central.labels[known], found.consensus.labels[known]) if len(known) else 0.0
    return round((1 - wrong) * len(known)) + int((central.labels == found.consensus.labels)[central.labels < 0].sum())


def _report(found: "Simulated", equal: int, as_json: bool, quiet: bool) -> None:
    """Clusters, bytes, what was seen by whom."""
    from partita.cli.show import show
    from partita.report.summary import clusters_table, summary
    from partita.report.tables import TextTable
    from partita.report.tables import as_json as to_json

    result, objects = found.consensus, len(found.consensus)
    lines = found.ledger.lines()
    if as_json:
        traffic = [line._asdict() for line in lines]
        typer.echo(to_json({**summary(result), "traffic": traffic, "equal to one place": equal}))
        return
    if quiet:
        return
    sites = len(found.outcome.terms.sites)
    each = tuple(
        (step.step, step.messages, step.to_sites, step.from_sites, step.from_sites / max(step.messages / 2, 1))
        for step in lines
    )
    typer.echo(f"{result!r}, {sites} sites, {found.outcome.rounds} exchanges\n")
    show(clusters_table(result))
    typer.echo("")
    columns = ("step", "messages", "bytes to sites", "bytes from sites", "bytes a share")
    show(TextTable("Traffic", columns, each))
    typer.echo(f"\nlabels as in one place: {equal} of {objects}")
    for note in result.notes:
        typer.echo(f"note: {note}")
