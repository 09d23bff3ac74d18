"""A consensus of a table in blocks: look at all of it, fit, place all of it; each step goes on where it was stopped."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from partita.core.checks import allowed
from partita.core.coding import MissingRule
from partita.core.consensus import NO_COMPANY, NO_COMPANY_NEW, by_appearance, notes_on, renumber_detail
from partita.core.errors import FileError, Note, ParameterError, UnseenLabelWarning, note_records
from partita.core.fields import check_weights
from partita.core.model import ColumnModel
from partita.core.types import FloatArray, FrozenDict, IntArray
from partita.engine.base import Engine
from partita.io.blocks import LabelBlocks, naming_file, naming_source, rows_of
from partita.io.holding import holding
from partita.io.labelling import CONSENSUS
from partita.io.parts import check_whole, join_parts, read_parts, remove_parts
from partita.io.result_table import metadata_of
from partita.io.summary import plain
from partita.metrics.ensemble import anmi_of
from partita.metrics.table import from_cells
from partita.streaming.coding import columns_of
from partita.streaming.counting import Tally
from partita.streaming.fitting import Fitted, choice_record, fit_distinct, fit_sample
from partita.streaming.full import fit_full
from partita.streaming.keeping import Kept
from partita.streaming.passes import Placing, look, place, sample_places
from partita.streaming.placing import ByModel, ByRow, Placer, Totals, agreement
from partita.streaming.planning import Plan
from partita.streaming.result import Fit, Streamed


def run(source: LabelBlocks, plan: Plan, engine: Engine, output: Path | None) -> Streamed:
    """The consensus of a table in blocks.

    `output` is a file (.parquet, .csv, .tsv) or a folder that gets a Parquet file for each block; without it the labels
    come in memory. A run that was stopped goes on when the same is asked for with the same output.
    """
    plan.check()
    if output is None and engine.name == "dask":
        raise ParameterError("with engine dask labels stay where the workers write them; name an output all can reach")
    kind = None if output is None else check_whole(output)
    with _folder(output, kind) as folder:
        kept = Kept(folder)
        with holding(kept.place, "another run writes there; wait for it,"):
            if not source.signature:
                kept.forget()
            kept.begin(plan.about(source, engine.name))
            with kept.unless_refused():
                found = _Run(source, plan, engine, kept).streamed()
            if output is None:
                parts = [table.column(CONSENSUS).to_numpy() for table in read_parts(folder, len(source.blocks))]
                found = replace(found, labels=np.concatenate(parts))
            elif kind is not None:
                join_parts(folder, len(source.blocks), output, kind, metadata_of(found.recipe))
                remove_parts(folder)
            found = replace(found, output=output)
        kept.end()
    return found


@contextmanager
def _folder(output: Path | None, kind: str | None) -> Iterator[Path]:
    """Where parts are written: the folder that is wanted, one beside the file that is wanted, or one for a moment."""
    if output is None:
        with tempfile.TemporaryDirectory(prefix="partita-") as place:
            yield Path(place)
        return
    folder = output if kind is None else output.with_name(f"{output.name}.parts")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot make this folder ({error.strerror}); give another output") from None
    try:
        yield folder
    finally:
        with suppress(OSError):  # where a run is kept it is not empty
            folder.rmdir()


@dataclass(frozen=True, slots=True, eq=False)
class _Ready:
    """A fit, and the way to place all rows by it."""

    fit: Fit
    told: dict[str, Any]
    placer: Placer
    model: ColumnModel | None


@dataclass(frozen=True, slots=True)
class _Run:
    """One run."""

    source: LabelBlocks
    plan: Plan
    engine: Engine
    kept: Kept

    @property
    def rule(self) -> MissingRule:
        """What means missing."""
        return MissingRule.of(self.plan.read.missing)

    @property
    def weights(self) -> FloatArray:
        """(r,) of the clusterings."""
        return check_weights(self.plan.read.weights, self.source.names)

    def streamed(self) -> Streamed:
        """All of it."""
        ready = self._ready()
        id_name = self.plan.read.ids or "id"
        placing = Placing(self.source, self.rule, ready.placer, self.kept.folder, id_name)
        return self._result(ready, place(self.source, placing, self.engine))

    def _tally(self) -> Tally:
        """The first pass, or what of it is left."""
        plan, names = self.plan, self.source.names
        most = {"auto": plan.most, "distinct": plan.most, "sample": 0, "full": 0}[plan.fit]
        tally = self.kept.load_tally(names, most) or Tally(names, most)
        places = None
        whole = plan.whole(self.engine.name)  # such a fit needs a sample only to choose k
        if plan.fit != "distinct" and (plan.wanted.chooses_k or not whole):
            places = sample_places(rows_of(self.source), plan.sample, plan.wanted.seed)
        look(self.source, tally, self.engine, self.rule, places, self.kept.save_tally)
        self.kept.save_tally(tally)
        if tally.over and plan.fit == "distinct":
            raise ParameterError(
                f"there are more than {plan.most} different rows; raise most (--most-rows), or fit a sample "
                '(fit="sample", --fit sample)'
            )
        return tally

    def _ready(self) -> _Ready:
        """The fit, made now or before."""
        tally = self._tally()
        if not any(tally.words.values):
            raise FileError("no object has a label in any clustering; check the missing values")
        held = self.kept.load_fit()
        with naming_source(self.source):
            notes = tally.check(self.weights, self.plan.read.transpose, allowed(self.plan.read.allow))
        ready = self._fitted(tally, held)
        known = {note["code"] for note in ready.told["notes"]}
        ready.told["notes"] = [*(note.as_record() for note in notes if note.code not in known), *ready.told["notes"]]
        return ready

    def _fitted(self, tally: Tally, held: Any) -> _Ready:
        """Return the fit, read from the checkpoint if it is there."""
        if not tally.over:
            return self._by_row(tally, held)
        if self.plan.whole(self.engine.name):
            return self._by_all(tally, held)
        return self._by_sample(tally, held)

    def _by_row(self, tally: Tally, held: Any) -> _Ready:
        """By a fit to all different rows."""
        codes, counts = tally.table()
        if held is not None:
            told, arrays, model = held
            return _Ready("distinct", told, ByRow.of(tally, arrays), model)
        fitted = fit_distinct(tally.ensemble(codes, counts, self.rule, self.weights), self.plan.wanted)
        result = fitted.result
        assert result is not None
        arrays = {"labels": result.labels, "confidence": result.confidence if self.plan.confidence else None}
        arrays["membership"] = result.membership if self.plan.membership else None
        if self.plan.confidence:
            arrays |= {"second": result.second, "second_item_consensus": result.second_item_consensus}
        self.kept.save_fit(fitted.told, arrays, fitted.model)
        return _Ready("distinct", fitted.told, ByRow.of(tally, arrays), fitted.model)

    def _by_sample(self, tally: Tally, held: Any) -> _Ready:
        """By a fit to a sample."""
        sample = tally.ensemble(tally.sample(), None, self.rule, self.weights)
        return self._by_model("sample", held, lambda: fit_sample(sample, self.plan.wanted))

    def _by_all(self, tally: Tally, held: Any) -> _Ready:
        """By a fit to all rows, part by part."""

        def make() -> Fitted:
            wanted, choice, notes = self.plan.wanted, None, tuple[str, ...]()
            if wanted.chooses_k:
                sample = tally.ensemble(tally.sample(), None, self.rule, self.weights)
                wanted, choice, notes = wanted.with_k(sample)
            fitted = fit_full(self.source, tally, self.rule, self.weights, wanted, self.engine)
            told = {**fitted.told, "k_asked": wanted.k, "k_choice": choice_record(choice)}
            return fitted._replace(told=told | {"notes": [*note_records(notes), *fitted.told["notes"]]})

        return self._by_model("full", held, make)

    def _by_model(self, fit: Fit, held: Any, make: Callable[[], Fitted]) -> _Ready:
        """By the model of a fit, which is made unless it was kept."""
        if held is None:
            fitted = make()
            assert fitted.model is not None
            order = self._first_come(fitted.model)
            model = fitted.model.in_order(order)
            told = fitted.told | {"detail": plain(renumber_detail(fitted.told["detail"], order))}
            self.kept.save_fit(told, {}, model)
        else:
            told, _, model = held
        placer = ByModel.of(model, self.plan.confidence, self.plan.membership)
        return _Ready(fit, told, placer, model)

    def _first_come(self, model: ColumnModel) -> IntArray:
        """The model's clusters in the order in which they appear in the first block; those it lacks come last."""
        placer, first = ByModel.of(model, False, False), self.source.blocks[0]
        with naming_file(first):
            pieces = self.source.pieces(first)
            found = [placer.place(columns_of(raw, self.rule, int)).labels for raw in pieces]
        return by_appearance(np.concatenate(found), model.width)[1]

    def _result(self, ready: _Ready, totals: Totals) -> Streamed:
        """What there is to tell."""
        told, unknown = ready.told, int(totals.scalars[4])
        scores, detail = dict(told["scores"]), dict(told["detail"])
        notes: list[str] = [Note(**note) for note in told["notes"]]
        if ready.fit != "distinct":
            assert ready.model is not None
            scores["anmi"] = anmi_of(
                [from_cells(table) for table in agreement(totals, ready.model.offsets)], self.weights
            )
            detail |= cost(told, totals, scores["anmi"], ready.model.likelihood_is_bound)
            notes += told_of(totals)
        sizes = totals.sizes.astype(np.int64)
        reason = NO_COMPANY if ready.fit == "distinct" else NO_COMPANY_NEW
        notes += notes_on(int((sizes > 0).sum()), told["k_asked"], unknown, int(totals.scalars[5]), reason)
        return Streamed(
            rows_of(self.source),
            ready.fit,
            told["rows"],
            sizes,
            unknown,
            self.source.names,
            FrozenDict(scores),
            FrozenDict(detail),
            tuple(map(Note, notes)),
            told["k_asked"],
            told["k_choice"],
            told["recipe"],
            ready.model,
            candidates=tuple(map(FrozenDict, told.get("candidates", ()))),
        )


def cost(told: dict[str, Any], totals: Totals, anmi: float, is_bound: bool) -> dict[str, Any]:
    """What fitting a sample cost: how much better it explains the rows it was fitted to than the others.

    Log-likelihoods are those of a label, on average. A fit to all rows would explain all of them, on average over
    samples, at most as well as the sample's fit explains the sample, and at least as well as it explains the others;
    so the difference bounds the loss. Where they are lower bounds of the log-likelihoods, their names say so.
    """
    name = "log likelihood bound" if is_bound else "log likelihood"
    found: dict[str, Any] = {}
    if "sample anmi" in told:
        found |= {"anmi of the sample": told["sample anmi"], "anmi of all rows": anmi}
    likelihood, labels = float(totals.scalars[0]), float(totals.scalars[1])
    if "sample log likelihood" in told:
        inside, known = told["sample log likelihood"], told["sample labels"]
        found[f"{name} a label, sample"] = inside / known
        if labels > known:
            found[f"{name} a label, other rows"] = outside = (likelihood - inside) / (labels - known)
            found["cost of the sample, a label"] = inside / known - outside
    elif likelihood:
        found[name] = likelihood
    return found


def told_of(totals: Totals) -> list[str]:
    """What the user should know of rows that the model did not foresee."""
    excluded, unseen = totals.scalars[2:4]
    notes: list[str] = []
    if unseen:
        text = f"{int(unseen)} labels do not occur in the rows that were fitted and count as missing"
        notes.append(Note(text, UnseenLabelWarning.code))
    if excluded:
        notes.append(
            f"{int(excluded)} objects carry labels to which the model gives probability 0; fit with smoothing above 0 "
            "(--set smoothing=0.5)"
        )
    return notes
