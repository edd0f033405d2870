"""HTTP and websockets in one process: `uvicorn studio.asgi:application`."""

from __future__ import annotations

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
http = get_asgi_application()  # sets Django up, which the consumers need

from django.urls import path  # noqa: E402

from tasks_app.consumers import EventConsumer  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(
            AuthMiddlewareStack(
                URLRouter(
                    [
                        path("ws/events/", EventConsumer.as_asgi()),
                    ]
                )
            )
        ),
    }
)
