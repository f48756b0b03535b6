"""Choose the oracle with the least exact variance, and say why.

*Rule*     The oracle with the least exact variance of a frequency of 1/k, people and coins
           together, among those whose report is not longer than allowed; of equal ones the shortest
           report.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Unpack

from ..exact.numbers import Number, is_whole, positive
from ..keywords import spell_out
from . import local_refusals as refusals
from .direct import Direct
from .frequency_oracle import FrequencyOracle
from .hadamard import Hadamard
from .hashing import Hashing
from .oracle import UnitOptions, check_report_count
from .subset import Subset
from .unary import Unary
from .wire_reports import HEAD

CANDIDATES: dict[str, Callable[..., FrequencyOracle]] = {
    "Direct": Direct,
    "Unary": Unary,
    "Unary, symmetric": lambda **about: Unary(symmetric=True, **about),
    "Hashing": Hashing,
    "Hadamard": Hadamard,
    "Subset": Subset,
}
"""The oracles to compare: those without a shared hash, so that their variance shrinks to 0."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A candidate, its variance at frequency 1/k and the length of its report."""

    name: str
    oracle: FrequencyOracle
    variance: float
    report_bytes: int


@dataclass(frozen=True, slots=True)
class Best:
    """The chosen oracle and all candidates, the best first. `why` gives the reason in words."""

    oracle: FrequencyOracle
    n: int
    compared: tuple[Compared, ...]

    @property
    def why(self) -> str:
        first, *others = self.compared
        sentences = [
            (
                f"{first.name}: of {len(self.compared)} oracles it has the least variance at "
                f"ε = {float(self.oracle.epsilon):g} and k = {self.oracle.k}"
            )
        ]
        sentences.append(
            f"a frequency of 1/k is off by {first.variance**0.5:.2g} (one standard "
            f"error) from {self.n} reports of {first.report_bytes} bytes"
        )
        if others:
            sentences.append(
                f"next is {others[0].name} with "
                f"{others[0].variance / first.variance:.3g} times the variance and "
                f"{others[0].report_bytes} bytes"
            )
        if shorter := min(
            (c for c in others if c.report_bytes < first.report_bytes),
            key=lambda c: (c.report_bytes, c.variance),
            default=None,
        ):
            sentences.append(
                f"the shortest report is that of {shorter.name}: {shorter.report_bytes} "
                f"bytes for {shorter.variance / first.variance:.3g} times the variance"
            )
        return "; ".join(sentences) + "."

    def __str__(self) -> str:
        rows = [f"{c.name:<18}{c.variance:>12.4g}{c.report_bytes:>8} bytes" for c in self.compared]
        return "\n".join([f"{'oracle':<18}{'variance':>12}{'report':>14}", *rows, self.why])


@spell_out(UnitOptions)
def best(
    epsilon: Number,
    k: int | None = None,
    n: int = 1_000_000,
    *,
    categories: Iterable[Hashable] | None = None,
    max_bytes: int = 4096,
    **about: Unpack[UnitOptions],
) -> Best:
    """Choose the oracle for k categories (or these categories) and n reports.

    >>> sf.local.best(epsilon=1, k=100, n=1_000_000).oracle
    Subset(...)
    """
    if (k is None) == (categories is None):
        raise refusals.CATEGORIES_OR_COUNT()
    names = tuple(categories) if categories is not None else range(_check_count(k))
    e, reports = positive(epsilon, "epsilon"), check_report_count(n)
    oracles = {
        name: make(epsilon=e, categories=names, **about) for name, make in CANDIDATES.items()
    }
    rows = [
        Compared(name, oracle, oracle.variance(reports, Fraction(1, oracle.k)), HEAD + oracle.width)
        for name, oracle in oracles.items()
        if HEAD + oracle.width <= max_bytes
    ]
    if not rows:
        shortest = HEAD + min(oracle.width for oracle in oracles.values())
        raise refusals.REPORT_ABOVE_MAX_BYTES(max_bytes=max_bytes, shortest=shortest)
    rows.sort(key=lambda row: (row.variance, row.report_bytes))
    return Best(rows[0].oracle, reports, tuple(rows))


def _check_count(k: int | None) -> int:
    if not is_whole(k, 2, 1 << 24):
        raise refusals.TOO_FEW_CATEGORIES(k=k)
    return k
