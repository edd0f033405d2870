"""The eight things a newcomer does, in their order, each asserting on what a person would see.

The tests build on one another as a person's first hour does: what is approved in step 5 is trained on in step 6.
"""

from __future__ import annotations

import json
import random
import re
import sqlite3
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Studio

pytestmark = pytest.mark.e2e
TERMINAL = "('succeeded', 'failed', 'cancelled')"
MINUTES = 60_000


def task_key(studio: Studio, tier: str, split: str = "train") -> str:
    query = "select key from tasks_app_task where tier = ? and split = ? and status = 'proven' order by key limit 1"
    return str(studio.wait_sql(query, tier, split)[0][0])


def test_0_twenty_real_episodes_run_by_themselves(studio: Studio) -> None:
    studio.wait_sql(
        "select 1 from sandbox_app_episode where state = 'succeeded' group by 1 having count(*) >= 20", timeout=90
    )
    outcomes = {row[0] for row in studio.sql("select distinct outcome from sandbox_app_episode")}
    assert {"passed", "failed"} <= outcomes
    assert not studio.sql("select cause, detail from sandbox_app_episode where outcome = 'infrastructure'")


def test_1_overview_shows_the_way_of_the_data(studio: Studio, page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    way = page.get_by_role("list", name="The way of the data")
    tasks = studio.sql("select count(*) from tasks_app_task")[0][0]
    assert f"{tasks:,}" in way.inner_text()
    expect(page.get_by_text("Next:")).to_be_visible()
    for link in way.get_by_role("link").all():
        answer = page.request.get(link.get_attribute("href") or "")
        assert answer.ok, link.get_attribute("href")


def test_2_tasks_are_filtered_and_opened(studio: Studio, page: Page) -> None:
    page.goto("/tasks/")
    page.get_by_role("link", name="Calendar", exact=False).first.click()
    page.goto("/tasks/?domain=calendar&tier=task&status=proven&scale=v2")
    counted = studio.sql(
        "select count(*) from tasks_app_task t join tasks_app_domain d on d.id = t.domain_id"
        " where d.slug = 'calendar' and t.tier = 'task' and t.status = 'proven'"
    )[0][0]
    expect(page.locator("p.facts")).to_contain_text(f"{counted:,} task")
    page.locator("table.list tbody a").first.click()
    instruction = page.get_by_label("Instruction").inner_text()
    assert len(instruction.split()) > 15
    for name in ("v0", "v1", "v2", "v3"):
        expect(page.locator("table").filter(has_text="v0").first).to_contain_text(name)
    key = page.url.rstrip("/").split("/")[-1]
    page.goto(f"/tasks/{key}/?tab=tools")
    expect(page.locator("main")).to_contain_text("events_list")
    page.goto(f"/tasks/{key}/?tab=data")
    expect(page.get_by_role("navigation", name="Files")).to_be_visible()
    assert page.locator("table.data tbody tr").count() > 0
    page.goto(f"/tasks/{key}/?tab=programs")
    for program in ("Verifier", "Reference"):
        section = page.locator("section.card").filter(has=page.get_by_role("heading", name=program, exact=True))
        expect(section.locator("pre.code")).to_be_visible()
        assert section.locator("pre.code span").count() > 20, f"the {program} is not highlighted"
    page.goto(f"/tasks/{key}/?tab=checks")
    expect(page.locator("main")).to_contain_text("probe")


def test_3_slider_makes_a_larger_environment_and_proves_it(studio: Studio, page: Page) -> None:
    key = task_key(studio, "task")
    rows, files = random.randrange(5_000, 9_000), random.randrange(60, 90)
    page.goto(f"/tasks/{key}/")
    page.get_by_role("spinbutton", name="Rows").fill(str(rows))
    page.get_by_role("spinbutton", name="Files").fill(str(files))
    expect(page.locator("#forecast")).to_contain_text(f"{rows:,} rows", timeout=10_000)
    page.get_by_role("button", name="Regenerate").click()
    page.wait_for_url(re.compile("/regenerations/"))
    expect(page.get_by_role("heading", name="What provably stayed")).to_be_visible(timeout=2 * MINUTES)
    assert page.get_by_text("broken").count() == 0
    assert page.get_by_text("held", exact=False).count() >= 8
    name, folder = studio.sql(
        "select s.name, t.folder from tasks_app_taskscale s join tasks_app_task t on t.id = s.task_id"
        " where t.key = ? and s.rows = ?", key, rows
    )[0]
    assert rows_of(studio, str(folder), rows, files) == rows, name


def rows_of(studio: Studio, folder: str, rows: int, files: int) -> int:
    """Rows of the regenerated environment, made again here and counted by SQL."""
    from tasks_app.environments.package import EnvironmentPackage
    from tasks_app.scales import Scale
    from tasks_app.tasks import load_task

    task = load_task(studio.data_dir / folder)
    package_folder = studio.sql("select folder from tasks_app_environment where digest = ?", task.environment)[0][0]
    package = EnvironmentPackage.load(studio.data_dir / str(package_folder))
    state = package.build(task.seed, Scale("counted", rows, files), task.directives)
    assert len(state.files) == files
    connection: sqlite3.Connection = state.connect()
    tables = [row[0] for row in connection.execute(
        "select name from sqlite_master where type = 'table' and name not like '\\_%' escape '\\'"
        " and name not like 'sqlite%'"
    )]
    return sum(connection.execute(f'select count(*) from "{table}"').fetchone()[0] for table in tables)


def test_4_a_run_is_seen_live_and_stepped_through(studio: Studio, page: Page) -> None:
    key = task_key(studio, "task")
    page.goto(f"/tasks/{key}/run/")
    page.get_by_label("Policy").select_option("scripted")
    page.get_by_label("Fault").select_option("slow_cell")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url(re.compile("/episodes/[0-9a-f-]+"))
    episode = re.search(r"/episodes/([0-9a-f-]+)", page.url)
    assert episode
    identity = episode.group(1).replace("-", "")
    expect(page.locator("#viewer")).to_contain_text("Reading", timeout=MINUTES)
    state = studio.sql("select state, steps_count from sandbox_app_episode where id = ?", identity)
    ended_steps = studio.sql("select count(*) from sandbox_app_steprow where episode_id = ?", identity)[0][0]
    assert state[0][0] == "running"
    assert ended_steps == 0, "the first print came only after its cell had ended"
    expect(page.locator("#viewer-head")).to_contain_text("passed", timeout=2 * MINUTES)
    page.goto(f"/episodes/{episode.group(1)}/?step=1")
    first = page.locator("#body").inner_text()
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile("step=2"))
    assert page.locator("#body").inner_text() != first
    page.keyboard.press("k")
    expect(page).to_have_url(re.compile("step=1"))
    for panel, word in (("tables", "table"), ("files", "file"), ("verdict", "nothing else changed")):
        page.goto(f"/episodes/{episode.group(1)}/?step=2&panel={panel}")
        expect(page.locator("#state")).to_contain_text(re.compile(word, re.I))


def test_5_verdicts_are_judged_one_by_one_and_in_bulk(studio: Studio, page: Page) -> None:
    page.goto("/review/next/")
    page.wait_for_url(re.compile("/episodes/"))
    first = page.url.split("?")[0]
    page.keyboard.press("a")
    page.wait_for_function("first => !location.href.startsWith(first)", arg=first)
    assert judged(studio, "approve") == 1
    second = page.url.split("?")[0]
    page.locator("#reasons summary").click()
    page.locator("#reasons input[type=radio]").first.check()
    page.get_by_role("button", name="Reject").click()
    page.wait_for_function("second => !location.href.startsWith(second)", arg=second)
    assert judged(studio, "reject") == 1
    page.get_by_role("button", name="Undo").click()
    deadline = time.monotonic() + 20
    while judged(studio, "reject") and time.monotonic() < deadline:
        time.sleep(0.2)
    assert judged(studio, "reject") == 0
    page.goto("/review/bulk/?outcome=passed")
    text = page.get_by_role("button", name=re.compile("^✓? ?Approve")).inner_text()
    count = int(re.sub(r"\D", "", text))
    page.get_by_role("button", name=re.compile("Approve")).click()
    expect(page.get_by_role("button", name="Undo all of them")).to_be_visible(timeout=30_000)
    assert judged(studio, "approve") == count + 1


def judged(studio: Studio, decision: str) -> int:
    query = "select count(*) from sandbox_app_review where decision = ? and undone_at is null"
    return int(str(studio.sql(query, decision)[0][0]))


def test_6_training_from_approved_to_evaluated(studio: Studio, page: Page) -> None:
    page.goto("/snapshots/")
    expect(page.locator("#entering")).to_contain_text("approved episode")
    page.get_by_role("button", name="Freeze these").click()
    studio.wait_sql("select 1 from training_app_snapshot")
    page.goto("/runs/new/?kind=sft")
    if page.get_by_role("button", name="Make a base model").count():
        page.get_by_label("Base model").select_option("tiny")
        page.get_by_role("button", name="Make a base model").click()
        studio.wait_sql("select 1 from training_app_checkpoint")
        page.goto("/runs/new/?kind=sft")
    expect(page.locator(".token.trained, .tok.on, [data-trained], mark").first).to_be_visible(timeout=30_000)
    page.get_by_label("Epochs").fill("6")
    page.get_by_label("Checkpoint every").fill("5")
    page.get_by_role("button", name="Launch SFT").click()
    page.wait_for_url(re.compile("/runs/[0-9a-f-]+/"))
    sft = page.url
    expect(page.locator("#chart-1 .plot-container, #chart-1 svg.main-svg").first).to_be_visible(timeout=3 * MINUTES)
    studio.wait_sql("select 1 from training_app_checkpoint where step > 0", timeout=180)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=2 * MINUTES)
    page.get_by_role("button", name="Resume").click()
    studio.wait_sql("select 1 from training_app_trainingrun where kind = 'sft' and state = 'succeeded'", timeout=420)
    page.goto(sft)
    page.get_by_role("link", name="Train RL from here").click()
    page.get_by_label("Steps", exact=True).fill("2")
    page.get_by_label("Groups a step").fill("2")
    page.get_by_label("Episodes a group").fill("2")
    page.get_by_role("button", name="Launch RL").click()
    page.wait_for_url(re.compile("/runs/[0-9a-f-]+/"))
    studio.wait_sql("select 1 from training_app_trainingrun where kind = 'rl' and state = 'succeeded'", timeout=420)
    page.reload()
    expect(page.locator("#chart-1 svg.main-svg").first).to_be_visible(timeout=30_000)
    page.locator("#run-head").get_by_role("link", name="Evaluate…").click()
    assert page.locator("input[type=checkbox]:checked").count() == 3, "base, SFT and RL are proposed"
    page.get_by_label("Primer attempts").fill("20")
    page.get_by_label("Full-task attempts").fill("1")
    page.get_by_role("button", name="Evaluate", exact=True).click()
    page.wait_for_url(re.compile("/evaluations/[0-9a-f-]+/"))
    expect(page.get_by_text("The controls came out right")).to_be_visible(timeout=8 * MINUTES)
    rates = page.locator("#result table").first.inner_text()
    assert "reference" in rates
    assert re.search("no.op", rates)


def test_7_batches_are_exported_over_the_api(studio: Studio, page: Page, tmp_path: Path) -> None:
    page.goto("/exports/")
    page.get_by_label("Outcome").select_option("passed")
    page.get_by_role("button", name="Export these").click()
    page.wait_for_url(re.compile("/exports/[0-9a-f-]+"))
    export = page.url.rstrip("/").split("/")[-1]
    studio.wait_sql("select 1 from training_app_export where state = 'succeeded'", timeout=120)
    page.goto("/tokens/")
    page.get_by_label("What it is for").fill("batch pulls")
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="Make token").click()
    token = page.locator("#secret").inner_text()
    base = f"{studio.url}/api/v1/exports/{export}"
    manifest = json.loads(fetch(f"{base}/manifest", token))
    names = []
    for part in manifest["parts"]:
        target = tmp_path / part["name"]
        target.write_bytes(fetch(f"{base}/parts/{part['name']}", token))
        names.append(str(target))
    import datasets

    loaded = datasets.load_dataset("json", data_files=names, split="train", cache_dir=str(tmp_path / "cache"))
    assert len(loaded) == manifest["rows"] > 0
    assert {"messages", "reward"} <= set(loaded.column_names)


def fetch(url: str, token: str) -> bytes:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return bytes(response.read())


def test_8_a_task_set_is_made_and_frozen_in_the_admin(studio: Studio, page: Page) -> None:
    page.goto("/admin/tasks_app/taskset/add/")
    page.locator("input[name=name]").fill("Held-out calendar")
    page.locator("select[name=change]").select_option("add")
    page.locator("select[name=domain]").select_option("calendar")
    page.locator("select[name=split]").select_option("test")
    page.get_by_role("button", name=re.compile("Save and continue")).click()
    held_out = studio.sql(
        "select count(*) from tasks_app_task t join tasks_app_domain d on d.id = t.domain_id"
        " where d.slug = 'calendar' and t.split = 'test' and t.status = 'proven'"
    )[0][0]
    expect(page.locator("body")).to_contain_text(f"{held_out} tasks")
    page.get_by_role("link", name="Freeze for good").click()
    expect(page.locator("body")).to_contain_text("is frozen")
    digest, frozen = studio.sql("select digest, frozen_at from tasks_app_taskset")[0]
    assert digest
    assert frozen
