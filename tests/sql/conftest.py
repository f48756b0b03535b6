"""One table for many questions; none of them is released."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sfumato.session import Table

from .people import protected, unasked


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    with unasked(protected()) as result:
        yield result
