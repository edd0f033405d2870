"""DomainModel → the part of tools.py that turns rows into published documents and back.

For each table: its columns, the fields a caller may write (JSON path → column and kind), and a function that builds
the document as published: nested objects, parts as arrays, copies of another entity embedded by a reference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tasks_app.domains.model import Attr, DomainModel, Entity
from tasks_app.environments.compile_cascade import cascade
from tasks_app.environments.compile_schema import ForeignKey, foreign_keys, tables


def constant(entity: Entity) -> str:
    return entity.table.upper().lstrip("_")


def noun(entity: Entity) -> str:
    return entity.noun or entity.table.replace("_", " ")


def literal(value: Any) -> str:
    """A Python literal of plain data, strings in double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(literal(item) for item in value)
        return (
            f"({inner},)"
            if isinstance(value, tuple) and len(value) == 1
            else (f"({inner})" if isinstance(value, tuple) else f"[{inner}]")
        )
    return repr(value)


def wrapped(head: str, items: list[str], tail: str, indent: str = "") -> str:
    """`head` + items over several lines of at most about 110 characters + `tail`."""
    line, lines = "", []
    for item in items:
        if line and len(line) + len(item) > 105:
            lines.append(line.rstrip())
            line = ""
        line += item + ", "
    if line:
        lines.append(line.rstrip())
    body = "\n".join(f"{indent}    {text}" for text in lines)
    return f"{head}\n{body}\n{indent}{tail}" if lines else f"{head}{tail}"


def parts_of(entity: Entity, model: DomainModel) -> tuple[Entity, ...]:
    return tuple(e for e in tables(model) if e.kind == "part" and e.part_of == entity.name)


def owner_key(part: Entity, model: DomainModel) -> ForeignKey:
    """The foreign key by which a part hangs on its owner. Raises KeyError for a part without one."""
    for key in foreign_keys(part, model):
        if key.target.name == part.part_of:
            return key
    raise KeyError(f"part {part.name} has no columns for the key of its owner {part.part_of}")


def is_published(attr: Attr, entity: Entity, model: DomainModel) -> bool:
    """A part does not repeat its owner's key, and a column without a path is known to the tools alone."""
    if not attr.path:
        return False
    return entity.kind != "part" or attr.column not in owner_key(entity, model).columns


def writable(entity: Entity, model: DomainModel) -> tuple[Attr, ...]:
    return tuple(a for a in entity.attrs if not a.readonly and is_published(a, entity, model))


def embeds(entity: Entity, model: DomainModel) -> dict[str, dict[str, Any]]:
    """Published properties that show another entity: name → {"entity", "by": {own column: its column}}."""
    found: dict[str, dict[str, Any]] = {}
    for op in model.ops:
        if op.entity == entity.name:
            found.update(op.effect.detail.get("embed", {}))
    return found


def compile_documents(model: DomainModel) -> str:
    return "\n\n".join(_entity(entity, model) for entity in tables(model))


def _entity(entity: Entity, model: DomainModel) -> str:
    name = constant(entity)
    columns = wrapped(f"{name} = (", [literal(a.column) for a in entity.attrs], ")")
    fields = wrapped(
        f"{name}_FIELDS = {{",
        [f"{literal(a.path)}: ({literal(a.column)}, {literal(a.kind)})" for a in writable(entity, model)],
        "}",
    )
    code = [columns, fields]
    required = [a.column for a in writable(entity, model) if a.required and a.default is None]
    defaults = {a.column: _default(a) for a in writable(entity, model)}
    code.append(wrapped(f"{name}_DEFAULTS = {{", [f"{literal(k)}: {literal(v)}" for k, v in defaults.items()], "}"))
    code.append(f"{name}_REQUIRED = {literal(tuple(required))}")
    code.append("\n" + _document(entity, model))
    return "\n".join(code)


def _default(attr: Attr) -> Any:
    if attr.kind == "boolean":
        return int(bool(attr.default))
    if attr.kind == "json" and attr.default is not None:
        return json.dumps(attr.default, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return attr.default


def _document(entity: Entity, model: DomainModel) -> str:
    bare = next((a for a in entity.attrs if a.path == "."), None)
    if bare is not None:
        return f"def _{entity.table}_document(db, r):\n    return r[{literal(bare.column)}]"
    tree: dict[str, Any] = {}
    for attr in entity.attrs:
        if is_published(attr, entity, model):
            for path, expression in _expressions(attr):
                _place(tree, path, expression)
    for part in parts_of(entity, model):
        _place(tree, part.part_path, _part(part, model))
    for prop, embed in embeds(entity, model).items():
        other = model.entity(embed["entity"])
        where = ", ".join(f"{literal(theirs)}: r[{literal(ours)}]" for ours, theirs in embed["by"].items())
        _place(tree, prop, f"_embedded_{other.table}(db, {{{where}}})")
    lines = [f"def _{entity.table}_document(db, r):", f'    """{_capital(noun(entity))} as published."""']
    lines += ["    return _published({", *_lines(tree, "        "), "    })"]
    text = "\n".join(lines)
    if any(entity.name == embed["entity"] for e in tables(model) for embed in embeds(e, model).values()):
        text += (
            f"\n\n\ndef _embedded_{entity.table}(db, where):\n"
            f'    row = _select(db, "{entity.table}", {constant(entity)}, where)\n'
            f"    return None if row is None else _{entity.table}_document(db, row)"
        )
    return text


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _expressions(attr: Attr) -> Iterator[tuple[str, str]]:
    value = f"r[{literal(attr.column)}]"
    if "+" in attr.path:
        date, time = attr.path.split("+")
        yield date, f"_date_of({value})"
        yield time, f"_time_of({value})"
    elif "|" in attr.path:
        parent = attr.path.partition(".")[0]
        moment, day = (name.rpartition(".")[2] for name in attr.path.split("|"))
        yield f"{parent}.**", f"(_day_or_moment({value}, {literal(day)}, {literal(moment)}) or {{}})"
    elif attr.kind == "date":
        yield attr.path, f"_date_of({value})"
    elif attr.kind == "boolean":
        yield attr.path, f"_flag({value}{', True' if attr.default else ''})"
    elif attr.kind == "json":
        yield attr.path, f"_json({value})"
    else:
        yield attr.path, value


def _part(part: Entity, model: DomainModel) -> str:
    return f"_{part.table}_of(db, r)"


def compile_parts(model: DomainModel) -> str:
    """For each part: reading those of an owner, and replacing them as a whole."""
    code = []
    for part in tables(model):
        if part.kind == "part":
            code.append(_part_functions(part, model))
    return "\n\n\n".join(code)


def _part_functions(part: Entity, model: DomainModel) -> str:
    key = owner_key(part, model)
    series = next((a.column for a in key.target.attrs if a.path == "recurrence"), "")
    own = key.target.own_key
    pairs = []
    for ours, theirs in zip(key.columns, key.target_columns, strict=True):
        value = f'r.get("_of") or r["{theirs}"]' if series and theirs == own else f'r["{theirs}"]'
        pairs.append(f"{literal(ours)}: {value}")
    where = "{" + ", ".join(pairs) + "}"
    plain = (
        "{" + ", ".join(f'{literal(o)}: r["{t}"]' for o, t in zip(key.columns, key.target_columns, strict=True)) + "}"
    )
    natural = [c for c in part.key if c not in key.columns]
    order = ", ".join(f'"{column}"' for column in natural or part.key)
    assigned = ""
    if part.key_assigned_by == "server" and part.own_key:
        path = part.attr(part.own_key).path
        assigned = (
            f'        row["{part.own_key}"] = item.get({literal(path)}) or _new_id(db, "{part.table}", "numeric")\n'
        )
    unique = f"tuple(row.get(column) for column in {literal(tuple(natural))})"
    removed = "".join(
        f"    {line}\n" for line in cascade(part, model, {c: f"owner[{literal(c)}]" for c in key.columns})
    )
    nested = "".join(
        f"\n        inner = _at(item, {literal(p.part_path)})"
        f"\n        _replace_{p.table}(db, row, None if inner is MISSING else inner)"
        for p in parts_of(part, model)
    )
    readonly = tuple(a.column for a in part.attrs if a.readonly and a.column not in part.key)
    old, kept = "", "row"
    if readonly:  # what only the service sets stays with the item of the same key
        old = (
            f"    columns = {literal(readonly)}\n"
            f"    names = {literal(tuple(natural))}\n"
            f"    where = [f'\"{{column}}\" = ?' for column in owner]\n"
            f"    old = _rows(db, \"{part.table}\", {constant(part)}, where, tuple(owner.values()), '{order}')\n"
            f"    kept = {{tuple(row[name] for name in names): {{c: row[c] for c in columns}} for row in old}}\n"
        )
        kept = "{**kept.get(key, {}), **row}"
    checks = "".join(f"        {line}\n" for line in references(part, model, "row", key))
    return f'''def _{part.table}_of(db, r):
    """The {part.plural or noun(part) + "s"} of one {noun(key.target)}, by their key; None when there are none."""
    owner = {where}
    where = [f'"{{column}}" = ?' for column in owner]
    rows = _rows(db, "{part.table}", {constant(part)}, where, tuple(owner.values()), '{order}')
    return [_{part.table}_document(db, row) for row in rows] or None


def _replace_{part.table}(db, r, given):
    """The array `{part.part_path}` replaces what was there; None or an empty one clears it."""
    if given is not None and not isinstance(given, (list, tuple)):  # a mask may name what lies inside the array
        raise _invalid("{part.part_path} must be an array; it can only be written as a whole")
    owner = {plain}
{old}{removed}    _delete(db, "{part.table}", owner)
    seen = set()
    for index, item in enumerate(given or ()):
        row = {{**_with_defaults({constant(part)}_DEFAULTS, _columns({constant(part)}_FIELDS, item)), **owner}}
{assigned}        _need("{part.part_path}", {constant(part)}_REQUIRED, row)
{checks}        key = {unique}
        if key in seen or None in key:
            raise _invalid(f"{part.part_path}[{{index}}]: {", ".join(natural)} must be given, once for each")
        seen.add(key)
        _insert(db, "{part.table}", {kept}){nested}'''


def references(entity: Entity, model: DomainModel, row: str, but: ForeignKey | None = None) -> Iterator[str]:
    """Checks that what the row points at exists."""
    for key in foreign_keys(entity, model):
        if but is not None and key.columns == but.columns:
            continue
        pairs = ", ".join(
            f"{literal(t)}: {row}.get({literal(c)})" for c, t in zip(key.columns, key.target_columns, strict=True)
        )
        yield f'_require(db, "{key.target.table}", {{{pairs}}}, "{noun(key.target)}")'


def _place(tree: dict[str, Any], path: str, expression: str) -> None:
    *parents, last = path.split(".")
    for parent in parents:
        tree = tree.setdefault(parent, {})
    tree[last] = expression


def _lines(tree: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield f"{indent}{literal(key)}: {{"
            yield from _lines(value, indent + "    ")
            yield f"{indent}}},"
        elif key == "**":
            yield f"{indent}**{value},"
        else:
            yield f"{indent}{literal(key)}: {value},"
