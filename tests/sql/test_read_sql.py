"""Every code has an example in the documentation; every rewrite that is SQL passes."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.sql import UnresolvedQuery, condition, read
from sfumato.sql.codes import SQL_CODES

from .hostile import HOSTILE
from .people import protected, unasked

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "sql.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^\| `((?:sql|stage)\.[a-z-]+)` \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)


def visits() -> sf.session.Table:
    return sf.protect(
        sf.samples.visits(),
        name="visits",
        unit="user_id",
        budget=20,
        max_rows=4,
        bounds={"spend": (0, 100), "age": (0, 120)},
        keys={"city": ["Bari", "Milano", "Roma"]},
    )


@pytest.mark.parametrize("word", ["CURRENT_DATE", "today()"])
def test_the_date_of_today_is_a_constant_of_the_question(word: str) -> None:
    today = datetime.now(UTC).date()
    texts = [
        f"SELECT COUNT(*) AS n FROM visits WHERE day >= {word} - INTERVAL 1 MONTH",
        f"SELECT COUNT(*) AS n FROM visits WHERE day >= DATE '{today}' - INTERVAL 1 MONTH",
    ]
    with unasked(visits()) as table:
        named, dated = (read(text, table.rows).query.text for text in texts)
    assert named == dated
    month = today.replace(day=1) - timedelta(days=1)
    assert f"DATE '{month.year:04}-{month.month:02}-" in named


def test_every_code_has_an_example() -> None:
    assert {code for code, _, _ in EXAMPLES} == {code for code, _ in SQL_CODES} | {"stage.total"}


@pytest.mark.parametrize(
    ("code", "refused", "passes"), EXAMPLES, ids=[code for code, _, _ in EXAMPLES]
)
def test_examples(code: str, refused: str, passes: str) -> None:
    text = refused.strip("`") if refused.startswith("`") else ""
    with unasked(visits()) as table:
        with pytest.raises(Refused) as caught:
            table.sql(text, epsilon=1)
        assert caught.value.code == code
        if passes.startswith("`SELECT"):
            assert caught.value.rewrite == passes.strip("`")
            assert table.plan(caught.value.rewrite, epsilon=1, delta="1e-9").cost <= sf.Approx(
                1, "1e-9"
            )


def test_the_examples_of_statements_have_a_place() -> None:
    marks = 0
    with unasked(visits()) as table:
        for _, refused, _ in EXAMPLES:
            if refused.startswith("`"):
                with pytest.raises(Refused) as caught:
                    read(refused.strip("`"), table.rows)
                marks += "^" in caught.value.place
    assert marks >= 25


@pytest.mark.parametrize("kind", HOSTILE)
def test_every_rewrite_that_is_sql_passes(kind: str) -> None:
    with unasked(protected()) as table:
        for text in HOSTILE[kind]:
            with pytest.raises(Refused) as caught:
                read(text, table.rows)
            rewrite = caught.value.rewrite
            if rewrite.upper().startswith(("SELECT", "WITH")):
                table.plan(rewrite, epsilon=1, delta="1e-9")
            else:
                assert rewrite, text


def test_the_refusal_of_the_design() -> None:
    """As the contract of the interface draws it."""
    with unasked(visits()) as table, pytest.raises(Refused) as caught:
        table.sql("SELECT age, city FROM visits", epsilon=1)
    assert str(caught.value).splitlines() == [
        "refused [sql.raw-rows]",
        "      SELECT age, city FROM visits",
        "             ^^^ a raw value of a protected table cannot be published",
        "why   only aggregates over units are answered",
        "try   SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
    ]


def test_explained_is_a_plan_in_words() -> None:
    with unasked(visits()) as table:
        for text in (
            "EXPLAIN PRIVACY SELECT COUNT(*) AS n FROM visits",
            " -- first\n explain /* x */ \n".replace("/* x */", "")
            + "privacy SELECT COUNT(*) AS n FROM visits",
        ):
            assert (
                table.sql(text, epsilon=0.1)
                == table.plan("SELECT COUNT(*) AS n FROM visits", epsilon=0.1).explain()
            )
        assert table.spent.parameters["epsilon"] == 0


def test_a_condition_alone() -> None:
    with unasked(visits()) as table:
        query = table.where("age >= 18 AND city LIKE 'R%'").where("vip").aggregate(n=sf.count())
        fluent = (
            table.where((sf.col("age") >= 18) & sf.col("city").like("R%"))
            .where(sf.col("vip"))
            .aggregate(n=sf.count())
        )
        assert query.text == fluent.text
        for text in (
            "age >=",
            "age",
            "COUNT(*) > 3",
            "1; DROP TABLE visits",
            "age IN (SELECT 1)",
            "nothing = 1",
            "age > ?",
            "",
            "age > 1 GROUP BY city",
            "vip ORDER BY 1",
        ):
            with pytest.raises(Refused):
                table.where(text)
        with pytest.raises(Refused) as caught:
            condition("age + 1", table.rows)
        assert caught.value.code == "stage.where"


def test_a_tree_that_nobody_foresaw_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.sql import read_sql

    def broken(*_: object) -> None:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(read_sql.SelectReader, "of", broken)
    with unasked(visits()) as table, pytest.raises(Refused) as caught:
        table.sql("SELECT COUNT(*) FROM visits", epsilon=1)
    assert caught.value.code == "sql.unsupported"
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_statements_in_parentheses_and_with_a_semicolon() -> None:
    with unasked(visits()) as table:
        plain = read("SELECT COUNT(*) AS n FROM visits", table.rows).query.text
        for text in (
            "(SELECT COUNT(*) AS n FROM visits)",
            "SELECT COUNT(*) AS n FROM visits;",
            "FROM visits SELECT COUNT(*) AS n",
            "SELECT n: COUNT(*) FROM visits;;",
        ):
            assert read(text, table.rows).query.text == plain


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in (1, 2))])
def test_one_tree_serves_every_declaration(seed: int) -> None:
    """Reading leaves the tree as it was: what is resolved last is what a new parse gives."""
    from .described import Describer
    from .fuzz import Maker

    describer, maker, read_twice = Describer(seed), Maker(seed), 0
    with unasked(protected()) as table:
        declared = table.declaration
        bare = table.rows_of(replace(declared, bounds=(), max_rows=None))
        for i in range(150):
            text = describer.question().text if i % 3 else maker.text()
            unresolved, outcomes = UnresolvedQuery(text), []
            for rows in (bare, table.rows, bare, table.rows):
                try:
                    outcomes.append(unresolved.resolve(rows).query.text)
                except Refused as refusal:
                    outcomes.append(str(refusal))
            fresh = []
            for rows in (bare, table.rows):
                try:
                    fresh.append(UnresolvedQuery(text).resolve(rows).query.text)
                except Refused as refusal:
                    fresh.append(str(refusal))
            assert outcomes == fresh * 2, text
            read_twice += unresolved._parsed is not None
    assert read_twice > 80
