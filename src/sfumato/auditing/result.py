"""What an audit found: the bound that is proven, beside the claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..guarantees import GDP, Guarantee

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Verdict = Literal["holds", "violated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A lower bound on the privacy loss between two inputs that is true, but for a chance of 1 − confidence; certainly true where it is exact.

    `verdict` is "violated" where the claim is refuted, else "holds": an audit can refute a claim and cannot prove one.
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
    seen: tuple[int, int] = (0, 0)  # how often the event was, at the input that makes it likelier and at the other
    counted: tuple[int, int] = (0, 0)  # of how many draws
    limits: tuple[float, float] = (0.0, 1.0)  # the chance of the event is at least the first at the one input, and at most the second at the other

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
        """The claim, what is proven, and the attacker's errors beside the curve that the claim allows."""
        from .report import picture_of

        return picture_of(self)

    def __str__(self) -> str:
        at = f" at δ = {self.delta:g}" if self.delta else ""
        proven = f"ε ≥ {self.epsilon_lower:.6g}{at}"
        if self.mu_lower is not None:
            proven += f", μ ≥ {self.mu_lower:.6g}"
        how = "by arithmetic" if self.exact else f"{self.samples:_} draws a side, wrong with a chance of {1 - self.confidence:.1g}".replace("_", " ")
        lines = [
            f"{self.what}: {self.verdict}",
            f"claimed  {self.claim}{f', ε = {self.claimed_epsilon:.6g}{at}' if at else ''}",
            f"proven   {proven}   ({how})",
        ]
        if self.exact:
            return "\n".join([*lines, f"between  {_short(self.pair[0])} and {_short(self.pair[1])}, {self.direction}"])
        rates = " against ".join(f"{seen} of {of}" for seen, of in zip(self.seen, self.counted, strict=True))
        return "\n".join([*lines, f"event    {self.event}: {rates}", f"between  {_short(self.pair[0])} and {_short(self.pair[1])}, {self.direction}"])


def _short(value: Any) -> str:
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 60 else f"{text[:57]}…"
