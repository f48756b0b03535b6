"""Accounts of training elsewhere: the certified total, against known values, and one charge."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.errors import Refused


def test_the_total_is_that_of_sampled_gaussians() -> None:
    """The published value for q = 0.001, σ = 1 and 10,000 steps (docs/guides/budgets/accounting.md)
    lies between the certified bounds.
    """
    training = sf.learn.account(sampling_rate="0.001", noise_multiplier=1, steps=10_000)
    assert training.loss.epsilon_lower(1e-6) <= 0.5551397 <= training.epsilon(1e-6) < 0.5552
    step = mech.Gaussian(sensitivity=1, sigma=1).subsample("0.001")
    assert training.epsilon(1e-6) == pytest.approx(sf.compose([(step, 10_000)]).epsilon(1e-6))


def test_without_sampling_it_is_one_gaussian() -> None:
    training = sf.learn.account(sampling_rate=1, noise_multiplier=20, steps=100)
    assert training.epsilon(1e-6) == pytest.approx(sf.GDP("0.5").epsilon(1e-6), rel=1e-3)


def test_a_ledger_is_charged_before_training() -> None:
    training = sf.learn.account(sampling_rate="0.01", noise_multiplier=2, steps=500, unit="patient")
    ledger = sf.Ledger.open(
        None, budget=sf.Approx(2, 1e-5), dataset="scans", unit="patient", relation="add-remove"
    )
    receipt = training.charge(ledger, delta="1e-6", memo="a network")
    assert receipt.memo == "a network"
    assert receipt.cost == training.promise("1e-6")
    assert ledger.spent.parameters["epsilon"] >= training.loss.epsilon_lower("1e-6")
    with pytest.raises(sf.BudgetExceeded):
        sf.learn.account(sampling_rate="0.5", noise_multiplier=1, steps=500, unit="patient").charge(
            ledger
        )
    assert "500 gradients" in repr(training)
    assert "patient, add-remove" in repr(training)


def test_refusals() -> None:
    for rate, noise, steps in ((0, 1, 1), (1.5, 1, 1), (0.1, 0, 1), (0.1, 1, 0), (0.1, 1, 2.5)):
        with pytest.raises(Refused):
            sf.learn.account(sampling_rate=rate, noise_multiplier=noise, steps=steps)
