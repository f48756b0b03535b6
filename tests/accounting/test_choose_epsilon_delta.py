"""ε and δ together: each bound holds by its own formula, and is not wasteful."""

from __future__ import annotations

from math import exp
from typing import Any

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.errors import Refused


def test_one_count_takes_laplace_noise() -> None:
    choice = sf.choose_epsilon_delta(units=20_000, error=25, advantage=0.1)
    assert choice.delta == pytest.approx(5e-8)
    assert choice.noise == "Laplace"
    assert choice.epsilon == sf.choose_epsilon(error=25)
    assert choice.is_possible


def test_many_counts_take_gaussian_noise() -> None:
    """The mechanism of this ε and δ has the tolerated error; with a hundredth less ε it has not."""
    choice = sf.choose_epsilon_delta(units=20_000, error=50, advantage=0.9, counts=400)
    assert choice.noise == "Gaussian"
    for epsilon, fits in ((choice.epsilon, True), (choice.epsilon * 0.99, False)):
        noise = mech.Gaussian(sensitivity=20, epsilon=epsilon, delta=choice.delta)
        single = mech.Gaussian(sensitivity=1, sigma=noise.sigma)
        assert (single.error(0.95) <= 50) is fits
    assert choice.epsilon < 400 * sf.choose_epsilon(error=50)


def test_the_advantage_is_that_of_the_best_attacker() -> None:
    choice = sf.choose_epsilon_delta(units=100, error=3, advantage=0.2, leaks=0.5)
    e, delta = exp(choice.epsilon_allowed), choice.delta
    assert (e - 1 + 2 * delta) / (e + 1) == pytest.approx(0.2, abs=1e-9)
    assert not choice.is_possible


@pytest.mark.parametrize(
    "arguments",
    [{"units": 0}, {"counts": 0}, {"advantage": "1e-9"}, {"leaks": 0}, {"error": 0}],
    ids=str,
)
def test_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        sf.choose_epsilon_delta(**{"units": 20_000, "error": 25, "advantage": 0.1, **arguments})
