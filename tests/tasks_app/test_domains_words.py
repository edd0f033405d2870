"""The small lexicons: words, numbers of nouns, participles; and each phrase that descriptions are read by."""

from __future__ import annotations

import pytest

from tasks_app.domains import reading_prose as prose
from tasks_app.domains import reading_words as lexicon


@pytest.mark.parametrize(
    ("identifier", "split"),
    [
        ("courseWorkId", ("course", "work", "id")),
        ("iCalUID", ("ical", "uid")),
        ("RECLAIMED_BY_STUDENT", ("reclaimed", "by", "student")),
        ("hangoutsMeet", ("hangouts", "meet")),
        ("URLMap", ("url", "map")),
        ("", ()),
    ],
)
def test_words_of_an_identifier(identifier: str, split: tuple[str, ...]) -> None:
    assert lexicon.words(identifier) == split


@pytest.mark.parametrize(
    ("verb", "state", "leads"),
    [
        ("turnIn", "TURNED_IN", True),
        ("return", "RETURNED", True),
        ("reclaim", "RECLAIMED_BY_STUDENT", True),
        ("cancel", "canceled", True),
        ("publish", "PUBLISHED", True),
        ("quickAdd", "anyoneCanAddSelf", False),
        ("moveDevicesToOu", "DOMAIN_MOVE", False),
        ("turnIn", "TURNED_OFF", False),
        ("accept", "ACCEPTED_WITH_CHANGES", False),
    ],
)
def test_verb_means_a_state_only_by_its_whole_participle(verb: str, state: str, leads: bool) -> None:
    assert lexicon.means(lexicon.words(verb), lexicon.words(state)) is leads


@pytest.mark.parametrize(
    ("one", "many"),
    [("criterion", "criteria"), ("reply", "replies"), ("alias", "aliases"), ("box", "boxes"), ("course", "courses")],
)
def test_singular_and_plural_are_inverse(one: str, many: str) -> None:
    assert lexicon.plural(one) == many
    assert lexicon.singular(many) == one


@pytest.mark.parametrize(
    ("path", "column"),
    [
        ("name.fullName", "name_full_name"),
        ("studentViewUri.uri", "student_view_uri"),
        ("organizer.email", "organizer_email"),
        ("primary", "primary_value"),
    ],
)
def test_columns_are_named_by_their_path_and_never_by_a_keyword(path: str, column: str) -> None:
    assert lexicon.column_name(path) == column


@pytest.mark.parametrize(
    ("text", "is_read_only"),
    [
        ("Identifier of the course. Read-only.", True),
        ("Output only. When it was made.", True),
        ("The organizer of the event. Read-only, except when importing an event.", True),
        ("In other contexts, it is read-only.", False),
        ("This returns an error if read-only fields are set.", False),
    ],
)
def test_read_only_is_said_in_words(text: str, is_read_only: bool) -> None:
    assert prose.read_only(text) is is_read_only


def test_enum_is_read_from_bullets_and_from_running_text() -> None:
    bullets = 'Status. Possible values are:  \n- "confirmed" - The default. \n- "tentative" - Perhaps. '
    running = "Whether to decline. Valid values are declineNone, meaning nothing; declineAll, meaning everything."
    assert prose.enum(bullets) == ("confirmed", "tentative")
    assert prose.enum(running) == ("declineNone", "declineAll")
    assert prose.enum("One of many values.") == ()


def test_default_of_a_list_is_read_from_each_phrase() -> None:
    states = ("PUBLISHED", "DRAFT", "PENDING")
    for text in (
        "If this argument is left unspecified, the default value is `PUBLISHED`.",
        "If unspecified, items with a work status of `PUBLISHED` is returned.",
        "If specified, only these. Otherwise, results with a `state` of `PUBLISHED` are returned.",
    ):
        assert prose.filter_default(text, states) == ("PUBLISHED",)
    assert prose.filter_default("If unspecified, courses in any state are returned.", states) == ()


def test_errors_keep_their_code_and_words() -> None:
    text = "Makes it. This method returns the following error codes: * `NOT_FOUND` if there is none. * `NOT_A_CODE` x."
    assert [(case.code, case.when) for case in prose.errors(text)] == [("NOT_FOUND", "if there is none")]
