"""Entropy that can be locked away, and balls that are small."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NoReturn

import pytest
from flint import ctx

from . import choosing


@pytest.fixture
def no_entropy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every read of the operating system's entropy fail the test."""

    def refuse(size: int) -> NoReturn:
        raise AssertionError(f"{size} bytes of entropy were read")

    monkeypatch.setattr(os, "urandom", refuse)


@pytest.fixture(scope="module")
def precise() -> Iterator[None]:
    """The precision at which the laws of `choosing` are computed."""
    before, ctx.prec = ctx.prec, choosing.BITS
    yield
    ctx.prec = before
