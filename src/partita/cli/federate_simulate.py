"""partita federate simulate: a table divided among sites in one process."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli import options
from partita.core.errors import ParameterError, PartitaError

if TYPE_CHECKING:
    from partita.federated.coordinate import Plan
    from partita.federated.simulate import Simulated


def simulate(
    labels: options.LabelFile,
    sites: Annotated[int, typer.Option("--sites", min=1, help="Number of sites.")] = 3,
    layout: Annotated[
        str,
        typer.Option("--layout", help="What the sites share out: rows (objects) or columns (clusterings)."),
    ] = "rows",
    method: Annotated[
        str, typer.Option("--method", "-m", help="mm or bce-vb; with --layout rows also qmi, itk or nbce-vb.")
    ] = "mm",
    k: Annotated[int | None, typer.Option("--k", "-k", help="Number of clusters.")] = None,
    setting: options.Settings = None,
    protocol: Annotated[
        str,
        typer.Option(
            "--protocol", help="sums; or sequential (rows) or paper (columns), which reveal more to other parties."
        ),
    ] = "sums",
    transport: Annotated[
        str,
        typer.Option("--transport", help="masked: only sums are visible; fixed: unmasked integers; float: unmasked."),
    ] = "masked",
    bits: Annotated[
        int | None,
        typer.Option("--bits", help="Bits of fraction in sums, with --layout columns; default: 30, with --word 32 16."),
    ] = None,
    word: Annotated[int, typer.Option("--word", help="Bits per number in sums, 32 or 64, with --layout columns.")] = 64,
    init: Annotated[
        str | None,
        typer.Option(
            "--init", help="Initialization: spectral (rows) or transfer-cut (columns), the default, or random."
        ),
    ] = None,
    suppress: Annotated[
        float, typer.Option("--suppress", help="Send counts below this number as 0, with --layout rows.")
    ] = 0.0,
    rho: Annotated[float, typer.Option("--rho", help="zCDP budget of the run, with --layout rows; 0: no noise.")] = 0.0,
    delta: Annotated[
        float, typer.Option("--delta", help="delta used to report the zCDP budget as (epsilon, delta).")
    ] = 1e-6,
    randomise: Annotated[
        float | None,
        typer.Option("--randomise", metavar="EPSILON", help="Randomize each label at its site, with this epsilon."),
    ] = None,
    allow_two_sites: Annotated[
        bool,
        typer.Option("--allow-two-sites", help="Allow two sites (each can then infer the sums of the other)."),
    ] = False,
    seed: options.Seed = 0,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the labels (csv, tsv, parquet, json).")
    ] = None,
    id_column: options.IdColumn = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    missing: options.Missing = None,
    weight: options.Weights = None,
    transpose: options.Transpose = None,
    header: options.Header = None,
    input_format: options.InputFormat = None,
    allow: options.Allow = None,
    max_input_gb: options.MaxInput = None,
    strict: options.Strict = False,
    threads: options.Threads = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulate a federated run in one process, with the functions and messages of a run between machines.

    The table is divided among the sites at random. The output has the clusters, what each party could see, the bytes
    of each kind of message, and the number of objects with the same label as in a fit of the whole table.
    """
    from partita import io
    from partita.federated.coordinate import Plan
    from partita.federated.simulate import simulate as run

    if output is not None:
        io.check_writable(output)
        options.check_apart(labels, output)
    wanted = options.read_options(
        id_column, columns, exclude, missing, weight, transpose, header, input_format, allow, max_input_gb
    )
    if layout not in ("rows", "columns"):
        raise ParameterError(f"--layout {layout}: expected rows or columns")
    given = (options.settings(setting), protocol, transport, bits, word, seed, init)
    rest = ("common", allow_two_sites, suppress, rho, delta)
    plan = Plan((), layout, method, k, *given, *rest)  # type: ignore[arg-type]  # words that check_plan looks at
    with _naming_options(), options.working(threads, quiet):
        ensemble = io.read(labels, wanted)
        found = run(ensemble, plan, randomise=randomise, **{layout: sites})  # type: ignore[arg-type]  # by name
        equal = _equal(ensemble, plan, found)
    if output is not None:
        io.write(found.consensus, output)
    _report(found, equal, as_json, quiet)


@contextmanager
def _naming_options() -> Iterator[None]:
    """Put the options into errors that name the parameters of a plan: --transport plain for transport='plain'."""
    from partita.federated.coordinate import Plan

    names = "|".join([*(field.name for field in fields(Plan)), "randomise"])
    try:
        yield
    except PartitaError as error:
        text = re.sub(rf"\b({names})=('?)([^\s,;']+)\2", _option, str(error))
        raise error.reworded(text) from None


def _option(found: re.Match[str]) -> str:
    return f"--{found[1].replace('_', '-')} {found[3]}"


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
