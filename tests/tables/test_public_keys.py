"""Public keys: each as its type has it, once, sorted; anything else is refused, and said."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from sfumato.errors import Refused
from sfumato.tables.declare.public_keys import EXAMPLES, READERS, check_keys
from sfumato.tables.expr.types import Type

from ..refusing import refusal

ID = UUID("12345678-1234-5678-1234-567812345678")
DAY = datetime.date(2026, 3, 1)
NOON = datetime.datetime(2026, 3, 1, 12)
UTC = datetime.UTC
ROME = datetime.timezone(datetime.timedelta(hours=1))


@pytest.mark.parametrize(
    ("kind", "keys", "expected"),
    [
        ("bool", [True, False, None], (False, True, None)),
        ("bool", ["true", np.False_], (False, True)),
        ("int64", [3, 1, np.int8(2), "5"], (1, 2, 3, 5)),
        ("int64", range(3), (0, 1, 2)),
        ("int8", [-128, 127], (-128, 127)),
        (
            "decimal(5,2)",
            ["1.5", 1, Decimal("0.25"), Fraction(1, 50), 0.75],
            (Decimal("0.02"), Decimal("0.25"), Decimal("0.75"), Decimal("1.00"), Decimal("1.50")),
        ),
        ("decimal(5,2)", ["-999.99"], (Decimal("-999.99"),)),
        ("float64", [0.1, 1, -0.0, "2.5", Decimal("0.3")], (0.0, 0.1, 0.3, 1.0, 2.5)),
        ("float32", [0.1], (float(np.float32(0.1)),)),
        (
            "string",
            ["Roma", "Bari", "", None, "\0", "é", np.str_("x")],
            ("", "\0", "Bari", "Roma", "x", "é", None),
        ),
        ("category", ["b", "a"], ("a", "b")),
        ("date", [DAY, "2026-02-28", None], (datetime.date(2026, 2, 28), DAY, None)),
        ("date", [datetime.date.min, datetime.date.max], (datetime.date.min, datetime.date.max)),
        (
            "timestamp",
            [NOON, "2026-03-01T11:00:00", pd.Timestamp("2026-03-02")],
            (NOON.replace(hour=11), NOON, datetime.datetime(2026, 3, 2)),
        ),
        (
            "timestamp with time zone",
            [NOON, NOON.replace(tzinfo=ROME)],
            (NOON.replace(hour=11, tzinfo=UTC), NOON.replace(tzinfo=UTC)),
        ),
        (
            "timestamptz",
            [pd.Timestamp("2026-03-01 13:00", tz="Europe/Rome")],
            (NOON.replace(tzinfo=UTC),),
        ),
        ("uuid", [ID, None], (ID, None)),
        ("uuid", [str(ID)], (ID,)),
    ],
)
def test_keys(kind: str, keys: Any, expected: tuple[Any, ...]) -> None:
    checked = check_keys("x", keys, Type.of(kind))
    assert checked == expected
    assert [type(key) for key in checked] == [type(key) for key in expected]
    assert check_keys("x", checked, Type.of(kind)) == checked, "as it stands it stays"
    assert str(checked[0]) != "-0.0"


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("bool", [1]),
        ("bool", ["yes"]),
        ("int64", [True]),
        ("int64", [1.0]),
        ("int64", ["x"]),
        ("int64", [2**63]),
        ("int8", [128]),
        ("decimal(5,2)", ["0.001"]),
        ("decimal(5,2)", [1000]),
        ("decimal(5,2)", [True]),
        ("decimal(5,2)", ["nan"]),
        ("float64", [float("nan")]),
        ("float64", [float("inf")]),
        ("float64", [2**53 + 1]),
        ("float64", ["x"]),
        ("float64", ["1e400"]),
        ("float32", [1e300]),
        ("string", [5]),
        ("string", ["\ud800"]),
        ("string", [b"x"]),
        ("string not null", [None]),
        ("date", [NOON]),
        ("date", ["2026-02-30"]),
        ("date", [20260301]),
        ("timestamp", [DAY]),
        ("timestamp", [NOON.replace(tzinfo=ROME)]),
        ("timestamp", [pd.NaT]),
        ("timestamp with time zone", [datetime.datetime.min.replace(tzinfo=ROME)]),
        ("uuid", ["x"]),
        ("uuid", [5]),
        ("int64", [[1]]),
        ("int64", [object()]),
        *((kind, [1, 1]) for kind in ("int64", "float64", "decimal(5,2)")),
        ("float64", [0.0, -0.0]),
        ("float32", [1.0, 1.00000001]),
        ("decimal(5,2)", ["1", "1.00"]),
        ("string", ["a", "a"]),
        ("string", [None, None]),
        ("timestamptz", [NOON.replace(tzinfo=UTC), NOON.replace(hour=13, tzinfo=ROME)]),
        ("string", []),
        ("string", "Roma"),
        ("string", {"Roma": 1}),
        ("string", 5),
        ("string", None),
    ],
)
def test_what_is_no_list_of_keys_is_refused(kind: str, keys: Any) -> None:
    assert "'x'" in refusal(lambda: check_keys("x", keys, Type.of(kind)), "table.keys").place


@pytest.mark.parametrize("kind", READERS)
def test_the_examples_are_keys(kind: Any) -> None:
    column_type = Type("decimal", precision=5, scale=2) if kind == "decimal" else Type(kind)
    assert check_keys("x", eval(EXAMPLES[kind]), column_type)


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("int64", [3, 1, 2]),
        ("int8", [127, -128]),
        ("int8", [127, 128]),
        ("int64", [1, 2, 1]),
        ("int64", [1, True]),
        ("int64", ["1", "2"]),
        ("string", ["b", "a", ""]),
        ("string", ["é", "a"]),
        ("string", ["a", "a"]),
        ("string", ["a", "\ud800"]),
        ("float64", [1, 2]),
        ("int64 not null", [1, None]),
    ],
)
def test_many_keys_at_once_are_those_one_by_one(
    kind: str, keys: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Integers and texts have a way of their own, for when there are a million: the same keys, or
    the same refusal.
    """

    def check_or_refuse() -> Any:
        try:
            return check_keys("k", iter(keys), Type.of(kind))
        except Refused as refused:
            return str(refused)

    quickly = check_or_refuse()
    monkeypatch.setattr("sfumato.tables.declare.public_keys._plain_keys", lambda *_: None)
    assert check_or_refuse() == quickly
