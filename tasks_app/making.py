"""Making: from a motif and a number to a proven TaskSpec, gate by gate, deterministic in both.

The same motif and instance give the same task, byte for byte, from the same package; nothing else is drawn from.
Everything is proved here in process; `verify_tasks` proves it again in real kernels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from random import Random
from typing import Any, Literal

from tasks_app.environments.package import EnvironmentPackage
from tasks_app.environments.state import State
from tasks_app.filters import Rejected
from tasks_app.growth import Growth, GrowthError, grow, reference_run
from tasks_app.plans import catalogue
from tasks_app.plans.algebra import Plan, PlanError, relations, roots, to_json
from tasks_app.plans.drafts import Draft
from tasks_app.plans.to_python import compile_reference
from tasks_app.plans.to_sql import compile_verifier
from tasks_app.plans.tree import depth, operators, plan_tree
from tasks_app.plans.validate import check
from tasks_app.probes import Attempt, Prober, ProbeReport
from tasks_app.probes import make as make_probes
from tasks_app.remembering import Remembered
from tasks_app.scales import Scale, presets
from tasks_app.solutions import run_in_process
from tasks_app.tasks import ProbeSpec, TaskSpec, canonical, keyed, split_of
from tasks_app.verification import judge
from tasks_app.wording.rules import faults

TOOLS_OF_TASK = (12, 16)
TOOLS_OF_PRIMER = (5, 6)
LEAST_PROBES = {"task": 6, "primer": 3}
MOST_PROBES = {"task": 12, "primer": 5}
MOST_TRIES = 30
LEAST_CALLS, LEAST_TOOLS, LEAST_ENTITIES, MOST_PRIMER_CALLS = 5, 3, 2, 4


def number_of(text: str) -> int:
    """A seed that hangs on a text alone."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) % 2**31


def entities(plan: Plan) -> set[str]:
    scanned = {node[1] for rel in roots(plan) for node in relations(rel) if node[0] == "scan"}
    return scanned | {effect.entity for effect in plan.effects}


def choose_tools(needed: set[str], plan: Plan, package: EnvironmentPackage, tier: str, rng: Random) -> tuple[str, ...]:
    """The tools that reference and probes call, and others that look useful: of the same entities first."""
    low, high = TOOLS_OF_PRIMER if tier == "primer" else TOOLS_OF_TASK
    near = entities(plan)
    ops = sorted(package.model.ops, key=lambda op: op.tool)
    close = [op.tool for op in ops if op.entity in near and op.tool not in needed]
    far = [op.tool for op in ops if op.entity not in near and op.tool not in needed]
    rng.shuffle(close)
    rng.shuffle(far)
    want = max(rng.randint(low, high), len(needed) + 2)
    picked = (close[: max(1, (want - len(needed)) * 2 // 3)] + far + close)[: want - len(needed)]
    return tuple(sorted(needed | set(picked)))


def directives(draft: Draft, base: Scale) -> dict[str, Any]:
    return {"base": {"rows": base.rows, "files": base.files}, **draft.directives}


def drafted(motif: str, instance: int) -> Draft:
    """The draft of an instance of a motif."""
    return catalogue.motif(motif)(Random(f"{motif}/{instance}"))


def specify(draft: Draft, instance: int, package: EnvironmentPackage) -> TaskSpec:
    """A TaskSpec with everything but probes and measures. Raises Rejected by wording or typed."""
    model, plan = package.model, draft.plan
    columns = {attr.column for entity in model.entities for attr in entity.attrs}
    wrong = faults(draft.instruction, tier=draft.tier, tools=[op.tool for op in model.ops], columns=columns)
    if wrong:
        raise Rejected("wording", "; ".join(wrong))
    try:
        check(plan, model)
        reference = compile_reference(plan, model, cells=_style(draft))
        verifier = compile_verifier(plan, model)
    except PlanError as error:
        raise Rejected("typed", str(error)) from error
    said = to_json(replace(plan, traps=()))
    lineage = hashlib.sha256(canonical([draft.motif, said]).encode()).hexdigest()[:16]
    return TaskSpec(
        key="",
        title=draft.title,
        tier=draft.tier,
        domain=draft.domain,
        environment=package.digest,
        instruction=draft.instruction,
        tools=(),
        seed=number_of(f"{draft.motif}/{instance}"),
        directives=(directives(draft, presets(draft.domain, lineage)["v0"])),
        scales=presets(draft.domain, lineage),
        verifier=verifier,
        reference=reference,
        plan=to_json(plan),
        plan_tree=plan_tree(plan),
        lineage=lineage,
        operators=operators(plan),
        depth=depth(plan),
        outcome_kind=draft.outcome_kind,
        split=split_of(lineage),
        growing=draft.growing,
        motif=draft.motif,
    )


def make(motif: str, instance: int, package: EnvironmentPackage) -> TaskSpec:
    """A proven task. Raises Rejected, which names the gate and the reason."""
    draft = drafted(motif, instance)
    task = specify(draft, instance, package)
    try:
        state = package.build(task.seed, task.scales["v0"], task.directives)
    except ValueError as error:
        raise Rejected("made", str(error)) from error
    run = run_in_process(task.reference, package, state)
    if run.error:
        raise Rejected("reference", f"at v0: {run.error}")
    _worth(draft, [call.tool for call in run.calls])
    report = make_probes(
        draft.plan,
        package.model,
        Remembered(package),
        state,
        verifier=task.verifier,
        reference=run,
        cells=_style(draft),
        most=MOST_PROBES[draft.tier],
    )
    _sound(draft, report)
    probes = report.probes
    needed = {call.tool for call in run.calls} | _called(probes, package)
    tools = choose_tools(needed, draft.plan, package, draft.tier, Random(f"tools/{motif}/{instance}"))
    task = keyed(replace(task, probes=probes, tools=tools))
    _outcome(draft, state, run.after, package)
    grown = _grown(task, package)
    fresh = _fresh(task, package)
    return replace(task, measures=_measures(task, grown, fresh))


def _style(draft: Draft) -> Literal["many", "one"]:
    return "one" if draft.tier == "primer" else "many"


def _sound(draft: Draft, report: ProbeReport) -> None:
    """Every trap of the motif bites at v0, no wrong attempt is let through, and there are enough of them."""
    traps = {trap.name for trap in draft.plan.traps}
    for attempt in report.attempts:
        name = attempt.probe.name
        if attempt.status == "passed":
            raise Rejected("probes", f"{name} ({attempt.probe.says}) is let through by every criterion")
        if name in traps and attempt.status in ("unplanted", "broken"):
            raise Rejected(
                "probes",
                f"trap {name} is {attempt.status}; predicted “{attempt.probe.criterion}”, found {list(attempt.failed)}",
            )
    if len(report.probes) < LEAST_PROBES[draft.tier]:
        found = ", ".join(f"{attempt.probe.name} {attempt.status}" for attempt in report.attempts)
        raise Rejected(
            "probes", f"{len(report.probes)} with different end states, {LEAST_PROBES[draft.tier]} are needed: {found}"
        )


def _called(probes: Sequence[ProbeSpec], package: EnvironmentPackage) -> set[str]:
    return {
        name
        for name in package.tools
        for probe in probes
        if f"tools.{name}(" in probe.source or f"tools.{name}," in probe.source
    }


def _worth(draft: Draft, called: list[str]) -> None:
    if draft.tier == "primer":
        if not 1 <= len(called) <= MOST_PRIMER_CALLS:
            raise Rejected("worth", f"{len(called)} calls, a primer has at most {MOST_PRIMER_CALLS}")
        return
    touched = entities(draft.plan)
    if len(called) < LEAST_CALLS or len(set(called)) < LEAST_TOOLS or len(touched) < LEAST_ENTITIES:
        raise Rejected(
            "worth",
            f"{len(called)} calls of {len(set(called))} tools on {len(touched)} entities; "
            f"at least {LEAST_CALLS}, {LEAST_TOOLS} and {LEAST_ENTITIES} are asked for",
        )


def _outcome(draft: Draft, before: State, after: State, package: EnvironmentPackage) -> None:
    """Nothing-to-do tasks change nothing, the others something."""
    changed = before.digest != after.digest
    reads_only = not draft.plan.effects and not draft.plan.files
    if draft.outcome_kind == "nothing_to_do" and changed:
        raise Rejected("outcome", "declared as nothing to do, but the reference changes something")
    if draft.outcome_kind != "nothing_to_do" and not changed and not reads_only:
        raise Rejected("outcome", "the reference changes nothing; no row qualifies")


def attempts(task: TaskSpec, package: EnvironmentPackage, state: State) -> Iterator[Attempt]:
    """Each probe of the task, run and judged in `state` with the tools that the task names."""
    remembered = Remembered(package)
    reference = run_in_process(task.reference, remembered, state, task.tools)
    prober = Prober(package.model, remembered, state, task.verifier, reference, task.tools)
    for probe in task.probes:
        yield prober.attempt(probe)


def _grown(task: TaskSpec, package: EnvironmentPackage) -> dict[str, Growth]:
    """The task at each scale, every rule proved and every probe refused by its criterion."""
    found = {}
    for name, scale in task.scales.items():
        try:
            growth = grow(task, package, scale.rows, scale.files)
        except (GrowthError, ValueError) as error:
            raise Rejected("reference", f"{name}: {error}") from error
        broken = [proof for proof in growth.proof if not proof.held]
        if broken:
            raise Rejected("growth", f"{name}: rule {broken[0].rule}, {broken[0].detail}")
        for probe in task.probes:
            if probe.criterion not in growth.refused[probe.name]:
                failed = list(growth.refused[probe.name])
                raise Rejected("probes", f"{probe.name} should fail “{probe.criterion}” at {name}, it fails {failed}")
        found[name] = growth
    return found


def _fresh(task: TaskSpec, package: EnvironmentPackage) -> dict[str, Any]:
    """Reference and probes judged at a seed that nothing was chosen by: tasks at two scales, primers at one."""
    seed = number_of(f"fresh/{task.key}")
    names = ("v0", ("v1", "v2", "v3")[seed % 3]) if task.tier == "task" else (("v0", "v1")[seed % 2],)
    rejected = 0
    for name in names:
        try:
            state = package.build(seed, task.scales[name], task.directives)
            run = reference_run(task, package, state)
        except (GrowthError, ValueError) as error:
            raise Rejected("fresh", f"seed {seed} at {name}: {error}") from error
        refused = [c for c in judge(task.verifier, state, run.after, run.answer).criteria if not c.passed]
        if refused:
            raise Rejected("fresh", f"seed {seed} at {name}: {refused[0].name}: {refused[0].detail}")
        for attempt in attempts(task, package, state):
            if attempt.status in ("passed", "broken"):
                raise Rejected("fresh", f"{attempt.probe.name} is {attempt.status} at seed {seed}, {name}")
            rejected += attempt.status in ("live", "mispredicted")
    return {"seed": seed, "scales": list(names), "passed": True, "probes_rejected": rejected}


def _measures(task: TaskSpec, grown: dict[str, Growth], fresh: dict[str, Any]) -> dict[str, Any]:
    scales = {
        name: {**growth.measures, "proof": [asdict(proof) for proof in growth.proof]} for name, growth in grown.items()
    }
    checks = {
        "reference": {name: True for name in grown},
        "probes": {
            probe.name: {"criterion": probe.criterion, "scales": sorted(grown), "rejected": True}
            for probe in task.probes
        },
        "fresh_seed": fresh,
        "proved": "in process by build_content",
    }
    return {**scales, "checks": checks}


def sample_primers(seed: int, n: int, package: EnvironmentPackage, split: str = "train") -> Iterator[TaskSpec]:
    """n further proven primers of a split, beyond those that ship: instances counted from a place that `seed` sets.

    Drafts that a gate refuses are passed over. Raises ValueError when so many are refused that n can't be reached.
    """
    names = sorted(name for name in catalogue.primers() if catalogue.domain_of(name) == package.model.name)
    rng, given = Random(f"primers/{seed}"), 0
    for _ in range(MOST_TRIES * n):
        if given == n:
            return
        motif, instance = rng.choice(names), rng.randrange(10_000, 10_000_000)
        if specify(drafted(motif, instance), instance, package).split != split:
            continue
        try:
            task = make(motif, instance, package)
        except Rejected:
            continue
        given += 1
        yield task
    raise ValueError(f"only {given} of {n} primers of the split {split!r} came through the gates")
