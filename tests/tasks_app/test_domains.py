"""What is read from the two documents, against a sample of keys, foreign keys and effects read by hand."""

from __future__ import annotations

import functools

import pytest

from tasks_app.domains.model import Attr, DomainModel, Entity, Op, from_json, to_json
from tasks_app.domains.reading import read_domain, tool_names
from tasks_app.toolpool import read_source


@functools.cache
def model(name: str) -> DomainModel:
    return read_domain(read_source({"classroom": "classroom:v1", "calendar": "calendar:v3"}[name]))


def entity(name: str) -> Entity:
    return next(e for domain in ("classroom", "calendar") for e in model(domain).entities if e.name == name)


def attr(name: str) -> Attr:
    owner, column = name.split(".")
    return entity(owner).attr(column)


def op(tool: str) -> Op:
    return next(o for domain in ("classroom", "calendar") for o in model(domain).ops if o.tool == tool)


KEYS = {  # read by hand from the paths and schemas of the two documents
    "Course": ("id",),
    "CourseAlias": ("course_id", "alias"),
    "Announcement": ("course_id", "id"),
    "CourseWork": ("course_id", "id"),
    "CourseWorkMaterial": ("course_id", "id"),
    "StudentSubmission": ("course_id", "course_work_id", "id"),
    "AddOnAttachment": ("course_id", "item_id", "id"),
    "AddOnAttachmentStudentSubmission": ("course_id", "item_id", "attachment_id", "id"),
    "Rubric": ("course_id", "course_work_id", "id"),
    "StudentGroup": ("course_id", "id"),
    "StudentGroupMember": ("course_id", "student_group_id", "user_id"),
    "Student": ("course_id", "user_id"),
    "Teacher": ("course_id", "user_id"),
    "Topic": ("course_id", "topic_id"),
    "Invitation": ("id",),
    "UserProfile": ("id",),
    "GuardianInvitation": ("student_id", "invitation_id"),
    "Guardian": ("student_id", "guardian_id"),
    "GradingPeriodSettings": ("course_id",),
    "GradingPeriod": ("course_id", "id"),
    "Criterion": ("course_id", "course_work_id", "rubric_id", "id"),
    "Level": ("course_id", "course_work_id", "rubric_id", "criterion_id", "id"),
    "CourseWorkStudent": ("course_id", "course_work_id", "student_id"),
    "AnnouncementStudent": ("course_id", "announcement_id", "student_id"),
    "AclRule": ("calendar_id", "id"),
    "CalendarListEntry": ("id",),
    "Calendar": ("id",),
    "Colors": (),
    "Event": ("calendar_id", "id"),
    "Setting": ("id",),
    "EventAttendee": ("calendar_id", "event_id", "email"),
    "EventReminder": ("calendar_id", "event_id", "method", "minutes"),
    "EventAttachment": ("calendar_id", "event_id", "file_url"),
    "EventLabel": ("calendar_id", "id"),
    "Person": ("email",),
}
REFERENCES = {  # column → what it points at, or None where it must point at nothing
    "CourseAlias.course_id": "Course.id",
    "Announcement.course_id": "Course.id",
    "CourseWork.course_id": "Course.id",
    "StudentSubmission.course_id": "Course.id",
    "StudentSubmission.course_work_id": "CourseWork.id",
    "StudentSubmission.user_id": "UserProfile.id",
    "Course.owner_id": "UserProfile.id",
    "Announcement.creator_user_id": "UserProfile.id",
    "CourseWork.creator_user_id": "UserProfile.id",
    "CourseWork.topic_id": "Topic.topic_id",
    "CourseWorkMaterial.topic_id": "Topic.topic_id",
    "CourseWork.grading_period_id": "GradingPeriod.id",
    "Rubric.course_work_id": "CourseWork.id",
    "Student.user_id": "UserProfile.id",
    "Teacher.user_id": "UserProfile.id",
    "Teacher.course_id": "Course.id",
    "StudentGroupMember.student_group_id": "StudentGroup.id",
    "StudentGroupMember.user_id": "UserProfile.id",
    "Invitation.course_id": "Course.id",
    "Invitation.user_id": "UserProfile.id",
    "Guardian.student_id": "UserProfile.id",
    "Guardian.guardian_id": "UserProfile.id",
    "GuardianInvitation.student_id": "UserProfile.id",
    "CourseWorkStudent.student_id": "UserProfile.id",
    "CourseWorkStudent.course_work_id": "CourseWork.id",
    "AddOnAttachmentStudentSubmission.course_work_submission_id": "StudentSubmission.id",
    "AddOnAttachmentStudentSubmission.user_id": "UserProfile.id",
    "AddOnAttachmentStudentSubmission.attachment_id": "AddOnAttachment.id",
    "Criterion.rubric_id": "Rubric.id",
    "Level.criterion_id": "Criterion.id",
    "GradingPeriod.course_id": "GradingPeriodSettings.course_id",
    "Event.calendar_id": "Calendar.id",
    "AclRule.calendar_id": "Calendar.id",
    "AclRule.scope_value": "Person.email",
    "CalendarListEntry.id": "Calendar.id",
    "Event.recurring_event_id": "Event.id",
    "Event.organizer_email": "Person.email",
    "Event.creator_email": "Person.email",
    "EventAttendee.email": "Person.email",
    "EventAttendee.event_id": "Event.id",
    "Event.event_label_id": "EventLabel.id",
    "Calendar.data_owner": "Person.email",
    # what looks like a reference and is none
    "Course.calendar_id": None,
    "Course.course_group_email": None,
    "CourseWork.grade_category_id": None,
    "Invitation.id": None,
    "GuardianInvitation.invitation_id": None,
    "GuardianInvitation.invited_email_address": None,
    "Rubric.source_spreadsheet_id": None,
    "AddOnAttachment.item_id": None,
    "Event.color_id": None,
    "Event.ical_uid": None,
    "Event.creator_id": None,
    "EventAttendee.id": None,
    "EventAttachment.file_id": None,
    "CalendarListEntry.color_id": None,
    "Event.working_location_properties_office_location_building_id": None,
}


@pytest.mark.parametrize(("name", "key"), KEYS.items())
def test_key_is_the_one_read_by_hand(name: str, key: tuple[str, ...]) -> None:
    assert entity(name).key == key


def test_foreign_keys_agree_with_the_hand_read_sample_to_95_percent() -> None:
    wrong = {}
    for column, target in REFERENCES.items():
        reference = attr(column).references
        read = f"{reference.entity}.{reference.column}" if reference else None
        if read != target:
            wrong[column] = read
    assert len(wrong) <= len(REFERENCES) * 0.05, wrong


@pytest.mark.parametrize(("name", "methods", "ops"), [("classroom", 105, 90), ("calendar", 38, 33)])
def test_at_least_85_percent_of_methods_run_and_the_others_have_a_reason(name: str, methods: int, ops: int) -> None:
    read = model(name)
    assert len(read.ops) + len(read.left_out) == methods
    assert len(read.ops) >= ops
    assert len(read.ops) / methods >= 0.85
    assert all(left.reason for left in read.left_out)


def test_same_document_gives_the_same_model_and_survives_json() -> None:
    again = read_domain(read_source("calendar:v3"))
    assert to_json(again) == to_json(model("calendar"))
    assert from_json(to_json(again)) == again or to_json(from_json(to_json(again))) == to_json(again)


def test_every_column_named_by_an_op_exists() -> None:
    for domain in ("classroom", "calendar"):
        read = model(domain)
        for one in read.ops:
            columns = {a.column for a in read.entity(one.entity).attrs}
            named = [p.column for p in one.params if p.column] + list(one.effect.detail.get("set", {}))
            named += [f.column for f in one.filters if f.column and not f.via] + [
                c for c, _ in one.effect.detail.get("order", [])
            ]
            assert set(named) <= columns, one.tool


def test_every_reference_points_at_a_column_that_exists() -> None:
    for domain in ("classroom", "calendar"):
        for owner in model(domain).entities:
            for column in owner.attrs:
                if column.references:
                    model(domain).entity(column.references.entity).attr(column.references.column)


@pytest.mark.parametrize(
    ("tool", "to", "sources"),
    [
        ("student_submissions_turn_in", "TURNED_IN", []),
        ("student_submissions_return", "RETURNED", []),
        ("student_submissions_reclaim", "RECLAIMED_BY_STUDENT", ["TURNED_IN"]),
    ],
)
def test_verb_of_a_whole_participle_is_a_transition(tool: str, to: str, sources: list[str]) -> None:
    effect = op(tool).effect
    assert (effect.kind, effect.detail["column"], effect.detail["to"], effect.detail["from"]) == (
        "transition",
        "state",
        to,
        sources,
    )
    assert any((s.target, s.tool) == (to, tool) for s in entity("StudentSubmission").states)


def test_accept_consumes_the_invitation_and_adds_a_member_by_role() -> None:
    effect = op("invitations_accept").effect
    assert effect.kind == "link"
    assert effect.detail["targets"] == {"STUDENT": "Student", "TEACHER": "Teacher"}
    assert effect.detail["copy"] == {"course_id": "course_id", "user_id": "user_id"}


def test_assignees_are_members_of_a_part_gated_by_their_mode() -> None:
    detail = op("course_work_modify_assignees").effect.detail
    assert (detail["part"], detail["column"]) == ("CourseWorkStudent", "student_id")
    assert detail["add"] == "modifyIndividualStudentsOptions.addStudentIds"
    assert detail["remove"] == "modifyIndividualStudentsOptions.removeStudentIds"
    assert detail["mode"]["with_members"] == "INDIVIDUAL_STUDENTS"


def test_attachments_are_appended_to_assignments_only() -> None:
    effect = op("student_submissions_modify_attachments").effect
    assert effect.kind == "append"
    assert effect.detail["only"] == {"column": "course_work_type", "value": "ASSIGNMENT"}


def test_move_instances_freebusy_quick_add_import_clear_are_understood() -> None:
    kinds = {
        tool: op(tool).effect.kind
        for tool in (
            "events_move",
            "events_instances",
            "freebusy_query",
            "events_quick_add",
            "events_import",
            "calendars_clear",
            "calendars_transfer_ownership",
        )
    }
    assert kinds == {
        "events_move": "move",
        "events_instances": "expand",
        "freebusy_query": "free_busy",
        "events_quick_add": "quick_add",
        "events_import": "import",
        "calendars_clear": "delete",
        "calendars_transfer_ownership": "update",
    }
    assert op("events_move").effect.detail["only"] == {"event_type": "default"}
    assert op("calendars_clear").effect.detail["of"] == "Event"
    assert op("events_import").effect.detail["unique"] == ["ical_uid"]
    assert op("freebusy_query").effect.detail["unless"] == {"status": "cancelled", "transparency": "transparent"}
    assert op("calendars_transfer_ownership").effect.detail["from_params"] == {"newDataOwner": "data_owner"}


def test_deleted_rows_stay_marked_where_lists_can_show_them() -> None:
    assert op("course_work_delete").effect.detail["set"]["state"] == "DELETED"
    assert op("events_delete").effect.detail["set"]["status"] == "cancelled"
    assert op("acl_delete").effect.detail["set"]["role"] == "none"
    assert op("topics_delete").effect.detail["mode"] == "cascade"
    assert op("students_delete").effect.detail["mode"] == "cascade"


@pytest.mark.parametrize(
    ("tool", "param", "default"),
    [
        ("course_work_list", "courseWorkStates", ["PUBLISHED"]),
        ("announcements_list", "announcementStates", ["PUBLISHED"]),
        ("course_work_materials_list", "courseWorkMaterialStates", ["PUBLISHED"]),
        ("guardian_invitations_list", "states", ["PENDING"]),
        ("courses_list", "courseStates", None),
        ("student_submissions_list", "states", None),
        ("events_list", "showDeleted", False),
        ("calendar_list_list", "showHidden", False),
    ],
)
def test_default_filters_are_the_documented_ones(tool: str, param: str, default: object) -> None:
    assert next(f for f in op(tool).filters if f.param == param).default == default


def test_bounds_of_time_keep_their_strictness() -> None:
    listed = {f.param: (f.column, f.op) for f in op("events_list").filters}
    assert listed["timeMin"] == ("end_time", "gt")
    assert listed["timeMax"] == ("start_time", "lt")
    assert listed["updatedMin"] == ("updated", "ge")
    assert {f.param: f.op for f in op("events_instances").filters}["timeMin"] == "ge"


def test_search_reaches_guests_and_courses_are_found_by_their_students() -> None:
    search = next(f for f in op("events_list").filters if f.op == "search")
    assert {"summary", "location", "EventAttendee.email", "organizer_email"} <= set(search.columns)
    by_student = next(f for f in op("courses_list").filters if f.param == "studentId")
    assert (by_student.via, by_student.column) == ("Student", "user_id")


def test_paging_is_the_documented_one_or_the_stated_default() -> None:
    sizes = {
        tool: (op(tool).paging.default_size, op(tool).paging.max_size)
        for tool in (
            "students_list",
            "invitations_list",
            "rubrics_list",
            "events_list",
            "acl_list",
            "student_groups_list",
        )
    }
    assert sizes == {
        "students_list": (30, 100),
        "invitations_list": (500, 500),
        "rubrics_list": (1, 1),
        "events_list": (250, 2500),
        "acl_list": (100, 250),
        "student_groups_list": (30, 75),
    }


def test_wildcard_parents_are_the_documented_ones() -> None:
    found = {o.tool: o.wildcard for domain in ("classroom", "calendar") for o in model(domain).ops if o.wildcard}
    assert found == {
        "student_submissions_list": "courseWorkId",
        "guardian_invitations_list": "studentId",
        "guardians_list": "studentId",
    }


def test_patches_write_only_what_their_mask_may_name() -> None:
    detail = op("student_submissions_patch").effect.detail
    assert detail["mask_fields"] == ["draftGrade", "assignedGrade"]
    assert {p.name for p in op("student_submissions_patch").params if p.where == "body"} == {
        "draftGrade",
        "assignedGrade",
    }
    assert "dueDate" in op("course_work_patch").effect.detail["mask_fields"]
    assert op("course_work_patch").mask_param == "updateMask"


@pytest.mark.parametrize(
    ("tool", "required"),
    [
        ("courses_create", {"name", "ownerId"}),
        ("course_work_create", {"courseId", "title"}),
        ("invitations_create", {"courseId", "userId", "role"}),
        ("guardian_invitations_create", {"studentId", "invitedEmailAddress"}),
        ("events_insert", {"calendarId", "start", "end"}),
        ("events_import", {"calendarId", "start", "end", "iCalUID"}),
        ("events_patch", {"calendarId", "eventId"}),
        ("acl_insert", {"calendarId", "role", "scope"}),
        ("students_create", {"courseId", "userId"}),
        ("calendars_insert", {"summary"}),
    ],
)
def test_required_arguments_are_the_documented_ones(tool: str, required: set[str]) -> None:
    assert {p.name for p in op(tool).params if p.required} == required


def test_fields_of_the_server_are_no_arguments() -> None:
    names = {p.name for p in op("course_work_create").params}
    assert not names & {"id", "creationTime", "updateTime", "creatorUserId", "alternateLink", "associatedWithDeveloper"}
    assert "organizer" not in {p.name for p in op("events_insert").params}
    assert "organizer" in {p.name for p in op("events_import").params}
    assert "workType" not in {p.name for p in op("course_work_patch").params}


def test_enums_are_read_from_schemas_and_from_prose() -> None:
    assert attr("StudentSubmission.state").enum == ("NEW", "CREATED", "TURNED_IN", "RETURNED", "RECLAIMED_BY_STUDENT")
    assert attr("EventAttendee.response_status").enum == ("needsAction", "declined", "tentative", "accepted")
    assert attr("Event.transparency").enum == ("opaque", "transparent")
    assert attr("AclRule.role").enum[-1] == "owner"
    assert attr("CourseWork.state").default == "DRAFT"
    assert attr("Event.status").default == "confirmed"
    assert attr("Event.guests_can_invite_others").default is True


def test_dates_and_times_of_day_are_one_timestamp() -> None:
    assert (attr("CourseWork.due_time").path, attr("CourseWork.due_time").kind) == ("dueDate+dueTime", "timestamp")
    assert (attr("Event.start_time").path, attr("Event.start_time").kind) == ("start.dateTime|start.date", "timestamp")
    assert attr("GradingPeriod.end_date").kind == "date"


def test_errors_are_the_documented_ones() -> None:
    codes = [(e.code, e.when) for e in op("student_submissions_reclaim").errors]
    assert ("FAILED_PRECONDITION", "if the student submission has not been turned in") in codes
    assert {e.code for e in op("invitations_create").errors} == {
        "PERMISSION_DENIED",
        "NOT_FOUND",
        "FAILED_PRECONDITION",
        "ALREADY_EXISTS",
    }
    assert op("guardian_invitations_create").effect.detail["unique"] == ["student_id", "invited_email_address"]


def test_other_names_of_a_key_and_rules_between_parameters_are_read() -> None:
    assert op("courses_get").effect.detail["aliases"] == {
        "id": {"entity": "CourseAlias", "by": "alias", "gives": "course_id"}
    }
    assert op("invitations_list").effect.detail["needs_one_of"] == ["userId", "courseId"]
    assert op("courses_list").effect.detail["excludes"] == {"studentId": ["teacherId"], "teacherId": ["studentId"]}
    assert op("events_list").effect.detail["order_needs"] == {"startTime": "singleEvents"}


def refused(tool: str) -> list[tuple[str, dict[str, object]]]:
    listed = op(tool).effect.detail.get("refuses", [])
    return [(r["code"], {k: v for k, v in r.items() if k not in ("code", "says")}) for r in listed]


def test_refusals_that_stand_on_rows_are_read_and_others_stay_words() -> None:
    membership = {"course_id": "course_id", "user_id": "user_id"}
    assert refused("course_work_patch") == [
        ("FAILED_PRECONDITION", {"if": "column", "column": "state", "equals": "DELETED"})
    ]
    assert refused("students_create") == [("ALREADY_EXISTS", {"if": "row", "entity": "Teacher", "by": membership})]
    assert refused("teachers_delete")[0] == (
        "FAILED_PRECONDITION",
        {"if": "parent", "entity": "Course", "column": "owner_id", "equals": "user_id"},
    )
    assert refused("topics_create") == [("ALREADY_EXISTS", {"if": "same", "columns": ["course_id", "name"]})]
    assert refused("topics_patch") == [("FAILED_PRECONDITION", {"if": "same", "columns": ["course_id", "name"]})]
    assert refused("invitations_create")[0][1]["targets"] == {"STUDENT": "Student", "TEACHER": "Teacher"}
    assert refused("course_work_modify_assignees") == [
        ("FAILED_PRECONDITION", {"if": "empty", "part": "CourseWorkStudent"})
    ]
    assert refused("courses_create") == []


def test_replacing_update_keeps_what_the_words_say_it_keeps() -> None:
    assert op("courses_update").effect.detail["keeps"] == ["levels"]
    assert op("calendars_update").effect.detail["keeps"] == ["labelProperties", "workingHours"]


def test_reading_tools_take_no_argument_they_would_ignore() -> None:
    assert not {"timeZone", "maxAttendees", "showHiddenInvitations"} & {p.name for p in op("events_list").params}
    assert "sendUpdates" in {p.name for p in op("events_delete").params}


def test_bounds_said_in_words_are_in_the_schema_of_an_argument() -> None:
    name = next(p for p in op("courses_create").params if p.name == "name")
    assert (name.schema["minLength"], name.schema["maxLength"]) == (1, 750)
    reminders = next(p for p in op("events_insert").params if p.name == "reminders")
    assert reminders.schema["properties"]["overrides"]["items"]["properties"]["minutes"]["maximum"] == 40320


def test_copies_of_a_parent_are_marked() -> None:
    assert attr("StudentSubmission.course_work_type").derived == "CourseWork.work_type"


def test_nouns_are_what_people_say() -> None:
    said = {
        name: (entity(name).noun, entity(name).plural)
        for name in ("CourseWork", "StudentSubmission", "EventAttendee", "UserProfile", "Criterion")
    }
    assert said == {
        "CourseWork": ("assignment", "assignments"),
        "StudentSubmission": ("submission", "submissions"),
        "EventAttendee": ("guest", "guests"),
        "UserProfile": ("person", "people"),
        "Criterion": ("criterion", "criteria"),
    }


def test_twins_show_the_columns_of_the_other() -> None:
    assert attr("CalendarListEntry.summary").derived == "Calendar.summary"
    assert attr("CalendarListEntry.hidden").derived == ""
    assert op("calendars_insert").effect.detail["also"][0]["entity"] == "CalendarListEntry"


def test_tool_names_are_short_where_they_can_be_and_unique() -> None:
    for name in ("classroom:v1", "calendar:v3", "drive:v3", "gmail:v1"):
        names = list(tool_names(read_source(name).tools).values())
        assert len(set(names)) == len(names)
    assert op("student_submissions_list").method == "classroom.courses.courseWork.studentSubmissions.list"
    assert op("course_work_add_on_attachments_create").method == "classroom.courses.courseWork.addOnAttachments.create"


OTHERS = (
    "tasks:v1",
    "drive:v3",
    "gmail:v1",
    "people:v1",
    "blogger:v3",
    "youtube:v3",
    "books:v1",
    "forms:v1",
    "docs:v1",
    "chat:v1",
    "keep:v1",
    "beyondcorp:v1",
    "sheets:v4",
    "meet:v2",
)


@pytest.mark.parametrize("spec", OTHERS)
def test_other_documents_are_read_and_what_is_not_understood_is_reported(spec: str) -> None:
    document = read_source(spec)
    read = read_domain(document)
    assert {o.method for o in read.ops} | {left.method for left in read.left_out} == {
        tool.method for tool in document.tools
    }
    assert all(left.reason for left in read.left_out)
    assert to_json(from_json(to_json(read))) == to_json(read)
