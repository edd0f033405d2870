"""Settings by environment, with defaults that serve. `studio.variables` reads them and fails loudly.

PORT, DATA_DIR, DATABASE_URL, REDIS_URL, SECRET_KEY, ALLOWED_HOSTS, KERNEL_SOCKET, SANDBOX_SLOTS, TRUSTED_ORIGINS,
BEHIND_TLS. Nothing else of the environment is read here.
"""

from __future__ import annotations

from pathlib import Path

from csp.constants import NONCE, NONE, SELF, UNSAFE_EVAL

from studio import variables

BASE_DIR = Path(__file__).resolve().parent.parent
CONTENT_DIR = BASE_DIR / "content"
DATA_DIR = variables.folder("DATA_DIR", BASE_DIR / "var")
RUN_DIR = variables.run_folder(DATA_DIR)
PORT = variables.whole_number("PORT", 8000, 1, 65535)
SECRET_KEY = variables.secret_key(DATA_DIR)
DEBUG = False
ALLOWED_HOSTS = variables.names("ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = variables.names("TRUSTED_ORIGINS", [])
BEHIND_TLS = variables.switch("BEHIND_TLS", False)

# Where kernels are asked for: the host that the sandbox worker starts, and how many it holds at once.
KERNEL_SOCKET = variables.text("KERNEL_SOCKET", str(RUN_DIR / "kernels.sock"))
SANDBOX_SLOTS = variables.whole_number("SANDBOX_SLOTS", 4, 1, 256)

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "studio.apps.StudioAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "django_htmx",
    "django_filters",
    "ninja",
    "studio.apps.StudioConfig",
    "tasks_app",
    "sandbox_app",
    "training_app",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "studio.middleware.StaticFiles",
    "csp.middleware.CSPMiddleware",
    "studio.middleware.admin_policy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "studio.middleware.SignedIn",
    "studio.middleware.Refusals",
]
ROOT_URLCONF = "studio.urls"
ASGI_APPLICATION = "studio.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "studio.dashboard.page",
            ]
        },
    }
]

DATABASES = {"default": variables.database(variables.text("DATABASE_URL", ""), DATA_DIR / "studio.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "sign_in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS else None
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if BEHIND_TLS else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_THOUSAND_SEPARATOR = False
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
WHITENOISE_MAX_AGE = 0  # asked again each time, answered 304: no stale module after an update
MEDIA_ROOT = DATA_DIR / "media"

# One policy for the studio: no inline script, no inline style, nothing from elsewhere.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "manifest-src": [SELF],
    }
}
# The admin's Alpine evaluates expressions and sets styles: a policy of its own, for /admin/ only.
ADMIN_SECURITY_POLICY = {
    **CONTENT_SECURITY_POLICY["DIRECTIVES"],
    "script-src": [SELF, "'unsafe-inline'", UNSAFE_EVAL],
    "style-src": [SELF, "'unsafe-inline'"],
}

REDIS_URL, CELERY_BROKER_URL = variables.redis_urls(variables.text("REDIS_URL", f"unix://{RUN_DIR / 'valkey.sock'}"))
EMBEDDED_VALKEY = REDIS_URL.startswith("unix://") and not variables.text("REDIS_URL", "")
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": "studio"},
    }
}
CELERY_RESULT_BACKEND = CELERY_BROKER_URL
CELERY_RESULT_EXPIRES = 24 * 3600
CELERY_TASK_DEFAULT_QUEUE = "cpu"
CELERY_TASK_ROUTES = {
    "tasks_app.jobs.*": {"queue": "cpu"},
    "sandbox_app.jobs.*": {"queue": "sandbox"},
    "training_app.jobs.export*": {"queue": "cpu"},
    "training_app.jobs.*": {"queue": "gpu"},
}
CELERY_TASK_ACKS_LATE = True
# The job's row decides: a job lost with its worker is found by the reaper, not delivered again by the broker.
CELERY_TASK_REJECT_ON_WORKER_LOST = False
CELERY_TASK_ACKS_ON_FAILURE_OR_TIMEOUT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 7 * 24 * 3600, "unacked_mutex_expire": 30}
CELERY_TIMEZONE = "UTC"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s", "datefmt": "%H:%M:%S"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {"django.request": {"level": "ERROR"}, "httpx": {"level": "WARNING"}},
}

UNFOLD = {
    "SITE_TITLE": "Studio admin",
    "SITE_HEADER": "Studio admin",
    "SITE_URL": "/",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": f"{STATIC_URL}studio/mark.svg"}],
    "SHOW_HISTORY": True,
    # The studio's one accent, in the steps that the theme asks for.
    "COLORS": {
        "primary": {
            "50": "oklch(97% .014 270)",
            "100": "oklch(94% .03 270)",
            "200": "oklch(88% .06 270)",
            "300": "oklch(80% .1 270)",
            "400": "oklch(70% .15 270)",
            "500": "oklch(58% .19 268)",
            "600": "oklch(48% .19 267)",
            "700": "oklch(42% .17 267)",
            "800": "oklch(36% .14 267)",
            "900": "oklch(32% .11 268)",
            "950": "oklch(24% .08 268)",
        }
    },
    "SHOW_VIEW_ON_SITE": True,
}
