"""System checks: what a deployment can get wrong and would notice late."""

from __future__ import annotations

import shutil
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

LEAST_FREE = 500 * 1024 * 1024


@register()
def data_dir_has_room(**_: Any) -> list[CheckMessage]:
    free = shutil.disk_usage(settings.DATA_DIR).free
    if free >= LEAST_FREE:
        return []
    return [
        Error(
            f"{settings.DATA_DIR} has {free // 2**20} MB free, the studio needs {LEAST_FREE // 2**20} MB.",
            hint="Free some space or set DATA_DIR to a folder on another disk.",
            id="studio.E001",
        )
    ]


@register()
def kernel_socket_is_short(**_: Any) -> list[CheckMessage]:
    if len(settings.KERNEL_SOCKET.encode()) < 108:
        return []
    return [
        Error(
            f"KERNEL_SOCKET is {len(settings.KERNEL_SOCKET.encode())} bytes long; the system allows 107.",
            hint="Unset it, or choose a shorter path.",
            id="studio.E002",
        )
    ]


@register(deploy=True)
def hosts_are_named(**_: Any) -> list[CheckMessage]:
    if "*" not in settings.ALLOWED_HOSTS:
        return []
    return [
        Warning("ALLOWED_HOSTS allows every host.", hint="Name the hosts the studio is reached by.", id="studio.W001")
    ]
