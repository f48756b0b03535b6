"""Questions as JSON: exact, and said in one way."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.client.payload import NOT_ACCEPTED, build_payload
from sfumato.errors import Refused
from sfumato.server.http.request_models import Question


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"epsilon": 0.1}, {"epsilon": "1/10"}),
        ({"epsilon": "1/3", "delta": 0}, {"epsilon": "1/3", "delta": "0"}),
        ({"within": 25}, {"within": "25"}),
        (
            {"within": {"n": 25, "m": "0.5"}, "delta": "1e-9"},
            {"within": {"n": "25", "m": "1/2"}, "delta": "1/1000000000"},
        ),
        (
            {"promise": sf.ZCDP("0.1", "1e-6")},
            {
                "promise": {
                    "sfumato": "guarantee",
                    "version": 1,
                    "notion": "ZCDP",
                    "rho": "1/10",
                    "delta": "1/1000000",
                }
            },
        ),
        (
            {"epsilon": 1, "confidence": 0.9, "group_size": 7},
            {"epsilon": "1", "confidence": "9/10", "group_size": 7},
        ),
        ({"epsilon": 1, "confidence": "0.95"}, {"epsilon": "1"}),
        (
            {"epsilon": 1, "parameters": [1, 2.5, "x", None, True, np.int64(3)]},
            {"epsilon": "1", "parameters": [1, 2.5, "x", None, True, 3]},
        ),
        ({"epsilon": 1, "parameters": {"low": 3}}, {"epsilon": "1", "parameters": {"low": 3}}),
        (
            {"epsilon": 1, **{name: usual for name, (usual, _) in NOT_ACCEPTED.items()}},
            {"epsilon": "1"},
        ),
    ],
)
def test_said(arguments: dict[str, Any], expected: dict[str, Any]) -> None:
    payload = build_payload("SELECT", **arguments)
    assert payload == {"sql": "SELECT", **expected}
    Question.model_validate(payload)  # the server takes it


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "plan.promise"),
        ({"epsilon": 1, "within": 2}, "plan.promise"),
        ({"promise": 3}, "plan.promise"),
        ({"epsilon": -1}, "number.not-positive"),
        ({"epsilon": float("nan")}, "number.not-finite"),
        ({"epsilon": 1, "delta": 2}, "number.not-a-probability"),
        ({"epsilon": 1, "confidence": 0}, "number.not-a-probability"),
        ({"epsilon": 1, "parameters": [Decimal("0.5")]}, "client.option"),
        ({"epsilon": 1, "parameters": [datetime.date(2026, 1, 1)]}, "client.option"),
        ({"epsilon": 1, "parameters": {"x": 2**64}}, "client.option"),
        ({"epsilon": 1, "parameters": [float("inf")]}, "client.option"),
        *(({"epsilon": 1, name: "other"}, "client.option") for name in NOT_ACCEPTED),
    ],
)
def test_refused(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as caught:
        build_payload("SELECT", **arguments)
    assert caught.value.code == code


def test_an_argument_that_nobody_knows() -> None:
    with pytest.raises(TypeError):
        build_payload("SELECT", epsilon=1, speed=3)
