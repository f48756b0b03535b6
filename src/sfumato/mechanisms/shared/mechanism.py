"""The base class of all mechanisms: a frozen record of public parameters that lists the guarantees
it promises. Data enter only at `perturb` or `choose`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, TypedDict, TypeVar

from ...errors import RefusalText, Refused
from ...exact.numbers import Number, text
from ...guarantees import Guarantee, Relation
from ...guarantees.guarantee import relation_of
from ...records import public_fields
from . import mechanism_refusals as refusals

if TYPE_CHECKING:
    from ..subsampled import Subsampled

G = TypeVar("G", bound=Guarantee)


class Neighbours(TypedDict, total=False):
    """The keywords of all mechanisms: which datasets are neighbours, and the unit protected."""

    relation: str | None
    unit: str | None


class Mechanism(ABC):
    """A law of noise and the sensitivity that it covers."""

    __slots__ = ()

    relation: Relation | None
    unit: str | None

    @property
    @abstractmethod
    def promises(self) -> tuple[Guarantee, ...]:
        """All guarantees that are proved and that do not follow from one another."""

    @property
    def promise(self) -> Guarantee:
        """The first of the promises, in the notion that fits the mechanism best."""
        return self.promises[0]

    @property
    def _neighbours(self) -> Neighbours:
        """The relation and the unit, as keywords of a guarantee or of another mechanism."""
        return {"relation": self.relation, "unit": self.unit}

    def to(self, notion: type[G], *, delta: Number | None = None) -> G:
        """The best statement of `notion` that follows from any of the promises."""
        reached: list[G] = []
        refusals: list[Refused] = []
        for promise in self.promises:
            try:
                reached.append(promise.to(notion, delta=delta))
            except Refused as refusal:
                refusals.append(refusal)
        if not reached:
            raise refusals[0]
        return reduce(lambda a, b: a._meet(b), reached)

    def subsample(
        self, q: Number | None = None, *, size: int | None = None, of: int | None = None
    ) -> Subsampled:
        """Run the mechanism on a secret sample: every unit enters with probability q (under
        add-remove), or `size` of `of` units do (under replace).
        """
        from ..subsampled import Subsampled, fixed_rate

        if q is not None and size is None and of is None:
            return Subsampled(base=self, rate=q)
        if q is None and size is not None and of is not None:
            return Subsampled(base=self, rate=fixed_rate(size, of), how="fixed")
        raise refusals.RATE_OR_SIZE_MISSING(mechanism=self)

    def __repr__(self) -> str:
        """Show the public parameters only, as a user would write them."""
        public = [(name, getattr(self, name)) for name in public_fields(type(self))]
        shown = [
            f"{name}={text(value) if isinstance(value, Fraction) else repr(value)}"
            for name, value in public
            if value is not None and value is not False and value != ()
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def require_relation(value: str | None, refusal: RefusalText) -> Relation:
    """Check the relation of a mechanism whose sensitivity depends on it."""
    relation = relation_of(value)
    if relation is None:
        raise refusal()
    return relation
