"""Find the owner of every row in several tables about the same people.

*Unit*     One or more columns of one table: `patients.id`.
*Links*    `visits.patient_id → patients.id`: a visit belongs to the patient that it names, whether
           or not that patient has a row. `tests.visit_id → visits.id`: a test belongs to the owner
           of its visit. If two visits have the same number, the test belongs to the least of their
           owners. So every row has one owner, whatever the data hold, and removing the rows of one
           owner changes no other owner's rows.
*Made*     A table without a unit column gets one, named after the unit: `patients_id`.
*Proof*    docs/proofs/joins.md
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..expr.column_names import unused_name
from ..expr.types import Type
from . import declare_refusals as refusals

Schemas = Mapping[str, Mapping[str, Type]]


@dataclass(frozen=True, slots=True)
class Owner:
    """How the rows of a table name their owner: by columns of the table, or by a link to the rows
    of another table.
    """

    unit: tuple[str, ...]
    link_column: str = ""  # the column of this table that holds the link
    target_table: str = ""  # the table that the link leads to
    target_column: str = ""  # the column there that the link names


def split_column(word: object, tables: Iterable[str], argument: str) -> tuple[str, str]:
    """Split `table.column`; refuse a name that fits two tables, as `a.b.c` fits `a` and `a.b`."""
    fit = [
        table
        for table in tables
        if isinstance(word, str) and word.startswith(f"{table}.") and len(word) > len(table) + 1
    ]
    if len(fit) > 1:
        raise refusals.COLUMN_FITS_TWO_TABLES(
            argument=argument, column=word, first=fit[0], second=fit[1]
        )
    if fit:
        table = fit[0]
        return table, str(word)[len(table) + 1 :]
    raise refusals.COLUMN_WITHOUT_TABLE(argument=argument, column=word)


def unit_columns(unit: object, schemas: Schemas) -> tuple[tuple[str, str], ...]:
    """Return the columns of the unit, all of one table."""
    if unit is None or isinstance(unit, Mapping) or not isinstance(unit, Iterable):
        raise refusals.DATABASE_WITHOUT_UNIT(unit=unit)
    columns = tuple(
        split_column(word, schemas, "unit") for word in ([unit] if isinstance(unit, str) else unit)
    )
    if (
        not columns
        or len({table for table, _ in columns}) != 1
        or len(set(columns)) != len(columns)
    ):
        raise refusals.UNIT_IN_SEVERAL_TABLES(unit=unit)
    for table, column in columns:
        _column_type(table, column, schemas, "unit")
    return columns


def find_owners(
    unit: tuple[tuple[str, str], ...],
    links: Mapping[tuple[str, str], tuple[str, str]],
    schemas: Schemas,
) -> dict[str, Owner]:
    """Find the owner of the rows of each table; refuse a table with no owner, or with two."""
    home = unit[0][0]
    # columns that hold the unit → their position in it
    unit_positions = {pair: i for i, pair in enumerate(unit)}
    owners = {home: Owner(tuple(column for _, column in unit))}
    for (table, column), target in links.items():
        _check_link(table, column, target, schemas)
    while True:
        ready = {
            table: _find_owner(table, owners, unit_positions, unit, links, schemas)
            for table in schemas
            if table not in owners
        }
        new = {table: owner for table, owner in ready.items() if owner is not None}
        if not new:
            break
        owners |= new
        unit_positions |= {
            (table, column): i
            for table, owner in new.items()
            if not owner.link_column
            for i, column in enumerate(owner.unit)
        }
    for table in schemas:
        if table not in owners:
            raise refusals.TABLE_WITHOUT_OWNER(
                table=table,
                column=next(iter(schemas[table]), "id"),
                home=home,
                unit=unit[0][1],
            )
        _check_single_link(table, unit_positions, links)
    return owners


def join_columns(
    owners: Mapping[str, Owner], links: Mapping[tuple[str, str], tuple[str, str]], table: str
) -> dict[str, str]:
    """Map each column of a table that a join may use to its target, as "table.column"."""
    targets: dict[str, str] = {}
    for (source, column), target in links.items():
        for here, name in ((source, column), target):
            if here == table and name not in owners[table].unit:
                targets[name] = ".".join(target)
    return targets


def _find_owner(
    table: str,
    owners: Mapping[str, Owner],
    unit_positions: Mapping[tuple[str, str], int],
    unit: tuple[tuple[str, str], ...],
    links: Mapping[tuple[str, str], tuple[str, str]],
    schemas: Schemas,
) -> Owner | None:
    mine = {column: target for (source, column), target in links.items() if source == table}
    direct = [
        (unit_positions[target], column)
        for column, target in mine.items()
        if target in unit_positions
    ]
    if len(direct) == len(unit):
        return Owner(tuple(column for _, column in sorted(direct)))
    through = [
        (column, target)
        for column, target in mine.items()
        if target not in unit_positions and target[0] in owners
    ]
    if not through or any(target[0] not in owners for target in mine.values()):
        return None
    if len(unit) > 1:
        links_to_all = {f"{table}.{column}": f"{home}.{column}" for home, column in unit}
        raise refusals.LINKS_TO_PART_OF_UNIT(table=table, column=through[0][0], links=links_to_all)
    both = [*(column for _, column in direct), *(column for column, _ in through)]
    if len(both) > 1:
        raise refusals.TWO_LINKS(
            table=table, first=both[0], second=both[1], target=".".join(mine[both[0]])
        )
    ((column, (target_table, named)),) = through
    return Owner(
        (unused_name("_".join(unit[0]), {name.lower() for name in schemas[table]}),),
        column,
        target_table,
        named,
    )


def _check_single_link(
    table: str,
    unit_positions: Mapping[tuple[str, str], int],
    links: Mapping[tuple[str, str], tuple[str, str]],
) -> None:
    """Refuse two links of a table to the same column of the unit, direct or indirect."""
    direct = [
        (unit_positions[target], column)
        for (source, column), target in links.items()
        if source == table and target in unit_positions
    ]
    if len({place for place, _ in direct}) < len(direct):
        first = direct[0][1]
        raise refusals.TWO_LINKS(
            table=table,
            first=first,
            second=direct[-1][1],
            target=".".join(links[table, first]),
        )


def _check_link(table: str, column: str, target: tuple[str, str], schemas: Schemas) -> None:
    kind, target_kind = (
        _column_type(table, column, schemas, "links"),
        _column_type(*target, schemas, "links"),
    )
    link = {"source": f"{table}.{column}", "target": ".".join(target)}
    if table == target[0]:
        raise refusals.LINK_WITHIN_TABLE(**link)
    # integers of any width are comparable
    alike = kind.bare == target_kind.bare or kind.kind == target_kind.kind == "integer"
    if not alike:
        raise refusals.LINKED_TYPES_DIFFER(
            **link,
            words=kind.words,
            target_words=target_kind.words,
            type=str(target_kind.bare),
        )
    if kind.kind == "float":
        raise refusals.LINK_ON_FLOATS(**link)


def _column_type(table: str, column: str, schemas: Schemas, argument: str) -> Type:
    if column not in schemas[table]:
        names = list(schemas[table])
        raise refusals.TABLE_LACKS_LINKED_COLUMN(
            argument=argument,
            table=table,
            column=column,
            names=", ".join(names[:3]),
            first=next(iter(names), ""),
        )
    return schemas[table][column]
