"""Records of the product's own kinds that promise less than they cost, or draw otherwise than they
say.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from sfumato import GDP, Pure
from sfumato import mechanisms as mech
from sfumato.guarantees import Guarantee
from sfumato.local import Unary

from .audited import audited
from .case import Case, case


class HalfPromised(mech.RandomizedResponse):
    """A record that promises half of what it costs."""

    __slots__ = ()

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return tuple(
            Pure(promise.parameters["epsilon"] / 2)
            for promise in super().promises
            if isinstance(promise, Pure)
        )


class NarrowGaussian(mech.Gaussian):
    """A record that promises a smaller μ than its noise gives."""

    __slots__ = ()

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (GDP(Fraction(super().promises[0].parameters["mu"]) * Fraction(9, 10)),)


class NeverCleared(Unary):
    """A client that ORs its own bit into what chance had set."""

    __slots__ = ()

    def _draw(self, codes: Any, bits: Any) -> Any:
        once, again = super()._draw(codes, bits), super()._draw(codes, bits)
        own_bit = np.zeros_like(once)
        own_bit[np.arange(len(codes)), codes // 8] = 128 >> codes % 8
        return once | (again & own_bit)


_FOUR = ["a", "b", "c", "d"]


CASES: dict[str, Case] = {
    "half-promised": case(
        "a record that promises ε/2 for ε",
        "the product's record",
        "claims",
        audited(HalfPromised(epsilon=1, categories=["yes", "no"]), ("yes", "no"), exact=True),
        audited(
            mech.RandomizedResponse(epsilon=1, categories=["yes", "no"]), ("yes", "no"), exact=True
        ),
    ),
    "narrow-gaussian": case(
        "a record that promises 0.9·μ for μ",
        "the product's record",
        "claims",
        audited(NarrowGaussian(sensitivity=1, sigma=1), (0, 1), samples=100_000),
        audited(mech.Gaussian(sensitivity=1, sigma=1), (0, 1), samples=100_000),
    ),
    "oracle-never-clears": case(
        "a local oracle that never clears its own bit",
        "the product's oracle",
        "pure-LDP#11",
        audited(
            NeverCleared(epsilon=1, categories=_FOUR).draw_many,
            ("a", "b"),
            Pure(1),
            samples=100_000,
        ),
        audited(
            Unary(epsilon=1, categories=_FOUR).draw_many,
            ("a", "b"),
            Pure(1),
            samples=100_000,
        ),
    ),
}
