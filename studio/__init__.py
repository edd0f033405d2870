"""The studio: settings, urls, the processes, accounts and the overview. Nothing of the other apps imports it."""

from studio.celery import app as celery_app

__all__ = ["celery_app"]
