"""Text from tools, models and files, shown so that it can't hide or run anything.

Escaped like all template output; on top of that, control characters, ANSI sequences and marks that turn the reading
direction are made visible. Newlines and tabs stay; letters of every script stay as they are.
"""

from __future__ import annotations

import re

from django import template
from django.utils.html import conditional_escape, escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

BIDI = {
    "\u061c": "ALM",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\u00ad": "SHY",
    "\u200b": "ZWSP",
    "\u2060": "WJ",
    "\ufeff": "BOM",
}
ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?")
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f" + "".join(BIDI) + "\u2028\u2029\ud800-\udfff\U000e0000-\U000e007f]")


def mark_of(character: str) -> str:
    if character in BIDI:
        return BIDI[character]
    if ord(character) < 32:
        return chr(0x2400 + ord(character))
    return f"U+{ord(character):04X}"  # line separators, lone surrogates, invisible tag characters


def visible(text: str) -> str:
    """The text as escaped HTML with its hidden characters as marks. "\\r\\n" counts as a newline."""
    text = text.replace("\r\n", "\n")
    parts: list[str] = []
    at = 0
    for found in re.finditer(f"{ANSI.pattern}|{HIDDEN.pattern}", text):
        parts.append(escape(text[at : found.start()]))
        whole = found.group()
        word = f"ESC{whole[1:]}" if len(whole) > 1 else mark_of(whole)
        parts.append(f'<span class="hidden-mark" title="a character that is not shown">{escape(word)}</span>')
        at = found.end()
    parts.append(escape(text[at:]))
    return "".join(parts)


@register.filter
def shown(value: object) -> SafeString:
    """`{{ text|shown }}`: any value as text, escaped, with hidden characters marked."""
    if isinstance(value, SafeString):
        return conditional_escape(value)
    return mark_safe(visible(str(value)))  # noqa: S308  (escaped piece by piece in `visible`)
