"""Addresses of tasks and environments under /api/v1."""

from __future__ import annotations

from ninja import Router

router = Router(tags=["tasks"])
