"""One call: the record from public things, the data once, the value with its promise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import functions
from sfumato.errors import Refused
from sfumato.functions import (
    Released,
    inverse_sensitivity,
    propose_test_release,
    smooth_sensitivity,
)


def test_the_interface_as_written() -> None:
    x = np.linspace(0.2, 0.4, 400)
    released = sf.propose_test_release("median", x, low=0, high=1, bound=0.5, epsilon=1, delta=1e-6)
    assert released.promise == sf.Approx(1, 1e-6, relation="replace")
    inverse = sf.inverse_sensitivity("median", x, low=0, high=1, epsilon=1)
    assert 0 <= inverse.value <= 1
    assert inverse.promise == sf.Pure(1, relation="replace")


@pytest.mark.parametrize(
    ("function", "statistic", "data", "public", "promise"),
    [
        (
            propose_test_release,
            "median",
            [5] * 400,
            {"low": 0, "high": 9, "grid": 1, "bound": 1, "epsilon": 8, "delta": 1e-6},
            sf.Approx(8, 1e-6),
        ),
        (
            propose_test_release,
            "quantile",
            [5] * 400,
            {"q": 0.3, "low": 0, "high": 9, "grid": 1, "bound": 1, "epsilon": 8, "delta": 1e-6},
            sf.Approx(8, 1e-6),
        ),
        (
            propose_test_release,
            "iqr",
            [5] * 400,
            {"low": 0, "high": 9, "grid": 1, "bound": 1, "epsilon": 8, "delta": 1e-6},
            sf.Approx(8, 1e-6),
        ),
        (
            propose_test_release,
            "mode",
            ["b"] * 400,
            {"categories": "abc", "epsilon": 8, "delta": 1e-6},
            sf.Approx(8, 1e-6),
        ),
        (
            inverse_sensitivity,
            "median",
            [5] * 400,
            {"low": 0, "high": 9, "grid": 1, "epsilon": 8},
            sf.Pure(8),
        ),
        (inverse_sensitivity, "count", [1] * 5 + [0] * 395, {"epsilon": 40}, sf.Pure(40)),
        (inverse_sensitivity, "mode", ["b"] * 400, {"categories": "abc", "epsilon": 8}, sf.Pure(8)),
        (
            smooth_sensitivity,
            "median",
            [5] * 400,
            {"low": 0, "high": 9, "grid": 1, "epsilon": 8, "delta": 1e-6},
            sf.Approx(8, 1e-6),
        ),
        (
            smooth_sensitivity,
            "kth-largest",
            [5] * 400,
            {"k": 100, "low": 0, "high": 9, "grid": 1, "epsilon": 8, "delta": 1e-6},
            sf.Approx(8, 1e-6),
        ),
    ],
    ids=lambda value: (
        value.__name__ if callable(value) else value if isinstance(value, str) else ""
    ),
)
def test_stable_data_give_nearly_the_exact_answer(
    function: Any, statistic: str, data: Any, public: dict[str, Any], promise: sf.Guarantee
) -> None:
    """Wrong only with probability below 10^-6: the data are far from any change."""
    released = function(statistic, data, **public)
    assert isinstance(released, Released)
    assert promise.parameters == released.promise.parameters
    assert released.promise.relation == "replace"
    exact = {"iqr": 0, "mode": "b"}.get(statistic, 5)
    assert released.value == exact if statistic == "mode" else abs(released.value - exact) <= 5


def test_a_refusal_comes_before_the_data() -> None:
    class Forbidden:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("data were read")

    for function in (propose_test_release, inverse_sensitivity, smooth_sensitivity):
        with pytest.raises(Refused) as caught:
            function(
                "mean",
                Forbidden(),
                epsilon=1,
                **({} if function is inverse_sensitivity else {"delta": 1e-6}),
                low=0,
                high=1,
            )
        assert caught.value.code == "statistic.unknown"


def test_what_is_public() -> None:
    assert set(functions.__all__) >= {
        "Released",
        "inverse_sensitivity",
        "propose_test_release",
        "smooth_sensitivity",
    }


STRANGE = ["secret", math.nan, math.inf, [2], 10**400, None, 1j, b"x", {}]


@pytest.mark.parametrize(
    "function",
    [propose_test_release, inverse_sensitivity, smooth_sensitivity],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("record", STRANGE, ids=lambda v: repr(v)[:20])
def test_nothing_is_refused_for_what_a_record_holds(function: Any, record: Any) -> None:
    public: dict[str, Any] = {
        propose_test_release: {"delta": 1e-6, "bound": 1},
        smooth_sensitivity: {"delta": 1e-6},
    }.get(function, {})
    assert isinstance(
        function("median", [1, 2, record], low=0, high=10, epsilon=1, **public), Released
    )


@pytest.mark.parametrize("record", [*STRANGE, np.array([1, 2]), ([],)], ids=lambda v: repr(v)[:20])
def test_nor_in_counts_and_modes(record: Any) -> None:
    assert inverse_sensitivity("count", [1, 0, record], epsilon=1).value in range(4)
    assert inverse_sensitivity("mode", ["a", "b", record], categories="ab", epsilon=1).value in "ab"
    propose_test_release("mode", ["a", "b", record], categories="ab", epsilon=1, delta=1e-6)


def test_rows_of_several_values_are_refused_by_their_public_shape() -> None:
    with pytest.raises(Refused) as caught:
        smooth_sensitivity("median", np.ones((4, 2)), low=0, high=1, epsilon=1, delta=1e-6)
    assert caught.value.code == "privatize.shape"
