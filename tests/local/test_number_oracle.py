"""Numbers on a public grid: the same steps here and in the client, straight lines by arithmetic,
errors by arithmetic and by simulation.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import Refused
from sfumato.exact.balls import ball, below
from sfumato.local import NumberOracle, OneBit, Piecewise, client, restore
from sfumato.testing import SeededBits

from .drawn import agrees, bent
from .laws import largest_odds, law_of

SMALL: dict[str, NumberOracle] = {
    "one-bit": OneBit(epsilon=1, low=0, high=4, grid=1),
    "one-bit-fine": OneBit(epsilon="1/10", low=-1, high=1, grid="1/4"),
    "one-bit-large": OneBit(epsilon=7, low=0, high=1, grid="1/8"),
    "piecewise": Piecewise(epsilon=1, low=0, high=4, grid=1),
    "piecewise-fine": Piecewise(epsilon="1/10", low=-1, high=1, grid="1/8"),
    "piecewise-large": Piecewise(epsilon=7, low=0, high=1, grid="1/8"),
    "piecewise-two": Piecewise(epsilon=1, low=0, high=1, grid=1),
}


@pytest.mark.parametrize("name", SMALL)
def test_the_law_by_arithmetic(name: str) -> None:
    """Over the whole output law of the real client: the odds are `odds`, at most e^ε; means are a
    straight line; variances are those of the formula.
    """
    oracle = SMALL[name]
    laws = [
        law_of(json.loads(json.dumps(oracle.question)), code) for code in range(oracle.steps + 1)
    ]
    odds = largest_odds(laws)
    assert odds == oracle.odds == client.ODDS[oracle.kind](oracle.question, 0)
    assert below(lambda: ball(oracle.odds), lambda: ball(oracle.epsilon).exp())
    for code, law in enumerate(laws):
        scores = {
            payload: int(oracle._scores(np.frombuffer(payload, dtype=np.uint8)[None, :])[0])
            for payload in law
        }
        mean = sum((p * scores[payload] for payload, p in law.items()), Fraction(0))
        square = sum((p * scores[payload] ** 2 for payload, p in law.items()), Fraction(0))
        assert mean == oracle.base + oracle.slope * code
        assert square - mean**2 == oracle._score_variance(code)
        assert all(0 <= score <= oracle.top for score in scores.values())
    assert oracle._worst == max(oracle._score_variance(code) for code in range(oracle.steps + 1))


@pytest.mark.parametrize("name", SMALL)
def test_the_vectorised_law_is_that_of_the_client(name: str) -> None:
    """False alarm 1e-7 a case, with seeded bits; a law wrong by 10 % is caught."""
    oracle = SMALL[name]
    code = oracle.steps // 2
    value = float((oracle.first + code) * oracle.unit_step)
    law = law_of(oracle.question, code)
    reports = oracle.perturb(np.full(200_000, value), bits=SeededBits(5))
    assert agrees(reports, law)
    assert not agrees(reports, bent(law))


@settings(max_examples=60, deadline=None)
@given(
    value=st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(-(10**6), 10**6),
        st.sampled_from([0.125, 0.375, -0.125, 0.5, 1.0, 0.1, 1 / 3]),
    ),
    low=st.sampled_from([0, -1, "1/3", -7.3]),
    width=st.sampled_from([1, "2/3", 100, 1e-3]),
    grid=st.sampled_from(["auto", "1/4", 1]),
)
def test_the_same_step_as_the_client(value: Any, low: Any, width: Any, grid: Any) -> None:
    high = Fraction(str(low)) + Fraction(str(width))
    oracle = OneBit(epsilon=1, low=low, high=high, grid=None if grid == "auto" else grid)
    code = int(oracle._codes([value])[0])
    assert code == client.step(oracle.question, value)
    held = min(
        max(Fraction(float(value)), oracle.first * oracle.unit_step),
        (oracle.first + oracle.steps) * oracle.unit_step,
    )
    assert abs((oracle.first + code) * oracle.unit_step - held) <= oracle.unit_step / 2


@pytest.mark.parametrize("kind", [OneBit, Piecewise])
def test_a_grid_that_was_not_given(kind: type[NumberOracle]) -> None:
    for low, high in ((0, 1), (0, 100), (-3, "1/7"), (1000, 1001)):
        oracle = kind(epsilon=1, low=low, high=high)  # type: ignore[call-arg]  # both take these
        assert 1024 <= oracle.steps <= 2050
        assert oracle.first * oracle.unit_step <= oracle.low
        assert (oracle.first + oracle.steps) * oracle.unit_step >= oracle.high


@pytest.mark.parametrize("name", SMALL)
def test_questions_come_back(name: str) -> None:
    oracle = SMALL[name]
    assert restore(json.dumps(oracle.question)) == oracle
    reports = [client.perturb(json.loads(json.dumps(oracle.question)), 0.25) for _ in range(20)]
    assert oracle.aggregate(reports).reports == 20
    weaker = {**oracle.question, "epsilon": str(oracle.epsilon * (1 - Fraction(1, 10**12)))}
    with pytest.raises(ValueError, match="tell more than it claims"):
        client.check(weaker)


@pytest.mark.parametrize("name", SMALL)
def test_error_by_simulation(name: str) -> None:
    """The mean squared error of 400 seeded surveys within 3 standard errors of the exact one; a
    formula wrong by a third is not. Unbiased within 5.
    """
    oracle, bits = SMALL[name], SeededBits(11)
    steps = np.repeat(np.arange(oracle.steps + 1), 1 + np.arange(oracle.steps + 1) ** 2)
    values = np.resize((oracle.first + steps) * float(oracle.unit_step), 1000)
    true = values.mean()
    off = np.array(
        [oracle.estimate(oracle.perturb(values, bits=bits)).mean - true for _ in range(400)]
    )
    exact, standard = oracle.mse(values), (off**2).std(ddof=1) / 20
    assert abs((off**2).mean() - exact) < 3 * standard
    assert abs((off**2).mean() - exact * 4 / 3) > 3 * standard
    assert abs(off.mean()) < 5 * off.std(ddof=1) / 20
    assert oracle.mse(values) <= oracle.variance(1000) * (1 + 1e-12)


def test_variance_at_a_value() -> None:
    oracle = SMALL["piecewise"]
    assert oracle.variance(10, 0) == pytest.approx(
        float(oracle._score_variance(0) * oracle.scale**2 / 10), rel=1e-12
    )
    assert oracle.variance(10, 2) < oracle.variance(10, 0) == oracle.variance(10)
    assert oracle.mse([2, 2, 2, 2]) == pytest.approx(oracle.variance(4, 2), rel=1e-12)


@pytest.mark.parametrize("name", SMALL)
def test_fakes_move_the_mean_by_no_more_than_said(name: str) -> None:
    oracle = SMALL[name]
    honest = oracle.perturb(np.zeros(90), bits=SeededBits(1))
    for score in (0, oracle.top):
        fake = type(honest)(
            honest.mark,
            np.repeat(
                np.frombuffer(int(score).to_bytes(oracle.width, "big"), dtype=np.uint8)[None, :],
                10,
                axis=0,
            ),
        )
        moved = oracle.estimate(honest + fake).mean
        for second_score in (0, oracle.top):
            came = type(honest)(
                honest.mark,
                np.repeat(
                    np.frombuffer(int(second_score).to_bytes(oracle.width, "big"), dtype=np.uint8)[
                        None, :
                    ],
                    10,
                    axis=0,
                ),
            )
            assert abs(moved - oracle.estimate(honest + came).mean) <= oracle.influence(10, 100) * (
                1 + 1e-9
            )


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        "1",
        "x",
        None,
        True,
        10**400,
        -(10**400),
        1 + 2j,
        b"1",
    ],
    ids=lambda v: str(v)[:9],
)
def test_every_value_has_a_step_and_the_same_as_in_the_client(name: str, value: Any) -> None:
    """Alone, in a list, in an array of objects: so every value has the law of some step, and a
    report.
    """
    oracle = SMALL[name]
    step = client.step(oracle.question, value)
    assert 0 <= step <= oracle.steps
    listed = np.empty(1, dtype=object)
    listed[0] = value
    for values in (value, [value], listed):
        assert oracle._codes(values).tolist() == [step]
    assert oracle._codes([0.25, value]).tolist() == [client.step(oracle.question, 0.25), step]
    assert (
        len(client.perturb(oracle.question, value))
        == 4 + oracle.width
        == 4 + oracle.perturb([value]).payload.shape[1]
    )


def test_the_rules_for_what_is_no_number() -> None:
    oracle = SMALL["one-bit"]
    assert oracle._codes([float("nan"), None, "x", -float("inf")]).tolist() == [0] * 4
    assert oracle._codes([float("inf"), 10**400, 1e308]).tolist() == [oracle.steps] * 3
    assert oracle._codes(np.array([np.nan, np.inf, -np.inf])).tolist() == [0, oracle.steps, 0]
    assert oracle._codes([[1], [2, 3]]).tolist() == [0, 0]  # no numbers, but people
    assert len(oracle._codes([[1, 2], ["x", 3]])) == len(oracle._codes([[1, 2], [3, 3]])) == 4


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"low": 1, "high": 1}, "local.bounds"),
        ({"low": 2, "high": 1}, "local.bounds"),
        ({"low": 0, "high": 1, "grid": "1/3"}, "number.not-a-power-of-two"),
        ({"low": 0, "high": 1, "grid": 2.0**-40}, "local.grid"),
        ({"low": 2**60, "high": 2**60 + 4, "grid": 1}, "local.grid"),
        ({"low": 0, "high": 1, "epsilon": 0}, "number.not-positive"),
        ({"low": 0, "high": 1, "epsilon": "1e-20"}, "local.epsilon"),
        ({"low": 0, "high": 1, "relation": "add-remove"}, "response.relation"),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [OneBit, Piecewise])
def test_refused(kind: type[NumberOracle], arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as refused:
        kind(**{"epsilon": 1, **arguments})
    assert refused.value.code == code


@pytest.mark.parametrize("name", SMALL)
def test_malformed_reports(name: str) -> None:
    oracle = SMALL[name]
    good = oracle.perturb([1, 1, 1], bits=SeededBits(2))
    bad = type(good)(
        good.mark, np.concatenate([good.payload, np.full((1, oracle.width), 255, dtype=np.uint8)])
    )
    with pytest.raises(Refused) as refused:
        oracle.estimate(bad)
    assert refused.value.code == "local.report"
    assert len(oracle.read(bad, drop=True)) == 3
    with pytest.raises(Refused):
        oracle.estimate([*good, good[0] + b"0"])
    with pytest.raises(Refused):
        oracle.estimate([])
