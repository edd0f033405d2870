"""Probes are told apart by what came of them, and only live ones, each with its own end state, are kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tasks_app import probes
from tasks_app.plans.algebra import Answer, Effect, FileReport, Plan, Trap, cmp, col, eq, join, lit, scan, use, where
from tasks_app.plans.perturbation import perturbed
from tasks_app.plans.to_python import compile_reference
from tasks_app.plans.to_sql import compile_verifier
from tasks_app.plans.validate import check
from tasks_app.solutions import run_in_process
from tasks_app.tasks import ProbeSpec
from tests.tasks_app import plan_world

KEY = {"clubId": col("chore.club_id"), "id": col("chore.id")}


class School:
    """The hand-made school as an environment package."""

    tools: Mapping[str, Mapping[str, Any]] = {n: {"writes": not n.endswith(("list", "get"))} for n in plan_world.TOOLS}

    def module(self, name: str = "tools") -> Any:
        return plan_world


def asked(club: str = "Biology 10B", least: float = 7.5, op: str = ">=") -> Plan:
    return Plan(
        "school",
        {
            "club": where(scan("Club", "club"), eq("club.name", lit(club))),
            "chores": where(
                join(use("club"), scan("Chore", "chore"), eq("chore.club_id", "club.id")),
                cmp(op, col("chore.points"), lit(least)),
            ),
        },
        effects=(
            Effect("update", "Chore", "chores_patch", use("chores"), KEY, {"urgent": lit(True), "note": lit("soon")}),
        ),
        files=(FileReport("soon.csv", use("chores"), (("chore", "chore.title"),), (("chore.title", "asc"),)),),
        answers=(Answer("chores", use("chores"), "count"),),
    )


def report_of(plan: Plan, most: int = 12) -> probes.ProbeReport:
    state, package = plan_world.state(), School()
    check(plan, plan_world.MODEL)
    reference = run_in_process(compile_reference(plan, plan_world.MODEL), package, state)
    verifier = compile_verifier(plan, plan_world.MODEL)
    return probes.make(plan, plan_world.MODEL, package, state, verifier=verifier, reference=reference, most=most)


def status(report: probes.ProbeReport) -> dict[str, str]:
    return {a.probe.name: a.status for a in report.attempts}


def test_at_least_six_probes_with_different_end_states_are_rejected_by_the_criterion_predicted() -> None:
    report = report_of(asked())
    live = [a for a in report.attempts if a.status == "live"]
    assert len(report.probes) >= 6
    assert len({a.end for a in live if a.probe in report.probes}) == len(report.probes)
    assert all(a.probe.criterion in a.failed for a in live)
    assert report.problems == ()


def test_a_trap_is_live_where_the_data_make_it_bite_and_unplanted_where_not() -> None:
    traps = (
        Trap("above", "boundary", "takes at least for more than", asked(op=">")),
        Trap("next_door", "neighbour", "does it in Biology 10A", asked("Biology 10A")),
        Trap("lower", "boundary", "starts a little lower", asked(least=7.0)),
    )
    found = report_of(dataclasses.replace(asked(), traps=traps))
    assert status(found) | {"above": "live", "next_door": "live", "lower": "unplanted"} == status(found)
    assert [a.probe.name for a in found.problems] == ["lower"]


def test_what_a_tool_refuses_is_refused_and_no_probe() -> None:
    chores = where(scan("Chore", "chore"), eq("chore.state", lit("PUBLISHED")))
    plan = Plan(
        "school", {"chores": chores}, effects=(Effect("transition", "Chore", "chores_archive", use("chores"), KEY),)
    )
    found = report_of(plan)
    assert status(found)["dropped_condition_0"] == "refused"
    assert all(p.name != "dropped_condition_0" for p in found.probes)


def test_where_nothing_is_to_do_doing_nothing_is_no_probe_but_saying_nothing_is() -> None:
    found = report_of(asked(least=99))
    by_name = {p.name: p for p in found.probes}
    assert "report_only" not in by_name
    assert by_name["no_op"].criterion == "report soon.csv"


def test_a_change_that_no_criterion_sees_is_called_a_hole() -> None:
    state, package, plan = plan_world.state(), School(), asked()
    reference = run_in_process(compile_reference(plan, plan_world.MODEL), package, state)
    blind = "def verify(*_):\n    return [{'name': 'x', 'passed': True}]\n"
    prober = probes.Prober(plan_world.MODEL, package, state, blind, reference)
    assert prober.attempt(ProbeSpec("p", "k", "s", '# %%\nprint("Done.")\n', "x")).status == "passed"


def test_every_perturbation_of_a_plan_is_a_plan_that_can_be_asked() -> None:
    found = list(perturbed(asked()))
    assert {t.kind for t in found} >= {"dropped_condition", "boundary", "wrong_value"}
    for trap in found:
        assert trap.plan is not None
        check(trap.plan, plan_world.MODEL)
