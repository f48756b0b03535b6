"""Refusals as they have to be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sfumato.errors import Refused


@contextmanager
def refusal(code: str) -> Iterator[None]:
    """What is done here is refused with this code, a reason and a rewrite."""
    with pytest.raises(Refused) as caught:
        yield
    assert caught.value.code == code
    assert caught.value.reason
    assert caught.value.rewrite
