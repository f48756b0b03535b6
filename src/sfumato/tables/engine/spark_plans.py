"""Which Spark DataFrames are read: the analysed plan consists of stored rows and of steps that
treat every row alike.

*Why*          Units are counted in one reading and added up in another. Both readings must see the
               same rows, and no row may decide about another, so a sample, a limit, a window, an
               aggregate and a function of the owner's are refused. Spark calls all of them
               deterministic.
*Total*        A step that fails on one row tells about that row, so casts that may fail are refused
               as well.
*Allow-list*   Whatever is not listed here is refused, also what a later version of Spark brings.
*Owner's word* Joins and unions are accepted. That a row of the result is about one unit is for the
owner to know.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import Refused

STORED = frozenset({"LocalRelation", "LogicalRelation", "OneRowRelation", "Range"})
"""Rows that lie somewhere."""

FORMATS = frozenset({"ParquetFileFormat"})
"""Formats of files whose every cell Spark reads. Of CSV and JSON it depends on options and on the
columns that are read what a broken line becomes; at instants of ORC that microseconds do not reach
Spark stops.
"""

STEPS = frozenset({
    "CTERelationDef", "CTERelationRef", "Filter", "Join", "Project", "Repartition", "RepartitionByExpression", "ResolvedHint", "Sort", "SubqueryAlias",
    "Union", "View", "WithCTE",
})  # fmt: skip
"""Steps that keep, join, move or rename rows, the same ones at every reading."""

EXPRESSIONS = frozenset({
    "Alias", "And", "AttributeReference", "Between", "CaseWhen", "Coalesce", "CommonExpressionDef", "CommonExpressionRef", "EqualNullSafe", "EqualTo",
    "GetStructField", "GreaterThan", "GreaterThanOrEqual", "If", "In", "InSet", "IsNaN", "IsNotNull", "IsNull", "LessThan", "LessThanOrEqual", "Literal",
    "NaNvl", "Not", "NullIf", "Or", "SortOrder", "TypedNullLiteral", "With",
})  # fmt: skip
"""Expressions that depend on nothing but their row, and cannot fail."""

_PADDING = "readSidePadding"  # what Spark does to a column of type char(n)
_REASON = "a row has to be the same at every reading, whatever the other rows are"
_STORED = 'frame.write.parquet("visits"), then protect(spark.read.parquet("visits"), …)'
_REWRITE = f"{_STORED}; where() and mutate() of what that gives filter and compute"


def check_plan(frame: Any, place: str) -> None:
    """Refuse a DataFrame whose plan has a step or an expression that is not known to be row-wise
    and total.
    """
    if not hasattr(frame, "_jdf"):
        raise Refused(
            "table.source",
            place,
            "its plan cannot be seen: the session is one of Spark Connect",
            "a session of Spark itself, or a Parquet file",
        )
    plan, session = frame._jdf.queryExecution().analyzed(), frame.sparkSession
    for found in _unknown(plan, session):
        raise Refused(
            "table.source",
            place,
            f"it has a step that is not known to be safe, {found}: {_REASON}",
            _REWRITE,
        )
    for column in _milliseconds(plan, session):
        reason = (
            f"column {column!r:.60} is stored in milliseconds, and Spark stops at a value "
            f"that microseconds do not reach"
        )
        raise Refused(
            "table.source",
            place,
            reason,
            (
                'frame.write.parquet("visits"), then protect(spark.read.parquet("visits"), '
                '…); or frame.drop("…") without it'
            ),
        )


def _unknown(plan: Any, session: Any) -> Iterator[str]:
    """The names of what is not listed in a plan."""
    name = _name(plan)
    if name == "LogicalRelation":
        relation = plan.relation()
        file_format = (
            _name(relation.fileFormat())
            if _name(relation) == "HadoopFsRelation"
            else _name(relation)
        )
        if file_format not in FORMATS:
            yield file_format
    elif name not in STORED | STEPS or plan.isStreaming():
        yield name
    for expression in _items(plan.expressions()):
        yield from _unknown_expressions(expression, session)
    for child in _items(plan.children()):
        yield from _unknown(child, session)


def _unknown_expressions(expression: Any, session: Any) -> Iterator[str]:
    name = _name(expression)
    padding = name == "StaticInvoke" and expression.functionName() == _PADDING
    if (
        name not in EXPRESSIONS
        and not padding
        and not (name == "Cast" and _cannot_fail(expression, session))
    ):
        yield f"{name} to {expression.dataType().sql()}" if name == "Cast" else name
    for child in _items(expression.children()):
        yield from _unknown_expressions(child, session)


def _cannot_fail(cast: Any, session: Any) -> bool:
    """Whether a cast gives a value or null for whatever its row holds."""
    have, wanted = cast.child().dataType(), cast.dataType()
    if cast.foldable():
        return _computes(cast)
    if have.equals(wanted):
        return True
    if wanted.typeName().startswith(
        "timestamp"
        # of a date or a number far from ours: beyond 64 bits of microseconds Spark stops, also
        # where it
        # tries
    ):
        return False
    return cast.evalMode().toString() != "ANSI" or bool(
        session._jvm.org.apache.spark.sql.catalyst.expressions.Cast.canUpCast(have, wanted)
    )


def _computes(constant: Any) -> bool:
    """Whether a constant can be computed: one that cannot fails where there is a row, and only
    there.
    """
    try:
        constant.eval(None)
    except Exception:  # whatever Java throws
        return False
    return True


def _milliseconds(plan: Any, session: Any) -> Iterator[str]:
    """Columns that the frame reads from Parquet files whose footers say milliseconds. Footers are
    read where there are columns of timestamps.
    """
    used, relations = set[str](), list[Any]()
    ahead = [plan]
    while ahead:
        node = ahead.pop()
        ahead += _items(node.children())
        if _name(node) == "LogicalRelation":
            relations.append(node)
        else:
            used |= {str(reference.exprId()) for reference in _items(node.references().toSeq())}
    used |= {str(column.exprId()) for column in _items(plan.output())}
    for relation in relations:
        instants = {
            c.name().lower(): c.name()
            for c in _items(relation.output())
            if str(c.exprId()) in used and c.dataType().typeName().startswith("timestamp")
        }
        if instants and _name(relation.relation()) == "HadoopFsRelation":
            for path in relation.relation().location().inputFiles():
                yield from (instants[name] for name in _coarse(path, session) if name in instants)


def _coarse(path: str, session: Any) -> list[str]:
    """The columns of a Parquet file that its footer says are milliseconds, in small letters."""
    jvm, configuration = session._jvm, session._jsc.hadoopConfiguration()
    file = jvm.org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(
        jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(path)), configuration
    )
    reader = jvm.org.apache.parquet.hadoop.ParquetFileReader.open(file)
    try:
        fields = reader.getFooter().getFileMetaData().getSchema().getFields()
        return [
            str(field.getName()).lower()
            for field in fields
            if "MILLIS" in str(field.getLogicalTypeAnnotation())
        ]
    finally:
        reader.close()


def _name(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(place) for place in range(sequence.size())]
