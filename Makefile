# The developer's manual. Two commands matter: `make up` (all of it, running) and `make test` (all that CI runs).
# PORT, DATA_DIR, DATABASE_URL, REDIS_URL, … are read from the environment; studio/settings.py names them.

SHELL := /bin/bash
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
NAME ?= startup
export OMP_NUM_THREADS ?= 1

.PHONY: up test install check e2e bench chromium unit pictures

up: install            ## everything, on 127.0.0.1:8000; Ctrl-C stops it
	@exec $(BIN)/python manage.py up

install: $(STAMP)      ## .venv with what requirements.txt pins

$(STAMP): requirements.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not there. Install Python 3.11, or name another: make PYTHON=python3 …" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c 'import sys; sys.exit(not ((3, 11) <= sys.version_info < (3, 13)))' || { echo "$(VENV) has $$($(BIN)/python -V); the pins need 3.11 or 3.12. Remove $(VENV) and try again." >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $(STAMP)

test: check unit e2e   ## all that .ci/run runs, browser included

check: install         ## ruff, mypy strict on the pure modules, architecture, migrations
	$(BIN)/ruff check .
	$(BIN)/python -m tests.pure_modules | xargs $(BIN)/mypy
	DATA_DIR=$$(mktemp -d) SECRET_KEY=check $(BIN)/python manage.py makemigrations --check --dry-run
	DATA_DIR=$$(mktemp -d) SECRET_KEY=check $(BIN)/python manage.py check --fail-level WARNING
	$(BIN)/python -m pytest -q tests/test_architecture.py

unit: install          ## every test but those in the browser
	$(BIN)/python -m pytest -q -m "not e2e"

e2e: install chromium  ## the way through the studio in a real browser
	$(BIN)/python -m pytest -q -m e2e tests/e2e

chromium:              ## find a Chromium, or install Debian's
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } \
	|| { echo "The browser tests need Chromium. Install it (Debian: apt-get install chromium) and run this again." >&2; exit 1; }

bench: install         ## make bench NAME="startup loop": figures as JSON
	$(BIN)/python -m benchmarks $(NAME)

pictures: e2e          ## take the tour's pictures anew, from the browser run
	@mkdir -p docs/pictures
	@for pair in overview:overview task:task regeneration:regeneration viewer:viewer viewer-verdict:verdict \
	  run-new:run-new sft:sft evaluation:evaluation admin-task-sets:task-sets; do \
	  cp var/screenshots/$${pair%%:*}-1280.png docs/pictures/$${pair##*:}.png; done
