"""What is public of a dataset is what was declared of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sfumato.server.dataset_schema import describe, summarize
from sfumato.server.datasets import open_dataset
from sfumato.tables.declare.declaration import Declaration

from .service import service


def test_what_is_told(tmp_path: Path) -> None:
    deployment = service(tmp_path)
    served = open_dataset(deployment.config.datasets["visits"])
    description = describe(served, deployment.config).model_dump()
    columns = {column["name"]: column for column in description["tables"][0]["columns"]}
    assert summarize(served).model_dump() == {
        "name": "visits",
        "unit": "user_id",
        "relation": "add-remove",
        "about": "visits to three cities",
    }
    assert columns["age"] == {"name": "age", "type": "int64", "bounds": [0, 120], "keys": None}
    assert columns["city"]["keys"] == ["Bari", "Milano", "Roma"]
    assert description["example"] == "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
    assert Declaration.from_toml(description["tables"][0]["declaration"]) == served.declarations[0]
    served.table.plan(description["example"], epsilon=1)
    served.close()


def test_what_was_learned_is_not_told(tmp_path: Path) -> None:
    deployment = service(tmp_path)
    deployment.path.write_text(
        deployment.path.read_text(encoding="utf-8").replace("max_rows = 4\n", ""), encoding="utf-8"
    )
    from sfumato.server.config import load

    served = open_dataset(load(deployment.path).datasets["visits"])
    before = describe(served, deployment.config)
    served.table.learn(epsilon=1)  # type: ignore[union-attr]  # a Table
    assert served.lessons
    assert describe(served, deployment.config) == before
    assert before.max_rows is None
    served.close()


def test_nor_of_several_tables(tmp_path: Path) -> None:
    deployment = service(tmp_path)
    both = {"visits": str(tmp_path / "visits.parquet"), "clinic": str(tmp_path / "clinic.parquet")}
    declaration = {
        "name": "both",
        "unit": "clinic.patient",
        "links": {"visits.user_id": "clinic.patient"},
    }
    config = replace(
        deployment.config.datasets["visits"],
        name="both",
        source=both,
        declared=declaration,
        ledger=str(tmp_path / "both.ledger"),
        analysts={},
    )
    served = open_dataset(config)
    for who in ("ada", "bob"):
        served.share(who)
    before = describe(served, deployment.config)
    served.table.sql(
        "SELECT COUNT(*) AS n FROM visits JOIN clinic ON user_id = patient",
        epsilon="0.6",
        share="ada",
    )
    assert [lesson.limit.table for lesson in served.lessons] == ["visits", "clinic"]
    assert describe(served, deployment.config) == before
    assert (len(served.unpaid_lessons("ada")), len(served.unpaid_lessons("bob"))) == (0, 2)
    served.close()


def test_names_are_quoted_where_they_must_be() -> None:
    from sfumato.server.dataset_schema import _quoted

    assert [_quoted(name) for name in ("city", "City", 'a"b', "größe")] == [
        "city",
        '"City"',
        '"a""b"',
        '"größe"',
    ]
