"""The result of an audit: the proven lower bound and the claim."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from ..exact.numbers import Side, rounded
from ..guarantees import GDP, Approx, Guarantee, Pure
from .canonical_outputs import Pair

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Verdict = Literal["holds", "violated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A lower bound on the privacy loss between two inputs, wrong with probability 1 − confidence.

    An `exact` bound is certain for the stated law; the audit does not check that draws follow this
    law. The bounds are those of the event that is shown. In an exact audit they are the largest
    over all events, and the event that is shown is the strongest one against the claim.

    `verdict` is "violated" where the audit refutes the claim, else "holds": an audit can refute a
    claim and cannot prove one.
    """

    what: str
    pair: Pair
    claim: Guarantee
    delta: float
    epsilon_lower: float
    mu_lower: float | None
    verdict: Verdict
    event: str
    direction: str
    samples: int
    confidence: float
    exact: bool
    tried: int = 1  # events that were counted: they share 1 − confidence
    # how often the event occurred, at the input that makes it likelier and at the other
    hits: tuple[int, int] = (0, 0)
    trials: tuple[int, int] = (0, 0)  # draws at these two inputs
    # whether the pair was checked against a sensitivity; if not, the caller vouches for it
    known_neighbours: bool = False
    # a lower limit of the event's chance at the likelier input, an upper limit at the other
    limits: tuple[float, float] = (0.0, 1.0)

    @property
    def claimed_epsilon(self) -> float:
        """The ε that the claim gives at this δ."""
        return self.claim.epsilon(self.delta)

    @property
    def share(self) -> float:
        """The proven part of the claim: of μ for a claim in μ, else of ε at δ."""
        if isinstance(self.claim, GDP) and self.mu_lower is not None:
            claimed, proven = float(self.claim.mu), self.mu_lower
        else:
            claimed, proven = self.claimed_epsilon, self.epsilon_lower
        return proven / claimed if claimed > 0 else float(proven > 0)

    def plot(self) -> Figure:
        """Draw the attacker's two errors below the trade-off curve that the claim allows."""
        from .survey_report import plot_audit

        return plot_audit(self)

    def __str__(self) -> str:
        at = f" at δ = {self.delta:g}" if self.delta else ""
        proven = f"ε ≥ {down(self.epsilon_lower)}{at}"
        if self.mu_lower is not None:
            proven += f", μ ≥ {down(self.mu_lower)}"
        wrong = up(1 - Fraction(repr(float(self.confidence))), 2)
        how = (
            "computed from the stated law"
            if self.exact
            else f"{self.samples:_} draws per input, wrong with probability {wrong}".replace(
                "_", " "
            )
        )
        lines = [
            f"{self.what}: {self.verdict}",
            f"claimed  {self.claim}{f', ε = {self.claimed_epsilon:.6g}{at}' if at else ''}",
            f"proven   {proven}   ({how})",
        ]
        rates = " against ".join(
            f"{hits} of {trials}" for hits, trials in zip(self.hits, self.trials, strict=True)
        )
        chances = f"a chance of {down(self.limits[0])} against {up(self.limits[1])}"
        lines.append(f"event    {self.event}: {chances if self.exact else rates}")
        if self.verdict == "violated" and not isinstance(self.claim, Pure | Approx | GDP):
            lines.append(f"breaks   {self._broken()}")
        between = f"between  {_short(self.pair[0])} and {_short(self.pair[1])}, {self.direction}"
        if self.verdict == "violated" and not self.known_neighbours:
            between += ": refuted if these are neighbours"
        return "\n".join([*lines, between])

    def _broken(self) -> str:
        """Say what the event refutes of a claim that is a curve: the ε at δ, or a point of the
        trade-off.
        """
        low, high = self.limits
        if self.exact and self.epsilon_lower > self.claimed_epsilon:
            return f"the claim allows ε = {up(self.claimed_epsilon)} at δ = {self.delta:g} at most"
        alarm, miss, least = up(high), up(1 - Fraction(low)), down(self.claim.tradeoff(high))
        return (
            f"a bet on this event has false alarms ≤ {alarm} and misses ≤ {miss}; "
            f"the claim requires misses ≥ {least}"
        )


def down(value: float | Fraction, digits: int = 6) -> str:
    """Format a number with so many digits, rounded down."""
    return _figure(value, "down", digits)


def up(value: float | Fraction, digits: int = 6) -> str:
    """Format a number with so many digits, rounded up."""
    return _figure(value, "up", digits)


def _figure(value: float | Fraction, side: Side, digits: int) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value:g}"
    return f"{float(rounded(Fraction(value), side, digits)):.{digits}g}"


def _short(value: object) -> str:
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 60 else f"{text[:57]}…"
