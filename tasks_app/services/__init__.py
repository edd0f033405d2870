"""What the tasks app does across several rows, one module a subject; the other apps import from here."""

from tasks_app.services.events import last_seq, publish, wake
from tasks_app.services.files import blobs


def reap() -> int:
    """Take up the jobs of this app whose worker is gone (for `manage.py reap`)."""
    from tasks_app.services import regenerations  # it needs the generator; not every importer of events does

    return regenerations.reap()


__all__ = ["blobs", "last_seq", "publish", "reap", "wake"]
