"""E3, snapshot: whatever is stored and resumed twice must not add the same noise twice, so it may
hold nothing that noise is made of.
"""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from sfumato import mechanisms as mech
from sfumato.noise import bits

PUBLIC = (Fraction, int, float, str, type(None))

COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}

OURS = {
    "laplace": mech.Laplace(sensitivity=1, scale=2**56),
    "gaussian": mech.Gaussian(sensitivity=1, sigma=2**56),
    "laplace on a grid": mech.Laplace(sensitivity=1, scale=1, grid=Fraction(2) ** -56, size=300),
}


class Naive:
    """A mechanism that keeps a generator, as many do."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng()

    def perturb(self, value: Any) -> Any:
        return value + self.generator.laplace(0, 2.0**56, np.shape(value))


def resumed_twice(thing: Any, way: Callable[[Any], Any], value: Any) -> bool:
    """Whether two copies of one snapshot answer alike."""
    snapshot = way(thing)
    return bool(np.any(way(snapshot).perturb(value) == way(snapshot).perturb(value)))


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", OURS)
def test_attack_E3_resumed_twice_answers_differ(name: str, way: str) -> None:
    """By chance two of at most 300 pairs of draws agree with probability below 300·2^-56 <
    5e-15.
    """
    value: Any = np.zeros(300) if OURS[name].size else 0
    assert not resumed_twice(OURS[name], COPIES[way], value)


@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
def test_attack_E3_breaks_a_kept_generator(way: str) -> None:
    assert resumed_twice(Naive(), COPIES[way], 0)
    assert resumed_twice(Naive(), COPIES[way], np.zeros(300))


@pytest.mark.parametrize("name", OURS)
def test_attack_E3_drawing_leaves_no_trace(name: str) -> None:
    """A record before and after a thousand draws is the same bytes; a kept generator is not."""
    m, naive = OURS[name], Naive()
    before, naive_before = pickle.dumps(m), pickle.dumps(naive)
    value: Any = np.zeros(300) if m.size else 0
    for _ in range(1000 if m.size is None else 10):
        m.perturb(value)
        naive.perturb(value)
    assert pickle.dumps(m) == before
    assert pickle.dumps(naive) != naive_before


def holds(thing: Any) -> set[str]:
    """The modules of all that an object refers to, near and far, but for numbers, texts, None,
    classes and modules.
    """
    observed: set[int] = set()
    result, stack = set(), [thing]
    while stack:
        thing = stack.pop()
        if id(thing) not in observed and not isinstance(thing, (*PUBLIC, type, ModuleType)):
            observed.add(id(thing))
            result.add(type(thing).__module__)
            stack += gc.get_referents(thing)
    return result


@pytest.mark.parametrize("name", OURS)
def test_attack_E3_a_record_holds_public_things_only(name: str) -> None:
    """Numbers and texts, and a law made of such. The same search finds the naive one's
    generator.
    """
    m = OURS[name]
    assert holds(m) == {type(m).__module__, type(m.law).__module__}
    assert any("random" in module for module in holds(Naive()))


def test_attack_E3_the_source_of_bits_has_no_state() -> None:
    assert not hasattr(bits.SYSTEM, "__dict__")
    assert type(bits.SYSTEM).__slots__ == ()
    with pytest.raises(AttributeError):
        bits.SYSTEM.key = b"0"
    remaining = [
        name
        for name, thing in vars(bits).items()
        if not name.startswith("__") and "random" in type(thing).__module__
    ]
    assert remaining == []
