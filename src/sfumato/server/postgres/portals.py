"""Prepared statements and portals of a session: the extended query protocol.

A portal is a statement with its parameters. Its columns come from the plan, which is free; it is
run when it is executed, once, and keeps its rows while a client fetches them in parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ..http.problems import Problem, ProblemError
from . import wire_messages as wire
from . import wire_refusals as refusals
from .wire_messages import MalformedError, MessageFields
from .wire_results import Row, WireColumn, WireResult
from .wire_statements import CASTS, WireStatement, parameter_casts, split
from .wire_types import (
    BOOL,
    DATE,
    LISTS,
    NUMBERS,
    SIZES,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    UNKNOWN,
    UUID_,
    Parameter,
    WireValueError,
    as_binary,
    as_text,
    read_parameter,
)

MOST_PARAMETERS = 100
MOST_PREPARED = 1000
MOST_ENTRIES = 20_000
Values = Sequence[Parameter | list[Parameter]]


@dataclass(frozen=True, slots=True)
class PreparedStatement:
    """A parsed statement, and the types of its parameters."""

    statement: WireStatement
    oids: tuple[int, ...]


@dataclass(slots=True)
class Portal:
    """A statement with its parameters, the forms of its columns, and its result once it has run."""

    statement: WireStatement
    parameters: Sequence[Parameter | list[Parameter]]
    forms: tuple[int, ...] = ()
    columns: tuple[WireColumn, ...] | None = None
    is_described: bool = False
    result: WireResult | None = None
    sent: int = 0

    def form(self, place: int) -> int:
        """Return the form of a column: 0 is text, 1 is binary."""
        if len(self.forms) == 1:
            return self.forms[0]
        return self.forms[place] if place < len(self.forms) else 0


@dataclass(slots=True)
class SessionNames:
    """The prepared statements and portals of a session by their names."""

    statements: dict[str, PreparedStatement] = field(default_factory=dict)
    portals: dict[str, Portal] = field(default_factory=dict)

    def forget(self, kind: str, name: str | None) -> bool:
        """Forget a statement (`S`) or a portal (`P`), or all; tell whether there was one."""
        names: dict[str, PreparedStatement] | dict[str, Portal] = (
            self.statements if kind == "S" else self.portals
        )
        if name is None:
            names.clear()
            return True
        return names.pop(name, None) is not None

    def statement(self, name: str) -> PreparedStatement:
        if name not in self.statements:
            raise ProblemError(Problem.of(refusals.NAME_UNKNOWN(what=f"statement {name:.60}")))
        return self.statements[name]

    def portal(self, name: str) -> Portal:
        if name not in self.portals:
            raise ProblemError(Problem.of(refusals.NAME_UNKNOWN(what=f"portal {name:.60}")))
        return self.portals[name]


def parse(fields: MessageFields, names: SessionNames) -> None:
    """Keep the statement of a Parse message."""
    name, sql, count = fields.text(), fields.text(), fields.int16()
    if count > MOST_PARAMETERS:
        raise ProblemError(
            Problem.of(refusals.PARAMETERS_MISSING(expected=MOST_PARAMETERS, count=count))
        )
    given_oids = [fields.int32() for _ in range(count)]
    fields.end()
    statements = split(sql)
    if len(statements) != 1:
        raise ProblemError(Problem.of(refusals.TOO_MANY_STATEMENTS()))
    statement = statements[0]
    needed = min(count_parameters(statement), MOST_PARAMETERS)
    oids = [*given_oids, *[0] * (needed - len(given_oids))]
    while len(names.statements) >= MOST_PREPARED:
        names.statements.pop(next(iter(names.statements)))
    for cast in parameter_casts(statement.words):  # they say the type that the client does not
        if cast.number <= len(oids) and oids[cast.number - 1] in (0, UNKNOWN):
            oids[cast.number - 1] = CASTS[cast.type]
    names.statements[name] = PreparedStatement(
        statement, tuple(TEXT if oid in (0, UNKNOWN) else oid for oid in oids)
    )


def count_parameters(statement: WireStatement) -> int:
    """Return the largest number after a dollar sign."""
    return max(
        (
            int(number.text[:6])
            for sign, number in pairwise(statement.words)
            if sign.text == "$" and number.kind == "number"
        ),
        default=0,
    )


def bind(fields: MessageFields, names: SessionNames) -> None:
    """Make the portal of a Bind message."""
    portal_name, statement_name = fields.text(), fields.text()
    prepared = names.statement(statement_name)
    forms = _forms(fields)
    count = fields.int16()
    raw = [fields.cell() for _ in range(count)]
    result_forms = _forms(fields)
    fields.end()
    if count != len(prepared.oids) or len(forms) not in (0, 1, count):
        raise ProblemError(
            Problem.of(refusals.PARAMETERS_MISSING(expected=len(prepared.oids), count=count))
        )
    values: list[Parameter | list[Parameter]] = []
    for i, (cell, oid) in enumerate(zip(raw, prepared.oids, strict=True)):
        form = forms[0] if len(forms) == 1 else forms[i] if forms else 0
        try:
            values.append(read_parameter(cell, oid, form))
        except WireValueError:
            raise ProblemError(Problem.of(refusals.PARAMETER_WRONG(number=i + 1))) from None
    while len(names.portals) >= MOST_PREPARED:
        names.portals.pop(next(iter(names.portals)))
    names.portals[portal_name] = Portal(prepared.statement, values, result_forms)


def example_value(oid: int) -> Parameter | list[Parameter]:
    """Return a value of a type, to plan a statement whose parameters have not come yet."""
    if oid in LISTS:
        return []
    if oid in (DATE, TIMESTAMP, TIMESTAMPTZ):
        return "2000-01-01"
    if oid == UUID_:
        return "00000000-0000-0000-0000-000000000000"
    if oid == BOOL:
        return True
    return 1 if oid in NUMBERS else ""


def _forms(fields: MessageFields) -> tuple[int, ...]:
    forms = tuple(fields.int16() for _ in range(min(fields.int16(), MOST_ENTRIES)))
    if any(form not in (0, 1) for form in forms):
        raise MalformedError
    return forms


def description(columns: Sequence[WireColumn], portal: Portal | None = None) -> bytes:
    """Return the message that describes columns."""
    return wire.row_description(
        (name, oid, SIZES.get(oid, -1), portal.form(i) if portal else 0)
        for i, (name, oid) in enumerate(columns)
    )


def encoded_row(row: Row, columns: Sequence[WireColumn], portal: Portal | None = None) -> bytes:
    """Return the message of a row."""
    return wire.data_row(
        [
            (as_binary if portal is not None and portal.form(i) == 1 else as_text)(cell, oid)
            for i, (cell, (_, oid)) in enumerate(zip(row, columns, strict=True))
        ]
    )
