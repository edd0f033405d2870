"""Exports: what was exported, what a filter would export, and how it is fetched with a token."""

from __future__ import annotations

from dataclasses import asdict
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from tasks_app.pages import Sort, page
from tasks_app.permissions import require_group
from tasks_app.services import last_seq
from training_app import services
from training_app.exporting import parts_of
from training_app.forms import ExportForm
from training_app.models import Export

SORTS = {
    "made": Sort("created_at", "made", descending=True),
    "rows": Sort("rows_count", "rows", descending=True, number=True),
}


def _wanted(form: ExportForm) -> services.Wanted:
    return (
        services.Wanted(**{name: form.cleaned_data[name] for name in form.fields})
        if form.is_valid()
        else services.Wanted()
    )


@require_GET
def exports(request: HttpRequest) -> HttpResponse:
    wanted = _wanted(ExportForm(request.GET))
    context = {
        "form": ExportForm(initial=asdict(wanted)),
        "count": wanted.episodes().count(),
        "key": uuid4().hex,
        "page": page(Export.objects.select_related("created_by"), request.GET, SORTS, "-made"),
    }
    fragment = request.headers.get("HX-Target") == "matching"
    return render(request, "training_app/_matching.html" if fragment else "training_app/exports.html", context)


@require_group("engineer")
@require_POST
def export_create(request: HttpRequest) -> HttpResponse:
    made = services.create_export(
        wanted=_wanted(ExportForm(request.POST)),
        key=request.POST.get("key", "")[:64] or uuid4().hex,
        by=request.user,
    )
    return redirect("export", pk=made.pk)


@require_GET
def export(request: HttpRequest, pk: UUID) -> HttpResponse:
    found = get_object_or_404(Export, pk=pk)
    after = last_seq(found.stream)  # before what is shown is read: nothing that comes in between is missed
    context = {"export": found, "parts": parts_of(found.parts), "address": request.build_absolute_uri("/").rstrip("/")}
    if request.headers.get("HX-Target") == "parts":
        return render(request, "training_app/_parts.html", context)
    return render(
        request,
        "training_app/export.html",
        context | {"chart": {"stream": found.stream, "after": after, "live": found.live, "url": request.path}},
    )
