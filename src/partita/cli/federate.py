"""partita federate: several organisations cluster together without showing each other their labels."""

import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from partita.cli import options
from partita.cli.federate_example import example
from partita.cli.federate_simulate import simulate

if TYPE_CHECKING:
    from partita.federated.desk import Hooks, News

app = typer.Typer(
    name="federate",
    help="Cluster together without showing labels: each site keeps its rows or columns and sends sums alone.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.command("simulate")(simulate)
app.command("example")(example)

Config: TypeAlias = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="A TOML file with all that the options say.")
]
Layout: TypeAlias = Annotated[
    str | None, typer.Option("--layout", help="What a site holds: rows (objects) or columns (clusterings).")
]
Patience: TypeAlias = Annotated[
    float | None, typer.Option("--patience", metavar="SECONDS", help="How long to wait for the other side [300].")
]
TwoSites: TypeAlias = Annotated[
    bool | None,
    typer.Option("--allow-two-sites", help="Two sites may run, though each can then tell what the other sent."),
]
Authority: TypeAlias = Annotated[
    str | None, typer.Option("--authority", metavar="PEM", help="Certificate of the authority behind all others.")
]
Certificate: TypeAlias = Annotated[str | None, typer.Option("--certificate", metavar="PEM", help="One's own.")]
Key: TypeAlias = Annotated[str | None, typer.Option("--key", metavar="PEM", help="The key of one's certificate.")]


@app.command("coordinator")
def coordinator(
    config: Config = None,
    listen: Annotated[
        str | None, typer.Option("--listen", metavar="HOST:PORT", help="Where sites find it [0.0.0.0:8443].")
    ] = None,
    site: Annotated[list[str] | None, typer.Option("--site", metavar="NAME", help="A site; repeatable.")] = None,
    layout: Layout = None,
    method: Annotated[
        str | None, typer.Option("--method", "-m", help="mm, bce-vb; rows also qmi, itk, nbce-vb.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", "-k", help="Number of clusters.")] = None,
    setting: options.Settings = None,
    protocol: Annotated[str | None, typer.Option("--protocol", help="sums, sequential or paper.")] = None,
    transport: Annotated[str | None, typer.Option("--transport", help="masked, fixed or float.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Fixes every random choice [0].")] = None,
    folder: Annotated[
        str | None, typer.Option("--folder", help="Where finished rounds are kept; the same folder goes on.")
    ] = None,
    patience: Patience = None,
    allow_two_sites: TwoSites = None,
    authority: Authority = None,
    certificate: Certificate = None,
    key: Key = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Coordinate a run: wait for the sites, add up what they send, and keep every finished round.

    Sites connect to it, with mutual TLS. Started again with the same folder, it goes on where it stopped. It never
    sees labels; what else it sees is told at the end and in docs/federated.md.
    """
    from partita.federated.config import read_coordinator

    given = {
        "listen": listen,
        "sites": tuple(site) if site else None,
        "layout": layout,
        "method": method,
        "k": k,
        "settings": options.settings(setting) or None,
        "protocol": protocol,
        "transport": transport,
        "seed": seed,
        "folder": folder,
        "patience": patience,
        "allow_two_sites": allow_two_sites,
        "tls": _tls(authority, certificate, key),
    }
    found = read_coordinator(config, given)
    watch = Watch(quiet)
    with _quiet_grpc(), options.working(threads, True), keeping(f"finished rounds are kept in {found.folder}"):
        from partita.federated.grpc_server import serve

        outcome = serve(found, watch.hooks)
    watch.tell_all(as_json, {"run": outcome.terms.run, "exchanges": outcome.rounds, "converged": outcome.converged})
    for note in () if quiet else outcome.notes:
        typer.echo(f"note: {note}", err=True)


@app.command("site")
def site(
    config: Config = None,
    name: Annotated[str | None, typer.Option("--site", metavar="NAME", help="What this site is called.")] = None,
    coordinator: Annotated[
        str | None, typer.Option("--coordinator", metavar="HOST:PORT", help="Where the coordinator listens.")
    ] = None,
    layout: Layout = None,
    labels: Annotated[str | None, typer.Option("--labels", metavar="FILE", help="This site's label table.")] = None,
    id_column: options.IdColumn = None,
    missing: options.Missing = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="Output file (csv, tsv, parquet, json; partita: with the model); - is stdout."
        ),
    ] = None,
    state: Annotated[
        str | None, typer.Option("--state", metavar="FOLDER", help="What it remembers of a run, secrets among it.")
    ] = None,
    randomise: Annotated[
        float | None, typer.Option("--randomise", metavar="EPSILON", help="Randomise each label before anything else.")
    ] = None,
    patience: Patience = None,
    allow_two_sites: TwoSites = None,
    authority: Authority = None,
    certificate: Certificate = None,
    key: Key = None,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
) -> None:
    """Take part in a run: answer what the coordinator asks, and write the result for this site's objects.

    Only sums leave the site, under the terms that [require] in its configuration accepts. Started again after
    whatever happened, it goes on where it stood.
    """
    from partita.federated.config import read_site
    from partita.federated.partaking import check_output

    if output is not None and output != "-":
        check_output(output)
    given = {
        "site": name,
        "coordinator": coordinator,
        "layout": layout,
        "labels": labels,
        "ids": id_column,
        "missing": options.missing_values(missing),
        "output": None if output == "-" else output,
        "state": state,
        "randomise": randomise,
        "patience": patience,
        "allow_two_sites": allow_two_sites,
        "tls": _tls(authority, certificate, key),
    }
    found = read_site(config, given)
    watch = Watch(quiet)
    with _quiet_grpc(), options.working(threads, True), keeping(f"its state is kept in {found.state}"):
        from partita.federated.grpc_site import take_part
        from partita.federated.partaking import write_result

        result = take_part(found, watch.hooks)
    watch.tell_all(False, {})
    if found.output is None or output == "-":
        write_result(result, "", "-", found.ids)


@app.command("certs")
def certs(
    sites: Annotated[list[str], typer.Argument(metavar="SITE...", help="What the sites are called.")],
    folder: Annotated[Path, typer.Option("--folder", "-o", help="Where the files go.")] = Path("certs"),
    host: Annotated[
        list[str] | None,
        typer.Option("--host", metavar="NAME", help="Host name or address of the coordinator; repeatable."),
    ] = None,
    days: Annotated[int, typer.Option("--days", help="For how long they are valid.")] = 30,
) -> None:
    """Make certificates for a trial: an authority, the coordinator and every site.

    Give each party its own two files and ca.pem. Where data matter, let an authority that no party controls sign.
    """
    from partita.federated.certs import make_certificates

    for made in make_certificates(folder, sites, tuple(host or ()), days):
        typer.echo(f"{made.path}  for {made.holder}{' (secret)' if made.secret else ''}")


class Watch:
    """Tells on stderr what happens: a line a second at most, and a summary."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.rounds: list[News] = []
        self.last = 0.0

    @property
    def hooks(self) -> "Hooks":
        """For the library."""
        from partita.federated.desk import Hooks

        return Hooks(self.note, self.news)

    def note(self, line: str) -> None:
        """Something that happened."""
        if not self.quiet or line.startswith("refused"):
            typer.echo(line, err=True)

    def news(self, news: "News") -> None:
        """A finished round."""
        self.rounds.append(news)
        if not self.quiet and time.monotonic() - self.last >= 1.0:
            self.last = time.monotonic()
            typer.echo(
                f"round {news.round} ({news.step}): {1000 * news.seconds:.1f} ms, "
                f"{news.sent} bytes sent, {news.received} received",
                err=True,
            )

    def tell_all(self, as_json: bool, more: dict[str, Any]) -> None:
        """The run as a whole."""
        from partita.report.tables import as_json as to_json

        seconds = [news.seconds for news in self.rounds]
        said = {
            **more,
            "rounds": len(seconds),
            "median seconds a round": statistics.median(seconds) if seconds else None,
            "bytes sent": sum(news.sent for news in self.rounds),
            "bytes received": sum(news.received for news in self.rounds),
        }
        if as_json:
            typer.echo(to_json(said))
        if not self.quiet and seconds:
            typer.echo(
                f"{len(seconds)} rounds, median {1000 * statistics.median(seconds):.1f} ms, "
                f"{said['bytes sent']} bytes sent, {said['bytes received']} received",
                err=True,
            )


@contextmanager
def keeping(what: str) -> Iterator[None]:
    """Say after Ctrl-C what is kept and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"{what}; the same command goes on", err=True)
        raise typer.Exit(options.INTERRUPTED) from None


@contextmanager
def _quiet_grpc() -> Iterator[None]:
    """Keep gRPC's own log off stderr; what matters of it comes as an error."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    yield


def _tls(authority: str | None, certificate: str | None, key: str | None) -> dict[str, str] | None:
    given = {"authority": authority, "certificate": certificate, "key": key}
    return {name: value for name, value in given.items() if value is not None} or None
