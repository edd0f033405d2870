"""Runtime of verifier programs, part 2: reports and answers as people write them, read tolerantly, compared strictly.

Tolerant of form: encoding, line ends, delimiter, order of columns, 3 for 3.0, "+00:00" for "Z", true for yes. Strict of
content: the same columns, the same rows as often, sorted where an order was asked (ties in any order).
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
import unicodedata
from typing import Any

from tasks_app.plans.verifier_functions import moment, stamp, worded

NOTHING = ("", "none", "null", "n/a", "nothing", "nobody", "no one", "-")
YES, NO = ("1", "true", "yes"), ("0", "false", "no")
NUMBER = re.compile(r"(?<![\w.,-])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|[.,]\d)")


class Unreadable(ValueError):
    """A report that can't be read as what it should be; the message is for people."""


def plain(text: Any) -> str:
    return " ".join(unicodedata.normalize("NFC", str(text)).split())


def number(text: Any) -> float | None:
    try:
        found = float(str(text).strip().replace(",", ""))
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def canonical(value: Any, kind: str) -> Any:
    """A value, computed or read from a file, in the one form in which it is compared."""
    text = plain("" if value is None else value)
    if text == "" or (text.lower() in ("none", "null") and kind != "text"):
        return None
    if kind in ("integer", "real"):
        found = number(text)
        return text if found is None else round(found, 2) + 0.0 if kind == "real" else found
    if kind == "boolean":
        return 1 if text.lower() in YES else 0 if text.lower() in NO else text
    if kind == "timestamp":
        try:
            return stamp(moment(text))
        except (ValueError, OverflowError):
            return text
    return text


def decoded(data: bytes) -> str:
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else encoding)
        except UnicodeDecodeError:
            continue
    raise Unreadable("it is not text in UTF-8")


def csv_rows(text: str) -> list[list[str]]:
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error as error:
        raise Unreadable(f"it is not CSV: {error}") from error
    return [row for row in rows if row and (len(rows[0]) == 1 or row != [""])]


def json_rows(text: str) -> list[list[Any]]:
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not JSON: {error}") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Unreadable("it is not a list of objects")
    headers = list(dict.fromkeys(key for row in rows for key in row))
    return [] if not rows else [headers, *([row.get(h) for h in headers] for row in rows)]


def markdown_rows(text: str) -> list[list[str]]:
    lines = [line.strip().strip("|") for line in text.splitlines() if line.strip().startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    return [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]


def table(data: bytes, form: str, columns: list[list[str]]) -> list[tuple[Any, ...]]:
    """The rows of a report, in the order of `columns` (header, kind). Raises Unreadable."""
    text = decoded(data)
    rows = {"csv": csv_rows, "json": json_rows, "md": markdown_rows}[form](text)
    wanted = [plain(header).lower() for header, _ in columns]
    if not rows:
        if form == "json":
            return []
        raise Unreadable(f"it is empty; a first line with the columns {', '.join(h for h, _ in columns)} is due")
    found = [plain(cell).lower() for cell in rows[0]]
    if sorted(found) != sorted(wanted):
        raise Unreadable(f"its columns are {', '.join(map(str, rows[0]))}, not {', '.join(h for h, _ in columns)}")
    at = [found.index(header) for header in wanted]
    for line, row in enumerate(rows[1:], 2):
        if len(row) != len(found):
            raise Unreadable(f"line {line} has {len(row)} values for {len(found)} columns")
    kinds = [kind for _, kind in columns]
    return [tuple(canonical(row[i], kind) for i, kind in zip(at, kinds, strict=True)) for row in rows[1:]]


def in_order(rows: list[tuple[Any, ...]], keys: list[tuple[int, bool]], fold: bool) -> int | None:
    """The index of the first row that stands too early, or None. Nulls come last either way."""

    def before(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
        for i, descending in keys:
            x, y = (v.casefold() if fold and isinstance(v, str) else v for v in (a[i], b[i]))
            if x == y:
                continue
            if x is None or y is None:
                return y is None
            if isinstance(x, str) != isinstance(y, str):
                return True
            return bool(x > y) if descending else bool(x < y)
        return True

    return next((n for n, (a, b) in enumerate(itertools.pairwise(rows)) if not before(a, b)), None)


def shown(row: tuple[Any, ...]) -> str:
    return " · ".join("(empty)" if v is None else worded(v) for v in row)


def few(rows: list[str], n: int = 5) -> str:
    return "; ".join(rows[:n]) + (f"; and {len(rows) - n} more" if len(rows) > n else "")


def surplus(a: list[tuple[Any, ...]], b: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows of `a` that `b` has not, as often."""
    left = list(b)
    counts: dict[tuple[Any, ...], int] = {}
    for row in left:
        counts[row] = counts.get(row, 0) + 1
    out = []
    for row in a:
        if counts.get(row, 0):
            counts[row] -= 1
        else:
            out.append(row)
    return out


def report_judged(asked: dict[str, Any], expected: list[tuple[Any, ...]], data: bytes | None) -> tuple[bool, str]:
    """Whether a report is right, and the evidence."""
    if data is None:
        return False, f"{asked['path']} is not there; {len(expected)} rows were due"
    columns = asked["columns"]
    wanted = [tuple(canonical(v, kind) for v, (_, kind) in zip(row, columns, strict=True)) for row in expected]
    try:
        found = table(data, asked["format"], columns)
    except Unreadable as error:
        return False, f"{asked['path']} can't be read: {error}"
    missing, extra = surplus(wanted, found), surplus(found, wanted)
    if missing or extra:
        parts = [f"expected {len(wanted)} rows, found {len(found)}"]
        parts += [f"missing: {few([shown(r) for r in missing])}"] if missing else []
        parts += [f"not asked for: {few([shown(r) for r in extra])}"] if extra else []
        return False, "; ".join(parts)
    headers = [header for header, _ in columns]
    keys = [(headers.index(name), direction == "desc") for name, direction in asked["order"]]
    late = in_order(found, keys, False)
    if late is not None and in_order(found, keys, True) is not None:
        return (
            False,
            f"the rows are right but not in order: {shown(found[late])} stands before {shown(found[late + 1])}",
        )
    return True, f"{len(found)} rows as expected"


def said_value(answer: str, name: str, alone: bool) -> str | None:
    """What an answer says of `name`: after "name:" up to a comma or line end; all of it where it is the only one."""
    pattern = r"(?<!\w)" + re.escape(plain(name).lower()) + r"\W{0,3}\s*(?::|=| is )\s*(.*)"
    for line in answer.splitlines():
        found = re.search(pattern, plain(line).lower().replace("**", ""))
        if found:
            start = len(plain(line).replace("**", "")) - len(found.group(1))
            return plain(line).replace("**", "")[start:]
    return plain(answer) if alone else None


def numbers(text: str) -> list[float]:
    return [float(n.replace(",", "")) for n in NUMBER.findall(text)]


def answer_judged(asked: dict[str, Any], value: Any, answer: str, alone: bool) -> tuple[bool, str]:
    """Whether an answer says `value` under its name. Sentences are understood where they hold one number."""
    name, kind = asked["said"], asked["kind"]
    wanted = canonical(value, kind)
    said = said_value(answer, name, alone)
    expected = f"{name} should be {'none' if wanted is None else worded(wanted)}"
    if not answer.strip():
        return False, f"{expected}; nothing was said"
    if said is None:
        return False, f"{expected}; the answer says nothing of it: {answer.strip()[:200]!r}"
    if _same(said, wanted, kind, alone):
        return True, f"{name}: {'none' if wanted is None else worded(wanted)}"
    return False, f"{expected}; the answer says {said[:200]!r}"


def _same(said: str, wanted: Any, kind: str, alone: bool) -> bool:
    first = said if alone else re.split(r"[,;]\s", said)[0]
    bare = [text.strip(" .!\"'`*_“”") for text in (said, first)]
    if wanted is None:
        return any(text.lower() in NOTHING for text in bare)
    if kind in ("integer", "real"):
        found = numbers(first)
        return len(set(found)) == 1 and canonical(found[0], kind) == wanted
    texts = [canonical(text, kind) for text in bare]
    if isinstance(wanted, str):
        return any(
            (isinstance(text, str) and text.casefold() == wanted.strip(" .!\"'`*_“”").casefold())
            or text == wanted
            or (text.startswith(wanted + ",") and not alone)
            for text in map(str, texts)
        )
    return wanted in texts


def says(text: Any, facts: list[Any]) -> bool:
    """Whether a free text mentions each fact as a whole word, whatever its case and spacing."""
    found = plain(text or "").casefold()
    return all(
        re.search(r"(?<!\w)" + re.escape(plain(worded(f)).casefold()) + r"(?!\w)", found)
        for f in facts
        if f is not None
    )


def matched(candidates: list[list[int]]) -> dict[int, int]:
    """A largest matching of wishes to rows (augmenting paths): wish → row."""
    owner: dict[int, int] = {}

    def place(wish: int, seen: set[int]) -> bool:
        for row in candidates[wish]:
            if row not in seen:
                seen.add(row)
                if row not in owner or place(owner[row], seen):
                    owner[row] = wish
                    return True
        return False

    for wish in range(len(candidates)):
        place(wish, set())
    return {wish: row for row, wish in owner.items()}


def printable(text: str) -> str:
    """Evidence that can be stored and sent whatever a file held: no lone surrogates, no control characters."""
    kept = "".join(c if c.isprintable() or c == " " else "\ufffd" for c in text)
    return kept.encode("utf-8", "replace").decode("utf-8")
