"""Plan a synthetic table: what is measured in which step, with how much noise, at which cost.

A plan is public: planning reads no data. The release counts once, charges once, and measures four
things one after the other; each has a fixed share of the cost.

*Columns*      the table of each column.
*Scores*       for each pair: Σ|count − count if independent|, in merged cells.
*Tables*       of the chosen pairs.
*Certificate*  Σ|count − synthetic count| for each column and each pair of the finished table.
*Proof*        docs/proofs/synthetic.md
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import root_up
from ..guarantees import ZCDP, Guarantee
from ..ledger import Ledger, Receipt
from ..mechanisms import Combined, Gaussian
from ..noise.bits import SYSTEM, Bits
from ..noise.law import Integers
from ..release import Step, release_steps
from ..tables.engine.sources import TableSource
from ..tables.plan.row_codes import Columnwise, ExactLines, RowCodes
from ..tables.plan.statements import EngineStatement
from ..templates.summary import Summarized, Summary
from .arrange_rows import arrange_rows
from .choose_tables import Pair, choose_tables
from .error_certificate import Certificate
from .fit_tables import FittedTables, NoisyTable, fit_tables
from .merge_cells import Doubles, MergedColumn, merge_all
from .possible_rows import PossibleCells, repair_rows
from .scatter import Scatter
from .stored_synthesis import Synthesis, pack_synthesis, unpack_synthesis
from .synthetic_table import SyntheticTable

COLUMNS, SCORES, TABLES, CERTIFICATE = (Fraction(n, 100) for n in (16, 6, 68, 10))
"""The shares of the cost, as ρ. Without pairs, the columns have what is not the certificate's."""


@dataclass(frozen=True, slots=True)
class StepNoise:
    """The noise of each step. That of `tables` is for one table with the share of all; each chosen
    one gets a part of it.
    """

    columns: Gaussian
    certificate: Gaussian
    scores: Gaussian | None = None
    tables: Gaussian | None = None

    @property
    def parts(self) -> tuple[Gaussian, ...]:
        """All that is charged."""
        steps = (self.columns, self.scores, self.tables, self.certificate)
        return tuple(step for step in steps if step is not None)

    def of_table(self, share: Fraction) -> Gaussian:
        """Return the noise of a table with a share of the noise of all."""
        noise = self.tables
        assert noise is not None
        sigma = root_up(noise.sigma**2 / share)
        return Gaussian(
            sensitivity=noise.sensitivity, sigma=sigma, relation=noise.relation, unit=noise.unit
        )


@dataclass(frozen=True, eq=False, repr=False)
class SynthesisPlan(Summarized):
    """What is measured, and its cost."""

    codes: RowCodes
    source: TableSource
    ledger: Ledger
    statement: EngineStatement
    noise: StepNoise
    promise: Guarantee
    mechanism: Combined
    rows: int | None  # of the synthetic table; None for a noisy count
    possible: tuple[PossibleCells, ...] = ()  # what the owner declared of combinations

    @property
    def cost(self) -> Guarantee:
        """What the release costs: in ρ, if that was promised."""
        promise = self.mechanism.promise
        return promise.to(ZCDP) if isinstance(self.promise, ZCDP) else promise

    @property
    def statements(self) -> tuple[EngineStatement, ...]:
        """What the engine runs."""
        return (self.statement,)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.codes.columns)

    @cached_property
    def pairs(self) -> tuple[Columnwise, ...]:
        """All pairs of columns."""
        return tuple(combinations(range(len(self.codes.columns)), 2))

    @cached_property
    def certified(self) -> tuple[Columnwise, ...]:
        """All that the certificate is about: each column, and each pair."""
        return (*((i,) for i in range(len(self.codes.columns))), *self.pairs)

    @cached_property
    def text(self) -> str:
        """What is released, as text."""
        cells = ", ".join(f"{column.name} ({column.cells})" for column in self.codes.columns)
        count = "a noisy count of" if self.rows is None else f"{self.rows:,}"
        return f"synthetic table {self.codes.rows.text}\n{count} rows\ncells: {cells}"

    @cached_property
    def question_key(self) -> str:
        """The key of the stored release."""
        key = {
            "synthetic": 1,
            "query": self.codes.rows.text,
            "declaration": self.codes.rows.declared,
            "rows": self.rows,
            "columns": [
                [c.name, c.cells, c.keys, c.width, c.edges, c.grid and [c.grid.low, c.grid.high]]
                for c in self.codes.columns
            ],
            "possible": [
                [each.columns, hashlib.sha256(each.possible.tobytes()).hexdigest()]
                for each in self.possible
            ],
            "promise": self.promise.to_json(),
        }
        return json.dumps(key, default=str, ensure_ascii=False)

    def steps(self) -> Generator[Step, list[Integers], Synthesis]:
        """Measure columns, scores, chosen tables, and the error of the rows that follow."""
        scatter, unit = Scatter(0), self._unit
        every = [(i,) for i in range(len(self.codes.columns))]
        singles = yield self._count(every, [self.noise.columns] * len(every), (self.statement,))
        one_way = [values * unit for values in singles]
        deviation = float(self.noise.columns.sigma) * unit
        ordered = [column.ordered for column in self.codes.columns]
        merged = merge_all(one_way, deviation, ordered)
        columns = [
            NoisyTable(coarse.sum_up(counts), deviation**2)
            for coarse, counts in zip(merged, one_way, strict=True)
        ]
        total = max(1.0, self._total(one_way))
        fitted = fit_tables(total, columns, {})
        shares: Mapping[Pair, Fraction] = {}
        scores: dict[Pair, float] = {}
        tables: list[Integers] = []
        if self.noise.scores is not None and self.noise.tables is not None:
            goals = {pair: self._on_grid(fitted.independent(pair)) for pair in self.pairs}
            (noisy,) = yield self._measure_distances(goals, self.noise.scores, merged)
            scores = dict(zip(self.pairs, (noisy * unit).tolist(), strict=True))
            shares = choose_tables(
                scores,
                float(self.noise.scores.sigma) * unit,
                [coarse.count for coarse in merged],
                float(self.noise.tables.sigma) * unit,
            )
        if shares:
            noises = [self.noise.of_table(share) for share in shares.values()]
            tables = yield self._count(list(shares), noises, (), merged)
            measured = {
                pair: NoisyTable(table * unit, (float(noise.sigma) * unit) ** 2)
                for pair, table, noise in zip(shares, tables, noises, strict=True)
            }
            fitted = fit_tables(total, columns, measured)
        rows = self._arrange(fitted, sorted(shares, key=lambda pair: -scores[pair]), scatter)
        codes = repair_rows(_spread(rows, merged, scatter), self.possible, scatter)
        synthetic = ExactLines(list(codes.T), np.ones(len(codes), dtype=np.int64), self.codes.sizes)
        scale = total / len(codes)
        models = {each: synthetic.count(each) * scale for each in self.certified}
        goals = {each: self._on_grid(counts) for each, counts in models.items()}
        (distances,) = yield self._measure_distances(goals, self.noise.certificate, None)
        rounded = [float(np.abs(goals[each] * unit - models[each]).sum()) for each in models]
        return Synthesis(codes, total, distances, tuple(rounded), shares)

    def _count(
        self,
        tables: Sequence[Columnwise],
        noise: Sequence[Gaussian],
        statements: tuple[EngineStatement, ...],
        merged: Sequence[MergedColumn] | None = None,
    ) -> Step:
        """Return the step that counts tables."""
        read = self._reader(merged)
        return Step(
            statements,
            lambda tallies: map(read(tallies[0][0]).count, tables),
            noise,
        )

    def _measure_distances(
        self,
        goals: Mapping[Columnwise, NDArray[np.int64]],
        noise: Gaussian,
        merged: Sequence[MergedColumn] | None,
    ) -> Step:
        """Return the step that measures Σ|count − goal| for each table; goals are public."""
        read = self._reader(merged)

        def distances(lines: ExactLines) -> Integers:
            return np.array(
                [np.abs(lines.count(each) - goal).sum() for each, goal in goals.items()],
                dtype=np.int64,
            )

        return Step((), lambda tallies: [distances(read(tallies[0][0]))], [noise])

    def _reader(self, merged: Sequence[MergedColumn] | None) -> Callable[[object], ExactLines]:
        """Return how a tally is read: in merged cells, where these are handed over."""

        def read(tally: object) -> ExactLines:
            lines = self.codes.read(tally)
            return lines if merged is None else lines.merge([each.cell_of for each in merged])

        return read

    def _arrange(
        self, fitted: FittedTables, order: Sequence[Pair], scatter: Scatter
    ) -> NDArray[np.uint16]:
        count = round(fitted.total) if self.rows is None else self.rows
        return arrange_rows(fitted, order, max(1, count), scatter)

    @property
    def _unit(self) -> float:
        """What a step of the integers is in rows."""
        return 2.0**-self.codes.bounding.bits

    def _on_grid(self, counts: NDArray[np.floating]) -> NDArray[np.int64]:
        """Round public counts to the grid of the exact ones."""
        return np.asarray(np.rint(counts / self._unit), dtype=np.int64)

    @cached_property
    def total_weights(self) -> Doubles:
        """How much the sum of each column's table counts in the total: inversely to its cells."""
        precision = 1 / np.array(self.codes.sizes, dtype=np.float64)
        return np.asarray(precision / precision.sum())

    def _total(self, one_way: Sequence[Doubles]) -> float:
        return float(self.total_weights @ [counts.sum() for counts in one_way])

    def pack(self, result: Synthesis, receipt: Receipt) -> bytes:
        """Write the synthetic table and its certificate as they are stored."""
        return pack_synthesis(result, receipt)

    def release(
        self,
        *,
        share: str | None = None,
        fresh: bool = False,
        timeout: float | None = None,
        bits: Bits = SYSTEM,
    ) -> SyntheticTable:
        """Charge once, measure, and return the table; or the stored one, free of charge."""
        packed = release_steps(
            self, self.ledger, share=share, fresh=fresh, timeout=timeout, bits=bits
        )
        return self.finish(packed)

    def finish(self, packed: bytes) -> SyntheticTable:
        """Return the stored table."""
        synthesis, paid = unpack_synthesis(packed, self.codes.sizes, len(self.certified))
        weights: Doubles = np.repeat(self.total_weights, self.codes.sizes)
        certificate = Certificate(
            self.names,
            self.certified,
            self.codes.sizes,
            np.asarray(synthesis.distances * self._unit, dtype=np.float64),
            synthesis.rounded,
            synthesis.total,
            self._unit,
            self.noise.certificate.law,
            (self.noise.columns.law, weights),
        )
        facts = {
            "dataset": self.codes.rows.dataset,
            "question": self.text,
            "declaration": self.codes.rows.declared,
            "measured": {
                " × ".join(self.names[i] for i in pair): float(
                    self.noise.of_table(share).sigma * Fraction(self._unit)
                )
                for pair, share in synthesis.shares.items()
            },
            "rules": list(self.rules),
        }
        return SyntheticTable(
            self.codes.columns,
            {name: self.codes.rows.schema[name] for name in self.names},
            synthesis.codes,
            certificate,
            self.cost,
            paid,
            facts,
        )

    @property
    def rules(self) -> tuple[str, ...]:
        """How rows became numbers, in sentences."""
        bounding = self.codes.bounding
        unit, limit = bounding.called or ", ".join(bounding.unit), bounding.rows
        weigh = (
            f"a {unit} counts for at most {limit} row{'s' * (limit > 1)}: more are down-weighted"
            if unit and not bounding.truncation
            else f"at most {limit} rows of a {unit} count, drawn for each release"
            if unit
            else "each row is a different person"
        )
        return (
            f"{weigh}; neighbours {bounding.relation}",
            "values that are no public key are missing; numbers out of bounds are in the next span",
            "no row is that of a person: a row is put together from noisy counts",
        )

    def _summary(self) -> Summary:
        rows = [
            (column.name, str(self.codes.rows.schema[column.name]), f"{column.cells:,}")
            for column in self.codes.columns
        ]
        noise = self.noise.certificate
        half = noise.law.half_width(Fraction(95, 100)) * self._unit
        return Summary(
            title=f"plan of a synthetic table · {self.cost.numbers_text}",
            heads=("column", "type", "cells"),
            rows=rows,
            numbers=frozenset([2]),
            notes=[
                *self.rules,
                f"certificate: Σ|count − synthetic count| of each pair ± {half:,.4g}",
            ],
        )


def _spread(
    rows: NDArray[np.uint16], merged: Sequence[MergedColumn], scatter: Scatter
) -> NDArray[np.uint16]:
    """Divide merged cells among their cells."""
    out = np.empty_like(rows)
    for i, coarse in enumerate(merged):
        order = np.argsort(rows[:, i], kind="stable")
        ends = np.cumsum(np.bincount(rows[:, i], minlength=coarse.count))
        start = 0
        for cell, end in enumerate(ends.tolist()):
            inside = np.flatnonzero(coarse.cell_of == cell)
            if end > start:
                often = scatter.apportion(coarse.shares[inside], end - start)
                codes = np.repeat(inside, often)[scatter.order(end - start)]
                out[order[start:end], i] = codes
            start = end
    return out
