"""Every page as a picture, at the sizes people have, light and dark; and that nothing overflows the window.

The pictures land in `SCREENSHOTS` (default `var/screenshots/`); `make pictures` copies those of the tour to `docs/`.
"""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.e2e.conftest import Studio

pytestmark = pytest.mark.e2e
WIDE, NARROW = {"width": 1280, "height": 860}, {"width": 390, "height": 844}


def newest(studio: Studio, table: str, where: str = "1") -> str:
    rows = studio.sql(f"select id from {table} where {where} order by created_at desc limit 1")
    identity = str(rows[0][0]) if rows else ""
    return str(uuid.UUID(identity)) if identity else ""


def pages(studio: Studio) -> dict[str, str]:
    """Name → address of every page there is, with the newest thing of each kind opened."""
    task = studio.sql("select key from tasks_app_task where tier = 'task' order by key limit 1")[0][0]
    failed = newest(studio, "sandbox_app_episode", "outcome = 'failed' and steps_count > 3")
    addresses = {
        "overview": "/", "tools": "/tools/", "domains": "/domains/", "domain": "/domains/classroom/",
        "environments": "/environments/", "tasks": "/tasks/", "task": f"/tasks/{task}/",
        "task-tools": f"/tasks/{task}/?tab=tools", "task-data": f"/tasks/{task}/?tab=data",
        "task-programs": f"/tasks/{task}/?tab=programs", "task-checks": f"/tasks/{task}/?tab=checks",
        "task-scales": f"/tasks/{task}/?tab=scales", "task-sets": "/task-sets/", "run-task": f"/tasks/{task}/run/",
        "episodes": "/episodes/", "review": "/review/", "review-bulk": "/review/bulk/?outcome=failed",
        "viewer": f"/episodes/{failed}/?step=2&panel=variables",
        "viewer-verdict": f"/episodes/{failed}/?step=3&panel=verdict",
        "snapshots": "/snapshots/", "runs": "/runs/", "run-new": "/runs/new/?kind=sft",
        "run-new-rl": "/runs/new/?kind=rl", "evaluations": "/evaluations/", "evaluation-new": "/evaluations/new/",
        "exports": "/exports/", "tokens": "/tokens/", "admin-task-sets": "/admin/tasks_app/taskset/",
    }
    kinds = {
        "sft": ("runs", "training_app_trainingrun", "kind = 'sft'"),
        "rl": ("runs", "training_app_trainingrun", "kind = 'rl'"),
        "evaluation": ("evaluations", "training_app_evaluation", "1"),
        "regeneration": ("regenerations", "tasks_app_regeneration", "1"),
    }
    for name, (path, table, where) in kinds.items():
        identity = newest(studio, table, where)
        if identity:
            addresses[name] = f"/{path}/{identity}/"
    return addresses


def visit(page: Page, address: str, target: Path) -> int:
    """Open, wait for charts, take the picture; returns by how many pixels the page is wider than its window."""
    answer = page.goto(address)
    assert answer is not None, address
    assert answer.ok, f"{address}: {answer.status}"
    page.wait_for_timeout(400)
    page.screenshot(path=str(target))
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


def test_all_pages_at_1280(studio: Studio, page: Page, screenshots: Path) -> None:
    too_wide = {
        name: over
        for name, address in pages(studio).items()
        if (over := visit(page, address, screenshots / f"{name}-1280.png")) > 0
    }
    assert not too_wide


@pytest.mark.parametrize("name", ["viewer", "viewer-verdict", "review", "task", "overview"])
def test_a_phone_shows_everything(
    studio: Studio, context: BrowserContext, browser: Browser, screenshots: Path, name: str
) -> None:
    phone = browser.new_context(viewport=NARROW, base_url=studio.url, storage_state=context.storage_state())
    try:
        over = visit(phone.new_page(), pages(studio)[name], screenshots / f"{name}-390.png")
        assert over <= 0, f"{name} is {over} px wider than a phone"
    finally:
        phone.close()


@pytest.mark.parametrize("name", ["viewer", "review", "overview", "task"])
def test_dark_is_dark(
    studio: Studio, context: BrowserContext, browser: Browser, screenshots: Path, name: str
) -> None:
    dark = browser.new_context(
        viewport=WIDE, base_url=studio.url, storage_state=context.storage_state(), color_scheme="dark"
    )
    try:
        opened = dark.new_page()
        visit(opened, pages(studio)[name], screenshots / f"{name}-dark.png")
        colour = opened.evaluate("getComputedStyle(document.body).backgroundColor")
        assert max(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")[:3]) < 80, colour
    finally:
        dark.close()
