"""The base class of all mechanisms: a frozen record of public parameters that lists the guarantees
it promises. Data enter only at `perturb`.

A mechanism also carries what audits, accountants and ledgers ask of it, in the methods at the end
of the class; a subclass overrides those that it knows an answer to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...errors import RefusalText, Refused
from ...exact.numbers import Number, text
from ...guarantees import Guarantee, Relation
from ...guarantees.guarantee import relation_of
from ...records import public_fields
from . import mechanism_refusals as refusals

if TYPE_CHECKING:
    from ..stated.audit_example import AuditExample
    from ..stated.stated_laws import LossPair, OutputLaws
    from ..subsampled import Subsampled

G = TypeVar("G", bound=Guarantee)
Input = Any
"""What an audit hands to a mechanism: data, in the form that the mechanism takes."""
Output = Any
"""What an audit looks at: the published numbers."""
InputPair = tuple[Input, Input]
"""Two inputs that are neighbours."""
PublicFields = dict[str, Any]
"""The stored fields of a mechanism by name, or constructor arguments."""


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
        best = reduce(lambda a, b: a._meet(b), reached)
        return Guarantee._bind(best, reached[0].relation, reached[0].unit)

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

    why_no_law: ClassVar[str] = ""
    """The reason why no two inputs have an exact law in `output_laws`."""
    why_no_loss_pair: ClassVar[str] = ""
    """The reason why `loss_pair` states nothing and the accountant uses a promise instead."""
    why_not_restored: ClassVar[str] = ""
    """The reason why the stored form does not restore the mechanism."""

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        """List the settings in which `sfumato audit` audits this kind."""
        return []

    def audit_pairs(self) -> list[InputPair]:
        """List neighbours at which a promise is hard to keep; none if that depends on the data."""
        return []

    def neighbours_of(self, x: Input) -> list[InputPair]:
        """List pairs of x and a neighbour."""
        return []

    def output_laws(self, x: Input, y: Input) -> OutputLaws | None:
        """State the exact laws of the output at two inputs; None if they are not known."""
        return None

    def draw_once(self, x: Input) -> Output:
        """Draw the published numbers at an input of an audit."""
        draw = getattr(self, "perturb", None)
        assert draw is not None
        return draw(x)

    def draw_many(self, x: Input, n: int) -> NDArray[np.generic] | None:
        """Draw n independent outputs in one call; None if `draw_once` has to draw them."""
        return None

    def loss_pair(self) -> LossPair | None:
        """State the dominating pair; None if the accountant is to use a promise. Not inherited: see
        `states`.
        """
        return None

    def scale_noise(self, factor: Fraction) -> Mechanism | None:
        """Multiply the noise by a factor; None if it has no single scale. Not inherited: see
        `states`.
        """
        return None

    def releases(self) -> tuple[Mechanism, ...]:
        """List the mechanisms that the accountant adds up: this one, or its parts."""
        return (self,)

    @classmethod
    def arguments_of(cls, public: PublicFields) -> PublicFields:
        """Return the constructor arguments that follow from the stored public fields, but for
        those that are such a field.
        """
        return {}


def states(mechanism: Mechanism, method: str) -> bool:
    """Whether the class of a mechanism itself defines a method. A subclass that inherits one may
    draw or promise otherwise.
    """
    return method in vars(type(mechanism))


def with_scaled_noise(mechanism: Mechanism, factor: Fraction) -> Mechanism:
    """Multiply the noise of a mechanism by a factor; refuse if its class does not say how."""
    scaled = mechanism.scale_noise(factor) if states(mechanism, "scale_noise") else None
    if scaled is None:
        from .. import MECHANISMS

        scalable = [kind.__name__ for kind in MECHANISMS if "scale_noise" in vars(kind)]
        raise refusals.NOISE_WITHOUT_SCALE(mechanism=mechanism, scalable=", ".join(scalable))
    return scaled


def is_library_kind(kind: type) -> bool:
    """Whether the library defines a class."""
    return kind.__module__.partition(".")[0] == __name__.partition(".")[0]


def require_relation(value: str | None, refusal: RefusalText) -> Relation:
    """Check the relation of a mechanism whose sensitivity depends on it."""
    relation = relation_of(value)
    if relation is None:
        raise refusal()
    return relation
