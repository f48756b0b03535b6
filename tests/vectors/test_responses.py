"""Published numbers about randomized response; where the source is wrong, its number fails."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.mechanisms.shared import error_formulas
from sfumato.noise.continuous import Normal

from . import oracles

THEME = oracles.load("responses")
COIN = mech.RandomizedResponse.coin_toss()


def response(k: int, epsilon: Any) -> mech.RandomizedResponse:
    """k-ary at ε, which may be written ln k: then the truth is k times as likely as each other
    answer.
    """
    if isinstance(epsilon, str) and epsilon.startswith("ln"):
        odds = int(epsilon.removeprefix("ln"))
        return mech.RandomizedResponse(keep=Fraction(odds, odds + k - 1), categories=range(k))
    return mech.RandomizedResponse(epsilon=epsilon, categories=range(k))


def factor(m: mech.RandomizedResponse) -> float:
    return 1 / float(m.spread().mid())


def s043(i: dict[str, Any]) -> dict[str, float]:
    m = response(2, i["eps"])
    offset = m.probability(0, 1)
    radius = m.error(1 - Fraction(str(i["beta"])), reports=i["n"])
    lam = error_formulas.hoeffding_radius(count=i["n"], beta=i["beta"])
    intercept = factor(m) * offset
    return {
        "factor": factor(m),
        "offset": offset,
        "lambda": lam,
        "radius": radius,
        "intercept": intercept,
        "lower_const": -intercept - radius,
        "upper_const": -intercept + radius,
    }


def estimate(m: mech.RandomizedResponse, rate: float, n: int) -> mech.ResponseEstimate:
    named = round(rate * n)
    return mech.ResponseEstimate(m, (named, n - named), n)


def s041(i: dict[str, Any]) -> dict[str, float]:
    e = estimate(COIN, i["Y"], i["n"])
    return {"p_hat": e.frequencies[0], "se": e.standard_error[0]}


def s044(i: dict[str, Any]) -> dict[str, float]:
    e = estimate(response(2, 1), i["r"], i["n"])
    return {"estimate": e.frequencies[0], "sd_plugin": e.standard_error[0]}


def s045(i: dict[str, Any]) -> dict[str, Any]:
    m, p = response(i["k"], i["eps"]), [Fraction(str(x)) for x in i["p"]]
    q = [sum(float(p[x]) * m.probability(y, x) for x in range(i["k"])) for y in range(i["k"])]
    recovered = [(share - m.probability(0, 1)) * factor(m) for share in q]
    return {"q": q, "p_recovered": recovered}


def mse(k: int, epsilon: Any, p: list[Any]) -> float:
    return response(k, epsilon).mse([Fraction(str(x)) for x in p], reports=1)


def s047(i: dict[str, Any]) -> dict[str, float]:
    p = [Fraction(str(x)) for x in i["p"]]
    return {
        "n*MSE": mse(i["k"], i["eps"], i["p"]),
        "n*bound": factor(response(i["k"], i["eps"])) ** 2,
        "nonprivate n*MSE": sum(x * (1 - x) for x in p),
    }


def s047b(i: dict[str, Any]) -> dict[str, float]:
    k = i["k"]
    return {
        "n*MSE": mse(k, f"ln{k}", [Fraction(1, k)] * k),
        "bound_factor": factor(response(k, f"ln{k}")) ** 2,
        "nonprivate": 1 - Fraction(1, k),
    }


def deniability(priors: list[float]) -> tuple[list[float], list[float]]:
    tables = [COIN.deniability(p) for p in priors]
    return [t["no"]["yes"] for t in tables], [t["yes"]["yes"] for t in tables]


def e15(i: dict[str, Any]) -> dict[str, float]:
    m = response(2, i["eps"])
    printed_lambda = 0.89 / math.sqrt(i["n"])
    return {
        "printed_radius": 2.16 * printed_lambda,
        "correct_radius": m.error(1 - Fraction(str(i["beta"])), reports=i["n"]),
        "centre_shift": factor(m) * m.probability(0, 1) - 2.16 * 0.26,
        "hoeffding_fail": 2 * math.exp(-2 * i["n"] * printed_lambda**2),
        "sqrt(log10(40)/2)": math.sqrt(math.log10(40) / 2),
    }


def e47(i: dict[str, Any]) -> dict[str, float]:
    m = response(2, i["eps"])
    printed = error_formulas.hoeffding_radius(count=i["n"], beta=i["beta"]) / factor(m)
    deviation = factor(m) * math.sqrt(0.25 / i["n"])
    return {
        "printed": printed,
        "correct": m.error(1 - Fraction(str(i["beta"])), reports=i["n"]),
        "failure_at_printed": 2 * Normal(sigma=1).tail(printed / deviation),
    }


EVALUATE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "S-011": lambda i: {
        "keep": response(i["k"], i["eps"]).probability(0, 0),
        "flip_each": response(i["k"], i["eps"]).probability(1, 0),
        "ratio": response(i["k"], i["eps"]).probability(0, 0)
        / response(i["k"], i["eps"]).probability(1, 0),
    },
    "S-040": lambda i: {
        "P(Y|yes)": COIN.probability("yes", "yes"),
        "P(Y|no)": COIN.probability("yes", "no"),
        "epsilon": COIN.promise.epsilon(),
    },
    "S-041": s041,
    "S-041b": lambda i: dict(
        zip(["P(true yes|NO)", "P(true yes|YES)"], deniability(i["p"]), strict=True)
    ),
    "S-042": lambda i: {name: response(2, name).probability(0, 0) for name in i["eps"]},
    "S-043": s043,
    "S-044": s044,
    "S-045": s045,
    "S-047": s047,
    "S-047b": s047b,
    "E-15": e15,
    "E-26": lambda i: {f"k{k}": mse(k, epsilon, [Fraction(1, k)] * k) for k, epsilon in i["cases"]},
    "E-27": lambda i: dict(zip(["P(yes|NO)", "P(yes|YES)"], deniability(i["p"]), strict=True)),
    "E-47": e47,
    "krr_total_mse_times_n": lambda i: mse(i["k"], i["eps"], i["p"]),
}


@pytest.mark.parametrize("oracle", THEME, ids=lambda oracle: oracle.id)
def test_number(oracle: oracles.Oracle) -> None:
    computed = oracles.evaluate(oracle, EVALUATE)
    assert oracles.differences(computed, oracle.expected, oracle.tolerance) == []
    assert len(oracles.differences(computed, oracles.shifted(oracle), oracle.tolerance)) == len(
        dict(oracles.leaves(oracle.expected))
    )


def test_every_evaluator_is_used() -> None:
    assert set(EVALUATE) <= {oracle.id for oracle in THEME} | {oracle.name for oracle in THEME}


def test_S_046_estimates_sum_to_one() -> None:
    m = response(4, 1)
    assert mech.ResponseEstimate(m, (10, 20, 30, 40), 100).frequencies.sum() == pytest.approx(
        1, abs=1e-12
    )


def test_E_15_the_printed_interval_misses() -> None:
    """Its centre is 0.0204 off, ten times its radius; ends swapped. At r = 0.4 the truth that gives
    exactly this rate lies outside.
    """
    low, high = 2.16 * 0.4 - 0.5591, 2.16 * 0.4 - 0.5619
    assert low > high
    e = estimate(response(2, 1), 0.4, 10**6)
    truth = e.frequencies[0]
    assert not high <= truth <= low
    right = e.interval(0.95, method="hoeffding")[0]
    assert right[0] <= truth <= right[1]
    assert right[1] - right[0] == pytest.approx(2 * 0.002938868411, rel=1e-9)


def test_E_26_not_at_worst_one_over_n() -> None:
    """At ε = ln k the factor is between 4 and 9."""
    factors = [factor(response(k, f"ln{k}")) ** 2 for k in (2, 3, 10, 1000)]
    assert factors == pytest.approx([9, 6.25, (19 / 9) ** 2, (1999 / 999) ** 2], rel=1e-12)
    assert all(4 < f <= 9 for f in factors)


def test_E_27_a_quarter_only_at_even_odds() -> None:
    assert COIN.deniability("1/2")["no"]["yes"] == 0.25
    assert COIN.deniability("1/10")["no"]["yes"] != pytest.approx(0.25, abs=0.2)


def test_E_47_the_inverted_factor_fails_more_often_than_not() -> None:
    printed = oracles.evaluate(next(o for o in THEME if o.id == "E-47"), EVALUATE)
    assert printed["failure_at_printed"] > 0.5 > 0.05
    assert printed["printed"] * factor(response(2, 1)) ** 2 == pytest.approx(
        printed["correct"], rel=1e-12
    )


def test_E_49_the_faces_of_the_coins_do_not_matter() -> None:
    """Truth on heads or on tails, yes on heads or on tails: the same matrix, whichever face a
    source gives which meaning.
    """
    for truth_face in (0, 1):
        for yes_face in (0, 1):
            yes = sum(
                Fraction(1, 4)
                for first in (0, 1)
                for second in (0, 1)
                if first == truth_face or second == yes_face
            )
            assert yes == COIN.channel.row("yes")[0] == Fraction(3, 4)


def test_E_50_randomized_response_is_about_replacing() -> None:
    """Yes instead of no is two steps of add-remove: the relation is left open, and add-remove is
    refused.
    """
    assert COIN.relation is None
    with pytest.raises(sf.Refused):
        mech.RandomizedResponse(epsilon=1, relation="add-remove")
