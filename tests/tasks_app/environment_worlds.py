"""States in which every tool has something to do: beside the background, the rows that only a few services have."""

from __future__ import annotations

from typing import Any

_VIEW = {
    "student_view_uri": "https://addon.example/s",
    "teacher_view_uri": "https://addon.example/t",
    "title": "Quiz add-on",
}

PLANTS: dict[str, dict[str, Any]] = {
    "classroom": {
        "plants": [
            {
                "entity": "UserProfile",
                "as": "lea",
                "set": {
                    "name_full_name": "Lea Brandt",
                    "name_given_name": "Lea",
                    "name_family_name": "Brandt",
                    "email_address": "lea.brandt@northfield.example",
                },
            },
            {
                "entity": "Course",
                "as": "bio",
                "set": {"id": "100000000001", "name": "Biology 10B"},
                "children": [
                    {"entity": "Student", "set": {"user_id": {"ref": "lea"}}},
                    {
                        "entity": "Announcement",
                        "set": {"id": "100000000001", "text": "Bring goggles."},
                        "children": [{"entity": "AddOnAttachment", "set": {**_VIEW, "item_id": "100000000001"}}],
                    },
                    {
                        "entity": "CourseWorkMaterial",
                        "set": {"id": "100000000002", "title": "Lab safety"},
                        "children": [{"entity": "AddOnAttachment", "set": {**_VIEW, "item_id": "100000000002"}}],
                    },
                    {
                        "entity": "CourseWork",
                        "as": "lab",
                        "set": {
                            "id": "100000000003",
                            "title": "Osmosis lab",
                            "max_points": 20.0,
                            "work_type": "ASSIGNMENT",
                        },
                        "children": [
                            {"entity": "AddOnAttachment", "as": "quiz", "set": {**_VIEW, "item_id": "100000000003"}},
                            {"entity": "Rubric", "set": {}},
                            {
                                "entity": "StudentSubmission",
                                "as": "hers",
                                "set": {
                                    "user_id": {"ref": "lea"},
                                    "state": "TURNED_IN",
                                    "course_work_type": "ASSIGNMENT",
                                },
                            },
                        ],
                    },
                ],
            },
            {
                "entity": "AddOnAttachmentStudentSubmission",
                "set": {
                    "course_id": {"ref": "bio"},
                    "item_id": {"ref": "lab"},
                    "attachment_id": {"ref": "quiz"},
                    "course_work_submission_id": {"ref": "hers"},
                    "user_id": {"ref": "lea"},
                },
            },
            {"entity": "GuardianInvitation", "set": {"student_id": {"ref": "lea"}, "state": "PENDING"}},
            {"entity": "Guardian", "set": {"student_id": {"ref": "lea"}, "guardian_id": {"ref": "me"}}},
            {"entity": "Invitation", "set": {"course_id": {"ref": "bio"}, "user_id": {"ref": "me"}, "role": "STUDENT"}},
        ]
    },
    "calendar": {
        "plants": [
            {"entity": "Event", "as": "mine", "set": {"calendar_id": {"ref": "primary"}, "summary": "Dentist"}},
            {
                "entity": "Event",
                "as": "weekly",
                "set": {
                    "calendar_id": {"ref": "primary"},
                    "summary": "Choir",
                    "start_time": "2026-11-03T18:00:00Z",
                    "end_time": "2026-11-03T19:30:00Z",
                    "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=6"],
                },
                "children": [
                    {"entity": "EventAttendee", "set": {"email": "kim@example.org", "response_status": "accepted"}}
                ],
            },
        ]
    },
}
