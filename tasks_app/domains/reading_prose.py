"""What descriptions say in words: read-only, required, defaults, enums, errors, ranges, filters, masks.

Each function reads one kind of statement by declared phrases and answers None or () where it is not made; nothing is
guessed from silence. Limits: English as Google's documents write it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tasks_app.domains.model import ErrorCase
from tasks_app.domains.reading_words import camel

READ_ONLY = re.compile(
    r"(?:^|[.\s(])(?:Read-only\b(?! except| when)(?=\s*(?:\.|$|,|Optional|Possible|The possible|This))"
    r"|Output only\b|Server-assigned)",
    re.I,
)
READ_ONLY_NOT = re.compile(r"in other contexts, it is read-only", re.I)
READ_ONLY_EXCEPT = re.compile(r"read-only,? except when (\w+?)ing\b", re.I)
IMMUTABLE = re.compile(
    r"\bImmutable\b|cannot be (?:changed|modified|updated) after|and cannot be changed"
    r"|can only be set when .{0,60} first time",
    re.I,
)
REQUIRED = re.compile(
    r"^Required\.|\bis required\b(?! to | when | for | if )|\bRequired when adding\b"
    r"|\bmust be set in a create request\b"
    r"|\bThis field is required\b|between 1 and \d+|must be a non-empty|\bMust not be `\w+UNSPECIFIED`",
    re.I,
)
DEPRECATED = re.compile(r"\bDeprecated\b|\bare deprecated\b", re.I)
DEFAULT = re.compile(
    r"(?:default (?:value|state|behavior|status)? ?is|defaults? to|[Tt]he default is) [`\"']?([A-Za-z0-9_]+)[`\"']?",
    re.I,
)
BULLET = re.compile(r"-\s+\"([A-Za-z][\w./-]*)\"\s+-\s+([^\n]*?)(?=\s+-\s+\"|\n|$)")
VALUES_LEAD = re.compile(
    r"(?:Possible values are|The possible values? (?:is|are)|(?:Valid|Acceptable|Allowed) values are)\s*:?(.*)",
    re.I | re.S,
)
INLINE_VALUE = re.compile(r"\b([a-z]+[A-Z]\w+|[A-Z]{2,}[A-Z_]+)\b,? meaning|[\"`]([A-Za-z_][\w-]*)[\"`]")
ERROR_ITEM = re.compile(r"\*\s*`([A-Z_]+)`\s*:?\s*(.*?)(?=\s*\*\s*`[A-Z_]{4,}`|$)", re.S)
PAGE_DEFAULT = re.compile(r"(?:default (?:value )?is|by default the value is|at most) (\d+)", re.I)
PAGE_MAX = re.compile(
    r"(?:never be larger than|maximum (?:value|page size|allowed value)?(?: is|:)?"
    r"|maximum, which is currently set to|coerced to) (\d+)",
    re.I,
)
MASK_LIST = re.compile(r"following fields (?:may be specified|are valid|can be specified)[^:]*:((?:\s*\*\s*`[\w.]+`)+)")
FILTER_DEFAULT = (re.compile(r"(?i:left unspecified|unspecified|otherwise)[^.]*?`([A-Z][A-Z_]+)`"),)
EQUALS_VALUE = re.compile(r"(?:with|by) (\w+) equal(?:s)? to \"(\w+)\"|with (\w+) equals \"(\w+)\"")
ORDER_FIELDS = re.compile(r"Supported fields? (?:is|are) ((?:`\w+`(?:,? and |, )?)+)")
ORDER_DEFAULT = re.compile(r"If not specified, `([\w ,]+)` is the default")
NOT_CLEARED = re.compile(r"`(\w+)` is not cleared if omitted")
REMAINS = re.compile(r"If not specified[^.]*, the [\w ]+ remains? unchanged", re.I)
NEEDS_ONE_OF = re.compile(r"At least one of ((?:`\w+`(?:,? or |, )?)+) must be (?:supplied|specified|set)", re.I)
EXCLUDES = re.compile(r"If specified, `(\w+)` must be empty")
LENGTH_BETWEEN = re.compile(r"between ([\d,]+) and ([\d,]+) characters", re.I)
LENGTH_AT_MOST = re.compile(r"(?:no (?:more|longer) than|at most|maximum length (?:of|is)) ([\d,]+) characters", re.I)
VALUE_BETWEEN = re.compile(r"(?:values are|must be) between (\d[\d,]*) and (\d[\d,]*)\b(?! characters)", re.I)
NON_NEGATIVE = re.compile(r"must be (?:a )?non-negative", re.I)
STATE_CHANGE = re.compile(r"change the `(\w+)` from `(\w+)` to `(\w+)`")
ONLY_IF_STATE = re.compile(
    r"only for an? [\w ]+? that has been ([a-z]+(?: in| out)?)\b|if the [\w ]+? has not been ([a-z]+(?: in| out)?)\b"
)
NOT_IN_STATE = re.compile(r"if the [\w ]+? is not in the `([A-Z_]+)` state")


def read_only(text: str) -> bool:
    return bool(READ_ONLY.search(text) or READ_ONLY_EXCEPT.search(text)) and not READ_ONLY_NOT.search(text)


def read_only_except(text: str) -> str:
    """The verb that may write it all the same: "Read-only, except when importing an event"."""
    found = READ_ONLY_EXCEPT.search(text)
    return found.group(1) if found else ""


def immutable(text: str) -> bool:
    return bool(IMMUTABLE.search(text))


def required(text: str) -> bool:
    return bool(REQUIRED.search(text))


def deprecated(text: str) -> bool:
    return bool(DEPRECATED.search(text[:120]))


def default(text: str) -> str | None:
    """The default a description names, as text; None without one."""
    for value, meaning in BULLET.findall(text):
        if re.search(r"this is the default|default value", meaning, re.I):
            return str(value)
    found = DEFAULT.search(text)
    return found.group(1) if found else None


def enum(text: str) -> tuple[str, ...]:
    """Values listed in prose: bullets ("- "email" - Sent by email."), or "Valid values are x, meaning …; y, …"."""
    lead = VALUES_LEAD.search(text)
    if not lead:
        return ()
    bullets = tuple(value for value, _ in BULLET.findall(lead.group(1)))
    if bullets:
        return tuple(dict.fromkeys(bullets))
    if not re.match(r"\s*[a-z]\w+, meaning", lead.group(1)):
        return ()
    return tuple(dict.fromkeys(a or b for a, b in INLINE_VALUE.findall(lead.group(1).split("\n\n")[0]) if a))


def errors(text: str) -> tuple[ErrorCase, ...]:
    """The documented failures: "* `NOT_FOUND` if no course exists with the requested ID."."""
    cases = []
    for code, when in ERROR_ITEM.findall(text):
        said = " ".join(when.split()).strip(" .*")
        if code in ERROR_CODES:
            cases.append(ErrorCase(code=code, when=said, message=said))
    return tuple(cases)


ERROR_CODES = {
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "PERMISSION_DENIED",
    "FAILED_PRECONDITION",
    "ALREADY_EXISTS",
    "RESOURCE_EXHAUSTED",
    "UNAVAILABLE",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
}


def page_default(text: str) -> int | None:
    found = PAGE_DEFAULT.search(text)
    return int(found.group(1)) if found else None


def page_max(text: str) -> int | None:
    found = PAGE_MAX.search(text)
    return int(found.group(1)) if found else None


def mask_fields(text: str) -> tuple[str, ...]:
    """The JSON names a mask may hold, in camel case."""
    found = MASK_LIST.search(text)
    return tuple(camel(name) for name in re.findall(r"`([\w.]+)`", found.group(1))) if found else ()


def filter_default(text: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """The values a list restricts itself to when the parameter is not given."""
    for pattern in FILTER_DEFAULT:
        for found in pattern.findall(text):
            if found in values:
                return (found,)
    return ()


def hidden_value(text: str) -> tuple[str, str] | None:
    """(property, value) of the rows a showX parameter hides: 'deleted events (with status equals "cancelled")'."""
    found = EQUALS_VALUE.search(text)
    return (found.group(1) or found.group(3), found.group(2) or found.group(4)) if found else None


def order_fields(text: str) -> tuple[str, ...]:
    found = ORDER_FIELDS.search(text)
    return tuple(re.findall(r"`(\w+)`", found.group(1))) if found else ()


def order_default(text: str) -> str:
    found = ORDER_DEFAULT.search(text)
    return found.group(1) if found else ""


def state_change(text: str) -> tuple[str, str, str] | None:
    """(property, from, to) of "the only valid modification is to change the `state` from `A` to `B`"."""
    found = STATE_CHANGE.search(text)
    return (found.group(1), found.group(2), found.group(3)) if found else None


def kept_when_left_out(method: str, fields: Mapping[str, str]) -> tuple[str, ...]:
    """Fields that a replacing update leaves as they are when they are not given, by the method's words or their own."""
    said = set(NOT_CLEARED.findall(method))
    return tuple(name for name, text in fields.items() if name in said or REMAINS.search(text))


def needs_one_of(text: str) -> tuple[str, ...]:
    """Parameters of which one must be given: "At least one of `user_id` or `course_id` must be supplied"."""
    found = NEEDS_ONE_OF.search(text)
    return tuple(camel(name) for name in re.findall(r"`(\w+)`", found.group(1))) if found else ()


def excluded(text: str) -> tuple[str, ...]:
    """Parameters that must not be given beside this one: "If specified, `teacher_id` must be empty"."""
    return tuple(camel(name) for name in EXCLUDES.findall(text))


def bounds(text: str, kind: str) -> dict[str, int]:
    """JSON Schema bounds that a description gives: lengths of a string, limits of a number."""
    if kind == "string":
        between = LENGTH_BETWEEN.search(text)
        at_most = LENGTH_AT_MOST.search(text)
        if between:
            return {"minLength": number(between.group(1)), "maxLength": number(between.group(2))}
        return {"maxLength": number(at_most.group(1))} if at_most else {}
    if kind in ("number", "integer"):
        between = VALUE_BETWEEN.search(text)
        if between:
            return {"minimum": number(between.group(1)), "maximum": number(between.group(2))}
        return {"minimum": 0} if NON_NEGATIVE.search(text) else {}
    return {}


def number(text: str) -> int:
    return int(text.replace(",", ""))


def needed_state(text: str) -> tuple[str, ...]:
    """States, as words or values, that a row must be in before: "only for a submission that has been turned in"."""
    participles = [a or b for a, b in ONLY_IF_STATE.findall(text)]
    return tuple(dict.fromkeys([*participles, *NOT_IN_STATE.findall(text)]))
