"""A value that may be published, and what was promised for it."""

from __future__ import annotations

import dataclasses

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.errors import Refused
from sfumato.functions import Released


def test_the_promise_is_the_mechanisms() -> None:
    m = mech.Laplace(sensitivity=1, epsilon="1/2", unit="patient")
    released = Released(42, m)
    assert released.value == 42
    assert released.promise == sf.Pure("1/2", unit="patient")
    assert released.error(0.95) == m.error(0.95) == 6


def test_an_error_that_would_depend_on_the_data_is_not_given() -> None:
    released = Released(0.5, mech.SmoothLaplace("median", low=0, high=1, epsilon=1, delta=1e-6))
    with pytest.raises(Refused) as caught:
        released.error()
    assert caught.value.code == "released.error"


def test_it_cannot_be_changed() -> None:
    released = Released(1, mech.Laplace(sensitivity=1, epsilon=1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        released.value = 2  # type: ignore[misc]  # frozen


def test_it_shows_its_value() -> None:
    m = mech.Laplace(sensitivity=1, epsilon="1/2")
    assert repr(Released(42, m)).splitlines() == ["released 42 · ε = 0.5", repr(m)]
    assert repr(Released(None, m)).startswith("released no answer · ")
