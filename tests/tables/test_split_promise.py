"""The split of a promise: shares that add up, columns that never get worse, and the best choice
where it can be told by hand.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction as F
from typing import Any

import pytest

from sfumato.guarantees import GDP, Approx, Guarantee, Pure
from sfumato.mechanisms import Laplace
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.expressions import col
from sfumato.tables.expr.types import Type
from sfumato.tables.plan.bounding import Bounding
from sfumato.tables.plan.choose_noise import CARE, Calibration, calibrate
from sfumato.tables.plan.components import QueryComponents, components_of
from sfumato.tables.plan.split_promise import choose_split
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.stages import Query, Rows

from .worlds import Nobody

SCHEMA = {
    "user": Type.of("int64"),
    "city": Type.of("string"),
    "x": Type.of("float64"),
    "y": Type.of("float64"),
    "z": Type.of("int32"),
    "m": Type.of("bool"),
}
BOUNDS = {"x": (0, 100), "y": (-1, 3), "z": (5, 60)}


def query_of(aggregates: dict[str, Aggregate], keys: str = "none", **about: Any) -> Query:
    declared = declare(name="t", schema=SCHEMA, bounds=BOUNDS, **about)
    rows = Rows.of(declared, Nobody())
    grouped = rows.group_by(city=["a", "b"]) if keys == "public" else rows.group_by()
    return grouped.aggregate(**aggregates)


def random_question(draw: random.Random) -> dict[str, Aggregate]:
    """Return one to five aggregates of random columns, some of them with a condition."""
    aggregates: list[Aggregate] = []
    for _ in range(draw.randint(1, 5)):
        first, second = draw.sample(["x", "y", "z"], 2)
        build = draw.choice(
            [
                ag.count,
                lambda a=first: ag.count(a),
                lambda: ag.count_if(col("m")),
                lambda a=first: ag.sum(a),
                lambda a=first: ag.mean(a),
                lambda a=first: ag.var(a),
                lambda a=first: ag.std(a),
                lambda a=first, b=second: ag.covar(a, b),
                lambda a=first, b=second: ag.corr(a, b),
                lambda a=first, b=second: ag.ratio(a, b),
                lambda a=first: ag.median(a),
                lambda a=first: ag.histogram(a, edges=range(0, 50, 10)),
            ]
        )
        aggregate = build()
        aggregates.append(aggregate.filter(col("m")) if draw.random() < 0.2 else aggregate)
    return {f"c{i}": aggregate for i, aggregate in enumerate(aggregates)}


def variance_of(calibration: Calibration, place: int) -> float:
    """Return the variance of a released component, from the mechanisms that add its noise."""
    step = float(calibration.step_of(place))
    draws = calibration.draws_of(place)
    return sum((weight * step) ** 2 * mechanism.variance for mechanism, weight, _ in draws)


def variance_apart(query: Query, needed: QueryComponents, place: int, epsilon: F) -> float:
    """Return the variance with noise on each component and equal shares."""
    bounding = Bounding.of(query, "L1")
    component = needed.components[place]
    pooled = sum(each.pooled for each in needed.components)
    care = CARE if pooled else F(0)
    share = epsilon * (1 - care) / (len(needed.components) - pooled)
    noise = Laplace(sensitivity=bounding.l1(component), epsilon=share)
    return noise.variance * float(bounding.step(component)) ** 2


@pytest.mark.parametrize("part", range(10))
def test_no_column_of_a_random_question_is_worse(part: int) -> None:
    """Counts and sums by the mechanisms' own variances; all columns by the planner's ratios."""
    draw = random.Random(part)
    for _ in range(40):
        question = random_question(draw)
        keys = draw.choice(["none", "public"])
        relation = draw.choice(["add-remove", "replace"])
        unit = draw.choice([{}, {"unit": "user", "max_rows": draw.choice([1, 3])}])
        query = query_of(question, keys, relation=relation, **unit)
        needed = components_of(query)
        calibration = calibrate(query, needed.components, needed.columns, Pure(1))
        assert all(gain <= 1 + 1e-6 for gain in calibration.gains), question
        for column in needed.columns:
            if column.kind in ("count", "sum"):
                (place,) = column.components
                before = variance_apart(query, needed, place, F(1))
                # noise in whole rows is a little less spread than noise in fine steps
                discrete = 1 + 1 / 6
                assert variance_of(calibration, place) <= before * discrete, question


@pytest.mark.parametrize("promise", [Pure(1), Approx(1, "1e-6"), GDP(1)], ids=str)
@pytest.mark.parametrize("keys", ["none", "public"])
def test_shares_add_up(promise: Guarantee, keys: str) -> None:
    draw = random.Random(f"{promise}{keys}")
    for _ in range(20):
        query = query_of(random_question(draw), keys)
        needed = components_of(query)
        for norm in ("L1", "L2"):
            bounding = Bounding.of(query, norm)  # type: ignore[arg-type]  # of a loop
            for split in choose_split(needed.components, needed.columns, bounding, care=CARE):
                assert sum(split.shares) == 1
                assert all(share > 0 for share in split.shares)


def gains(aggregates: dict[str, Aggregate], **about: Any) -> dict[str, float]:
    query = query_of(aggregates, **about)
    needed = components_of(query)
    calibration = calibrate(query, needed.components, needed.columns, Pure(1))
    return dict(zip(aggregates, calibration.gains, strict=True))


def test_known_gains() -> None:
    """The numbers of cells and shares, by hand: see docs/proofs/cells.md."""
    everything = {"n": ag.count(), "s": ag.sum("x"), "m": ag.mean("x")}
    by_column = gains(everything)
    assert by_column["n"] == pytest.approx(math.sqrt(3 / 16), rel=1e-3)  # three cells of one
    assert by_column["s"] == pytest.approx(1 / 4, rel=1e-3)  # one cell
    assert by_column["m"] == pytest.approx(math.sqrt(2 / 16), rel=1e-3)
    assert gains({"m": ag.mean("x")})["m"] == pytest.approx(math.sqrt(1 / 2), rel=1e-3)
    two = gains({"m": ag.mean("x"), "k": ag.mean("y")})
    assert two["m"] == pytest.approx(math.sqrt(6 / 16), rel=0.02)  # 2 · 3 cells of nine
    assert gains({"v": ag.var("x")})["v"] < 0.55
    assert gains({"r": ag.corr("x", "y")})["r"] < 0.4


def test_a_sum_alone_needs_no_cells() -> None:
    """Around zero a sum by itself has half the variance of two cells."""
    query = query_of({"s": ag.sum("y", low=-2, high=2)})
    needed = components_of(query)
    calibration = calibrate(query, needed.components, needed.columns, Pure(1))
    assert not any(block.cells for block in calibration.blocks)
    assert calibration.gains == pytest.approx((1.0,))


def test_a_count_in_two_blocks_is_averaged() -> None:
    """A count that two blocks contain has about half the variance of one."""
    query = query_of({"n": ag.count(), "a": ag.count("x"), "b": ag.count("y")})
    needed = components_of(query)
    calibration = calibrate(query, needed.components, needed.columns, Pure(1))
    assert len(calibration.readings[0].parts) == 2
    one_block = 2 * Laplace(sensitivity=1, epsilon=F(1, 2)).variance
    assert variance_of(calibration, 0) == pytest.approx(one_block / 2, rel=0.01)


def test_noise_beyond_the_samplers_falls_back_to_fewer_cells() -> None:
    """Where cells need noise that is too large to draw, components get noise of their own."""
    declared = {"unit": "user", "max_rows": 1000}
    query = query_of({"n": ag.count(), "m": ag.mean("x"), "k": ag.mean("y")}, **declared)
    needed = components_of(query)
    tiny = Pure(F(1, 8))
    calibration = calibrate(query, needed.components, needed.columns, tiny)
    assert calibration.mechanism.promise <= tiny
