"""What every guarantee shares: a promise about neighbours, as a value with an algebra.

    a + b      both releases happened             a.to(Notion)    the best statement of that notion
    that a implies
    n * a      the release happened n times       a.delta(ε)      least δ known with (ε, δ)-DP;
    a.epsilon(δ) its inverse a <= b whoever has a also has b a.tradeoff(α) attacker's least type-II
    error at type-I error α

Parameters are exact rationals. Numbers that must be rounded are rounded outward: a reported ε or δ
is never below the truth. Relation (which datasets are neighbours) and unit (what is protected) are
carried along; left unspecified they mix with anything.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar

from ..errors import Refused
from ..exact.numbers import LARGEST, Number, exact, is_whole, positive, probability, shown, text

if TYPE_CHECKING:
    from .meaning.promise_meaning import Meaning

Relation = Literal["add-remove", "replace"]
RELATIONS: tuple[Relation, ...] = ("add-remove", "replace")
LARGEST_ORDER, SMALLEST_ORDER = Fraction(2**40), 1 + Fraction(1, 2**40)
G = TypeVar("G", bound="Guarantee")


class Curve(Protocol):
    """δ as a function of ε, and its inverse."""

    def delta(self, epsilon: Number) -> float: ...

    def epsilon(self, delta: Number = 0) -> float: ...


class Guarantee(ABC):
    """A promise, a cost or a budget: the same type in three roles."""

    __slots__ = ()

    relation: Relation | None
    unit: str | None

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The exact numbers, by name."""

    @abstractmethod
    def delta(self, epsilon: Number) -> float:
        """The least δ known such that (ε, δ)-DP follows, rounded up."""

    @abstractmethod
    def epsilon(self, delta: Number = 0) -> float:
        """The least ε known such that (ε, δ)-DP follows, rounded up; infinite where none does."""

    @abstractmethod
    def renyi(self, order: Number) -> float:
        """The least bound known on the Rényi divergence of this order, rounded up; infinite where
        there is none.
        """

    @abstractmethod
    def _plus(self, other: Self) -> Self:
        """Both releases, of the same notion; relation and unit are settled by the caller."""

    @abstractmethod
    def _times(self, count: int) -> Self:
        """The release, `count` times."""

    @abstractmethod
    def _implied_by(self, other: Guarantee) -> bool:
        """Whether `other` implies this."""

    @abstractmethod
    def _meet(self, other: Self) -> Self:
        """One statement for two that both hold of the same release."""

    @abstractmethod
    def _group(self, size: int) -> Guarantee:
        """The promise about `size` units at once."""

    def _subsample(self, q: Fraction) -> Guarantee:
        reason = f"{type(self).__name__} is not amplified by sampling"
        raise Refused(
            "guarantee.subsample",
            f"{self}.subsample({text(q)})",
            reason,
            "Pure, Approx or GDP, before converting",
        )

    def _quick(self) -> Curve:
        """The curve, for searches that ask it at many ε. A notion whose own is slow has a quicker
        one: δ never below the truth, ε roughly.
        """
        return self

    def _absorb(self, other: Guarantee) -> Guarantee | None:
        """This and `other` together, in the notion of this, where every such guarantee has a place
        in it.
        """
        return None

    def _states(self, notion: type[Guarantee]) -> Guarantee | None:
        """What a notion that no arrow starts from implies by itself."""
        return None

    def _check(self, relation: Relation | None) -> None:  # noqa: B027
        """Refuse a relation under which the guarantee is not known to hold."""

    def _stored(self) -> dict[str, Any] | None:
        """What is stored of a notion beside its parameters, where these would not do."""
        return None

    def to(self, notion: type[G], *, delta: Number | None = None) -> G:
        """The best statement of `notion` that this implies; `delta=` is needed for `Approx` unless
        this is pure.
        """
        from .conversions import convert

        return convert(self, notion, delta)

    def tradeoff(self, alpha: Number) -> float:
        """The least type-II error known of any test between neighbours whose type-I error is
        `alpha`, rounded down.
        """
        from .tradeoff_bounds import from_curve

        return from_curve(self, probability(alpha, "alpha", one=True))

    def group(self, size: int) -> Guarantee:
        """The promise about `size` units who may all change at once."""
        if not is_whole(size):
            raise Refused(
                "guarantee.group",
                f"group({shown(size)})",
                "a group has one or more members",
                "group(2)",
            )
        return self if size == 1 else self._bind(self._group(size), self.relation, self.unit)

    def under(self, relation: str) -> Guarantee:
        """The promise under another relation: replacing a unit is removing it and adding another,
        so two steps of add-remove.
        """
        wanted, place = relation_of(relation), f"{self}.under({relation!r})"
        if wanted == self.relation:
            return self
        if self.relation is None:
            raise Refused(
                "guarantee.relation",
                place,
                "the relation it holds under is not stated",
                f"{type(self).__name__}(…, relation='add-remove')",
            )
        if wanted == "add-remove":
            raise Refused(
                "guarantee.relation",
                place,
                "replace says nothing about datasets of different size",
                "state the cost under add-remove",
            )
        return self._bind(self._group(2), wanted, self.unit)

    def subsample(self, q: Number) -> Guarantee:
        """The promise when every unit enters the data independently with probability q (Poisson
        sampling), under add-remove.
        """
        rate = probability(q, "q", one=True)
        if self.relation == "replace":
            rewrite = f"{type(self).__name__}(…, relation='add-remove')"
            raise Refused(
                "guarantee.relation",
                f"{self}.subsample({q})",
                "Poisson sampling is about add-remove",
                rewrite,
            )
        return self._bind(self._subsample(rate), "add-remove", self.unit)

    def meaning(self, *, prior: Number = 0.5) -> Meaning:
        """What this promise means to a person, to a Bayesian and to a hypothesis tester."""
        from .meaning.promise_meaning import meaning

        try:
            return meaning(self, prior)
        except OverflowError:
            raise Refused(
                "number.range",
                f"{self}.meaning(…)",
                "numbers this large mean nothing to anyone",
                "a promise one would make",
            ) from None

    def to_json(self) -> str:
        """A text that `from_json` reads back as an equal guarantee."""
        from .stored_guarantee import record

        return json.dumps(record(self), ensure_ascii=False)

    @staticmethod
    def from_json(content: str) -> Guarantee:
        """The guarantee that a text of `to_json` denotes."""
        from .stored_guarantee import restore_text

        return restore_text(content)

    def __add__(self, other: Any) -> Guarantee:
        if not isinstance(other, Guarantee):
            return NotImplemented
        from .mixed import together

        return together(self, other)

    def __radd__(self, other: Any) -> Guarantee:
        if isinstance(other, int) and other == 0:  # so that sum() works
            return self
        return NotImplemented

    def __mul__(self, count: Any) -> Self:
        if isinstance(count, bool) or not isinstance(count, int):
            return NotImplemented
        if count < 0:
            raise Refused(
                "guarantee.count",
                f"{shown(count)} * {self}",
                "a release happens zero or more times",
                f"1 * {self}",
            )
        return self._bind(self._times(count), self.relation, self.unit)

    __rmul__ = __mul__

    def __le__(self, other: Any) -> bool:
        if not isinstance(other, Guarantee):
            return NotImplemented
        settle(self, other)
        return other._implied_by(self)

    def __ge__(self, other: Any) -> bool:
        return NotImplemented if not isinstance(other, Guarantee) else other <= self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([*(text(value) for value in self.parameters.values()), *self._about()])})"

    def _about(self) -> list[str]:
        return [
            f"{name}={value!r}"
            for name, value in (("relation", self.relation), ("unit", self.unit))
            if value is not None
        ]

    @staticmethod
    def _bind(guarantee: G, relation: Relation | None, unit: str | None) -> G:
        object.__setattr__(guarantee, "relation", relation)
        object.__setattr__(guarantee, "unit", unit)
        guarantee._check(relation)
        return guarantee


def settle(a: Guarantee, b: Guarantee) -> tuple[Relation | None, str | None]:
    """The relation and unit of two guarantees that speak of the same data; refused where they
    differ.
    """
    for name, one, two in (("relation", a.relation, b.relation), ("unit", a.unit, b.unit)):
        if one is not None and two is not None and one != two:
            raise Refused(
                f"guarantee.{name}",
                f"{a} and {b}",
                f"one is about {name} {one!r}, the other about {two!r}",
                f"state both for the same {name}",
            )
    return a.relation or b.relation, a.unit or b.unit


def relation_of(value: str | None) -> Relation | None:
    """A known relation, or unspecified."""
    for relation in RELATIONS:
        if value == relation:
            return relation
    if value is None:
        return None
    raise Refused(
        "guarantee.relation",
        f"relation={value!r}",
        "neighbours differ by adding or removing a unit, or by replacing one",
        "relation='add-remove'",
    )


def unit_of(value: object) -> str | None:
    """The name of what is protected, or unspecified."""
    if value is None or (isinstance(value, str) and value):
        return value
    raise Refused(
        "guarantee.unit",
        f"unit={value!r}",
        "the unit is the name of what is protected",
        "unit='patient'",
    )


def reach(guarantee: Guarantee, notion: type[G]) -> G | None:
    """The best statement of `notion` that follows without giving up any δ, or None."""
    from .conversions import best

    return best(guarantee, notion)


def known_epsilon(epsilon: Number) -> Fraction:
    """ε ≥ 0 at which a curve is asked."""
    number = exact(epsilon, "epsilon")
    if number < 0:
        raise Refused(
            "number.negative", f"epsilon={shown(epsilon)}", "epsilon is zero or more", "epsilon=1"
        )
    if number >= LARGEST:
        raise Refused(
            "number.range",
            f"epsilon={shown(epsilon)}",
            "epsilon is too large for a double",
            "epsilon=1",
        )
    return number


def known_delta(delta: Number) -> Fraction:
    """δ in [0, 1) at which a curve is asked: 0, or not below the smallest normal double."""
    number = probability(delta, "delta")
    return number if number == 0 else positive(number, "delta")


def known_order(order: Number) -> Fraction:
    """A Rényi order α ≥ 1."""
    number = exact(order, "order")
    if number < 1 or number > LARGEST_ORDER or 1 < number < SMALLEST_ORDER:
        raise Refused(
            "guarantee.order",
            f"order={shown(order)}",
            "orders of Rényi divergence lie between 1 and 2^40, not within 2^-40 of 1",
            "order=2",
        )
    return number


def sum_of_deltas(total: Fraction, place: Callable[[], str]) -> Fraction:
    """A sum of failure probabilities; from 1 on nothing is promised any more, and that is said."""
    if total >= 1:
        raise Refused(
            "guarantee.no-promise",
            place(),
            "nothing is promised: the δ come to 1 or more",
            "smaller δ, or fewer releases",
        )
    return total
