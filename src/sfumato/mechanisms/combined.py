"""Several mechanisms on the same data, with independent noise, charged as one ledger entry.

*Law*        that of its parts, independently of each other. It has no `perturb`: each part perturbs
             what belongs to it.
*Promise*    in every notion that all parts reach, the sum of their best statements: Pure, GDP, zCDP
             with the δ of those that need one. And Approx(Σε, Σδ), where the parts that have no (ε,
             δ) of their own (Gaussian noise) are stated together, as the one point (epsilon, delta)
             of the curve of their sum: not one point for each, and not a rounded one, so that ten
             promises of a tenth fit into a budget of 1. A part that promises GDP with a δ beside it
             adds that δ to the sum.
*Error*      each part's own.
*Proof*      docs/proofs/combined.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cached_property, reduce
from operator import add
from typing import TypeVar, Unpack

from attrs import field

from ..errors import Refused
from ..exact.numbers import Number, open_probability, positive
from ..guarantees import GDP, ZCDP, Approx, Guarantee, Pure, Relation
from ..guarantees.guarantee import common_relation_and_unit, curves
from ..guarantees.mixed import Mixed
from ..keywords import spell_out
from ..records import record
from .laplace import Laplace
from .shared import mechanism_refusals as refusals
from .shared.mechanism import Input, Mechanism, Neighbours, Output
from .stated.audit_example import AuditExample, fixed

G = TypeVar("G", bound=Guarantee)


@record(init=False)
class Combined(Mechanism):
    """Several mechanisms as one ledger entry. `epsilon` and `delta` state one joint promise for the
    parts with Gaussian noise; leave them out if there are none.
    """

    parts: tuple[Mechanism, ...]
    epsilon: Fraction | None
    delta: Fraction | None
    relation: Relation | None
    unit: str | None
    _first: Guarantee = field(init=False)

    @spell_out(Neighbours)
    def __init__(
        self,
        parts: Iterable[Mechanism],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        **neighbours: Unpack[Neighbours],
    ) -> None:
        checked = _check_parts(parts)
        if (epsilon is None) != (delta is None):
            raise refusals.EPSILON_AND_DELTA_APART(
                mechanism="Combined", example="Combined(parts, epsilon=1, delta=1e-6)"
            )
        goal = (
            None if epsilon is None else positive(epsilon, "epsilon"),
            None if delta is None else open_probability(delta, "delta"),
        )
        about: Guarantee = Pure(0, **neighbours)
        for part in checked:
            for promise in part.promises:
                about = Guarantee._bind(Pure(0), *common_relation_and_unit(about, promise))
        self.__attrs_init__(checked, *goal, about.relation, about.unit)

    @_first.default
    def _add_first(self) -> Guarantee:
        for promise in self._sums():
            return promise
        raise refusals.NO_COMMON_NOTION()

    @property
    def promise(self) -> Guarantee:
        return self._first

    @cached_property
    def promises(self) -> tuple[Guarantee, ...]:
        """All sums. Planning asks for the first alone, and the others take longer."""
        return tuple(self._sums())

    def _sums(self) -> Iterator[Guarantee]:
        """Yield the sums of the parts' promises, without those that follow from an earlier one."""
        for total in self._totals():
            yield Guarantee._bind(1 * total, self.relation, self.unit)

    def _totals(self) -> Iterator[Guarantee]:
        pure = _sum(self.parts, Pure)
        # a pure ε implies it
        stated = self._stated() if pure is None or self.epsilon is not None else None
        if stated is not None and pure is None:
            yield stated
        if pure is not None:
            yield pure
        gdp, zcdp = _sum(self.parts, GDP), _sum(self.parts, ZCDP)
        if gdp is not None:
            yield gdp
        if zcdp is not None and (gdp is None or zcdp.rho < gdp.mu_squared / 2):
            yield zcdp
        if pure is not None:
            return
        with suppress(Refused):
            total = reduce(add, (part.promise for part in self.releases()))
            # for Rényi curves: at high orders the ε of the pure parts is a better bound than zCDP
            if isinstance(total, Mixed):
                yield total

    def _stated(self) -> Approx | None:
        """Return Σ(ε, δ) over the parts that have an (ε, δ), plus the point (epsilon, delta) on the
        joint curve of those that have none.
        """
        statements: list[Approx] = []
        rest: list[Mechanism | Guarantee] = []
        for part in self.parts:
            best = _best(part, Approx)
            if best is not None:
                statements.append(best)
                continue
            # noise with an ε of its own nowhere, but a δ beside it: each goes where it belongs
            summands = _split_delta(part)
            statements += [each for each in summands if isinstance(each, Approx)]
            rest += [each for each in summands if not isinstance(each, Approx)] or [part]
        if self.epsilon is None or self.delta is None:
            return None if rest else _add_all(statements)
        point = Approx(self.epsilon, self.delta)
        if not rest:
            raise refusals.EPSILON_WITHOUT_USE()
        if not any(
            total is not None and total <= point
            for total in (_sum(rest, notion) for notion in curves())
        ):
            raise refusals.EPSILON_BELOW_SUM(point=point)
        return _add_all([*statements, point])

    why_no_law = "the law of several outputs together is not written out"
    why_no_loss_pair = "the accountant adds up the pairs of its parts: `releases`"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        def build(epsilon: float) -> Combined:
            return cls([Laplace(sensitivity=1, epsilon=Fraction(epsilon) / 2)] * 2)

        numbers = fixed((0, 1), (1, 2), (-1, 0), (1000, 1001), (5, 4))
        return [AuditExample("Combined", build, numbers, at_once=False)]

    def draw_once(self, x: Input) -> tuple[Output, ...]:
        return tuple(part.draw_once(x) for part in self.parts)

    def releases(self) -> tuple[Mechanism, ...]:
        return tuple(release for part in self.parts for release in part.releases())


def _check_parts(parts: Iterable[Mechanism]) -> tuple[Mechanism, ...]:
    mechanisms = tuple(parts) if isinstance(parts, Iterable) else ()
    if not mechanisms or not all(isinstance(part, Mechanism) for part in mechanisms):
        raise refusals.NO_PARTS()
    return mechanisms


def _split_delta(part: Mechanism) -> tuple[Guarantee, ...]:
    """Return the summands of a promise that is one of several notions with an (ε, δ) among them;
    none if there is no such promise.
    """
    for promise in part.promises:
        if isinstance(promise, Mixed) and any(isinstance(each, Approx) for each in promise.parts):
            return promise.parts
    return ()


def _best(part: Mechanism | Guarantee, notion: type[G]) -> G | None:
    with suppress(Refused):
        return part.to(notion)
    return None


def _sum(parts: Sequence[Mechanism | Guarantee], notion: type[G]) -> G | None:
    """Return the sum in a notion; None if a part does not reach the notion or the sum promises
    nothing.
    """
    best = [_best(part, notion) for part in parts]
    return (
        None
        if None in best
        else _add_all([statement for statement in best if statement is not None])
    )


def _add_all(statements: list[G]) -> G | None:
    with suppress(Refused):  # δ that come to 1, or curves without a common order
        return reduce(add, statements)
    return None
