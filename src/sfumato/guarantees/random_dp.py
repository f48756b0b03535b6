"""Random differential privacy: a guarantee that holds for most pairs of neighbours drawn from an
assumed distribution.

*Promise*   With probability at least 1 − γ over a random pair of neighbours drawn from `over`, the
            inner guarantee holds for that pair (Hall, Rinaldo & Wasserman 2013).
*Not DP*    It says nothing about any particular dataset, so nothing else implies it or follows from
            it, and no ledger takes it.
*Compose*   inner guarantees add up, and γ adds up, over the same distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn, Self

from ..exact.numbers import Number, probability, shown, text
from . import guarantee_refusals as refusals
from .guarantee import Guarantee, Relation, notion, sum_of_deltas
from .stored_guarantee import StoredFields, ratio, record, restore


@notion
@dataclass(frozen=True, slots=True, repr=False)
class RandomDP(Guarantee):
    """A guarantee for all but a share γ of the pairs drawn from `over`."""

    guarantee: Guarantee
    gamma: Fraction
    over: str
    relation: Relation | None
    unit: str | None

    def __init__(self, guarantee: Guarantee, gamma: Number, *, over: str) -> None:
        if not isinstance(guarantee, Guarantee) or isinstance(guarantee, RandomDP):
            raise refusals.RANDOM_DP_WITHOUT_GUARANTEE(guarantee=guarantee)
        object.__setattr__(self, "guarantee", guarantee)
        object.__setattr__(self, "gamma", probability(gamma, "gamma"))
        object.__setattr__(self, "over", over)
        object.__setattr__(self, "relation", guarantee.relation)
        object.__setattr__(self, "unit", guarantee.unit)

    @property
    def parameters(self) -> dict[str, object]:
        return {**self.guarantee.parameters, "gamma": self.gamma}

    def delta(self, epsilon: Number) -> NoReturn:
        self._refuse(f"delta({epsilon})")

    def epsilon(self, delta: Number = 0) -> NoReturn:
        self._refuse(f"epsilon({delta})")

    def renyi(self, order: Number) -> NoReturn:
        self._refuse(f"renyi({order})")

    def _refuse(self, call: str) -> NoReturn:
        raise refusals.RANDOM_DP_IS_NOT_DP(guarantee=self, call=call, gamma=text(self.gamma))

    def _plus(self, addend: Self) -> Self:
        if self.over != addend.over:
            raise refusals.DIFFERENT_DISTRIBUTIONS(
                a=self, b=addend, first=self.over, second=addend.over
            )
        return type(self)(
            self.guarantee + addend.guarantee,
            sum_of_deltas(self.gamma + addend.gamma, lambda: f"{self} + {addend}"),
            over=self.over,
        )

    def _times(self, count: int) -> Self:
        return type(self)(
            count * self.guarantee,
            sum_of_deltas(count * self.gamma, lambda: f"{shown(count)} * {self}"),
            over=self.over,
        )

    def _implied_by(self, premise: Guarantee) -> bool:
        return (
            isinstance(premise, RandomDP)
            and premise.over == self.over
            and premise.gamma <= self.gamma
            and premise.guarantee <= self.guarantee
        )

    def _meet(self, second: Self) -> Self:
        return min(self, second, key=lambda a: a.gamma)

    def _group(self, size: int) -> NoReturn:
        self._refuse(f"group({size})")

    def tradeoff(self, alpha: Number) -> NoReturn:
        self._refuse(f"tradeoff({alpha})")

    def _stored(self) -> dict[str, object]:
        return {"guarantee": record(self.guarantee), "gamma": str(self.gamma), "over": self.over}

    @classmethod
    def _restored(cls, stored: StoredFields, relation: str | None, unit: str | None) -> Self:
        inner = restore(stored["guarantee"])
        return cls(inner, ratio(stored["gamma"]), over=stored["over"])

    def __repr__(self) -> str:
        return f"RandomDP({self.guarantee!r}, gamma={text(self.gamma)}, over={self.over!r})"
