"""A plan: what a release would compute, which noise it would add, what that costs and how exact it
is. Public: nothing was read.

*Cost*      A Guarantee, of everything together.
*Error*     Half the width of the interval around each answer. Of means and spreads it depends on
            how many rows a group has, which is not public: it is given for an assumed `group_size`.
            Of quantiles it is a number of rows.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from ...errors import Refused
from ...exact import effort
from ...exact.balls import up
from ...exact.numbers import Number, probability
from ...guarantees import Guarantee
from ...mechanisms import Several, WeightedQuantile
from ...mechanisms.shared.additive import Additive
from ...mechanisms.shared.noise_moments import linear_error
from ..query.stages import Query
from .choose_noise import TOTAL, Calibration, calibrate
from .components import Column, Piece, Wanted, wanted
from .read_results import Groups, public_groups
from .statements import Statement, statements

SIZED = frozenset({"mean", "weighted_mean", "ratio", "variance", "std"})
"""Kinds whose error depends on how many rows a group has."""

MOST_CELLS = 10_000_000
MOST_KEPT, LONGEST_KEPT = (
    32,
    20_000,
)  # statements of a source that are kept; characters of their questions
_PRODUCT, _SUM = 62, 126  # bits of a weight times an integer, and of a sum of them


@dataclass(frozen=True, eq=False)
class Plan:
    """A query with the noise that keeps a promise."""

    query: Query
    promise: Guarantee
    pieces: tuple[Piece, ...]
    columns: tuple[Column, ...]
    calibration: Calibration
    source: Any = field(repr=False)
    group_size: int = 1000

    @property
    def mechanism(self) -> Several:
        """All of the noise, as one entry of a ledger."""
        return self.calibration.whole

    @property
    def cost(self) -> Guarantee:
        return self.mechanism.promise

    @property
    def kinds(self) -> dict[str, str]:
        """What each column is: a count, a mean, …"""
        return {column.name: column.kind for column in self.columns}

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """What the engine is to compute: made of the same pieces and limits as the noise. A plan of
        the same question for another promise has the same ones, unless something is drawn for them,
        which is drawn for each plan.
        """
        bounding, kept = self.calibration.bounding, self.source.made
        drawn = bounding.truncation or any(piece.form == "distinct" for piece in self.pieces)
        key = (
            None
            if drawn or len(self.text) > LONGEST_KEPT
            else (self.text, self.declared, bounding, tuple(piece.key for piece in self.pieces))
        )
        made: tuple[Statement, ...] | None = kept.pop(key, None)
        if made is None:
            made = statements(
                self.source.table,
                self.query,
                self.pieces,
                bounding,
                secrets.token_hex(16),
                self.source.stored,
            )
        if key is not None:
            kept[key] = made  # as the latest
            for oldest in list(kept)[:-MOST_KEPT]:
                kept.pop(oldest, None)
        return made

    @cached_property
    def text(self) -> str:
        """The question, as text."""
        return self.query.text

    @cached_property
    def declared(self) -> str:
        """The declaration, as text."""
        return self.query.rows.declared

    @cached_property
    def groups(self) -> Groups | None:
        """The groups of the answer, where they are public."""
        if not self.query.public:
            return None
        schema = self.statements[0].expression.schema()
        return public_groups(
            self.query, [schema[f"k{i}"].to_pyarrow() for i in range(len(self.query.keys))]
        )

    @property
    def sql(self) -> tuple[str, ...]:
        """The same, in the engine's language. Plain sums over files may be added without it, to the
        same integers.
        """
        return tuple(self.source.engine.sql(statement.expression) for statement in self.statements)

    def error(
        self, confidence: Number = 0.95, *, group_size: int | None = None
    ) -> dict[str, float]:
        """Expected ± of each column, at this confidence."""
        level, size = (
            probability(confidence, "confidence", zero=False),
            group_size or self.group_size,
        )
        return {column.name: self._error(column, level, size) for column in self.columns}

    def about(self, name: str, error: float) -> str:
        """What is said of a column's error."""
        kind = next(column.kind for column in self.columns if column.name == name)
        size = f" in a group of {self.group_size} rows"
        away = {"quantile": " rows away", "percentile": " rows away"}.get(
            kind, size if kind in SIZED else ""
        )
        return f"± {error:.4g}{away}, with probability 0.95"

    def explain(self) -> str:
        """What would happen, in sentences."""
        from .explain import explain

        return explain(self)

    def __str__(self) -> str:
        return self.explain()

    def _error(self, column: Column, level: Fraction, size: int) -> float:
        effort.check()
        noise = [self.calibration.noise[i] for i in column.pieces]
        first = noise[0][0]
        if isinstance(first, WeightedQuantile):
            return up(
                Fraction(
                    abs(first.shift) + first.rank_error(level), 1 << self.calibration.bounding.bits
                )
            )
        if column.kind == "percentile":
            piece = self.pieces[column.pieces[0]]
            assert piece.tree is not None
            return up(
                Fraction(linear_error(first, piece.tree.added(column.numbers["q"]), 1 - level))  # type: ignore[arg-type]
                * self.calibration.bounding.step(piece)
            )
        each = 1 - (1 - level) / len(noise)  # of several pieces, each by itself
        widths = [self._width(i, each) for i in column.pieces]
        if column.kind in ("ratio", "weighted_mean"):
            return self._quotient(column, widths, size)
        if column.kind not in ("mean", "variance", "std"):
            return up(widths[0])
        half = (column.numbers["high"] - column.numbers["low"]) / 2
        if size <= widths[-1]:
            return up(
                2 * half if column.kind == "mean" else half if column.kind == "std" else half**2
            )
        rows = size - widths[-1]
        mean = min(2 * half, (widths[-2] + half * widths[-1]) / rows)
        if column.kind == "mean":
            return up(mean)
        variance = min(half**2, (widths[0] + half**2 * widths[-1]) / rows + 2 * half * mean)
        return up(
            variance if column.kind == "variance" else variance / half
        )  # of a root, where the spread is half of the largest possible one

    def _quotient(self, column: Column, widths: list[Fraction], size: int) -> float:
        """Of rows whose values lie in the middle of their bounds."""
        numbers = column.numbers
        divisor = size * (numbers["by_low"] + numbers["by_high"]) / 2
        if abs(divisor) <= widths[1]:
            return math.inf if column.kind == "ratio" else up(numbers["high"] - numbers["low"])
        least = abs(divisor) - widths[1]
        if column.kind == "ratio":
            return up(
                (
                    widths[0]
                    + abs(size * (numbers["low"] + numbers["high"]) / 2 / divisor) * widths[1]
                )
                / least
            )
        half = (numbers["high"] - numbers["low"]) / 2
        return up(min(2 * half, (widths[0] + half * widths[1]) / least))

    def _width(self, place: int, level: Fraction) -> Fraction:
        noise = self.calibration.noise[place][0]
        assert isinstance(noise, Additive)
        return noise.law.half_width(level) * self.calibration.bounding.step(self.pieces[place])


def plan(
    query: Query,
    promise: Guarantee,
    source: Any,
    group_size: int = 1000,
    needed: Wanted | None = None,
) -> Plan:
    """The best noise for a promise, and all that follows. Reads nothing. `needed` is
    `wanted(query)`, where a caller plans one query for several promises.
    """
    effort.check()
    if isinstance(group_size, bool) or not isinstance(group_size, int) or group_size < 1:
        raise Refused(
            "plan.group-size",
            f"group_size={group_size}",
            "the assumed number of rows of a group is a whole number from 1 on",
            "group_size=1000",
        )
    needed = wanted(query) if needed is None else needed
    pieces = needed.pieces
    cells = math.prod(len(domain) for domain in query.domains) * max(
        piece.cells for piece in pieces
    )
    if query.public and cells > MOST_CELLS:
        raise Refused(
            "plan.groups",
            f"{cells} numbers in a column",
            f"it has at most {MOST_CELLS}, of all groups and bins",
            "fewer public keys, or fewer bins",
        )
    if not query.public and any(piece.name == "count" for piece in pieces):
        pieces = (*pieces, Piece(TOTAL, "one", pooled=True))
    try:
        made = calibrate(query, pieces, promise)
    except Refused as refused:
        if refused.code != "noise.scale":
            raise
        raise _too_far(max(pieces, key=lambda piece: piece.largest), "its noise") from None
    for piece in made.pieces:
        if (
            made.bounding.bits + piece.largest.bit_length() > _PRODUCT
            or made.bounding.sum_bits(piece) > _SUM
        ):
            raise _too_far(piece, "its sums")
    return Plan(query, promise, made.pieces, needed.columns, made, source, group_size)


def _too_far(piece: Piece, what: str) -> Refused:
    reason = f"so far from 0, or over so many rows, {what} could leave the integers of the engine"
    return Refused(
        "plan.range",
        piece.name,
        reason,
        (
            "narrower bounds, a smaller table_rows=, a larger epsilon, or mean(…), which "
            "measures from the middle"
        ),
    )
