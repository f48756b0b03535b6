"""Published numbers about relations, channels and divergences; where the source is wrong, what it
says fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball
from sfumato.guarantees import loss_closed_forms as forms
from sfumato.guarantees.finite import divergences as div
from sfumato.guarantees.finite.channel import Channel, belief_shift
from sfumato.guarantees.finite.divergence_bounds import (
    preservation_bound,
    triangle_bound,
    triangle_orders,
)
from sfumato.guarantees.neighbour_relations import ADD_REMOVE, REPLACE, hamming, l1_distance
from sfumato.noise.continuous import ContinuousLaplace, Normal

from . import oracles

THEME = oracles.load("divergences")

P, Q = (Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))


def s001(i: dict[str, Any]) -> dict[str, float]:
    X, Y, J = i["X"], i["Y"], i["J"]
    hamming_distances = {
        "d(X,Y)": REPLACE.distance(X, Y),
        "d(X,J)": REPLACE.distance(X, J),
        "d(Y,J)": REPLACE.distance(Y, J),
    }
    return {
        **hamming_distances,
        "l1_hist(X,Y)": ADD_REMOVE.distance(X, Y),
        "l1_hist(X,J)": ADD_REMOVE.distance(X, J),
    }


def s005(i: dict[str, Any]) -> dict[str, float]:
    chained = Channel.randomized_response(i["eps1"]).compose(Channel.randomized_response(i["eps2"]))
    return {"p_truth": float(chained.rows[0][0]), "epsilon": chained.epsilon()}


def s013(i: dict[str, Any]) -> dict[str, float]:
    response = Channel.randomized_response(i["eps"])
    ratios = {
        f"prior{p}": float(response.posterior((1 - Fraction(p), Fraction(p)), 1)[1] / Fraction(p))
        for p in ("0.5", "0.01")
    }
    return {**ratios, "bound": math.exp(response.epsilon())}


def s016(i: dict[str, Any]) -> dict[str, float]:
    channel = Channel([i["P"], i["Q"]])
    return {"max_abs_ln_cdf_ratio": channel.cdf_ratio(), "max_abs_ln_pmf_ratio": channel.epsilon()}


def s021(i: dict[str, Any]) -> dict[str, float]:
    laplace, normal = forms.laplace_loss(i["lap_b"]), forms.gaussian_loss(i["gauss_sigma"])
    atoms = {
        "lap_P(L=1)": laplace.at_largest,
        "lap_P(L=-1)": laplace.at_smallest,
        "lap_mean": laplace.mean,
    }
    return {**atoms, "gauss_mean": float(normal.mean), "gauss_var": float(normal.variance)}


def s026(i: dict[str, Any]) -> dict[str, float]:
    names = {"tv": "tv", "chi2": "chi2", "hellinger2": "hellinger", "js": "jensen-shannon"}
    return {key: div.f_divergence(name, i["P"], i["Q"]) for key, name in names.items()}


def s027(i: dict[str, Any]) -> dict[str, float]:
    cells = {"q1|23": [[0], [1, 2]], "q12|3": [[0, 1], [2]], "q13|2": [[0, 2], [1]]}
    return {"full": div.kl(i["P"], i["Q"])} | {
        key: div.quantised_f_divergence("kl", i["P"], i["Q"], parts) for key, parts in cells.items()
    }


def power_divergence(order: int) -> float:
    """D_f of the coin toss for f(t) = t^α − 1."""
    return div.f_divergence(lambda t: t**order - 1, P, Q)


def s028(i: dict[str, Any]) -> dict[str, float]:
    order = i["alpha"]
    mean = sum(q * (p / q) ** order for p, q in zip(P, Q, strict=True))
    return {
        "E_q[(p/q)^2]": mean,
        "D_f(t^2-1)": power_divergence(order),
        "exp((a-1)Da)": math.exp((order - 1) * div.renyi(P, Q, order)),
    }


def s030(i: dict[str, Any]) -> dict[str, float]:
    """B is what lies above 1; a shift by one standard deviation."""
    divergence = forms.gaussian_renyi(i["alpha"], [1], [[1]])
    return {
        "lhs": Normal(sigma=1, location=1).tail(1),
        "rhs": preservation_bound(i["alpha"], divergence, Normal(sigma=1).tail(1)),
    }


def s031(i: dict[str, Any]) -> dict[str, float]:
    half, full, variance = [Fraction(1, 2)], [1], [[1]]
    first_order, second_order = triangle_orders(i["alpha"], i["p"])
    bound = triangle_bound(
        i["alpha"],
        i["p"],
        forms.gaussian_renyi(first_order, half, variance),
        forms.gaussian_renyi(second_order, half, variance),
    )
    return {"lhs": forms.gaussian_renyi(i["alpha"], full, variance), "rhs": bound}


def s035(i: dict[str, Any]) -> dict[str, float]:
    response, laplace, gaussian = forms.renyi_table(
        i["alpha"], truth=i["p"], scale=i["lambda"], sigma=i["sigma"]
    )
    assert gaussian.pure == math.inf
    return {
        "rr": response.renyi,
        "rr_pure": response.pure,
        "lap": laplace.renyi,
        "lap_pure": laplace.pure,
        "gauss": gaussian.renyi,
    }


def s036(i: dict[str, Any]) -> dict[str, list[float]]:
    curves = forms.renyi_curves(i["alpha"], truth=0.6, scale=2, sigma=2)
    return dict(zip(("rr_0.6", "lap_2", "gauss_2"), curves.values(), strict=True))


def angie(i: dict[str, Any]) -> Channel:
    """Whether Angie failed → the noisy number of those of two who passed, the other failing with
    the same chance; noise beyond ±1 is one answer.
    """
    fail, noise = (
        Fraction(str(i["prior"])),
        {int(z): Fraction(str(p)) for z, p in i["noise"].items()},
    )
    passed = Channel({True: (fail, 1 - fail, 0), False: (0, fail, 1 - fail)})
    rest = 1 - sum(noise.values())
    return passed.compose(
        Channel(
            [[*(noise.get(y - count, 0) for y in range(-1, 4)), rest] for count in range(3)],
            outputs=[*range(-1, 4), "beyond"],
        )
    )


def s125(i: dict[str, Any]) -> dict[str, Fraction]:
    channel, prior = angie(i), {True: i["prior"], False: 1 - i["prior"]}
    return {
        "P(ans=1|AF)": channel.row(True)[2],
        "P(ans=1)": channel.marginal(prior)[1],
        "posterior": channel.posterior(prior, 1)[True],
    }


def e09(i: dict[str, Any]) -> dict[str, float]:
    e, loss = i["eps"], forms.gaussian_loss(i["sigma"])
    delta = sf.GDP(1 / Fraction(i["sigma"])).delta(e)
    tails = {
        "P(L>1)": loss.tail(e),
        "P(|L|>1)": loss.tail(e) + 1 - loss.tail(-e),
        "P(L>2)": loss.tail(e + 1),
    }
    return {"delta": delta, **tails, "bound": delta / -math.expm1(-1)}


def e10(i: dict[str, Any]) -> dict[str, float]:
    n, delta = i["N"], Fraction(str(i["delta"]))
    p, q = [Fraction(1, n)] * n + [Fraction(0)] * n, [Fraction(0)] * n + [Fraction(1, n)] * n
    return {
        "pointwise_ok": all(a <= delta + b for a, b in zip(p, q, strict=True)),
        "true_delta": div.hockey_stick(p, q, 0),
    }


def e17(i: dict[str, Any]) -> dict[str, float]:
    """E_X[(p/q)^α] is E_Y[(p/q)^(α + 1)], so the wrong measure gives a multiple of the next
    order.
    """
    order = i["alpha"]
    return {
        "wrong_E_X": order * div.renyi(P, Q, order + 1) / (order - 1),
        "correct": div.renyi(P, Q, order),
    }


def e45(i: dict[str, Any]) -> dict[str, float]:
    """The first of three pieces of ∫ p^α q^(1−α), p a Laplace density at 0 and q at 1, over (−∞,
    0]; the other two make the whole right.
    """
    a, b = i["alpha"], i["b"]
    correct = math.exp((a - 1) / b) / 2  # ∫ e^(αx/b − (α−1)(x−1)/b) dx / (2b)
    printed = math.exp(-(a - 1) / b) / 2 / (2 * a - 1)  # the same with + before (α−1)(x−1)/b
    rest = math.exp(-a / b) / 2 + math.exp(-a / b) * (math.exp((2 * a - 1) / b) - 1) / (
        2 * (2 * a - 1)
    )
    assert math.log(correct + rest) / (a - 1) == pytest.approx(forms.laplace_renyi(a, b), rel=1e-12)
    assert math.log(printed + rest) / (a - 1) < forms.laplace_renyi(a, b)
    return {"printed": printed, "correct": correct}


EVALUATE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "E-45": e45,
    "S-001": s001,
    "S-002": lambda i: hamming(i["x"], i["y"]),
    "S-003": lambda i: {key: l1_distance(i["x"], i[key]) for key in ("add", "replace")},
    "S-005": s005,
    "S-013": s013,
    "S-016": s016,
    "S-021": s021,
    "S-022": lambda i: div.max_divergence(i["P"], i["Q"]),
    "S-023": lambda i: div.approx_max_divergence(i["P"], i["Q"], i["delta"]),
    "S-024": lambda i: div.kl(i["P"], i["Q"]),
    "S-025": lambda i: [div.renyi(P, Q, order) for order in i["alpha"]],
    "S-026": s026,
    "S-027": s027,
    "S-028": s028,
    "S-029": lambda i: [div.renyi(P, Q, order) for order in (1, 1.5, 2, 5, math.inf)],
    "S-030": s030,
    "S-031": s031,
    "S-032": lambda i: forms.gaussian_renyi(i["alpha"], i["d"], i["Sigma"]),
    "S-032b": lambda i: forms.gaussian_variance(i["alpha"], i["eps"], i["L"]),
    "S-033": lambda i: [forms.randomized_response_renyi(order, i["p"]) for order in (1, 2, 10)],
    "S-034": lambda i: [forms.laplace_renyi(order, i["b"]) for order in (1, 2, 5, 10, 100)],
    "S-035": s035,
    "S-036": s036,
    "S-125": s125,
    "E-36": lambda i: s125(i)["posterior"],
    "E-09": e09,
    "E-10": e10,
    "E-17": e17,
    "E-24": lambda i: {
        "gauss": forms.gaussian_renyi(i["alpha"], [1], [[i["sigma"] ** 2]]),
        "lap": forms.laplace_renyi(i["alpha"], i["b"]),
    },
    "E-25": lambda i: {
        "D_f": power_divergence(i["alpha"]),
        "exp": math.exp((i["alpha"] - 1) * div.renyi(P, Q, i["alpha"])),
    },
    "E-35": lambda i: ADD_REMOVE.distance(i["x"], i["x2"]),
    "E-48": lambda i: {
        "printed_ratio": i["prior"] / i["posterior"],
        "two_sided_ln": belief_shift(i["prior"], i["posterior"]),
    },
    "laplace_rdp": lambda i: forms.laplace_renyi(i["alpha"], i["scale"]),
    "rr_rdp": lambda i: forms.randomized_response_renyi(i["alpha"], i["p"]),
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


def test_S_015_the_density_ratio_of_laplace_is_its_loss() -> None:
    """The densities of a Laplace law and its shift by 1, on any grid: no ln p/q exceeds 1, and
    every mechanism's claim of less is wrong somewhere.
    """
    here, there = ContinuousLaplace(scale=1), ContinuousLaplace(scale=1, location=1)
    points = [k / 16 for k in range(-160, 161)]
    losses = [math.log(here.pdf(x) / there.pdf(x)) for x in points]
    assert max(losses) == pytest.approx(1, abs=1e-12) == -min(losses)
    assert max(losses) <= float(mech.Laplace(sensitivity=1, scale=1).promise.epsilon()) + 1e-12
    assert max(losses) > float(mech.Laplace(sensitivity=1, scale="1.01").promise.epsilon())


def test_S_132_the_best_attacker_of_the_coin_toss() -> None:
    assert (
        Channel.coin_toss().attacker("yes", "no").total_error
        == Fraction(1, 2)
        == 2 / Fraction(1 + 3)
    )


def test_E_09_delta_is_not_the_tail() -> None:
    """Printed as an equivalence, in two forms: the mechanism is (1, 0.127)-DP, and both tails are
    far above that.
    """
    numbers = e09({"sigma": 1, "eps": 1})
    assert not numbers["P(L>1)"] <= numbers["delta"]
    assert not numbers["P(|L|>1)"] <= numbers["delta"]
    assert numbers["P(L>2)"] <= numbers["bound"]


def test_E_17_E_25_the_printed_formulas_give_other_numbers() -> None:
    wrong, right = e17({"alpha": 2}).values()
    assert wrong > 2 * right
    assert power_divergence(2) == pytest.approx(math.exp(div.renyi(P, Q, 2)) - 1)
    assert power_divergence(2) != pytest.approx(math.exp(div.renyi(P, Q, 2)))
    inner = div.f_divergence(lambda t: (ball(t).log() * ball(2)).exp() - 1, P, Q)
    assert inner == pytest.approx(power_divergence(2))


def test_E_24_the_curves_of_figure_3_1_do_not_stay_below_one() -> None:
    curves = s036({"alpha": [16, 32]})
    assert curves["gauss_2"] == [2.0, 4.0]


def test_E_36_the_posterior_is_rounded_wrongly_in_print() -> None:
    """0.43 is printed for 14/33."""
    posterior = s125(next(oracle for oracle in THEME if oracle.id == "S-125").inputs)["posterior"]
    assert posterior == Fraction(14, 33)
    assert round(float(posterior), 2) == 0.42


def test_E_48_full_disclosure_passes_the_printed_bound() -> None:
    prior, posterior = Fraction(1, 10), Fraction(1)
    assert prior / posterior <= math.exp(0)
    assert not belief_shift(prior, posterior) <= 2


def test_E_50_the_coin_toss_is_no_statement_about_add_remove() -> None:
    assert ADD_REMOVE.distance(("yes",), ("no",)) == 2
    assert not ADD_REMOVE.are_neighbours(("yes",), ("no",))
    assert REPLACE.are_neighbours(("yes",), ("no",))
