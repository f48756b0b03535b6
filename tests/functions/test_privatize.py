"""Any function of any data: the promise, the noise, the charge before the call, and nothing of the
data but noisy values.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato import sensitivity as sens
from sfumato.functions import Released, SampledNoise
from sfumato.functions.privatize import NoiseRequest, prepare, privatize
from sfumato.sensitivity.kinds import Norms
from sfumato.testing import SeededBits

from ..refusing import refusal

X = np.linspace(0.2, 0.6, 401)


class Untouchable:
    """Data that must not be read."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("data were read")


def forbidden(data: Any) -> float:
    raise AssertionError("the function was called")


def test_the_interface_as_written() -> None:
    n = len(X)
    released = sf.privatize(np.mean, X, epsilon=1, sensitivity=Fraction(1, n), relation="replace")
    assert isinstance(released, Released)
    assert released.promise == sf.Pure(1, relation="replace")
    assert isinstance(released.value, float)
    assert abs(released.value - 0.4) < 40 / n  # false alarm: e^-40
    assert math.log(20) / n < released.error(0.95) < math.log(20) / n * 1.001
    assert released.receipt is None


@pytest.mark.parametrize(
    "data",
    [X, X.tolist(), tuple(X), pd.Series(X), pl.Series(X), (v for v in X.tolist())],
    ids=lambda d: type(d).__name__,
)
def test_data_of_any_kind(data: Any) -> None:
    released = privatize(lambda d: sum(d), data, epsilon=1, sensitivity=1, relation="replace")
    assert abs(released.value - X.sum()) < 40


def test_frames_and_strings() -> None:
    pandas, polars = pd.DataFrame({"x": X}), pl.DataFrame({"x": X})
    for data in (pandas, polars):
        assert (
            abs(
                privatize(lambda d: d["x"].mean(), data, epsilon=1, sensitivity="1/401").value - 0.4
            )
            < 0.1
        )
    words = ["Object A", "Object B"]
    length = privatize(lambda d: max(map(len, d)), words, epsilon=1, sensitivity=20, bounds=(0, 20))
    assert abs(length.value - 8) < 20 * 40


@pytest.mark.parametrize(
    ("promise", "kind"),
    [
        ({"epsilon": "1/2"}, mech.Laplace),
        ({"epsilon": 1, "delta": 1e-6}, mech.Laplace),
        ({"epsilon": 1, "delta": 1e-2}, mech.Gaussian),
        ({"promise": sf.Pure(1)}, mech.Laplace),
        ({"promise": sf.Approx(1, 0)}, mech.Laplace),
        ({"promise": sf.ZCDP("1/2")}, mech.Gaussian),
        ({"promise": sf.GDP(1)}, mech.Gaussian),
        ({"promise": sf.Renyi({2: "1/10"})}, mech.Gaussian),
        ({"promise": sf.Renyi({10: "1/2"})}, mech.Laplace),
    ],
    ids=lambda v: " ".join(f"{k}={x}" for k, x in v.items()) if isinstance(v, dict) else v.__name__,
)
def test_the_promise_chooses_the_law(promise: dict[str, Any], kind: type) -> None:
    """Laplace for Pure; for a Rényi curve and Approx the smaller: at ε = 1 the Gaussian's σ is
    below Laplace's √2 from δ ≈ 0.04 on, so the one at 10⁻² is tested as a vector.
    """
    size = 3 if promise.get("delta") == 1e-2 else None
    f = (lambda d: [1, 2, 3]) if size else np.mean
    assert isinstance(privatize(f, X, sensitivity=1, size=size, **promise).mechanism, kind)


def test_the_law_of_what_comes_out() -> None:
    """By arithmetic: the value is f(data) on the grid plus the mechanism's integer noise, and equal
    bits give equal noise. So neighbours that are Δ apart differ by at most the steps that the
    mechanism's promise counts.
    """
    setup = prepare(NoiseRequest(Fraction(1, 3), 1))
    grid = setup.noise.grid
    assert grid is not None
    for seed in range(20):
        a, b = (
            privatize(
                lambda d: d, x, epsilon=1, sensitivity=Fraction(1, 3), bits=SeededBits(seed)
            ).value
            for x in (0.4, 0.4 + 1 / 3)
        )
        steps = Fraction(b - a) / grid
        assert steps.denominator == 1
        assert isinstance(setup.noise, mech.Laplace)
        assert abs(steps) * grid <= setup.noise.moves
    assert setup.noise.moves / setup.noise.scale == 1


def test_a_function_that_rounds_needs_its_slack() -> None:
    """The twin of the above: a function that is off by more than the slack moves further than its
    sensitivity says, and with the slack it does not.
    """

    def rough(x: float) -> float:
        return math.floor(x * 10 + 0.5) / 10

    def steps(slack: Any) -> bool:
        setup = prepare(NoiseRequest(Fraction(1, 1000), 1, slack=slack))
        grid = setup.noise.grid or Fraction(1)
        a, b = (
            privatize(
                rough, x, epsilon=1, sensitivity=Fraction(1, 1000), slack=slack, bits=SeededBits(5)
            ).value
            for x in (0.0499, 0.0509)
        )
        assert isinstance(setup.noise, mech.Laplace)
        return bool(abs(Fraction(b - a) / grid) * grid <= setup.noise.moves)

    assert not steps(None)
    assert steps("0.05")


def test_vectors_and_arrays() -> None:
    three = privatize(
        lambda d: [d.min(), d.mean(), d.max()],
        X,
        epsilon=1,
        sensitivity=sens.Global(1, relation="replace"),
        size=3,
    )
    assert three.value.shape == (3,)
    assert isinstance(three.mechanism, mech.Laplace)
    assert three.mechanism.moves >= 3
    table = privatize(
        lambda d: np.outer([1, 2], d[:3]), X, promise=sf.ZCDP(1), sensitivity=2, shape=(2, 3)
    )
    assert table.value.shape == (2, 3)
    counts = privatize(
        lambda d: np.histogram(d, bins=4, range=(0, 1))[0],
        X,
        epsilon=1,
        sensitivity=sens.histogram(4, relation="replace"),
        size=4,
    )
    assert counts.value.dtype == np.int64
    assert counts.mechanism == mech.Laplace(sensitivity=2, epsilon=1, size=4, relation="replace")
    assert np.abs(counts.value.sum() - 401) < 400


def test_a_count_is_an_integer() -> None:
    released = privatize(len, X, epsilon=1, sensitivity=sens.count(relation="add-remove"))
    assert type(released.value) is int
    assert released.promise == sf.Pure(1, relation="add-remove")
    assert released.error(0.95) == 3


@pytest.mark.parametrize(
    "f",
    [lambda d: 1 / 0, lambda d: math.nan, lambda d: "17 patients", lambda d: [1, 2, 3]],
    ids=["raises", "nan", "text", "shape"],
)
def test_what_goes_wrong_becomes_the_default(f: Any) -> None:
    bits = SeededBits(3)
    value = privatize(f, X, epsilon=1, sensitivity=1, bounds=(0, 8), bits=bits).value
    assert (
        value
        == privatize(
            lambda d: 4.0, X, epsilon=1, sensitivity=1, bounds=(0, 8), bits=SeededBits(3)
        ).value
    )
    unbounded = privatize(f, X, epsilon=1, sensitivity=1, default=-3, bits=SeededBits(3)).value
    assert (
        unbounded
        == privatize(lambda d: -3.0, X, epsilon=1, sensitivity=1, bits=SeededBits(3)).value
    )


def test_the_released_value_holds_nothing_of_the_data() -> None:
    secret = [123456789.25]
    released = privatize(lambda d: d[0], secret, epsilon=1, sensitivity=1, bounds=(0, 10))
    assert "123456789" not in repr(released)
    assert {name: type(getattr(released, name)) for name in ("value", "mechanism", "receipt")} == {
        "value": float,
        "mechanism": mech.Laplace,
        "receipt": type(None),
    }


def test_the_charge_comes_before_the_call(tmp_path: Path) -> None:
    book = sf.Ledger.open(
        tmp_path / "book", budget=sf.Pure(1), dataset="d", unit="row", relation="replace"
    )
    spent: list[Any] = []

    def f(data: Any) -> float:
        spent.append(book.spent)
        raise ValueError

    released = privatize(f, X, epsilon="3/4", sensitivity=1, relation="replace", ledger=book)
    assert spent == [book.spent]
    assert spent[0].parameters["epsilon"] == Fraction(3, 4)
    assert released.receipt is not None
    assert book.history()[-1].memo == "privatize f"
    with pytest.raises(sf.BudgetExceeded):
        privatize(
            forbidden, Untouchable(), epsilon="1/2", sensitivity=1, relation="replace", ledger=book
        )
    refusal(
        lambda: privatize(
            forbidden,
            Untouchable(),
            epsilon="1/8",
            sensitivity=1,
            relation="add-remove",
            ledger=book,
        ),
        "guarantee.relation",
    )


def test_a_sampled_sensitivity(tmp_path: Path) -> None:
    s = sf.sample_sensitivity(
        np.mean, oracle=np.random.default_rng(2).random, n=401, gamma=0.2, over="uniform records"
    )
    released = privatize(np.mean, X, epsilon=1, sensitivity=s)
    assert released.promise == sf.RandomDP(
        sf.Pure(1, relation="replace"), gamma="1/5", over="uniform records"
    )
    assert isinstance(released.mechanism, SampledNoise)
    assert released.error(0.95) > 0
    book = sf.Ledger.open(
        tmp_path / "book", budget=sf.Pure(9), dataset="d", unit="row", relation="replace"
    )
    refusal(
        lambda: privatize(forbidden, Untouchable(), epsilon=1, sensitivity=s, ledger=book),
        "sensitivity.sampled",
    )
    refusal(lambda: book.charge([released.mechanism]), "guarantee.does-not-follow")
    assert book.spent.parameters["epsilon"] == 0


@pytest.mark.parametrize("kind", [sens.Smooth, sens.Inverse], ids=lambda k: k.__name__)
def test_smooth_and_inverse_have_their_own_mechanism(kind: Any, tmp_path: Path) -> None:
    more: dict[str, Any] = {"delta": 1e-6} if kind is sens.Smooth else {}
    book = sf.Ledger.open(
        tmp_path / "book", budget=sf.Approx(1, 1e-5), dataset="d", unit="row", relation="replace"
    )
    released = privatize(
        "median", X, sensitivity=kind("median", 0, 1), epsilon=1, ledger=book, **more
    )
    assert isinstance(
        released.mechanism, mech.SmoothLaplace if kind is sens.Smooth else mech.InverseSensitivity
    )
    assert released.promise.relation == "replace"
    assert released.receipt is not None
    wrongs: list[tuple[dict[str, Any], str]] = [
        ({"f": np.median}, "privatize.function"),
        ({"f": "mode"}, "privatize.function"),
        ({"promise": sf.ZCDP(1), "epsilon": None, "delta": None}, "privatize.promise"),
        ({"relation": "add-remove"}, "guarantee.relation"),
    ]
    for wrong, code in wrongs:
        call: dict[str, Any] = {
            "f": "median",
            "data": Untouchable(),
            "sensitivity": kind("median", 0, 1),
            "epsilon": 1,
            **more,
            **wrong,
        }
        refusal(partial(privatize, **call), code)


@pytest.mark.parametrize("kind", [sens.Smooth, sens.Inverse], ids=lambda k: k.__name__)
def test_strange_records_do_not_come_out(kind: Any) -> None:
    more: dict[str, Any] = {"delta": 1e-6} if kind is sens.Smooth else {}
    strange: list[Any] = [0.5, math.nan, None, "17 patients", math.inf]
    assert (
        0
        <= abs(
            privatize("median", strange, sensitivity=kind("median", 0, 1), epsilon=1, **more).value
        )
        < 1e9
    )
    with pytest.raises(sf.Failed) as caught:
        privatize(
            "median",
            strange,
            sensitivity=kind("median", 0, 1),
            epsilon=1,
            bits=None,  # type: ignore[arg-type]  # fails after the data are read
            **more,
        )
    assert str(caught.value) == sf.Failed.TEXT
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({}, "privatize.promise"),
        ({"epsilon": 1, "promise": sf.Pure(1)}, "privatize.promise"),
        ({"epsilon": 0}, "number.not-positive"),
        ({"epsilon": 1, "sensitivity": sens.Local(Fraction(1, 100))}, "sensitivity.local"),
        ({"epsilon": 1, "sensitivity": sens.Lipschitz(1, metric="d")}, "sensitivity.metric"),
        ({"epsilon": 1, "sensitivity": None}, "sensitivity.missing"),
        ({"epsilon": 1, "sensitivity": math.inf}, "number.not-finite"),
        ({"epsilon": 1, "sensitivity": [1]}, "number.type"),
        ({"epsilon": 1, "relation": "near"}, "guarantee.relation"),
        ({"epsilon": 1, "bounds": [3, 2]}, "privatize.bounds"),
        ({"epsilon": 1, "size": 2, "shape": (2,)}, "privatize.shape"),
        ({"epsilon": 1, "f": 3}, "privatize.function"),
        ({"epsilon": True}, "number.type"),
    ],
    ids=lambda v: " ".join(map(str, v)) if isinstance(v, dict) else v,
)
def test_refusals_come_before_the_data(more: dict[str, Any], code: str) -> None:
    call = {"f": forbidden, "data": Untouchable(), "sensitivity": 1, **more}
    privatize(
        lambda d: 1, None, epsilon=1, sensitivity=1
    )  # what was prepared for 1 is not taken for True
    refusal(lambda: privatize(**call), code)


def test_what_is_prepared_is_kept_by_value_not_by_name() -> None:
    """Equal numbers of different types, and lists that change, are prepared anew."""
    bounds: Any = [0, 1]
    inside = privatize(lambda d: 5.0, None, epsilon=1, sensitivity="1e-6", bounds=bounds).value
    bounds[1] = 9
    outside = privatize(lambda d: 5.0, None, epsilon=1, sensitivity="1e-6", bounds=bounds).value
    assert inside < 1.01 < 4.99 < outside
    assert (
        privatize(len, X, epsilon=np.float32(0.1), sensitivity=1).promise
        == privatize(len, X, epsilon=0.1, sensitivity=1).promise
    )


def test_the_request_has_the_arguments_of_the_call() -> None:
    arguments = list(inspect.signature(privatize).parameters)
    assert list(NoiseRequest._fields) == [
        name
        for name in arguments
        if name not in ("f", "data", "labels", "ledger", "memo", "share", "bits")
    ]


def test_a_sensitivity_that_changes_is_read_again() -> None:
    """One of the caller's own kind, hashed by its identity, may say something else the second
    time.
    """

    class Mine(Norms):
        def __init__(self, value: int) -> None:
            self.l1 = self.sup = Fraction(value)
            self.l2_squared = Fraction(value) ** 2
            self.relation = None

    mine = Mine(1)
    for value in (1, 1000, 1000):
        mine.__init__(value)  # type: ignore[misc]  # changes the same object
        assert (
            privatize(lambda _: 0.0, [], sensitivity=mine, epsilon=1).mechanism.sensitivity >= value
        )
        assert (
            privatize(
                lambda _: [0.0, 0.0], [], sensitivity=mine, epsilon=1, bounds=(0, 1), size=2
            ).mechanism.sensitivity
            >= value
        )
    released = privatize(lambda _: 0.0, [], sensitivity=Fraction(1, 7), epsilon=1, bounds=(0, 1))
    assert (
        privatize(lambda _: 0.0, [], sensitivity=Fraction(1, 7), epsilon=1, bounds=(0, 1)).mechanism
        is released.mechanism
    )  # what cannot change is kept


COUNTED = {"a": 3, "c": 5, "b": 4, "secret": 9}


@pytest.mark.parametrize(
    "output",
    [COUNTED, pd.Series(COUNTED), pd.Series(COUNTED).sort_values(), Counter(COUNTED)],
    ids=["dict", "Series", "sorted", "Counter"],
)
def test_labels_are_kept_and_only_those_that_are_public(output: Any) -> None:
    """A dictionary or a Series is read by public labels, in whatever order the function gives it; a
    label of the data alone does not come out.
    """
    stated = sens.Global(l1=2, sup=1, integer_valued=True)
    released = privatize(
        lambda _: output,
        X,
        epsilon=1,
        sensitivity=stated,
        labels=["c", "none", "a"],
        bits=SeededBits(1),
    )
    plain = privatize(
        lambda _: [5, 0, 3], X, epsilon=1, sensitivity=stated, size=3, bits=SeededBits(1)
    )
    assert released.value == dict(zip(["c", "none", "a"], plain.value.tolist(), strict=True))
    assert {type(value) for value in released.value.values()} == {int}
    assert released.mechanism == plain.mechanism


@pytest.mark.parametrize(
    "output",
    [{}, None, 3, [1.0, 2.0], {"a": "x"}, pd.DataFrame({"a": [1]}), {"a": [1]}, "ab", forbidden],
    ids=lambda output: type(output).__name__,
)
def test_labels_come_out_whatever_the_function_gives(output: Any) -> None:
    f = output if callable(output) else lambda _: output
    assert list(privatize(f, X, epsilon=1, sensitivity=1, labels=("a", "b"), default=2).value) == [
        "a",
        "b",
    ]


@pytest.mark.parametrize(
    "stated",
    [
        {"labels": []},
        {"labels": ["a", "a"]},
        {"labels": [[1]]},
        {"labels": 3},
        {"labels": [math.nan]},
        {"labels": "ab", "size": 2},
    ],
)
def test_labels_that_are_none(stated: dict[str, Any]) -> None:
    refusal(
        lambda: privatize(forbidden, Untouchable(), epsilon=1, sensitivity=1, **stated),
        "privatize.shape",
    )
