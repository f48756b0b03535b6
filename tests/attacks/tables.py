"""A protected table for attackers: rows go in, and what reached the noise, or a refusal, comes
out.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pyarrow as pa

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


def distance(first: Through, second: Through, place: int = 0) -> tuple[Fraction, Fraction]:
    """How far a piece moved, and how far its noise was made for, in the units of the column."""
    a, b = first.pieces[place], second.pieces[place]
    moved = sum(
        abs(int(x) - int(y))
        for x, y in zip(a.values.ravel().tolist(), b.values.ravel().tolist(), strict=True)
    )
    assert isinstance(a.mechanism, Additive)
    return moved * a.step, a.mechanism.sensitivity * a.step
