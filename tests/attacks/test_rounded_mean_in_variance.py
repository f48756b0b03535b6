"""B3, the mean inside a variance: deviations from a rounded mean move by far more than one row
can.
"""

from __future__ import annotations

import sfumato as sf

from .tables import distances, moved, tally

BASE, N = 2.0**50, 1024
ONE = [BASE + 0.25] * N
OTHER = [BASE + 0.5, *ONE[1:]]


def test_attack_B3_moves_the_squared_deviations_of_doubles() -> None:
    def added(values: list[float]) -> float:
        """Two halves, each by itself."""
        middle = len(values) // 2
        return added(values[:middle]) + added(values[middle:]) if middle else values[0]

    def spread(values: list[float]) -> float:
        mean = added(values) / N
        return added([(value - mean) ** 2 for value in values])

    assert abs(spread(ONE) - spread(OTHER)) > 60  # where one row can move it by less than 1


def test_attack_B3_moves_our_moments_by_what_one_row_has() -> None:
    result = [
        tally(
            {"x": values},
            lambda t: t.aggregate(v=sf.var("x", low=2**50, high=2**50 + 1)),
            relation="replace",
        )
        for values in (ONE, OTHER)
    ]
    assert [moved(*result, place) <= 1 for place in range(3)] == [True] * 3
    cells, clipped = distances(*result)
    assert cells[0] <= cells[1]
    assert clipped[0] <= clipped[1] <= 2
    rows = next(piece for piece in result[0].pieces if piece.name.startswith("count"))
    assert cells[1] * rows.step <= 2, "rows: the noise is for two of them"
