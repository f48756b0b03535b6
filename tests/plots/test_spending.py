"""The picture of a ledger holds its numbers."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato import plots
from sfumato.errors import Refused
from sfumato.ledger import course


def test_the_whole_the_shares_and_the_budget() -> None:
    led = sf.Ledger.open(
        budget=sf.Approx(1, 1e-6), dataset="visits", unit="user_id", relation="add-remove"
    )
    led.charge(sf.Pure(0.25))
    led.allow("alice", sf.Approx(0.5, 1e-6))
    led.charge(sf.Approx(0.25, 5e-7), share="alice")
    led.amend(sf.Approx(2, 1e-6), "more")
    epsilon, delta = plots.spending(course(led), title="").axes
    assert (epsilon.get_ylabel(), delta.get_ylabel()) == ("ε", "δ")
    spent, alice, promised = epsilon.lines
    np.testing.assert_array_equal(spent.get_ydata(), [0, 0.25, 0.25, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(alice.get_ydata(), [0, 0, 0, 0.25, 0.25, 0.25])
    np.testing.assert_array_equal(promised.get_ydata(), [1, 1, 1, 1, 2, 2])
    np.testing.assert_array_equal(delta.lines[0].get_ydata(), [0, 0, 0, 5e-7, 5e-7, 5e-7])


def test_a_curve_shows_the_order_that_binds() -> None:
    led = sf.Ledger.open(
        budget=sf.Renyi({2: 1, 8: 2}), dataset="visits", unit="user_id", relation="add-remove"
    )
    led.charge(sf.Renyi({2: 0.1, 8: 1}))
    (axes,) = plots.spending(course(led), title="").axes
    assert axes.get_ylabel() == "D at α = 8"


def test_nothing_cannot_be_drawn() -> None:
    with pytest.raises(Refused) as caught:
        plots.spending((), title="")
    assert caught.value.code == "plots.empty"
