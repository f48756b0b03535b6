"""Rewrite a query of PostgreSQL's catalogue for the engine that answers it.

sqlglot parses the query under limits. Every table must be one of the catalogue's, and every
function one that the catalogue has: nothing else reaches the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import cast

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError
from sqlglot.expressions import Any as AnyComparison

from ...exact import effort
from ..http.problems import Problem, ProblemError
from . import wire_refusals as refusals
from . import wire_types as types
from .catalogue_columns import COLUMNS, SCHEMA
from .catalogue_functions import BUILT_IN, MACROS, TABLE_FUNCTIONS
from .empty_queries import column_name, empty_columns, function_name
from .wire_types import Parameter, read_parameter

LONGEST = 20_000
MOST_WORDS = 5_000
MOST_BRACKETS = 24
MOST_NODES = 20_000
SYSTEM = ("pg_catalog", SCHEMA)
_TEXTS = {"name", "char", "text", "varchar", "regtype", "regproc", "regnamespace", "regrole",
          "bpchar", "cstring", "unknown", "regprocedure", "regoperator", "xid", "tid"}  # fmt: skip
ANSWERED = frozenset({
    "current_setting", "set_config", "current_database", "current_catalog", "current_schema",
    "version", "user", "current_role", "session_user", "current_user",
})  # fmt: skip
"""Functions whose value depends on the session."""
Values = Sequence[Parameter | list[Parameter]]


class TooManyNodesError(Exception):
    """The parser made more nodes than a query of the catalogue has."""


class CatalogueParser(Postgres.Parser):
    """sqlglot's parser, with a limit on its nodes and on processor time."""

    nodes = 0

    def expression(  # type: ignore[override]  # arguments are handed on as they are
        self, *args: object, **named: object
    ) -> exp.Expression:
        effort.check()
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise TooManyNodesError
        build: Callable[..., exp.Expression] = super().expression
        return build(*args, **named)


def rewrite(sql: str, parameters: Values, answers: Callable[[str, list[str]], str | None]) -> str:
    """Return the engine's SQL for a query; `answers` gives the text of a session function (a name
    and its arguments), or None.
    """
    tree = _parse(sql)
    names = empty_columns(tree)
    if names is not None:
        return (
            "SELECT "
            + ", ".join(f"CAST(NULL AS VARCHAR) AS {name}" for name in names)
            + " WHERE false"
        )
    _name_columns(tree)
    common = {cte.alias for cte in tree.find_all(exp.CTE)}
    for table in list(tree.find_all(exp.Table)):
        _check_table(table, common)
    root = exp.Paren(this=tree)
    for node in reversed(list(tree.walk())):  # children come before their parents
        replacement = _rewrite_node(node, parameters, answers)
        if replacement is not node:
            node.replace(replacement)
    return str(root.this.sql(dialect="duckdb"))


def _unsupported() -> ProblemError:
    return ProblemError(Problem.of(refusals.CATALOG_UNSUPPORTED()))


def _parse(sql: str) -> exp.Expression:
    dialect = Postgres()
    try:
        words = dialect.tokenize(sql) if len(sql) <= LONGEST else []
        depth = deepest = 0
        for word in words:
            depth += (word.text in "([") - (word.text in ")]") if word.text else 0
            deepest = max(deepest, depth)
        if not words or len(words) > MOST_WORDS or deepest > MOST_BRACKETS:
            raise _unsupported()
        trees = CatalogueParser(dialect=dialect).parse(words, sql)
    except (SqlglotError, TooManyNodesError, RecursionError):
        raise _unsupported() from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query | exp.Values | exp.Subquery):
        raise _unsupported()
    return trees[0]


def _name_columns(tree: exp.Expression) -> None:
    """Name the columns without a name as PostgreSQL does."""
    if not isinstance(tree, exp.Select):
        return
    for node in list(tree.expressions):
        if not isinstance(node, exp.Alias | exp.Column | exp.Star):
            node.replace(exp.alias_(node.copy(), column_name(node), quoted=True))


def _check_table(node: exp.Table, common: Collection[str]) -> None:
    """Point a table at the engine's copy of it; refuse what the catalogue does not have."""
    if isinstance(node.this, exp.Func):
        name = function_name(node.this)
        if name in COLUMNS and name.startswith("pg_"):  # read by a call in PostgreSQL
            node.set("this", exp.to_identifier(name, quoted=True))
            node.set("db", None)
        elif name in TABLE_FUNCTIONS:
            node.set("db", None)
        else:
            raise _unsupported()
        return
    schema, name = node.db.lower(), node.name.lower()
    node.set("catalog", None)
    node.set("db", None)
    if not schema and node.name in common:
        return
    stored = f"{SCHEMA}.{name}" if schema == SCHEMA else name
    if stored not in COLUMNS or (schema and schema not in SYSTEM):
        raise _unsupported()
    node.set("this", exp.to_identifier(stored, quoted=True))
    if not node.alias:
        node.set("alias", exp.TableAlias(this=exp.to_identifier(name)))


def _rewrite_node(
    node: exp.Expression, parameters: Values, answers: Callable[[str, list[str]], str | None]
) -> exp.Expression:
    match node:
        case exp.Dot() if node.this.name.lower() in SYSTEM:
            return cast(exp.Expression, node.expression)
        case exp.Column() if node.args.get("db") and node.text("db").lower() in SYSTEM:
            return exp.column(node.name, table=node.table)
        case exp.Column() if node.table.lower() in SYSTEM:
            return exp.column(node.name)
        case AnyComparison() | exp.All():
            inner = node.this.unnest()
            node.set(
                "this", exp.Paren(this=_list(inner)) if inner is not node.this else _list(inner)
            )
            return node
        case exp.Collate():
            return cast(exp.Expression, node.this)
        case exp.Operator():
            return _operator(node)
        case exp.Cast():
            return _cast(node)
        case exp.Parameter() | exp.Placeholder():
            return _parameter(node, parameters)
        case exp.CurrentSchemas():
            return exp.Anonymous(this="f_current_schemas", expressions=[node.this])
        case exp.Column() if not node.table and node.name in ANSWERED and not node.this.quoted:
            return _literal(answers(node.name, []))
        case exp.Func() if function_name(node) in ANSWERED:
            arguments = [argument.name for argument in node.expressions]
            return _literal(answers(function_name(node), arguments))
        case exp.Anonymous():
            return _call(node)
        case exp.ReadCSV() | exp.ReadParquet():
            raise _unsupported()
    return node


def _literal(text: str | None) -> exp.Expression:
    return exp.null() if text is None else exp.Literal.string(text)


def _operator(node: exp.Operator) -> exp.Expression:
    """Return what `a OPERATOR(pg_catalog.~) b` means."""
    sign = str(node.args.get("operator", "")).rpartition(".")[2].strip()
    kinds: dict[str, type[exp.Binary]] = {"=": exp.EQ, "<>": exp.NEQ, "~~": exp.Like}
    left, right = node.this, node.expression
    if sign in ("~", "!~", "~*", "!~*"):
        case = exp.RegexpILike if sign.endswith("*") else exp.RegexpLike
        matches: exp.Expression = case(this=left, expression=right)
        return exp.Not(this=exp.Paren(this=matches)) if sign.startswith("!") else matches
    if sign not in kinds:
        raise _unsupported()
    return kinds[sign](this=left, expression=right)


def _cast(node: exp.Cast) -> exp.Expression:
    """Return a cast to a type of the engine. Numbers of objects become names, and the reverse."""
    kind = node.to.sql(dialect="postgres").lower().replace("pg_catalog.", "").strip('"')
    if kind == "regclass":
        is_name = isinstance(node.this, exp.Literal) and node.this.is_string
        return exp.func("f_to_regclass" if is_name else "f_regclass_name", node.this)
    if kind == "regtype" and not isinstance(node.this, exp.Literal):
        return exp.func("f_format_type", node.this, exp.null())
    if kind in _TEXTS:
        return exp.cast(node.this, "text")
    if kind == "oid":
        return exp.TryCast(this=node.this, to=exp.DataType.build("bigint"))
    if kind in ("int2vector", "oidvector") or kind.endswith("[]") or kind == "anyarray":
        return _list(node.this)
    return node


def _list(node: exp.Expression) -> exp.Expression:
    """Return the list that a text writes as an array: '{a,b}'."""
    if not isinstance(node, exp.Literal) or not node.is_string or node.name[:1] != "{":
        return node
    try:
        return _values(read_parameter(node.name.encode(), types.TEXT_LIST, 0))
    except types.WireValueError:
        raise _unsupported() from None


def _values(value: Parameter | list[Parameter]) -> exp.Expression:
    if isinstance(value, list):
        return exp.Array(expressions=[exp.convert(item) for item in value])
    return exp.convert(value)


def _parameter(node: exp.Expression, parameters: Values) -> exp.Expression:
    name = node.name or (node.this.name if isinstance(node.this, exp.Expression) else "")
    place = int(name) - 1 if name.isdigit() else -1
    if not 0 <= place < len(parameters):
        return exp.null()
    return _values(parameters[place])


def _call(node: exp.Anonymous) -> exp.Expression:
    name = node.name.lower()
    if name in MACROS:
        return exp.Anonymous(this=f"f_{name}", expressions=node.expressions)
    if name == "all" and len(node.expressions) == 1:
        return exp.All(this=exp.Paren(this=_list(node.expressions[0])))
    if name == "json_build_object":
        return exp.Anonymous(this="json_object", expressions=node.expressions)
    if name not in BUILT_IN:
        raise _unsupported()
    return node
