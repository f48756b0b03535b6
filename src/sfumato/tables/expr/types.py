"""The types of columns: each with its name, its limits and its Ibis type.

*Names*    `str(type)` is read back by `Type.of`; the words of SQL, Python and Arrow are read too.
           "category" is a string: the values of a dictionary are never looked at.
*Limits*   unsigned integers are read as the next signed width, uint64 as decimal(20,0). Timestamps
           are microseconds, and all of them in UTC.
*Null*     every value may be null unless the type says "not null", which the owner promises and
           nobody checks. A NaN is a null, and so is a date outside the years 1 to 9999: an
           expression gives null or a value that Python's own type can hold.
*Refused*  lists, structs, maps, intervals, times of day, binary, JSON: none of them is a number, a
           text or a moment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from . import expr_refusals as refusals

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt

Kind = Literal["bool", "integer", "decimal", "float", "string", "date", "timestamp", "uuid", "null"]
"""The kind "null" is that of a bare NULL, which takes the type of its neighbours; no column has it.
"""

Span = tuple[Fraction, Fraction]
"""The least and the largest value that a column or expression can have."""

WORDS: dict[Kind, str] = {
    "bool": "a truth value",
    "integer": "an integer",
    "decimal": "a decimal",
    "float": "a float",
    "string": "a text",
    "date": "a date",
    "timestamp": "a timestamp",
    "uuid": "a uuid",
    "null": "a null",
}

CASTS: dict[Kind, tuple[Kind, ...]] = {
    "bool": ("bool", "integer", "float", "string"),
    "integer": ("bool", "integer", "decimal", "float", "string"),
    "decimal": ("integer", "decimal", "float", "string"),
    "float": ("integer", "decimal", "float"),  # the text of a float is another in every engine
    "string": ("bool", "integer", "decimal", "float", "string", "date", "timestamp", "uuid"),
    "date": ("date", "timestamp", "string"),
    "timestamp": ("date", "timestamp", "string"),
    "uuid": ("uuid", "string"),
    "null": ("bool", "integer", "decimal", "float", "string", "date", "timestamp", "uuid"),
}
"""Kind of a value → the kinds that it may be cast to."""

WIDTHS = (8, 16, 32, 64)
DIGITS = 38  # of the widest decimal

_NOT_NULL = " not null"
_DECIMAL = re.compile(r"(?:decimal|numeric)\((\d{1,4}),(\d{1,4})\)")


@dataclass(frozen=True, slots=True, repr=False)
class Type:
    """One type. Compared by value; `bare` leaves nullability aside."""

    kind: Kind
    bits: int = 64  # of an integer or a float
    precision: int = 0  # of a decimal: all its digits
    scale: int = 0  # of a decimal: its digits after the point
    zone: bool = False  # of a timestamp: written with a zone, held in UTC
    nullable: bool = True

    def __post_init__(self) -> None:
        if self.kind == "decimal" and not (
            1 <= self.precision <= DIGITS and 0 <= self.scale <= self.precision
        ):
            raise refusals.DECIMAL_DIGITS_OUT_OF_RANGE(
                precision=self.precision, scale=self.scale, most=DIGITS
            )

    @staticmethod
    def of(text: str) -> Type:
        """Read the name of a type; " not null" may follow it."""
        words = (
            re.sub(r" ?([(,]) ?| (?=\))", r"\1", re.sub(r"\s+", " ", text.strip().lower()))
            if isinstance(text, str)
            else ""
        )
        name = words.removesuffix(_NOT_NULL)
        decimal = _DECIMAL.fullmatch(name)
        kind = (
            Type("decimal", precision=int(decimal[1]), scale=int(decimal[2]))
            if decimal
            else NAMES.get(name)
        )
        if kind is None:
            supported = ", ".join(map(str, dict.fromkeys(NAMES.values())))
            raise refusals.UNKNOWN_TYPE(type=text, supported=supported)
        return replace(kind, nullable=not words.endswith(_NOT_NULL))

    @staticmethod
    def from_ibis(dtype: dt.DataType, place: str) -> Type:
        """Convert an Ibis type; `place` names the column in a refusal."""
        if dtype.is_decimal() and dtype.precision is not None:
            return Type(
                "decimal",
                precision=dtype.precision,
                scale=dtype.scale or 0,
                nullable=dtype.nullable,
            )
        if dtype.is_timestamp():
            return Type("timestamp", zone=dtype.timezone is not None, nullable=dtype.nullable)
        kind = _FROM_IBIS.get(type(dtype).__name__)
        if kind is None:
            raise refusals.COLUMN_TYPE_NOT_SUPPORTED(column=place, type=dtype)
        return replace(kind, nullable=dtype.nullable)

    def to_ibis(self) -> dt.DataType:
        """Return the Ibis type, always nullable: "not null" is a promise of the owner, not of the
        engine.
        """
        return _to_ibis(self.bare)

    @property
    def bare(self) -> Type:
        return self if self.nullable else replace(self, nullable=True)

    @property
    def numeric(self) -> bool:
        return self.kind in ("integer", "decimal", "float")

    @property
    def limits(self) -> Span | None:
        """The least and the largest number of this type; None for floats and other types."""
        if self.kind == "integer":
            return Fraction(-(2 ** (self.bits - 1))), Fraction(2 ** (self.bits - 1) - 1)
        if self.kind == "decimal":
            end = Fraction(10**self.precision - 1, 10**self.scale)
            return -end, end
        return None

    @property
    def words(self) -> str:
        return WORDS[self.kind]

    def __repr__(self) -> str:
        return f"Type.of({str(self)!r})"

    def __str__(self) -> str:
        names = {
            "integer": f"int{self.bits}",
            "float": f"float{self.bits}",
            "decimal": f"decimal({self.precision},{self.scale})",
            "timestamp": "timestamp with time zone" if self.zone else "timestamp",
        }
        return names.get(self.kind, self.kind) + ("" if self.nullable else _NOT_NULL)


BOOL, STRING, DATE, TIMESTAMP, UUID, NULL = (
    Type(kind) for kind in ("bool", "string", "date", "timestamp", "uuid", "null")
)
FLOAT = Type("float")
ZONED = Type("timestamp", zone=True)
SPAN: Mapping[str, tuple[str, str]] = {
    "date": ("0001-01-01", "9999-12-31"),
    "timestamp": ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"),
}
"""The first and the last date and timestamp: Python's own types hold them, and every function of
every engine accepts them. Values outside are null.
"""

MONTHS: Mapping[str, int] = {"year": 12, "quarter": 3, "month": 1}
"""Unit of time → its length in months."""

INT8, INT16, INT32, INT64 = (Type("integer", bits=bits) for bits in WIDTHS)

_SYNONYMS: dict[Type, str] = {
    BOOL: "bool boolean",
    INT8: "int8 tinyint",
    INT16: "int16 smallint uint8",
    INT32: "int32 uint16",
    INT64: "int64 int integer bigint long uint32",
    Type("decimal", precision=20): "uint64",
    FLOAT: "float64 float double",
    Type("float", bits=32): "float32 real float16",
    STRING: "string str text varchar category",
    DATE: "date",
    TIMESTAMP: "timestamp datetime",
    ZONED: "timestamptz",
    UUID: "uuid",
}

NAMES: dict[str, Type] = {
    name: kind for kind, names in _SYNONYMS.items() for name in names.split()
} | {
    "double precision": FLOAT,
    "timestamp without time zone": TIMESTAMP,
    "timestamp with time zone": ZONED,
}
"""Every type name that is read, except those of decimals."""

_FROM_IBIS = (
    {"Boolean": BOOL, "String": STRING, "Date": DATE, "UUID": UUID}
    | {f"Int{bits}": NAMES[f"int{bits}"] for bits in WIDTHS}
    | {f"UInt{bits}": NAMES[f"uint{bits}"] for bits in WIDTHS}
    | {f"Float{bits}": NAMES[f"float{bits}"] for bits in (16, 32, 64)}
)
"""Names of Ibis's classes, so that Ibis itself is not imported to read a declaration."""


@lru_cache(maxsize=256)
def _to_ibis(kind: Type) -> dt.DataType:
    import ibis.expr.datatypes as dt

    match kind.kind:
        case "decimal":
            return dt.Decimal(kind.precision, kind.scale)
        case "timestamp":
            return dt.Timestamp("UTC") if kind.zone else dt.timestamp
        case _:
            return dt.dtype(
                {
                    "bool": "boolean",
                    "integer": f"int{kind.bits}",
                    "float": f"float{kind.bits}",
                }.get(kind.kind, kind.kind)
            )
