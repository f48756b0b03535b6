"""Names that look like identifiers of people, and names that do not."""

from __future__ import annotations

import pytest

from sfumato.tables.declare.identifier_names import identifier_columns
from sfumato.tables.expr.types import Type

INTEGER, FLOAT = Type.of("int64"), Type.of("float64")


@pytest.mark.parametrize(
    "name",
    [
        "id",
        "ID",
        "user_id",
        "userId",
        "user-id",
        "customer",
        "Patients",
        "email",
        "work_email",
        "uuid",
        "SSN",
        "orderID",
    ],
)
def test_these_look_like_identifiers(name: str) -> None:
    assert identifier_columns({"x": INTEGER, name: INTEGER}) == [name]


@pytest.mark.parametrize(
    "name", ["age", "paid", "valid", "city", "grid", "users_online", "width", "bid", "covid", "n"]
)
def test_these_do_not(name: str) -> None:
    assert identifier_columns({name: INTEGER}) == []


def test_a_unit_is_no_float_and_people_come_first() -> None:
    schema = {"order_id": INTEGER, "id": FLOAT, "customer_id": INTEGER}
    assert identifier_columns(schema) == ["customer_id", "order_id"]
