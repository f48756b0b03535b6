"""Facts are what JSON holds."""

from __future__ import annotations

import datetime
import json
import uuid
from decimal import Decimal
from fractions import Fraction

import pytest

from sfumato.answers.plain_json import to_plain_json

from ..refusing import refusal


def test_plain_values() -> None:
    value = {
        "a": (1, 2.5, None, True, "x"),
        "b": {"c": Fraction(1, 3), 4: Decimal("1.20")},
        "d": [datetime.date(2026, 1, 2), uuid.UUID(int=5)],
    }
    result = to_plain_json(value)
    assert result == {
        "a": [1, 2.5, None, True, "x"],
        "b": {"c": "1/3", "4": "1.20"},
        "d": ["2026-01-02", "00000000-0000-0000-0000-000000000005"],
    }
    assert to_plain_json(result) == result == json.loads(json.dumps(result))


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, b"x", lambda: 1], ids=lambda v: type(v).__name__
)
def test_others_are_refused_by_their_type_alone(value: object) -> None:
    error = refusal(lambda: to_plain_json({"x": [value]}), "answer.facts")
    assert error.place == type(value).__name__
