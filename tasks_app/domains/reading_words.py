"""Words of identifiers: splitting, number, participles, and the nouns people say.

The lexicons are small and about English and office services in general; nothing here names an API. Limits: English
only, irregular forms by list.
"""

from __future__ import annotations

import re

WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
IRREGULAR_PLURALS = {
    "person": "people",
    "child": "children",
    "criterion": "criteria",
    "alias": "aliases",
    "status": "statuses",
}
UNCOUNTED = {"work", "metadata", "information", "media", "history", "feedback", "settings", "acl", "freebusy"}
IRREGULAR_PARTICIPLES = {
    "send": "sent",
    "set": "set",
    "put": "put",
    "hide": "hidden",
    "show": "shown",
    "read": "read",
    "withdraw": "withdrawn",
    "sell": "sold",
    "buy": "bought",
    "pay": "paid",
    "ship": "shipped",
    "cancel": "cancelled",
    "submit": "submitted",
    "stop": "stopped",
    "trash": "trashed",
    "undelete": "undeleted",
    "freeze": "frozen",
    "write": "written",
    "give": "given",
    "take": "taken",
    "begin": "begun",
    "deny": "denied",
    "apply": "applied",
    "mark": "marked",
    "lock": "locked",
}
SPELLINGS = {"canceled": "cancelled", "cancelled": "cancelled"}
# What people say for a schema's words; the longest match wins. Words with a plural of their own give both.
NOUNS = {
    ("course", "work", "material"): ("material", "materials"),
    ("course", "work"): ("assignment", "assignments"),
    ("student", "submission"): ("submission", "submissions"),
    ("user", "profile"): ("person", "people"),
    ("attendee",): ("guest", "guests"),
    ("acl", "rule"): ("sharing rule", "sharing rules"),
    ("calendar", "list", "entry"): ("calendar", "calendars"),
    ("add", "on", "attachment"): ("add-on attachment", "add-on attachments"),
    ("add", "on", "attachment", "student", "submission"): ("add-on submission", "add-on submissions"),
    ("event", "reminder"): ("reminder", "reminders"),
    ("label", "properties"): ("label", "labels"),
}
SQL_WORDS = {
    "add",
    "all",
    "and",
    "as",
    "by",
    "case",
    "check",
    "column",
    "commit",
    "create",
    "default",
    "delete",
    "desc",
    "distinct",
    "drop",
    "else",
    "end",
    "exists",
    "from",
    "group",
    "having",
    "in",
    "index",
    "insert",
    "into",
    "is",
    "join",
    "key",
    "limit",
    "not",
    "null",
    "on",
    "or",
    "order",
    "primary",
    "references",
    "select",
    "set",
    "table",
    "then",
    "to",
    "transaction",
    "union",
    "unique",
    "update",
    "using",
    "values",
    "when",
    "where",
    "with",
}


def words(identifier: str) -> tuple[str, ...]:
    """ "courseWorkId" → ("course", "work", "id"); "iCalUID" → ("ical", "uid"); "RECLAIMED_BY" → ("reclaimed", "by")."""
    found = [w.lower() for w in WORD.findall(identifier.replace("iCal", "Ical"))]
    return tuple(found)


def snake(identifier: str) -> str:
    return "_".join(words(identifier))


def camel(snake_name: str) -> str:
    """ "due_date" → "dueDate": masks are documented in snake case and sent in camel case."""
    head, *tail = snake_name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in tail)


def singular(word: str) -> str:
    for one, many in IRREGULAR_PLURALS.items():
        if word == many:
            return one
    if word == "ids":
        return "id"
    if word in UNCOUNTED or word in IRREGULAR_PLURALS or len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word


def plural(word: str) -> str:
    if word in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[word]
    if word in UNCOUNTED or singular(word) != word:
        return word
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def stem(identifier: str) -> tuple[str, ...]:
    """The words of an identifier with the last one in the singular: what two names of one thing share."""
    found = words(identifier)
    return (*found[:-1], singular(found[-1])) if found else ()


def nouns(identifier: str, drop: tuple[str, ...] = ()) -> tuple[str, str]:
    """Singular and plural as a person says them. `drop` are leading words that the context says already."""
    found = stem(identifier)
    for size in range(len(found), 0, -1):
        if found[-size:] in NOUNS and (size == len(found) or size > 1 or found[:-size] == drop):
            return NOUNS[found[-size:]]
    if drop and found[: len(drop)] == drop and len(found) > len(drop):
        found = found[len(drop) :]
    return " ".join(found), " ".join((*found[:-1], plural(found[-1])))


def participle(verb: str) -> str:
    """ "accept" → "accepted", "cancel" → "cancelled", "turn" → "turned"."""
    if verb in IRREGULAR_PARTICIPLES:
        return IRREGULAR_PARTICIPLES[verb]
    if verb.endswith("e"):
        return verb + "d"
    return verb[:-1] + "ied" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else verb + "ed"


def means(verb: tuple[str, ...], state: tuple[str, ...]) -> bool:
    """Whether a verb leads to a state: its whole participle, and nothing else but who did it.

    ("turn", "in") → TURNED_IN; ("reclaim",) → RECLAIMED_BY_STUDENT; ("add",) never → ANYONE_CAN_ADD.
    """
    wanted = (participle(verb[0]), *verb[1:])
    state = tuple(SPELLINGS.get(word, word) for word in state)
    rest = state[len(wanted) :]
    return state[: len(wanted)] == wanted and (not rest or rest[0] in ("by", "from"))


def column_name(path: str) -> str:
    """A column for a JSON path: words joined; a leaf that only repeats its nest left out; no SQL keyword.

    "name.fullName" → name_full_name; "studentViewUri.uri" → student_view_uri; "organizer.email" → organizer_email.
    """
    found: tuple[str, ...] = ()
    for segment in path.split("."):
        leaf = words(segment)
        if found and leaf == found[-len(leaf) :]:
            continue
        found = (*found, *leaf)
    name = "_".join(found)
    return f"{name}_value" if name in SQL_WORDS else name
