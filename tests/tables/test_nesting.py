"""Functions inside functions mean what they say: what is sent to the engine as text is read back by
it with the same precedence.

Ibis leaves out parentheses that matter: (NOT a) IS NULL becomes NOT a IS NULL, which is another
thing. A filter that is read otherwise in one of the places where it stands would count a unit's
rows on other rows than those that are added.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import product
from random import Random
from typing import Any

import ibis
import pyarrow as pa
import pytest

from sfumato.errors import Refused
from sfumato.tables.expr.expressions import Expr, call, col, literal, when
from sfumato.tables.expr.functions import FUNCTIONS
from sfumato.tables.expr.types import Type

from .asking import SAMPLES
from .oracle import evaluate
from .special_values import VALUES, engine
from .special_values import table as special

ONE: dict[str, Callable[[Expr], Expr]] = {
    "not": lambda x: ~x,
    "is null": lambda x: x.is_null(),
    "not null": lambda x: x.not_null(),
    "in one": lambda x: x.is_in([True]),
    "in both": lambda x: x.is_in([True, False]),
    "filled": lambda x: x.fill_null(True),
}
TWO: dict[str, Callable[[Expr, Expr], Expr]] = {
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "=": lambda x, y: x == y,
    "<>": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "identical": lambda x, y: x.identical(y),
    "between": lambda x, y: x.between(y, True),
    "below": lambda x, y: x.between(False, y),
    "coalesce": lambda x, y: x.coalesce(y),
    "nullif": lambda x, y: x.nullif(y),
    "least": lambda x, y: x.least(y),
    "case": lambda x, y: when(x, y).otherwise(~y),
}
ROWS = [dict(zip("abc", values, strict=True)) for values in product((True, False, None), repeat=3)]
SCHEMA = {name: Type.of("bool") for name in "abc"}
A, B, C = col("a"), col("b"), col("c")
INNER = {
    "a": A,
    **{f"{name} a": make(A) for name, make in ONE.items()},
    **{f"a {name} b": make(A, B) for name, make in TWO.items()},
    "true": literal(True),
}


@pytest.fixture(scope="module")
def table() -> Any:
    connection = ibis.duckdb.connect()
    return connection.create_table(
        "t", pa.table({name: pa.array([row[name] for row in ROWS], pa.bool_()) for name in "abc"})
    )


@pytest.mark.parametrize("inner", INNER)
def test_truth_values_of_truth_values(inner: str, table: Any) -> None:
    """Every function of every function, and of those, once more; all 27 rows."""
    value = INNER[inner]
    outer = [make(value) for make in ONE.values()]
    outer += [compound for make in TWO.values() for compound in (make(value, C), make(C, value))]
    expressions = [
        *outer,
        *(
            ONE[name](operand)
            for operand in outer[len(ONE) :: 2]
            for name in ("not", "is null", "in both")
        ),
    ]
    columns = {name: table[name] for name in "abc"}
    built = {f"e{i}": expression.build(columns, SCHEMA) for i, expression in enumerate(expressions)}
    rows = table.get_backend().to_pyarrow(table.select("a", "b", "c", **built)).to_pylist()
    for row in rows:
        for i, expression in enumerate(expressions):
            assert row[f"e{i}"] is evaluate(expression, row, SCHEMA), expression.text


def test_a_truth_value_that_is_a_column_first(table: Any) -> None:
    """Ibis puts the expression in the place of the column, where it then stands without
    parentheses.
    """
    extended = table.mutate(d=(~A).build({name: table[name] for name in "abc"}, SCHEMA))
    expressions = [col("d").is_null(), col("d").is_in([True, False]), col("d") < C, ~col("d")]
    columns = {name: extended[name] for name in "abcd"}
    schema = {**SCHEMA, "d": Type.of("bool")}
    chosen = extended.select(
        "a",
        "b",
        "c",
        "d",
        **{f"e{i}": expression.build(columns, schema) for i, expression in enumerate(expressions)},
    )
    for row in table.get_backend().to_pyarrow(chosen).to_pylist():
        assert [row[f"e{i}"] for i in range(len(expressions))] == [
            evaluate(expression, row, schema) for expression in expressions
        ]


def test_a_plain_ibis_expression_is_read_otherwise(table: Any) -> None:
    """The twin: why truth values are built inside a cast."""
    rows = table.get_backend().to_pyarrow(table.select("a", e=(~table.a).isnull())).to_pylist()
    assert any(row["e"] is not (row["a"] is None) for row in rows)


@pytest.mark.parametrize(
    ("kind", "to", "values"),
    [
        ("int32", "int8", (1000, 5, -1000, 127, None)),
        ("decimal", "int64", (10**37, 5, -(10**37), None)),
    ],
)
def test_a_number_that_does_not_fit_is_null_in_comparisons_too(
    kind: str, to: str, values: tuple[int | None, ...]
) -> None:
    """DuckDB compares x itself where TRY_CAST(x AS …) > 3 is written; then 1000, which is no int8,
    would be above 3.
    """
    arrow = pa.decimal128(38, 0) if kind == "decimal" else pa.int32()
    schema = {"x": Type.of("decimal(38,0)" if kind == "decimal" else kind)}
    connection = ibis.duckdb.connect()
    table = connection.create_table("t", pa.table({"x": pa.array(values, arrow)}))
    cast = col("x").cast(to)
    comparisons = [cast > 3, cast < -3, cast != 5, cast.between(0, 9), cast == 127]
    built = {
        f"e{i}": comparison.build({"x": table.x}, schema)
        for i, comparison in enumerate(comparisons)
    }
    for row in connection.to_pyarrow(table.select("x", **built)).to_pylist():
        fits = row["x"] is not None and abs(int(row["x"])) < 2 ** (7 if to == "int8" else 63)
        x = int(row["x"]) if fits else None
        expected = [None] * 5 if x is None else [x > 3, x < -3, x != 5, 0 <= x <= 9, x == 127]
        assert [row[f"e{i}"] for i in range(5)] == expected
    raw = connection.to_pyarrow(table.select(e=table.x.try_cast(to) > 3))["e"].to_pylist()
    assert any(
        result is True and value is not None and abs(value) >= 1000
        for result, value in zip(raw, values, strict=True)
    )


def test_numbers_in_numbers() -> None:
    """Random trees of arithmetic, three deep."""
    from .worlds import ARROW, NUMBERS, Bench, arrow, number, row

    random, bench = Random(5), Bench()
    rows = [row(random) for _ in range(25)]
    bench.hold(arrow(rows))
    source = bench.source.table
    columns = {name: source[name] for name in ARROW.names}
    keys = {f"id{i}": source[name] for i, name in enumerate(NUMBERS)}
    expressions: list[Expr] = []
    while len(expressions) < 160:
        expression = number(random, 3)
        try:
            expression.type(bench.schema)
            expressions.append(expression)
        except ValueError:
            continue
    for start in range(0, len(expressions), 40):
        part = expressions[start : start + 40]
        built = {
            f"e{i}": expression.build(columns, bench.schema) for i, expression in enumerate(part)
        }
        results = bench.source.engine.run(source.select(**keys, **built)).to_pylist()
        for line, source_row in zip(results, rows, strict=True):
            for i, expression in enumerate(part):
                expected, computed = evaluate(expression, source_row, bench.schema), line[f"e{i}"]
                assert (computed is None) == (expected is None), expression.text
                assert computed is None or float(computed) == pytest.approx(
                    float(expected), rel=1e-12
                ), expression.text
    bench.close()


def nested(random: Random, schema: dict[str, Type], depth: int) -> Expr:
    """A random tree of any functions, of columns of every type and of constants."""
    if not depth or random.random() < 0.15:
        return (
            col(random.choice(list(schema)))
            if random.random() < 0.85
            else literal(random.choice(CONSTANTS))
        )
    while True:
        function = random.choice(list(FUNCTIONS.values()))
        places = (
            function.slots(len(function.takes) + (random.randrange(2) if function.many else 0))
            or function.takes
        )
        arguments = [
            random.choice(SAMPLES[p])
            if p in SAMPLES
            else random.choice(CONSTANTS)
            if p.test
            else nested(random, schema, depth - 1)
            for p in places
        ]
        with suppress(Refused):
            expression = call(function.name, *arguments)
            expression.type(schema)
            return expression


CONSTANTS = (
    0,
    1,
    -1,
    2,
    7,
    100,
    -128,
    32768,
    2**31,
    2**53 + 1,
    -(2**63),
    0.1,
    1e300,
    -1e-300,
    "a",
    "2020-01-01",
    True,
    False,
)


def fails(seed: int, count: int) -> list[str]:
    """Which of so many random trees the engine cannot compute on a table of special values: each of
    them would be an answer about the data.
    """
    random, connection = Random(seed), engine(threads=1)
    longest = 2 * max(map(len, VALUES.values()))
    columns = {
        f"c{i}": (kind, random.sample([values[j % len(values)] for j in range(longest)], longest))
        for i, (kind, values) in enumerate(VALUES.items())
    }
    special_table = special(connection, "t", columns)
    schema = {name: Type.of(kind) for name, (kind, _) in columns.items()}
    failures = []
    for _ in range(count // 20):
        expressions = [nested(random, schema, random.choice((2, 3))) for _ in range(20)]
        built = {}
        for i, expression in enumerate(expressions):
            with suppress(Refused):  # a constant text that is read as a date is refused here
                built[f"e{i}"] = expression.build(
                    {name: special_table[name] for name in schema}, schema
                )
        try:
            connection.to_pyarrow(special_table.select(**built))
        except Exception:
            failures += [expression.text for expression in expressions]
    return failures


@pytest.mark.parametrize("seed", range(2))
def test_nothing_nested_fails(seed: int) -> None:
    assert not fails(seed, 100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 40))
def test_nothing_nested_fails_in_many_more(seed: int) -> None:
    assert not fails(seed, 500)


def test_the_engine_itself_does_fail() -> None:
    """The twin: the same operators as the engine has them."""
    connection = engine(threads=1)
    special_table = special(
        connection,
        "t",
        {"q": ("int16", [-32768, 5]), "d": ("decimal(38,0)", [VALUES["decimal(38,0)"][-1], None])},
    )
    for expression in (
        special_table.q.abs(),
        (-special_table.q).cast("int16"),
        special_table.d * special_table.d,
        special_table.d.cast("int64"),
    ):
        with pytest.raises(Exception, match=r"(?i)out of range|overflow|cast"):
            connection.to_pyarrow(special_table.select(e=expression))
