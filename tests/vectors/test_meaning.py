"""Published numbers about what promises mean; where a source printed something else, that it
fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.exact.balls import ball, evaluate, normal_cdf
from sfumato.guarantees.finite.channel import Channel
from sfumato.guarantees.loss_closed_forms import gaussian_loss
from sfumato.guarantees.meaning.bayes import (
    bayes_factor_moment,
    correlated_posterior,
    odds_factor,
    posterior_bounds,
    semantic_bounds,
)
from sfumato.guarantees.meaning.literature import LITERATURE, _number, judge_delta, name_and_shame
from sfumato.guarantees.meaning.outcomes import least_chance
from sfumato.guarantees.meaning.promise_meaning import conditional_error

from . import oracles

THEME = oracles.load("meaning")


def s121(i: dict[str, Any]) -> dict[str, float]:
    prior, bounds = Fraction(str(i["prior"])), semantic_bounds(i["eps"], i["prior"])
    after = Channel.randomized_response(epsilon=i["eps"]).posterior([prior, 1 - prior], 0)
    return {"posterior": float(after[0]), "lower": bounds.low, "upper": bounds.high}


def s121b(i: dict[str, Any]) -> dict[str, float]:
    return {
        "posterior": correlated_posterior(i["eps"], i["n"], i["prior"]),
        "bound_if_independent": semantic_bounds(i["eps"], i["prior"]).high,
    }


def tossed(prior_odds: int) -> Fraction:
    """Odds on "yes" after Warner's two coins said so."""
    prior = Fraction(prior_odds, prior_odds + 1)
    after = Channel.coin_toss().posterior({"yes": prior, "no": 1 - prior}, "yes")
    return after["yes"] / after["no"]


def s123(i: dict[str, Any]) -> dict[str, float]:
    promise = sf.GDP(Fraction(1, i["sigma"]))
    return {"moment": bayes_factor_moment(promise, i["alpha"]), "E_log": promise.renyi(1)}


def s130(i: dict[str, Any]) -> dict[str, Any]:
    promise = sf.Pure(i["eps"])
    total = promise.meaning().total_error
    assert total is not None
    return {
        "beta": [promise.tradeoff(a) for a in ("0.05", "0.2", "0.5")],
        "min_sum": total,
        "beta_delta": sf.Approx(i["eps"], "0.05").tradeoff("0.05"),
    }


def printed(epsilon: float) -> float:
    """e^(−2ε), true and far too small."""
    return evaluate(lambda: ball(-2 * Fraction(str(epsilon))).exp())


def e07(i: dict[str, Any]) -> dict[str, float]:
    p, q = (evaluate(lambda mean=mean: normal_cdf(ball(Fraction(mean - 4)))) for mean in i["mu"])
    return {
        "P(S)": p,
        "Q(S)": q,
        "e^-eps P(S)": evaluate(lambda: ball(Fraction(p)) * ball(Fraction(-i["eps"])).exp()),
        "correct_lower e^-eps P(S)^2": least_chance(i["alpha"], i["eps"], Fraction(p)),
    }


def e30(i: dict[str, Any]) -> dict[str, list[float]]:
    responses = [Channel.randomized_response(epsilon=e).attacker(0, 1) for e in i["eps"]]
    return {
        "tight": [conditional_error(e) for e in i["eps"]],
        "printed": [printed(e) for e in i["eps"]],
        "attained_at_q1": [float(attacker.type_one) for attacker in responses],
    }


def logarithm(number: int) -> float:
    """As the table of the literature writes it."""
    return next(
        (use.low for use in LITERATURE if use.epsilons == (f"ln {number}",)),
        _number(f"ln {number}"),
    )


EVALUATE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "S-017": lambda i: {
        "n1000": name_and_shame(Fraction(1, i["n"]), i["n"]),
        "n1e6_d1e-9": name_and_shame("1e-9", 10**6),
    },
    "S-019": lambda i: odds_factor(i["eps"]).high,
    "S-121": s121,
    "S-121b": s121b,
    "S-122": lambda i: {
        "posterior_odds": tossed(i["prior_odds"]),
        "ratio": tossed(i["prior_odds"]) / i["prior_odds"],
    },
    "S-123": s123,
    "S-130": s130,
    "S-131": lambda i: {
        "seed": [printed(e) for e in i["eps"]],
        "tight": [conditional_error(e) for e in i["eps"]],
    },
    "S-185": lambda i: [logarithm(n) for n in i["args"]],
    "S-186": lambda i: posterior_bounds(i["eps"], i["prior"]).high,
    "E-07": e07,
    "E-29": lambda i: {"posterior_odds": tossed(i["prior_odds"]), "printed_bound": tossed(1)},
    "E-30": e30,
    "E-51": lambda i: {
        "E_L": gaussian_loss(i["sigma"]).mean,
        "P(L>1)": gaussian_loss(i["sigma"]).tail(1),
    },
    "E-68": lambda i: {f"n{n}": judge_delta(i["delta"], n).expected for n in i["n"]},
    "B-07": lambda i: {
        "delta(1)": sf.GDP(i["mu"]).delta(1),
        "f(.05)": sf.GDP(i["mu"]).tradeoff("0.05"),
    },
    "tradeoff_beta": lambda i: sf.Approx(i["eps"], i["delta"]).tradeoff(i["alpha"]),
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


def expected(name: str) -> Any:
    return next(oracle.expected for oracle in THEME if oracle.id == name)


def test_E_07_the_printed_lower_bound_fails() -> None:
    """Table 3.1, row 1: e^−ε·P(S) ≤ Q(S) is false; with the exponent it holds. Row 2's exponent and
    row 5's 3ε: tests/guarantees/test_pure_and_renyi.py.
    """
    assert (
        expected("E-07")["e^-eps P(S)"]
        > expected("E-07")["Q(S)"]
        > expected("E-07")["correct_lower e^-eps P(S)^2"]
    )


def test_E_29_the_printed_bound_fails() -> None:
    assert expected("E-29")["posterior_odds"] > expected("E-29")["printed_bound"]
    assert (
        sf.Pure(Fraction(evaluate(lambda: ball(3).log(), "up")))
        .meaning(prior="0.99")
        .posterior.high
        >= 297 / 298
    )


def test_E_51_the_bound_without_the_expectation_fails() -> None:
    """(2, 1)-RDP, and yet a log Bayes factor above 1 in 31 % of the answers."""
    assert sf.GDP(1).renyi(2) == 1
    assert expected("E-51")["P(L>1)"] > 0.3


def test_S_132_the_coin_toss() -> None:
    """The best attacker's errors add up to 1/2 = 2/(1 + 3)."""
    assert Channel.coin_toss().attacker("yes", "no").total_error == Fraction(2, 1 + 3)


def test_S_019_linearisation() -> None:
    assert expected("S-019") - 1.1 == pytest.approx(0.00517, abs=1e-5)
    assert odds_factor(1).high - 2 > 0.7
    assert (sf.Pure(0).delta(0), odds_factor(0)) == (0, (1, 1)), (
        "at ε = 0 the output is independent of the data"
    )


def test_S_186_one_posterior_for_each_rule() -> None:
    assert posterior_bounds(Fraction(math.log(3)), "1/2").high == pytest.approx(0.75)
