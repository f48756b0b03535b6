"""Check the analysed plan of a Spark DataFrame: only stored rows, and steps that treat every row
alike.

*Why*          A query reads the rows twice, to count the rows of units and to sum them. Both reads
               must see the same rows, and no row may affect another, so samples, limits, windows,
               aggregates and user-defined functions are refused. Spark calls all of them
               deterministic.
*Total*        A step that fails on one row reveals that row, so casts that may fail are refused,
               too.
*Allow-list*   Everything that is not listed here is refused, also additions of later Spark
               versions.
*Owner's word* Joins and unions are accepted. The owner knows that each row of the result is about
               one unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from . import engine_refusals as refusals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Java: TypeAlias = Any
"""An object of Spark's Java process; py4j has no types."""

STORED = frozenset({"LocalRelation", "LogicalRelation", "OneRowRelation", "Range"})
"""Plan nodes that read stored rows."""

FORMATS = frozenset({"ParquetFileFormat"})
"""File formats of which Spark reads every cell. What a broken line of CSV or JSON becomes depends
on options and on the columns that are read; Spark fails on ORC timestamps that microseconds cannot
hold.
"""

STEPS = frozenset({
    "CTERelationDef", "CTERelationRef", "Filter", "Join", "Project", "Repartition",
    "RepartitionByExpression", "ResolvedHint", "Sort", "SubqueryAlias", "Union", "View", "WithCTE",
})  # fmt: skip
"""Steps that keep, join, move or rename rows, the same rows at every read."""

EXPRESSIONS = frozenset({
    "Alias", "And", "AttributeReference", "Between", "CaseWhen", "Coalesce",
    "CommonExpressionDef", "CommonExpressionRef", "EqualNullSafe", "EqualTo", "GetStructField",
    "GreaterThan", "GreaterThanOrEqual", "If", "In", "InSet", "IsNaN", "IsNotNull", "IsNull",
    "LessThan", "LessThanOrEqual", "Literal", "NaNvl", "Not", "NullIf", "Or", "SortOrder",
    "TypedNullLiteral", "With",
})  # fmt: skip
"""Expressions that depend on their row only, and cannot fail."""

_PADDING = "readSidePadding"  # what Spark does to a column of type char(n)


def check_plan(frame: DataFrame, place: str) -> None:
    """Refuse a DataFrame whose plan has a step or an expression outside the allow-lists."""
    if not hasattr(frame, "_jdf"):
        raise refusals.SPARK_CONNECT(place=place)
    plan, session = frame._jdf.queryExecution().analyzed(), frame.sparkSession
    for step in _unknown(plan, session):
        raise refusals.SPARK_STEP_UNSAFE(place=place, step=step)
    for column in _milliseconds(plan, session):
        raise refusals.SPARK_MILLISECONDS(place=place, column=column)


def _unknown(plan: Java, session: SparkSession) -> Iterator[str]:
    """Yield the names of steps and expressions of a plan that are not listed."""
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


def _unknown_expressions(expression: Java, session: SparkSession) -> Iterator[str]:
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


def _cannot_fail(cast: Java, session: SparkSession) -> bool:
    """Whether a cast gives a value or null for every row."""
    have, target = cast.child().dataType(), cast.dataType()
    if cast.foldable():
        return _computes(cast)
    if have.equals(target):
        return True
    # beyond 64 bits of microseconds Spark fails on a far date or a large number, even in TRY_CAST
    if target.typeName().startswith("timestamp"):
        return False
    jvm: Java = session._jvm
    return cast.evalMode().toString() != "ANSI" or bool(
        jvm.org.apache.spark.sql.catalyst.expressions.Cast.canUpCast(have, target)
    )


def _computes(constant: Java) -> bool:
    """Whether a constant can be computed: otherwise a query fails if and only if there is a row."""
    try:
        constant.eval(None)
    except Exception:  # whatever Java throws
        return False
    return True


def _milliseconds(plan: Java, session: SparkSession) -> Iterator[str]:
    """Yield the columns that the frame reads as milliseconds from Parquet files. Footers are read
    only if there are columns of timestamps.
    """
    used, relations = set[str](), list[Java]()
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


def _coarse(path: str, session: SparkSession) -> list[str]:
    """List the columns of a Parquet file that are milliseconds by its footer, in lower case."""
    jvm: Java = session._jvm
    configuration = session._jsc.hadoopConfiguration()
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


def _name(node: Java) -> str:
    return str(node.getClass().getSimpleName())


def _items(sequence: Java) -> list[Java]:
    return [sequence.apply(place) for place in range(sequence.size())]
