"""What conditions say about values: all that rows of DuckDB have is in the sets, for random
conditions on special values; and the sets are as small as they should be.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

import pyarrow.compute as pc
import pytest

from sfumato.errors import Refused
from sfumato.tables.expr.expressions import Expr, call, col, literal
from sfumato.tables.expr.types import Type
from sfumato.tables.expr.value_sets import ValueSet
from sfumato.tables.query import column_facts
from sfumato.tables.query.column_facts import ColumnFacts
from sfumato.tables.query.conditions import Learned, learn_from

from .containing import holds
from .special_values import VALUES, engine, table

COLUMNS = {
    "n": "int64",
    "b": "bool",
    "p": "decimal(4,2)",
    "f": "float64",
    "g": "float32",
    "s": "string",
    "d": "date",
    "t": "timestamp",
    "z": "timestamp with time zone",
    "u": "uuid",
}
TYPES = {name: Type.of(kind) for name, kind in COLUMNS.items()}
N, B, P, F, S, D, T, Z = (col(name) for name in "nbpfsdtz")
ROWS = 400
NEAR: dict[str, list[Any]] = {
    "n": [0, 1, 2, 3, 5, -1, 2**53, 2**53 + 1, 2.0, 2.5, 1e300, Decimal("2.50"), 2.0**53],
    "b": [True, False],
    "p": [0, 1, Decimal("0.50"), Decimal("1.005"), 0.5, 2],
    "f": [0, 0.5, 1, 2.5, -0.0, 0.1, 2**53 + 1, Decimal("0.1"), 1e300],
    "g": [0.5, 0.1, 1, 2, 1e300],
    "s": ["a", "A", "b", "", "é"],
    "d": [date(2026, 1, 31), "2026-03-01", datetime(2026, 1, 31, 12), datetime(2026, 3, 1)],
    "t": [date(2026, 1, 31), "2026-03-01", datetime(2026, 1, 31, 12), datetime.max],
    "z": ["2026-03-01T00:00:00+02:00", datetime(2026, 1, 31, 12, tzinfo=UTC), date(2026, 1, 31)],
    "u": [UUID(int=1), "00000000-0000-0000-0000-000000000002"],
}
"""Constants beside each column, some of another type; rows have these values too."""

SEEN = [
    *map(col, COLUMNS),
    *(call(part, T) for part in ("year", "month", "hour", "day_of_week")),
    D.date_trunc("month"),
    T.date_trunc("month"),
    Z.cast("date"),
    T.cast("date"),
    (F / 10).floor() * 10,
    N % 3,
    N // 2,
    S.upper(),
    call("coalesce", S, "none"),
    P.round(1),
]
"""Expressions whose values are looked at."""


def cells(random: Random, name: str) -> list[Any]:
    kind = COLUMNS[name]
    near: dict[str, list[Any]] = {
        "n": [0, 1, 2, 3, 5, -1, 2**53, 2**53 + 1, None],
        "p": [Decimal("0.50"), Decimal("1.00"), Decimal("1.01"), Decimal("2.00"), None],
        "f": [0.0, -0.0, 0.5, 1.0, 2.5, 0.1, 2.0**53, None, float("nan")],
        "s": ["a", "A", "b", "B", "", None],
        "d": [date(2026, 1, 30), date(2026, 1, 31), date(2026, 2, 1), date(2026, 3, 1), None],
        "t": [datetime(2026, 1, 31, hour) for hour in (0, 11, 12, 13)]
        + [datetime(2026, 2, 28, 23, 59, 59, 999999), datetime(2026, 3, 1), None],
        "u": [f"{1:032x}", f"{2:032x}", None],
    }
    near["z"] = [value and value.replace(tzinfo=UTC) for value in near["t"]]
    values = near.get(name, VALUES[kind])
    return [random.choice(values if random.random() < 0.8 else VALUES[kind]) for _ in range(ROWS)]


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    random, connection = Random(5), engine()
    row_table = {name: (kind, cells(random, name)) for name, kind in COLUMNS.items()}
    return connection, table(connection, "conditions", row_table)


def comparison(random: Random) -> Expr:
    """A random comparison of a column, or of a function of it, with constants."""
    name = random.choice(list(COLUMNS))
    subject, constants = col(name), NEAR[name]
    if name in "dtz" and random.random() < 0.4:
        part = random.choice(["year", "month", "trunc", "date"])
        if part == "trunc":
            subject = subject.date_trunc("month")
        elif part == "date":
            subject = subject.cast("date")
        else:
            subject, constants = call(part, subject), [2026, 2025, 1, 3, 2026.0]
    if name in "nf" and random.random() < 0.3:
        subject = random.choice([subject % 3, -subject, subject + 1, subject // 2])
    low, high = random.choice(constants), random.choice(constants)
    form = random.randrange(8)
    if form == 0:
        return subject.is_in(random.sample(constants, min(len(constants), 3)))
    if form == 1:
        return subject.between(low, high)
    if form == 2:
        return subject.is_null() if random.random() < 0.5 else subject.not_null()
    if form == 3:
        return call("identical", subject, low)
    sign = random.choice(["=", "<>", "<", "<=", ">", ">="])
    return call(sign, low, subject) if form == 4 else call(sign, subject, low)


def condition(random: Random, depth: int = 3) -> Expr:
    if depth == 0 or random.random() < 0.25:
        return B if random.random() < 0.05 else comparison(random)
    if random.random() < 0.2:
        return ~condition(random, depth - 1)
    name = random.choice(["and", "or"])
    return call(name, *(condition(random, depth - 1) for _ in range(random.choice([2, 2, 3]))))


def missing(rows: tuple[Any, Any], seeds: range) -> list[tuple[str, str, Any]]:
    """The values of rows that meet a random condition, and that are in no set."""
    connection, row_table = rows
    looked_at = {f"v{i}": each.build(row_table, TYPES) for i, each in enumerate(SEEN)}
    built: dict[str, Any] = {}
    conditions: dict[str, Expr] = {}
    for seed in seeds:
        random = Random(seed)
        truth = condition(random)
        try:
            truth.type(TYPES)
        except Refused:
            continue
        built[f"c{seed}"], conditions[f"c{seed}"] = (
            truth.build(row_table, TYPES),
            truth,
        )
    computed = connection.to_pyarrow(row_table.select(**looked_at, **built))
    lost_values = []
    for name, truth in conditions.items():
        facts = ColumnFacts(TYPES).where(truth)
        meeting = computed.filter(pc.fill_null(computed[name], False))
        for place, expression in enumerate(SEEN):
            values, kind = facts.values(expression), expression.type(TYPES)
            seen_values = set(meeting[f"v{place}"].to_pylist())
            lost_values += [
                (truth.text, expression.text, value)
                for value in seen_values
                if not holds(values, value, kind)
            ]
    return lost_values


def test_no_row_that_meets_a_condition_is_outside_the_sets(rows: tuple[Any, Any]) -> None:
    assert missing(rows, range(60)) == []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(1, 100))
def test_no_row_is_outside_the_sets_of_many_more(rows: tuple[Any, Any], block: int) -> None:
    assert missing(rows, range(block * 60, (block + 1) * 60)) == []


def test_a_condition_that_says_too_much_is_noticed(
    rows: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: OR read as AND."""

    def as_and(truth: Expr, types: Any) -> Learned:
        parts = getattr(truth, "arguments", ())
        if parts and truth.function.name == "or":  # type: ignore[attr-defined]  # a call
            truth = call("and", *parts)
        return learn_from(truth, types)

    monkeypatch.setattr(column_facts, "learn_from", as_and)
    assert missing(rows, range(60)) != []


def keys(truth: Expr, of: Expr) -> tuple[Any, ...]:
    return ColumnFacts(TYPES).where(truth).keys(of, of.type(TYPES))


AB = S.is_in(["a", "b"])


@pytest.mark.parametrize(
    ("truth", "of", "expected"),
    [
        (AB, S, ("a", "b")),
        (S == "a", S, ("a",)),
        ((S == "a") | (S == "b"), S, ("a", "b")),
        (literal("a") == S, S, ("a",)),
        (AB & (F > 3), S, ("a", "b")),
        (AB & (S != "a"), S, ("b",)),
        (AB & ~S.is_in(["a", "c"]), S, ("b",)),
        (AB | S.is_null(), S, ("a", "b", None)),
        (call("identical", S, None) | AB, S, ("a", "b", None)),
        (~(~AB | (N > 3)), S, ("a", "b")),
        (B, B, (True,)),
        (~B, B, (False,)),
        (N > 3, N > 3, (True,)),
        (N.between(1, 4), N, (1, 2, 3, 4)),
        ((N >= 1) & (N < 4), N, (1, 2, 3)),
        ((N > 1) & (literal(4) >= N), N, (2, 3, 4)),
        (N.is_in([1, 7]) & (N < 5), N, (1,)),
        (N.is_in([1.0, 2.5, Decimal("3.00")]), N, (1, 3)),
        (N.between(0, 5), N // 2, (0, 1, 2)),
        ((F >= 0) & (F < 30), (F / 10).floor() * 10, (0.0, 10.0, 20.0)),
        ((F >= 0) & (F <= 30), (F / 10).floor() * 10, (0.0, 10.0, 20.0, 30.0)),
        (P.between(0, Decimal("0.30")), P.round(1), tuple(Decimal(f"0.{i}") for i in range(4))),
        (D.between("2026-01-30", "2026-02-01"), D, (date(2026, 1, 30), date(2026, 1, 31),
                                                    date(2026, 2, 1))),
        ((T >= "2026-01-01") & (T < "2026-03-01"), T.date_trunc("month"),
         (datetime(2026, 1, 1), datetime(2026, 2, 1))),
        ((T >= "2026-01-01") & (T <= "2026-03-01"), call("month", T), (1, 2, 3)),
        (call("year", T) == 2026, T.date_trunc("quarter"),
         tuple(datetime(2026, month, 1) for month in (1, 4, 7, 10))),
        (T.cast("date") == date(2026, 1, 31), T.date_trunc("day"), (datetime(2026, 1, 31),)),
        (call("year", D).is_in([2025, 2026]), call("year", D), (2025, 2026)),
        (Z.between("2026-01-01T00:00:00+02:00", "2026-01-01T00:00:00+00:00"), Z.date_trunc("day"),
         (datetime(2025, 12, 31, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC))),
    ],
)  # fmt: skip
def test_keys_that_follow(truth: Expr, of: Expr, expected: tuple[Any, ...]) -> None:
    assert keys(truth, of) == expected


@pytest.mark.parametrize(
    ("truth", "of"),
    [
        (AB | (N > 3), S),
        (AB, S.trim()),
        (N.is_in([1, 2]), S),
        (~AB, S),
        (S != "a", S),
        (AB | ~AB, S),
        (N >= 1, N),
        (N.between(1, 4) | (N > 9), N),
        (~N.between(1, 4), N),
        (N.between(0, 1000), N),
        (call("not", (N < 1) | (F > 4)), N),
        (col("p") == N, N),
        (N == 2.0**53, N),
        (P == 0.5, P),
        (call("=", call("case", N > 3, S, "a"), "a"), S),
        (T >= "2026-01-01", T.date_trunc("month")),
        (T.between("2026-01-01", "2026-01-02"), T),
        (AB & S.is_null(), S),
    ],
)
def test_keys_that_do_not_follow(truth: Expr, of: Expr) -> None:
    assert keys(truth, of) == ()


def test_keys_fit_the_type_of_the_column() -> None:
    """1000 is no int8: a key of it could not be written as a constant of the column's type."""
    types = {"tiny": Type.of("int8"), "p": Type.of("decimal(4,2)")}
    facts = ColumnFacts(types).where(col("tiny").is_in([5, 1000]) & col("p").is_in([1, 1000]))
    assert facts.keys(col("tiny"), types["tiny"]) == (5,)
    assert facts.keys(col("p"), types["p"]) == (Decimal("1.00"),)
    assert facts.values(col("p")) == ValueSet(frozenset([Decimal(1)]), null=False, is_written=True)
