"""What one unit can cost: joins that multiply its rows, texts that grow, patterns that are slow,
public tables that are dear.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.session import Database, Table
from sfumato.tables.expr.nodes import call
from sfumato.tables.query import joins
from sfumato.tables.query.per_unit import Total
from sfumato.tables.query.unit_work import JOINED_ROWS, MOST_UNIT_ROWS, UNIT_ROWS, UNIT_WORK
from sfumato.testing.exact_checks import through_the_door

MANY = 50


def visits(rows: int, others: int = 40) -> pa.Table:
    """A unit 1 with so many rows, and others with one each."""
    owners = [1] * rows + list(range(100, 100 + others))
    return pa.table(
        {
            "u": owners,
            "day": list(range(rows)) + [0] * others,
            "note": ["a" * 60] * rows + ["x"] * others,
        }
    )


def protected(rows: int, **arguments: Any) -> Table:
    built: Table = sf.protect(
        visits(rows), name="v", unit="u", max_rows=4, budget=1000, **arguments
    )
    return built


@pytest.fixture(scope="module")
def world() -> Iterator[Database]:
    tables = {"v": visits(4)}
    public = {
        "p": pa.table({"n": list(range(MANY)), "same": [1] * MANY}),
        "wide": pa.table({"n": list(range(10_000)), "t": ["a"] * 10_000}),
    }
    with sf.protect(tables, unit="v.u", max_rows=4, public=public, budget=1000) as protected_table:
        yield protected_table


def counted(table: Table | Database, text: str) -> float:
    plan = table.plan(text, epsilon=1)
    result = through_the_door(plan).pieces[0]
    return float(sum(result.values.ravel()) * result.step)


def join(times: int) -> str:
    return "SELECT COUNT(*) AS n FROM v " + " ".join(
        f"JOIN v AS v{i} ON v.u = v{i}.u" for i in range(times)
    )


@pytest.mark.parametrize(("rows", "expected_rows"), [(64, 4), (65, 0)])
def test_a_unit_with_too_many_joined_rows_finds_no_match(rows: int, expected_rows: int) -> None:
    """64 · 64 rows are 4,096: the unit counts for its four rows. 65 · 65 are more, and it is left
    out. Others count as ever.
    """
    assert rows**2 <= JOINED_ROWS or not expected_rows
    with protected(rows) as table:
        assert counted(table, join(1)) == 40 + expected_rows


def test_a_table_joined_with_itself_again_and_again_does_not_multiply_one_units_rows() -> None:
    """Four rows of one person, fifteen joins: a thousand million rows, were they not counted
    first.
    """
    with protected(4) as table:
        assert counted(table, join(15)) == 40


def test_in_a_left_join_the_rows_of_such_a_unit_stay_without_a_match() -> None:
    with protected(65) as table:
        text = "SELECT COUNT({}) AS n FROM v LEFT JOIN v AS w ON v.u = w.u"
        assert counted(table, text.format("*")) == pytest.approx(44, rel=1e-4)
        assert counted(table, text.format("w.day")) == 40


@pytest.mark.parametrize(("kind", "expected"), [("EXISTS", 0), ("NOT EXISTS", 44)])
def test_so_it_is_where_pairs_are_compared(kind: str, expected: int) -> None:
    with protected(300) as table:
        result = counted(
            table,
            (
                f"SELECT COUNT(*) AS n FROM v WHERE {kind} (SELECT 1 FROM v AS w WHERE w.u = "
                f"v.u AND w.day < v.day)"
            ),
        )
        assert result == pytest.approx(expected)


def test_pairs_are_counted_by_all_that_has_to_be_equal() -> None:
    """300 rows, each of which fits one: 300 joined rows, not 90,000."""
    with protected(300) as table:
        assert counted(
            table, "SELECT COUNT(*) AS n FROM v JOIN v AS w ON v.u = w.u AND v.day = w.day"
        ) == pytest.approx(44, rel=1e-4)


def test_one_row_of_each_unit_needs_no_counting() -> None:
    with protected(300) as table:
        plan = table.plan(
            (
                "SELECT COUNT(*) AS n FROM v JOIN (SELECT u, MAX(day) AS last FROM v GROUP "
                "BY u) AS m ON v.u = m.u"
            ),
            epsilon=1,
        )
        assert "find no match" not in plan.explain()
        assert counted(
            table,
            (
                "SELECT COUNT(*) AS n FROM v JOIN (SELECT u, MAX(day) AS last FROM v GROUP "
                "BY u) AS m ON v.u = m.u"
            ),
        ) == pytest.approx(44, rel=1e-4)


def test_joined_rows_are_those_of_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random tables, the limit at 5 joined rows: the same number as by nested loops over the rows
    of each unit.
    """
    monkeypatch.setattr(joins, "JOINED_ROWS", 5)
    random = Random(7)
    for _ in range(12):
        rows = [
            (random.choice([1, 2, 3, None]), random.choice([0, 1, 2, None]))
            for _ in range(random.randrange(2, 14))
        ]
        rows.append((9, 0))
        with sf.protect(
            pa.table({"u": [u for u, _ in rows], "k": [k for _, k in rows]}),
            name="v",
            unit="u",
            max_rows=1000,
            budget=1000,
        ) as table:
            for on in ("v.u = w.u", "v.u = w.u AND v.k = w.k"):
                fits = [
                    u
                    for u, k in rows
                    for w, m in rows
                    if u is not None
                    and u == w
                    and (on == "v.u = w.u" or (k is not None and k == m))
                ]
                expected = sum(fits.count(u) for u in set(fits) if fits.count(u) <= 5)
                assert (
                    counted(table, f"SELECT COUNT(*) AS n FROM v JOIN v AS w ON {on}") == expected
                )


def test_public_tables_do_not_multiply_one_units_rows(world: Database) -> None:
    """Two cross joins with 50 public rows are taken, three would make eight million rows of a unit,
    and are refused before its rows are read.
    """
    text = "SELECT COUNT(*) AS n FROM v" + ", p AS p{}" * 3
    assert counted(world, "SELECT COUNT(*) AS n FROM v, p AS p1, p AS p2") == pytest.approx(
        41 * 4, rel=1e-2
    )
    with pytest.raises(Refused, match=r"question\.work") as caught:
        world.plan(text.format(1, 2, 3), epsilon=1)
    assert f"{UNIT_ROWS * MANY**3:,}" in caught.value.reason
    assert UNIT_ROWS * MANY**3 > MOST_UNIT_ROWS


def test_a_key_of_a_public_table_multiplies_by_how_often_it_repeats(world: Database) -> None:
    rows = world["v"].rows
    assert rows.join(world.public["p"], on={"day": "n"}).unit_rows == UNIT_ROWS
    assert rows.join(world.public["p"], on={"day": "same"}).unit_rows == UNIT_ROWS * MANY
    assert (
        rows.join(
            world.public["p"], on={"day": "n"}, how="left", where=sf.col("same") > 0
        ).unit_rows
        == UNIT_ROWS
    )


def test_public_rows_are_not_dear_to_compute(world: Database) -> None:
    """An engine computes them only if a protected row is there to meet them."""
    likes = " OR ".join(f"t LIKE '%{i}_a%'" for i in range(30))
    with pytest.raises(Refused, match=r"question\.work"):
        world.plan(
            (
                f"SELECT COUNT(*) AS n FROM v JOIN (SELECT n FROM wide WHERE {likes}) AS w "
                f"ON v.day = w.n"
            ),
            epsilon=1,
        )


def test_nor_are_those_that_a_condition_of_a_join_computes(world: Database) -> None:
    whens = " ".join(f"WHEN w.t LIKE '%{i}_b%' THEN 0" for i in range(60))
    for text in (
        f"SELECT COUNT(*) AS n FROM v JOIN wide AS w ON v.day = CASE {whens} ELSE w.n END",
        (
            f"SELECT COUNT(*) AS n FROM v JOIN (SELECT CASE {whens} ELSE w.n END AS k FROM "
            f"wide AS w) AS x ON v.day = x.k"
        ),
        (
            f"SELECT COUNT(*) AS n FROM v WHERE v.day IN (SELECT CASE {whens} ELSE w.n END "
            f"FROM wide AS w)"
        ),
    ):
        with pytest.raises(Refused, match=r"question\.work"):
            world.plan(text, epsilon=1)


def test_left_joins_keep_what_public_tables_have_made(world: Database) -> None:
    """Rows without a match stay, so public tables multiply them further."""
    steps = "".join(
        f" CROSS JOIN p AS p{i} LEFT JOIN v AS w{i} ON v.u = w{i}.u AND v.day + 1000 = w{i}.day"
        for i in range(3)
    )
    with pytest.raises(Refused, match=r"question\.work"):
        world.plan(f"SELECT COUNT(*) AS n FROM v{steps}", epsilon=1)
    left = world["v"].join(world.public["p"], how="cross").join(world["v"], on="u", how="left")
    assert left.unit_rows == UNIT_ROWS * MANY + JOINED_ROWS


@pytest.mark.parametrize("name", ["heavy", "heavy u0", "heavy 0", "other"])
def test_no_name_of_a_column_switches_the_limit_off(name: str) -> None:
    with protected(100) as table:
        inner = (
            f'SELECT u, day, MAX(CASE WHEN day < -1 THEN day END) AS "{name}" FROM v GROUP '
            f"BY u, day"
        )
        assert (
            counted(
                table,
                (
                    f"SELECT COUNT(*) AS n FROM ({inner}) AS a JOIN v AS b ON a.u = b.u "
                    f'WHERE a."{name}" IS NULL'
                ),
            )
            == 40
        )
        assert (
            counted(
                table,
                (
                    f"SELECT COUNT(*) AS n FROM v AS b JOIN ({inner}) AS a ON a.u = b.u "
                    f'WHERE a."{name}" IS NULL'
                ),
            )
            == 40
        )


def test_public_values_are_counted_as_the_join_compares_them() -> None:
    """Beside a float a thousand large integers are one."""
    big = 2**62
    public = {"ids": pa.table({"id": [big + i for i in range(400)]})}
    data = {"v": pa.table({"u": [1, 2], "x": [float(big), 0.0]})}
    with sf.protect(data, unit="v.u", max_rows=1, public=public, budget=10) as db:
        joined = db["v"].join(db.public["ids"], on={"x": "id"})
        assert joined.unit_rows > 100 * UNIT_ROWS
        assert (
            db["v"].mutate(n=sf.col("u")).join(db.public["ids"], on={"n": "id"}).unit_rows
            == UNIT_ROWS
        )


def test_what_is_computed_before_a_join_is_counted_for_the_rows_before_it(world: Database) -> None:
    wide = world["v"].join(world.public["p"], how="cross").join(world.public["p"], how="cross")
    texts = sf.col("note").lower().length()
    with pytest.raises(Refused, match=r"question\.work"):
        wide.mutate(key=texts)
    with pytest.raises(Refused, match=r"question\.work"):
        joins.join_rows(
            wide, world["v"].rows, ((sf.col("u"), sf.col("u")), (texts, sf.col("day"))), "inner"
        )
    item = world["v"].rows.per_unit({}, {"last": Total("max", sf.col("day"))})
    with pytest.raises(Refused, match=r"question\.work"):
        item.semi_join(wide, on="u", where=(sf.col("note").like("%a_b%")) & (sf.col("last") >= 0))


def test_nested_joins_grow_no_faster_than_the_question() -> None:
    def nested(levels: int) -> str:
        steps = [
            (
                f"r{i + 1} AS (SELECT a.u FROM (SELECT u FROM v WHERE u IN (SELECT u FROM "
                f"r{i})) AS a JOIN v AS b ON a.u = b.u)"
            )
            for i in range(levels)
        ]
        return (
            f"WITH r0 AS (SELECT u FROM v), {', '.join(steps)} SELECT COUNT(*) AS n FROM r{levels}"
        )

    with protected(2) as table:
        sizes = [
            sum(len(text) for text in table.plan(nested(levels), epsilon=1).sql)
            for levels in (1, 2, 3, 4, 5)
        ]
        assert sizes[4] - sizes[3] < 3 * (sizes[2] - sizes[1])


def test_a_long_list_costs_its_length() -> None:
    assert call("is_in", sf.col("day"), *range(2000)).cost > 2000


def test_expressions_after_a_join_are_counted_for_all_its_rows() -> None:
    likes = " OR ".join(f"v.note LIKE '%{i}_a%'" for i in range(30))
    with protected(4) as table:
        assert (
            table.plan(f"SELECT COUNT(*) AS n FROM v WHERE {likes}", epsilon=1).query.work
            < UNIT_WORK / 16
        )
        with pytest.raises(Refused, match=r"question\.work"):
            table.plan(
                f"SELECT COUNT(*) AS n FROM v JOIN v AS w ON v.u = w.u WHERE {likes}", epsilon=1
            )


def test_a_text_that_a_question_builds_stays_short() -> None:
    built = " || ".join(["note"] * 18)
    with protected(1) as table:
        assert (
            counted(table, f"SELECT COUNT(*) AS n FROM v WHERE ({built}) IS NULL") == 1
        )  # 18 · 60 letters are more than 1,024
        assert counted(table, f"SELECT COUNT(*) AS n FROM v WHERE LENGTH({built}) = 18") == 40


@pytest.mark.parametrize("pattern", ["%a_%b", "%a_a%", "%a" + "_" * 200 + "b%"])
@pytest.mark.parametrize("word", ["LIKE", "ILIKE"])
def test_a_pattern_is_found_in_one_pass(word: str, pattern: str) -> None:
    """A text of 300,000 letters: by places tried one inside the other this would take minutes, and
    time out.
    """
    long = pa.table({"u": [1, 2], "t": ["a" * 300_000, "xay"]})
    with sf.protect(long, name="v", unit="u", max_rows=1, budget=10) as table:
        assert (
            table.sql(
                f"SELECT COUNT(*) AS n FROM v WHERE t {word} '{pattern}'", epsilon=1, timeout=30
            )
            is not None
        )
        text = f"SELECT COUNT(*) AS n FROM v WHERE t {word} $p"
        statement = table.plan(text, parameters={"p": pattern}, epsilon=1).sql[0]
        explained = table._source.engine.connection.execute(f"EXPLAIN {statement}")
        assert "regexp_full_match" in explained.fetchall()[0][1]


HOSTILE = [
    join(1),
    join(4),
    (
        "SELECT COUNT(*) AS n FROM v WHERE EXISTS (SELECT 1 FROM v AS w WHERE w.u = v.u AND "
        "w.day < v.day)"
    ),
    (
        "WITH a AS (SELECT v.u, v.day FROM v JOIN v AS w ON v.u = w.u) SELECT COUNT(*) AS n "
        "FROM a JOIN a AS b ON a.u = b.u"
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT u, day FROM v UNION ALL SELECT u, day FROM v) AS "
        "a JOIN v ON v.u = a.u"
    ),
    "SELECT COUNT(DISTINCT v.note) AS n FROM v LEFT JOIN v AS w ON v.u = w.u AND w.day > v.day",
    "SELECT v.day, SUM(w.day) AS s FROM v JOIN v AS w ON v.u = w.u GROUP BY v.day",
]


def rows_computed(table: Table, text: str) -> int:
    """The rows that all operators of DuckDB give out for a question."""
    plan = table.plan(text, promise=sf.Approx(1, "1e-6"))
    engine = table._source.engine
    cursor = engine.connection.cursor()
    engine._load(cursor)
    message = [
        json.loads(cursor.execute(f"EXPLAIN (ANALYZE, FORMAT json) {item}").fetchall()[0][1])
        for item in plan.sql
    ]

    def count_rows(node: Any) -> int:
        return int(node.get("operator_cardinality", 0)) + sum(
            count_rows(child) for child in node.get("children", [])
        )

    return sum(count_rows(item) for item in message)


@pytest.mark.parametrize("rows", [4, 64, 65, 400])
@pytest.mark.parametrize("text", HOSTILE)
def test_no_question_makes_many_rows_of_one_unit(text: str, rows: int) -> None:
    """A search for slow units, by the rows that operators give out: what one unit adds stays below
    what the planner counts for it, for each 64 of its rows.
    """
    bounds = {"day": (0, 10)}
    with protected(rows, bounds=bounds) as with_unit, protected(0, bounds=bounds) as without:
        added = rows_computed(with_unit, text) - rows_computed(without, text)
        work = with_unit.plan(text, promise=sf.Approx(1, "1e-6")).query.work
        assert added <= work * max(1, rows / UNIT_ROWS)
