"""A count that several blocks contain is an average of them: its weights sum to 1, however many
blocks there are.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from sfumato.guarantees import Pure
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.types import Type
from sfumato.tables.plan.choose_noise import calibrate
from sfumato.tables.plan.components import components_of
from sfumato.tables.plan.split_promise import _divide
from sfumato.tables.query.stages import Rows

from .worlds import Nobody


@pytest.mark.parametrize("columns", [2, 6, 10, 20, 40])
def test_an_average_of_counts_has_no_bias(columns: int) -> None:
    names = [f"c{i}" for i in range(columns)]
    declared = declare(
        name="t",
        bounds=dict.fromkeys(names, (0, 100)),
        schema={name: Type.of("float64") for name in names},
    )
    means = {f"m_{name}": ag.mean(name) for name in names}
    query = Rows.of(declared, Nobody()).group_by().aggregate(n=ag.count(), **means)
    needed = components_of(query)
    calibration = calibrate(query, needed.components, needed.columns, Pure(1))
    place = next(i for i, each in enumerate(needed.components) if each.name == "count")
    count = {place: Fraction(1)}
    read: dict[int, Fraction] = {}
    for number, weights in calibration.readings[place].parts:
        block = calibration.blocks[number]
        cells = block.cells or ((1,),)
        for weight, cell in zip(weights, cells, strict=True):
            for at, often in zip(block.places, cell, strict=True):
                added = weight * often * calibration.readings[place].step
                read[at] = read.get(at, Fraction(0)) + added
    assert {at: weight for at, weight in read.items() if weight} == count


@pytest.mark.parametrize("ways", range(1, 65))
def test_parts_are_whole_and_complete(ways: int) -> None:
    for weights in ([1.0] * ways, [1.0 + i for i in range(ways)], [2.0**-i for i in range(ways)]):
        parts = _divide(16, weights)
        assert sum(parts) == 16
        assert all(
            abs(part - 16 * weight / sum(weights)) < 1
            for part, weight in zip(parts, weights, strict=True)
        )
