"""How things are run: many independent draws of everything, errors as outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.auditing import many
from sfumato.auditing.canonical_outputs import Error, read_outputs
from sfumato.auditing.catalogue import CATALOGUE
from sfumato.auditing.runners import draw_many, runner_of
from sfumato.errors import Refused
from sfumato.guarantees.finite.channel import Channel
from sfumato.mechanisms.stated.audit_example import AuditExample


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_everything_of_the_catalogue_gives_as_many_outputs_as_asked_for(
    entry: AuditExample,
) -> None:
    m = entry.build(1.0)
    for x, y in entry.pairs(m)[:2]:
        for value in (x, y):
            drawn = runner_of(m).draw(value, 12)
            assert len(read_outputs(drawn)) == 12
            assert not any(isinstance(output, Error) for output in drawn)
            assert isinstance(drawn, np.ndarray) or not entry.at_once


def test_draws_are_independent() -> None:
    """Two equal neighbours of 500 draws among 2^20 and more values have a chance below 10⁻³; ten of
    them one below 10⁻³⁰.
    """
    drawn = draw_many(mech.Laplace(sensitivity=2**30, epsilon=1), 0, 500)
    assert (np.diff(drawn) == 0).sum() < 10


def test_an_error_is_an_output() -> None:
    def sometimes(x: int) -> int:
        if x:
            raise KeyError("a secret")
        return 1

    assert runner_of(sometimes).draw(1, 3) == [Error("KeyError")] * 3
    assert runner_of(sometimes).draw(0, 2) == [1, 1]
    assert draw_many(mech.Laplace(sensitivity=1, epsilon=1), "text", 2) == [Error("Refused")] * 2


def test_several_and_subsampled_run_their_parts() -> None:
    both = mech.Combined(
        [mech.Laplace(sensitivity=1, epsilon=1), mech.Gaussian(sensitivity=1, mu=1)]
    )
    assert len(both.draw_once(5)) == 2
    fixed = mech.Laplace(sensitivity=1, epsilon=50, relation="replace").subsample(size=2, of=4)
    assert abs(fixed.draw_once([10, 10, 10, 10]) - 20) < 10
    poisson = mech.Laplace(sensitivity=1, epsilon=50).subsample("1/2")
    sums = [poisson.draw_once([1] * 20) for _ in range(50)]
    assert len(set(sums)) > 3


def test_a_channel_is_drawn_from() -> None:
    channel = Channel({"x": {"a": 1, "b": 0}, "y": {"a": "1/2", "b": "1/2"}})
    assert set(runner_of(channel).draw("x", 20)) == {"a"}
    assert set(runner_of(channel).draw("y", 60)) == {"a", "b"}  # missed with a chance of 2^-59


def test_many_is_called_once() -> None:
    calls: list[int] = []

    def batch(x: int, n: int) -> Any:
        calls.append(n)
        return np.full(n, x)

    sf.audit(many(batch), 0, 0, claim=sf.Pure(1), samples=100)
    assert calls == [100, 100]


def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(Refused, match=r"audit\.what"):
        runner_of(3)


@pytest.mark.parametrize(
    "returned",
    [
        3.0,
        "abc" * 10,
        {"a": 1},
        np.float64(1),
        np.array(1.0),
        [1, 2],
        np.zeros(29),
        None,
        iter([1]),
    ],
    ids=lambda v: type(v).__name__,
)
def test_many_gives_as_many_as_are_asked_for(returned: Any) -> None:
    with pytest.raises(Refused, match=r"audit\.many"):
        runner_of(many(lambda *_: returned)).draw(0, 30)


def test_what_many_raises_is_an_output_of_every_draw() -> None:
    assert runner_of(many(lambda x, n: [1 // x] * n)).draw(0, 3) == [Error("ZeroDivisionError")] * 3


def test_derived_oracles_and_responses_are_drawn_one_by_one_as_at_once() -> None:
    unary = type("Derived", (sf.local.Unary,), {"__slots__": ()})(
        epsilon=20, categories=[str(i) for i in range(12)]
    )
    drawn = draw_many(unary, "3", 4)
    assert isinstance(drawn, list)
    assert all(bits.shape == (16,) for bits in drawn)
    response = type("Derived", (mech.RandomizedResponse,), {"__slots__": ()})(
        epsilon=50, categories=["a", "b"]
    )
    assert draw_many(response, "b", 3) == [1, 1, 1]  # another with a chance below 10⁻²⁰
