"""Published numbers about choosing and about sensitivity that depends on the data; where the source
is wrong, what it says fails.
"""

from __future__ import annotations

import itertools
import math
import string
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.guarantees import loss_closed_forms as forms
from sfumato.guarantees.finite import divergences as div
from sfumato.guarantees.neighbour_relations import REPLACE, hamming
from sfumato.noise.continuous import ContinuousLaplace
from sfumato.sensitivity import order_statistics
from sfumato.sensitivity.brute_force import lipschitz, local

from . import oracles

THEME = oracles.load("selection")


def exponential(scores: Any, *, epsilon: Any = 1, sensitivity: Any = 1, **more: Any) -> list[float]:
    exact = [Fraction(str(s)) for s in scores]
    return (
        mech.Exponential(sensitivity=sensitivity, epsilon=epsilon, **more)
        .probabilities(exact)
        .tolist()
    )


def permute_and_flip(scores: Any, *, epsilon: Any = 1, sensitivity: Any = 1) -> list[float]:
    return (
        mech.PermuteAndFlip(sensitivity=sensitivity, epsilon=epsilon)
        .probabilities([Fraction(str(s)) for s in scores])
        .tolist()
    )


def s060b(i: dict[str, Any]) -> dict[str, float]:
    m = mech.Gibbs(epsilon=i["eps"], delta=i["delta"], lipschitz=1, convexity=1, low=0, high=1)
    gdp = m.promises[1].to(sf.GDP)
    return {"beta": float(m.beta), "mu": float(gdp.mu), "exact_delta": gdp.delta(i["eps"])}


def s061(i: dict[str, Any]) -> dict[str, Any]:
    prices, bids = ([Fraction(str(v)) for v in i[key]] for key in ("prices", "bids"))
    revenue = [price * sum(bid >= price for bid in bids) for price in prices]
    return {"revenue": revenue, "pmf": exponential(revenue, sensitivity=max(prices))}


def s062(i: dict[str, Any]) -> dict[str, Any]:
    """Scale of the exponential mechanism with score −|f − h|, of the Laplace mechanism, and what
    the first loses in truth.
    """
    scale = 1 / mech.Exponential(sensitivity=i["sensitivity"], epsilon=i["eps"]).rate
    laplace = mech.Laplace(sensitivity=i["sensitivity"], epsilon=i["eps"])
    return {
        "em_scale": scale,
        "lap_scale": laplace.scale,
        "em_true_eps": mech.Laplace(sensitivity=1, scale=scale).promise.epsilon(),
    }


def s063(i: dict[str, Any]) -> dict[str, Any]:
    x = np.array(i["x"])
    m = mech.InverseSensitivity("median", low=0, high=10, grid=1, epsilon=1)
    pmf = {z: p / (last - first + 1) for first, last, p in m.law(x) for z in range(first, last + 1)}
    return {
        "dist": order_statistics.changes_needed(x, 3, np.arange(11)).tolist(),
        "pmf": list(pmf.values()),
    }


def s064(i: dict[str, Any]) -> dict[str, float]:
    """As printed, with rate ε/2; the record's own rate is higher."""
    rows = [
        exponential([-abs(z - f) for z in range(i["n"] + 1)], epsilon=i["eps"])
        for f in range(i["n"] + 1)
    ]
    law = rows[i["f"]]
    worst = max(
        abs(math.log(p / q)) for a, b in itertools.pairwise(rows) for p, q in zip(a, b, strict=True)
    )
    return {
        "pmf3": law[3],
        "pmf0": law[0],
        "pmf10": law[10],
        "mean": sum(z * p for z, p in enumerate(law)),
        "true_eps_worst": worst,
    }


def s065(i: dict[str, Any]) -> dict[str, float]:
    """Without noise the answer is 0; with real noise it is 0 with probability 0. The two laws share
    no outcome: δ = 1 at every ε.
    """
    sensitivities = [order_statistics.local(np.array(i[key]), 3, 0, i["M"]) for key in ("x", "x2")]
    zero_or_not = [(1, 0), (0, 1)]
    return {
        "ls_x": sensitivities[0],
        "ls_x2": sensitivities[1],
        "delta": div.hockey_stick(*zero_or_not, 1) if sensitivities == [0, 1] else math.nan,
    }


def printed_threshold(epsilon: float, delta: float) -> float:
    return math.log(2 / delta) / (2 * epsilon)


def printed_delta(epsilon: float, delta: float) -> float:
    """The largest δ at the claimed ε over all distances, by the law of the printed algorithm: its
    test passes, then the densities are compared.
    """

    def at(distance: int) -> float:
        ours, theirs = (
            ContinuousLaplace(scale=1 / epsilon).tail(printed_threshold(epsilon, delta) - d)
            for d in (distance, distance - 1)
        )
        ends = math.exp(-epsilon * min(1.0, math.log(ours / theirs) / (2 * epsilon)))
        return (ours - theirs) / 2 + ours * (1 - ends) / 2 - theirs * (1 / ends - 1) / 2

    return max(at(d) for d in range(1, 200))


def s066(i: dict[str, Any]) -> dict[str, float]:
    threshold, e, d = printed_threshold(i["eps"], i["delta"]), i["eps"], i["delta"]
    right = [
        ContinuousLaplace(scale=1 / Fraction(share)).quantile(1 - Fraction(str(d)))
        for share in (Fraction(e), Fraction(e) / 2)
    ]
    passes = ContinuousLaplace(scale=1 / Fraction(e)).tail(threshold)
    corrected = {"correct_threshold_eps1": right[0], "correct_threshold_split": right[1]}
    return {
        "printed_threshold": threshold,
        "pass_prob_D0": passes,
        "delta_at_claimed_eps": printed_delta(e, d),
        **corrected,
    }


def s082(i: dict[str, Any]) -> dict[str, Any]:
    """Between the ends: the mean by its formula, checked by brute force at three values; the others
    by order statistics.
    """
    M, n = i["M"], i["n"]
    small = lipschitz(
        lambda x: Fraction(sum(x), len(x)), itertools.product((-M, M), repeat=3), REPLACE.distance
    )
    assert small == Fraction(2 * M, 3)
    split = np.array(
        [-M] * (n // 2) + [M] * (n - n // 2)
    )  # one change moves the median from end to end
    alone = np.array([-M] * (n - 1) + [M])
    ranks = {"max": (alone, n), "median": (split, n // 2 + 1)}
    return {"mean": small * 3 / n} | {
        name: order_statistics.local(x, r, -M, M) for name, (x, r) in ranks.items()
    }


def s083(i: dict[str, Any]) -> dict[str, Any]:
    x, M = tuple(Fraction(str(v)) for v in i["x"]), Fraction(i["M"])
    near = list(
        REPLACE.neighbours(x, tuple({-M, M, *x}))
    )  # each statistic is largest where the new value is an end, or a value that is there
    functions: dict[str, Any] = {
        "mean": lambda v: sum(v) / len(v),
        "max": max,
        "median": lambda v: sorted(v)[len(v) // 2],
    }
    sensitivities = {name: local(f, x, near) for name, f in functions.items()}
    tenths = np.array(sorted(int(v * 10) for v in x))
    assert [Fraction(order_statistics.local(tenths, r, -30, 30), 10) for r in (5, 3)] == [
        sensitivities["max"],
        sensitivities["median"],
    ]
    return sensitivities


def letters() -> Counter[str]:
    """How often each letter occurs in "Object A" … "Object J"."""
    text = "".join(f"Object {letter}" for letter in string.ascii_uppercase[:10])
    return Counter({letter: text.count(letter) for letter in string.ascii_lowercase})


def s180(i: dict[str, Any]) -> dict[str, Any]:
    scores = list(letters().values())
    tied = [place for place, score in enumerate(scores) if score == max(scores)]
    j = string.ascii_lowercase.index("j")
    chances = {
        f"P(j)_D{d}": exponential(scores, epsilon=i["eps"], sensitivity=d)[j]
        for d in i["sensitivities"]
    }
    return {"tied": tied, **chances, "P(j)_diffpriv_bug": scores[j] / sum(scores)}


def e18(i: dict[str, Any]) -> dict[str, float]:
    law = exponential([-u for u in i["u"]], epsilon=i["eps"], sensitivity=i["sensitivity"])
    return {"P(best)": law[0], "P(worst)": law[-1]}


def e20(i: dict[str, Any]) -> dict[str, float]:
    without_exp = [
        [Fraction(s, sum(scores)) for s in scores] for scores in (i["scores"], i["scores2"])
    ]
    return {"delta": div.hockey_stick(*without_exp, 1)}


def e21(i: dict[str, Any]) -> dict[str, Any]:
    passes = [ContinuousLaplace(scale=1).tail(printed_threshold(1, d)) for d in i["delta"]]
    return {"pass": passes, "delta_claimed": [printed_delta(e, 1e-6) for e in i["eps"]]}


def e21b(i: dict[str, Any]) -> dict[str, float]:
    x, y = [0] * 21 + [1] * 8 + [100] * 12, [0] * 20 + [1] * 8 + [100] * 13
    m = mech.ProposeTestRelease(
        "median", low=0, high=100, grid=1, bound=i["b"], epsilon=i["eps"], delta=i["delta"]
    )
    (d, f), (d2, f2) = m._measure(x), m._measure(y)
    return {
        "D_x": d,
        "D_x2": d2,
        "f_x": f,
        "f_x2": f2,
        "delta_at_eps1": printed_delta(i["eps"], i["delta"]),
    }


def e41(i: dict[str, Any]) -> dict[str, float]:
    geometric = mech.Laplace(sensitivity=1, epsilon=i["eps"])
    half = mech.Laplace(
        sensitivity=1, scale=1 / mech.Exponential(sensitivity=1, epsilon=i["eps"]).rate
    )
    return {"std_inv": math.sqrt(half.variance), "std_geo": math.sqrt(geometric.variance)}


def b06b(i: dict[str, Any]) -> dict[str, Any]:
    pure, e = sf.Pure(i["eps"]), Fraction(i["eps"])
    exponential_ = mech.Exponential(sensitivity=1, epsilon=e).to(sf.ZCDP).rho
    flip = mech.PermuteAndFlip(sensitivity=1, epsilon=e).to(sf.ZCDP).rho
    assert flip == pure.to(sf.ZCDP).rho > exponential_
    laplace = forms.laplace_renyi(
        1, 1 / e
    )  # the Kullback–Leibler divergence is the ρ of Laplace noise
    return {
        "generic": pure.to(sf.ZCDP).rho,
        "quadratic_bound": e**2 / 2,
        "laplace": laplace,
        "exponential": exponential_,
    }


def b09(i: dict[str, Any]) -> dict[str, Any]:
    regrets = [max(i["u"]) - u for u in i["u"]]
    ours, theirs = permute_and_flip(i["u"]), exponential(i["u"])
    return {"pmf": ours, "regret_pf": np.dot(ours, regrets), "regret_em": np.dot(theirs, regrets)}


def smooth_median(x: list[float], beta: float) -> float:
    """In hundredths, on which these data lie."""
    steps = np.array(sorted(round(100 * v) for v in x))
    k, reach = order_statistics.smooth(steps, (len(x) + 1) // 2, beta, 0, 100)
    return math.exp(-beta * k) * reach / 100


def b10(i: dict[str, Any]) -> dict[str, float]:
    beta = 1 / (2 * math.log(2 / 1e-6))
    values = {
        "beta.1": smooth_median(i["x"], 0.1),
        "beta(1,1e-6)": smooth_median(i["x"], beta),
        "beta": beta,
    }
    return values | {
        "local": order_statistics.local(np.array([round(100 * v) for v in i["x"]]), 5, 0, 100) / 100
    }


def b22(i: dict[str, Any]) -> list[float]:
    """On a grid so fine that points with data on them weigh nothing: the intervals between data, in
    order.
    """
    m = mech.Quantile(low=0, high=10, epsilon=1, relation="replace", grid=2.0**-50)
    return [p for first, last, p in m.law(i["x"]) if last > first]


EVALUATE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "S-059": lambda i: exponential(i["u"]),
    "S-060": lambda i: exponential(i["u"], prior=i["pi"]),
    "S-060b": s060b,
    "S-061": s061,
    "S-062": s062,
    "S-063": s063,
    "S-064": s064,
    "S-065": s065,
    "S-066": s066,
    "S-080": lambda i: {
        name: lipschitz(
            lambda x: x[0],
            [(v,) for v in itertools.product((0, 1), repeat=i["k"])],
            REPLACE.distance,
            norm=norm,
        )
        for name, norm in (("l1", 1), ("l2", 2), ("linf", "inf"))
    },
    "S-081": lambda i: lipschitz(
        sum, itertools.product((0, 1), repeat=i["rows"]), lambda x, y: math.sqrt(hamming(x, y))
    ),
    "S-082": s082,
    "S-083": s083,
    "S-180": s180,
    "E-18": e18,
    "E-19": lambda i: {
        "true_eps": div.max_divergence(
            *(exponential(s, sensitivity=i["Delta_used"]) for s in (i["s"], i["s2"]))
        )
    },
    "E-20": e20,
    "E-21": e21,
    "E-21b": e21b,
    "E-40": lambda i: {"eps": s062(i)["em_true_eps"]},
    "E-41": e41,
    "B-06b": b06b,
    "B-09": b09,
    "B-10": b10,
    "B-22": b22,
    "exponential_pmf": lambda i: exponential(
        i["scores"], epsilon=i["eps"], sensitivity=i["sensitivity"]
    ),
    "permute_and_flip_pmf": lambda i: permute_and_flip(
        i["scores"], epsilon=i["eps"], sensitivity=i["sensitivity"]
    ),
    "smooth_sensitivity_median": lambda i: smooth_median(i["x"], i["beta"]),
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


def test_E_18_with_a_minus_the_worst_wins() -> None:
    printed = e18({"u": [10, 8, 5, 0], "eps": 1, "sensitivity": 1})
    assert printed["P(worst)"] > 0.9 > 0.1 > printed["P(best)"]
    assert exponential([10, 8, 5, 0])[0] > 0.6


def test_E_21_the_printed_calibration_is_five_orders_off() -> None:
    assert printed_delta(1, 1e-6) > 2e5 * 1e-6


def test_S_180_five_letters_are_tied() -> None:
    """The mechanism gives the five of them the same largest chance, and every letter one; without
    the exponential a letter that does not occur would never come.
    """
    m = mech.Exponential(sensitivity=2, epsilon=1, candidates=string.ascii_lowercase)
    scores = [letters()[letter] for letter in string.ascii_lowercase]
    chances = dict(zip(string.ascii_lowercase, m.probabilities(scores), strict=True))
    largest = max(chances.values())
    assert {letter for letter, chance in chances.items() if chance == largest} == set("bcejt")
    assert largest == pytest.approx(0.1487257556, abs=1e-9)
    assert min(chances.values()) > 0 == min(scores)
