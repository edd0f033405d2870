"""Refused: something a person asked for can't be done, said so that they can mend it. Pure; the edges show it."""

from __future__ import annotations


class Refused(Exception):
    """`what` was refused, `where` (a field, a page, a file) and `how` to go on. `status` is the HTTP status."""

    def __init__(self, what: str, *, where: str = "", how: str = "", status: int = 409) -> None:
        super().__init__(" ".join(part for part in (what, where and f"({where})", how) if part))
        self.what, self.where, self.how, self.status = what, where, how, status
