"""Every call of every function on values that break things: what another engine makes of them,
beside what DuckDB does.

*Apart*   Texts that each engine reads in its own way, and decimals of so many digits that DuckDB's
          doubles of them are not the nearest, are computed and not compared. Where the mathematics
          is another library's, the last digit may differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from sfumato.errors import Refused
from sfumato.tables.expr.expressions import Expr, FunctionCall

from ..tables.asking import calls
from ..tables.special_values import VALUES, engine, schema, table
from ..tables.test_functions import COARSE, ENGINES_OWN, spread

TOGETHER = 40  # expressions in a statement
OWN_MATHEMATICS = (
    "exp",
    "ln",
    "log10",
    "log2",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "power",
    "degrees",
    "radians",
)


def holds(name: str, value: Any) -> bool:
    """Whether every engine has a place for a value: no NUL in texts, no moments that Python does
    not hold.
    """
    return not (isinstance(value, str) and "\0" in value) and not (
        name.startswith(("date", "timestamp")) and isinstance(value, int)
    )


def rows_of(names: Sequence[str], most: int) -> list[tuple[Any, ...]]:
    combinations = list(
        product(*([value for value in VALUES[name] if holds(name, value)] for name in names))
    )
    return [
        combinations[place] for place in spread(len(combinations), most, len(VALUES[names[-1]]))
    ]


class ComparedEngine:
    """An engine to compare with DuckDB."""

    engine: Any
    mathematics = True  # the same library

    def lay(self, names: Sequence[str], rows: list[tuple[Any, ...]]) -> Any:
        """Store rows with their numbers in the engine, and return the engine's table of them."""
        raise NotImplementedError


def compare(
    candidate: ComparedEngine, names: Sequence[str], most: int = 10**9
) -> tuple[int, set[str]]:
    """How many expressions were compared, and the names of the functions that were refused."""
    rows, types = rows_of(names, most), schema(*names)
    there = candidate.lay(names, rows)
    connection = engine()
    columns = {f"c{i}": (name, [row[i] for row in rows]) for i, name in enumerate(names)}
    here = table(connection, "given_rows", {"number": ("int32", list(range(len(rows)))), **columns})
    expressions = [
        expression for expression in calls(names) if isinstance(expression, FunctionCall)
    ]
    compared, refused = 0, set[str]()
    for start in range(0, len(expressions), TOGETHER):
        for part, statement in _written(
            candidate.engine, there, expressions[start : start + TOGETHER], types, refused
        ):
            expected = connection.to_pyarrow(_statement(here, part, types)).sort_by("number")
            actual = candidate.engine.run(statement).sort_by("number")
            for place, expression in enumerate(part):
                pairs = zip(
                    actual.column(place + 1).to_pylist(),
                    expected.column(place + 1).to_pylist(),
                    rows,
                    strict=True,
                )
                wrong = [
                    (row, got, want)
                    for got, want, row in pairs
                    if not _same(
                        expression, types, names, row, got, want, exact=candidate.mathematics
                    )
                ]
                assert not wrong, f"{expression.text:.200}: {wrong[:3]!s:.500}"
            compared += len(part)
    return compared, refused


def _statement(rows_table: Any, expressions: Sequence[Expr], types: Any) -> Any:
    return rows_table.select(
        "number",
        **{
            f"r{i}": expression.build(rows_table, types) for i, expression in enumerate(expressions)
        },
    )


def _written(
    engine: Any, rows_table: Any, expressions: Sequence[FunctionCall], types: Any, refused: set[str]
) -> Iterator[tuple[Sequence[FunctionCall], Any]]:
    """Statements of as many expressions as the engine takes together: those that hold one that it
    refuses are halved until that one is alone.
    """
    statement = _statement(rows_table, expressions, types)
    try:
        assert engine.sql(statement)
    except Refused as refusal:
        if len(expressions) == 1:
            refused.add(
                expressions[0].function.name if refusal.code == "engine.language" else refusal.code
            )
            return
        half = len(expressions) // 2
        for part in (expressions[:half], expressions[half:]):
            yield from _written(engine, rows_table, part, types, refused)
        return
    yield expressions, statement


def _same(
    expression: FunctionCall,
    types: Any,
    names: Sequence[str],
    row: tuple[Any, ...],
    got: Any,
    want: Any,
    *,
    exact: bool,
) -> bool:
    name = expression.function.name
    result_type = expression.type(types)
    if any(kind in COARSE for kind in names) and (
        result_type.kind in ("float", "bool") or name == "cast"
    ):
        return True
    if (
        name == "cast"
        and names[0] == "string"
        and row[0] is not None
        and (ENGINES_OWN.fullmatch(row[0]) or row[0] == "1e-400")
    ):
        return True
    if isinstance(got, float) and isinstance(want, float) and name in OWN_MATHEMATICS and not exact:
        return got == want or math.isclose(got, want, rel_tol=1e-14)
    return bool(got == want) and type(got) is type(want)
