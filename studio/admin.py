"""Admin of people and their tokens. Groups are the three of `tasks_app.permissions`; their rights are set by code."""

from __future__ import annotations

from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from studio.models import ApiToken, SignInLink

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ModelAdmin):
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "is_active", "is_superuser", "last_login")
    list_filter = ("is_active", "is_superuser", "groups")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("What they may do", {"fields": ("is_active", "is_superuser", "groups")}),
        ("Times", {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")
    actions = ("make_links",)

    @admin.action(description="Print a one-time sign-in link for each")
    def make_links(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            address = request.build_absolute_uri(f"/sign-in/{SignInLink.objects.issue(user)}/")
            messages.success(request, f"{user}: {address} (works once, within 12 hours)")


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, ModelAdmin):
    fields = ("name",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return False


@admin.register(ApiToken)
class ApiTokenAdmin(ModelAdmin):
    """Everyone's tokens: looked at and revoked here, made on the page of the person they belong to."""

    list_display = ("name", "user", "scopes_shown", "created_at", "last_used_at", "revoked_at")
    list_filter = ("user", "may_read", "may_write", "may_export")
    fields = readonly_fields = ("name", "user", "scopes_shown", "hint", "created_at", "last_used_at", "revoked_at")
    actions = ("revoke",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiToken]:
        return super().get_queryset(request).select_related("user")

    @admin.display(description="may")
    def scopes_shown(self, token: ApiToken) -> str:
        return ", ".join(token.scopes)

    @admin.action(description="Revoke for good", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        for token in queryset:
            token.revoke()
        messages.success(request, f"{len(queryset)} tokens are revoked; programs that use them get 401 from now on.")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False
