"""Bits that must not be drawn: what is refused is refused before anything happens."""

from __future__ import annotations

from typing import NoReturn


class Untouchable:
    """A source of bits that fails the test when it is asked for any."""

    def words(self, count: int) -> NoReturn:
        raise AssertionError(f"{count} words were drawn")

    def integer(self, bits: int) -> NoReturn:
        raise AssertionError(f"{bits} bits were drawn")
