"""Templates can be read and compared line by line."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template

FOLDER = Path(settings.BASE_DIR) / "templates"
TEMPLATES = sorted(path.relative_to(FOLDER) for path in FOLDER.rglob("*.html"))
MOST = 160  # characters a line: a tag of Django's can't be broken over two


@pytest.mark.parametrize("path", TEMPLATES, ids=str)
def test_a_template_compiles_and_no_line_of_it_is_too_long_to_read(path: Path) -> None:
    get_template(str(path))
    long = [number for number, line in enumerate((FOLDER / path).read_text().splitlines(), 1) if len(line) > MOST]
    assert not long, f"lines {long} are longer than {MOST} characters"
