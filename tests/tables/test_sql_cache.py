"""Texts are written once for an expression, and for no other that equals it."""

from __future__ import annotations

from typing import Any

import ibis

from sfumato.tables.engine.sql_cache import MOST_TEXTS, SqlCache


def test_the_same_expression_is_written_once() -> None:
    compiled: list[Any] = []

    def compile_text(expression: Any) -> str:
        compiled.append(expression)
        return f"text {len(compiled)}"

    texts = SqlCache(compile_text)
    query = ibis.table({"x": "float64"}, name="t").select(y=ibis.literal(0.0))
    assert [texts.text(query), texts.text(query)] == ["text 1", "text 1"]


def test_few_are_kept() -> None:
    texts = SqlCache(lambda expression: "")
    tables = [ibis.table({"x": "float64"}, name=f"t{i}") for i in range(MOST_TEXTS + 5)]
    for table in tables:
        texts.text(table)
    assert len(texts._texts) == MOST_TEXTS
