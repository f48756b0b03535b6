"""The records inside an answer: noisy integers with their noise law, the columns computed from
them, and the receipt.

All of it is public: the integers carry noise, and everything else was public before data was read.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..exact.exact_ratios import Integers
from ..guarantees import Guarantee, Relation
from ..mechanisms.shared.mechanism import Mechanism
from ..noise.weighted_sums import Spread, SumLaw
from ..records import record
from . import answer_refusals as refusals
from .formula import Formula

if TYPE_CHECKING:
    from ..ledger import Receipt
    from ..mechanisms.linear.axis_strategies import AxisStrategy

Key = bool | int | float | str | Decimal | datetime.date | datetime.datetime | uuid.UUID | None
"""The value of a column that rows are grouped by."""


def law_of(mechanism: Mechanism) -> Spread | None:
    """Return the law of the noise that a mechanism adds to each integer, if it adds noise."""
    law: Spread | None = getattr(mechanism, "law", None)
    return law if hasattr(law, "half_width") else None


class Draw(NamedTuple):
    """A draw of noise inside a piece: its mechanism, its weight, and a name. Pieces of an answer
    with a draw of the same name share it; a draw without a name is in one piece only.
    """

    mechanism: Mechanism
    weight: Fraction
    name: str = ""


@record
class LinearNoise(Mechanism):
    """The noise of a piece that is a weighted sum of several draws."""

    draws: tuple[Draw, ...]

    @property
    def relation(self) -> Relation | None:  # type: ignore[override]  # derived, not a field
        return self.draws[0].mechanism.relation

    @property
    def unit(self) -> str | None:  # type: ignore[override]  # derived, not a field
        return self.draws[0].mechanism.unit

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        """The sum of the promises of all draws; those of one block of cells keep one promise."""
        parts = {(_block_of(draw.name) or i): draw for i, draw in enumerate(self.draws)}
        return (reduce(lambda a, b: a + b, (draw.mechanism.promise for draw in parts.values())),)

    @property
    def law(self) -> SumLaw:
        laws = [(law_of(draw.mechanism), draw.weight) for draw in self.draws]
        return SumLaw.of((law, weight) for law, weight in laws if law is not None)


@dataclass(frozen=True, slots=True, eq=False)
class Noisy:
    """A piece: released integers, with a row for each group and a column for each cell. A value is
    integer · step. Integers of a piece have independent draws of noise; pieces may share draws.

    `among` is the number of groups from which these values chose the shown ones: 0 if they chose
    none, None if an older version did not record the number. `sorts` is true if these values
    decided the order of the groups.
    """

    name: str
    values: Integers
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
        """The law of the added noise; None for a value chosen otherwise, such as a quantile."""
        return law_of(self.mechanism)

    def half_width(self, confidence: Fraction, values: int = 1) -> int:
        """Bound the noise of `values` draws, all at once, with this confidence; in steps."""
        law = self.law
        if law is None:
            raise refusals.UNKNOWN_LAW(name=self.name, mechanism=type(self.mechanism).__name__)
        return _half_width(law, confidence, values)

    @property
    def draws(self) -> tuple[Draw, ...]:
        """The draws in each of the integers, by names that are unique in an answer."""
        if not isinstance(self.mechanism, LinearNoise):
            return (Draw(self.mechanism, Fraction(1), self.name),)
        return tuple(
            draw if draw.name else draw._replace(name=f"{self.name} {i}")
            for i, draw in enumerate(self.mechanism.draws)
        )

    @property
    def variance(self) -> Fraction:
        """The variance of the noise on a value, to the nearest double."""
        law = self.law
        return Fraction(law.variance) * self.step**2 if law is not None else Fraction(0)


@dataclass(frozen=True, slots=True)
class Processed:
    """Post-processed values that replace the released ones, group by group and cell by cell, and
    the floor that they respect, if there is one.
    """

    values: tuple[Fraction, ...]
    at_least: Fraction | None = None
    is_whole: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column of an answer: its kind, its pieces, the text of the query, and the public numbers
    that its computation needs.
    """

    name: str
    kind: str
    pieces: tuple[int, ...]
    text: str = ""
    numbers: Mapping[str, Fraction] = field(default_factory=dict)
    edges: tuple[Fraction, ...] = ()
    processed: Processed | None = None
    formula: Formula | None = None  # of a column that is computed from others
    # the pieces of all released groups, of a column that is computed across groups; it has no
    # pieces of its own
    sources: tuple[int, ...] = ()

    @property
    def floor(self) -> Fraction | None:
        """The floor that post-processing set, if there is one."""
        return None if self.processed is None else self.processed.at_least

    @property
    def is_binned(self) -> bool:
        """Whether the column has a number for each bin of a group."""
        return self.kind in ("histogram", "cumulative")

    @property
    def bins(self) -> tuple[str, ...]:
        """The bins between the edges as texts; the last bin is closed. Those of cumulative counts
        begin at the first edge.
        """
        from .render.format_digits import format_exact

        firsts = self.edges[:1] * len(self.edges) if self.kind == "cumulative" else self.edges
        pairs = list(zip(firsts, self.edges[1:], strict=False))
        return tuple(
            f"[{format_exact(a)}, {format_exact(b)}{']' if i == len(pairs) - 1 else ')'}"
            for i, (a, b) in enumerate(pairs)
        )


@dataclass(frozen=True, slots=True)
class Paid:
    """The ledger entry that paid for an answer."""

    number: int
    digest: str
    when: str

    @classmethod
    def by(cls, receipt: Receipt) -> Paid:
        """Copy the number, digest and time of a receipt."""
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
"""The ways to bound the contribution of a unit."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """How a release bounded its units: the rule, the limits on a unit's rows and groups, and the
    number of bits of a weight.

    Two releases answer the same bounded question only if all four are equal and no rows were drawn.
    """

    rule: Rule
    rows: int = 1
    groups: int = 1
    bits: int = 0

    @property
    def adds(self) -> bool:
        """Whether bounded counts and sums of groups add up to those of all rows, even in another
        release.
        """
        return self.rule in ("row", "part")

    def __str__(self) -> str:
        return (
            f"{RULES[self.rule]} ({self.rows} rows, {self.groups} groups, weights of "
            f"{self.bits} bits)"
        )


def strategy_of(column: Column) -> AxisStrategy:
    """Return the strategy that measured the cells of cumulative counts."""
    from ..tables.aggregates.prefix_noise import restore_strategy

    return restore_strategy(len(column.edges) - 1, column.numbers)


def source_groups(column: Column, pieces: Sequence[Noisy]) -> Callable[[Column], int]:
    """Return a function that counts the groups of an operand of a column across groups."""
    return lambda leaf: len(pieces[column.sources[leaf.pieces[0]]].values)


def share_draws(pieces: Iterable[Noisy]) -> bool:
    """Tell whether two of these pieces share a draw of noise."""
    names: set[str] = set()
    for piece in pieces:
        drawn = {draw.name for draw in piece.draws}
        if drawn & names:
            return True
        names |= drawn
    return False


def _block_of(name: str) -> str:
    """Return the release and the block of a draw in a cell ("1/2.0": "1/2"); "" for other draws."""
    block, _, cell = name.rpartition(".")
    is_cell = cell.isdecimal() and block.rpartition("/")[2].isdecimal()
    return block if is_cell else ""


@lru_cache(maxsize=4096)
def _half_width(law: Spread, confidence: Fraction, values: int) -> int:
    """Compute a half-width. Cached: ball arithmetic is slow, and answers ask repeatedly."""
    return law.half_width(confidence, values=values)


def _integers(values: ArrayLike, name: str) -> Integers:
    """Return read-only rows of integers: 64-bit if they fit, else Python integers."""
    array = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    if array.ndim == 1 and not array.size:
        array = array.reshape(0, 1)  # no group
    if array.dtype == np.uint64:
        array = array.astype(object)
    is_integral = array.dtype.kind in "iu" or (
        array.dtype.kind == "O" and all(type(v) is int for v in array.flat)
    )
    if array.ndim != 2 or not is_integral:
        raise refusals.VALUES_NOT_INTEGERS(name=name)
    try:
        array = array.astype(np.int64)
    except OverflowError:
        array = array.copy()
    array.setflags(write=False)
    return array
