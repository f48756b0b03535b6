"""Conversions between notions: each arrow is one theorem. `.to` returns the best statement over all
chains of arrows.

An arrow uses the best constant known. It rounds irrational numbers up, so its result always holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, lru_cache, reduce
from operator import add
from typing import NamedTuple, TypeVar, cast

from flint import arb

from ..errors import Refused
from ..exact.balls import above, ball
from ..exact.numbers import SMALLEST, Number
from . import guarantee_refusals as refusals
from .approx import Approx
from .gdp import GDP
from .guarantee import Guarantee
from .mixed import Mixed
from .pure import Pure, renyi_of_pure
from .renyi import Renyi
from .zcdp import ZCDP

G = TypeVar("G", bound=Guarantee)


class Arrow(NamedTuple):
    """A theorem by which a guarantee of the notion `start` implies one of the notion `end`."""

    start: type[Guarantee]
    end: type[Guarantee]
    theorem: str
    follow: Callable[..., Guarantee | None]
    only_if_nothing: bool = False  # holds for guarantees that promise equal laws, and for no others


def _normal(value: float | Fraction) -> Fraction:
    """Return the number exactly, raised to the smallest positive number that guarantees accept."""
    if value == math.inf:
        raise refusals.CONVERTED_NUMBER_TOO_LARGE()
    return max(Fraction(value), SMALLEST) if value > 0 else Fraction(0)


def _pure_zcdp(a: Pure | Approx) -> ZCDP:
    return ZCDP(_rho_of_pure(a.parameters["epsilon"]), a.parameters.get("delta", 0))


@lru_cache(maxsize=1024)
def _rho_of_pure(epsilon: Fraction) -> Fraction:
    return _normal(renyi_of_pure(epsilon, Fraction(1)))


def _pure_gdp(a: Pure) -> GDP:
    return GDP(_mu_of_pure(a.parameters["epsilon"]))


@lru_cache(maxsize=1024)
def _mu_of_pure(epsilon: Fraction) -> Fraction:
    """2Φ⁻¹(1/(1 + e^−ε)), written in the lower tail. Cached: parts of a release share their ε."""
    if not epsilon:
        return epsilon
    return above(lambda: 2 * arb(2).sqrt() * (2 / (1 + ball(epsilon).exp())).erfcinv())


def _pure_renyi(a: Pure | Approx) -> Renyi:
    return Renyi(
        lambda order: _normal(renyi_of_pure(a.parameters["epsilon"], order)),
        a.parameters.get("delta", 0),
    )


def _approx_pure(a: Approx) -> Pure | None:
    return None if a.parameters["delta"] else Pure(a.parameters["epsilon"])


def _equal_laws(a: GDP | ZCDP | Renyi) -> Approx | None:
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
    Arrow(GDP, Approx, "μ = 0: the laws are equal", _equal_laws, only_if_nothing=True),
    Arrow(ZCDP, Approx, "ρ = 0: the laws are equal, up to δ", _equal_laws, only_if_nothing=True),
    Arrow(
        Renyi,
        Approx,
        "a divergence of 0: the laws are equal, up to δ",
        _equal_laws,
        only_if_nothing=True,
    ),
)


def best_statement(guarantee: Guarantee, notion: type[G]) -> G | None:
    """Return the best statement of `notion` over all chains of arrows; None if no chain ends at
    it.
    """
    if isinstance(guarantee, notion):
        return guarantee
    if isinstance(guarantee, Mixed):
        parts = [best_statement(part, notion) for part in guarantee.parts]
        if any(part is None for part in parts):
            return None
        try:
            statement = cast(G, reduce(add, cast(list[Guarantee], parts)))
        except Refused:  # curves without a common order
            return None
    else:
        direct = guarantee._states(notion) or notion._stated_by(guarantee)
        statements = (
            [direct]
            if isinstance(direct, notion)
            else list(_chain_ends(guarantee, notion, (type(guarantee),)))
        )
        if not statements:
            return None
        statement = reduce(lambda a, b: a._meet(b), statements)
    return Guarantee._bind(statement, guarantee.relation, guarantee.unit)


def _chain_ends(
    guarantee: Guarantee, notion: type[G], passed: tuple[type[Guarantee], ...]
) -> Iterator[G]:
    """Yield the guarantee at the end of every chain that reaches `notion`. A conversion promises
    equal laws only if its start does, so arrows with `only_if_nothing` are tried as a first step
    only.
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
            and notion in _reachable(arrow.end)
        ):
            further = _follow(arrow, guarantee)
            if further is not None:
                yield from _chain_ends(further, notion, (*passed, arrow.end))


def _follow(arrow: Arrow, guarantee: Guarantee) -> Guarantee | None:
    """Apply an arrow; return None if a number on the way is too large for a double."""
    try:
        return arrow.follow(guarantee)
    except Refused:
        return None


@cache
def _reachable(start: type[Guarantee]) -> frozenset[type[Guarantee]]:
    """Return the notions that chains from `start` lead to, `start` included."""
    reached, new = frozenset[type[Guarantee]](), frozenset({start})
    while new:
        reached |= new
        new = (
            frozenset(
                arrow.end
                for arrow in ARROWS
                if arrow.start in reached and not arrow.only_if_nothing
            )
            - reached
        )
    return reached


def convert(guarantee: Guarantee, notion: type[G], delta: Number | None) -> G:
    """`guarantee.to(notion, delta=…)`."""
    if delta is not None:
        if notion is not Approx:
            raise refusals.DELTA_FOR_ANOTHER_NOTION(
                guarantee=guarantee, notion=notion.__name__, delta=delta
            )
        epsilon = guarantee.epsilon(delta)
        if math.isinf(epsilon):
            raise refusals.DELTA_TOO_SMALL(guarantee=guarantee, delta=delta)
        return cast(
            G, Approx(Fraction(epsilon), delta, relation=guarantee.relation, unit=guarantee.unit)
        )
    statement = best_statement(guarantee, notion)
    if statement is None:
        raise refusals.NOTION_DOES_NOT_FOLLOW(
            guarantee=guarantee, notion=notion.__name__, given=type(guarantee).__name__
        )
    return statement
