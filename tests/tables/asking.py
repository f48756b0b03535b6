"""Every call of every function that makes sense on columns of given types, and what DuckDB makes of
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any
from uuid import UUID

from sfumato.errors import Refused
from sfumato.tables.expr import (
    functions_cast,
    functions_format,
    functions_logic,
    functions_rounding,
    functions_text,
    functions_time,
)
from sfumato.tables.expr.expressions import Expr, call, col
from sfumato.tables.expr.functions import FUNCTIONS
from sfumato.tables.expr.types import NAMES, Type

from .special_values import VALUES, decimals, python

TYPES = [
    *dict.fromkeys(str(column_type) for column_type in NAMES.values()),
    "decimal(4,2)",
    "decimal(38,38)",
    "decimal(38,0)",
]

SAMPLES: dict[Any, Sequence[Any]] = {
    functions_rounding.DIGITS: (0, 1, 2, 15, -1, -2, -15),
    functions_rounding.END: (-3, 100.5),
    functions_text.PART: ("a", " ", "é", ",", "%", "😀", "ab" * 128),
    functions_text.NEW: ("", "b", "xyz" * 80),
    functions_text.PATTERN: (
        "",
        "%",
        "a%",
        "%b",
        "%a%",
        "a_b",
        "%a_%",
        "_%",
        "\\%",
        "%a%b%c%",
        "É%",
    ),
    functions_text.POSITION: (1, 2, 10**6),
    functions_text.LENGTH: (0, 1, 3, 10**6),
    functions_rounding.BUCKET_END: (0, -2.5, 100),
    functions_rounding.BUCKETS: (1, 7),
    functions_format.FORMAT: ("%Y-%m-%d %H:%M:%S", "%B %Y, 100 %%", "%a %j %V %u", "%F", "%d.%m."),
    functions_time.UNIT: tuple(functions_time.UNITS),
    functions_time.AMOUNT: (0, 1, -1, 13, -13, 10**4, -(10**4), 4 * 10**11),
    functions_cast.TYPE: TYPES,
}


def constants(name: str) -> list[Any]:
    """The special values of a type that can be written as constants."""
    values = [
        value for value in (python(name, value) for value in _values(name)) if value is not None
    ]
    if name == "uuid":
        return [UUID(value) for value in values]
    return [
        value
        for value in values
        if not isinstance(value, str) or (len(value) <= 4096 and "\0" not in value)
    ]


def _values(name: str) -> list[Any]:
    facts = Type.of(name)
    return VALUES.get(name) or decimals(facts.precision, facts.scale)


def calls(types: Sequence[str]) -> Iterator[Expr]:
    """All calls whose arguments that are no constants are columns c0, c1, … of these types, in this
    order, and which are not refused.
    """
    schema = {f"c{i}": Type.of(name) for i, name in enumerate(types)}
    columns = [col(name) for name in schema]
    for function in FUNCTIONS.values():
        if function.pairs:
            built = (
                [call("case", columns[0].is_null(), columns[-1], columns[0])]
                if len(columns) == 2
                else []
            )
        else:
            places = function.slots(max(len(function.takes), len(columns)))
            options: list[Sequence[Any]] = []
            waiting = list(columns)
            for place in places:
                if place is functions_logic.LISTED:
                    options.append([None])
                elif place.test is not None:
                    options.append(SAMPLES[place])
                else:
                    options.append([waiting.pop(0) if waiting else columns[-1]])
            if waiting or sum(
                len(option) == 1 and isinstance(option[0], Expr) for option in options
            ) < len(columns):
                continue
            built = (
                [columns[0].is_in(constants(types[0])[:40])]
                if function.name == "is_in"
                else [call(function.name, *chosen) for chosen in product(*options)]
            )
        for expression in built:
            try:
                expression.type(schema)
            except Refused:
                continue
            yield expression


def answers(
    connection: Any, table: Any, expressions: Sequence[Expr], schema: dict[str, Type]
) -> Any:
    """The Arrow table of all of them, in columns r0, r1, …; if it fails, the expression that does
    is named.
    """
    built = {f"r{i}": expression.build(table, schema) for i, expression in enumerate(expressions)}
    try:
        return connection.to_pyarrow(table.select(**built))
    except Exception:
        for name, value in built.items():
            try:
                connection.to_pyarrow(table.select(value.name(name)))
            except Exception as error:
                raise AssertionError(
                    f"{expressions[int(name[1:])].text} on {schema}: {error}"
                ) from None
        raise
