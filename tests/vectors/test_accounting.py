"""Published numbers about composition of privacy losses."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.accounting import optimal_curve
from sfumato.accounting.loss.certificate import delta_bounds, epsilon_bounds
from sfumato.accounting.loss.loss_families import response_law
from sfumato.accounting.loss.loss_pairs import LaplacePair
from sfumato.accounting.loss.pairs_sampled import ClonePair
from sfumato.accounting.loss.privacy_loss import Loss
from sfumato.accounting.loss.shuffle_pair import closed_form, closed_form_limit

from . import oracles

THEME = oracles.load("accounting")


def laplace(scale: float, k: int) -> Loss:
    """Continuous Laplace noise, sensitivity 1."""
    return Loss(((LaplacePair(1 / Fraction(scale)), k),))


def middle(loss: Loss, epsilon: float) -> float:
    """The middle of the certificate, which is narrower than the tolerance of the numbers (and of
    which the number itself is an upper end).
    """
    low, high = loss.delta_lower(epsilon), loss.delta(epsilon)
    assert high - low <= 2e-5 * high
    return high


def b05(i: dict[str, Any]) -> dict[str, float]:
    kov = optimal_curve([(sf.Pure(Fraction(1, i["b"])), i["k"])]).delta(i["eps"])
    return {
        "delta": middle(laplace(i["b"], i["k"]), i["eps"]),
        "two_fold": middle(laplace(1, 2), 1),
        "kov_upper": kov,
    }


EVALUATE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "B-05": b05,
    "B-13": lambda i: {
        "eps": float(closed_form(i["eps0"], i["n"], Fraction(str(i["delta"])))),
        "eps0_limit": closed_form_limit(i["n"], Fraction(str(i["delta"]))),
    },
    "laplace_composed_delta": lambda i: middle(laplace(i["scale"], i["k"]), i["eps"]),
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


def test_the_numbers_are_inside_the_certificate() -> None:
    """They were computed on a grid of 10⁻⁴ and are upper bounds, so they may lie above ours by what
    that costs, and not below our lower bound.
    """
    for row in THEME:
        if row.name == "laplace_composed_delta":
            loss, at = laplace(row.inputs["scale"], row.inputs["k"]), row.inputs["eps"]
            assert loss.delta_lower(at) <= row.expected <= loss.delta(at) * (1 + 1e-6)


def test_the_lattice_agrees_with_the_closed_theorems() -> None:
    """The rows of composition.json about optimal composition (KOV), found again by transforms."""
    rows_checked = 0
    for row in oracles.load("composition"):
        if row.name in ("kov_delta", "kov_epsilon"):
            uses = [(response_law(row.inputs["eps"], 2), row.inputs["k"])]
            parameter = Fraction(
                str(row.inputs["eps_global" if row.name == "kov_delta" else "delta"])
            )
            low, high = (delta_bounds if row.name == "kov_delta" else epsilon_bounds)(
                uses, parameter
            )
            assert low * (1 - 1e-9) <= row.expected <= high * (1 + 1e-9)
            assert high - low <= 1e-7 * high
            rows_checked += 1
    assert rows_checked == 5
    low, high = epsilon_bounds([(response_law(0.01, 2), 100)], Fraction("1e-6"))  # S-106, B-08
    assert abs(low - 0.39226394309347234) < 1e-9
    assert abs(high - 0.39226394309347234) < 1e-9
    assert sf.compose([sf.Approx(1, "1e-5").subsample("0.01")]).epsilon("1e-7") == pytest.approx(
        0.01703686323617655, abs=1e-12
    )  # B-14


def test_S_105_ten_responses() -> None:
    """Ten rounds of the composition game with odds of e^0.2."""
    total = sf.compose([(sf.Pure("0.2"), 10)])
    assert total.delta(1) == pytest.approx(0.02473299701, abs=1e-11)


def test_B_13_the_pair_is_several_times_smaller() -> None:
    loss = Loss(((ClonePair(Fraction(1), 100_000), 1),))
    assert (
        0
        < loss.epsilon_lower("1e-6")
        <= loss.epsilon("1e-6")
        < float(closed_form(1, 100_000, "1e-6")) / 4
    )
