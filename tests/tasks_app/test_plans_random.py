"""The two compilers agree on random plans over random states; what one misunderstands, the other need not."""

from __future__ import annotations

import json
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks_app.plans.algebra import from_json, to_json
from tasks_app.plans.to_python import compile_reference
from tasks_app.plans.to_sql import compile_verifier, evaluate
from tasks_app.plans.validate import check
from tasks_app.solutions import run
from tasks_app.verification import judge
from tests.tasks_app import plan_world
from tests.tasks_app.random_plans import RandomPlan, random_state


def agree(seed: int) -> None:
    rng = Random(seed)
    state, plan = random_state(rng), RandomPlan(rng).made()
    check(plan, plan_world.MODEL)
    assert from_json(json.loads(json.dumps(to_json(plan)))) == plan
    program = compile_reference(plan, plan_world.MODEL)
    found = run(program, plan_world.TOOLS, plan_world.ToolError, state)
    assert not found.error, f"{found.error}\n{program}"
    verdict = judge(compile_verifier(plan, plan_world.MODEL), state, found.after, found.answer)
    wrong = [c for c in verdict.criteria if not c.passed]
    assert not wrong, f"{wrong}\n{program}\n{evaluate(plan, plan_world.MODEL, state)}"


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(min_value=0, max_value=2**32))
def test_both_compilers_give_the_same_end_state_for_random_plans(seed: int) -> None:
    agree(seed)
