"""Text from tools, models and files can neither run nor hide anything."""

from __future__ import annotations

import pytest

from tasks_app.templatetags.code import highlighted
from tasks_app.templatetags.safe_text import shown


@pytest.mark.parametrize(
    ("text", "wanted", "absent"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;", "<script"),
        ("a\x1b[31mred\x1b[0m", "ESC[31m", "\x1b"),
        ("\x1b]0;title\x07", "ESC]0;title", "\x1b"),
        ("abc\u202edef", "RLO", "\u202e"),
        ("zero\u200bwidth", "ZWSP", "\u200b"),
        ("null\x00byte", "␀", "\x00"),
    ],
)
def test_hidden_characters_are_made_visible(text: str, wanted: str, absent: str) -> None:
    assert wanted in shown(text)
    assert absent not in shown(text)
    assert absent not in highlighted(text, "python")
    if "script" not in text:
        assert "hidden-mark" in highlighted(text, "python")


@pytest.mark.parametrize("text", ["细胞分裂 🧬", "مرحبا", "e\u0301", "line\nnext\ttab", "Ünïcödé"])
def test_every_script_is_shown_as_it_is(text) -> None:
    assert shown(text) == text


def test_windows_line_ends_are_line_ends() -> None:
    assert shown("a\r\nb") == "a\nb"


def test_very_long_code_is_shown_plain() -> None:
    assert "c-k" not in highlighted("if x:\n" * 50_000)


def test_code_is_coloured_by_classes_only() -> None:
    html = highlighted("def f(): return 1")
    assert 'class="c-k"' in html
    assert "style=" not in html


@pytest.mark.parametrize("character", ["\ud83d", "\u00ad", "\u2060", "\U000e0041", "\u2028"])
def test_what_no_page_can_show_is_marked(character: str) -> None:
    html = shown(f"a{character}b")
    assert "hidden-mark" in html
    html.encode()
