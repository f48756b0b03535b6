"""Hand a plan from the service to a worker, so that a release is planned once.

*Public*    A plan reads no data and follows from the declaration, the learned limits and the
            question. It holds the chosen noise, but no random bits and no statements.
*Refers*    Tables and their engines do not cross. The plan refers to them by name, and the worker
            puts in its own.
*Fresh*     The declarations cross with the plan, learned limits included. A worker that knows
            others does not use the plan, and plans the question itself.
*One way*   Plans go from the process that started the worker and gave it its configuration. The
            worker reads only plain values and the classes of plans. The service reads no pickles.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import io
import pickle
import uuid
from collections.abc import Mapping
from dataclasses import replace

from ...session.table_state import TableState
from ...tables.expr.functions import function_named
from ...tables.plan.missing_limits import Declared
from ...tables.plan.query_plan import Plan
from ...tables.query.owned_rows import table_source

PACKAGES = tuple(
    f"sfumato.{package}."
    for package in ("exact", "guarantees", "mechanisms", "noise", "sql", "tables")
)
"""The packages whose classes a plan consists of."""
PLAIN = {
    (make.__module__, make.__qualname__): make
    for make in (
        fractions.Fraction,
        decimal.Decimal,
        datetime.date,
        datetime.datetime,
        datetime.time,
        datetime.timedelta,
        datetime.timezone,
        uuid.UUID,
        frozenset,
        set,
        function_named,
    )
}
"""What else makes the values of a plan."""

Reference = tuple[str, str]


def pack(plan: Plan, state: TableState, declared: Declared) -> bytes:
    """Return a plan as bytes, with the declarations that it follows from."""
    sink = io.BytesIO()
    # a copy has no cached statements
    _Packer(sink, _parts(state)).dump((declared, state.database, replace(plan)))
    return sink.getvalue()


def unpack(packed: bytes, state: TableState) -> Plan | None:
    """Return a plan about the tables of this process; None if these are declared differently."""
    plan: Plan
    declared, database, plan = _Unpacker(io.BytesIO(packed), _parts(state)).load()
    return plan if (declared, database) == (state.declared, state.database) else None


def _parts(state: TableState) -> dict[Reference, object]:
    """Return what a plan refers to by name: the tables, and what their engine reads."""
    return {
        (part, name): value
        for name, rows in state.rows.items()
        for part, value in (("table", rows.curator), ("source", table_source(rows)))
    }


class _Packer(pickle.Pickler):
    def __init__(self, sink: io.BytesIO, parts: Mapping[Reference, object]) -> None:
        super().__init__(sink, protocol=5)
        self._names = {id(part): name for name, part in parts.items()}

    def persistent_id(self, part: object) -> Reference | None:
        return self._names.get(id(part))


class _Unpacker(pickle.Unpickler):
    def __init__(self, source: io.BytesIO, parts: Mapping[Reference, object]) -> None:
        super().__init__(source)
        self._parts = parts

    def persistent_load(self, name: Reference) -> object:
        return self._parts[name]

    def find_class(self, module: str, name: str) -> object:
        if (module, name) in PLAIN:
            return PLAIN[module, name]
        kind = super().find_class(module, name) if module.startswith(PACKAGES) else None
        if not isinstance(kind, type):
            raise pickle.UnpicklingError(f"a plan holds no {module}.{name}")
        return kind
