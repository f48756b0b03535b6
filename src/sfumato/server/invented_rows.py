"""Time questions on invented rows, to propose the deadline of a dataset: `serve --check`.

*Invented*  The rows follow from the declaration alone: types, bounds, public keys, rows per unit.
            No row of the dataset is read, and nothing is charged.
*Proposal*  the least deadline class whose moment of storing leaves `MARGIN` times the slowest
            question. The machine of the check should be that of the service.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from ..guarantees import Approx
from ..session import protect
from ..session.protected_database import Database
from ..sql.scope import quoted
from ..tables.declare.declaration import TABLE_ROWS, Declaration
from ..tables.expr.types import Type
from .config import Config
from .datasets import Served
from .workers.deadlines import storing_time
from .workers.processors import available, group_by_core, keep_to, split_cores

if TYPE_CHECKING:
    import pyarrow as pa

UNDECLARED_ROWS = 100_000  # invented for a table whose `table_rows` is not declared
MOST_ROWS = 1_000_000  # invented; the time of a larger table is taken in proportion
REPEATS = 3
MARGIN = 3
DISTINCT_TEXTS = 1000
DEFAULT_BOUNDS = Fraction(0), Fraction(100)
ROWS_OF_A_UNIT = 4  # if `max_rows` is not declared
DAYS = 3650
FIRST_DAY = datetime(2016, 1, 1, tzinfo=UTC)

Positions = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class TimedDataset:
    """The seconds that questions took on invented rows, and the deadline that follows."""

    name: str
    rows: int
    invented: int
    seconds: Mapping[str, float]  # by question; of all rows
    classes: Sequence[float]
    configured: float | None

    @property
    def slowest(self) -> float:
        return max(self.seconds.values())

    @property
    def proposed(self) -> float | None:
        """The least class that leaves enough time; None if all are too short."""
        needed = MARGIN * self.slowest
        return next((c for c in self.classes if (storing_time(c) or c) >= needed), None)

    def lines(self) -> Iterator[str]:
        """Describe the times and the proposal, as lines of text."""
        scaled = "" if self.rows == self.invented else ", times taken in proportion"
        yield f"[datasets.{self.name}]  {self.rows:,} rows ({self.invented:,} invented{scaled})"
        for question, seconds in self.seconds.items():
            yield f"  {seconds:8.3f} s  {question}"
        if self.proposed is None:
            longer = 2 * MARGIN * self.slowest
            yield f"  no class is long enough: add one of {longer:.0f} s to [server] deadlines"
            return
        yield f"  propose: deadline = {self.proposed:g}"
        if self.configured is not None and self.configured < self.proposed:
            yield f"  its deadline of {self.configured:g} s is too short: answers would be lost"


def time_dataset(served: Served, config: Config) -> TimedDataset:
    """Time typical questions about a dataset, on invented rows and the processors of a worker."""
    rows = served.table_rows if served.table_rows != TABLE_ROWS else UNDECLARED_ROWS
    invented = min(rows, MOST_ROWS)
    sources = {declared.name: _invent(declared, invented) for declared in served.declarations}
    declared = {key: value for key, value in served.config.declared.items() if key != "table"}
    declared |= {"table_rows": invented, "budget": Approx(10**6, "0.001"), "ledger": None}
    if served.config.public is not None:
        declared["public"] = dict(served.config.public)
    is_single = not isinstance(served.table, Database)
    table: Any = protect(next(iter(sources.values())) if is_single else sources, **declared)
    before = available()
    try:
        _, reading = split_cores(group_by_core(before), config.workers)
        keep_to(reading or before)
        seconds = {
            question: _time(partial(table.sql, question, epsilon=1, fresh=True)) * rows / invented
            for declaration in served.declarations
            for question in _questions(declaration)
        }
    finally:
        keep_to(before)
        table.close()
    return TimedDataset(
        served.name, rows, invented, seconds, config.deadlines, served.config.deadline
    )


def _time(ask: Callable[[], object]) -> float:
    """Return the seconds of the slowest of a few repetitions."""
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        ask()
        times.append(time.perf_counter() - begun)
    return max(times)


def _questions(declared: Declaration) -> list[str]:
    """Return a count, and if columns allow it a mean by group and a median."""
    table = quoted(declared.name)
    number = next((quoted(name) for name in declared.ranges), None)
    group = next((quoted(name) for name in declared.domains), None)
    questions = [f"SELECT COUNT(*) AS n FROM {table}"]
    if number is not None:
        keys, by = (f"{group}, ", f" GROUP BY {group}") if group else ("", "")
        questions.append(f"SELECT {keys}COUNT(*) AS n, AVG({number}) AS mean FROM {table}{by}")
        questions.append(f"SELECT MEDIAN({number}) AS middle FROM {table}")
    return questions


def _invent(declared: Declaration, rows: int) -> pa.Table:
    """Invent the rows of a table."""
    import pyarrow as pa

    positions = np.arange(rows, dtype=np.uint64)
    units = positions // np.uint64(declared.max_rows or ROWS_OF_A_UNIT)
    columns: dict[str, pa.Array] = {}
    for place, (name, kind) in enumerate(declared.types):
        is_unit = name in declared.unit
        scattered = units if is_unit else _scatter(positions, place)
        if kind.kind == "string" and not is_unit:
            scattered %= np.uint64(DISTINCT_TEXTS)
        keys = declared.domains.get(name)
        values = (
            [keys[int(p) % len(keys)] for p in scattered]
            if keys
            else _VALUES[kind.kind](scattered, declared.ranges.get(name, DEFAULT_BOUNDS), kind)
        )
        columns[name] = pa.array(values, type=kind.to_ibis().to_pyarrow())
    return pa.table(columns)


def _scatter(positions: Positions, place: int) -> Positions:
    """Return numbers below 2³¹ that look unordered: a multiplicative hash of the positions."""
    return ((positions + np.uint64(place)) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(33)


def _spread(numbers: Positions, bounds: tuple[Fraction, Fraction]) -> NDArray[np.float64]:
    low, high = map(float, bounds)
    return low + (high - low) * (numbers / 2.0**31)


def _decimals(numbers: Positions, bounds: tuple[Fraction, Fraction], kind: Type) -> list[Decimal]:
    places = Decimal(1).scaleb(-kind.scale)
    return [Decimal(v).quantize(places) for v in _spread(numbers, bounds).tolist()]


_VALUES: dict[str, Callable[[Positions, tuple[Fraction, Fraction], Type], Any]] = {
    "bool": lambda numbers, bounds, kind: (numbers % np.uint64(2)).astype(bool),
    "integer": lambda numbers, bounds, kind: (
        numbers.astype(np.int64) % min(2 ** (kind.bits - 1), 2**62)
        if bounds is DEFAULT_BOUNDS
        else _spread(numbers, bounds).astype(np.int64)
    ),
    "float": lambda numbers, bounds, kind: _spread(numbers, bounds),
    "decimal": _decimals,
    "string": lambda numbers, bounds, kind: [f"text {n}" for n in numbers],
    "date": lambda numbers, bounds, kind: [
        date(2016, 1, 1) + timedelta(int(n) % DAYS) for n in numbers
    ],
    "timestamp": lambda numbers, bounds, kind: [
        (FIRST_DAY + timedelta(minutes=int(n) % (DAYS * 1440))).replace(
            tzinfo=UTC if kind.zone else None
        )
        for n in numbers
    ],
    "uuid": lambda numbers, bounds, kind: [str(UUID(int=int(n))) for n in numbers],
}
"""Kind of a column → its invented values, from numbers below 2³¹."""
