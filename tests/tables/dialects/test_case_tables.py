"""Small and capital letters are DuckDB's, every one of them."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import pytest

from sfumato.tables.engine.dialects import case_tables


@pytest.mark.parametrize(
    ("function", "table"),
    [("lower", case_tables.small_letters), ("upper", case_tables.capital_letters)],
)
def test_every_letter_is_duckdbs(function: str, table: Callable[[], tuple[str, str]]) -> None:
    pairs = dict(zip(*table(), strict=True))
    rows = (
        duckdb.connect()
        .execute(
            f"SELECT chr(i::int), {function}(chr(i::int)) FROM range(1, 1114112) t(i) "
            f"WHERE i NOT BETWEEN 55296 AND 57343"
        )
        .fetchall()
    )
    assert [
        (letter, expected, pairs.get(letter))
        for letter, expected in rows
        if pairs.get(letter, letter) != expected
    ] == []
    assert len(pairs) > 1400


def test_no_letter_ends_a_constant() -> None:
    """The tables are written into statements."""
    assert not {"'", "\\", "\0"} & {
        *"".join((*case_tables.small_letters(), *case_tables.capital_letters()))
    }
