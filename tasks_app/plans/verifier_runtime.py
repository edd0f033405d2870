"""Runtime of verifier programs, part 3: what must have changed, computed from the state before, against what has.

A private copy of the state before gets the expected updates and deletes and is compared with the state after, table by
table, row by row; expected inserts are matched with the rows that are new. Each difference is charged to the effect
that it belongs to, or to "nothing else changed". Tables named "_…" and columns that tools keep by themselves (time
stamps, etags, counts) are left out.
"""

from __future__ import annotations

import csv
import io
import sqlite3
from typing import Any

from tasks_app.plans.verifier_functions import register, worded
from tasks_app.plans.verifier_reports import (
    answer_judged,
    canonical,
    decoded,
    few,
    matched,
    plain,
    printable,
    report_judged,
    says,
)

Row = tuple[Any, ...]
NOTHING_ELSE = "nothing else changed"


class Asked:
    """The constants of one task's verifier; `to_sql` says what they hold."""

    def __init__(
        self,
        functions: tuple[str, ...],
        steps: list[Any],
        effects: list[dict[str, Any]],
        files: list[dict[str, Any]],
        answers: list[dict[str, Any]],
        made_along: dict[str, list[Any]],
        tables: dict[str, dict[str, Any]],
    ) -> None:
        self.functions, self.steps, self.effects, self.files = functions, steps, effects, files
        self.answers, self.made_along, self.tables = answers, made_along, tables


class Charge:
    """What speaks against one criterion, in words, and how many changes it found as expected."""

    def __init__(self) -> None:
        self.due, self.met, self.faults = 0, 0, list[str]()


def q(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def listed(names: list[str]) -> str:
    return ", ".join(q(n) for n in names)


def dicts(cursor: sqlite3.Cursor) -> list[dict[str, Any]]:
    return [dict(zip([d[0] for d in cursor.description], row, strict=True)) for row in cursor.fetchall()]


def prepared(task: Asked, before: sqlite3.Connection, files: dict[str, bytes]) -> sqlite3.Connection:
    """A private copy of the state before, with a temporary table for each let and each effect."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    copy.deserialize(before.serialize())
    copy.execute("PRAGMA temp_store = MEMORY")
    register(copy, task.functions)
    for step in task.steps:
        if step[0] == "sql":
            copy.execute(step[1])
        else:
            load_file(copy, step[1], files.get(step[2]), step[2], step[3])
    return copy


def load_file(copy: sqlite3.Connection, table: str, data: bytes | None, path: str, columns: list[list[str]]) -> None:
    """A CSV of the workspace as a temporary table; `columns` are (header, kind, name in the table)."""
    if data is None:
        raise LookupError(f"the task needs {path}, which the state before does not hold")
    rows = list(csv.reader(io.StringIO(decoded(data))))
    at = [rows[0].index(header) for header, _, _ in columns]
    kinds = [kind for _, kind, _ in columns]
    copy.execute(f"CREATE TEMP TABLE {table} ({listed([name for _, _, name in columns])})")
    marks = ", ".join("?" for _ in columns)
    values = [tuple(file_value(row[i], kind) for i, kind in zip(at, kinds, strict=True)) for row in rows[1:] if row]
    copy.executemany(f"INSERT INTO {table} VALUES ({marks})", values)


def file_value(text: str, kind: str) -> Any:
    if text == "":
        return None
    if kind in ("integer", "real"):
        return int(text) if kind == "integer" else float(text)
    return int(text.lower() in ("1", "true", "yes")) if kind == "boolean" else text


class Comparison:
    """Expected state (main, after `apply`) against the state after (schema `found`)."""

    def __init__(
        self, task: Asked, before: sqlite3.Connection, copy: sqlite3.Connection, after: sqlite3.Connection
    ) -> None:
        self.task, self.before, self.copy = task, before, copy
        copy.execute("ATTACH ':memory:' AS found")
        copy.deserialize(after.serialize(), name="found")
        self.charges = {e["name"]: Charge() for e in task.effects}
        self.charges[NOTHING_ELSE] = Charge()
        self.touched: dict[tuple[str, Row], list[dict[str, Any]]] = {}
        self.columns = {t: [r[1] for r in copy.execute(f"PRAGMA main.table_info({q(t)})")] for t in task.tables}

    def run(self) -> None:
        for effect in self.task.effects:
            if effect["kind"] != "create":
                self.apply(effect)
        new = {t: rows for t in self.task.tables if (rows := self.table(t))}
        new = self.created(new)
        for table, rows in new.items():
            for row in rows:
                self.fault_of(table, "create", f"not asked for: {self.called(table, row)}", set(row), row)
        for effect in self.task.effects:
            self.texts(effect)

    # -- the expected state

    def apply(self, effect: dict[str, Any]) -> None:
        """Carries an effect out on the expected state and notes the rows it touches."""
        table, rows, key = effect["table"], q(effect["rows"]), effect["key"]
        at = " AND ".join(f"t.{q(c)} = e.{q('k:' + c)}" for c in key)
        if (
            dup := self.copy.execute(f"SELECT COUNT(*) FROM {rows}").fetchone()[0]
            - self.copy.execute(
                f"SELECT COUNT(*) FROM (SELECT DISTINCT {listed(['k:' + c for c in key])} FROM {rows})"
            ).fetchone()[0]
        ):
            raise ValueError(f"{effect['name']}: {dup} rows are asked to become two things at once")
        pk = self.task.tables[table]["key"]
        keys = self.copy.execute(
            f"SELECT {', '.join('t.' + q(c) for c in pk)} FROM main.{q(table)} t JOIN {rows} e ON {at}"
        )
        hit = keys.fetchall()
        self.charges[effect["name"]].due += len(hit)
        for row in hit:
            self.touched.setdefault((table, row), []).append(effect)
        sets = [f"{q(c)} = e.{q('s:' + c)}" for c in effect["set"]]
        for below, pairs in effect["below"]:
            self.follow(effect, below, pairs, rows)
        if effect["kind"] == "delete":
            self.copy.execute(
                f"DELETE FROM main.{q(table)} WHERE ({listed(key)}) IN "
                f"(SELECT {listed(['k:' + c for c in key])} FROM {rows})"
            )
        elif sets:
            self.copy.execute(f"UPDATE main.{q(table)} AS t SET {', '.join(sets)} FROM {rows} e WHERE {at}")
            if effect["kind"] == "rekey":
                moved = [f"e.{q('s:' + c)}" if c in effect["set"] else f"e.{q('k:' + c)}" for c in pk]
                for row in self.copy.execute(f"SELECT {', '.join(moved)} FROM {rows} e").fetchall():
                    self.touched.setdefault((table, row), []).append(effect)

    def follow(self, effect: dict[str, Any], table: str, pairs: list[list[str]], rows: str) -> None:
        """Rows below: deleted, or re-keyed, with the row they hang on."""
        mine, theirs = listed([a for a, _ in pairs]), listed(["k:" + b for _, b in pairs])
        pk = listed(self.task.tables[table]["key"])
        where = f"({mine}) IN (SELECT {theirs} FROM {rows})"
        for row in self.copy.execute(f"SELECT {pk} FROM main.{q(table)} WHERE {where}").fetchall():
            self.touched.setdefault((table, row), []).append(effect)
        if effect["kind"] == "delete":
            self.copy.execute(f"DELETE FROM main.{q(table)} WHERE {where}")
            return
        sets = [f"{q(a)} = e.{q('s:' + b)}" for a, b in pairs if b in effect["set"]]
        at = " AND ".join(f"t.{q(a)} = e.{q('k:' + b)}" for a, b in pairs)
        if sets:
            self.copy.execute(f"UPDATE main.{q(table)} AS t SET {', '.join(sets)} FROM {rows} e WHERE {at}")

    # -- the comparison

    def table(self, table: str) -> list[dict[str, Any]]:
        """Charges the differences of one table; what is new in it is handed back."""
        key = self.task.tables[table]["key"]
        compared = [c for c in self.columns[table] if c not in self.task.tables[table]["ignored"]]
        at = " AND ".join(f"f.{q(c)} = m.{q(c)}" for c in key)
        names = ", ".join(f"{side}.{q(c)}" for side in "mf" for c in compared)
        unlike = " OR ".join([f"f.{q(key[0])} IS NULL", *(f"m.{q(c)} IS NOT f.{q(c)}" for c in compared)])
        for both in self.copy.execute(
            f"SELECT {names} FROM main.{q(table)} m LEFT JOIN found.{q(table)} f ON {at} WHERE {unlike}"
        ).fetchall():
            expected, found = (
                dict(zip(compared, side, strict=True)) for side in (both[: len(compared)], both[len(compared) :])
            )
            if found[key[0]] is None:
                self.vanished(table, tuple(expected[c] for c in key), expected)
            else:
                self.differs(table, tuple(expected[c] for c in key), expected, found)
        come = self.copy.execute(
            f"SELECT {listed(compared)} FROM found.{q(table)} f "
            f"WHERE NOT EXISTS (SELECT 1 FROM main.{q(table)} m WHERE {at})"
        ).fetchall()
        rows = [dict(zip(compared, row, strict=True)) for row in come]
        return [row for row in rows if not self.still_there(table, tuple(row[c] for c in key), row)]

    def was_there(self, table: str, key: Row) -> bool:
        at = " AND ".join(f"{q(c)} IS ?" for c in self.task.tables[table]["key"])
        return self.before.execute(f"SELECT 1 FROM {q(table)} WHERE {at}", key).fetchone() is not None

    def differs(self, table: str, key: Row, expected: dict[str, Any], found: dict[str, Any]) -> None:
        effects = self.touched.get((table, key), [])
        loose = {c for e in effects for c in (*e["facts"], *e["free"])}
        wrong = {c for c in expected if expected[c] != found[c] and c not in loose}
        if not wrong:
            return
        words = ", ".join(f"{c} is {self.value(found[c])}, not {self.value(expected[c])}" for c in sorted(wrong))
        said = f"{self.called(table, expected)}: {words}"
        meant = [e for e in effects if wrong & set(e["set"]) or e["table"] != table]
        for effect in meant:
            self.charges[effect["name"]].faults.append(said)
        if not meant:
            self.fault_of(table, "update", f"should have stayed as it was: {said}", wrong, found)

    def still_there(self, table: str, key: Row, row: dict[str, Any]) -> bool:
        """Whether the row should be gone and is not; charges it."""
        if not self.was_there(table, key):
            return False
        effects = self.touched.get((table, key), [])
        name = effects[-1]["name"] if effects else NOTHING_ELSE
        self.charges[name].faults.append(f"is still there: {self.called(table, row)}")
        return True

    def vanished(self, table: str, key: Row, row: dict[str, Any]) -> None:
        if effects := self.touched.get((table, key)):
            self.charges[effects[-1]["name"]].faults.append(f"is gone: {self.called(table, row)}")
        else:
            self.fault_of(table, "delete", f"is gone: {self.called(table, row)}", set(), row)

    def fault_of(self, table: str, kind: str, words: str, columns: set[str], found: dict[str, Any]) -> None:
        """A change that nobody asked for, charged to the effect that went too far, else to "nothing else changed"."""
        near = [e for e in self.task.effects if self.reaches(e, table, kind, columns)]
        near.sort(key=lambda e: sum(found.get(c) != value for c, value in e["constants"].items()))
        self.charges[near[0]["name"] if near else NOTHING_ELSE].faults.append(words)

    def reaches(self, effect: dict[str, Any], table: str, kind: str, columns: set[str]) -> bool:
        """Whether such a change of the table is what the effect does, to rows that it should have left alone."""
        kinds = ("update", "rekey") if kind == "update" else (kind, "rekey")
        below = kind == "delete" and any(b[0] == table for b in effect["below"])
        within = kind != "update" or columns <= {*effect["set"], *effect["facts"], *effect["free"]}
        return effect["kind"] in kinds and (effect["table"] == table or below) and within

    # -- inserts

    def created(self, new: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
        """Matches new rows with the inserts asked for; what is left was not asked for."""
        for effect in self.task.effects:
            if effect["kind"] != "create":
                continue
            charge, table = self.charges[effect["name"]], effect["table"]
            wanted = dicts(self.copy.execute(f"SELECT * FROM {q(effect['rows'])}"))
            rows = new.get(table, [])
            pairs = matched([[j for j, row in enumerate(rows) if self.fits(effect, w, row)] for w in wanted])
            charge.due += len(wanted)
            charge.met += len(pairs)
            made = [rows[j] for j in pairs.values()]
            charge.faults += [f"missing: {self.wish(effect, w)}" for i, w in enumerate(wanted) if i not in pairs]
            new = {**new, table: [row for j, row in enumerate(rows) if j not in set(pairs.values())]}
            new = self.without_made_along(table, made, new)
        return new

    def without_made_along(
        self, table: str, made: list[dict[str, Any]], new: dict[str, list[dict[str, Any]]]
    ) -> dict[str, list[dict[str, Any]]]:
        """Rows that the service itself hangs below a row it creates; parts of it are the solver's doing and stay."""
        out = dict(new)
        for below, pairs in self.task.made_along.get(table, []):
            if not self.task.tables[below]["part"] and below in out:
                owners = {tuple(row[b] for _, b in pairs) for row in made}
                out[below] = [row for row in out[below] if tuple(row[a] for a, _ in pairs) not in owners]
        return out

    def fits(self, effect: dict[str, Any], wanted: dict[str, Any], row: dict[str, Any]) -> bool:
        fixed = all(row[c] == wanted[f"s:{c}"] for c in effect["set"] if c in row)
        usual = all(row[c] == value for c, value in effect["defaults"].items() if c in row)
        return fixed and usual and all(says(row[c], [wanted[f] for f in facts]) for c, facts in effect["facts"].items())

    def wish(self, effect: dict[str, Any], wanted: dict[str, Any]) -> str:
        values = [f"{c} {self.value(wanted['s:' + c])}" for c in effect["set"]]
        values += [
            f"{c} that says {', '.join(worded(wanted[f]) for f in facts)}" for c, facts in effect["facts"].items()
        ]
        return f"{self.task.tables[effect['table']]['noun']} with " + ", ".join(values)

    def texts(self, effect: dict[str, Any]) -> None:
        """Free-worded columns of updated rows: each must say its facts."""
        if effect["kind"] == "create" or not effect["facts"]:
            return
        at = " AND ".join(f"t.{q(c)} = e.{q('k:' + c)}" for c in effect["key"])
        cursor = self.copy.execute(
            f"SELECT t.*, e.* FROM found.{q(effect['table'])} t JOIN {q(effect['rows'])} e ON {at}"
        )
        for row in dicts(cursor):
            for column, facts in effect["facts"].items():
                if not says(row[column], [row[f] for f in facts]):
                    self.charges[effect["name"]].faults.append(
                        f"{self.called(effect['table'], row)}: {column} is {self.value(row[column])} and does not say "
                        f"{', '.join(worded(row[f]) for f in facts)}"
                    )

    # -- words

    def called(self, table: str, row: dict[str, Any]) -> str:
        spec = self.task.tables[table]
        names = [worded(row[c]) for c in spec["called"] if row.get(c) not in (None, "")]
        return f"{spec['noun']} “{names[0] if names else ' / '.join(worded(row.get(c)) for c in spec['key'])}”"

    def value(self, value: Any) -> str:
        return "empty" if value is None else f"“{plain(value)[:120]}”" if isinstance(value, str) else worded(value)


def changed_files(task: Asked, before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    reports = {f["path"] for f in task.files}
    out = [f"file {p} is gone" for p in sorted(before.keys() - after.keys() - reports)]
    out += [f"file {p} was not asked for" for p in sorted(after.keys() - before.keys() - reports)]
    return out + [
        f"file {p} was changed" for p in sorted(before.keys() & after.keys() - reports) if before[p] != after[p]
    ]


def effective(copy: sqlite3.Connection, effect: dict[str, Any]) -> list[Row]:
    """The rows of an effect that change something: not what is gone, or already as it is asked to be."""
    rows, table = q(effect["rows"]), q(effect["table"])
    if effect["kind"] == "create":
        return copy.execute(f"SELECT * FROM {rows}").fetchall()
    at = " AND ".join(f"t.{q(c)} = e.{q('k:' + c)}" for c in effect["key"])
    done = " AND ".join(f"t.{q(c)} IS e.{q('s:' + c)}" for c in effect["set"])
    where = f" WHERE NOT ({done})" if done and not effect["facts"] else ""
    return copy.execute(f"SELECT e.* FROM {rows} e JOIN main.{table} t ON {at}{where}").fetchall()


def expectation(
    task: Asked, before: sqlite3.Connection, files_before: dict[str, bytes], lets: dict[str, str]
) -> dict[str, Any]:
    """What each criterion expects, as texts of rows, and the rows of lets (name → table)."""
    copy = prepared(task, before, files_before)
    try:
        out: dict[str, Any] = {e["name"]: sorted(map(repr, effective(copy, e))) for e in task.effects}
        for f in task.files:
            rows = [
                tuple(canonical(v, k) for v, (_, k) in zip(r, f["columns"], strict=True))
                for r in copy.execute(f["rows"])
            ]
            out[f["name"]] = sorted(map(repr, rows))
        for a in task.answers:
            out[a["name"]] = canonical((copy.execute(a["value"]).fetchone() or (None,))[0], a["kind"])
        for let, table in lets.items():
            out[f"let {let}"] = dicts(copy.execute(f"SELECT * FROM temp.{table}"))
        return out
    finally:
        copy.close()


def judged(
    task: Asked,
    before: sqlite3.Connection,
    after: sqlite3.Connection,
    files_before: dict[str, bytes],
    files_after: dict[str, bytes],
    answer: str,
) -> list[dict[str, Any]]:
    """The criteria, in the order effects, reports, answers, nothing else."""
    copy = prepared(task, before, files_before)
    try:
        reports = [(f, copy.execute(f["rows"]).fetchall()) for f in task.files]
        values = [(a, (copy.execute(a["value"]).fetchone() or (None,))[0]) for a in task.answers]
        comparison = Comparison(task, before, copy, after)
        comparison.run()
    finally:
        copy.close()
    elsewhere = comparison.charges[NOTHING_ELSE]
    elsewhere.faults += changed_files(task, files_before, files_after)
    out = []
    for effect in task.effects:
        charge = comparison.charges[effect["name"]]
        count = f"{charge.due} due" + (f", {charge.met} found" if effect["kind"] == "create" else "")
        out.append(
            (
                effect["name"],
                not charge.faults,
                f"{count}; {few(charge.faults)}" if charge.faults else f"{charge.due} as expected",
            )
        )
    out += [(f["name"], *report_judged(f, rows, files_after.get(f["path"]))) for f, rows in reports]
    out += [(a["name"], *answer_judged(a, value, answer, len(values) == 1)) for a, value in values]
    out.append((NOTHING_ELSE, not elsewhere.faults, few(elsewhere.faults) or "every other row and file is as it was"))
    return [{"name": name, "passed": passed, "detail": printable(detail)} for name, passed, detail in out]
