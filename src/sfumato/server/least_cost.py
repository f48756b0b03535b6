"""The least cost of a release. With it the budget bounds the number of questions about the data.

*Part*      of the budget that a release uses: of ε, of ρ, of μ²; of a Rényi curve, the mean over
            its orders. δ does not count, since most releases need none.
*Least*     1 / `most_releases`, within a thousandth for rounding. The parts of all releases add up
            to at most 1, so there are at most 1.002 · `most_releases` of them.
*Free*      A stored answer reads no data and costs nothing, so the limit does not apply to it.
*Library*   The limit does not apply to users of the library, who hold the data.
"""

from __future__ import annotations

from fractions import Fraction

from ..exact.numbers import rounded
from ..guarantees import ZCDP, Guarantee, Renyi
from ..guarantees.stored_guarantee import stored_notion
from ..ledger.exact_totals import Ratios, fractions
from ..session.promises import DELTA_PARTS
from . import server_refusals as refusals

ROUNDING = Fraction(999, 1000)
DIGITS = 6


def part_of(budget: Guarantee, cost: Ratios) -> Fraction:
    """Return the part of a budget that a cost uses."""
    parts = [c / b for c, b in _pairs(budget, fractions(cost)) if b]
    return sum(parts, Fraction(0)) / len(parts) if parts else Fraction(1)


def suffices(part: Fraction, releases: int) -> bool:
    """Whether a release uses at least the required part of the budget."""
    return part * releases >= ROUNDING


def refuse_below(budget: Guarantee, part: Fraction, releases: int) -> None:
    """Refuse a release that uses less of the budget than required."""
    if suffices(part, releases):
        return
    raise refusals.COST_TOO_SMALL(
        releases=releases, part=float(part), enough=least(budget, releases)
    )


def least(budget: Guarantee, releases: int) -> str:
    """Return the JSON text that makes a question cost just enough, in place of `epsilon`, `within`
    or `promise`.
    """
    delta = budget.parameters.get("delta", Fraction(0))
    more = (
        f', "delta": "{_text(delta / DELTA_PARTS)}"'
        if isinstance(delta, Fraction) and delta
        else ""
    )
    if "epsilon" in budget.symbols:
        return f'"epsilon": "{_text(budget.parameters["epsilon"] / releases)}"'
    promise = budget.without_delta().scaled(Fraction(1, releases))
    if isinstance(promise, Renyi):
        # ρ-zCDP is ρ·α at order α; a mechanism's curve may lie below that line: a quarter more
        slopes = [order / value for order, value in promise.curve.items() if value]
        promise = ZCDP(Fraction(5, 4) * len(slopes) / sum(slopes))
    numbers = "".join(
        f', "{name}": "{_text(Fraction(str(value)))}"' for name, value in promise._stored().items()
    )
    return f'"promise": {{"notion": "{stored_notion(promise)}"{numbers}{more}}}'


def _pairs(budget: Guarantee, cost: tuple[Fraction, ...]) -> list[tuple[Fraction, Fraction]]:
    """Pair the numbers of a cost with those of a budget. δ, the last of several, counts only if the
    budget has no other number.
    """
    pairs = list(zip(cost, budget.vector, strict=True))
    return pairs[:-1] if any(b for _, b in pairs[:-1]) else pairs


def _text(value: Fraction) -> str:
    """Format a number, rounded up so that it suffices."""
    return format(rounded(value, "up", DIGITS).normalize(), "f")
