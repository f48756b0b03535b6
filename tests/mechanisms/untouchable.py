"""Bits that must not be drawn: what is refused is refused before anything happens."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from sfumato.errors import Refused


class Untouchable:
    """A source of bits that fails the test when it is asked for any."""

    def words(self, count: int) -> NoReturn:
        raise AssertionError(f"{count} words were drawn")

    def integer(self, bits: int) -> NoReturn:
        raise AssertionError(f"{bits} bits were drawn")


def refusal(call: Any, code: str) -> Refused:
    """The refusal that the call ends in, whole: with its code, a place, a reason and a rewrite."""
    with pytest.raises(Refused) as caught:
        call()
    refused = caught.value
    assert refused.code == code
    assert refused.place
    assert refused.reason
    assert refused.rewrite
    return refused
