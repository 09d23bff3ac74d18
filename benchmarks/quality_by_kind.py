"""Quality of consensus methods by kind of ensemble, on the tables of `benchmarks.kinds`.

    python -m benchmarks.quality_by_kind run TABLES RESULTS.jsonl --methods auto mm lwgp [--name "{}@base"]
    python -m benchmarks.quality_by_kind run TABLES RESULTS.jsonl --rivals
    python -m benchmarks.quality_by_kind k TABLES RESULTS.jsonl --rules bic partita._default_k:choose_k
    python -m benchmarks.quality_by_kind report TABLES RESULTS.jsonl [--json FILE]

`run` fits methods at k = number of classes and appends one line per table and method: ARI and NMI with the classes,
ANMI with the base clusterings, AUROC and expected calibration error of the confidence for the event that the class of
an object is the majority class of its cluster. Our methods run in this process; to measure the code of another commit,
run with its `src` in PYTHONPATH and `--name "{}@commit"`. Rivals run in the interpreters of PARTITA_RIVALS, see
`benchmarks.rivals`; they get a missing label as one more label of its clustering. Lines of the same code are not
computed again: the code is a digest of the source of `partita`, or the name of the rival. `report` prints means by kind
for the tuning half of the data sets, for the held-out half and for both.
"""

import argparse
import hashlib
import importlib
import json
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.adapter import BY_KIND
from benchmarks.contestants import Entry, quality_entries
from benchmarks.kinds import HALVES, KINDS, Table, read
from benchmarks.records import Log, Record
from benchmarks.rivals import OFFERS, answers
from benchmarks.worker import OWN

BASE = "median base clustering"
SECONDS = 60.0
"""Seconds that a method may take per table."""
TOLERANCE = 1e-9
CHUNK = 40
"""Tables that a rival answers in one process."""
Score = Callable[[Any, Any], np.ndarray]
"""(result, ensemble) to one number per object."""


# ---------------------------------------------------------------------------------------------------- measuring


def agreement(table: Table, labels: np.ndarray) -> Record:
    """Return ARI and NMI with the classes over the objects with a label."""
    from partita.metrics import ari, nmi

    known = labels >= 0
    truth = table.truth[known]
    return {"ari": float(ari(truth, labels[known])), "nmi": float(nmi(truth, labels[known]))}


def base_record(table: Table) -> Record:
    """Return the median ARI and NMI of the base clusterings."""
    scores = [agreement(table, column) for column in table.labels.T]
    return {measure: float(np.median([score[measure] for score in scores])) for measure in ("ari", "nmi")}


def is_majority(labels: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return True for objects whose class is the most frequent one of their cluster."""
    counts = np.zeros((labels.max() + 1, truth.max() + 1), int)
    np.add.at(counts, (labels, truth), 1)
    return truth == counts.argmax(1)[labels]


def score_quality(score: np.ndarray, event: np.ndarray, bins: int = 10) -> tuple[float, float]:
    """Return the AUROC and the expected calibration error (bins of equal width) of a score for an event.

    Objects with score NaN are excluded; the AUROC is NaN if the event is the same for all others.
    """
    from sklearn.metrics import roc_auc_score

    known = np.isfinite(score)
    score, event = score[known], event[known]
    if not len(score):
        return float("nan"), float("nan")
    auroc = float(roc_auc_score(event, score)) if 0 < event.sum() < len(event) else float("nan")
    which = np.minimum((score * bins).astype(int), bins - 1)
    gaps = np.bincount(which, event - score, bins)
    return auroc, float(np.abs(gaps).sum() / len(score))


def confidence_of(result: Any, ensemble: Any) -> np.ndarray:
    """Return the confidence of a result."""
    return np.full(len(result.labels), np.nan) if result.confidence is None else np.asarray(result.confidence)


def own_item_consensus(result: Any, ensemble: Any) -> np.ndarray:
    """Return the item consensus of every object with its own cluster."""
    from partita.metrics import item_consensus

    return np.asarray(item_consensus(ensemble, result.labels).own)


SCORES: dict[str, Score] = {"confidence": confidence_of, "item consensus": own_item_consensus}


class TimeLimitError(BaseException):
    """A fit took longer than allowed; no handler of failed candidates catches this."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeLimitError` in the main thread after so many seconds."""

    def stop(number: int, frame: Any) -> None:
        raise TimeLimitError(f"did not finish in {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def fit_record(table: Table, method: str, seconds: float, scores: Mapping[str, Score] = SCORES) -> Record:
    """Fit a method of ours at the number of classes and measure its result; a failure is part of the record."""
    import partita
    from partita.metrics import anmi

    ensemble = partita.Ensemble.from_labels(table.labels, missing=-1)
    started = time.perf_counter()
    try:
        with time_limit(seconds):
            result = partita.consensus(ensemble, method, table.k, seed=0)
    except (Exception, TimeLimitError) as error:
        return {"failure": f"{type(error).__name__}: {error}"}
    record = {"seconds": time.perf_counter() - started, **agreement(table, result.labels)}
    record |= {"anmi": float(anmi(ensemble, result.labels)), "clusters": len(np.unique(result.labels))}
    known = result.labels >= 0
    event = is_majority(result.labels[known], table.truth[known])
    for name, score in scores.items():
        record[name] = score_quality(score(result, ensemble)[known], event)
    return record


def octaves_record(table: Table, rule: Callable[[Any], Any], seconds: float) -> Record:
    """Return the k of a rule, and log2 of it divided by the number of classes."""
    from partita import Ensemble

    started = time.perf_counter()
    try:
        with time_limit(seconds):
            chosen = rule(Ensemble.from_labels(table.labels, missing=-1))
    except (Exception, TimeLimitError) as error:
        return {"failure": f"{type(error).__name__}: {error}", "octaves": None}
    k = int(getattr(chosen, "k", chosen))
    return {"seconds": time.perf_counter() - started, "chosen": k, "octaves": float(np.log2(k / table.k))}


def lowest_bic(ensemble: Any) -> Any:
    """Select k by BIC of `mm`: all k up to 20, then in steps of a quarter up to 1.5 times the largest base k."""
    from partita import select_k

    sizes = [len(np.unique(column[column >= 0])) for column in ensemble.labels.T]
    ks = list(range(2, 21))
    while ks[-1] < 1.5 * max(sizes):
        ks.append(int(np.ceil(1.25 * ks[-1])))
    return select_k(ensemble, ks, "mm", criterion="bic", repeats=0)


def rule_named(name: str) -> Callable[[Any], Any]:
    """Return a rule for k by name: "bic", or "module:function" from an ensemble to k or to an object with `k`."""
    if name == "bic":
        return lowest_bic
    module, _, function = name.partition(":")
    rule: Callable[[Any], Any] = getattr(importlib.import_module(module), function)
    return rule


# ------------------------------------------------------------------------------------------------------ running


@cache
def code_digest() -> str:
    """Return a digest of the source of the imported `partita`."""
    import partita

    folder = Path(str(partita.__file__)).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def due(log: Log, tables: Sequence[Table], method: str, code: str) -> list[Table]:
    """Return the tables that the log does not have for this method and code."""
    done = {each["table"] for each in log if (each["method"], each["code"]) == (method, code)}
    return [table for table in tables if table.name not in done]


def measure(
    log: Log, tables: Sequence[Table], method: str, code: str, records: Callable[[list[Table]], Iterable[Record]]
) -> None:
    """Append the records of the tables that the log does not have, each as soon as it is computed."""
    left = due(log, tables, method, code)
    started = time.perf_counter()
    for table, record in zip(left, records(left), strict=False):
        log.add({"table": table.name, "method": method, "code": code, **record})
    print(f"{time.perf_counter() - started:7.1f} s  {method}, {len(left)} tables", file=sys.stderr, flush=True)


def rival_entries() -> list[Entry]:
    """Return the rivals in Python and the compositions of SciPy and scikit-learn that solve for labels at a given k."""
    entries = [each for each in quality_entries() if not each.ours and not each.turned and "LDA" not in each.program]
    more = [Entry("auto", f"py-cluster-ensemble {name}", asked=name) for name in BY_KIND]
    return [each for each in entries + more if each.program.startswith((*OFFERS, *OWN))]


def rival_records(tables: Sequence[Table], entry: Entry, seconds: float) -> Iterator[Record]:
    """Yield the record of every table; one with a failure if the rival did not answer."""
    for start in range(0, len(tables), CHUNK):  # `answers` returns when all its tables are answered
        some = tables[start : start + CHUNK]
        requests = [(_complete(table.labels), table.k) for table in some]
        solved = answers(entry.program, entry.asked or entry.method, requests, seconds, seconds * len(some))
        for table, answer in zip(some, solved, strict=False):
            if answer.failure:
                yield {"failure": answer.failure}
            else:
                labels = np.asarray(answer.value).astype(int)
                yield {"seconds": answer.wall, **agreement(table, labels - labels.min())}


def _complete(labels: np.ndarray) -> np.ndarray:
    """Replace missing labels by one more label per clustering."""
    return np.where(labels < 0, labels.max(0) + 1, labels).astype(np.int32)


def run_rival(log: Log, tables: Sequence[Table], entry: Entry, seconds: float) -> None:
    """Run a rival on the tables it has not answered; report a rival that is not installed."""
    name = entry.program if entry.program.endswith(entry.asked or entry.method) else f"{entry.program} {entry.method}"
    try:
        measure(log, tables, name, "rival", partial(rival_records, entry=entry, seconds=seconds))
    except ImportError as error:
        print(f"{name}: not installed here, {error}", file=sys.stderr)


# ---------------------------------------------------------------------------------------------------- reporting

Cells = dict[str, dict[str, float]]
"""Mean by method and kind; "mean" is the mean of the kinds, "tables" the number of tables with a value."""


def collect(log: Log, tables: Sequence[Table]) -> dict[str, dict[str, Record]]:
    """Return the last record of every method and table, by method."""
    names = {table.name for table in tables}
    records: dict[str, dict[str, Record]] = defaultdict(dict)
    for each in log:
        if each["table"] in names:
            records[each["method"]][each["table"]] = each
    return dict(records)


def means(
    records: Mapping[str, Mapping[str, Record]], tables: Sequence[Table], value: Callable[[Record], Any]
) -> Cells:
    """Return the mean of a value by method and kind over the tables that have it, and the mean of these means."""
    cells: Cells = {}
    for method, by_table in records.items():
        values: dict[str, list[float]] = defaultdict(list)
        for table in tables:
            found = value(by_table[table.name]) if table.name in by_table else None
            if found is not None and np.isfinite(found):
                values[table.kind].append(found)
        if values:
            row = {kind: float(np.mean(values[kind])) for kind in KINDS if values[kind]}
            number = float(sum(map(len, values.values())))
            cells[method] = row | {"mean": float(np.mean(list(row.values()))), "tables": number}
    return cells


def markdown(title: str, cells: Cells) -> str:
    """Return a table with one row per method and one column per kind, ordered by the mean of the kinds.

    Methods with a value on fewer tables than others come last: their means are not comparable.
    """
    kinds = [kind for kind in KINDS if any(kind in row for row in cells.values())]
    head = ("method", *kinds, "mean", "tables")
    lines = [f"### {title}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for method, row in sorted(cells.items(), key=lambda item: (-item[1]["tables"], -item[1]["mean"])):
        values = " | ".join(_cell(row.get(kind)) for kind in (*kinds, "mean"))
        lines.append(f"| {method} | {values} | {row['tables']:.0f} |")
    return "\n".join(lines) + "\n"


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def summary(log: Log, tables: Sequence[Table], reference: str = "auto") -> dict[str, Cells]:
    """Return all means of a set of tables by title."""
    records = collect(log, tables)
    base, ours = records.get(BASE, {}), records.get(reference, {})

    def above_base(each: Record) -> float | None:
        if each["method"] == BASE or each["table"] not in base or "octaves" in each:
            return None
        return float(each.get("ari", -1.0) >= base[each["table"]]["ari"] - TOLERANCE)  # a failure is below

    def difference(each: Record) -> float | None:
        other = ours.get(each["table"], {})
        return each["ari"] - other["ari"] if "ari" in each and "ari" in other else None

    values: dict[str, Callable[[Record], Any]] = {
        "ARI": lambda each: each.get("ari"),
        "NMI": lambda each: each.get("nmi"),
        f"ARI less that of {reference}, tables that both solved": difference,
        "Share of tables with ARI not below that of the median base clustering": above_base,
        "Share of tables that failed": lambda each: float("failure" in each) if each["method"] != BASE else None,
        "Seconds": lambda each: each.get("seconds"),
        "Mean |log2(k / classes)|": lambda each: abs(each["octaves"]) if each.get("octaves") is not None else None,
        "Mean log2(k / classes)": lambda each: each.get("octaves"),
    }
    for score in SCORES:
        values[f"AUROC, {score}"] = lambda each, score=score: each[score][0] if each.get(score) else None
        values[f"Calibration error, {score}"] = lambda each, score=score: each[score][1] if each.get(score) else None
    found = {title: means(records, tables, value) for title, value in values.items()}
    return {title: cells for title, cells in found.items() if cells}


def report(log: Log, tables: Sequence[Table], reference: str = "auto") -> dict[str, dict[str, Cells]]:
    """Return the summary of either half and of all tables."""
    halves = {half: [table for table in tables if table.half == half] for half in HALVES}
    return {name: summary(log, some, reference) for name, some in {**halves, "all": list(tables)}.items()}


def main(words: Sequence[str] | None = None) -> None:
    """Run methods, rivals or rules for k, or print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "k", "report"))
    parser.add_argument("tables", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--methods", nargs="*", default=(), help="methods of the registry")
    parser.add_argument("--name", default="{}", help="name of a method in the results")
    parser.add_argument("--rivals", nargs="*", help="programs (default: all) of benchmarks.rivals")
    parser.add_argument("--rules", nargs="*", default=("bic",), help='"bic" or "module:function"')
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--reference", default="auto", help="method that the others are compared with")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(words)
    tables, log, seconds = read(options.tables, options.kinds), Log(options.results), options.seconds
    if options.command == "report":
        halves = report(log, tables, options.reference)
        for half, found in halves.items():
            print(f"## {half}\n\n" + "\n".join(markdown(title, cells) for title, cells in found.items()))
        if options.json:
            options.json.write_text(json.dumps(halves, indent=1))
    elif options.command == "k":
        for name in options.rules:
            rule = rule_named(name)
            title = "k by " + options.name.format(name.rpartition(":")[2])
            measure(
                log, tables, title, code_digest(), lambda left, r=rule: (octaves_record(t, r, seconds) for t in left)
            )
    else:
        measure(log, tables, BASE, "base", partial(map, base_record))
        for method in options.methods:
            title = options.name.format(method)
            solve = partial(fit_record, method=method, seconds=seconds)
            measure(log, tables, title, code_digest(), partial(map, solve))
        for entry in rival_entries() if options.rivals is not None else ():
            if not options.rivals or entry.program in options.rivals:
                run_rival(log, tables, entry, seconds)


if __name__ == "__main__":
    main()
