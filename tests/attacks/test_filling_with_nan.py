"""C2, filling with NaN: a column that is declared to have none gets it back from the value that
fills its nulls.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

import sfumato as sf

from .tables import tally


@pytest.mark.parametrize(
    "value", [float("nan"), np.float32("nan"), np.float64("nan"), Decimal("nan")]
)
def test_attack_C2_is_refused_before_data_is_read(value: object) -> None:
    with pytest.raises(sf.Refused) as refused:
        sf.col("x").fill_null(value)
    assert refused.value.code == "expression.literal"


def test_attack_C2_NaN_that_arithmetic_makes_is_a_null_again() -> None:
    """∞ − ∞, 0·∞ and a filled column: no NaN reaches the sum, and nothing is counted for it."""
    x = sf.col("x")
    rows = {"x": [float("inf"), 1.0, None, float("nan")]}
    result = tally(
        rows,
        lambda t: t.mutate(y=x - x, z=(x * 0).fill_null(1)).aggregate(
            a=sf.sum("y", low=-1, high=1), c=sf.count("y"), b=sf.sum("z", low=0, high=1)
        ),
    )
    by_name = {piece.name: int(piece.values[0, 0]) * piece.step for piece in result.pieces}
    assert by_name["sum y [-1, 1]"] == 0
    assert by_name["count y"] == 1
    assert by_name["sum z [0, 1]"] == 3
