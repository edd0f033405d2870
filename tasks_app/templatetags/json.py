"""JSON for people: indented, letters of every script as they are."""

from __future__ import annotations

import json as standard
from typing import Any

from django import template

register = template.Library()


@register.filter
def pretty(value: Any) -> str:
    return standard.dumps(value, indent=2, ensure_ascii=False, default=str)
