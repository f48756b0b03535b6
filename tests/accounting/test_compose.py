"""`sf.compose`: what may be written, what is refused, and what it comes to."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.accounting import advanced, optimal


def test_the_example_of_the_interface() -> None:
    m = mech.Laplace(sensitivity=1, epsilon=0.1)
    total = sf.compose([(m, 100), (sf.GDP(0.1), 20)])
    assert isinstance(total, sf.Loss)
    assert total.epsilon_lower(1e-9) <= total.epsilon(1e-9)
    assert total.delta_lower(1.0) <= total.delta(1.0)
    assert total.epsilon(1e-9) - total.epsilon_lower(1e-9) < 1e-4 * total.epsilon(1e-9)


def test_it_undercuts_every_theorem_in_closed_form() -> None:
    """k = 100, ε = 0.01, δ = 10⁻⁶: Laplace noise on a fine grid loses less than the worst ε-DP
    mechanism, and that less than the theorems say.
    """
    fine = mech.Laplace(sensitivity=1, epsilon="0.01", grid=2**-20)
    total = sf.compose([(fine, 100)]).epsilon("1e-6")
    kov = float(optimal("0.01", 100, delta="1e-6").parameters["epsilon"])
    drv = float(advanced("0.01", 100, "1e-6").parameters["epsilon"])
    assert total < kov < drv < 1
    assert sf.compose([(sf.Pure("0.01"), 100)]).epsilon("1e-6") == pytest.approx(kov, rel=1e-12)


def test_integers_lose_more_than_a_fine_grid() -> None:
    """The case that peers take for continuous: 5.0908 on a fine grid, 5.1000 on integers."""
    fine, integers = ({"grid": 2**-20}, {})
    schedules = [
        [
            (mech.Laplace(sensitivity=1, scale=50, **g), 1000),
            (mech.Gaussian(sensitivity=1, sigma=50, **g), 1000),
        ]
        for g in (fine, integers)
    ]
    totals = [sf.compose(schedule) for schedule in schedules]
    assert totals[0].epsilon_lower("1e-8") <= 5.0907632 <= totals[0].epsilon("1e-8") < 5.09077
    assert round(totals[1].epsilon("1e-8"), 3) == round(totals[1].epsilon_lower("1e-8"), 3) == 5.1


def test_steps_may_be_written_alone() -> None:
    m = mech.RandomizedResponse(epsilon=1, categories=list("abc"))
    assert sf.compose([m, m]) == sf.compose([(m, 2)])
    assert sf.compose([mech.RandomizedResponse.coin_toss()]).epsilon() == pytest.approx(
        1.0986122886681098
    )


def test_other_mechanisms_count_by_their_promise() -> None:
    e = mech.Exponential(sensitivity=1, epsilon=1)
    assert sf.compose([(e, 3)]).epsilon() == 3


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: sf.compose([]), "composition.empty"),
        (lambda: sf.compose(sf.Pure(1)), "composition.schedule"),
        (lambda: sf.compose([1]), "composition.schedule"),
        (lambda: sf.compose([(sf.Pure(1), 2, 3)]), "composition.schedule"),
        (lambda: sf.compose([(sf.Pure(1), 0)]), "guarantee.count"),
        (lambda: sf.compose([(sf.Pure(1), 1.5)]), "guarantee.count"),
        (lambda: sf.compose([sf.ZCDP(1)]), "loss.no-pair"),
        (lambda: sf.compose([sf.Renyi({2: 1})]), "loss.no-pair"),
        (lambda: sf.compose([mech.DiscreteGaussian(sensitivity=1, rho=1)]), "loss.no-pair"),
        (lambda: sf.compose([sf.RandomDP(sf.Pure(1), "0.1", over="a sample")]), "loss.no-pair"),
    ],
)
def test_what_has_no_pair_is_refused(call: object, code: str) -> None:
    with pytest.raises(sf.Refused) as caught:
        call()
    assert caught.value.code == code
