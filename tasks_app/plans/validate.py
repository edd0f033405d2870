"""Whether a Plan can be asked and judged: well formed, typed, visible, its effects such as their tools can bring about.

`check` raises PlanError at the first thing that is wrong and says what is there instead. Visible: each attribute that
is read stands in a document that some read tool shows on a path from the scope. What needs rows to be known (ties at a
cut, two rows for one key, an effect on nothing) is found by `to_sql.evaluate` and by proving, not here.
"""

from __future__ import annotations

from tasks_app.domains.model import DomainModel
from tasks_app.plans.algebra import Answer, Effect, FileReport, Plan, PlanError, Rel, relations, roots
from tasks_app.plans.columns import FAMILY, Column, Scope
from tasks_app.plans.effects import change
from tasks_app.plans.identity import identities
from tasks_app.plans.python_reading import columns_named
from tasks_app.plans.reading import in_documents
from tasks_app.plans.to_python import compile_reference


def check(plan: Plan, model: DomainModel) -> None:
    """Raises PlanError for a Plan that can't be asked over `model`."""
    if plan.domain != model.name:
        raise PlanError(f"the plan is for {plan.domain}, the model is {model.name}")
    if not (plan.effects or plan.files or plan.answers):
        raise PlanError("the plan asks for nothing: no effect, no report, no answer")
    scope = Scope(plan, model)
    _lets_in_order(plan)
    for rel in roots(plan):
        scope.columns(rel)
        _tops_are_total(rel, scope)
    for effect in plan.effects:
        _effect(effect, scope)
    for report in plan.files:
        _report(report, scope)
    for answer in plan.answers:
        _answer(answer, scope)
    _once([f.path for f in plan.files], "file")
    _once([a.name for a in plan.answers], "answer")
    _visible(plan, scope)


def _once(names: list[str], what: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise PlanError(f"two {what}s are called {name!r}")


def _lets_in_order(plan: Plan) -> None:
    before: list[str] = []
    for let, rel in plan.lets.items():
        for node in relations(rel):
            if node[0] == "use" and node[1] not in before:
                raise PlanError(f"let {let!r} uses {node[1]!r}, which does not stand before it: {before}")
        before.append(let)


def _tops_are_total(rel: Rel, scope: Scope) -> None:
    """A cut must not depend on chance: its keys hold what a row is told from others by."""
    for node in relations(rel):
        if node[0] == "top":
            keys = {name for name, _ in node[2]}
            lacking = [names for names in identities(node[1], scope) if not keys & set(names)]
            if lacking:
                raise PlanError(f"top by {sorted(keys)} may be tied; add one of {lacking[0]} to its order")


def _effect(effect: Effect, scope: Scope) -> None:
    model, columns = scope.model, scope.columns(effect.rel)
    try:
        op, entity = model.op(effect.tool), model.entity(effect.entity)
    except KeyError as error:
        raise PlanError(error.args[0]) from error
    if not op.writes:
        raise PlanError(f"{effect.kind}: {effect.tool} writes nothing")
    for name in (*effect.set, *effect.text, *effect.free):
        if all(a.column != name for a in entity.attrs):
            raise PlanError(
                f"{effect.tool}: {entity.name} has no column {name!r}; it has {[a.column for a in entity.attrs]}"
            )
    done = change(effect, model)
    for column, expr in {**done.key, **done.set}.items():
        _fits(f"{effect.tool}: {column}", scope.kind(expr, columns), entity.attr(column).kind)
    for column, facts in effect.text.items():
        for fact in facts:
            found = scope.find(fact, columns)
            if found.kind not in ("text", "integer"):
                raise PlanError(f"{effect.tool}: {column} can't be asked to mention {fact}, which is {found.kind}")
    required = {p.name for p in op.params if p.required and p.where == "path"}
    if lacking := required - effect.key.keys():
        raise PlanError(f"{effect.tool} needs {sorted(lacking)} in the effect's key")


def _fits(place: str, found: Column, kind: str) -> None:
    if FAMILY[found.kind] not in (FAMILY[kind], "null"):
        raise PlanError(f"{place} is {kind}, not {found.kind}")


def _report(report: FileReport, scope: Scope) -> None:
    columns = scope.columns(report.rel)
    shown = {column for _, column in report.columns}
    for name in (*shown, *(n for n, _ in report.order)):
        if FAMILY[scope.find(name, columns).kind] == "json":
            raise PlanError(f"{report.path}: {name} is no single value")
    if lacking := [n for n, _ in report.order if n not in shown]:
        raise PlanError(f"{report.path} is sorted by {lacking}, which it does not show")
    if report.path.startswith("/") or ".." in report.path.split("/"):
        raise PlanError(f"{report.path} lies outside the workspace")


def _answer(answer: Answer, scope: Scope) -> None:
    columns = scope.columns(answer.rel)
    if answer.agg == "only":
        if answer.expr is None:
            raise PlanError(f"answer {answer.name!r}: only of what?")
        scope.kind(answer.expr, columns)
    else:
        scope.aggregate(answer.agg, answer.expr, columns)


def _visible(plan: Plan, scope: Scope) -> None:
    """Compiling the reference finds the routes; here it is looked that documents show what is read of them."""
    named = columns_named(plan)
    aliases = {node[2] for rel in roots(plan) for node in relations(rel) if node[0] == "use" and node[2]}
    for rel in roots(plan):
        for node in relations(rel):
            if node[0] != "scan":
                continue
            entity = scope.model.entity(node[1])
            for attr in entity.attrs:
                wanted = {f"{alias}.{attr.column}" for alias in (node[2], *aliases)} & named
                key = attr.column in entity.key or attr.column in {p.column for p in entity.parents}
                if f"{node[2]}.{attr.column}" in wanted and not key and not in_documents(attr):
                    raise PlanError(f"{node[2]}.{attr.column} of {entity.name} is shown by no read tool as one value")
    compile_reference(plan, scope.model)
