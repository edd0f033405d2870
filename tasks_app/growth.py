"""Growth: one task's environment at any size, with the proof that growing kept what it must.

Everything runs in this process: the reference and the wrong attempts are programs of our own, run by `solutions`.
The cost is two builds and two runs of the reference, one of each wrong attempt, and the comparison of all rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tasks_app.environments.package import EnvironmentPackage
from tasks_app.environments.state import State
from tasks_app.growth_proofs import (
    TOKEN_COUNTER,
    Called,
    Proof,
    Ran,
    aggregates_agree,
    base_kept,
    effects_equal,
    foreign_keys_clean,
    ids_visible,
    interleaved,
    named_texts,
    names_unique,
    texts_equal,
    token_count,
    wrong_attempts_fail,
)
from tasks_app.plans.algebra import Expr, Plan, expressions, from_json, relations, roots, walk
from tasks_app.remembering import Remembered
from tasks_app.rows import read_tables
from tasks_app.scales import Scale
from tasks_app.solutions import Run, run_in_process
from tasks_app.tasks import TaskSpec, canonical, key_of
from tasks_app.verification import judge

Progress = Callable[[float, str], None]


class GrowthError(Exception):
    """A size that can't be made, or a reference that does not run there: what, and what to do."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The task at one size: the state, each rule's proof, and figures (bytes, tokens, calls, digest)."""

    scale: Scale
    state: State
    proof: tuple[Proof, ...]
    measures: Mapping[str, Any]
    refused: Mapping[str, tuple[str, ...]]  # each probe, and "nothing": the criteria that refuse it at this size

    @property
    def held(self) -> bool:
        return all(proof.held for proof in self.proof)


def base_scale(task: TaskSpec) -> Scale:
    """The size of the base: smaller ones are refused."""
    base = task.directives["base"]
    return Scale("base", int(base["rows"]), int(base["files"]))


def reference_run(task: TaskSpec, package: EnvironmentPackage, state: State) -> Run:
    """The reference in this process. Raises GrowthError when it ends with an error."""
    run = run_in_process(task.reference, package, state, task.tools)
    if run.error:
        raise GrowthError(f"the reference ended with {run.error}; it must pass at every size")
    return run


def as_ran(package: EnvironmentPackage, state: State, run: Run) -> Ran:
    """A run in the form that the proofs read."""
    writes = {name for name, spec in package.tools.items() if spec["writes"]}
    calls = tuple(Called(c.tool, c.arguments, c.value, c.tool in writes) for c in run.calls)
    return Ran(
        read_tables(package.model, state),
        read_tables(package.model, run.after),
        state.files,
        run.after.files,
        run.answer,
        calls,
    )


def literals(plan: Plan) -> set[str]:
    """Text literals of a plan: what an instruction may name."""
    found: set[str] = set()

    def collect(expr: Expr) -> None:
        for part in walk(expr):
            if part[0] == "lit" and isinstance(part[1], str):
                found.add(part[1])
            if part[0] == "in":
                found.update(value for value in part[2] if isinstance(value, str))

    for root in roots(plan):
        for rel in relations(root):
            for expr in expressions(rel):
                collect(expr)
    for effect in plan.effects:
        for expr in (*effect.key.values(), *effect.set.values()):
            collect(expr)
    return found


def refusals(task: TaskSpec, package: EnvironmentPackage, state: State) -> dict[str, tuple[str, ...]]:
    """Each probe, and doing nothing, with the criteria that refuse it here: none, and the verifier has a hole."""
    remembered = Remembered(package)
    found = {"nothing": _failed(task, state, state, "")}
    for probe in task.probes:
        run = run_in_process(probe.source, remembered, state, task.tools)
        found[probe.name] = _failed(task, state, run.after, run.answer if probe.answer is None else probe.answer)
    return found


def _failed(task: TaskSpec, before: State, after: State, answer: str) -> tuple[str, ...]:
    return tuple(c.name for c in judge(task.verifier, before, after, answer).criteria if not c.passed)


@lru_cache(maxsize=4)
def _base(key: str, package_folder: str, seed: int, task: _ByKey, package: _ByKey) -> tuple[State, Ran]:
    state = package.value.build(seed, base_scale(task.value), task.value.directives)
    return state, as_ran(package.value, state, reference_run(task.value, package.value, state))


class _ByKey:
    """Carries a value past `lru_cache`, which is to look at the keys beside it only."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByKey)


def _schema(state: State) -> str:
    connection = state.connect()
    try:
        rows = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall()
    finally:
        connection.close()
    return _sha(canonical([list(row) for row in rows]))


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _texts(task: TaskSpec, package: EnvironmentPackage, base: State, grown: State) -> dict[str, tuple[str, str]]:
    """Hashes of what may not change with size: as the task records them, and as they are in use at this size."""
    return {
        "environment": (task.environment, package.digest),
        "schema": (_schema(base), _schema(grown)),
        "instruction, plan, reference and probes": (task.key, key_of(task)),
        "verifier": (_sha(task.verifier), judge(task.verifier, grown, grown, "").verifier),
    }


def grow(
    task: TaskSpec,
    package: EnvironmentPackage,
    rows: int,
    files: int,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Growth:
    """Make `task` at a size and prove rules 1 to 9. Raises GrowthError or populate's error; a rule that does not hold
    is no exception but a Proof that says so. `progress` is told a share from 0 to 1 and what is being done.
    """
    tell = progress or (lambda share, doing: None)
    seed = task.seed if seed is None else seed
    scale = Scale(f"r{rows}-f{files}", rows, files)
    tell(0.0, "making the base")
    base_state, base = _base(task.key, str(package.folder), seed, _ByKey(task), _ByKey(package))
    tell(0.2, f"making {rows} rows and {files} files")
    state = package.build(seed, scale, task.directives)
    tell(0.5, "running the reference")
    run = reference_run(task, package, state)
    ran = as_ran(package, state, run)
    verdict = judge(task.verifier, state, run.after, run.answer)
    if verdict.reward != 1.0:
        faults = "; ".join(f"{c.name}: {c.detail}" for c in verdict.criteria if not c.passed)
        raise GrowthError(f"the reference does not pass at {rows} rows and {files} files: {faults}")
    tell(0.7, "proving each rule")
    model, plan = package.model, from_json(task.plan)
    refused = refusals(task, package, state)
    names = named_texts(task.instruction, literals(plan))
    proof = (
        base_kept(model, base.before, ran.before, base.files_before, ran.files_before),
        texts_equal(_texts(task, package, base_state, state)),
        names_unique(model, names, base.before, ran.before),
        foreign_keys_clean(model, state, ran.before),
        effects_equal(model, base, ran, growing=task.growing),
        ids_visible(model, task.instruction, ran),
        interleaved(model, base.before, ran.before),
        aggregates_agree(model, ran.before),
        wrong_attempts_fail(
            {name: 0.0 if failed else 1.0 for name, failed in refused.items()},
            nothing_to_do=task.outcome_kind == "nothing_to_do",
        ),
    )
    return Growth(scale, state, proof, measures(state, ran), refused)


def measures(state: State, ran: Ran) -> dict[str, Any]:
    """Figures of one size; tokens are of the answers that the reference's reads return, by the counter named."""
    return {
        "db_bytes": len(state.image),
        "db_kb": round(len(state.image) / 1000, 1),
        "files": len(state.files),
        "rows": sum(len(rows) for rows in ran.before.values()),
        "calls": len(ran.calls),
        "tokens": token_count(ran.calls),
        "token_counter": TOKEN_COUNTER,
        "state": state.digest,
    }
