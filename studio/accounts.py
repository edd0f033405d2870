"""Accounts: signing in by password or one-time link, signing out, and the page of API tokens."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import Group, Permission, User
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from studio.forms import TokenForm
from studio.models import ApiToken, SignInLink
from tasks_app.permissions import LADDER

OWNER = "studio"
BACKEND = "django.contrib.auth.backends.ModelBackend"

CURATED = {
    "tasks_app": ["task", "taskset", "tasksetmember", "environment", "importreport"],
    "sandbox_app": ["reviewreason"],
}
# The admin's rights of each group: app label → models whose rows it may add, change, delete and view.
ADMIN_RIGHTS = {
    "curator": CURATED,
    "engineer": {**CURATED, "studio": ["apitoken"]},
}


def ensure_groups() -> None:
    """Make the three groups and give them their rights in the admin. Safe to call at each start."""
    for name in LADDER:
        group, _ = Group.objects.get_or_create(name=name)
        wanted = Permission.objects.none()
        for app, kinds in ADMIN_RIGHTS.get(name, {}).items():
            wanted = wanted | Permission.objects.filter(content_type__app_label=app, content_type__model__in=kinds)
        group.permissions.add(*wanted)


def ensure_owner() -> User:
    """The account `studio` of the first start: a superuser that signs in by link until a password is set."""
    owner, made = User.objects.get_or_create(username=OWNER, defaults={"is_superuser": True})
    if made:
        owner.set_unusable_password()
        owner.save(update_fields=["password"])
    return owner


sign_in = never_cache(LoginView.as_view(template_name="studio/sign_in.html", redirect_authenticated_user=True))


@never_cache
@require_GET
def sign_in_by_link(request: HttpRequest, secret: str) -> HttpResponse:
    user = SignInLink.objects.use(secret)
    if user is not None:
        login(request, user, backend=BACKEND)
        return redirect("overview")
    if request.user.is_authenticated:
        return redirect("overview")
    messages.error(
        request,
        "This sign-in link was used already or is too old. `python manage.py sign_in_link` prints a new one.",
    )
    return redirect("sign_in")


@require_http_methods(["GET", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """The person's own tokens, and the form for a new one, whose secret is shown on this answer only."""
    form = TokenForm(request.user, request.POST or None)
    secret = ""
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        _, secret = ApiToken.objects.issue(user=request.user, name=data["name"], scopes=data["scopes"])
        form = TokenForm(request.user)
    mine = ApiToken.objects.filter(user=request.user)
    answer = render(request, "studio/tokens.html", {"form": form, "secret": secret, "tokens": mine})
    answer["Cache-Control"] = "no-store"
    return answer


@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken, pk=pk, user=request.user)
    token.revoke()
    messages.success(request, f"{token} is revoked; programs that use it get 401 from now on.")
    return redirect("tokens")
