"""Answer DESCRIBE, SHOW TABLES and SHOW COLUMNS from what is declared: nothing is read or paid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..sql import described_table, find_table
from ..tables.declare.declaration import Declaration
from ..templates.summary import Summary


def describe_tables(
    text: object, protected: Mapping[str, Declaration], public: Mapping[str, Declaration]
) -> Summary | None:
    """Return the columns of the table that a text names, or the list of tables. None if the text is
    no DESCRIBE, SHOW TABLES or SHOW COLUMNS.
    """
    name = described_table(text)
    if name is None:
        return None
    declared = {**protected, **public}
    if not name:
        rows = [
            (table, "public" if table in public else of.whose, ", ".join(dict(of.types)))
            for table, of in declared.items()
        ]
        return Summary(title="tables", heads=("table", "rows", "columns"), rows=rows)
    table = find_table(name, declared, str(text))
    summary = declared[table]._summary()
    return replace(summary, title=f"{table} · public", notes=()) if table in public else summary
