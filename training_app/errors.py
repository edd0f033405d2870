"""Errors of the training app. Each message is a sentence for a person: what, where, what to do."""

from __future__ import annotations

from tasks_app import errors


class TrainingError(Exception):
    """The root: everything this app refuses or fails with on purpose."""


class Refused(errors.Refused, TrainingError):
    """A launch that would be wrong or in vain; nothing was started and nothing was changed."""


class TemplateRefused(Refused):
    """A chat template from which no loss mask can be made."""


class NoSpace(Refused):
    """The disk would not hold the next checkpoint."""
