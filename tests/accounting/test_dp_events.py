"""Event trees of dp-accounting: by shape, without the package; and its numbers, as version 0.6.0
printed them.
"""

from __future__ import annotations

from dataclasses import make_dataclass
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.accounting.dp_events import EVENTS, from_dp_event
from sfumato.accounting.loss.certificate import epsilon_bounds


def event(name: str, **fields: Any) -> Any:
    return make_dataclass(name, fields)(**fields)


def gaussian(sigma: float) -> Any:
    return event("GaussianDpEvent", noise_multiplier=sigma)


def laplace(scale: float) -> Any:
    return event("LaplaceDpEvent", noise_multiplier=scale)


def times(repeated: Any, count: int) -> Any:
    return event("SelfComposedDpEvent", event=repeated, count=count)


def together(*events: Any) -> Any:
    return event("ComposedDpEvent", events=list(events))


def poisson(rate: float, sampled: Any) -> Any:
    return event("PoissonSampledDpEvent", sampling_probability=rate, event=sampled)


PRINTED = {
    "Laplace and Gaussian": (
        together(times(laplace(5), 20), times(gaussian(3), 10)),
        "1e-6",
        6.859033834032982,
    ),
    "Gaussian": (times(gaussian(5), 100), "1e-9", 13.534772220810153),
    "sampled Gaussian": (times(poisson(0.01, gaussian(1)), 100), "1e-6", 0.9542170826650128),
    "sampled Laplace": (times(poisson(0.1, laplace(2)), 30), "1e-6", 1.1079140010253923),
}
"""An event, δ, and ε by PLDAccountant with value_discretization_interval=1e-5 (dp-accounting
0.6.0): upper bounds, above the truth by less than 10⁻⁶ of it.
"""


@pytest.mark.parametrize("name", PRINTED)
def test_both_agree_where_both_are_right(name: str) -> None:
    tree, delta, printed = PRINTED[name]
    total = from_dp_event(tree)
    assert total.epsilon_lower(delta) <= printed * (1 + 1e-9)
    assert total.epsilon_lower(delta) >= printed * (1 - 3e-5)
    low, high = epsilon_bounds(
        [(pair.law(), count) for pair, count in total.parts], Fraction(delta), width=1e-8
    )
    assert low <= printed
    assert abs(high - printed) <= 1e-6 * printed


def test_where_it_is_wrong_we_are_not() -> None:
    """A bit that is a coin toss with probability ½ keeps odds of 3.
    `PLDAccountant(REPLACE_ONE).compose(event, 10)` printed 1.0987 = ln 3 at δ = 10⁻⁶, the ε of a
    single response: the count is forgotten (ten calls of compose(event) print 10.987). The truth
    for ten is 10.986, just below 10·ln 3.
    """
    total = from_dp_event(
        times(event("RandomizedResponseDpEvent", noise_parameter=0.5, num_buckets=2), 10)
    )
    assert total.epsilon_lower("1e-6") > 10.98 > 9 * 1.0986986666657776
    assert total.epsilon("1e-6") < 10.9862
    assert total.delta_lower(1.0986986666657776) > 0.86, (
        "what it says at its own ε is no promise at all"
    )


def test_relations_follow_from_the_sampling() -> None:
    assert from_dp_event(poisson(0.01, gaussian(1))).relation == "add-remove"
    fixed = event(
        "SampledWithoutReplacementDpEvent",
        source_dataset_size=1000,
        sample_size=10,
        event=gaussian(1),
    )
    assert from_dp_event(fixed).relation == "replace"
    assert from_dp_event(gaussian(1), unit="patient").unit == "patient"
    with pytest.raises(sf.Refused, match=r"guarantee\.relation"):
        from_dp_event(together(fixed, poisson(0.01, gaussian(1))))


def test_a_response_among_many_is_exact() -> None:
    total = from_dp_event(event("RandomizedResponseDpEvent", noise_parameter=0.5, num_buckets=4))
    assert total.epsilon() == pytest.approx(1.6094379124341003)  # ln((½ + ⅛)/⅛)


def test_nothing_costs_nothing_and_the_unknown_is_refused() -> None:
    assert from_dp_event(event("NoOpDpEvent")).epsilon() == 0
    for name in ("ZCDpEvent", "NonPrivateDpEvent", "SingleEpochTreeAggregationDpEvent"):
        with pytest.raises(sf.Refused, match=r"events\.unknown"):
            from_dp_event(event(name))
    with pytest.raises(sf.Refused, match=r"events\.unknown"):
        from_dp_event(poisson(0.1, together(gaussian(1), laplace(1))))
    assert "ZCDpEvent" not in EVENTS
