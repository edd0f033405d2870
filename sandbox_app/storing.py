"""Text as every database takes it. What a policy or a tool wrote exactly is in the blob beside the row."""

from __future__ import annotations

import re
from typing import Final

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` without NUL and lone surrogates, which SQLite's driver and PostgreSQL refuse; replaced visibly."""
    return _SURROGATE.sub("\ufffd", text).replace("\x00", "\u2400")
