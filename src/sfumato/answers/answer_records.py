"""What an answer is made of: noisy integers with the law of their noise, the columns that are
finished from them, and the proof of payment.

All of it is public: the integers left the door with noise on them, everything else was known before
data was read.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import Refused
from ..mechanisms.shared.mechanism import Mechanism
from .formula import Formula

Key = bool | int | float | str | Decimal | datetime.date | datetime.datetime | uuid.UUID | None
"""The value of a column that rows are grouped by."""


class Spread(Protocol):
    """What intervals need to know of a law of noise: how far a draw goes, in steps."""

    @property
    def variance(self) -> float: ...

    def half_width(self, confidence: Fraction, *, values: int = 1) -> int: ...

    def __hash__(self) -> int: ...


def law_of(mechanism: Mechanism) -> Spread | None:
    """The law of the noise that a mechanism adds to each integer, if it adds noise."""
    law: Spread | None = getattr(mechanism, "law", None)
    return law if hasattr(law, "half_width") else None


@dataclass(frozen=True, slots=True, eq=False)
class Noisy:
    """Released integers: a row for each group, a column for each cell. Their value is integer ·
    step; the noise on each is a draw of its own.

    `among` is the number of groups from which these values chose those that are here: 0 where they
    chose none, None where an older version did not record the number. `sorts` is true where these
    values decided the order of the groups.
    """

    name: str
    values: NDArray[Any]
    step: Fraction
    mechanism: Mechanism
    among: int | None
    sorts: bool

    def __init__(
        self,
        name: str,
        values: ArrayLike,
        step: Fraction | int,
        mechanism: Mechanism,
        among: int | None = 0,
        *,
        sorts: bool = False,
    ) -> None:
        put = object.__setattr__
        put(self, "name", name)
        put(self, "values", _integers(values, name))
        put(self, "step", Fraction(step))
        put(self, "mechanism", mechanism)
        put(self, "among", among)
        put(self, "sorts", sorts)

    @property
    def law(self) -> Spread | None:
        """The law of the noise, where noise was added; what was chosen by other means, a quantile,
        has none.
        """
        return law_of(self.mechanism)

    def half_width(self, confidence: Fraction, values: int = 1) -> int:
        """What the noise of `values` draws stays within, all at once, with this probability; in
        steps.
        """
        law = self.law
        if law is None:
            kind = type(self.mechanism).__name__
            raise Refused(
                "answer.law",
                f"{self.name} by {kind}",
                "the law of its noise is not known here",
                "the sfumato that released it, or a newer one",
            )
        return _half_width(law, confidence, values)

    @property
    def variance(self) -> Fraction:
        """Of the noise on a value; to the nearest double."""
        law = self.law
        return Fraction(law.variance) * self.step**2 if law is not None else Fraction(0)


@dataclass(frozen=True, slots=True)
class Processed:
    """Values that a helper put in the place of the released ones: group by group, cell by cell. The
    limit below which no value lies, if there is one.
    """

    values: tuple[Fraction, ...]
    at_least: Fraction | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column of an answer: which pieces it is made of, what was asked, and the public numbers
    that finishing needs.
    """

    name: str
    kind: str
    pieces: tuple[int, ...]
    text: str = ""
    numbers: Mapping[str, Fraction] = field(default_factory=dict)
    edges: tuple[Fraction, ...] = ()
    processed: Processed | None = None
    formula: Formula | None = None  # of a column that is computed from others

    @property
    def floor(self) -> Fraction | None:
        """The limit below which a helper let no value lie, if there is one."""
        return None if self.processed is None else self.processed.at_least

    @property
    def bins(self) -> tuple[str, ...]:
        """The bins between the edges, as one writes them; the last one is closed."""
        from .render.format_digits import plain

        pairs = list(zip(self.edges, self.edges[1:], strict=False))
        return tuple(
            f"[{plain(a)}, {plain(b)}{']' if i == len(pairs) - 1 else ')'}"
            for i, (a, b) in enumerate(pairs)
        )


@dataclass(frozen=True, slots=True)
class Paid:
    """The entry of the ledger that paid for an answer."""

    number: int
    digest: str
    when: str

    @classmethod
    def by(cls, receipt: Any) -> Paid:
        """Of a receipt, or of anything with a number, a digest and a time."""
        return cls(receipt.number, receipt.digest, receipt.when)


Rule = Literal["row", "part", "root", "drawn"]
RULES: dict[Rule, str] = {
    "row": "each row counts in full",
    "part": "each of the n rows of a unit counts for k/max(n, k), with k the limit on rows",
    "root": (
        "a unit is bounded in the Euclidean norm over its groups, so the weight of its rows "
        "depends on the groups"
    ),
    "drawn": "k rows of a unit count, and which ones is drawn for each release",
}
"""The ways to bound what a unit counts for."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """How a release bounded its units: the rule, the limits on rows and groups of a unit, and the
    number of bits of a weight.

    Two releases answer the same bounded question only where all of it is the same, and nothing was
    drawn.
    """

    rule: Rule
    rows: int = 1
    groups: int = 1
    bits: int = 0

    @property
    def adds(self) -> bool:
        """Whether the bounded counts and sums of groups add up to those of all rows, also in
        another release.
        """
        return self.rule in ("row", "part")

    def __str__(self) -> str:
        return (
            f"{RULES[self.rule]} ({self.rows} rows, {self.groups} groups, weights of "
            f"{self.bits} bits)"
        )


@lru_cache(maxsize=4096)
def _half_width(law: Spread, confidence: Fraction, values: int) -> int:
    """Decided in ball arithmetic, which takes a while; answers ask the same again and again."""
    return law.half_width(confidence, values=values)


def _integers(values: ArrayLike, name: str) -> NDArray[Any]:
    """Rows of integers, read-only: 64 bits where they fit, Python's own where they do not."""
    found = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    if found.ndim == 1 and not found.size:
        found = found.reshape(0, 1)  # no group
    if found.dtype == np.uint64:
        found = found.astype(object)
    whole = found.dtype.kind in "iu" or (
        found.dtype.kind == "O" and all(type(v) is int for v in found.flat)
    )
    if found.ndim != 2 or not whole:
        raise Refused(
            "answer.pieces",
            f"values of {name!r}",
            "a piece is integers: a row for each group, a cell for each number",
            "values=((42,),)",
        )
    try:
        found = found.astype(np.int64)
    except OverflowError:
        found = found.copy()
    found.setflags(write=False)
    return found
