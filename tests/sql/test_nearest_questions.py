"""Everyday questions that are refused: the rewrite asks nearly the same, about the same table and
the same columns, and an answer is released to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

import sfumato as sf
from sfumato.errors import Refused
from sfumato.sql.rewrites.nearest_questions import LONGEST, nearest_questions

from .shop import shop

ORDERS = "FROM orders"
JOINED = "JOIN (SELECT user_id, MIN(ordered_at) AS chosen FROM orders GROUP BY user_id) AS ends"

HARD = {
    # formats and parts of moments
    "SELECT strftime(ordered_at, '%W') AS w, COUNT(*) AS n FROM orders GROUP BY 1": "EXTRACT(WEEK",
    "SELECT to_char(ordered_at, 'Q') AS q, COUNT(*) AS n FROM orders GROUP BY q": "QUARTER",
    "SELECT date_format(ordered_at, 'yy') AS y, COUNT(*) AS n FROM orders GROUP BY y": "TRUNC",
    "SELECT LAST_DAY(ordered_at) AS d, COUNT(*) AS n FROM orders GROUP BY 1": "DATE_TRUNC(",
    "SELECT DATE_PART('fortnight', ordered_at) AS f, COUNT(*) AS n FROM orders GROUP BY 1": (
        "'week'"
    ),
    "SELECT CAST(ordered_at AS INTEGER) AS s, COUNT(*) AS n FROM orders GROUP BY 1": "EPOCH(",
    "SELECT AVG(DATE_DIFF('month', signup, ordered_at)) AS a FROM orders JOIN users "
    "USING (user_id)": ("CLAMP(DATE_DIFF('DAY', signup, ordered_at), 0, 1000)"),
    # patterns
    "SELECT COUNT(*) AS n FROM orders WHERE email ~ '^a'": "REGEXP_MATCHES(email, '^a')",
    "SELECT COUNT(*) AS n FROM orders WHERE email ~ '(a+)+$'": "LIKE '%a%'",
    "SELECT COUNT(*) AS n FROM orders WHERE REGEXP_LIKE(email, '^[a-c]+[0-9]')": "REGEXP_MATCHES(",
    "SELECT COUNT(*) AS n FROM orders WHERE email GLOB 'a*'": "email LIKE 'a%'",
    "SELECT COUNT(*) AS n FROM orders WHERE email LIKE 'a!%' ESCAPE '!'": "STARTS_WITH(",
    # names
    "SELECT COUNT(*) AS n FROM orders WHERE lenght(email) > 3": "LENGTH(email) > 3",
    "SELECT COUNT(*) AS n FROM orders WHERE substring_index(email, '@', 1) = 'a'": "SPLIT_PART(",
    "SELECT COUNT(*) AS n FROM orders WHERE soundex(email) = 'a'": "email = 'a'",
    "SELECT COUNT(*) AS n FROM orders WHERE levenshtein(email, 'a') > 3": "LENGTH(email) > 3",
    "SELECT product, AVG(amnt) AS a FROM orders GROUP BY product": "AVG(amount)",
    "SELECT AVG(amount) AS a FROM order": "FROM orders",
    "SELECT PRODUCT(rating) AS p FROM orders": "LN(rating)",
    "SELECT COUNT(*) AS n FROM orders WHERE ordered_at < CURRENT_TIMESTAMP": (
        f"CAST('{datetime.now(UTC):%Y}-"
    ),
    "SELECT COUNT(*) AS n FROM orders WHERE ordered_at < NOW()": (f"CAST('{datetime.now(UTC):%Y}-"),
    "SELECT GEOMEAN(amount) AS g FROM orders": "LN(amount)",
    # aggregates
    "SELECT KURTOSIS(amount) AS k FROM orders": "STDDEV(amount)",
    "SELECT STRING_AGG(product, ',') AS p FROM orders": "GROUP BY product",
    "SELECT ARRAY_AGG(amount) AS a FROM orders WHERE returned": "QUANTILES(amount",
    "SELECT FIRST(amount) AS a FROM orders": "MEDIAN(amount)",
    "SELECT MODE(product) AS m FROM orders": "ORDER BY n DESC LIMIT 1",
    "SELECT SUM(DISTINCT amount) AS s FROM orders": "SUM(amount)",
    "SELECT COUNT(DISTINCT user_id, product) AS n FROM orders": "GROUP BY product",
    "SELECT SUM(user_id) AS s FROM orders": "CLAMP(user_id, 0, 100)",
    "SELECT AVG(t) AS a FROM (SELECT user_id, SUM(amount) AS t FROM orders "
    "GROUP BY user_id) AS s": ("CLAMP(t, 0, 100)"),
    "SELECT COUNT(DISTINCT user_id) FILTER (WHERE returned) AS n FROM orders": "WHERE returned",
    "SELECT AVG(product) AS a FROM orders": "CLAMP(TRY_CAST(product AS DOUBLE)",
    # rows
    "SELECT amount FROM orders LIMIT 10": "HISTOGRAM(amount, [0, 40, 80, 120, 160, 200])",
    "SELECT amount FROM orders WHERE returned ORDER BY amount DESC": "HISTOGRAM(amount",
    "SELECT country FROM users WHERE age > 30": "GROUP BY country",
    "SELECT DISTINCT product FROM orders": "GROUP BY product",
    "SELECT user_id, COUNT(*) AS n FROM orders GROUP BY user_id": "GROUP BY total",
    "SELECT product, COUNT(*) AS n, amount FROM orders GROUP BY product": "AVG(amount) AS amount",
    "SELECT * FROM orders LIMIT 10": "COUNT(*)",
    # rows of one unit
    "SELECT COUNT(*) AS n FROM (SELECT user_id, amount, RANK() OVER (PARTITION BY user_id "
    "ORDER BY ordered_at) AS r FROM orders) AS s WHERE r = 1": (
        "ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY ordered_at) AS r"
    ),
    "SELECT COUNT(*) AS n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY "
    "ordered_at DESC) AS r FROM orders) AS s WHERE r = 1": (
        "ROW_NUMBER() OVER (PARTITION BY user_id, product ORDER BY ordered_at DESC) AS r"
    ),
    "SELECT AVG(CLAMP(t, 0, 100)) AS a FROM (SELECT user_id, arg_min(amount, ordered_at) AS t "
    "FROM orders GROUP BY user_id) AS s": JOINED,
    "SELECT AVG(CLAMP(t, 0, 100)) AS a FROM (SELECT user_id, FIRST(amount ORDER BY ordered_at) "
    "AS t FROM orders GROUP BY user_id) AS s": JOINED,
    # conditions
    "SELECT COUNT(*) AS n FROM orders WHERE returned = 1": "returned = TRUE",
    "SELECT COUNT(*) AS n FROM orders WHERE returned = 'no' AND amount > 3": (
        "returned = FALSE AND amount > 3"
    ),
    "SELECT COUNT(*) AS n FROM orders WHERE user_id = '5'": "user_id = 5",
    "SELECT COUNT(*) AS n FROM orders HAVING amount > 3": "WHERE amount > 3",
    "SELECT COUNT(*) AS n FROM orders TABLESAMPLE 10 PERCENT": "COUNT(*)",
    # joins and sets
    "SELECT SUM(amount) AS s FROM orders FULL JOIN users USING (user_id)": "orders JOIN users",
    "SELECT COUNT(*) AS n FROM orders NATURAL JOIN stores": "USING (store_id)",
    "SELECT COUNT(*) AS n FROM orders a JOIN orders b ON a.product = b.product": (
        "a.user_id = b.user_id"
    ),
    "SELECT COUNT(*) AS n FROM orders WHERE product IN (SELECT product FROM orders "
    "GROUP BY product HAVING COUNT(*) > 100)": "HAVING COUNT(*) > 100",
}
"""Refused text → what its rewrite contains."""

SPELLED = {"amnt": "amount"}
"""Misspelt columns → their names."""


@pytest.fixture(scope="module")
def database() -> Iterator[sf.session.Database]:
    with shop() as opened:
        yield opened


def tree_of(text: str) -> exp.Expression:
    tree = DuckDB().parser().parse(DuckDB().tokenize(text), text)[0]
    assert isinstance(tree, exp.Expression)
    return tree


def tables_of(text: str) -> set[str]:
    """The tables that a text names."""
    near = {"order": "orders"}
    return {near.get(table.name, table.name) for table in tree_of(text).find_all(exp.Table)}


def columns_of(text: str) -> set[str]:
    """The columns of tables that a text names. The unit is left aside: a rewrite may need it."""
    names = {
        *("order_id", "product", "store_id", "amount", "rating", "returned", "email"),
        *("ordered_at", "country", "age", "signup"),
    }
    named = {column.name for column in tree_of(text).find_all(exp.Column)}
    return {SPELLED.get(name, name) for name in named} & names


def test_there_are_forty() -> None:
    assert len(HARD) >= 40


@pytest.mark.parametrize("text", HARD)
def test_the_rewrite_answers_the_question(database: sf.session.Database, text: str) -> None:
    with pytest.raises(Refused) as caught:
        database.sql(text, epsilon=1, delta="1e-6")
    rewrite = caught.value.rewrite
    assert HARD[text] in rewrite
    assert tables_of(rewrite) == tables_of(text)
    assert columns_of(rewrite) == columns_of(text)
    assert database.sql(rewrite, epsilon=1, delta="1e-6").names
    assert caught.value.part is None  # what is shown holds no tree


def test_a_question_without_near_ones_is_about_its_own_table(
    database: sf.session.Database,
) -> None:
    for text in ("DROP TABLE orders", "SELECT COUNT(*) FORM orders", "DELETE FROM orders"):
        with pytest.raises(Refused) as caught:
            database.sql(text, epsilon=1)
        assert caught.value.rewrite == "SELECT COUNT(*) AS n FROM orders"


def test_the_function_is_called_as_the_caller_called_it(database: sf.session.Database) -> None:
    """The parser renames functions: APPROX_DISTINCT, TimeToStr, LastDay."""
    for name in ("last_day(ordered_at)", "Soundex(email)", "unicode(email)"):
        with pytest.raises(Refused) as caught:
            database.sql(f"SELECT COUNT(*) AS n FROM orders WHERE {name} = 'a'", epsilon=1)
        assert caught.value.reason.startswith(f"the function {name.partition('(')[0]} is not")


def test_the_nearest_name_is_said(database: sf.session.Database) -> None:
    with pytest.raises(Refused, match="the nearest is LENGTH"):
        database.sql("SELECT COUNT(*) AS n FROM orders WHERE lenght(email) > 3", epsilon=1)


def test_long_texts_get_one_proposal() -> None:
    """Trying many proposals of a long text would be slow."""
    text = f"SELECT {' + '.join(['amount'] * LONGEST)} FROM orders"
    part = next(iter(tree_of(text).find_all(exp.Column)))
    assert list(nearest_questions("sql.raw-rows", part)) == ["SELECT COUNT(*) AS n FROM orders"]
