"""Tokens of the API and one-time sign-in links. Both are kept as hashes: what is in the database opens nothing."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone

SCOPES = ("read", "write", "export")
PREFIX = "studio_"
LINK_LIFETIME = timedelta(hours=12)


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def live(self) -> ApiTokenQuerySet:
        return self.filter(revoked_at__isnull=True, user__is_active=True)

    def issue(self, *, user: User, name: str, scopes: list[str]) -> tuple[ApiToken, str]:
        """A new token and its secret, which is shown once and stored nowhere."""
        secret = PREFIX + secrets.token_urlsafe(32)
        token = self.create(
            user=user,
            name=name,
            digest=digest(secret),
            hint=secret[-4:],
            **{f"may_{scope}": scope in scopes for scope in SCOPES},
        )
        return token, secret

    def opened_by(self, secret: str) -> ApiToken | None:
        return self.live().select_related("user").filter(digest=digest(secret)).first()


class ApiToken(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(max_length=4, editable=False)  # the last four characters, to tell tokens apart
    may_read = models.BooleanField("read", default=True)
    may_write = models.BooleanField("write", default=False)
    may_export = models.BooleanField("export", default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name = "API token"

    def __str__(self) -> str:
        return f"{self.name} …{self.hint}"

    @property
    def scopes(self) -> list[str]:
        return [scope for scope in SCOPES if getattr(self, f"may_{scope}")]

    def allows(self, scope: str) -> bool:
        return scope in self.scopes

    def revoke(self) -> None:
        """Final: a revoked token never opens anything again."""
        if self.revoked_at is None:
            self.revoked_at = timezone.now()
            self.save(update_fields=["revoked_at"])


class SignInLinkQuerySet(models.QuerySet["SignInLink"]):
    def issue(self, user: User) -> str:
        """The secret of a new link. It serves once, within LINK_LIFETIME."""
        secret = secrets.token_urlsafe(24)
        self.create(user=user, digest=digest(secret), expires_at=timezone.now() + LINK_LIFETIME)
        return secret

    def use(self, secret: str) -> User | None:
        """The user whose link it is, and the link is spent; None when it is unknown, spent or too old."""
        now = timezone.now()
        fresh = self.filter(digest=digest(secret), used_at__isnull=True, expires_at__gt=now, user__is_active=True)
        if not fresh.update(used_at=now):
            return None
        return self.select_related("user").get(digest=digest(secret)).user


class SignInLink(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    objects = SignInLinkQuerySet.as_manager()

    def __str__(self) -> str:
        return f"link of {self.user}"
