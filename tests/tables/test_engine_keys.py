"""Keys as an engine compares them; what becomes of rows with them is seen in test_tallies and
test_oracle_queries.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest

from sfumato.tables.expr.types import Type
from sfumato.tables.plan.engine_keys import engine_key, engine_keys, is_inline


def test_keys_as_the_engine_has_them() -> None:
    assert engine_key(UUID(int=1)) == str(UUID(int=1))
    assert engine_key(datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))) == datetime(
        2026, 1, 1
    )
    assert engine_key(datetime(2026, 1, 1, tzinfo=UTC)).tzinfo is None
    assert engine_key("Roma") == "Roma"
    assert engine_key(None) is None


def test_only_some_types_are_written_otherwise() -> None:
    assert engine_keys(("Roma", None), Type.of("string")) == ["Roma", None]
    assert engine_keys((UUID(int=1),), Type.of("uuid")) == [str(UUID(int=1))]


@pytest.mark.parametrize(
    ("domain", "short"),
    [
        (("Roma", "Bari"), True),
        (tuple(range(10**4)), True),  # one run
        (tuple(range(0, 200, 2)), False),  # a hundred runs
        (tuple(f"city {i}" for i in range(65)), False),
        (("a\0b",), False),  # a NUL ends a statement
    ],
    ids=["texts", "one run", "many runs", "many texts", "NUL"],
)
def test_which_lists_stand_in_the_statement(domain: tuple[int | str, ...], short: bool) -> None:
    assert is_inline(domain) is short
