"""Several tables about the same people: which column of each says whose row it is.

*Unit*     A column of one table, or several: `patients.id`.
*Links*    `visits.patient_id → patients.id`: a visit belongs to the patient that it names, whether
           or not there is a row of that patient. `tests.visit_id → visits.id`: a test belongs to
           whom its visit belongs. Were two visits to have one number, it would be the least of
           their owners: so every row has one owner, whatever the data hold, and when that owner's
           rows are taken away everybody else's stay everybody else's.
*Made*     A table without a column of the unit gets one, called after it: `patients_id`.
*Proof*    docs/proofs/joins.md
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...errors import Refused
from ..expr.column_names import free
from ..expr.types import Type

EXAMPLE = "links={'visits.patient_id': 'patients.id'}"

Schemas = Mapping[str, Mapping[str, Type]]


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose rows those of a table are: by columns of its own, or by the rows of another table that
    its column names.
    """

    unit: tuple[str, ...]
    through: str = ""  # a column of its own
    table: str = ""  # the other table
    named: str = ""  # and the column of it that is named


def dotted(word: object, tables: Iterable[str], place: str) -> tuple[str, str]:
    """The table and the column of `table.column`; refused where two tables fit, as `a` and `a.b` do
    in `a.b.c`.
    """
    fit = [
        table
        for table in tables
        if isinstance(word, str) and word.startswith(f"{table}.") and len(word) > len(table) + 1
    ]
    if len(fit) > 1:
        reason = f"it may be a column of {fit[0]!r:.60} or of {fit[1]!r:.60}"
        raise Refused(
            "table.links",
            f"{place}: {word!r:.60}",
            reason,
            "another name for one of the tables: protect({'visits': …}, …)",
        )
    if fit:
        table = fit[0]
        return table, str(word)[len(table) + 1 :]
    raise Refused(
        "table.links",
        f"{place}: {word!r:.60}",
        "of several tables, a column is named after its table, with a dot between",
        "'visits.patient_id'",
    )


def unit_columns(unit: object, schemas: Schemas) -> tuple[tuple[str, str], ...]:
    """The columns of the unit, all of one table."""
    if unit is None or isinstance(unit, Mapping) or not isinstance(unit, Iterable):
        reason = "several tables are about the same people: which column says who they are?"
        raise Refused("table.unit", f"unit={unit!s:.60}", reason, "unit='patients.id'")
    found = tuple(
        dotted(word, schemas, "unit") for word in ([unit] if isinstance(unit, str) else unit)
    )
    if not found or len({table for table, _ in found}) != 1 or len(set(found)) != len(found):
        raise Refused(
            "table.unit",
            f"unit={unit!r:.60}",
            "the unit is a column of one table, or several of its columns",
            "unit='patients.id'",
        )
    for table, column in found:
        _known(table, column, schemas, "unit")
    return found


def owners(
    unit: tuple[tuple[str, str], ...],
    links: Mapping[tuple[str, str], tuple[str, str]],
    schemas: Schemas,
) -> dict[str, Owner]:
    """For each table whose rows they are; refused where that is not said, or said twice."""
    home = unit[0][0]
    meant = {pair: i for i, pair in enumerate(unit)}  # columns that hold the unit
    found = {home: Owner(tuple(column for _, column in unit))}
    for (table, column), target in links.items():
        _checked(table, column, target, schemas)
    while True:
        ready = {
            table: _owner(table, found, meant, unit, links, schemas)
            for table in schemas
            if table not in found
        }
        new = {table: owner for table, owner in ready.items() if owner is not None}
        if not new:
            break
        found |= new
        meant |= {
            (table, column): i
            for table, owner in new.items()
            if not owner.through
            for i, column in enumerate(owner.unit)
        }
    for table in schemas:
        if table not in found:
            reason = f"no link leads from {table:.60} to {home:.60}: whose are its rows?"
            rewrite = (
                f"links={{'{table:.40}.…': '{home:.40}.{unit[0][1]:.40}'}}, or "
                f"public={{{table!r:.40}: …}}"
            )
            raise Refused("table.links", f"protect({{{table!r:.60}: …}})", reason, rewrite)
        _once(table, meant, links)
    return found


def words(
    found: Mapping[str, Owner], links: Mapping[tuple[str, str], tuple[str, str]], table: str
) -> dict[str, str]:
    """For each column of a table that a join may be on, what it names: equal words, one thing."""
    made: dict[str, str] = {}
    for (one, column), target in links.items():
        for here, name in ((one, column), target):
            if here == table and name not in found[table].unit:
                made[name] = ".".join(target)
    return made


def _owner(
    table: str,
    found: Mapping[str, Owner],
    meant: Mapping[tuple[str, str], int],
    unit: tuple[tuple[str, str], ...],
    links: Mapping[tuple[str, str], tuple[str, str]],
    schemas: Schemas,
) -> Owner | None:
    mine = {column: target for (one, column), target in links.items() if one == table}
    direct = [(meant[target], column) for column, target in mine.items() if target in meant]
    if len(direct) == len(unit):
        return Owner(tuple(column for _, column in sorted(direct)))
    through = [
        (column, target)
        for column, target in mine.items()
        if target not in meant and target[0] in found
    ]
    if not through or any(target[0] not in found for target in mine.values()):
        return None
    if len(unit) > 1 or direct:
        reason = "a unit of several columns is named by all of them, in each table"
        raise Refused(
            "table.links",
            f"links={{'{table:.40}.{through[0][0]:.40}': …}}",
            reason,
            "a link for each column of the unit",
        )
    if len(through) > 1:
        reason = f"by two links a row of {table:.60} would belong to two people"
        pair = (
            f"links={{'{table:.40}.{through[0][0]:.40}': …, '{table:.40}.{through[1][0]:.40}': …}}"
        )
        raise Refused("table.links", pair, reason, "a link to the unit itself, or one link")
    ((column, (other, named)),) = through
    return Owner(
        (free("_".join(unit[0]), {name.lower() for name in schemas[table]}),), column, other, named
    )


def _once(
    table: str,
    meant: Mapping[tuple[str, str], int],
    links: Mapping[tuple[str, str], tuple[str, str]],
) -> None:
    """Refuse two links of a table to the same column of the unit, by whatever way they lead
    there.
    """
    direct = [
        (meant[target], column)
        for (one, column), target in links.items()
        if one == table and target in meant
    ]
    if len({place for place, _ in direct}) < len(direct):
        pair = (
            f"links={{'{table:.40}.{direct[0][1]:.40}': …, '{table:.40}.{direct[-1][1]:.40}': …}}"
        )
        reason = (
            f"by two links a row of {table:.60} would belong to two people, and only one of "
            f"them would be protected as its owner"
        )
        raise Refused("table.links", pair, reason, "one link; the other column stays a column")


def _checked(table: str, column: str, target: tuple[str, str], schemas: Schemas) -> None:
    one, other = _known(table, column, schemas, "links"), _known(*target, schemas, "links")
    place = f"links={{'{table:.40}.{column:.40}': '{'.'.join(target):.60}'}}"
    if table == target[0]:
        raise Refused("table.links", place, "a link leads to another table", EXAMPLE)
    alike = one.bare == other.bare or one.kind == other.kind == "integer"  # of any width
    if not alike or one.kind == "float":
        reason = f"what is linked is compared: the one is {one.words}, the other {other.words}"
        raise Refused(
            "table.links", place, reason, f"types={{'{table:.40}.{column:.40}': '{other.bare}'}}"
        )


def _known(table: str, column: str, schemas: Schemas, place: str) -> Type:
    if column not in schemas[table]:
        listed = " or ".join(f"{table}.{name}" for name in list(schemas[table])[:3])
        raise Refused(
            "table.column",
            f"{place}: '{table:.60}.{column:.60}'",
            "the table has no such column",
            listed,
        )
    return schemas[table][column]
