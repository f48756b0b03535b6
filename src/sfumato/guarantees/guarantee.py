"""The base class of all guarantees: a promise about neighbouring datasets, as a value with an
algebra.

    a + b           both releases happened
    n * a           the release happened n times
    a <= b          a implies b
    a.to(Notion)    the best statement of that notion that a implies
    a.delta(ε)      the least δ known with (ε, δ)-DP; a.epsilon(δ) is its inverse
    a.tradeoff(α)   an attacker's least type-II error at type-I error α

Parameters are exact rationals. Results that need rounding are rounded outward: a reported ε or δ is
never below the true one. A guarantee carries its relation (which datasets are neighbours) and its
unit (what is protected); if either is unspecified, the guarantee combines with any other.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeVar

from ..exact.numbers import LARGEST, Number, exact, is_whole, positive, probability, shown, text
from . import guarantee_refusals as refusals

if TYPE_CHECKING:
    from .meaning.promise_meaning import Meaning
    from .stored_guarantee import StoredFields

Relation = Literal["add-remove", "replace"]
RELATIONS: tuple[Relation, ...] = ("add-remove", "replace")
LARGEST_ORDER, SMALLEST_ORDER = Fraction(2**40), 1 + Fraction(1, 2**40)
Numbers = tuple[Fraction, ...]
G = TypeVar("G", bound="Guarantee")


class DeltaCurve(Protocol):
    """δ as a function of ε, and its inverse."""

    def delta(self, epsilon: Number) -> float: ...

    def epsilon(self, delta: Number = 0) -> float: ...


class NoiseTarget(NamedTuple):
    """The numbers of a promise that additive noise is fitted to: ε, with δ if the promise allows
    Gaussian noise, or μ².
    """

    epsilon: Number | None = None
    delta: Number | None = None
    mu_squared: Fraction | None = None


class Guarantee(ABC):
    """A privacy guarantee. The same type serves as promise, cost and budget.

    Everything that other packages ask of a notion is here. A new notion overrides what differs,
    and `@notion` registers it.
    """

    __slots__ = ()

    relation: Relation | None
    unit: str | None

    stored_name: ClassVar[str] = ""
    """The name in stored records, if it is not the name of the class."""
    strength: ClassVar[int] = 5
    """The place among all notions, the strongest first; equal places are ordered by name."""
    symbols: ClassVar[Mapping[str, str]] = {}
    """The letter of each parameter that is one number. A δ comes last."""
    theorem: ClassVar[str | None] = None
    """The theorem by which costs in this notion may be chosen after seeing earlier answers, and
    still add up. A notion without one is no currency for budgets.
    """
    registry_name: ClassVar[str] = "Custom"
    """The name of the notion in the public registry of deployments."""

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
    def _plus(self, addend: Self) -> Self:
        """Both releases, of the same notion; the caller sets relation and unit."""

    @abstractmethod
    def _times(self, count: int) -> Self:
        """The release, `count` times."""

    @abstractmethod
    def _implied_by(self, premise: Guarantee) -> bool:
        """Whether `premise` implies this guarantee."""

    @abstractmethod
    def _meet(self, second: Self) -> Self:
        """Return one statement that follows from this and `second`, which both hold of the same
        release.
        """

    @abstractmethod
    def _group(self, size: int) -> Guarantee:
        """The promise about `size` units at once."""

    def _subsample(self, q: Fraction) -> Guarantee:
        raise refusals.NOTION_NOT_AMPLIFIED(
            guarantee=self, rate=text(q), notion=type(self).__name__
        )

    def _quick(self) -> DeltaCurve:
        """Return the curve for searches that evaluate it at many ε. A notion with a slow curve
        returns a quicker one: its δ is never too small, its ε is approximate.
        """
        return self

    def _absorb(self, addend: Guarantee) -> Guarantee | None:
        """Return this plus `addend` in the notion of this guarantee; None if it cannot express
        `addend`.
        """
        return None

    def _states(self, notion: type[Guarantee]) -> Guarantee | None:
        """Return the statement of `notion` that this implies without an arrow of `conversions`."""
        return None

    def _check(self, relation: Relation | None) -> None:  # noqa: B027  # most accept any relation
        """Refuse a relation under which the guarantee is not known to hold."""

    @classmethod
    def _stated_by(cls, premise: Guarantee) -> Self | None:
        """Return the statement of this notion that `premise` implies without an arrow of
        `conversions`.
        """
        return None

    def _largest_epsilon(self, *, ranged: bool) -> Fraction | None:
        """Return the largest ε such that an ε-DP mechanism costs no more than this; None if the
        notion cannot tell. `ranged` is for a mechanism whose loss has range ε.
        """
        return None

    def _stored(self) -> dict[str, object]:
        """Return the stored fields, beside notion, relation and unit."""
        return {name: str(value) for name, value in self.parameters.items()}

    @classmethod
    def _restored(cls, stored: StoredFields, relation: str | None, unit: str | None) -> Self:
        """Build the guarantee from the fields of `_stored`."""
        from .stored_guarantee import ratio

        arguments: StoredFields = {n: ratio(stored[n]) for n in cls.symbols if n in stored}
        return cls(**arguments | {"relation": relation, "unit": unit})

    @property
    def vector(self) -> Numbers:
        """The numbers that add up over releases. In a longer vector δ is the last."""
        if not self.symbols:
            raise refusals.NO_NUMBERS_THAT_ADD_UP(guarantee=self, kind=type(self).__name__)
        parameters = self.parameters
        return tuple([parameters.get(name, _ZERO) for name in self.symbols])

    @property
    def vector_names(self) -> tuple[str, ...]:
        """The names of the numbers of `vector`."""
        return tuple(self.symbols.values())

    def from_vector(self, numbers: Iterable[Fraction]) -> Self:
        """Build a guarantee with these numbers, of the notion (and the orders) of this one, about
        no relation or unit.
        """
        vector = tuple(numbers)
        if len(vector) > 1:
            sum_of_deltas(vector[-1], lambda: f"{type(self).__name__}(…)")
        return self._from_vector(vector)

    def _from_vector(self, numbers: Numbers) -> Self:
        return type(self)(*numbers)

    def worth_showing(self, spent: Numbers) -> list[int]:
        """Return the indices of the numbers of a budget to show: those that are not zero."""
        return [i for i, limit in enumerate(self.vector) if limit] or [0]

    def scaled(self, fraction: Number) -> Self:
        """Return a fraction of this: of ε and δ, of ρ and δ, of μ²."""
        share = positive(fraction, "fraction")
        part = self.from_vector(number * share for number in self.vector)
        return self._bind(part, self.relation, self.unit)

    def without_delta(self) -> Guarantee:
        """Drop the δ and keep the rest."""
        return self

    def cost_of(self, amount: Fraction, delta: Fraction) -> Guarantee:
        """Return the promise of this amount and δ that a budget of this notion is asked for."""
        from .approx import Approx
        from .pure import Pure

        return Approx(amount, delta) if delta else Pure(amount)

    def price(self, cost: Guarantee) -> Guarantee:
        """Convert a cost to the notion of this budget."""
        return cost if type(cost) is type(self) else cost.charged_to(self)

    def charged_to(self, budget: Guarantee) -> Guarantee:
        """Return what a budget of another notion is charged for this."""
        return self.to(type(budget))

    @property
    def noise_target(self) -> NoiseTarget | None:
        """The numbers to which noise is fitted that keeps this promise; None if no noise is."""
        return None

    @property
    def divisible(self) -> Guarantee:
        """A promise that implies this one, and whose parts add up to it: noise of several parts is
        fitted to its shares.
        """
        return self

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
            raise refusals.GROUP_BELOW_ONE(size=shown(size))
        return self if size == 1 else self._bind(self._group(size), self.relation, self.unit)

    def under(self, relation: str) -> Guarantee:
        """The promise under another relation: replacing a unit means removing it and adding a new
        one, so it takes two steps of add-remove.
        """
        target = relation_of(relation)
        if target == self.relation:
            return self
        if self.relation is None:
            raise refusals.RELATION_NOT_STATED(guarantee=self, relation=relation)
        if target == "add-remove":
            raise refusals.REPLACE_UNDER_ADD_REMOVE(guarantee=self, relation=relation)
        return self._bind(self._group(2), target, self.unit)

    def subsample(self, q: Number) -> Guarantee:
        """The promise when every unit enters the data independently with probability q (Poisson
        sampling), under add-remove.
        """
        rate = probability(q, "q", one=True)
        if self.relation == "replace":
            raise refusals.SUBSAMPLE_UNDER_REPLACE(guarantee=self, rate=q)
        return self._bind(self._subsample(rate), "add-remove", self.unit)

    def meaning(self, *, prior: Number = 0.5) -> Meaning:
        """What this promise means to a person, to a Bayesian and to a hypothesis tester."""
        from .meaning.promise_meaning import meaning

        try:
            return meaning(self, prior)
        except OverflowError:
            raise refusals.MEANING_TOO_LARGE(guarantee=self) from None

    def to_json(self) -> str:
        """A text that `from_json` reads back as an equal guarantee."""
        from .stored_guarantee import record

        return json.dumps(record(self), ensure_ascii=False)

    @staticmethod
    def from_json(content: str) -> Guarantee:
        """The guarantee that a text of `to_json` denotes."""
        from .stored_guarantee import restore_text

        return restore_text(content)

    def __add__(self, other: object) -> Guarantee:
        if not isinstance(other, Guarantee):
            return NotImplemented
        from .mixed import add_guarantees

        return add_guarantees(self, other)

    def __radd__(self, other: object) -> Guarantee:
        if isinstance(other, int) and other == 0:  # so that sum() works
            return self
        return NotImplemented

    def __mul__(self, count: object) -> Self:
        if isinstance(count, bool) or not isinstance(count, int):
            return NotImplemented
        if count < 0:
            raise refusals.COUNT_NEGATIVE(count=shown(count), guarantee=self)
        return self._bind(self._times(count), self.relation, self.unit)

    __rmul__ = __mul__

    def __le__(self, other: object) -> bool:
        if not isinstance(other, Guarantee):
            return NotImplemented
        common_relation_and_unit(self, other)
        return other._implied_by(self)

    def __ge__(self, other: object) -> bool:
        return NotImplemented if not isinstance(other, Guarantee) else other <= self

    @property
    def numbers_text(self) -> str:
        """The numbers with their letters: ε = 0.5, δ = 1e-9."""
        if not self.symbols:
            return repr(self)
        return ", ".join(
            f"{self.symbols.get(name, name)} = {text(value)}"
            for name, value in self.parameters.items()
        )

    def __repr__(self) -> str:
        numbers = (text(value) for value in self.parameters.values())
        return f"{type(self).__name__}({', '.join([*numbers, *self._about()])})"

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


_ZERO = Fraction(0)
NOTIONS: dict[str, type[Guarantee]] = {}
"""The registered notions by the names under which they are stored."""


def notion(kind: type[G]) -> type[G]:
    """Register a class of guarantees: records of its name can be restored, and refusals list it."""
    NOTIONS[kind.stored_name or kind.__name__] = kind
    return kind


def currencies() -> list[type[Guarantee]]:
    """Return the notions in which a budget can be stated."""
    return [kind for kind in NOTIONS.values() if kind.theorem is not None]


def noise_notions() -> list[type[Guarantee]]:
    """Return the notions with promises that additive noise can keep."""
    return [k for k in NOTIONS.values() if k.noise_target is not Guarantee.noise_target]


def by_strength(notions: Iterable[type[Guarantee]]) -> list[type[Guarantee]]:
    """Sort notions, the strongest first."""
    return sorted(notions, key=lambda kind: (kind.strength, kind.__name__))


def curves() -> list[type[Guarantee]]:
    """Return the currencies that bound a curve of (ε, δ), the strongest first. Sums in them are
    sharper than sums of ε.
    """
    return by_strength(kind for kind in currencies() if "epsilon" not in kind.symbols)


def common_relation_and_unit(a: Guarantee, b: Guarantee) -> tuple[Relation | None, str | None]:
    """Return the relation and unit that two guarantees share; refuse two that differ."""
    for entry, first, second in (
        (refusals.DIFFERENT_RELATIONS, a.relation, b.relation),
        (refusals.DIFFERENT_UNITS, a.unit, b.unit),
    ):
        if first is not None and second is not None and first != second:
            raise entry(a=a, b=b, first=first, second=second)
    return a.relation or b.relation, a.unit or b.unit


def relation_of(value: str | None) -> Relation | None:
    """Check the name of a relation; None leaves it unspecified."""
    if value is None:
        return None
    for relation in RELATIONS:
        if value == relation:
            return relation
    raise refusals.UNKNOWN_RELATION(relation=value)


def unit_of(value: str | None) -> str | None:
    """Check the name of the protected unit; None leaves it unspecified."""
    if value is None or (isinstance(value, str) and value):
        return value
    raise refusals.UNIT_IS_NO_NAME(unit=value)


def reach(guarantee: Guarantee, notion: type[G]) -> G | None:
    """The best statement of `notion` that follows without giving up any δ, or None."""
    from .conversions import best_statement

    return best_statement(guarantee, notion)


def check_epsilon(epsilon: Number) -> Fraction:
    """Check an ε ≥ 0 at which a curve is evaluated."""
    number = exact(epsilon, "epsilon")
    if number < 0:
        raise refusals.EPSILON_NEGATIVE(epsilon=shown(epsilon))
    if number >= LARGEST:
        raise refusals.EPSILON_TOO_LARGE(epsilon=shown(epsilon))
    return number


def check_delta(delta: Number) -> Fraction:
    """Check a δ in [0, 1) at which a curve is evaluated: 0, or at least the smallest normal
    double.
    """
    number = probability(delta, "delta")
    return number if number == 0 else positive(number, "delta")


def check_order(order: Number) -> Fraction:
    """Check a Rényi order α ≥ 1."""
    number = exact(order, "order")
    if number < 1 or number > LARGEST_ORDER or 1 < number < SMALLEST_ORDER:
        raise refusals.ORDER_OUT_OF_RANGE(order=shown(order))
    return number


def sum_of_deltas(total: Fraction, written: Callable[[], str]) -> Fraction:
    """Return a sum of failure probabilities; refuse 1 or more, which would promise nothing.

    `written` returns the sum as the caller wrote it, for the refusal.
    """
    if total >= 1:
        raise refusals.DELTAS_REACH_ONE(sum=written())
    return total
