"""Several mechanisms on the same data, each with noise of its own, charged as one.

*Law*        that of its parts, independently of each other. It has no `perturb`: each part perturbs
             what belongs to it.
*Promise*    in every notion that all parts reach, the sum of their best statements: Pure, GDP, zCDP
             with the δ of those that need one. And Approx(Σε, Σδ), where the parts that have no (ε,
             δ) of their own (Gaussian noise) are stated together, as the one point (epsilon, delta)
             of the curve of their sum: not one point for each, and not a rounded one, so that ten
             promises of a tenth fit into a budget of 1.
*Error*      each part's own.
*Proof*      docs/proofs/combined.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from operator import add
from typing import TypeVar

from ..errors import Refused
from ..exact.numbers import Number, positive, probability
from ..guarantees import GDP, ZCDP, Approx, Guarantee, Pure, Relation, Renyi
from ..guarantees.guarantee import settle
from ..guarantees.mixed import Together
from .shared.mechanism import Mechanism

G = TypeVar("G", bound=Guarantee)
CURVES: tuple[type[Guarantee], ...] = (GDP, ZCDP, Renyi)
"""The notions whose sums are stated at a point, the sharpest first."""


@dataclass(frozen=True, slots=True, repr=False)
class Several(Mechanism):
    """Several mechanisms as one entry. `epsilon` and `delta` state the parts with Gaussian noise
    together; without such parts there is nothing to state.
    """

    parts: tuple[Mechanism, ...]
    epsilon: Fraction | None
    delta: Fraction | None
    relation: Relation | None
    unit: str | None
    _promises: tuple[Guarantee, ...] = field(repr=False, compare=False)

    def __init__(
        self,
        parts: Iterable[Mechanism],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        relation: str | None = None,
        unit: str | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "parts", _known(parts))
        if (epsilon is None) != (delta is None):
            raise Refused(
                "mechanism.calibration",
                "Several(…)",
                "epsilon and delta go together",
                "Several(parts, epsilon=1, delta=1e-6)",
            )
        put(self, "epsilon", None if epsilon is None else positive(epsilon, "epsilon"))
        put(self, "delta", None if delta is None else probability(delta, "delta", zero=False))
        about: Guarantee = Pure(0, relation=relation, unit=unit)
        for part in self.parts:
            for promise in part.promises:
                about = Guarantee._bind(Pure(0), *settle(about, promise))
        put(self, "relation", about.relation)
        put(self, "unit", about.unit)
        put(
            self,
            "_promises",
            tuple(
                Guarantee._bind(1 * promise, self.relation, self.unit) for promise in self._sums()
            ),
        )
        if not self._promises:
            raise Refused(
                "mechanism.parts",
                "Several(…)",
                "there is no notion in which all parts promise something",
                "mechanisms with a common notion",
            )

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return self._promises

    def _sums(self) -> Iterator[Guarantee]:
        """What is known of all parts together, and does not follow from what came before."""
        pure, gdp, zcdp = _sum(self.parts, Pure), _sum(self.parts, GDP), _sum(self.parts, ZCDP)
        stated = (
            self._stated() if pure is None or self.epsilon is not None else None
        )  # an ε says more than it would
        if stated is not None and pure is None:
            yield stated
        yield from (total for total in (pure, gdp) if total is not None)
        if zcdp is not None and (gdp is None or zcdp.rho < gdp.mu_squared / 2):
            yield zcdp
        if pure is not None:
            return
        with suppress(Refused):
            whole = reduce(add, (part.promise for part in _leaves(self.parts)))
            if isinstance(
                whole,
                Together,
                # for curves: the ε of the pure parts bounds theirs at high orders, and their zCDP
                # does
                # not
            ):
                yield whole

    def _stated(self) -> Approx | None:
        """Σ(ε, δ), with the parts that have none stated at the point of their common curve that was
        asked for.
        """
        own = [_best(part, Approx) for part in self.parts]
        rest = [part for part, statement in zip(self.parts, own, strict=True) if statement is None]
        found = [statement for statement in own if statement is not None]
        if self.epsilon is None or self.delta is None:
            return None if rest else _added(found)
        point = Approx(self.epsilon, self.delta)
        if not rest:
            reason = "every part has an ε of its own: there is nothing left to state"
            raise Refused(
                "mechanism.calibration", "Several(…, epsilon=…)", reason, "Several(parts)"
            )
        if not any(
            total is not None and total <= point
            for total in (_sum(rest, notion) for notion in CURVES)
        ):
            reason = "the parts with Gaussian noise lose more than this together"
            raise Refused(
                "mechanism.calibration",
                f"{point}",
                reason,
                "noise that is calibrated to the sum of the parts",
            )
        return _added([*found, point])


def _known(parts: Iterable[Mechanism]) -> tuple[Mechanism, ...]:
    known = tuple(parts) if isinstance(parts, Iterable) else ()
    if not known or not all(isinstance(part, Mechanism) for part in known):
        raise Refused(
            "mechanism.parts",
            "Several(…)",
            "the parts are one mechanism or more",
            "Several([Laplace(…), Gaussian(…)])",
        )
    return known


def _leaves(parts: Iterable[Mechanism]) -> Iterator[Mechanism]:
    for part in parts:
        yield from _leaves(part.parts) if isinstance(part, Several) else (part,)


def _best(part: Mechanism, notion: type[G]) -> G | None:
    with suppress(Refused):
        return part.to(notion)
    return None


def _sum(parts: Sequence[Mechanism], notion: type[G]) -> G | None:
    """The sum in a notion, where every part reaches it and the sum says something."""
    found = [_best(part, notion) for part in parts]
    return (
        None
        if None in found
        else _added([statement for statement in found if statement is not None])
    )


def _added(statements: list[G]) -> G | None:
    with suppress(Refused):  # δ that come to 1, or curves without a common order
        return reduce(add, statements)
    return None
