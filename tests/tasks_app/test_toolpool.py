"""Sources are read whole or refused with a sentence that says what, where and what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tasks_app.domains.reading import read_domain
from tasks_app.toolpool import read_source, sources
from tasks_app.toolpool.discovery import DiscoveryReader
from tasks_app.toolpool.schemas import Schemas
from tasks_app.toolpool.sources import Source
from tasks_app.tools import ToolSourceError


def document(**changes: Any) -> dict[str, Any]:
    """A small Discovery document of a service nobody has: shelves with books."""
    methods = {
        "list": {
            "id": "lib.shelves.list",
            "path": "v1/shelves",
            "httpMethod": "GET",
            "parameters": {
                "pageSize": {"type": "integer", "format": "int32", "location": "query"},
                "pageToken": {"type": "string", "location": "query"},
            },
            "response": {"$ref": "ListShelvesResponse"},
        },
        "get": {
            "id": "lib.shelves.get",
            "path": "v1/shelves/{shelfId}",
            "httpMethod": "GET",
            "parameters": {"shelfId": {"type": "string", "location": "path", "required": True}},
            "response": {"$ref": "Shelf"},
        },
    }
    base = {
        "kind": "discovery#restDescription",
        "discoveryVersion": "v1",
        "name": "lib",
        "version": "v1",
        "title": "Library",
        "rootUrl": "https://lib.example/",
        "servicePath": "",
        "resources": {"shelves": {"methods": methods}},
        "schemas": {
            "Shelf": {
                "id": "Shelf",
                "type": "object",
                "properties": {"id": {"type": "string"}, "title": {"type": "string"}},
            },
            "ListShelvesResponse": {
                "id": "ListShelvesResponse",
                "type": "object",
                "properties": {
                    "shelves": {"type": "array", "items": {"$ref": "Shelf"}},
                    "nextPageToken": {"type": "string"},
                },
            },
        },
    }
    return {**base, **changes}


def saved(folder: Path, content: Any) -> str:
    path = folder / "source.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


def refused(spec: str) -> str:
    with pytest.raises(ToolSourceError) as caught:
        read_source(spec)
    return str(caught.value)


def test_read_source_takes_a_package_document_with_its_licence() -> None:
    read = read_source("classroom:v1")
    assert (read.name, read.version, len(read.tools)) == ("classroom", "v1", 105)
    assert read.licence == "Apache-2.0"
    assert read.source == "googleapiclient/discovery_cache/documents/classroom.v1.json"


def test_read_source_takes_a_file_by_its_content_whatever_its_name(tmp_path: Path) -> None:
    read = read_source(saved(tmp_path, document()))
    assert [tool.method for tool in read.tools] == ["lib.shelves.list", "lib.shelves.get"]
    assert read.licence == ""


def test_refused_truncated_document_says_where_it_ends(tmp_path: Path) -> None:
    said = refused(saved(tmp_path, json.dumps(document())[:-200]))
    assert "truncated" in said
    assert "line 1, column" in said
    assert "nothing was imported" in said


def test_refused_document_of_100_mb_before_it_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("a document over the bound was read"))
    assert "100 MB, more than the 34 MB" in refused(str(path))


def test_refused_schema_that_is_only_a_reference_to_itself(tmp_path: Path) -> None:
    schemas = {**document()["schemas"], "A": {"$ref": "B"}, "B": {"$ref": "A"}}
    said = refused(saved(tmp_path, document(schemas=schemas)))
    assert "only a reference to itself: A → B → A" in said
    assert "schemas" in said


def test_schema_that_contains_itself_is_cut_and_noted(tmp_path: Path) -> None:
    schemas = document()["schemas"]
    schemas["Shelf"]["properties"]["inner"] = {"$ref": "Box"}
    schemas["Box"] = {"type": "object", "properties": {"shelf": {"$ref": "Shelf"}}}
    read = read_source(saved(tmp_path, document(schemas=schemas)))
    assert read.notes == ("Schema Box contains itself (Box → Shelf → Box): cut where it comes again, free JSON below.",)
    expanded = Schemas(read.schemas, "x").expanded({"$ref": "Shelf"})
    assert expanded["properties"]["inner"]["properties"]["shelf"] == {
        "type": "object",
        "description": "Shelf, as above",
    }


def test_reference_to_a_missing_schema_is_free_json_and_noted(tmp_path: Path) -> None:
    schemas = document()["schemas"]
    schemas["Shelf"]["properties"]["owner"] = {"$ref": "Nobody"}
    read = read_source(saved(tmp_path, document(schemas=schemas)))
    assert "Schema Nobody is referred to by Shelf but is not in the document" in read.notes[0]


def test_refused_schema_nested_without_end(tmp_path: Path) -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(100):
        deep = {"type": "object", "properties": {"a": deep}}
    spec = saved(tmp_path, document(schemas={**document()["schemas"], "Shelf": deep}))
    assert "nested more than 60 levels" in refused(spec)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a": nope}', "not JSON"),
        ("[]", "No reader knows"),
        ('{"openapi": "3.0.0"}', "'openapi'"),
    ],
)
def test_refused_content_that_is_no_document(tmp_path: Path, content: str, what: str) -> None:
    assert what in refused(saved(tmp_path, content))


def test_refused_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"\xff\xfe{}")
    assert "not UTF-8" in refused(str(path))


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"resources": {}}, "describes no method"),
        ({"resources": {"a": []}}, "does not hold objects"),
        ({"resources": {"a": {"methods": {"get": {"id": "x"}}}}}, "has no httpMethod, path"),
        ({"schemas": {"A": 1}}, "'schemas' does not hold objects"),
        ({"schemas": ["A"]}, "'schemas' does not hold objects"),
        ({"name": ""}, "has no name"),
    ],
)
def test_refused_document_with_a_part_missing(tmp_path: Path, changes: dict[str, Any], what: str) -> None:
    assert what in refused(saved(tmp_path, document(**changes)))


def test_refused_name_that_no_package_carries_lists_known_versions() -> None:
    assert "classroom:v1" in refused("classroom:v9")
    assert "There is no file" in refused("nowhere/at-all.json")


def test_sniffs_by_content_only() -> None:
    reader = DiscoveryReader()
    assert reader.sniffs(document())
    assert not reader.sniffs({"openapi": "3.1.0", "paths": {}})
    assert not reader.sniffs([])


def test_size_bound_is_above_every_known_document() -> None:
    assert max(path.stat().st_size for path in sources.google_documents().glob("*.json")) < sources.MAX_BYTES


def test_schema_that_doubles_at_each_level_is_cut_to_a_bounded_size(tmp_path: Path) -> None:
    schemas = document()["schemas"]
    for level in range(11):
        schemas[f"L{level}"] = {"type": "object", "properties": {f"p{i}": {"$ref": f"L{level + 1}"} for i in range(10)}}
    schemas["L11"] = {"type": "object", "properties": {"leaf": {"type": "string"}}}
    schemas["Shelf"]["properties"]["laugh"] = {"$ref": "L0"}
    read = read_source(saved(tmp_path, document(schemas=schemas)))
    assert len(json.dumps(Schemas(read.schemas, "x").expanded({"$ref": "Shelf"}))) < 5_000_000


def test_bounds_and_defaults_are_numbers_and_flags_where_the_document_has_text() -> None:
    listed = next(tool for tool in read_source("calendar:v3").tools if tool.method == "calendar.events.list")
    by_name = {parameter.name: parameter.schema for parameter in listed.parameters}
    assert by_name["maxResults"]["default"] == 250
    assert by_name["maxAttendees"]["minimum"] == 1
    read = read_source("calendar:v3")
    event = Schemas(read.schemas, "x").expanded({"$ref": "Event"})
    assert event["properties"]["guestsCanModify"]["default"] is False
    assert event["properties"]["transparency"]["default"] == "opaque"


def test_refused_names_that_could_not_be_names(tmp_path: Path) -> None:
    schemas = document()["schemas"]
    schemas["Shelf"]["properties"]["title'); drop table"] = {"type": "string"}
    assert "is no name" in refused(saved(tmp_path, document(schemas=schemas)))


JUNK: tuple[Any, ...] = (
    None,
    1,
    "",
    [],
    {},
    True,
    ["a"],
    {"$ref": "Course"},
    {"$ref": "Nope"},
    {"type": "array"},
    "\u202eevil",
)


@pytest.mark.parametrize("seed", range(20))
def test_document_with_anything_in_it_broken_is_read_or_refused_in_a_sentence(seed: int) -> None:
    content = json.loads((sources.google_documents() / "calendar.v3.json").read_text())
    random = Random(seed)
    for _ in range(random.choice((1, 3, 10))):
        holder, key = random.choice(list(_places(content)))
        holder[key] = random.choice(JUNK)
    refusal: ToolSourceError | None = None
    try:
        read_domain(DiscoveryReader().read(content, Source("fuzzed", "0", "")))
    except ToolSourceError as error:
        refusal = error
    assert refusal is None or (refusal.where.startswith("fuzzed") and refusal.remedy)


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield node, key
        yield from _places(node[key])
