"""Which notion implies which, one line and one theorem each; the best over all chains is what `.to`
returns.

An arrow gives the best constant known. Numbers that are irrational are rounded up, so what an arrow
ends at is always true.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, reduce
from operator import add
from typing import NamedTuple, TypeVar, cast

from flint import arb

from ..errors import Refused
from ..exact.balls import above, ball
from ..exact.numbers import SMALLEST, Number
from .approx import Approx
from .gdp import GDP
from .guarantee import Guarantee
from .mixed import Together
from .pure import Pure, renyi_of_pure
from .renyi import Renyi
from .zcdp import ZCDP

G = TypeVar("G", bound=Guarantee)


class Arrow(NamedTuple):
    start: type[Guarantee]
    end: type[Guarantee]
    theorem: str
    follow: Callable[..., Guarantee | None]
    only_if_nothing: bool = False  # holds for guarantees that promise equal laws, and for no others


def _normal(value: float | Fraction) -> Fraction:
    """A number that may be rounded up, exactly; raised to the smallest that guarantees take where
    it is below that.
    """
    if value == math.inf:
        raise Refused(
            "number.range",
            "a derived number",
            "it is too large for a double",
            "less extreme parameters",
        )
    return max(Fraction(value), SMALLEST) if value > 0 else Fraction(0)


def _pure_zcdp(a: Pure | Approx) -> ZCDP:
    return ZCDP(
        _normal(renyi_of_pure(a.parameters["epsilon"], Fraction(1))), a.parameters.get("delta", 0)
    )


def _pure_gdp(a: Pure) -> GDP:
    """2Φ⁻¹(1/(1 + e^−ε)), written in the lower tail."""
    e = a.parameters["epsilon"]
    return GDP(above(lambda: 2 * arb(2).sqrt() * (2 / (1 + ball(e).exp())).erfcinv()) if e else 0)


def _pure_renyi(a: Pure | Approx) -> Renyi:
    return Renyi(
        lambda order: _normal(renyi_of_pure(a.parameters["epsilon"], order)),
        a.parameters.get("delta", 0),
    )


def _approx_pure(a: Approx) -> Pure | None:
    return None if a.parameters["delta"] else Pure(a.parameters["epsilon"])


def _nothing(a: GDP | ZCDP | Renyi) -> Approx | None:
    numbers = [a.mu_squared] if isinstance(a, GDP) else [a.rho] if isinstance(a, ZCDP) else a.values
    return None if all(numbers) else Approx(0, a.parameters.get("delta", 0))


ARROWS: tuple[Arrow, ...] = (
    Arrow(Pure, Approx, "δ = 0", lambda a: Approx(a.parameters["epsilon"], 0)),
    Arrow(Approx, Pure, "δ = 0", _approx_pure),
    Arrow(
        Pure,
        ZCDP,
        (
            "ρ = ε·tanh(ε/2): randomized response is the worst ε-DP pair, and D_α/α is "
            "largest at α = 1"
        ),
        _pure_zcdp,
    ),
    Arrow(
        Pure,
        GDP,
        "μ = 2Φ⁻¹(e^ε/(1 + e^ε)): the trade-off curves touch in their kink (Dong, Roth & Su 2022)",
        _pure_gdp,
    ),
    Arrow(
        Pure,
        Renyi,
        "randomized response is the worst ε-DP pair (Kairouz, Oh & Viswanath 2015)",
        _pure_renyi,
    ),
    Arrow(
        Approx,
        ZCDP,
        (
            "outside an event of probability δ the pair is ε-DP (Kairouz, Oh & Viswanath "
            "2015; Bun & Steinke 2016)"
        ),
        _pure_zcdp,
    ),
    Arrow(
        Approx,
        Renyi,
        "outside an event of probability δ the pair is ε-DP (Kairouz, Oh & Viswanath 2015)",
        _pure_renyi,
    ),
    Arrow(
        GDP,
        ZCDP,
        "ρ = μ²/2: the divergence of two normals, and data processing (Bun & Steinke 2016)",
        lambda a: ZCDP(_normal(a.mu_squared / 2)),
    ),
    Arrow(
        ZCDP,
        Renyi,
        "D_α ≤ ρ·α, the definition",
        lambda a: Renyi(lambda order: order * a.rho, a.parameters.get("delta", 0)),
    ),
    Arrow(GDP, Approx, "μ = 0: the laws are equal", _nothing, only_if_nothing=True),
    Arrow(ZCDP, Approx, "ρ = 0: the laws are equal, up to δ", _nothing, only_if_nothing=True),
    Arrow(
        Renyi,
        Approx,
        "a divergence of 0: the laws are equal, up to δ",
        _nothing,
        only_if_nothing=True,
    ),
)


def best(guarantee: Guarantee, notion: type[G]) -> G | None:
    """The best statement of `notion` over all chains of arrows, or None where none leads there."""
    if isinstance(guarantee, notion):
        return guarantee
    if isinstance(guarantee, Together):
        parts = [best(part, notion) for part in guarantee.parts]
        if any(part is None for part in parts):
            return None
        try:
            found = cast(G, reduce(add, cast(list[Guarantee], parts)))
        except Refused:  # curves without a common order
            return None
    else:
        own = guarantee._states(notion)
        statements = (
            [own] if isinstance(own, notion) else list(_all(guarantee, notion, (type(guarantee),)))
        )
        if not statements:
            return None
        found = reduce(lambda a, b: a._meet(b), statements)
    return Guarantee._bind(found, guarantee.relation, guarantee.unit)


def _all(guarantee: Guarantee, notion: type[G], passed: tuple[type[Guarantee], ...]) -> Iterator[G]:
    """The ends of all chains. What follows from something is nothing only if that was, so arrows
    for nothing are taken as a first step only.
    """
    if isinstance(guarantee, notion):
        yield guarantee
        return
    for arrow in ARROWS:
        first = len(passed) == 1
        if (
            isinstance(guarantee, arrow.start)
            and arrow.end not in passed
            and (first or not arrow.only_if_nothing)
            and notion in _ahead(arrow.end)
        ):
            further = _followed(arrow, guarantee)
            if further is not None:
                yield from _all(further, notion, (*passed, arrow.end))


def _followed(arrow: Arrow, guarantee: Guarantee) -> Guarantee | None:
    """Where an arrow leads; nowhere, if a number leaves the doubles on the way."""
    try:
        return arrow.follow(guarantee)
    except Refused:
        return None


@cache
def _ahead(start: type[Guarantee]) -> frozenset[type[Guarantee]]:
    """The notions that chains from one lead to, itself among them."""
    found, new = frozenset[type[Guarantee]](), frozenset({start})
    while new:
        found |= new
        new = (
            frozenset(
                arrow.end for arrow in ARROWS if arrow.start in found and not arrow.only_if_nothing
            )
            - found
        )
    return found


def convert(guarantee: Guarantee, notion: type[G], delta: Number | None) -> G:
    """`guarantee.to(notion, delta=…)`."""
    if delta is not None:
        place = f"{guarantee}.to({notion.__name__}, delta={delta})"
        if notion is not Approx:
            raise Refused(
                "guarantee.delta", place, "only Approx takes a δ", f".to({notion.__name__})"
            )
        epsilon = guarantee.epsilon(delta)
        if math.isinf(epsilon):
            raise Refused(
                "guarantee.does-not-follow",
                place,
                "no ε follows at so small a δ",
                ".to(sf.Approx, delta=1e-6)",
            )
        return cast(
            G, Approx(Fraction(epsilon), delta, relation=guarantee.relation, unit=guarantee.unit)
        )
    found = best(guarantee, notion)
    if found is None:
        reason = f"{notion.__name__} does not follow from {type(guarantee).__name__}"
        raise Refused(
            "guarantee.does-not-follow",
            f"{guarantee}.to({notion.__name__})",
            reason,
            ".to(sf.Approx, delta=1e-6)",
        )
    return found
