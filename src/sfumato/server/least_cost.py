"""The least cost of a release, so that the budget bounds how many questions are asked about the
data.

*Part*      of the budget that a release takes: of ε, of ρ, of μ²; of a Rényi curve, the mean over
            its orders. δ does not count, since most releases need none.
*Least*     1 / `most_releases`, within a thousandth for rounding. The parts of all releases
            together are at most 1, so there are at most 1.002 · `most_releases` of them.
*Free*      A stored answer reads no data and costs nothing: it is given whatever it cost when it
            was made.
*Library*   Whoever holds the data is not restricted.
"""

from __future__ import annotations

from fractions import Fraction

from ..accounting.budget_vector import read
from ..errors import Refused
from ..exact.numbers import rounded
from ..guarantees import GDP, ZCDP, Guarantee, Pure, Renyi
from ..ledger.exact_totals import Ratios, fractions
from ..session.promises import PART

ROUNDING = Fraction(999, 1000)
DIGITS = 6


def part_of(budget: Guarantee, cost: Ratios) -> Fraction:
    """Which part of a budget a cost takes."""
    parts = [c / b for c, b in _pairs(budget, fractions(cost)) if b]
    return sum(parts, Fraction(0)) / len(parts) if parts else Fraction(1)


def suffices(part: Fraction, releases: int) -> bool:
    """Whether a release takes as much of the budget as it has to."""
    return part * releases >= ROUNDING


def refuse_below(budget: Guarantee, part: Fraction, releases: int) -> None:
    """Refuse a release that takes less of the budget than it has to."""
    if suffices(part, releases):
        return
    reason = (
        f"a release takes at least 1/{releases} of the budget of its dataset here, and this "
        f"would take {float(part):.3g}; nothing was read, nothing was charged"
    )
    raise Refused("server.least", "the cost", reason, least(budget, releases))


def least(budget: Guarantee, releases: int) -> str:
    """What a question says to take just enough: the text of its JSON that stands for `epsilon`,
    `within` or `promise`.
    """
    delta = budget.parameters.get("delta", Fraction(0))
    more = f', "delta": "{_text(delta / PART)}"' if isinstance(delta, Fraction) and delta else ""
    if isinstance(budget, GDP):
        return (
            f'"promise": {{"notion": "GDP", "mu_squared": "{_text(budget.mu_squared / releases)}"}}'
        )
    if isinstance(budget, ZCDP):
        return f'"promise": {{"notion": "ZCDP", "rho": "{_text(budget.rho / releases)}"{more}}}'
    if isinstance(
        budget,
        Renyi,
        # ρ-zCDP is ρ·α at order α; the curve of a mechanism may lie below that line, so it is a
        # quarter
        # more
    ):
        slopes = [order / value for order, value in budget.curve.items() if value]
        return (
            f'"promise": {{"notion": "ZCDP", "rho": '
            f'"{_text(Fraction(5, 4) * len(slopes) / (releases * sum(slopes)))}"{more}}}'
        )
    return f'"epsilon": "{_text(budget.parameters["epsilon"] / releases)}"'


def _pairs(budget: Guarantee, cost: tuple[Fraction, ...]) -> list[tuple[Fraction, Fraction]]:
    """The numbers of a cost and of a budget that count; δ, the last of several, only where the
    budget has nothing else.
    """
    pairs = list(zip(cost, read(budget), strict=True))
    return (
        pairs if isinstance(budget, Pure | GDP) or not any(b for _, b in pairs[:-1]) else pairs[:-1]
    )


def _text(value: Fraction) -> str:
    """Rounded up, so that it is enough."""
    return format(rounded(value, "up", DIGITS).normalize(), "f")
