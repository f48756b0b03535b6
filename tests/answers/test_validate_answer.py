"""Parts that do not fit together make no answer."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import pytest

import sfumato as sf
from sfumato.answers import KINDS, Answer, Column

from ..refusing import refusal
from .examples import BOUNDS, EDGES, noisy

ONE = noisy("a", [[1], [2]])


def build_answer(columns: tuple[Column, ...], pieces: Any = (ONE, ONE, ONE), **more: Any) -> Answer:
    return Answer(
        **{
            "keys": ("g",),
            "rows": (("x",), ("y",)),
            "pieces": pieces,
            "columns": columns,
            "cost": sf.Pure(1),
            **more,
        }
    )


def test_what_fits() -> None:
    assert build_answer((Column("n", "count", (0,)), Column("m", "mean", (0, 1), "", BOUNDS)))[
        "n"
    ].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ((), "answer.shape"),
        ((Column("n", "count", (0,)), Column("n", "count", (1,))), "answer.shape"),
        ((Column("g", "count", (0,)),), "answer.shape"),
        ((Column("n", "median", (0,)),), "answer.kind"),
        ((Column("n", "count", (0, 1)),), "answer.shape"),
        ((Column("n", "count", (3,)),), "answer.shape"),
        ((Column("n", "count", (-1,)),), "answer.shape"),
        ((Column("m", "mean", (0, 1)),), "answer.shape"),
        ((Column("m", "mean", (0, 1), "", {"low": F(0), "high": F(1)}),), "answer.shape"),
        ((Column("h", "histogram", (0,), "", {}, EDGES),), "answer.shape"),
        ((Column("h", "histogram", (0,)),), "answer.shape"),
    ],
    ids=str,
)
def test_what_does_not(columns: tuple[Column, ...], code: str) -> None:
    refusal(lambda: build_answer(columns), code)


@pytest.mark.parametrize(
    "piece", [noisy("a", [[1]]), noisy("a", [[1, 2], [3, 4]]), noisy("a", [[1], [2], [3]])]
)
def test_pieces_of_another_shape(piece: Any) -> None:
    refusal(lambda: build_answer((Column("n", "count", (0,)),), (piece,)), "answer.shape")


def test_rows_with_other_keys() -> None:
    refusal(lambda: build_answer((Column("n", "count", (0,)),), rows=((), ())), "answer.shape")


def test_a_quantile_has_one_cell_or_three() -> None:
    numbers = {"low": F(0), "high": F(1), "confidence": F(1, 2)}
    for width, fits in ((1, True), (2, False), (3, True)):
        piece = noisy("q", [[1] * width] * 2)
        if fits:
            assert (
                build_answer((Column("q", "quantile", (0,), "", numbers),), (piece,))["q"].size == 2
            )
        else:
            refusal(
                lambda piece=piece: build_answer(
                    (Column("q", "quantile", (0,), "", numbers),), (piece,)
                ),
                "answer.shape",
            )


def test_the_numbers_are_those_that_finishing_uses() -> None:
    for kind in KINDS.values():
        required = {name: F(name != "low") for name in kind.numbers}
        bounds = {"low": F(0), "high": F(1)}
        assert kind.limits(required) == kind.limits({**bounds, **required}), kind.name
