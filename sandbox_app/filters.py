"""EpisodeFilter: what narrows a list of episodes, as the page's address says it. Pure: parsed, printed, described.

One parser serves the list, the review queue, the bulk preview and the API, so that the filter a page shows is the
filter that its action uses. Unknown values are refused with the known ones; unknown names are left to other readers
of the address (`step`, `panel`, `after`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Final
from urllib.parse import urlencode

from tasks_app.errors import Refused

OUTCOMES: Final = ("passed", "failed", "stopped", "infrastructure", "running", "queued", "cancelled")
REVIEWED: Final = ("waiting", "approved", "rejected", "open", "mine", "skipped")
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "outcome": OUTCOMES,
    "tier": ("task", "primer"),
    "scale": ("v0", "v1", "v2", "v3", "larger"),
    "policy": ("reference", "scripted", "no_op", "local"),
    "source": ("person", "demo", "run", "evaluation"),
    "reviewed": REVIEWED,
}
LABELS: Final[Mapping[str, str]] = {
    "outcome": "Outcome", "domain": "Domain", "tier": "Tier", "scale": "Scale", "policy": "Policy",
    "source": "Source", "reviewed": "Review", "task": "Task", "q": "Text",
}
ANY = ""
LONGEST = 200


@dataclass(frozen=True, slots=True)
class EpisodeFilter:
    """"" means any. `domain` is a slug, `task` a key, `q` a part of the task's title."""

    outcome: str = ANY
    domain: str = ANY
    tier: str = ANY
    scale: str = ANY
    policy: str = ANY
    source: str = ANY
    reviewed: str = ANY
    task: str = ANY
    q: str = ANY

    def items(self) -> Iterator[tuple[str, str]]:
        return ((field.name, getattr(self, field.name)) for field in fields(self) if getattr(self, field.name))

    def query(self) -> str:
        """The filter as it stands in an address, without `?`; "" when everything is shown."""
        return urlencode(list(self.items()))

    def having(self, name: str, value: str) -> EpisodeFilter:
        return replace(self, **{name: value})

    def says(self) -> str:
        """ "outcome failed, scale v2", or "all episodes"."""
        return ", ".join(f"{LABELS[name].lower()} {value}" for name, value in self.items()) or "all episodes"


def parse(values: Mapping[str, str]) -> EpisodeFilter:
    """Reads an address's parameters. Raises Refused for a value that is none of the choices."""
    state = values.get("state", "")
    outcome = values.get("outcome", "") or state
    found = {field.name: values.get(field.name, "").strip()[:LONGEST] for field in fields(EpisodeFilter)}
    found["outcome"] = outcome
    for name, choices in CHOICES.items():
        if found[name] and found[name] not in choices:
            raise Refused(f"There is no {LABELS[name].lower()} “{found[name]}” to filter by.",
                          how=f"Choose one of {', '.join(choices)}.", status=400)
    return EpisodeFilter(**found)
