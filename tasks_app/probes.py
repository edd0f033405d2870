"""Probes: attempts that must not pass. What each falls for is known, and so is the criterion that must name it.

From a Plan's own traps, its perturbations, and programs gone wrong (`to_python`'s options). What a Plan expects and
what its trap would bring about are both computed by SQL on the state before; the first criterion in which they differ
is the one predicted. Then the program is run and judged. An attempt is

    live         another end state than the reference's, rejected by the criterion predicted
    refused      a tool refused it aloud
    equivalent   it comes to the same (by SQL, or by its end state)
    unplanted    a trap of the Plan's own that comes to the same here: the data do not test it
    mispredicted rejected, but not by that criterion
    passed       another end state, and yet every criterion passed: a hole in the verifier, or a column left free
    broken       the program itself failed

Only live ones become ProbeSpecs, one for each distinct end state (tables, files and answer together).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from tasks_app.domains.model import DomainModel
from tasks_app.environments.state import State
from tasks_app.plans.algebra import Plan, Trap
from tasks_app.plans.effects import NOTHING_ELSE, criterion_names
from tasks_app.plans.perturbation import perturbed
from tasks_app.plans.to_python import MARK, compile_reference
from tasks_app.plans.to_sql import evaluate
from tasks_app.solutions import Package, Run, run_in_process
from tasks_app.tasks import ProbeSpec
from tasks_app.verification import judge

Rows = dict[str, Any]  # what each criterion expects, as `evaluate` gives it
Cells = Literal["many", "one"]
SAME_KIND = 1  # of one kind, beside the Plan's own traps
OPTIONS = (
    ("report_only", "reports that all is done and does nothing"),
    ("partial", "leaves the last one out"),
    ("over_reach", "does the first one once more"),
    ("twice", "does everything twice"),
    ("first_page", "reads only the first page of each list"),
    ("default_filter", "overlooks what lists hide by default"),
    ("blank_text", "writes a text that names nothing"),
    ("short_report", "leaves the last row out of the report"),
    ("empty_report", "leaves a report without rows"),
    ("reverse_order", "sorts the report the wrong way round"),
    ("no_reports", "leaves no report"),
    ("scratch", "leaves a file of its own behind"),
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A probe and what came of it: `failed` are the criteria that rejected it, `end` the digest of its end state."""

    probe: ProbeSpec
    status: str
    failed: tuple[str, ...] = ()
    end: str = ""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    probes: tuple[ProbeSpec, ...]
    attempts: tuple[Attempt, ...]

    @property
    def problems(self) -> tuple[Attempt, ...]:
        """Attempts that speak against the task: traps not planted, holes, wrong predictions, broken programs."""
        return tuple(a for a in self.attempts if a.status in ("unplanted", "mispredicted", "passed", "broken"))


class Prober:
    """Runs and judges attempts at one task in one state; the reference's end state is what they are held against."""

    def __init__(
        self,
        model: DomainModel,
        package: Package,
        state: State,
        verifier: str,
        reference: Run,
        tools: Collection[str] | None = None,
    ) -> None:
        self.model, self.package, self.state, self.verifier, self.tools = model, package, state, verifier, tools
        self.ignored = {e.table: {a.column for a in e.attrs if a.role == "system" or a.derived} for e in model.entities}
        self.start = self._rows(state)
        self.reference_end = self.end(reference.after, reference.answer)

    def _rows(self, state: State) -> dict[str, frozenset[tuple[Any, ...]]]:
        """Rows by table, without what tools keep by themselves."""
        out = {}
        db = state.connect()
        try:
            for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                if table[0] != "_" and not table.startswith("sqlite_"):
                    skipped = self.ignored.get(table, ())
                    names = [r[1] for r in db.execute(f'PRAGMA table_info("{table}")') if r[1] not in skipped]
                    quoted = ", ".join(f'"{name}"' for name in names)
                    out[table] = frozenset(db.execute(f'SELECT {quoted} FROM "{table}"'))
        finally:
            db.close()
        return out

    def end(self, state: State, answer: str) -> str:
        """Digest of an end state: how tables differ from the start, files, answer."""
        changed = [(table, row) for table, rows in self._rows(state).items() for row in rows ^ self.start[table]]
        digest = hashlib.sha256("\n".join([answer, *sorted(map(repr, changed))]).encode())
        for path in sorted(state.files):
            digest.update(path.encode() + b"\0" + state.files[path] + b"\0")
        return digest.hexdigest()

    def attempt(self, probe: ProbeSpec, own: bool = False) -> Attempt:
        """Runs and judges a probe. `own`: a trap of the Plan's own, of which more is asked."""
        done = run_in_process(probe.source, self.package, self.state, self.tools)
        answer = done.answer if probe.answer is None else probe.answer
        if done.error:
            return Attempt(probe, "refused" if done.refused else "broken", (done.error,))
        end = self.end(done.after, answer)
        if end == self.reference_end:
            return Attempt(probe, "unplanted" if own else "equivalent", (), end)
        verdict = judge(self.verifier, self.state, done.after, answer)
        failed = tuple(c.name for c in verdict.criteria if not c.passed)
        if not failed:
            return Attempt(probe, "passed", (), end)
        if not probe.criterion:
            probe = replace(probe, criterion=failed[0])
        return Attempt(probe, "live" if probe.criterion in failed else "mispredicted", failed, end)


def make(
    plan: Plan,
    model: DomainModel,
    package: Package,
    state: State,
    *,
    verifier: str,
    reference: Run,
    cells: Cells = "many",
    tools: Collection[str] | None = None,
    most: int = 12,
) -> ProbeReport:
    """Probes of a task, at most `most`: the Plan's own traps first, then programs gone wrong, then perturbations."""
    prober = Prober(model, package, state, verifier, reference, tools)
    attempts: list[Attempt] = []
    live: dict[str, ProbeSpec] = {}
    for probe, own in candidates(plan, model, state, reference, cells):
        if len(live) >= most and not own:
            break
        if probe.source == "":
            attempts.append(Attempt(probe, "unplanted" if own else "equivalent"))
            continue
        if not own and sum(p.kind == probe.kind for p in live.values()) >= SAME_KIND:
            continue
        found = prober.attempt(probe, own)
        attempts.append(found)
        if found.status == "live" and found.end not in live:
            live[found.end] = found.probe
    return ProbeReport(tuple(live.values()), tuple(attempts))


def candidates(
    plan: Plan, model: DomainModel, state: State, reference: Run, cells: Cells
) -> Iterator[tuple[ProbeSpec, bool]]:
    """Attempts with the criterion predicted ("" where only running can tell), and whether the Plan itself names them.
    A Plan that by SQL expects the same has no source."""
    expected = evaluate(plan, model, state)
    for trap in plan.traps:
        yield _of_trap(trap, plan, model, state, expected, cells), True
    yield from ((probe, False) for probe in _nothing_done(plan, model, expected, reference))
    yield from ((probe, False) for probe in _gone_wrong(OPTIONS[:4], plan, model, expected, cells))
    yield from ((_of_trap(t, plan, model, state, expected, cells), False) for t in perturbed(plan))
    yield from ((probe, False) for probe in _forged(plan, model, cells, expected))
    yield from ((probe, False) for probe in _gone_wrong(OPTIONS[4:], plan, model, expected, cells))


def _gone_wrong(
    options: Iterable[tuple[str, str]], plan: Plan, model: DomainModel, expected: Rows, cells: Cells
) -> Iterator[ProbeSpec]:
    """The right Plan, carried out by a program that goes wrong."""
    for option, says in options:
        criterion = _predicted(option, plan, model, expected)
        if criterion is not None and all(t.option != option for t in plan.traps):
            yield ProbeSpec(
                option, option, says, compile_reference(plan, model, cells=cells, options=[option]), criterion
            )


def _of_trap(trap: Trap, plan: Plan, model: DomainModel, state: State, expected: Rows, cells: Cells) -> ProbeSpec:
    if trap.plan is None:
        source = compile_reference(plan, model, cells=cells, options=[trap.option])
        return ProbeSpec(trap.name, trap.kind, trap.says, source, _predicted(trap.option, plan, model, expected) or "")
    criterion = first_difference(plan, trap.plan, model, state, expected)
    source = compile_reference(trap.plan, model, cells=cells) if criterion is not None else ""
    return ProbeSpec(trap.name, trap.kind, trap.says, source, criterion or "")


def first_difference(plan: Plan, other: Plan, model: DomainModel, state: State, expected: Rows) -> str | None:
    """The first criterion of `plan` in which `other` would bring about something else; None where none is."""
    names, theirs = criterion_names(plan, model), criterion_names(other, model)
    found = evaluate(other, model, state)
    effect = _effect_difference(plan, other, names.effects, theirs.effects, expected, found)
    if effect is not None:
        return effect
    pairs = [*zip(names.files, theirs.files, strict=False), *zip(names.answers, theirs.answers, strict=False)]
    return next((mine for mine, other_name in pairs if expected[mine] != found[other_name]), None)


def _effect_difference(
    plan: Plan, other: Plan, mine: tuple[str, ...], theirs: tuple[str, ...], expected: Rows, found: Rows
) -> str | None:
    """Which effect is charged: one that misses a row; else one that takes a row too many, if it reaches so far."""
    pairs = [(name, expected[name], found[theirs[i]] if i < len(theirs) else []) for i, name in enumerate(mine)]
    for name, asked, done in pairs:
        if set(asked) - set(done):
            return name
    for i, (name, asked, done) in enumerate(pairs):
        if sorted(asked) != sorted(done):
            reach = {*plan.effects[i].set, *plan.effects[i].text, *plan.effects[i].free}
            within = plan.effects[i].kind != "update" or set(other.effects[i].set) <= reach
            return name if within else NOTHING_ELSE
    return NOTHING_ELSE if len(theirs) > len(mine) else None


def _something(plan: Plan, model: DomainModel, expected: Rows) -> str | None:
    """The first criterion that doing nothing fails."""
    names = criterion_names(plan, model)
    return next((n for n in names.effects if expected[n]), None) or next(iter((*names.files, *names.answers)), None)


def _nothing_done(plan: Plan, model: DomainModel, expected: Rows, reference: Run) -> Iterator[ProbeSpec]:
    """Doing nothing, in silence and claiming to be done; where nothing is to do, only the silence is wrong."""
    criterion = _something(plan, model, expected)
    if criterion is None:
        return
    silent = (
        criterion
        if not plan.answers or any(expected[n] for n in criterion_names(plan, model).effects) or plan.files
        else criterion_names(plan, model).answers[0]
    )
    yield ProbeSpec("no_op", "no_op", "does nothing and says so", f'{MARK}\nprint("Done.")\n', silent)
    if plan.answers and criterion not in criterion_names(plan, model).answers:
        yield ProbeSpec(
            "claimed",
            "forged_answer",
            "does nothing and gives the right answer",
            f'{MARK}\nprint("Done.")\n',
            criterion,
            reference.answer,
        )


def _predicted(option: str, plan: Plan, model: DomainModel, expected: Rows) -> str | None:
    """The criterion that a program gone wrong must fail; "" where only running tells, None where it can't be so."""
    names = criterion_names(plan, model)
    due = [n for n in names.effects if expected[n]]
    first = names.effects[0] if due and names.effects[0] == due[0] else None
    match option:
        case "report_only" | "no_effects":
            return due[0] if due else None
        case "partial":
            return first
        case "over_reach" | "twice":
            return first if first and plan.effects[0].kind == "create" else None
        case "first_page" | "default_filter":
            return ""
        case "blank_text":
            return next((n for n, e in zip(names.effects, plan.effects, strict=True) if e.text and expected[n]), None)
        case "short_report" | "empty_report":
            return next((n for n in names.files if expected[n]), None)
        case "reverse_order":
            ordered = [n for n, f in zip(names.files, plan.files, strict=True) if f.order]
            return next((n for n in ordered if len(list(expected[n])) > 1), None)
        case "no_reports":
            return names.files[0] if names.files else None
        case _:
            return NOTHING_ELSE


def _forged(plan: Plan, model: DomainModel, cells: Cells, expected: Rows) -> Iterator[ProbeSpec]:
    """All done as it should be, and then the wrong thing said."""
    names = criterion_names(plan, model)
    source = compile_reference(plan, model, cells=cells)
    for i, name in enumerate(names.answers):
        said = []
        for j, answer in enumerate(plan.answers):
            value = expected[names.answers[j]]
            if i == j:
                value = value + 1 if isinstance(value, (int, float)) else "somebody else"
            said.append(f"{answer.name}: {_worded(value)}")
        yield ProbeSpec(
            f"forged_{plan.answers[i].name}",
            "forged_answer",
            f"does it all and says another {plan.answers[i].name}",
            source,
            name,
            ", ".join(said),
        )


def _worded(value: object) -> str:
    if value is None:
        return "none"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
