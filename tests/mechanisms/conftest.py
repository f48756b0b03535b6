"""Entropy that can be locked away."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


@pytest.fixture
def no_entropy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operating system gives no bits: whoever asks fails the test."""

    def refuse(size: int) -> NoReturn:
        raise AssertionError(f"{size} bytes of entropy were read")

    monkeypatch.setattr(os, "urandom", refuse)
