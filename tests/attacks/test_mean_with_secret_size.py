"""B11, a mean with the data's own n: sensitivity (high − low)/n holds for tables of a known size;
where rows come and go, n is a secret, too.
"""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

import sfumato as sf

from .tables import table, tally

EMPTY = pa.array([], pa.float64())


def test_attack_B11_tells_one_row_from_two() -> None:
    """Mean of {1} against {1, 0} in [0, 1], noise fitted to 1/n with each table's own n: scales 1/ε
    and 1/(2ε), so tails differ without bound.
    """
    epsilon = 1.0

    def log_density(y: float, mean: float, n: int) -> float:
        scale = 1 / (n * epsilon)
        return -abs(y - mean) / scale - math.log(2 * scale)

    losses = [log_density(y, 1.0, 1) - log_density(y, 0.5, 2) for y in (3.0, 10.0, 100.0)]
    assert losses[0] > epsilon
    assert losses[-1] > 90


@pytest.mark.parametrize("rows", [0, 1, 2, 100])
def test_attack_B11_our_noise_does_not_know_how_many_rows_there_are(rows: int) -> None:
    def noise(count: int) -> list[object]:
        with table({"x": pa.array([1.0] * count, pa.float64())}) as protected:
            return list(
                protected.aggregate(m=sf.mean("x", low=0, high=1)).plan(epsilon=1).mechanism.parts
            )

    assert noise(rows) == noise(3)


def test_attack_B11_an_empty_table_has_a_mean_like_any_other() -> None:
    with table({"x": EMPTY}) as protected:
        answer = protected.aggregate(m=sf.mean("x", low=0, high=1)).release(epsilon=1)
    assert -1e-6 <= answer.value() <= 1 + 1e-6
    low, high = answer.interval("m")
    # it has no exact mean: whatever the noise makes of it lies between the bounds
    assert -1e-6 <= low[0] <= high[0] <= 1 + 1e-6
    through = tally({"x": EMPTY}, lambda t: t.aggregate(m=sf.mean("x", low=0, high=1)))
    assert [piece.values.tolist() for piece in through.pieces[:2]] == [[[0]], [[0]]]
