"""The admin of the sandbox: episodes and reviews to look at (they are records), reasons to edit."""

from __future__ import annotations

from django.contrib import admin
from unfold.admin import ModelAdmin

from sandbox_app.models import Episode, Review, ReviewReason
from tasks_app.admin import RecordAdmin


@admin.register(Episode)
class EpisodeAdmin(RecordAdmin):
    list_display = ("task", "scale", "policy", "state", "outcome", "standing", "steps_count", "created_at")
    list_filter = ("state", "outcome", "standing", "policy", "task__domain")
    list_select_related = ("task",)
    search_fields = ("task__title", "policy")
    show_full_result_count = False


@admin.register(Review)
class ReviewAdmin(RecordAdmin):
    list_display = ("episode", "reviewer", "decision", "reason", "verifier", "created_at", "undone_at")
    list_filter = ("decision", "reason")
    list_select_related = ("episode__task", "reviewer", "reason")
    show_full_result_count = False


@admin.register(ReviewReason)
class ReviewReasonAdmin(ModelAdmin):
    list_display = ("key", "code", "label", "applies_to")
