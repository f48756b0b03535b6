"""What every mechanism shares: a frozen record of public things that lists the promises it keeps. Data enter only at `perturb` or `choose`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from fractions import Fraction
from functools import reduce
from typing import TypeVar

from ..errors import Refused
from ..exact.numbers import Number, text
from ..guarantees import Guarantee, Relation

G = TypeVar("G", bound=Guarantee)


class Mechanism(ABC):
    """A law of noise, with the sensitivity it covers."""

    __slots__ = ()

    relation: Relation | None
    unit: str | None

    @property
    @abstractmethod
    def promises(self) -> tuple[Guarantee, ...]:
        """All guarantees that are known to hold and that do not follow from one another."""

    @property
    def promise(self) -> Guarantee:
        """The first of the promises: the notion the mechanism is made for."""
        return self.promises[0]

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

    def __repr__(self) -> str:
        """Public things only, as a user would write them."""
        public = [(f.name, getattr(self, f.name)) for f in fields(self) if f.repr]  # type: ignore[arg-type]
        shown = [
            f"{name}={text(value) if isinstance(value, Fraction) else repr(value)}"
            for name, value in public
            if value is not None and value is not False and value != ()
        ]
        return f"{type(self).__name__}({', '.join(shown)})"
