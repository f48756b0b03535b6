"""Declarations as files: exact both ways, also by hand, and refused when they are something
else.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables.declare.declaration import Declaration, declare
from sfumato.tables.expr.types import Type

from ..refusing import refusal

STORED = Path(__file__).parents[1] / "vectors" / "stored" / "declaration-v1.toml"

FULL = declare(
    name="visits",
    unit=["hospital", "patient"],
    relation="replace",
    types={
        "hospital": "string",
        "patient": "uuid",
        "spend": "float not null",
        "fee": "decimal(10,2)",
        "day": "date",
        "at": "timestamp with time zone",
        "seen": "timestamp",
        "vip": "bool",
        "age": "int16",
        "share": "float32",
        'a "strange", \\ name': "category",
    },
    bounds={"spend": (0, "100.5"), "fee": ("1/3", 64), "age": (-(10**30), 10**30)},
    keys={
        "hospital": ["Roma", 'say "no"', "a\nb\t\x7f\x00", "🙂", ""],
        "patient": [UUID(int=5), None],
        "fee": ["0.10", "2.00"],
        "day": [datetime.date(1, 1, 1), "2026-03-01"],
        "at": ["2026-03-01T12:00:00.123456+02:00"],
        "seen": ["0999-03-01T12:00:00"],
        "vip": [True, False, None],
        "age": [-5, 5],
        "share": [0.1, 1e30, 1e-30, -2.0],
    },
    max_rows=5,
    max_groups=3,
    table_rows=10**9,
    bounding="truncation",
    version="2026-03, second delivery",
)
PLAIN = declare(name="visits", types={"city": "string"})


@pytest.mark.parametrize("declaration", [FULL, PLAIN], ids=["full", "plain"])
def test_what_is_written_is_read_back(declaration: Declaration) -> None:
    assert Declaration.from_toml(declaration.to_toml()) == declaration
    assert declare(**declaration.arguments) == declaration


def test_a_file_of_the_first_version_is_read_forever() -> None:
    assert Declaration.from_toml(STORED.read_text(encoding="utf-8")) == FULL
    assert FULL.to_toml() == STORED.read_text(encoding="utf-8")


def test_what_is_usual_is_not_written() -> None:
    assert PLAIN.to_toml() == (
        'sfumato = "declaration"\nversion = 1\n\n[table]\nname = "visits"\nrelation = '
        '"add-remove"\n\n[columns."city"]\ntype = "string"\n'
    )


def test_numbers_by_hand_mean_what_they_say() -> None:
    text = """
        sfumato = "declaration"
        version = 1
        table.name = "visits"
        table.unit = "user_id"
        table.max_rows = 5
        [columns]
        user_id.type = "int"
        spend = { type = "float", bounds = [0.1, "1/3"], keys = [0.3, 1] }
        [columns.fee]
        type = "decimal(5,2)"
        bounds = [-1e-3, 1e2]
        keys = [0.10, "0.20"]
        null_key = true
    """
    declaration = Declaration.from_toml(text)
    assert declaration.ranges == {
        "spend": (Fraction(1, 10), Fraction(1, 3)),
        "fee": (Fraction(-1, 1000), Fraction(100)),
    }
    assert declaration.domains == {
        "spend": (0.3, 1.0),
        "fee": (Decimal("0.10"), Decimal("0.20"), None),
    }
    assert declaration.unit == ("user_id",)


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.fractions(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.datetimes(),
)
def test_all_texts_and_numbers_come_back(
    text: str, number: Fraction, double: float, moment: datetime.datetime
) -> None:
    declaration = declare(
        name="t",
        types={"s": "string", "f": "float", "t": "timestamp"},
        bounds={"f": (number, number + Fraction(1, 3))},
        keys={"s": [text], "f": [double], "t": [moment]},
    )
    assert Declaration.from_toml(declaration.to_toml()) == declaration


@pytest.mark.parametrize(
    "kind",
    [
        "bool",
        "int8",
        "int64",
        "decimal(38,38)",
        "float32",
        "string",
        "date",
        "timestamp",
        "timestamp with time zone not null",
        "uuid",
    ],
)
def test_all_types_come_back(kind: str) -> None:
    declaration = declare(name="t", types={"x": kind})
    assert Declaration.from_toml(declaration.to_toml()).schema == {"x": Type.of(kind)}


GOOD = FULL.to_toml()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not toml",
        None,
        5,
        b"x",
        GOOD.replace('"declaration"', '"guarantee"'),
        GOOD.replace("version = 1", "version = 2", 1),
        GOOD.replace("version = 1", "version = true", 1),
        GOOD.replace("[table]", "[tables]"),
        GOOD.replace("max_rows", "max_row"),
        GOOD.replace("bounds", "bound", 1),
        GOOD.replace('type = "uuid"\n', ""),
        GOOD.replace("null_key = true", "null_key = 1", 1),
        GOOD.replace("keys = [-5, 5]", "keys = 5"),
        'sfumato = "declaration"\nversion = 1\ntable = 5\n[columns]\n',
        'sfumato = "declaration"\nversion = 1\n[table]\nname = "x"\n[columns]\nx = 5\n',
        'sfumato = "declaration"\nversion = 1\n[table]\nname = "x"\n',
        "x = " + "[" * 2000,
    ],
)
def test_what_is_no_declaration_is_refused(text: Any) -> None:
    refusal(lambda: Declaration.from_toml(text), "table.stored")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('name = "visits"', "name = 5", "table.name"),
        ('name = "visits"\n', "", "table.name"),
        ("max_rows = 5", "max_rows = 0", "table.max-rows"),
        ("max_rows = 5", 'max_rows = "5"', "table.max-rows"),
        ('relation = "replace"', 'relation = "other"', "guarantee.relation"),
        ('type = "uuid"', "type = 5", "table.type"),
        ('bounds = [0, "100.5"]', "bounds = [1, 0]", "table.bounds"),
        ('bounds = [0, "100.5"]', "bounds = [0, inf]", "number.not-finite"),
        ('bounds = [0, "100.5"]', "bounds = [0, nan]", "number.not-finite"),
        ("keys = [-5, 5]", "keys = [5, 5]", "table.keys"),
        ("keys = [-5, 5]", "keys = []", "table.keys"),
        ('version = "2026-03, second delivery"', "version = 3", "table.version"),
        ('unit = ["hospital", "patient"]', 'unit = ["nobody"]', "table.column"),
    ],
)
def test_a_file_is_checked_like_any_declaration(old: str, new: str, code: str) -> None:
    assert old in GOOD
    refusal(lambda: Declaration.from_toml(GOOD.replace(old, new)), code)


def test_no_path_is_in_it() -> None:
    assert "/" not in FULL.to_toml().replace("100.5", "").replace("1/3", "")
