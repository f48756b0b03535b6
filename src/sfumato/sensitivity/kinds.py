"""The kinds of sensitivity: how far a statistic moves between neighbours, in which sense, and what
noise may be scaled to it.

*Global*     over all pairs of neighbours: what noise may be scaled to. By its norms: L1, L2
             (squared, so that √2 stays exact), largest coordinate.
*Lipschitz*  per unit of a metric: for promises that weaken with distance. `within(r)` is the global
             one for neighbours at most r apart.
*Local*      at one dataset: secret, and no scale of noise, because the scale would give the data
             away.
*Smooth*     of a statistic in a public range: noise follows the data, but slowly. Its mechanism is
             SmoothLaplace.
*Inverse*    how many records must change to reach a value: a score. Its mechanism is
             InverseSensitivity.
*Sampled*    a share of random neighbours (sampled.py): never a promise for all of them.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypedDict, Unpack

from ..exact.balls import root_up
from ..exact.numbers import Number, non_negative, positive, text
from ..guarantees import Relation
from ..guarantees.guarantee import relation_of
from ..keywords import spell_out
from . import sensitivity_refusals as refusals

NORMS = ("1", "2", "inf")


class Sensitivity(ABC):
    """How far a statistic moves when one unit changes."""

    __slots__ = ()

    relation: Relation | None


class Norms(Sensitivity):
    """A sensitivity known in one norm or several. The other norms follow for a public number of
    coordinates.
    """

    __slots__ = ()

    l1: Fraction | None
    l2_squared: Fraction | None
    sup: Fraction | None

    def moves(self, norm: int | str, size: int = 1) -> Fraction:
        """Return the least known bound on the move of `size` coordinates in a norm: 1, 2 (rounded
        up if it is irrational) or "inf".
        """
        norm_name = norm_of(norm)
        if norm_name == "2":
            return root_up(self.squared(size))
        l1, l2, sup = self.l1, self.l2_squared, self.sup
        if norm_name == "1":
            return _least(
                l1, None if sup is None else size * sup, None if l2 is None else root_up(size * l2)
            )
        return _least(sup, None if l2 is None else root_up(l2), l1)

    def squared(self, size: int = 1) -> Fraction:
        """Bound the square of the L2 move: ‖v‖₂² ≤ ‖v‖₁·‖v‖_∞ ≤ ‖v‖₁², and ≤ size·‖v‖_∞²."""
        l1, l2, sup = self.l1, self.l2_squared, self.sup
        by_l1 = None if l1 is None else l1 * (l1 if sup is None else min(l1, sup))
        return _least(l2, by_l1, None if sup is None else size * sup * sup)


class VectorNorms(TypedDict, total=False):
    """The keywords that bound the move of a vector in norms; `l2_squared` stands for `l2`."""

    l1: Number | None
    l2: Number | None
    l2_squared: Number | None
    sup: Number | None


@dataclass(frozen=True, slots=True, repr=False)
class Global(Norms):
    """The sensitivity over all neighbours. A single number bounds the move of any single value;
    norms bound the move of a vector. `integer_valued`: all values are exact whole numbers.
    `rounding`: the error of each value, computed in doubles as NumPy does.
    """

    l1: Fraction | None
    l2_squared: Fraction | None
    sup: Fraction | None
    relation: Relation | None
    integer_valued: bool
    rounding: Fraction
    formula: str = field(compare=False)

    @spell_out(VectorNorms)
    def __init__(
        self,
        value: Number | None = None,
        *,
        relation: str | None = None,
        integer_valued: bool = False,
        rounding: Number | None = None,
        formula: str = "",
        **norms: Unpack[VectorNorms],
    ) -> None:
        l1, l2 = norms.get("l1"), norms.get("l2")
        l2_squared, sup = norms.get("l2_squared"), norms.get("sup")
        has_norm = any(v is not None for v in (l1, l2, l2_squared, sup))
        if (value is not None) == has_norm or (l2 is not None and l2_squared is not None):
            raise refusals.VALUE_AND_NORMS()
        square = (
            positive(l2_squared, "l2_squared")
            if l2_squared is not None
            else None
            if l2 is None
            else positive(l2, "l2") ** 2
        )
        put = object.__setattr__
        put(self, "l1", None if l1 is None else positive(l1, "l1"))
        put(self, "l2_squared", square)
        put(
            self,
            "sup",
            positive(value, "sensitivity")
            if value is not None
            else None
            if sup is None
            else positive(sup, "sup"),
        )
        put(self, "relation", relation_of(relation))
        put(self, "integer_valued", integer_valued)
        put(
            self,
            "rounding",
            Fraction(0) if rounding is None else non_negative(rounding, "rounding"),
        )
        put(self, "formula", formula)

    @property
    def value(self) -> Fraction:
        """The bound on the move of a single value."""
        return self.moves("inf")

    def __mul__(self, factor: Number) -> Global:
        """Return the sensitivity of the statistic times a public number."""
        c = abs(non_negative(factor, "factor"))
        scaled = (
            None if v is None else c**p * v
            for v, p in ((self.l1, 1), (self.l2_squared, 2), (self.sup, 1))
        )
        l1, square, sup = scaled
        formula = f"{text(c)} · ({self.formula})" if self.formula else ""
        return Global(
            l1=l1,
            l2_squared=square,
            sup=sup,
            relation=self.relation,
            rounding=c * self.rounding,
            formula=formula,
        )

    __rmul__ = __mul__

    def __truediv__(self, divisor: Number) -> Global:
        """Return the sensitivity of the statistic divided by a public number: a sum over n, where n
        is a constant and not counted in the data.
        """
        return self * (1 / positive(divisor, "divisor"))

    def __repr__(self) -> str:
        shown = [
            f"{name}={text(v)}"
            for name in ("l1", "l2_squared", "sup")
            if (v := getattr(self, name)) is not None
        ]
        if shown[0].startswith("sup"):
            shown[0] = shown[0].removeprefix("sup=")
        if self.relation is not None:
            shown.append(f"relation={self.relation!r}")
        return f"Global({', '.join(shown)})"


@dataclass(frozen=True, slots=True)
class Lipschitz(Sensitivity):
    """A move of at most `constant` per unit of a metric between datasets, in a norm."""

    constant: Fraction
    metric: str
    norm: str
    relation: Relation | None

    def __init__(self, constant: Number, *, metric: str, norm: int | str = 1) -> None:
        put = object.__setattr__
        put(self, "constant", positive(constant, "constant"))
        put(self, "metric", metric)
        put(self, "norm", norm_of(norm))
        put(self, "relation", None)

    def within(self, distance: Number, *, relation: str | None = None) -> Global:
        """Return the global sensitivity for neighbours at most this far apart by the metric."""
        reach = self.constant * positive(distance, "distance")
        l1, l2, sup = (reach if self.norm == norm else None for norm in NORMS)
        return Global(
            l1=l1, l2=l2, sup=sup, relation=relation, formula=f"Lipschitz constant by {self.metric}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Local(Sensitivity):
    """The sensitivity at one dataset. It is secret: not shown, and no scale for noise."""

    value: Fraction
    relation: Relation | None = None

    def __repr__(self) -> str:
        return "Local(secret)"


@dataclass(frozen=True, slots=True)
class Smooth(Sensitivity):
    """The smooth sensitivity of a "median", "quantile" or "kth-largest" of values in a public
    range: noise follows the data slowly. The relation is replace.
    """

    statistic: str
    low: Number
    high: Number
    q: Number = "1/2"
    k: int = 1
    relation: Relation | None = field(default="replace", init=False)

    def public(self) -> dict[str, object]:
        return {"low": self.low, "high": self.high, "q": self.q, "k": self.k}


@dataclass(frozen=True, slots=True)
class Inverse(Sensitivity):
    """The inverse sensitivity of a "count", "median", "quantile" or "mode": the number of records
    that must change to reach each value. The relation is replace.
    """

    statistic: str
    low: Number | None = None
    high: Number | None = None
    q: Number | None = None
    categories: tuple[Hashable, ...] | None = None
    relation: Relation | None = field(default="replace", init=False)

    def public(self) -> dict[str, object]:
        fields = {"low": self.low, "high": self.high, "q": self.q, "categories": self.categories}
        return {name: value for name, value in fields.items() if value is not None}


def norm_of(norm: int | str) -> str:
    """Check the name of a norm."""
    if (name := str(norm)) in NORMS:
        return name
    raise refusals.UNKNOWN_NORM(norm=norm)


def _least(*bounds: Fraction | None) -> Fraction:
    return min(bound for bound in bounds if bound is not None)
