"""Source text that generated packages begin with: `compiler` copies these modules into tools.py and populate.py.

They are ordinary modules so that ruff, mypy and the tests read them, but a package never imports them: a package is
self-contained (standard library; numpy for populate.py).
"""
