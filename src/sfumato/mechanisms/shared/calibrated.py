"""Calibration: a user sets the noise by exactly one of several arguments (its scale, a promise that
it keeps, an error that it stays within), and a record stores the scale that follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple, Protocol

from ...exact.numbers import Number, positive
from ...guarantees.gdp import largest_mu
from ...records import PARTIAL
from . import mechanism_refusals as refusals


class Way(NamedTuple):
    """The argument that sets the noise: its name, its value, and the arguments that belong to it:
    the δ of an ε, the confidence of an error.
    """

    name: str
    value: Number
    delta: Number | None = None
    confidence: Number = 0.95


class Calibrated(Protocol):
    """A record with a field that is solved from a way."""

    def _solve(self, way: Way) -> Fraction:
        """Return the field's value, from the fields before it and the way."""


def solve(way: Way, record: Calibrated = PARTIAL) -> Fraction:
    """Convert a way to the value of a field: the hook of all calibrated records."""
    return record._solve(way)


def choose_way(
    example: str,
    ways: Mapping[str, Number | None],
    *,
    delta: Number | None = None,
    confidence: Number = 0.95,
) -> Way:
    """Check that exactly one way is set, and return it. `example` is a call that passes."""
    chosen = [(name, value) for name, value in ways.items() if value is not None]
    if len(chosen) != 1:
        raise refusals.NOT_EXACTLY_ONE_PARAMETER(
            mechanism=example.partition("(")[0],
            given=", ".join(f"{name}=…" for name, _ in chosen),
            parameters=", ".join(ways),
            example=example,
        )
    return Way(*chosen[0], delta, confidence)


def squared_mu(way: Way) -> Fraction:
    """Return the μ² that a way asks for: of an ε and a δ, a ρ, a μ or a μ²."""
    match way.name:
        case "epsilon" if way.delta is not None:
            return largest_mu(way.value, way.delta) ** 2
        case "rho" | "renyi":  # of a Rényi curve, the ρ of the line below it
            return 2 * positive(way.value, "rho")
        case "mu":
            return positive(way.value, "mu") ** 2
        case "mu_squared":
            return positive(way.value, "mu_squared")
    raise AssertionError(way.name)


def check_delta_of(way: Way, example: str) -> None:
    """Refuse an ε without its δ, and a δ without an ε."""
    if (way.delta is None) == (way.name == "epsilon"):
        raise refusals.EPSILON_AND_DELTA_APART(mechanism=example.partition("(")[0], example=example)
