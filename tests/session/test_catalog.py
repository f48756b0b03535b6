"""DESCRIBE, SHOW TABLES and SHOW COLUMNS: free, from the declaration alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import sfumato as sf
from sfumato.errors import Refused

from ..sql.shop import shop


@pytest.fixture(scope="module")
def database() -> Iterator[sf.session.Database]:
    with shop() as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("DESCRIBE orders", "orders · unit users.user_id · add-remove"),
        ('  desc "Orders" ; ', "orders · unit users.user_id · add-remove"),
        ("SHOW COLUMNS FROM stores", "stores · public"),
        ("show tables", "tables"),
        ("DESCRIBE", "tables"),
    ],
)
def test_what_is_declared_is_free(database: sf.session.Database, text: str, first: str) -> None:
    before = database.spent
    assert repr(database.sql(text)).splitlines()[0] == first
    assert database.spent == before


def test_public_keys_and_bounds_are_listed(database: sf.session.Database) -> None:
    lines = repr(database.sql("DESCRIBE orders")).splitlines()
    assert "4 public keys: book, phone, sofa, toys" in next(x for x in lines if "product" in x)
    assert "between 0 and 200" in next(x for x in lines if "amount" in x)


def test_an_unknown_table_gets_the_nearest_name(database: sf.session.Database) -> None:
    with pytest.raises(Refused) as caught:
        database.sql("DESCRIBE ordrs")
    assert caught.value.code == "sql.table"
    assert repr(database.sql(caught.value.rewrite)).startswith("orders")


def test_explain_is_a_plan(database: sf.session.Database) -> None:
    text = database.sql("EXPLAIN SELECT COUNT(*) AS n FROM orders", epsilon=1)
    assert repr(text).startswith("what    from orders\n")  # lines, not an escaped text
