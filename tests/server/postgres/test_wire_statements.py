"""Statements are split, and told apart, without a parser."""

from __future__ import annotations

import pytest

from sfumato.errors import Refused
from sfumato.server.postgres.session_settings import SessionSettings, merge_settings, read_hints
from sfumato.server.postgres.wire_statements import kind_of, question_text, split


@pytest.mark.parametrize(
    ("sql", "texts"),
    [
        ("SELECT 1; SELECT 'a;b' ;", ["SELECT 1", " SELECT 'a;b' "]),
        ('SELECT ";", $$;$$, $q$;$$;$q$ -- ;', ['SELECT ";", $$;$$, $q$;$$;$q$ -- ;']),
        ("/* ; */ SELECT 1", ["/* ; */ SELECT 1"]),
        ("SELECT E'it''s;'", ["SELECT E'it''s;'"]),
        (";;", [""]),
        ("", [""]),
        ("SELECT 'unended; SELECT 2", ["SELECT 'unended; SELECT 2"]),
    ],
)
def test_statements_are_split(sql: str, texts: list[str]) -> None:
    assert [statement.text for statement in split(sql)] == texts


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT COUNT(*) FROM visits", "question"),
        ('SELECT COUNT(*) FROM Public."visits" v', "question"),
        ("WITH x AS (SELECT city, COUNT(*) n FROM visits GROUP BY 1) SELECT * FROM x", "question"),
        ("(SELECT COUNT(*) FROM visits)", "question"),
        ("SELECT COUNT(*) FROM pg_class, visits", "question"),
        ("SELECT COUNT(*) FROM nothere", "question"),
        ("SELECT * FROM pg_catalog.visits", "catalog"),
        ("SELECT 1", "catalog"),
        ("SELECT 'FROM visits'", "catalog"),
        ("WITH x AS (SELECT 1) SELECT * FROM x", "catalog"),
        ("SELECT * FROM generate_series(1, 2)", "catalog"),
        ("SELECT * FROM information_schema.tables", "catalog"),
        ("EXPLAIN SELECT 1", "explain"),
        ("SET a = 1", "command"),
        ("DROP TABLE visits", "command"),
        ("-- nothing", "empty"),
    ],
)
def test_the_kind_of_a_statement(sql: str, kind: str) -> None:
    assert kind_of(split(sql)[0], ["visits"]) == kind


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT city, COUNT(*) AS n FROM visits",
        "/* app */ SELECT city,   COUNT(*) AS n\nFROM public.visits -- end",
        "SELECT city, COUNT(*) AS n FROM visits.public.visits",
        "SELECT public.visits.city, COUNT(*) AS n FROM public.visits",
    ],
)
def test_one_question_has_one_text(sql: str) -> None:
    text = question_text(split(sql)[0], "visits")
    assert text.replace("visits.city", "city") == "SELECT city, COUNT(*) AS n FROM visits"


def test_casts_of_parameters_are_the_drivers() -> None:
    sql = "SELECT COUNT(*) AS n FROM visits WHERE age > $1::INT AND x = '$2::INT' LIMIT $12::int8"
    text = "SELECT COUNT(*) AS n FROM visits WHERE age > $1 AND x = '$2::INT' LIMIT $12"
    assert question_text(split(sql)[0], "visits") == text
    unchanged = "SELECT SUM(spend::INTEGER) AS s FROM visits WHERE $1::json IS NULL"
    assert question_text(split(unchanged)[0], "visits") == unchanged


def test_an_amount_replaces_those_of_later_layers() -> None:
    dataset, analyst = {"epsilon": "0.1", "intervals": "on"}, {"within": "25"}
    assert merge_settings(dataset, analyst) == {"within": "25", "intervals": "on"}
    settings = SessionSettings(merge_settings(dataset, analyst), "ada")
    settings.set("sfumato.epsilon", "1/3")
    assert settings.ours() == {"epsilon": "1/3", "intervals": "on"}
    assert settings.ours(read_hints(("within = 'n=3, m = 0.5'",)))["within"] == "n=3, m = 0.5"
    settings.set_options(r"-c sfumato.epsilon=0.2 --sfumato.key=again -c search_path=a\ b")
    assert settings.ours()["key"] == "again"
    assert settings.show("search_path") == "a b"
    settings.set("sfumato.epsilon", None)
    assert settings.ours()["within"] == "25"


@pytest.mark.parametrize(
    ("name", "value"),
    [("sfumato.epsilon", "much"), ("sfumato.epsilon", "-1"), ("sfumato.epsilon", ""),
     ("sfumato.within", "n=x"), ("sfumato.within", "="), ("sfumato.intervals", "perhaps"),
     ("sfumato.key", "a b"), ("sfumato.key", "k" * 33), ("sfumato.unit", "x"),
     ("client_encoding", "LATIN1")],
)  # fmt: skip
def test_wrong_settings_are_refused(name: str, value: str) -> None:
    with pytest.raises(Refused) as caught:
        SessionSettings({}, "ada").set(name, value)
    assert caught.value.code == "postgres.setting"


@pytest.mark.parametrize("hint", ["epsilon", "epsilon 0.1", "= 0.1", "epsilon=0.1 | x", "x=1"])
def test_wrong_hints_are_refused(hint: str) -> None:
    with pytest.raises(Refused):
        read_hints((hint,))
