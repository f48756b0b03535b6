"""Plan a census: which tables are measured at which level, with how much noise, at which cost.

A plan is public: planning reads no data. The release counts once, adds noise, and charges once.

*Noise*    Every table at every level gets Gaussian noise of its own, σ² = Δ²/(2ρ·share). Integers
           are moved up by some bits, so that σ is at least 16 steps.
*Unit*     Δ is what one unit may move a whole table, in the Euclidean norm: K for add-remove, √2·K
           for replace, K the weight of a unit's rows together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np

from ..guarantees import GDP, ZCDP, Guarantee
from ..ledger import Ledger, Receipt
from ..mechanisms import Combined, Gaussian
from ..noise.bits import SYSTEM, Bits
from ..noise.law import Integers
from ..release import Step, release_steps
from ..tables.engine.sources import TableSource
from ..tables.plan.bounding import Bounding
from ..tables.plan.place_counts import PlaceCounts
from ..tables.plan.statements import EngineStatement
from ..tables.query.stages import Query
from ..templates.summary import Summarized, Summary
from .budget_shares import Shares
from .census_design import CensusDesign
from .census_result import Census, noise_bound
from .marginal_parts import Subset
from .stored_tables import pack_tables, unpack_tables


@dataclass(frozen=True, eq=False, repr=False)
class CensusPlan(Summarized):
    """What a census measures, its cost and its errors."""

    query: Query  # counts the smallest cells
    bounding: Bounding
    source: TableSource
    ledger: Ledger
    statement: EngineStatement  # counts the cells that occur
    design: CensusDesign
    counts: PlaceCounts
    shares: Shares
    noise: tuple[Gaussian, ...]  # of the tables, in the order of the counts
    mechanism: Combined

    @property
    def cost(self) -> Guarantee:
        """What the release costs: ρ, or the ε and δ that were asked for."""
        promise = self.mechanism.promise
        return promise.to(ZCDP) if isinstance(promise, GDP) else promise

    @cached_property
    def text(self) -> str:
        """What is released, as text."""
        design = self.design
        lines = [
            f"census of {self.query.rows.text}",
            f"places: {design.geography.text}",
            "cells: " + " × ".join(f"{len(keys)} {name}" for name, keys in design.attributes),
        ]
        for level, name in enumerate(design.geography.levels):
            tables = (
                f"{self.name_table(table)} {share}"
                for (at, table), share in self.shares.items()
                if at == level
            )
            lines.append(f"{name}: {', '.join(tables)}")
        return "\n".join(lines)

    @cached_property
    def question_key(self) -> str:
        """The key of the stored release: what is measured, with which noise. What is public about
        totals is no part of it: the same noisy tables can be finished again, free of charge.
        """
        places = json.dumps(self.design.geography.paths, default=str, ensure_ascii=False)
        key = {
            "census": 1,
            "query": self.query.rows.text,
            "declaration": self.query.rows.declared,
            "levels": self.design.geography.levels,
            "places": hashlib.sha256(places.encode()).hexdigest(),
            "cells": self.design.attributes,
            "possible": hashlib.sha256(self.design.possible.tobytes()).hexdigest(),
            "tables": [
                [*table, shift, str(noise.sigma)]
                for table, shift, noise in zip(
                    self.counts.tables, self.counts.shift, self.noise, strict=True
                )
            ],
        }
        return json.dumps(key, default=str, ensure_ascii=False)

    @property
    def statements(self) -> tuple[EngineStatement, ...]:
        """What the engine runs."""
        return (self.statement,)

    def steps(self) -> Generator[Step, list[Integers], list[Integers]]:
        """Count the smallest cells once; every table is a sum of them, and gets its own noise."""
        return (
            yield Step(
                self.statements, lambda tallies: self.counts.count(tallies[0][0]), self.noise
            )
        )

    def pack(self, result: list[Integers], receipt: Receipt) -> bytes:
        """Write the noisy tables as they are stored."""
        return pack_tables(self.counts.tables, result, receipt)

    def release(
        self,
        *,
        share: str | None = None,
        fresh: bool = False,
        timeout: float | None = None,
        bits: Bits = SYSTEM,
    ) -> Census:
        """Charge once, count once, and return the census; or the stored one, free of charge."""
        packed = release_steps(
            self, self.ledger, share=share, fresh=fresh, timeout=timeout, bits=bits
        )
        return self.finish(packed)

    def finish(self, packed: bytes) -> Census:
        """Estimate and round noisy tables: post-processing."""
        noisy = unpack_tables(packed)
        steps = dict(zip(self.counts.tables, self.counts.shift, strict=True))
        bits = self.bounding.bits
        tables = {
            key: values.astype(np.float64) * 2.0 ** -(bits + steps[key])
            for key, values in noisy.tables.items()
        }
        estimates = self.design.estimate(tables)
        return Census(
            self.design,
            tuple(estimates),
            self.design.make_whole(estimates),
            self.cost,
            noisy.paid,
            self.rules,
        )

    @property
    def rules(self) -> tuple[str, ...]:
        """How rows became numbers, in sentences."""
        rows, unit = self.query.rows, self.bounding.called or ", ".join(self.bounding.unit)
        limit = self.bounding.rows
        weigh = (
            f"a {unit} counts for at most {limit} row{'s' * (limit > 1)}: more are down-weighted"
            if unit
            else "each row is a different person"
        )
        empty = int((~self.design.possible).sum())
        left_out = "rows at places that are not listed, or with keys that are not, are in no table"
        bias = (
            "estimates are unbiased; whole numbers are not negative and add up, so they are too "
            "large on average where the truth is near 0"
        )
        cells = [f"rows in the {empty} impossible cells are in no table"] if empty else []
        return f"{weigh}; neighbours {rows.declaration.relation}", left_out, *cells, bias

    def name_table(self, table: Subset) -> str:
        """Return the name of a table: its attributes."""
        names = self.design.names
        return "total" if not table else " × ".join(names[i] for i in table)

    def error(self) -> dict[tuple[str, str], float]:
        """Return the expected ± of the estimates, with probability 0.95, by level and table."""
        levels = self.design.geography.levels
        tables = dict.fromkeys(table for _, table in self.shares)
        return {
            (name, self.name_table(table)): noise_bound(Fraction(19, 20), self.design.finest)
            * float(np.sqrt(self.design.variance(level, table).mean()))
            for level, name in enumerate(levels)
            for table in tables
        }

    @property
    def numbers(self) -> int:
        """How many numbers get noise."""
        shape, places = self.design.shape, self.design.spine.sizes
        return sum(prod(shape[i] for i in table) * places[at] for at, table in self.shares)

    def _summary(self) -> Summary:
        errors = [
            (level, table, f"± {error:,.3g}") for (level, table), error in self.error().items()
        ]
        return Summary(
            title=f"census · cost {self.cost.numbers_text} · nothing is read or charged",
            heads=("level", "table", "expected error, with probability 0.95"),
            rows=errors,
            numbers=frozenset([2]),
            notes=[f"{self.numbers:,} numbers get noise", *self.rules],
        )
