"""What the tasks app does across several rows, one module a subject; the other apps import from here."""

from tasks_app.services.events import publish, wake
from tasks_app.services.files import blobs

__all__ = ["blobs", "publish", "wake"]
