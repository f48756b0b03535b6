"""Expressions evaluated row by row in plain Python: the specification that the engine is compared
with.

`evaluate(expression, row)` gives the value: None, bool, int, float, Decimal, str, date, datetime
(in UTC) or UUID. With a schema, numbers that the types make floats are floats on the way, too (two
int64 may leave 64 bits, so their sum is one); without it integers stay exact.
"""

from __future__ import annotations

import calendar
import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from sfumato.tables.expr.expressions import ColumnRef, Expr, FunctionCall, Literal
from sfumato.tables.expr.types import Type

WIDE = Context(prec=200)
EPOCH = datetime(1970, 1, 1)
BLANKS = " \t\n\r\v\f"
GROWN = 1024
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
INFINITE = (math.inf, -math.inf)

CHOICES = ("case", "coalesce", "nullif", "least", "greatest")

Row = Mapping[str, Any]
Schema = Mapping[str, Type]


def evaluate(expression: Expr, row: Row, schema: Schema | None = None) -> Any:
    """The value of an expression on one row."""
    if isinstance(expression, ColumnRef):
        return held(row[expression.name])
    if isinstance(expression, Literal):
        return held(expression.value)
    assert isinstance(expression, FunctionCall)
    name, arguments = expression.function.name, expression.arguments
    values = [evaluate(argument, row, schema) for argument in arguments]
    if schema is not None:
        values = floated(expression, values, schema)
    if name in LAZY:
        value = held(LAZY[name](values))
        midnight = (
            schema is not None and name in CHOICES and expression.type(schema).kind == "timestamp"
        )
        return alike([value, EPOCH])[0] if midnight else value
    return None if any(value is None for value in values) else held(STRICT[name](*values))


def held(value: Any) -> Any:
    """NaN is a null; a timestamp with a zone is one in UTC."""
    if isinstance(value, float) and math.isnan(value):
        return None
    return (
        value.astimezone(UTC).replace(tzinfo=None)
        if isinstance(value, datetime) and value.tzinfo
        else value
    )


def floated(expression: FunctionCall, values: list[Any], schema: Schema) -> list[Any]:
    """Numbers as floats where the types say that they are not exact together."""
    name = expression.function.name
    if name in ("+", "-", "*", "negate", "abs", "//", "%", "div", "mod", "clip", *CHOICES):
        inexact = expression.type(schema).kind == "float"
    elif name in ("=", "<>", "<", "<=", ">", ">=", "between", "is_in", "identical"):
        kinds = [argument.type(schema) for argument in expression.arguments]
        total = [
            facts.precision - facts.scale
            if facts.kind == "decimal"
            else {8: 3, 16: 5, 32: 10, 64: 19}[facts.bits]
            for facts in kinds
            if facts.numeric
        ]
        mixed = any(facts.kind == "decimal" for facts in kinds)
        inexact = any(facts.kind == "float" for facts in kinds) or (
            mixed and max(total) + max(facts.scale for facts in kinds) > 38
        )
    else:
        inexact = False
    return [
        float(v) if inexact and isinstance(v, int | Decimal) and not isinstance(v, bool) else v
        for v in values
    ]


def alike(values: Sequence[Any]) -> list[Any]:
    """Values that may be compared: texts beside moments are read, dates beside timestamps are
    midnights, numbers beside floats are floats.
    """
    present = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in present) and not all(
        isinstance(value, str) for value in present
    ):
        second = next(value for value in present if not isinstance(value, str))
        read: Callable[[str], Any] = (
            UUID if isinstance(second, UUID) else lambda text: held(datetime.fromisoformat(text))
        )
        values = [read(value) if isinstance(value, str) else value for value in values]
    if any(isinstance(value, datetime) for value in values):
        return [
            datetime(v.year, v.month, v.day)
            if isinstance(v, date) and not isinstance(v, datetime)
            else v
            for v in values
        ]
    if any(isinstance(value, float) for value in values):
        return [value if value is None else float(value) for value in values]
    return list(values)


def conjunction(values: list[Any]) -> Any:
    return False if False in values else None if None in values else True


def disjunction(values: list[Any]) -> Any:
    return True if True in values else None if None in values else False


def case(values: list[Any]) -> Any:
    results = alike([*values[1:-1:2], values[-1]])
    return next(
        (
            result
            for condition, result in zip(values[:-1:2], results, strict=False)
            if condition is True
        ),
        results[-1],
    )


def first(values: list[Any]) -> Any:
    return next((value for value in alike(values) if value is not None), None)


def extreme(choose: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    return lambda values: (
        choose(present)
        if (present := [value for value in alike(values) if value is not None])
        else None
    )


def nullif(values: list[Any]) -> Any:
    first_value, second = alike(values)
    return None if first_value is not None and first_value == second else first_value


LAZY: dict[str, Callable[[list[Any]], Any]] = {
    "and": conjunction,
    "or": disjunction,
    "case": case,
    "coalesce": first,
    "least": extreme(min),
    "greatest": extreme(max),
    "nullif": nullif,
    "is_null": lambda values: values[0] is None,
    "not_null": lambda values: values[0] is not None,
    "identical": lambda values: (lambda pair: pair[0] == pair[1])(alike(values)),
    "cast": lambda values: None if values[0] is None else cast(values[0], Type.of(values[1])),
}


def compared(relation: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda a, b: relation(*alike([a, b]))


def arithmetic(
    floats: Callable[[float, float], float], exact: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    def operation(a: Any, b: Any) -> Any:
        if isinstance(a, float) or isinstance(b, float):
            return floats(float(a), float(b))
        return (
            exact(a, b)
            if isinstance(a, int) and isinstance(b, int)
            else exact(WIDE.create_decimal(a), WIDE.create_decimal(b))
        )

    return operation


def product(a: Any, b: Any) -> Any:
    return arithmetic(
        lambda x, y: x * y, lambda x, y: WIDE.multiply(x, y) if isinstance(x, Decimal) else x * y
    )(a, b)


def quotient(a: Any, b: Any) -> float | None:
    if b == 0:
        return None
    a, b = float(a), float(b)
    return math.nan if a in INFINITE and b in INFINITE else a / b


def whole_quotient(rounding: Callable[[Any], int]) -> Callable[[Any, Any], Any]:
    def operation(a: Any, b: Any) -> Any:
        if b == 0:
            return None
        if isinstance(a, int) and isinstance(b, int):
            return rounding(Fraction(a, b))
        ratio = quotient(a, b)
        return ratio if ratio is None or not math.isfinite(ratio) else float(rounding(ratio))

    return operation


def remainder(a: Any, b: Any) -> Any:
    """With the sign of the dividend."""
    if b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a - b * math.trunc(Fraction(a, b))
    a, b = float(a), float(b)
    return math.nan if a in INFINITE else math.fmod(a, b)


def modulo(a: Any, b: Any) -> Any:
    """With the sign of the divisor."""
    if b == 0 or (isinstance(a, int) and isinstance(b, int)):
        return a % b if b else None
    part = remainder(a, b) + float(b)
    return math.nan if not math.isfinite(part) else math.fmod(part, float(b))


def power(a: Any, b: Any) -> float:
    a, b = float(a), float(b)
    if a == 0 and b < 0:
        return math.nan
    try:
        return math.pow(a, b)
    except OverflowError:
        return math.inf if a > 0 or b % 2 == 0 else -math.inf
    except ValueError:
        return math.nan


def away(value: float) -> float:
    """To a whole number, halves away from zero."""
    if not math.isfinite(value):
        return value
    total = math.floor(abs(value))
    return math.copysign(float(total + (abs(value) - total >= 0.5)), value)


def rounded(value: Any, digits: int) -> Any:
    if isinstance(value, int):
        return value if digits >= 0 else int(ROUND(Decimal(value), digits))
    if isinstance(value, Decimal):
        scale = -int(value.as_tuple().exponent)
        return ROUND(value, min(digits, scale)) if digits >= 0 else rounded(float(value), digits)
    if digits < 0:
        return away(value / 10.0**-digits) * 10.0**-digits
    near = away(value * 10.0**digits) / 10.0**digits
    return near if math.isfinite(near) else value


def ROUND(value: Decimal, digits: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, WIDE)


def step(rounding: str, exact: Callable[[float], int]) -> Callable[[Any], Any]:
    def operation(value: Any) -> Any:
        if isinstance(value, Decimal):
            return value.quantize(Decimal(1), rounding, WIDE)
        return value if isinstance(value, int) or not math.isfinite(value) else float(exact(value))

    return operation


def real(
    function: Callable[..., float], defined: Callable[[float], bool] = lambda x: True
) -> Callable[..., Any]:
    def operation(*values: Any) -> Any:
        floats = [float(value) for value in values]
        if not defined(floats[0]):
            return None
        try:
            return function(*floats)
        except OverflowError:
            return math.inf

    return operation


def by_letter(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: "".join(
        change(letter) if len(change(letter)) == 1 else letter for letter in text
    )


def like(text: str, pattern: str) -> bool:
    """Letter by letter; where it fails, the last % takes one letter more."""
    at, place, retry, used = 0, 0, -1, 0
    while at < len(text):
        if place < len(pattern) and pattern[place] == "%":
            retry, used = place, at
            place += 1
        elif place < len(pattern) and pattern[place] in ("_", text[at]):
            at, place = at + 1, place + 1
        elif retry >= 0:
            used += 1
            at, place = used, retry + 1
        else:
            return False
    return not pattern[place:].strip("%")


def replaced(text: str, old: str, new: str) -> str | None:
    return (
        None
        if len(new) > len(old) and len(text) > GROWN * len(old) // len(new)
        else text.replace(old, new)
    )


def joined(*texts: str) -> str | None:
    return None if sum(map(len, texts)) > GROWN else "".join(texts)


def part(text: str, separator: str, number: int) -> str | None:
    parts = text.split(separator)
    return parts[number - 1] if number <= len(parts) else None


def day(moment: date | datetime) -> date:
    return moment.date() if isinstance(moment, datetime) else moment


def strftime(moment: date | datetime, form: str) -> str:
    """Python's own, but for years of less than four digits, and in English."""
    names = {
        "%Y": f"{moment.year:04}",
        "%A": calendar.day_name[moment.weekday()],
        "%a": calendar.day_name[moment.weekday()][:3],
        "%B": calendar.month_name[moment.month],
        "%b": calendar.month_name[moment.month][:3],
        "%F": f"{moment.year:04}-%m-%d",
        "%V": f"{moment.isocalendar()[1]:02}",
    }
    for code, name in names.items():
        form = form.replace(code, name)
    return moment.replace(year=2000 + moment.year % 400).strftime(form)


def width_bucket(value: Any, low: Any, high: Any, count: int) -> int:
    """The edges are exact beside exact numbers, and doubles beside a double."""
    first, last = Fraction(str(low)), Fraction(str(high))
    edges: list[Any] = [first + (last - first) * k / count for k in range(count + 1)]
    if isinstance(value, float):
        edges = [float(edge) for edge in edges]
    else:
        value = Fraction(value)
    return sum(value >= edge for edge in edges)


def date_trunc(unit: str, moment: date | datetime) -> date | datetime:
    start = day(moment)
    if unit == "week":
        start -= timedelta(days=start.weekday())
    elif unit in ("year", "quarter", "month"):
        start = start.replace(
            day=1,
            month={"year": 1, "quarter": (start.month - 1) // 3 * 3 + 1}.get(unit, start.month),
        )
    if not isinstance(moment, datetime):
        return start
    if unit in UNITS[5:]:
        return moment.replace(
            microsecond=0,
            second=moment.second if unit == "second" else 0,
            minute=0 if unit == "hour" else moment.minute,
        )
    return datetime(start.year, start.month, start.day)


def date_add(moment: date | datetime, amount: int, unit: str) -> date | datetime | None:
    months = {"year": 12, "quarter": 3, "month": 1}.get(unit)
    try:
        if months is None:
            seconds = {"week": 604800, "day": 86400, "hour": 3600, "minute": 60, "second": 1}[unit]
            return moment + timedelta(seconds=amount * seconds)
        year, month = divmod(moment.year * 12 + moment.month - 1 + amount * months, 12)
        if not 1 <= year <= 9999:
            return None
        return moment.replace(
            year=year, month=month + 1, day=min(moment.day, calendar.monthrange(year, month + 1)[1])
        )
    except OverflowError:
        return None


def epoch(moment: date | datetime) -> float:
    (moment,) = alike([moment, EPOCH])[:1]
    return (moment - EPOCH) / timedelta(seconds=1)


def cast(value: Any, to: Type) -> Any:
    """As TRY_CAST; of texts, only what all engines read alike."""
    match to.kind:
        case "string":
            return written(value)
        case "bool":
            return (
                {"true": True, "false": False}.get(value.lower())
                if isinstance(value, str)
                else value != 0
            )
        case "integer" | "decimal" | "float":
            return number(value, to)
        case "date":
            return read(date.fromisoformat, value) if isinstance(value, str) else day(value)
        case "timestamp":
            return (
                held(read(datetime.fromisoformat, value))
                if isinstance(value, str)
                else alike([value, EPOCH])[0]
            )
    return read(UUID, value) if isinstance(value, str) else value


def read(how: Callable[[str], Any], value: str) -> Any:
    try:
        return how(value)
    except (ValueError, ArithmeticError):
        return None


def number(value: Any, to: Type) -> Any:
    if isinstance(value, str):
        value = read(Decimal if to.kind != "float" else float, value)
    if value is None or (to.kind != "float" and not math.isfinite(value)):
        return None
    value = int(value) if isinstance(value, bool) else value
    if to.kind == "float":
        return float(value) if to.bits == 64 else single(float(value))
    low, high = to.limits or (Fraction(0), Fraction(0))
    if not 2 * low <= Fraction(value) <= 2 * high + 1:
        return None
    exact = ROUND(WIDE.create_decimal(value), 0 if to.kind == "integer" else to.scale)
    return (
        None
        if not low <= Fraction(exact) <= high
        else int(exact)
        if to.kind == "integer"
        else exact
    )


def single(value: float) -> float | None:
    """The nearest float32; null beyond the largest."""
    near = ctypes.c_float(value).value
    return near if math.isfinite(near) or not math.isfinite(value) else None


def written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat(" ").rstrip("0") if value.microsecond else value.isoformat(" ")
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def near_zero(x: float) -> bool:
    return x > 0


STRICT: dict[str, Callable[..., Any]] = {
    "+": arithmetic(
        lambda x, y: x + y, lambda x, y: WIDE.add(x, y) if isinstance(x, Decimal) else x + y
    ),
    "-": arithmetic(
        lambda x, y: x - y, lambda x, y: WIDE.subtract(x, y) if isinstance(x, Decimal) else x - y
    ),
    "*": product,
    "/": quotient,
    "//": whole_quotient(math.floor),
    "div": whole_quotient(math.trunc),
    "%": modulo,
    "mod": remainder,
    "negate": lambda x: WIDE.minus(x) if isinstance(x, Decimal) else -x,
    "power": power,
    "abs": lambda x: WIDE.abs(x) if isinstance(x, Decimal) else abs(x),
    "sign": lambda x: (x > 0) - (x < 0),
    "floor": step(ROUND_FLOOR, math.floor),
    "ceil": step(ROUND_CEILING, math.ceil),
    "trunc": step(ROUND_DOWN, math.trunc),
    "round": rounded,
    "clip": lambda x, low, high: (lambda a: min(max(a[0], a[1]), a[2]))(alike([x, low, high])),
    "sqrt": real(math.sqrt, lambda x: x >= 0),
    "exp": real(math.exp),
    "ln": real(math.log, near_zero),
    "log10": real(math.log10, near_zero),
    "log2": real(math.log2, near_zero),
    "sin": real(math.sin, math.isfinite),
    "cos": real(math.cos, math.isfinite),
    "tan": real(math.tan, math.isfinite),
    "asin": real(math.asin, lambda x: abs(x) <= 1),
    "acos": real(math.acos, lambda x: abs(x) <= 1),
    "atan": real(math.atan),
    "atan2": real(lambda y, x: math.atan2(y + 0.0, x + 0.0)),
    "degrees": real(math.degrees),
    "radians": real(math.radians),
    "width_bucket": width_bucket,
    "is_finite": lambda x: math.isfinite(x),
    "not": lambda x: not x,
    "=": compared(lambda a, b: a == b),
    "<>": compared(lambda a, b: a != b),
    "<": compared(lambda a, b: a < b),
    "<=": compared(lambda a, b: a <= b),
    ">": compared(lambda a, b: a > b),
    ">=": compared(lambda a, b: a >= b),
    "between": lambda value, low, high: (lambda a: a[1] <= a[0] <= a[2])(alike([value, low, high])),
    "is_in": lambda value, *listed: (lambda a: a[0] in a[1:])(alike([value, *listed])),
    "lower": by_letter(str.lower),
    "upper": by_letter(str.upper),
    "trim": lambda text: text.strip(BLANKS),
    "ltrim": lambda text: text.lstrip(BLANKS),
    "rtrim": lambda text: text.rstrip(BLANKS),
    "length": len,
    "substr": lambda text, start, length: text[start - 1 : start - 1 + length],
    "left": lambda text, length: text[:length],
    "right": lambda text, length: text[-length:] if length else "",
    "replace": replaced,
    "concat": joined,
    "split_part": part,
    "contains": lambda text, piece: piece in text,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "position": lambda text, piece: text.find(piece) + 1,
    "like": like,
    "ilike": lambda text, pattern: like(by_letter(str.lower)(text), by_letter(str.lower)(pattern)),
    "year": lambda moment: moment.year,
    "quarter": lambda moment: (moment.month - 1) // 3 + 1,
    "month": lambda moment: moment.month,
    "week": lambda moment: moment.isocalendar()[1],
    "day": lambda moment: moment.day,
    "day_of_week": lambda moment: moment.isoweekday(),
    "day_of_year": lambda moment: moment.timetuple().tm_yday,
    "day_name": lambda moment: calendar.day_name[moment.weekday()],
    "month_name": lambda moment: calendar.month_name[moment.month],
    "hour": lambda moment: moment.hour,
    "minute": lambda moment: moment.minute,
    "second": lambda moment: moment.second,
    "strftime": strftime,
    "date_trunc": date_trunc,
    "date_add": date_add,
    "days_between": lambda later, earlier: (day(later) - day(earlier)).days,
    "epoch": epoch,
}
