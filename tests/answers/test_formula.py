"""Columns computed from others: values as one would compute them, ends that hold all that is
possible.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.answers import Answer, Column, Noisy, Weighing
from sfumato.answers.answer_records import Draw, LinearNoise
from sfumato.answers.formula import OPERATIONS, Formula, _ends, count_operands, has_interval

ENDS = st.tuples(st.floats(-1e6, 1e6), st.floats(0, 1e6)).map(
    lambda pair: (pair[0], pair[0] + pair[1])
)


def leaf(name: str, place: int) -> Formula:
    return Formula("column", column=Column(name, "count", (place,)))


def exact(op: str, *x: F) -> F | None:
    """The same in exact numbers; None where there is no value."""
    return {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: None if b == 0 else a / b,
        "negate": lambda a: -a,
        "abs": abs,
        "floor": lambda a: F(math.floor(a)),
        "ceil": lambda a: F(math.ceil(a)),
        "least": lambda a, b: min(a, b),
        "greatest": lambda a, b: max(a, b),
        "coalesce": lambda a, b: a,
        "nullif": lambda a, b: None if a == b else a,
    }[op](*x)


@pytest.mark.parametrize("op", [op for op in OPERATIONS if op not in ("sqrt", "round")])
@given(
    ends=st.lists(ENDS, min_size=2, max_size=2),
    at=st.lists(st.floats(0, 1), min_size=2, max_size=2),
)
def test_what_is_possible_lies_between_the_ends(
    op: str, ends: list[tuple[float, float]], at: list[float]
) -> None:
    count = 1 if op in ("negate", "abs", "floor", "ceil") else 2
    arrays = [(np.array([a]), np.array([b])) for a, b in ends[:count]]
    with np.errstate(all="ignore"):
        low, high = OPERATIONS[op][1](arrays)
    inside = [F(a) + (F(b) - F(a)) * F(t) for (a, b), t in zip(ends, at, strict=True)][:count]
    for point in itertools.chain(
        [inside], itertools.product(*([F(a), F(b)] for a, b in ends[:count]))
    ):
        value = exact(op, *point)
        assert value is None or (
            (low[0] == -math.inf or F(float(low[0])) <= value)
            and (high[0] == math.inf or value <= F(float(high[0])))
        )


@given(ends=ENDS, digits=st.integers(-3, 6), at=st.floats(0, 1))
def test_roots_and_roundings(ends: tuple[float, float], digits: int, at: float) -> None:
    x = min(max(ends[0] + (ends[1] - ends[0]) * at, ends[0]), ends[1])
    arrays = (np.array([ends[0]]), np.array([ends[1]]))
    with np.errstate(all="ignore"):
        low, high = OPERATIONS["sqrt"][1]([arrays])
        assert x < 0 or low[0] <= math.sqrt(x) <= high[0]
        low, high = OPERATIONS["round"][1]([arrays, (np.array([digits]), np.array([digits]))])
        value = OPERATIONS["round"][0](np.array([x]), np.array([float(digits)]))
        assert low[0] <= value[0] <= high[0]


def answer(*, kinds: tuple[str, ...] = ("count", "count")) -> Answer:
    law = mech.Laplace(sensitivity=1, epsilon=1)
    pieces = tuple(Noisy(f"p{i}", [[100 + i], [0], [-7]], F(1), law) for i in range(len(kinds)))
    ratio = Formula(
        "/", (leaf("a", 0), Formula("+", (leaf("b", 1), Formula("number", number=F(1, 3)))))
    )
    columns = (
        Column("a", "count", (0,)),
        Column("b", "count", (1,)),
        Column("r", "computed", (0, 1), "a / (b + 1/3)", formula=ratio),
    )
    return Answer(
        keys=("k",),
        rows=(("x",), ("y",), ("z",)),
        pieces=pieces,
        columns=columns,
        cost=sf.Pure(1),
        weighing=Weighing("part", 4, 4, 20),
    )


def test_values_and_intervals() -> None:
    result = answer()
    assert result["r"] == pytest.approx([100 / (101 + 1 / 3), 0.0, -7 / (-7 + 1 / 3)])
    low, high = result.interval("r", 0.95)
    assert low[0] < result["r"][0] < high[0]
    assert (low[1], high[1]) == (-math.inf, math.inf)  # the divisor may be zero
    alone = result.interval("a", 0.95)
    both = result.interval("r", 0.95, simultaneous=True)
    assert both[0][0] < low[0]
    assert alone[1][0] - alone[0][0] < 20


def test_operands_are_asked_to_hold_together() -> None:
    """Where an operation is not smooth, the ends are those of operands that miss with (1 − c)/2
    each: wider than at c.
    """
    result = answer()
    ratio = result.columns[2]
    assert ratio.formula is not None
    size = Formula("abs", (ratio.formula.args[0],))
    ratio = replace(ratio, formula=Formula("/", (size, ratio.formula.args[1])))
    result = replace(result, columns=(*result.columns[:2], ratio))
    half = result.pieces[0].half_width(F(39, 40))
    a, b = 100.0, 101 + 1 / 3
    low, high = result.interval("r", 0.95)
    assert low[0] == pytest.approx((a - half) / (b + half))
    assert high[0] == pytest.approx((a + half) / (b - half))
    assert half > result.pieces[0].half_width(F(19, 20))


def test_operands_that_share_draws_hold_together() -> None:
    """A difference of two operands that have one draw in common, with weights of opposite signs:
    over all draws of both laws, with their exact chance, the interval holds as often as it says.
    """
    law, twice = mech.Laplace(sensitivity=1, epsilon=1), F(2)
    reach = law.law.half_width(1 - F(1, 10**6))
    noise = np.array(list(itertools.product(range(-reach, reach + 1), repeat=2)))
    chance = np.prod(law.probability(noise), axis=1)
    sums = [100 + noise @ (1, 2), 50 + noise @ (1, -2)]
    draws = [
        (Draw(law, F(1), "0.0"), Draw(law, twice, "0.1")),
        (Draw(law, F(1), "0.0"), Draw(law, -twice, "0.1")),
    ]
    pieces = tuple(
        Noisy(f"p{i}", z[:, None], F(1), LinearNoise(of))
        for i, (z, of) in enumerate(zip(sums, draws, strict=True))
    )
    difference = Formula("-", (leaf("a", 0), leaf("b", 1)))
    result = Answer(
        keys=("k",),
        rows=tuple((i,) for i in range(len(noise))),
        pieces=pieces,
        columns=(Column("d", "computed", (0, 1), "a - b", formula=difference),),
        cost=sf.Pure(1),
        weighing=Weighing("part", 4, 4, 20),
    )
    low, high = result.interval("d", 0.95)
    assert float(chance[(low <= 50) & (high >= 50)].sum()) >= 0.95 - 1e-5
    # the first draw is in both, and leaves the difference: four times the second one is left
    assert high[0] - low[0] == pytest.approx(2 * 4 * law.law.half_width(F(19, 20)))


def test_different_operands_are_things_that_hold_together() -> None:
    """The difference of two percentiles of one tree: the noise of either may be off, so each is
    asked to hold with half of what may be missed. An operand that stands in two places is one.
    """
    tree = {"q": F(1, 4), "leaves": F(4)}
    leaves = [
        Formula("column", column=Column(f"q{i}", "percentile", (0,), "", {**tree, "q": F(i, 4)}))
        for i in (1, 3)
    ]
    mean = Formula("column", column=Column("m", "mean", (1, 0), numbers={"low": F(0)}))

    def count(op: str, *args: Formula) -> int:
        return count_operands(Column("d", "computed", (0, 1), formula=Formula(op, args)))

    assert count("-", *leaves) == 2
    assert count("-", leaves[0], leaves[0]) == 1
    assert count("/", leaf("a", 0), leaf("b", 1)) == 2
    assert count("/", leaf("a", 0), leaf("a", 0)) == 1
    assert count("*", mean, leaf("a", 0)) == 2, "a mean and its number of rows"
    assert count("*", mean, Formula("*", (leaf("a", 0), mean))) == 2


def test_stored_and_merged() -> None:
    result = answer()
    assert Answer.from_json(result.to_json()) == result
    merged = sf.answers.merge(
        [result, Answer.from_json(result.to_json().replace(b'"100"', b'"102"'))]
    )
    assert merged["r"][0] == pytest.approx(101 / (101 + 1 / 3))
    assert "r" in str(result)
    assert len(result.non_negative()["r"]) == 3


def test_numbers_that_doubles_do_not_hold_are_widened() -> None:
    low, high = _ends(Formula("number", number=F(1, 3)), lambda _: (np.zeros(1), np.zeros(1)))
    assert F(float(low)) < F(1, 3) < F(float(high))


@pytest.mark.parametrize(
    "broken",
    [
        Column("r", "computed", (0, 1)),
        Column("r", "count", (0,), formula=leaf("a", 0)),
        Column("r", "computed", (9,), formula=leaf("a", 0)),
    ],
)
def test_a_column_that_does_not_fit_is_refused(broken: Column) -> None:
    result = answer()
    with pytest.raises(sf.Refused) as caught:
        Answer(
            keys=result.keys,
            rows=result.rows,
            pieces=result.pieces,
            columns=(broken,),
            cost=result.cost,
        )
    assert caught.value.code == "answer.shape"


def test_an_operation_that_is_not_known_is_refused() -> None:
    stored = answer().to_json().replace(b'["/"', b'["exec"')
    with pytest.raises(sf.Refused) as caught:
        Answer.from_json(stored)
    assert caught.value.code == "answer.stored"


def test_only_one_quantile_alone_has_an_interval() -> None:
    def quantile(place: int) -> Formula:
        return Formula(
            "column",
            column=Column(
                "q",
                "quantile",
                (place,),
                numbers={"low": F(0), "high": F(1), "confidence": F(19, 20)},
            ),
        )

    twice = Column("x", "computed", (0,), formula=Formula("+", (quantile(0), quantile(0))))
    mixed = Column("x", "computed", (0, 1), formula=Formula("+", (quantile(0), leaf("a", 1))))
    assert has_interval(twice)
    assert not has_interval(mixed)
