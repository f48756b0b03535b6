"""The parts of an answer: integers and nothing else, whatever they are given as."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from sfumato import mechanisms as mech
from sfumato.answers import Column, Noisy, Paid
from sfumato.ledger import Receipt

from ..refusing import refusal
from .examples import laplace


@pytest.mark.parametrize(
    "values",
    [
        ((1, 2), (3, 4)),
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]]),
        np.array([[1, 2], [3, 4]], dtype=np.int32),
        np.array([[1, 2], [3, 4]], dtype=object),
    ],
    ids=lambda values: f"{type(values).__name__}{getattr(values, 'dtype', '')}",
)
def test_integers_however_given(values: Any) -> None:
    piece = Noisy("x", values, 1, laplace(2))
    assert piece.values.tolist() == [[1, 2], [3, 4]]
    assert piece.values.dtype == np.int64
    assert isinstance(piece.step, F)


def test_they_cannot_be_changed() -> None:
    source = np.array([[1], [2]])
    piece = Noisy("x", source, 1, laplace(2))
    source[0] = 7
    assert piece.values[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        piece.values[0, 0] = 3


@pytest.mark.parametrize("large", [2**63, -(2**63) - 1, 10**40])
def test_integers_of_any_length(large: int) -> None:
    assert Noisy("x", [[large]], 1, laplace(2)).values[0, 0] == large


@pytest.mark.parametrize(
    "values",
    [[[1.5]], [[True]], [1, 2], [[None]], [["1"]], [[[1]]], np.array([[1.0]]), [[1], [2, 3]]],
    ids=repr,
)
def test_what_is_no_table_of_integers(values: Any) -> None:
    refusal(lambda: Noisy("x", values, 1, laplace(2)), "answer.pieces")


def test_no_group() -> None:
    assert Noisy("x", [], 1, laplace(2)).values.shape == (0, 1)


def test_the_law_of_the_noise() -> None:
    piece = Noisy("x", [[1]], F(1, 4), laplace(50))
    assert piece.half_width(F(19, 20)) == laplace(50).law.half_width(F(19, 20))
    assert piece.half_width(F(19, 20), 5) == laplace(50).law.half_width(F(19, 20), values=5)
    assert float(piece.variance) == pytest.approx(laplace(50).variance / 16)
    chosen = Noisy(
        "x", [[1]], 1, mech.Quantile(low=0, high=1, epsilon=1, relation="replace", grid=1)
    )
    assert chosen.law is None
    assert chosen.variance == 0
    refusal(lambda: chosen.half_width(F(1, 2)), "answer.law")


def test_bins() -> None:
    column = Column("h", "histogram", (0,), "", {}, (F(-1, 2), F(0), F(10), F(10**6)))
    assert column.bins == ("[−0.5, 0)", "[0, 10)", "[10, 1000000]")
    assert Column("n", "count", (0,)).bins == ()


def test_paid_by_a_receipt() -> None:
    receipt = Receipt(
        "visits",
        3,
        "ab",
        mech.Laplace(sensitivity=1, epsilon=1).promise,
        "2026-01-01",
        "why",
        None,
        False,
    )
    assert Paid.by(receipt) == Paid(3, "ab", "2026-01-01")
