"""Texts: any Unicode, no slow pattern, no growth."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.tables.expr.expressions import Expr, col
from sfumato.tables.expr.functions_text import GROWN

from .computing import computed, connection
from .special_values import schema, table

T, U = col("t"), col("u")


@pytest.mark.parametrize(
    ("expression", "t", "value"),
    [
        (T.lower(), "ÀÉ Ab", "àé ab"),
        (T.upper(), "straße", "STRAẞE"),
        (T.trim(), " \t\r\n x\u2003\n", "x\u2003"),
        (T.ltrim(), "  x  ", "x  "),
        (T.rtrim(), "  x  ", "  x"),
        (T.length(), "a😀é", 3),
        (T.length(), "", 0),
        (T.substr(2, 2), "a😀éb", "😀é"),
        (T.substr(5, 2), "abc", ""),
        (T.substr(1, 0), "abc", ""),
        (T.left(2), "😀éb", "😀é"),
        (T.right(2), "a😀é", "😀é"),
        (T.right(9), "abc", "abc"),
        (T.right(0), "abc", ""),
        (T.replace("b", ""), "abab", "aa"),
        (T.replace("a", "bb"), "aXa", "bbXbb"),
        (T.concat("-", T), "é", "é-é"),
        (T.concat("x"), None, None),
        (T.split_part("@", 2), "a@b@c", "b"),
        (T.split_part("@", 4), "a@b@c", None),
        (T.split_part("@", 1), "abc", "abc"),
        (T.contains("%"), "a%b", True),
        (T.contains("_"), "a%b", False),
        (T.starts_with("😀"), "😀b", True),
        (T.ends_with("b"), "", False),
        (T.position("é"), "abé", 3),
        (T.position("x"), "abé", 0),
        (T.like("a%c"), "abbbc", True),
        (T.like("a%c"), "ABBBC", False),
        (T.ilike("a%C"), "ABBBc", True),
        (T.like("a_c"), "a😀c", True),
        (T.like("a\\%"), "a\\x", True),
        (T.like("a\\%"), "a%", False),
        (T.like("%\n%"), "a\nb", True),
        (T.like(""), "", True),
    ],
)
def test_values(expression: Expr, t: str | None, value: Any) -> None:
    assert computed(expression, t=("string", t)) == value


def test_what_would_grow_is_null() -> None:
    half = "a" * (GROWN // 2)
    assert computed(T.concat(T).length(), t=("string", half)) == GROWN
    assert computed(T.concat(T, "x"), t=("string", half)) is None
    assert computed(T.replace("a", "bb").length(), t=("string", half)) == GROWN
    assert computed(T.replace("a", "bb"), t=("string", half + "a")) is None
    assert computed(T.replace("aa", "b").length(), t=("string", half * 100)) == GROWN * 25
    nested = T
    for _ in range(8):
        nested = nested.replace("a", "a" * 200)
    assert computed(nested, t=("string", "a" * 9)) is None


def test_no_pattern_that_is_taken_is_slow() -> None:
    """On texts that make a search by trial and error take hours, this test ends. (`%_%_c`, which is
    refused, is one that does not.)
    """
    texts = ["a" * 100_000, "ab" * 50_000]
    text_table = table(connection(), "texts", {"t": ("string", texts)})
    patterns = ["%a%a%a%a%a%a%c", "%_c", "_%ac%", "%a_c", "%ab%ab%ab%ab%ac%", "a%_c"]
    for expression in [
        *(T.like(pattern) for pattern in patterns),
        *(T.ilike(pattern) for pattern in patterns),
        T.contains("a" * 255 + "c"),
        T.position("ab" * 127 + "c"),
    ]:
        matches = (
            connection()
            .to_pyarrow(
                text_table.select(r=expression.build(text_table, {"t": schema("string")["c0"]}))
            )
            .column("r")
            .to_pylist()
        )
        assert not any(matches)
