"""Texts are written once for an expression, and for no other that equals it."""

from __future__ import annotations

from typing import Any

import ibis

from sfumato.tables.engine.sql_cache import MOST_TEXTS, SqlCache


def test_the_same_expression_is_written_once() -> None:
    made: list[Any] = []
    texts = SqlCache(lambda expression: made.append(expression) or f"text {len(made)}")  # type: ignore[func-returns-value]
    one = ibis.table({"x": "float64"}, name="t").select(y=ibis.literal(0.0))
    assert [texts.text(one), texts.text(one)] == ["text 1", "text 1"]


def test_few_are_kept() -> None:
    texts = SqlCache(lambda expression: "")
    kept = [ibis.table({"x": "float64"}, name=f"t{i}") for i in range(MOST_TEXTS + 5)]
    for one in kept:
        texts.text(one)
    assert len(texts._texts) == MOST_TEXTS
