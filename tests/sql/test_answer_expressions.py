"""What may be computed from released values, and compared with them."""

from __future__ import annotations

import pytest

from sfumato.session import Table
from sfumato.sql.answer_expressions import AnswerExpression

from .asking import parse, refused

GROUPED = "SELECT city, day, COUNT(*) AS n, AVG(age) AS m FROM visits GROUP BY city, day HAVING {}"


def written(node: AnswerExpression) -> str:
    if not node.args:
        return str(node.value)
    return f"{node.op}({', '.join(map(written, node.args))})"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("n > 3", ">(n, 3)"),
        ("COUNT(*) > 3", ">(n, 3)"),
        ("AVG(age) * 2 > n", ">(*(m, 2), n)"),
        ("n BETWEEN 1 AND 2.5", "and(>=(n, 1), <=(n, 5/2))"),
        ("city = 'Roma' AND NOT n < -1", "and(=(city, Roma), not(<(n, -1)))"),
        ("city IN ('a', 'b')", "or(=(city, a), =(city, b))"),
        ("day >= '2026-01-31' OR m IS NULL", "or(>=(day, 2026-01-31), is_null(m))"),
        ("SUM(age) / COUNT(*) > 1", ">(/(SUM(age), n), 1)"),
        ("CAST(m AS DOUBLE) > CAST(n AS INT)", ">(m, round(n, 0))"),
        ("ROUND(m, 1) = FLOOR(m)", "=(round(m, 1), floor(m))"),
        ("TRUE", "True"),
    ],
)
def test_having(table: Table, text: str, tree: str) -> None:
    result = parse(table, GROUPED.format(text)).finish.having
    assert result is not None
    assert written(result) == tree


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("age > 3", "sql.released"),
        ("n", "sql.released"),
        ("city", "sql.released"),
        ("city > 3", "expression.type"),
        ("n = 'x'", "sql.released"),
        ("city || 'x' = 'y'", "sql.unsupported"),
        ("city LIKE 'R%'", "sql.released"),
        ("n % 2 = 0", "sql.released"),
        ("MODE(age) > 3", "sql.aggregate"),
        ("HISTOGRAM(age, [0, 1]) > 3", "sql.released"),
        ("n > (SELECT 1)", "sql.subquery"),
        ("n > ?", "sql.parameter"),
        ("day > 'x'", "expression.literal"),
        ("n > 3 AND m", "sql.released"),
        ("RANDOM() < 0.5", "sql.function"),
        ("COUNT(*) OVER () > 3", "sql.window"),
        ("ROUND(n, 99) > 3", "sql.released"),
        ("-city > 3", "sql.released"),
        ("n > NULL", "sql.released"),
    ],
)
def test_refused(table: Table, text: str, code: str) -> None:
    assert refused(table, GROUPED.format(text)).code == code
