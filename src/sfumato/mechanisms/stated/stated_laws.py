"""What a mechanism states about its law, as plain data that audits and accountants interpret.

*Outputs*    `Mechanism.output_laws(x, y)` states the laws of the output at two inputs:
             `ShiftedNoise`, or `FiniteLaws` on finitely many outcomes.
*Loss*       `Mechanism.loss_pair()` states two laws that are never easier to tell apart than the
             outputs at neighbours: one of the above, or `ResponseOdds` or `SampledRelease`.
*Places*     Of an array that differs at one place only that place is looked at: the others have the
             same law under both inputs, and are independent. "" is the output itself, "[2]" its
             third element.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from operator import index
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, SupportsIndex

import numpy as np

from ...noise.law import SymmetricLaw

if TYPE_CHECKING:
    from ..shared.mechanism import Mechanism

MOST_OUTCOMES = 4096
"""A finite law with more outcomes is not written out."""
Mass = float | Fraction
Run = tuple[Any, Any, float]
"""The first and the last of equally likely points, numbers or one label, and their mass."""


@dataclass(frozen=True, slots=True)
class ShiftedNoise:
    """x + Z and y + Z for integers x and y, in steps of a grid."""

    law: SymmetricLaw
    x: int
    y: int
    place: str = ""
    step: float = 1.0


@dataclass(frozen=True, slots=True)
class FiniteLaws:
    """The probabilities p at x and q at y of finitely many outcomes."""

    outcomes: Sequence[object]
    p: tuple[Mass, ...]
    q: tuple[Mass, ...]
    names: Sequence[str] | None = None  # of the outcomes; their texts by default
    # where the number of an outcome is found in the output; None: the output is the outcome
    place: str | None = None
    bits: tuple[int, ...] = ()  # the bits of a local report that make up an outcome
    doubt: float | None = None  # error of ln of a ratio of masses; None: each is a nearest double

    @classmethod
    def between(
        cls, law_x: Mapping[Any, Mass], law_y: Mapping[Any, Mass], doubt: float | None = None
    ) -> Self:
        """State two laws, each a mapping from outcome to probability."""
        outcomes = list(dict.fromkeys([*law_x, *law_y]))
        p, q = (tuple(law.get(outcome, 0) for outcome in outcomes) for law in (law_x, law_y))
        return cls(outcomes, p, q, doubt=doubt)

    @classmethod
    def between_runs(
        cls, runs_x: Sequence[Run], runs_y: Sequence[Run], grid: Fraction | None
    ) -> Self | None:
        """State two laws given by runs of equally likely points of a grid, point by point; None if
        there are too many points.
        """
        laws = []
        for runs in (runs_x, runs_y):
            law: dict[Hashable, float] = {}
            for first, last, mass in runs:
                points = _points(grid, first, last)
                if len(law) + len(points) > MOST_OUTCOMES:
                    return None
                law |= dict.fromkeys(points, mass / len(points))
            laws.append(law)
        return cls.between(laws[0], laws[1])


def _points(grid: Fraction | None, first: Any, last: Any) -> list[Hashable]:
    if grid is None or isinstance(first, str):
        return [first] if first == last else list(range(int(first), int(last) + 1))
    count = int((Fraction(last) - Fraction(first)) / grid)
    points = [Fraction(first) + i * grid for i in range(min(count, MOST_OUTCOMES) + 1)]
    return [int(p) for p in points] if grid.denominator == 1 else [float(p) for p in points]


class ResponseOdds(NamedTuple):
    """Randomized response: the truth is e^ε times as likely as each other category."""

    epsilon: Fraction
    categories: int


class SampledRelease(NamedTuple):
    """A mechanism behind sampling at a rate."""

    base: Mechanism
    rate: Fraction
    how: Literal["poisson", "fixed"]


OutputLaws = ShiftedNoise | FiniteLaws
LossPair = ShiftedNoise | FiniteLaws | ResponseOdds | SampledRelease


def as_integer(value: object) -> int:
    """Return the value as an integer; raise TypeError for other values, which have no law: a
    mechanism refuses them, or rounds them by its own rules.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, SupportsIndex):
        raise TypeError
    return index(value)


def as_fraction(value: object) -> Fraction:
    """Return the value as a rational number; raise TypeError for other values."""
    if not isinstance(value, Rational | float | Decimal | str):
        raise TypeError
    return Fraction(value)
