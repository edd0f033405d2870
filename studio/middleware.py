"""What every request passes: static files, the admin's own policy, the sign-in wall, and refusals made readable."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.utils.decorators import sync_and_async_middleware
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from tasks_app.errors import Refused

logger = logging.getLogger("studio.refusals")
OPEN_PATHS = ("/sign-in/", "/healthz", "/readyz", "/static/", "/api/")


class StaticFiles(WhiteNoiseMiddleware):
    """WhiteNoise, answering with the bytes themselves: its streamed files warn under ASGI, and ours are small."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        body = b""
        if found.file is not None:
            with found.file:
                body = found.file.read()
        response = HttpResponse(body, status=int(found.status))
        del response.headers["Content-Type"]
        for name, value in found.headers:
            response[name] = value
        return response


@sync_and_async_middleware
def admin_policy(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Replace the content security policy under /admin/, whose widgets evaluate expressions."""

    def mark(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if request.path_info.startswith("/admin/"):
            response._csp_config = settings.ADMIN_SECURITY_POLICY  # type: ignore[attr-defined]  # django-csp's own hook
        return response

    if iscoroutinefunction(get_response):

        async def apply_async(request: HttpRequest) -> HttpResponseBase:
            return mark(request, await get_response(request))

        return apply_async

    def apply(request: HttpRequest) -> HttpResponseBase:
        return mark(request, get_response(request))

    return apply


class SignedIn:
    """Everything but the open paths needs a signed-in person; the API asks for its token by itself."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated or request.path_info.startswith(OPEN_PATHS):
            return self.get_response(request)
        if request.headers.get("HX-Request"):
            answer = HttpResponse(status=401)
            answer["HX-Redirect"] = settings.LOGIN_URL if settings.LOGIN_URL.startswith("/") else "/sign-in/"
            return answer
        return redirect_to_login(request.get_full_path())


class Refusals:
    """A `Refused` from any view becomes a page (or a fragment, or JSON) that says what, where and what to do."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        if not isinstance(error, Refused):
            return None
        reference = secrets.token_hex(4)
        logger.info("refused %s at %s: %s", reference, request.path, error)
        context = {"refused": error, "reference": reference}
        if request.headers.get("HX-Request"):
            answer = render(request, "components/_refused.html", context, status=200)
            answer["HX-Retarget"], answer["HX-Reswap"] = "#refusal", "innerHTML"
            return answer
        if request.accepts("text/html"):
            return render(request, "studio/refused.html", context, status=error.status)
        return JsonResponse({"what": error.what, "where": error.where, "how": error.how}, status=error.status)
