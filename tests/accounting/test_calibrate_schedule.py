"""Noise for a whole schedule."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato import mechanisms as mech


def test_the_total_keeps_the_promise_and_hardly_less_noise_would() -> None:
    schedule = [
        (mech.Gaussian(sensitivity=1, sigma=1).subsample(0.01), 200),
        (mech.Laplace(sensitivity=1, epsilon=1, grid=2**-20), 2),
    ]
    calibrated = sf.calibrate(schedule, sf.Approx(1, 1e-6))
    assert calibrated.total <= sf.Approx(1, 1e-6)
    assert calibrated.total == sf.compose(calibrated.schedule)
    less = [
        (mech.Gaussian(sensitivity=1, sigma=calibrated.factor * 999 / 1000).subsample(0.01), 200)
    ]
    less.append((mech.Laplace(sensitivity=1, scale=calibrated.factor * 999 / 1000, grid=2**-20), 2))
    assert not sf.compose(less) <= sf.Approx(1, 1e-6)
    assert calibrated.total.epsilon("1e-6") > 0.999
    assert "noise ×" in repr(calibrated)


def test_gaussian_noise_alone_is_the_analytic_calibration() -> None:
    calibrated = sf.calibrate(
        [(mech.Gaussian(sensitivity=1, sigma=1), 100)], sf.Approx(1, 1e-6), precision="1e-6"
    )
    joint = mech.Gaussian(sensitivity=10, epsilon=1, delta=1e-6)
    assert float(calibrated.schedule[0][0].sigma) == pytest.approx(float(joint.sigma), rel=2e-6)
    assert calibrated.schedule[0][0].sigma >= joint.sigma


def test_noise_may_shrink() -> None:
    calibrated = sf.calibrate(
        [mech.Laplace(sensitivity=1, epsilon="0.01"), mech.RandomizedResponse(epsilon="0.01")],
        sf.Pure(1),
    )
    assert float(calibrated.factor) == pytest.approx(0.02, rel=1e-3)


def test_it_buys_accuracy() -> None:
    """A hundred Laplace counts at (1, 1e-6): by the tight total each has about three times less
    noise than by an even split.
    """
    calibrated = sf.calibrate(
        [(mech.Laplace(sensitivity=1, epsilon="0.01", grid=2**-20), 100)], sf.Approx(1, 1e-6)
    )
    assert float(calibrated.schedule[0][0].scale) < 60


@pytest.mark.parametrize(
    ("promise", "square"),
    [(sf.Renyi({10: 1, 4: 1}), 50), (sf.ZCDP("1/10"), 50), (sf.GDP("1/2"), 40)],
    ids=str,
)
def test_gaussian_steps_for_a_curve(promise: sf.Guarantee, square: int) -> None:
    """Ten steps of σ cost α·10/(2σ²) at order α, so ρ = 5/σ² and μ² = 10/σ²."""
    calibrated = sf.calibrate([(mech.Gaussian(sensitivity=1, sigma=3), 10)], promise)
    ((step, _),) = calibrated.schedule
    assert isinstance(step, mech.Gaussian)
    assert square <= step.sigma**2 <= square * 1.001
    assert calibrated.total <= promise
    less = mech.Gaussian(sensitivity=1, sigma=step.sigma * 999 / 1000)
    assert not sf.compose([(less, 10)]) <= promise


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (
            lambda: sf.calibrate(
                [(mech.Laplace(sensitivity=1, epsilon=1), 3)],
                sf.RandomDP(sf.Pure(1), "1e-3", over="rows"),
            ),
            "calibrate.promise",
        ),
        (lambda: sf.calibrate([], sf.Approx(1, 1e-6)), "composition.schedule"),
        (lambda: sf.calibrate([(sf.Pure(1), 3)], sf.Approx(1, 1e-6)), "composition.schedule"),
        (
            lambda: sf.calibrate([mech.Exponential(sensitivity=1, epsilon=1)], sf.Approx(1, 1e-6)),
            "calibrate.mechanism",
        ),
        (
            lambda: sf.calibrate([mech.RandomizedResponse.coin_toss()], sf.Approx(1, 1e-6)),
            "calibrate.mechanism",
        ),
        (
            lambda: sf.calibrate([mech.Gaussian(sensitivity=1, sigma=1)], sf.Pure(1)),
            "calibrate.promise",
        ),
    ],
)
def test_refusals(call: object, code: str) -> None:
    with pytest.raises(sf.Refused) as caught:
        call()
    assert caught.value.code == code
