"""Unions: whose rows they are, what is known of their columns, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.session import Database
from sfumato.tables.declare.declaration import MOST_ROWS
from sfumato.tables.expr.expressions import col
from sfumato.tables.query.per_unit import Total
from sfumato.tables.query.unions import union_rows

from ..session.clinic import clinic


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    with clinic(
        max_rows={"patients": 1, "visits": 4, "tests": 6}, max_groups={"visits": 2}
    ) as built:
        built["visits"]._source.engine.run = None  # it is not to be asked
        yield built


def test_a_unit_counts_for_the_rows_of_both(db: Database) -> None:
    built = db["visits"].union(db["patients"])
    assert (
        built.declaration.max_rows,
        built.declaration.max_groups,
        built.declaration.table_rows,
    ) == (5, 3, 2**41)
    assert built.declaration.unit == ("patient_id",)
    assert list(built.schema) == ["patient_id", "city"]
    assert (
        not db["visits"]
        .rows.per_unit({}, {"n": Total("count")})
        .union(db["tests"], columns=[])
        .once
    )


def test_bounds_hold_on_both_sides(db: Database) -> None:
    rows, result = union_rows(
        db["visits"].rows,
        db["patients"].rows,
        [
            ("x", col("spend"), col("age")),
            ("who", col("patient_id"), col("id")),
            ("patient_id", col("city"), col("city")),
        ],
    )
    assert rows.ranges["x"] == (0, 100)
    assert [built.text for built in result] == ["x", "patient_id", "patient_id_2"]
    assert (
        "y"
        not in union_rows(db["visits"].rows, db["patients"].rows, [("y", col("spend"), col("id"))])[
            0
        ].ranges
    )


def test_links_hold_on_both_sides(db: Database) -> None:
    assert union_rows(db["visits"].rows, db["tests"].rows, [("v", col("number"), col("visit"))])[
        0
    ].links == {"v": "visits.number"}
    assert (
        union_rows(db["visits"].rows, db["tests"].rows, [("v", col("number"), col("value"))])[
            0
        ].links
        == {}
    )


def test_public_keys_of_both() -> None:
    with clinic(
        keys={"visits.city": ["Roma", "Bari"], "patients.city": ["Bari", None, "Oslo"]}
    ) as built:
        both = built["visits"].union(built["patients"])
        assert both.public_keys("city") == ("Bari", "Oslo", "Roma", None)
    with clinic(keys={"visits.city": ["Roma", "Bari"]}) as built:
        assert built["visits"].union(built["patients"]).public_keys("city") == ()


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "public rows among people": (
        lambda db: db["visits"].union(db.public["cities"]),
        "join.ownership",
    ),
    "people among public rows": (
        lambda db: db.public["cities"].union(db["visits"]),
        "join.ownership",
    ),
    "other types one after the other": (
        lambda db: db["visits"].mutate(age=sf.col("city")).union(db["patients"], columns=["age"]),
        "union.columns",
    ),
    "no such column": (
        lambda db: db["visits"].union(db["patients"], columns=["spend"]),
        "expression.column",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, db: Database) -> None:
    make, code = REFUSED[name]
    with pytest.raises(Refused) as caught:
        make(db)
    assert caught.value.code == code
    assert caught.value.rewrite


def test_without_a_unit_rows_are_not_repeated() -> None:
    with (
        sf.protect(pa.table({"x": [1, 2]}), name="t", budget=1) as table,
        pytest.raises(Refused, match=r"join\.unit"),
    ):
        table.union(table)


@pytest.mark.parametrize("groups", [None, MOST_ROWS], ids=["rows", "groups"])
def test_a_unit_counts_for_no_more_rows_than_may_be_declared(groups: int | None) -> None:
    """More rows would leave the unit's weights no bits: the library refuses such a union."""
    half = MOST_ROWS // 2 if groups is None else 5
    with clinic(
        max_rows={"patients": half, "visits": half, "tests": 1},
        max_groups={"visits": groups} if groups else None,
    ) as db:
        if groups is None:
            assert db["visits"].union(db["patients"]).declaration.max_rows == MOST_ROWS
        with pytest.raises(Refused) as caught:
            db["visits"].union(db["patients"]).union(db["tests"])
        assert caught.value.code == "table.max-rows"
        assert "max_rows" in caught.value.rewrite


@pytest.mark.parametrize("times", [2, 8, 16])
def test_unions_in_sql_are_refused_or_planned(times: int) -> None:
    rows = pa.table({"u": [1, 2], "x": [0.5, 0.5]})
    text = f"SELECT SUM(x) AS s FROM ({' UNION ALL '.join(['SELECT u, x FROM t'] * times)}) AS q"
    with sf.protect(
        rows, name="t", unit="u", budget=sf.ZCDP(10), max_rows=MOST_ROWS // 8, bounds={"x": (0, 1)}
    ) as table:
        if times <= 8:
            assert table.plan(text, promise=sf.ZCDP("0.1")).calibration.bounding.bits >= 0
        else:
            with pytest.raises(Refused) as caught:
                table.plan(text, promise=sf.ZCDP("0.1"))
            assert caught.value.code == "table.max-rows"
