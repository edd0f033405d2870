"""Office: a cast for Calendar. Whose calendars there are, what stands in them, and who is invited."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from tasks_app.plans.drafts import Cast, Person, ref, stamp

MEETINGS = (
    "Budget review",
    "Design critique",
    "Hiring panel",
    "Vendor call",
    "Sprint planning",
    "Safety briefing",
    "Grant meeting",
    "Press rehearsal",
    "Archive tour",
    "Onboarding",
    "Roadmap talk",
    "Contract reading",
    "Data clinic",
    "Writing circle",
    "Exhibit planning",
    "Catering talk",
    "Risk review",
    "Open forum",
    "Volunteer round",
    "Print deadline",
    "Lab induction",
    "Field day planning",
    "Board preparation",
    "Customer visit",
    "Retrospective",
    "Translation check",
    "Stock count",
    "Choir practice",
    "Floor plan review",
    "Fire drill debrief",
)
PROJECTS = (
    "Acorn",
    "Alder",
    "Amber",
    "Anchor",
    "Aspen",
    "Basalt",
    "Beacon",
    "Birch",
    "Bramble",
    "Bridge",
    "Canyon",
    "Cedar",
    "Clover",
    "Cobalt",
    "Comet",
    "Coral",
    "Delta",
    "Dune",
    "Ember",
    "Falcon",
    "Fern",
    "Fjord",
    "Garnet",
    "Glacier",
    "Granite",
    "Grove",
    "Harbour",
    "Hazel",
    "Heron",
    "Indigo",
    "Island",
    "Ivory",
    "Jasper",
    "Juniper",
    "Kestrel",
    "Lagoon",
    "Lantern",
    "Larch",
    "Lichen",
    "Magnet",
    "Maple",
    "Marble",
    "Meadow",
    "Meteor",
    "Mosaic",
    "Nectar",
    "Onyx",
    "Orchard",
    "Osprey",
    "Pebble",
    "Pine",
    "Plover",
    "Prism",
    "Quarry",
    "Quartz",
    "Raven",
    "Reef",
    "Ridge",
    "Saffron",
    "Sequoia",
    "Slate",
    "Sorrel",
    "Spruce",
    "Summit",
    "Tamarisk",
    "Thicket",
    "Thistle",
    "Topaz",
    "Tundra",
    "Umber",
    "Valley",
    "Willow",
)
GROUPS = ("Project", "Team", "Studio", "Group")
ROOMS = ("Ada", "Curie", "Hopper", "Noether", "Turing", "Lovelace", "Franklin", "Meitner")
WEEK = ("2026-11-09", "2026-11-10", "2026-11-11", "2026-11-12", "2026-11-13")  # Monday to Friday
FAR = {  # what growth puts into a calendar: working days beyond all that motifs ask about
    "status": "confirmed",
    "recurrence": None,
    "start_time": {
        "choice": [
            stamp(f"2026-12-{day:02d}", f"{hour:02d}:15") for day in (7, 8, 9, 10, 11, 14, 15) for hour in range(6, 19)
        ]
    },
}


class Office:
    """Plants rows through its `cast`; every method gives the name by which other rows refer to the new one."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.cast = Cast(rng)
        self._summaries: set[str] = set()

    def projects(self, n: int) -> list[str]:
        kind = self.rng.choice(GROUPS)
        return [f"{kind} {name}" for name in self.rng.sample(PROJECTS, n)]

    def rooms(self, n: int) -> list[str]:
        return [f"Room {name}" for name in self.rng.sample(ROOMS, n)]

    def summaries(self, n: int) -> list[str]:
        """Titles of meetings, no two alike in one draft."""
        found: list[str] = []
        while len(found) < n:
            summary = self.rng.choice(MEETINGS)
            if summary in self._summaries or self.rng.random() < 0.4:
                summary = f"{summary} {self.rng.choice(('north', 'south', 'east', 'west', 'I', 'II', 'III', 'IV'))}"
            if summary not in self._summaries:
                self._summaries.add(summary)
                found.append(summary)
        return found

    def calendar(self, summary: str, **listed: Any) -> str:
        """A calendar and its entry in the user's list; the name is that of the calendar."""
        calendar = self.cast.plant("Calendar", {"summary": summary, "time_zone": "UTC"})
        self.cast.plant(
            "CalendarListEntry",
            {
                "id": ref(calendar),
                "summary": summary,
                "time_zone": "UTC",
                "access_role": "owner",
                "hidden": 0,
                "deleted": 0,
                **listed,
            },
        )
        return calendar

    def person(self) -> Person:
        given, family = self.cast.unused_name()
        return Person("", given, family)

    def people(self, n: int) -> list[Person]:
        return [self.person() for _ in range(n)]

    def event(self, calendar: str, summary: str, day: str, clock: str = "09:00", minutes: int = 60, **row: Any) -> str:
        return self.cast.plant(
            "Event",
            {
                "calendar_id": ref(calendar),
                "summary": summary,
                "status": "confirmed",
                "event_type": "default",
                "start_time": stamp(day, clock),
                "end_time": stamp(day, clock, minutes),
                "recurrence": None,
                **row,
            },
        )

    def guests(
        self, calendar: str, event: str, people: Sequence[Person], responses: Sequence[str] = ("accepted",)
    ) -> None:
        """Invite people; the answers are dealt out in turn."""
        for place, person in enumerate(people):
            self.cast.plant(
                "EventAttendee",
                {
                    "calendar_id": ref(calendar),
                    "event_id": ref(event),
                    "email": person.email,
                    "display_name": person.name,
                    "response_status": responses[place % len(responses)],
                    "optional": 0,
                    "resource": 0,
                    "organizer": 0,
                    "additional_guests": 0,
                },
            )

    def rule(self, calendar: str, person: Person, role: str) -> str:
        """Let a person see or change a calendar."""
        return self.cast.plant(
            "AclRule",
            {
                "calendar_id": ref(calendar),
                "id": f"user:{person.email}",
                "role": role,
                "scope_type": "user",
                "scope_value": person.email,
            },
        )
