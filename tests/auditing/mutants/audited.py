"""Subjects that `sf.audit` and the probes decide, from outputs alone.

*False alarms*  An audit alarms on something correct with probability at most ALPHA, and there are
                fewer than a hundred audits and probes of correct things: below 1e-6 in all. The
                probe of precision finds a grain on half of its draws and counts it on the other
                half, with limits at ALPHA. The probe of latency counts pairs of calls in which one
                took longer, a sign test at ALPHA.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import sfumato as sf
from sfumato.auditing import many
from sfumato.auditing.probes import errors, latency, precision
from sfumato.guarantees import Guarantee

from .case import How

ALPHA = 1e-8

Array = NDArray[Any]
Release = Callable[[Any, int], Any]
"""An input, and how many outputs."""


@dataclass(frozen=True, kw_only=True)
class Audited:
    """Something that gives outputs: a function of an input and of how many outputs are wanted, or a
    mechanism.
    """

    release: Any
    pair: tuple[Any, Any]
    claim: Guarantee | None = None
    samples: int = 20_000
    exact: bool = False
    how: ClassVar[How] = "audit"

    def alarm(self) -> str:
        what = (
            self.release
            if isinstance(self.release, sf.mechanisms.shared.mechanism.Mechanism)
            else many(self.release)
        )
        requested = (
            {"exact": True} if self.exact else {"samples": self.samples, "confidence": 1 - ALPHA}
        )
        result = sf.audit(what, *self.pair, claim=self.claim, **requested)
        return (
            f"ε ≥ {result.epsilon_lower:.3g}: {result.event}"
            if result.verdict == "violated"
            else ""
        )


@dataclass(frozen=True, kw_only=True)
class Precise:
    """Something that gives doubles."""

    release: Release
    pair: tuple[float, float] = (0.0, 1.0)
    how: ClassVar[How] = "audit"

    def alarm(self) -> str:
        result = precision(many(self.release), *self.pair, confidence=1 - ALPHA)
        return str(result) if result.tells else ""


@dataclass(frozen=True, kw_only=True)
class Raising:
    """Something that may raise."""

    function: Callable[[Any], Any]
    inputs: Sequence[Any]
    how: ClassVar[How] = "audit"

    def alarm(self) -> str:
        result = errors(self.function, self.inputs)
        return str(result) if result.tells else ""


@dataclass(frozen=True, kw_only=True)
class Timed:
    """Something that takes time."""

    function: Callable[[Any], Any]
    pair: tuple[Any, Any]
    how: ClassVar[How] = "audit"

    def alarm(self) -> str:
        result = latency(self.function, *self.pair, samples=200, confidence=1 - ALPHA)
        return "time tells the inputs apart" if result.tells else ""


def audited(release: Any, pair: tuple[Any, Any], claim: Any = None, **about: Any) -> Audited:
    return Audited(release=release, pair=pair, claim=claim, **about)


# Chance for releases of which only outputs are seen.


def generator() -> np.random.Generator:
    return np.random.default_rng()


def geometric(scale: float, shape: int | tuple[int, ...]) -> Array:
    """Two-sided geometric noise."""
    p = -np.expm1(-1 / scale)
    noise: Array = generator().geometric(p, shape) - generator().geometric(p, shape)
    return noise


def plain(scale: float) -> Release:
    """A count with such noise."""
    return lambda x, n: x + geometric(scale, n)
