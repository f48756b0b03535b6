"""Small tables and their neighbours, for tests of models by enumeration."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.learn.model_plan import ModelPlan
from sfumato.session.protected_table import Table

Row = tuple[int, float | None, str | None, bool | None]
"""The unit, a number, a city and a truth value."""

CITIES = ["Bari", "Roma"]
EXTREME_ROWS: list[tuple[float | None, str | None, bool | None]] = [
    (0.0, "Bari", True),
    (10.0, "Roma", False),
    (10.0, "Bari", False),
    (-1e300, "elsewhere", True),
    (1e300, None, False),
    (float("nan"), "Roma", True),
    (None, "Bari", False),
    (5.0, "Roma", None),
]
"""What one row may hold, at its worst."""


def table_of(
    rows: list[Row],
    *,
    relation: str = "add-remove",
    bounding: str = "weights",
    each_row_a_person: bool = False,
) -> Table:
    """Protect rows; each unit may have two, or each row is a unit."""
    unit, number, city, vip = zip(*rows, strict=True)
    frame = pa.table(
        {
            "unit": pa.array(unit, pa.int64()),
            "x": pa.array(number, pa.float64()),
            "city": pa.array(city, pa.string()),
            "vip": pa.array(vip, pa.bool_()),
        }
    )
    return sf.protect(
        frame,
        name="rows",
        unit=None if each_row_a_person else "unit",
        max_rows=None if each_row_a_person else 2,
        each_row_a_person=each_row_a_person,
        budget=sf.GDP(1000),
        bounds={"x": (0, 10)},
        keys={"city": CITIES},
        relation=relation,
        bounding=bounding,
    )


def base_rows(count: int = 40, seed: int = 1) -> list[Row]:
    """Return rows of units with one row each."""
    random = np.random.default_rng(seed)
    return [
        (
            unit,
            float(random.uniform(0, 10)),
            CITIES[int(random.integers(2))],
            bool(random.integers(2)),
        )
        for unit in range(count)
    ]


def units_of_interest() -> Iterator[list[Row]]:
    """Yield the rows of one unit: one row, two, and more than count, of every kind."""
    for x, city, vip in EXTREME_ROWS:
        yield [(1000, x, city, vip)]
        yield [(1000, x, city, vip)] * 2
        yield [(1000, x, city, vip)] * 7
    for (x, city, vip), (x2, city2, vip2) in pairwise(EXTREME_ROWS):
        yield [(1000, x, city, vip), (1000, x2, city2, vip2), (1000, x, city2, vip)]


def tally_of(plan: ModelPlan) -> list[tuple[pa.Table, ...]]:
    """Return what the engine reads for a plan."""
    return [(plan.source.engine.tally(plan.statements[0]),)]
