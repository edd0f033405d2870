"""Snapshots, runs, checkpoints, evaluations and batch exports under /api/v1.

An export is made by a job and fetched by part: each part answers Range requests, so a broken download goes on where
it broke, and its sha256 stands in the manifest. Bodies stream through an async generator; nothing is held whole.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal
from uuid import UUID, uuid4

from asgiref.sync import sync_to_async
from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from ninja import Field, Router, Schema, Status

from tasks_app.errors import Refused
from tasks_app.permissions import check_group
from training_app import services
from training_app.configs import SftConfig
from training_app.exporting import Range, byte_range, parts_of
from training_app.models import Checkpoint, Evaluation, Export, Snapshot, TrainingRun
from training_app.services.places import data_dir, folder_of

router = Router(tags=["training"])
CHUNK = 256 * 1024
MOST = 200


class ExportIn(Schema):
    """Which episodes; "" takes all. The same `key` gives the same export."""

    tier: str = ""
    domain: str = ""
    scale: str = ""
    policy: str = ""
    outcome: str = ""
    standing: str = ""
    source: str = ""
    split: str = ""
    key: str = Field("", max_length=64)


class ChoiceIn(Schema):
    """Which approved episodes a snapshot takes; "" takes all."""

    tier: str = ""
    domain: str = ""
    scale: str = ""
    policy: str = ""
    source: str = ""


class SftIn(Schema):
    """An SFT run. `snapshot` is a digest, `start_from` a checkpoint's id."""

    snapshot: str
    start_from: UUID
    epochs: int = Field(6, ge=1)
    batch: int = Field(8, ge=1)
    learning_rate: float = Field(1.5e-3, gt=0)
    lora_rank: int = Field(0, ge=0)
    max_length: int = Field(4_096, ge=256)
    save_every: int = Field(50, ge=1)
    seed: int = Field(0, ge=0)


class RlIn(Schema):
    """An RL run on train-split tasks. `most` 0 takes all of them."""

    start_from: UUID
    tier: Literal["primer", "task"] = "primer"
    domain: str = ""
    scale: str = "v0"
    most: int = Field(0, ge=0)
    steps: int = Field(20, ge=1)
    tasks_per_step: int = Field(4, ge=1)
    group: int = Field(8, ge=2)
    learning_rate: float = Field(2e-4, gt=0)
    temperature: float = Field(1.0, gt=0)
    save_every: int = Field(10, ge=1)
    seed: int = Field(0, ge=0)


class EvaluationIn(Schema):
    """An evaluation of checkpoints on held-out pairs of task and seed, controls included."""

    checkpoints: list[UUID]
    domain: str = ""
    scale: str = "v0"
    primers: int = Field(200, ge=0)
    tasks: int = Field(24, ge=0)
    seed: int = Field(0, ge=0)


def _job(job: TrainingRun | Evaluation | Export) -> dict[str, Any]:
    return {
        "id": str(job.pk),
        "state": job.state,
        "progress": job.progress,
        "error": job.error,
        "created_at": job.created_at.isoformat(),
    }


def _run(run: TrainingRun) -> dict[str, Any]:
    return {
        **_job(run),
        "kind": run.kind,
        "name": run.name,
        "snapshot": run.snapshot.digest if run.snapshot else None,
        "start_from": str(run.start_from_id) if run.start_from_id else None,
        "summary": run.summary,
    }


@router.get("/snapshots")
def list_snapshots(request: HttpRequest) -> list[dict[str, Any]]:
    return [
        {
            "digest": one.digest,
            "episodes": one.episodes_count,
            "train": one.train_count,
            "validation": one.validation_count,
            "left_out": one.left_out,
            "created_at": one.created_at.isoformat(),
        }
        for one in Snapshot.objects.all()[:MOST]
    ]


@router.post("/snapshots")
def create_snapshot(request: HttpRequest, wanted: ChoiceIn) -> dict[str, Any]:
    check_group(request.user, "engineer")
    made = services.create_snapshot(choice=services.Choice(**wanted.dict()), by=request.user)
    return {"digest": made.digest, "episodes": made.episodes_count, "left_out": made.left_out}


@router.post("/runs/sft")
def create_sft(request: HttpRequest, wanted: SftIn) -> dict[str, Any]:
    """The same request gives the same run."""
    check_group(request.user, "engineer")
    values = wanted.dict()
    snapshot = get_object_or_404(Snapshot, digest=values.pop("snapshot"))
    start = get_object_or_404(Checkpoint, pk=values.pop("start_from"))
    config = SftConfig(str(folder_of(start)), str(data_dir() / snapshot.folder), **values)
    return _run(services.launch_sft(snapshot=snapshot, start_from=start, config=config, by=request.user))


@router.post("/runs/rl")
def create_rl(request: HttpRequest, wanted: RlIn) -> dict[str, Any]:
    """The same request gives the same run."""
    check_group(request.user, "engineer")
    values = wanted.dict()
    start = get_object_or_404(Checkpoint, pk=values.pop("start_from"))
    chosen = {name: values.pop(name) for name in ("tier", "domain", "scale", "most")}
    config = services.rl_config(start, attempts=services.train_attempts(**chosen, seed=wanted.seed), **values)
    return _run(services.launch_rl(start_from=start, config=config, by=request.user))


@router.post("/evaluations")
def create_evaluation(request: HttpRequest, wanted: EvaluationIn) -> dict[str, Any]:
    check_group(request.user, "engineer")
    found = list(Checkpoint.objects.filter(pk__in=wanted.checkpoints).order_by("created_at"))
    made = services.launch_evaluation(
        checkpoints=found,
        by=request.user,
        label=f"Held-out {wanted.scale}",
        attempts=services.held_out_attempts_of_tiers(
            primers=wanted.primers,
            tasks=wanted.tasks,
            domain=wanted.domain,
            scale=wanted.scale,
            seed=wanted.seed,
        ),
    )
    return {**_job(made), "name": made.name}


@router.get("/runs")
def list_runs(request: HttpRequest) -> list[dict[str, Any]]:
    return [_run(run) for run in TrainingRun.objects.select_related("snapshot")[:MOST]]


@router.get("/runs/{run_id}")
def get_run(request: HttpRequest, run_id: UUID) -> dict[str, Any]:
    run = get_object_or_404(TrainingRun.objects.select_related("snapshot"), pk=run_id)
    return {
        **_run(run),
        "config": run.config,
        "checkpoints": [
            {"id": str(one.pk), "label": one.label, "step": one.step, "digest": one.digest}
            for one in run.checkpoints.all()
        ],
    }


@router.post("/runs/{run_id}/cancel")
def cancel_run(request: HttpRequest, run_id: UUID) -> dict[str, Any]:
    check_group(request.user, "engineer")
    run = get_object_or_404(TrainingRun, pk=run_id)
    services.cancel(job=run)
    return _run(run)


@router.post("/runs/{run_id}/resume")
def resume_run(request: HttpRequest, run_id: UUID) -> dict[str, Any]:
    check_group(request.user, "engineer")
    run = get_object_or_404(TrainingRun, pk=run_id)
    services.resume(job=run)
    return _run(run)


@router.get("/checkpoints")
def list_checkpoints(request: HttpRequest) -> list[dict[str, Any]]:
    return [
        {
            "id": str(one.pk),
            "run": str(one.run_id) if one.run_id else None,
            "label": one.label,
            "step": one.step,
            "digest": one.digest,
        }
        for one in Checkpoint.objects.all()[:MOST]
    ]


@router.get("/evaluations")
def list_evaluations(request: HttpRequest) -> list[dict[str, Any]]:
    return [{**_job(one), "name": one.name, "result": one.result} for one in Evaluation.objects.all()[:MOST]]


@router.get("/evaluations/{evaluation_id}")
def get_evaluation(request: HttpRequest, evaluation_id: UUID) -> dict[str, Any]:
    one = get_object_or_404(Evaluation, pk=evaluation_id)
    return {**_job(one), "name": one.name, "result": one.result or services.result_of(one)}


def _export(export: Export) -> dict[str, Any]:
    return {
        **_job(export),
        "filters": export.filters,
        "rows": export.rows_count,
        "manifest_sha256": export.digest,
        "parts": list(export.parts),
    }


@router.post("/exports", response={202: dict[str, Any]})
def create_export(request: HttpRequest, wanted: ExportIn) -> Status[dict[str, Any]]:
    check_group(request.user, "engineer")
    values = wanted.dict()
    key = values.pop("key") or uuid4().hex
    return Status(202, _export(services.create_export(wanted=services.Wanted(**values), key=key, by=request.user)))


@router.get("/exports")
def list_exports(request: HttpRequest) -> list[dict[str, Any]]:
    return [_export(one) for one in Export.objects.all()[:MOST]]


@router.get("/exports/{export_id}")
def get_export(request: HttpRequest, export_id: UUID) -> dict[str, Any]:
    return _export(get_object_or_404(Export, pk=export_id))


@router.get("/exports/{export_id}/manifest")
def get_manifest(request: HttpRequest, export_id: UUID) -> HttpResponseBase:
    """manifest.json as written: its sha256 is `manifest_sha256`."""
    export = _finished(get_object_or_404(Export, pk=export_id))
    return FileResponse((data_dir() / export.folder / "manifest.json").open("rb"), content_type="application/json")


@router.get("/exports/{export_id}/parts/{name}")
def get_part(request: HttpRequest, export_id: UUID, name: str) -> HttpResponseBase:
    """One part as JSON lines; a Range header is answered with 206."""
    export = _finished(get_object_or_404(Export, pk=export_id))
    part = next((one for one in parts_of(export.parts) if one.name == name), None)
    if part is None:
        raise Refused(
            f"This export has no part {name!r}.", where=str(export), how="The manifest lists its parts.", status=404
        )
    path = data_dir() / export.folder / part.name
    headers = {"Accept-Ranges": "bytes", "ETag": f'"{part.sha256}"', "X-Part-SHA256": part.sha256}
    try:
        wanted = byte_range(request.headers.get("Range", ""), part.bytes)
    except ValueError:
        return HttpResponse(status=416, headers={**headers, "Content-Range": f"bytes */{part.bytes}"})
    whole = Range(0, part.bytes - 1, part.bytes)
    answer = StreamingHttpResponse(
        _body(path, wanted or whole),
        status=206 if wanted else 200,
        content_type="application/x-ndjson",
        headers=headers,
    )
    shown = wanted or whole
    answer["Content-Length"] = str(max(0, shown.end - shown.start + 1))
    if wanted:
        answer["Content-Range"] = f"bytes {wanted.start}-{wanted.end}/{wanted.size}"
    return answer


async def _body(path: Path, wanted: Range) -> AsyncIterator[bytes]:
    """The bytes of a range, a chunk at a time, read in a thread. A short file ends as an error."""
    body = await sync_to_async(open)(path, "rb")
    try:
        await sync_to_async(body.seek)(wanted.start)
        left = wanted.end - wanted.start + 1
        while left > 0:
            chunk = await sync_to_async(body.read)(min(CHUNK, left))
            if not chunk:
                raise Refused(f"{path.name} is shorter than its manifest says.", how="Export it again.", status=500)
            left -= len(chunk)
            yield chunk
    finally:
        await sync_to_async(body.close)()


def _finished(export: Export) -> Export:
    if export.state != "succeeded":
        raise Refused(
            f"This export is {export.get_state_display()}; its parts can be fetched when it is done.",
            where=str(export),
            how="Ask again in a moment.",
            status=409,
        )
    return export
