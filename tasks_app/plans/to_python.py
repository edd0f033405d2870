"""Plan → reference program: what a careful person would write over the tools, in cells that print what they read.

Options make it the program of someone who is not careful, for probes: first_page (no further pages), default_filter
(lists hide what they hide), no_effects or report_only, no_reports, twice, partial (the last row left out), over_reach
(the first create done once more), reverse_order (a sorted report turned round), short_report (its last row left out),
empty_report, blank_text (free texts without facts), scratch (a file of one's own left behind).
Shares types with `to_sql`, no code.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from tasks_app.domains.model import Attr, DomainModel, Entity, Op
from tasks_app.plans.algebra import Answer, Effect, FileReport, Part, Plan, Rel
from tasks_app.plans.effects import links
from tasks_app.plans.python_expressions import HELPERS, IMPORTS, Rows, spelled
from tasks_app.plans.python_reading import WIDTH
from tasks_app.plans.python_relations import Relations

MARK = "# %%"
OPTIONS = frozenset(
    {
        "first_page",
        "default_filter",
        "no_effects",
        "report_only",
        "no_reports",
        "twice",
        "partial",
        "over_reach",
        "reverse_order",
        "short_report",
        "empty_report",
        "blank_text",
        "scratch",
    }
)


def compile_reference(
    plan: Plan, model: DomainModel, *, cells: Literal["many", "one"] = "many", options: Iterable[str] = ()
) -> str:
    """The text of a program in `# %%` cells; its last line prints the final answer."""
    return Program(plan, model, frozenset(options)).text(cells)


class Program:
    def __init__(self, plan: Plan, model: DomainModel, options: frozenset[str]) -> None:
        if unknown := options - OPTIONS:
            raise ValueError(f"no option {sorted(unknown)}; there are {sorted(OPTIONS)}")
        self.plan, self.model, self.options = plan, model, options
        self.relations = Relations(plan, model, options)
        self.python = self.relations.python
        self.cells: list[list[str]] = []
        self.made: dict[Rel, str] = {}

    def text(self, cells: str) -> str:
        for let, rel in self.plan.lets.items():
            self._let(let, rel)
        parts: tuple[Part, ...] = (*self.plan.effects, *self.plan.files, *self.plan.answers)
        made = {id(part): self._rows(part.rel) for part in parts}  # all is read before anything is changed
        if not self.options & {"no_effects", "report_only"}:
            for i, effect in enumerate(self.plan.effects):
                self._effect(effect, made[id(effect)], first=i == 0)
        if "no_reports" not in self.options:
            for report in self.plan.files:
                self._report(report, made[id(report)])
        names = [self._answer_value(a, made[id(a)]) for a in self.plan.answers]
        if "scratch" in self.options:
            self.cells.append(['with open("scratch.txt", "w") as file:', '    file.write("checked")'])
        last = [*self.relations.lines, self._said(names)]
        head = self._head()
        if cells == "one":
            return "\n".join([MARK, *head, *(line for cell in self.cells for line in cell), *last]) + "\n"
        body = [*self.cells, last] if self.cells else [last]
        body[0] = [*head, *body[0]]
        return "\n\n".join("\n".join([MARK, *cell]) for cell in body) + "\n"

    def _head(self) -> list[str]:
        used = self.python.used
        imports = [f"import {m}" for m in ("csv", "json", "os") if m in used]
        imports += [IMPORTS[n] for n in ("moment", "zone") if n in used]
        lines = [*imports, ""] if imports else []
        for name, source in HELPERS.items():
            if name in used:
                lines += [*self._helper(name, source).rstrip("\n").split("\n"), "", ""]
        return lines

    def _helper(self, name: str, source: str) -> str:
        if name != "every":
            return source
        if "first_page" in self.options:
            return "def every(tool, key, **arguments):\n    return tool(**arguments).get(key, [])\n"
        token, following = self.relations.pager or ("pageToken", "nextPageToken")
        return source.replace("{token}", token).replace("{next}", following)

    def _close(self) -> None:
        """Ends a cell: the statements written since the last one."""
        if self.relations.lines:
            self.cells.append(self.relations.lines[:])
            self.relations.lines.clear()

    def _let(self, let: str, rel: Rel) -> None:
        name = self.relations.let_names[let]
        rows = self.relations.emit(rel, wish=f"={name}")
        if rows != name:
            self.relations.lines.append(f"{name} = {rows}")
        self.relations.lines.append(self.relations.sample(rel, name))
        self._close()

    def _rows(self, rel: Rel) -> str:
        """The variable of an effect's, report's or answer's rows; a cell of its own where they are not a let's."""
        if rel not in self.made:
            self.made[rel] = self.relations.emit(rel)
            if self.relations.lines:
                self.relations.lines.append(self.relations.sample(rel, self.made[rel]))
            self._close()
        return self.made[rel]

    # -- effects

    def _effect(self, effect: Effect, rows: str, first: bool) -> None:
        op = self.model.op(effect.tool)
        spell = Rows({"row": self.relations.scope.columns(effect.rel)})
        entity = self.model.entity(effect.entity)
        if entity.kind == "part" and op.entity != entity.name:
            call = self._part_call(effect, entity, op, spell)
        else:
            call = called(f"tools.{op.tool}", self._arguments(effect, entity, op, spell))
        loop = f"{rows}[:-1]" if first and "partial" in self.options else rows
        block = [f"for row in {loop}:", *(f"    {line}" for line in call)]
        lines = self.relations.lines
        lines += block
        if "twice" in self.options:
            lines += block
        if first and "over_reach" in self.options:
            lines += [f"for row in {rows}[:1]:", *block[1:]]
        lines.append(f'print("{effect.kind}:", len({rows}), "{entity.plural or entity.name}")')
        self._close()

    def _arguments(self, effect: Effect, entity: Entity, op: Op, spell: Rows) -> list[str]:
        """Keyword arguments of one call: keys, then body fields as the tool publishes them, then its mask."""
        arguments = [f"{name}={self.python.code(expr, spell)}" for name, expr in effect.key.items()]
        body: dict[str, object] = {}
        masked: list[str] = []
        values = {c: self.python.code(e, spell) for c, e in effect.set.items()}
        values |= {c: self._text(facts, spell) for c, facts in effect.text.items()}
        for column, code in values.items():
            direct = next(
                (p.name for p in op.params if p.column == column and p.where != "body" and p.name not in effect.key),
                None,
            )
            if effect.kind == "move":
                direct = direct or self._move_param(op)
            if direct:
                arguments.append(f"{direct}={code}")
                continue
            attr = entity.attr(column)
            masked += masks_of(attr)
            if code != "None" or not op.mask_param:  # named in the mask and not given: cleared
                self._place(body, attr, code)
        arguments += [f"{name}={source_of(value)}" for name, value in body.items()]
        if op.mask_param and masked:
            arguments.append(f"{op.mask_param}={spelled(','.join(dict.fromkeys(masked)))}")
        return arguments

    def _move_param(self, op: Op) -> str | None:
        found = op.effect.detail.get("param")
        return str(found) if found else None

    def _place(self, body: dict[str, object], attr: Attr, code: str) -> None:
        """Puts a value where the published body has it."""
        told = code[1:-1] if code.startswith('"') and code.count('"') == 2 else None  # a literal
        if "+" in attr.path:
            day, time = attr.path.split("+")
            put(body, day, f"{self.python.helper('parts_of_day')}({code})")
            if told is None or len(told) > len("2026-11-02"):
                put(body, time, f"{self.python.helper('parts_of_time')}({code})")
        elif "|" in attr.path:
            long, short = attr.path.split("|")
            top, (timed, all_day) = long.rsplit(".", 1)[0], [p.rsplit(".", 1)[-1] for p in (long, short)]
            if told is None:
                put(body, f"{top}.*", f'"{timed}" if len({code}) > 10 else "{all_day}": {code}')
            else:
                put(body, f"{top}.{timed if len(told) > len('2026-11-02') else all_day}", code)
        elif attr.kind == "date":
            put(body, attr.path, f"{self.python.helper('parts_of_day')}({code})")
        else:
            put(body, attr.path, code)

    def _text(self, facts: tuple[str, ...], spell: Rows) -> str:
        """A sentence that mentions the facts: texts as they are, numbers with what they count."""
        if "blank_text" in self.options:
            return '"Please have a look."'
        parts = []
        for fact in facts:
            column = spell.columns[fact]
            value = "{" + spell.spell(fact).replace('"', "'") + "}"
            label = fact.rpartition(".")[2].replace("_", " ")
            parts.append(f"{value} {label}" if column.kind == "integer" else value)
        return 'f"' + ": ".join(parts) + '"'

    def _part_call(self, effect: Effect, entity: Entity, op: Op, spell: Rows) -> list[str]:
        """A part is changed by giving its owner the whole array anew: read it, change it, write it."""
        owner = self.model.entity(entity.part_of)
        reader = next(o for o in self.model.ops if o.entity == owner.name and o.effect.kind == "read_one")
        asked = [
            f"{n}={self.python.code(e, spell)}" for n, e in effect.key.items() if any(p.name == n for p in op.params)
        ]
        above = {mine for mine, _ in links(entity, owner, self.model)}
        own = {c: self.python.code(e, spell) for c, e in effect.key.items() if c not in above and c in entity.key}
        name, column = entity.part_path, entity.own_key
        scalar = entity.attr(column).path == "."
        item = "part" if scalar else f"part[{spelled(entity.attr(column).path)}]"
        lines = [f"parts = tools.{reader.tool}({', '.join(asked)}).get({spelled(name)}, [])"]
        values: dict[str, object] = {}
        given = {c: e for c, e in effect.key.items() if c in own} if effect.kind == "create" else {}
        for c, expr in {**given, **effect.set}.items():
            self._place(values, entity.attr(c), self.python.code(expr, spell))
        if effect.kind == "create":
            made = source_of(values["."]) if scalar else source_of(values)
            lines.append(f"parts = parts + [{made}]")
        elif effect.kind == "delete":
            lines.append(f"parts = [part for part in parts if {item} != {own[column]}]")
        else:
            lines.append(
                f"parts = [{{**part, **{source_of(values)}}} if {item} == {own[column]} else part for part in parts]"
            )
        mask = [f"{op.mask_param}={spelled(name)}"] if op.mask_param else []
        return [*lines, f"tools.{op.tool}({', '.join([*asked, f'{name}=parts', *mask])})"]

    # -- reports and answers

    def _report(self, report: FileReport, rows: str) -> None:
        lines = self.relations.lines
        if report.order:
            rows = self.relations.ordered(rows, report.rel, report.order, "sorted_rows")
            if "reverse_order" in self.options:
                lines.append(f"{rows}.reverse()")
        if kept := self.options & {"short_report", "empty_report"}:
            rows = f"{rows}[:{-1 if 'short_report' in kept else 0}]"
        if "/" in report.path:
            self.python.used.add("os")
            lines.append(f"os.makedirs({spelled(report.path.rsplit('/', 1)[0])}, exist_ok=True)")
        headers = spelled([h for h, _ in report.columns])
        values = ", ".join(f"row[{spelled(c)}]" for _, c in report.columns)
        newline = ', newline=""' if report.format == "csv" else ""
        lines.append(f'with open({spelled(report.path)}, "w"{newline}, encoding="utf-8") as file:')
        match report.format:
            case "csv":
                self.python.used.add("csv")
                lines += [
                    "    writer = csv.writer(file)",
                    f"    writer.writerow({headers})",
                    f"    for row in {rows}:",
                    f"        writer.writerow([{values}])",
                ]
            case "json":
                self.python.used.add("json")
                pairs = ", ".join(f"{spelled(h)}: row[{spelled(c)}]" for h, c in report.columns)
                lines.append(f"    json.dump([{{{pairs}}} for row in {rows}], file, ensure_ascii=False)")
            case "md":
                lines += [
                    f'    file.write("| " + " | ".join({headers}) + " |\\n")',
                    f'    file.write("|" + " --- |" * {len(report.columns)} + "\\n")',
                    f"    for row in {rows}:",
                    f'        cells = ["" if value is None else str(value) for value in [{values}]]',
                    '        file.write("| " + " | ".join(cells) + " |\\n")',
                ]
        lines.append(f'print("written:", {spelled(report.path)}, len({rows}), "rows")')
        self._close()

    def _answer_value(self, answer: Answer, rows: str) -> str:
        """Statements for an answer's value; the variable that holds it."""
        spell = Rows({"row": self.relations.scope.columns(answer.rel)})
        name = self.relations.name(answer.name)
        if answer.agg == "only":
            assert answer.expr is not None, "checked by plans.validate"
            code = f"next(({self.python.code(answer.expr, spell)} for row in {rows}), None)"
        else:
            code = self.python.aggregate(answer.agg, answer.expr, spell, rows)
        self.relations.lines.append(f"{name} = {code}")
        return name

    def _said(self, names: list[str]) -> str:
        if not names:
            return 'print("Done.")'
        values = []
        for name, answer in zip(names, self.plan.answers, strict=True):
            columns = self.relations.scope.columns(answer.rel)
            found = (
                self.relations.scope.kind(answer.expr, columns)
                if answer.agg == "only" and answer.expr
                else self.relations.scope.aggregate(answer.agg, answer.expr, columns)
            )
            shown = f"round({name}, 2)" if found.kind == "real" else name
            values.append(f"{shown} if {name} is not None else 'none'" if found.nullable else shown)
        if len(names) == 1:
            return f"print({values[0]})"
        pairs = ", ".join(f"{a.name}: {{{v}}}" for a, v in zip(self.plan.answers, values, strict=True))
        return f'print(f"{pairs}")'


def masks_of(attr: Attr) -> list[str]:
    """The published paths that a mask must name for an attribute to be written."""
    if "|" in attr.path:
        return [attr.path.split(".")[0]]
    return attr.path.split("+")


def called(tool: str, arguments: list[str]) -> list[str]:
    """A call, on one line or an argument a line where that would get too long."""
    line = f"{tool}({', '.join(arguments)})"
    return [line] if len(line) <= WIDTH else [f"{tool}(", *(f"    {a}," for a in arguments), ")"]


def put(body: dict[str, object], path: str, code: str) -> None:
    first, _, rest = path.partition(".")
    if not rest:
        body[first or path] = code
        return
    below = body.setdefault(first, {})
    assert isinstance(below, dict), f"{path}: a value and its part are both given"
    put(below, rest, code)


def source_of(value: object) -> str:
    """A body value: source text as it is, nested dicts as a display; "*" holds a whole `key: value` pair."""
    if isinstance(value, dict):
        return "{" + ", ".join(str(v) if k == "*" else f"{spelled(k)}: {source_of(v)}" for k, v in value.items()) + "}"
    return str(value)
