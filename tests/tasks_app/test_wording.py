"""Instructions: seeded, one reading, short, without ids or names of tools."""

from __future__ import annotations

from random import Random

import pytest

from tasks_app.plans import catalogue
from tasks_app.wording.grammar import WordingError, clock, day, expand, listed, number, plural
from tasks_app.wording.rules import PRIMER_WORDS, TASK_WORDS, faults


def test_the_same_seed_gives_the_same_words_and_others_differ() -> None:
    template = "{Move|Shift|Put} it {to [day]|on [day]}."
    facts = {"day": "Monday"}
    assert expand(template, Random(1), facts) == expand(template, Random(1), facts)
    assert len({expand(template, Random(seed), facts) for seed in range(40)}) > 3


def test_a_fact_is_never_read_as_a_choice_or_a_slot() -> None:
    assert expand("Say [text].", Random(0), {"text": "a {b|c} [d]"}) == "Say a {b|c} [d]."


def test_an_unknown_fact_is_refused_with_its_name() -> None:
    with pytest.raises(WordingError, match="colour"):
        expand("[colour]", Random(0), {"name": "x"})


def test_choices_nest() -> None:
    assert {expand("{a|b {c|d}}.", Random(seed), {}) for seed in range(40)} == {"A.", "B c.", "B d."}


def test_paths_and_addresses_keep_their_small_letter_at_the_head_of_a_sentence() -> None:
    said = expand("look here. inbox/rooms.csv has it. so there. ann.lee@x.example knows.", Random(0), {})
    assert said == "Look here. inbox/rooms.csv has it. So there. ann.lee@x.example knows."


def test_numbers_days_and_times_are_said_as_people_say_them() -> None:
    assert (number(3), number(40), plural(1, "day"), plural(4, "day")) == ("three", "40", "one day", "four days")
    assert (day("2026-11-02T08:00:00Z"), day("2026-11-02", weekday=True, year=True)) == (
        "2 November",
        "Monday, 2 November 2026",
    )
    assert (clock("2026-11-02T08:30:00Z"), listed(["a", "b", "c"])) == ("08:30", "a, b and c")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Archive 123456789012.", "id"),
        ("Call courses_patch now.", "tool or column"),
        ("Set courseState to archived.", "tool or column"),
        ("Set due_time.", "tool or column"),
        ("Archive [name].", "slot"),
        ("Archive it", "sentence"),
        ("word " * 130 + "end.", "words"),
    ],
)
def test_what_an_instruction_may_not_hold_is_named(text: str, fault: str) -> None:
    assert any(fault in found for found in faults(text, tier="task", tools=["courses_patch"], columns=["due_time"]))


@pytest.mark.parametrize("name", [*catalogue.motifs(), *catalogue.primers()])
def test_every_motif_speaks_well_at_twenty_seeds(name: str) -> None:
    for seed in range(20):
        draft = catalogue.motif(name)(Random(f"{name}/{seed}"))
        limit = PRIMER_WORDS if draft.tier == "primer" else TASK_WORDS
        assert faults(draft.instruction, tier=draft.tier, tools=(), columns=()) == []
        assert len(draft.instruction.split()) <= limit


@pytest.mark.parametrize("name", catalogue.motifs())
def test_a_motif_is_worded_in_more_than_one_way(name: str) -> None:
    assert len({catalogue.motif(name)(Random(f"{name}/{seed}")).instruction for seed in range(12)}) >= 6
