"""Code highlighted on the server by Pygments, with classes only (static/studio/code.css): no inline style."""

from __future__ import annotations

import functools

from django import template
from django.utils.safestring import SafeString, mark_safe
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from tasks_app.templatetags.safe_text import visible

register = template.Library()
HIGHLIGHT_AT_MOST = 200_000  # characters; longer code is shown plain


class _Formatter(HtmlFormatter):
    """Pygments' own escaping knows nothing of hidden characters: each token passes `visible` instead."""

    def _translate_parts(self, value: str) -> list[str]:
        return visible(value).split("\n")


@functools.cache
def _formatter() -> HtmlFormatter:
    return _Formatter(nowrap=True, classprefix="c-")


@register.filter
def highlighted(source: str, language: str = "python") -> SafeString:
    """`{{ source|highlighted:"python" }}` inside <pre class="code">. Languages: python, json, sql, markdown."""
    text = str(source)
    if len(text) > HIGHLIGHT_AT_MOST:
        return mark_safe(visible(text))  # noqa: S308
    return mark_safe(highlight(text, get_lexer_by_name(language, stripnl=False), _formatter()).rstrip("\n"))  # noqa: S308
