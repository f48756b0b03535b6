"""A protected table for attackers: rows go in, and what reached the noise, or a refusal, comes
out.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sfumato as sf
from sfumato.guarantees import Guarantee
from sfumato.mechanisms.shared.additive import Additive
from sfumato.session.protected_table import Table
from sfumato.tables.query.stages import Query
from sfumato.testing.exact_checks import Through, through_the_door

Ask = Callable[[Any], Query]


def table(columns: dict[str, Any] | pa.Table, **about: Any) -> Table:
    """A table in memory, protected."""
    values = columns if isinstance(columns, pa.Table) else pa.table(columns)
    protected: Table = sf.protect(values, **{"name": "t", "budget": 100, **about})
    return protected


def tally(
    columns: dict[str, Any] | pa.Table, ask: Ask, promise: Guarantee | None = None, **about: Any
) -> Through:
    """The exact integers of a question, as they meet the noise."""
    with table(columns, **about) as protected:
        return through_the_door(ask(protected).plan(promise=promise or sf.Pure(1)))


def moved(first: Through, second: Through, place: int = 0) -> Fraction:
    """How far a piece moved, in the units of the column."""
    a, b = first.pieces[place], second.pieces[place]
    return _sum_distance(a.values, b.values) * a.step


def distance(first: Through, second: Through, place: int = 0) -> tuple[Fraction, Fraction]:
    """How far a piece with noise of its own moved, and how far its noise was made for, in the units
    of the column.
    """
    piece = first.pieces[place]
    assert isinstance(piece.mechanism, Additive)
    return moved(first, second, place), piece.mechanism.sensitivity * piece.step


def distances(first: Through, second: Through) -> list[tuple[int, Fraction]]:
    """How far all cells that share a noise law moved together, and how far it was made for."""
    assert [call.mechanism for call in first.calls] == [call.mechanism for call in second.calls]
    return [
        (_sum_distance(*a.integers, *b.integers), a.mechanism.sensitivity)
        for a, b in zip(first.calls, second.calls, strict=True)
        if isinstance(a.mechanism, Additive)
    ]


def _sum_distance(first: NDArray[np.generic], second: NDArray[np.generic]) -> int:
    pairs = zip(first.ravel().tolist(), second.ravel().tolist(), strict=True)
    return sum(abs(int(x) - int(y)) for x, y in pairs)
