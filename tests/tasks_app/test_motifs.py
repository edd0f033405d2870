"""Motifs: enough plan trees, all operators, traps that are other plans, names that only planted rows bear."""

from __future__ import annotations

from random import Random

import pytest

from tasks_app.plans import catalogue
from tasks_app.plans.algebra import to_json
from tasks_app.plans.tree import OPERATORS, depth, operators, plan_tree
from tasks_app.tasks import canonical


def drafts(names: tuple[str, ...]) -> list:
    return [catalogue.motif(name)(Random(f"{name}/0")) for name in names]


def test_motifs_have_at_least_26_distinct_plan_trees() -> None:
    assert len({plan_tree(draft.plan) for draft in drafts(catalogue.motifs())}) >= 26


def test_primers_have_at_least_12_plan_trees_of_depth_one_or_two_in_both_domains() -> None:
    primers = drafts(catalogue.primers())
    assert len({plan_tree(draft.plan) for draft in primers}) >= 12
    assert {draft.domain for draft in primers} == {"classroom", "calendar"}
    assert {depth(draft.plan) for draft in primers} <= {1, 2}


def test_every_operator_is_covered() -> None:
    found = {operator for draft in drafts(catalogue.motifs()) for operator in operators(draft.plan)}
    assert found == set(OPERATORS)


def test_half_of_the_motifs_read_or_write_workspace_files() -> None:
    made = drafts(catalogue.motifs())
    with_files = [draft for draft in made if draft.plan.files or draft.cast.files]
    assert len(with_files) * 2 >= len(made)


def test_all_outcome_kinds_occur() -> None:
    found = {catalogue.motif(name)(Random(f"{name}/{n}")).outcome_kind for name in catalogue.motifs() for n in range(4)}
    assert found == {"done", "partly_refused", "nothing_to_do"}


@pytest.mark.parametrize("name", [*catalogue.motifs(), *catalogue.primers()])
def test_a_motif_is_deterministic_and_its_traps_are_other_plans(name: str) -> None:
    first, again = (catalogue.motif(name)(Random(f"{name}/0")) for _ in range(2))
    assert canonical([to_json(first.plan), first.directives, first.instruction]) == canonical(
        [to_json(again.plan), again.directives, again.instruction]
    )
    shapes = [
        canonical([to_json(part) for part in (t.plan.lets, t.plan.effects, t.plan.files, t.plan.answers)])
        for t in first.plan.traps
        if t.plan
    ]
    own = canonical(
        [to_json(part) for part in (first.plan.lets, first.plan.effects, first.plan.files, first.plan.answers)]
    )
    assert len(set(shapes)) == len(shapes) >= 1
    assert own not in shapes


@pytest.mark.parametrize("name", catalogue.motifs())
def test_the_plan_tree_does_not_hang_on_anchors(name: str) -> None:
    trees = {plan_tree(catalogue.motif(name)(Random(f"{name}/{seed}")).plan) for seed in range(8)}
    assert len(trees) == 1


@pytest.mark.parametrize("name", catalogue.motifs())
def test_growth_reaches_into_the_scope_of_every_task(name: str) -> None:
    assert catalogue.motif(name)(Random(f"{name}/0")).cast.growth


def test_planted_names_are_refs_to_rows_planted_before() -> None:
    for draft in drafts((*catalogue.motifs(), *catalogue.primers())):
        known: set[str] = set()
        for plant in draft.cast.plants:
            for value in plant["set"].values():
                if isinstance(value, dict) and "ref" in value:
                    assert value["ref"] in known, (draft.motif, plant)
            known.add(plant["as"])
