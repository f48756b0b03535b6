"""What an audit found: the bound that is proven, beside the claim."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from ..exact.numbers import Side, rounded
from ..guarantees import GDP, Approx, Guarantee, Pure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Verdict = Literal["holds", "violated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A lower bound on the privacy loss between two inputs that is true, but for a chance of 1 −
    confidence. Where it is `exact` it is certainly true of the law that is stated; that draws
    follow this law is not looked at. The bounds are those of the event that is shown. Of an exact
    audit they are the largest of all events, and the one that is shown says most against the claim.

    `verdict` is "violated" where the claim is refuted, else "holds": an audit can refute a claim
    and cannot prove one.
    """

    what: str
    pair: tuple[Any, Any]
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
    tried: int = 1  # events that were counted: they share what the confidence leaves
    seen: tuple[int, int] = (
        0,
        0,
    )  # how often the event was, at the input that makes it likelier and at the other
    counted: tuple[int, int] = (0, 0)  # of how many draws
    # whether the pair was checked against a sensitivity; else that they are neighbours is the
    # caller's word
    known_neighbours: bool = False
    limits: tuple[float, float] = (
        0.0,
        1.0,
        # the chance of the event is at least the first at the one input, and at most the second at
        # the
        # other
    )

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
        """The claim, what is proven, and the attacker's errors beside the curve that the claim
        allows.
        """
        from .survey_report import picture_of

        return picture_of(self)

    def __str__(self) -> str:
        at = f" at δ = {self.delta:g}" if self.delta else ""
        proven = f"ε ≥ {down(self.epsilon_lower)}{at}"
        if self.mu_lower is not None:
            proven += f", μ ≥ {down(self.mu_lower)}"
        wrong = up(1 - Fraction(repr(float(self.confidence))), 2)
        how = (
            "by arithmetic, of the law that is stated"
            if self.exact
            else f"{self.samples:_} draws a side, wrong with a chance of {wrong}".replace("_", " ")
        )
        lines = [
            f"{self.what}: {self.verdict}",
            f"claimed  {self.claim}{f', ε = {self.claimed_epsilon:.6g}{at}' if at else ''}",
            f"proven   {proven}   ({how})",
        ]
        rates = " against ".join(
            f"{seen} of {of}" for seen, of in zip(self.seen, self.counted, strict=True)
        )
        lines.append(
            f"event    {self.event}: "
            f"{f'a chance of {down(self.limits[0])} against {up(self.limits[1])}' if self.exact else rates}"
        )
        if self.verdict == "violated" and not isinstance(self.claim, Pure | Approx | GDP):
            lines.append(f"breaks   {self._broken()}")
        between = f"between  {_short(self.pair[0])} and {_short(self.pair[1])}, {self.direction}"
        if self.verdict == "violated" and not self.known_neighbours:
            between += ": refuted if these are neighbours"
        return "\n".join([*lines, between])

    def _broken(self) -> str:
        """What of a claim that is a curve the event refutes: the ε at δ, or a point of the
        trade-off.
        """
        low, high = self.limits
        if self.exact and self.epsilon_lower > self.claimed_epsilon:
            return (
                f"ε = {up(self.claimed_epsilon)} at δ = {self.delta:g}, which is what the "
                f"claim leaves"
            )
        alarm, miss, least = up(high), up(1 - Fraction(low)), down(self.claim.tradeoff(high))
        return (
            f"who bets on this event raises false alarms with a chance of {alarm} at most "
            f"and misses with {miss} at most; the claim leaves {least} at least"
        )


def down(value: float | Fraction, digits: int = 6) -> str:
    """A number with so many digits, never more than it is."""
    return _figure(value, "down", digits)


def up(value: float | Fraction, digits: int = 6) -> str:
    """A number with so many digits, never less than it is."""
    return _figure(value, "up", digits)


def _figure(value: float | Fraction, side: Side, digits: int) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value:g}"
    return f"{float(rounded(Fraction(value), side, digits)):.{digits}g}"


def _short(value: Any) -> str:
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 60 else f"{text[:57]}…"
