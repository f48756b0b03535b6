"""Random databases and random questions about several of their tables, with an oracle that joins
row by row.

*Schemas*   people, their visits, tests of visits, and a public table; columns of random names (also
            those of the engine's own expressions), types and values. Keys repeat where they should
            not, lead nowhere, or are null: what is promised does not rest on tidy data.
*Oracle*    nested loops over dictionaries. Every row carries its owner; a row of two protected
            tables exists where both have the same one. *Neighbour* all rows of one unit, in all
            protected tables, are taken away or exchanged for others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pyarrow as pa

Row = dict[str, Any]
Owned = tuple[Any, Row]  # whose, and what it holds by alias and column

NAMES = (
    "u0",
    "k0",
    "v0",
    "w",
    "n",
    "votes",
    "c",
    "named",
    "least",
    "place",
    "value",
    "city",
    "age",
    "s0_0",
    "row",
    "Total",
    "a_right",
    "patients_id",
    "total_1",
)
ARROW = {"int": pa.int64(), "text": pa.string(), "float": pa.float64()}
VALUES: dict[str, tuple[Any, ...]] = {
    "int": (0, 1, 2, 3, 5),
    "text": ("a", "b", "A", "", "ab"),
    "float": (0.5, 1.0, -2.0, 0.0, -0.0, float("nan")),
}


def drawn(random: Random, kind: str) -> Any:
    return None if random.random() < 0.1 else random.choice(VALUES[kind])


@dataclass(slots=True)
class World:
    """A database: columns and rows of every table, how tables hang together, and what is
    declared.
    """

    columns: dict[str, dict[str, str]]  # table → column → kind
    rows: dict[str, list[Row]]
    home: str
    unit: str
    links: dict[str, str]
    owner: dict[str, str]  # of tables with a column of the unit: which
    key: str  # of visits, which tests name
    through: str
    names: dict[str, str]  # what each of the four is called
    limits: dict[str, int]
    bounding: str
    relation: str

    @property
    def private(self) -> list[str]:
        return [self.names[role] for role in ("people", "visits", "tests")]

    @property
    def public(self) -> str:
        return self.names["cities"]

    def whose(self, table: str, rows: dict[str, list[Row]] | None = None) -> list[Any]:
        """The owner of each row of a table."""
        held = self.rows if rows is None else rows
        if table in self.owner:
            return [row[self.owner[table]] for row in held[table]]
        visits, mine = self.names["visits"], self.owner[self.names["visits"]]
        least: dict[Any, Any] = {}
        for visit in held[visits]:
            number, person = visit[self.key], visit[mine]
            if number is not None and person is not None:
                least[number] = person if number not in least else min(least[number], person)
        return [least.get(row[self.through]) for row in held[table]]

    def arrow(self, table: str, rows: dict[str, list[Row]] | None = None) -> pa.Table:
        held = (self.rows if rows is None else rows)[table]
        return pa.table(
            {
                name: pa.array([row[name] for row in held], ARROW[kind])
                for name, kind in self.columns[table].items()
            }
        )

    def neighbour(self, random: Random) -> dict[str, list[Row]]:
        """The same without one unit; under replace, with other rows of that unit instead."""
        people = sorted(
            {person for table in self.private for person in self.whose(table) if person is not None}
        )
        if not people:
            return self.rows
        gone = random.choice(people)
        rest = {
            table: [
                row for row, person in zip(rows, self.whose(table), strict=True) if person != gone
            ]
            for table, rows in self.rows.items()
            if table in self.private
        }
        if self.relation == "replace":
            fresh = {"int": 777, "text": "zz"}[
                self.columns[self.names["visits"]][self.key]
            ]  # nobody else's visit has that number
            for table in self.private:
                for _ in range(random.choice((0, 1, 2, 30))):
                    row = random_row(random, self.columns[table])
                    row |= (
                        {self.owner[table]: gone} if table in self.owner else {self.through: fresh}
                    )
                    row |= {self.key: fresh} if table == self.names["visits"] else {}
                    rest[table].append(row)
        return {**self.rows, **rest}


def random_row(random: Random, columns: dict[str, str]) -> Row:
    return {name: drawn(random, kind) for name, kind in columns.items()}


def world(random: Random) -> World:
    """Tables of random columns. Some units have many rows."""
    called = random.sample(
        ("patients", "visits", "tests", "cities", "A", "t0", "select", "in memory", "keys"), 4
    )
    names = dict(zip(("people", "visits", "tests", "cities"), called, strict=True))
    unit_kind, key_kind = random.choice(("int", "text")), random.choice(("int", "text"))
    columns: dict[str, dict[str, str]] = {}
    for role in ("people", "visits", "tests", "cities"):
        picked = random.sample(NAMES, random.randint(2, 4))
        columns[names[role]] = {name: random.choice(("int", "text", "float")) for name in picked}
    id_, pid, number, ref = (
        "id",
        random.choice(("pid", "id")),
        random.choice(("number", "No")),
        random.choice(("visit", "number")),
    )
    columns[called[0]] = {id_: unit_kind, **columns[called[0]]}
    columns[called[1]] = {number: key_kind, **columns[called[1]], pid: unit_kind}
    columns[called[2]] = {**columns[called[2]], ref: key_kind}
    columns[called[3]] = {**columns[called[3]], "id": random.choice(("int", "text"))}
    rows = {
        table: [random_row(random, of) for _ in range(random.choice((0, 2, 5, 9)))]
        for table, of in columns.items()
    }
    if random.random() < 0.4:  # one who has very many
        person = random.choice(VALUES[unit_kind])
        rows[called[1]] += [
            {**random_row(random, columns[called[1]]), pid: person} for _ in range(25)
        ]
    links = {
        f"{called[1]}.{pid}": f"{called[0]}.{id_}",
        f"{called[2]}.{ref}": f"{called[1]}.{number}",
    }
    limits = {table: random.choice((1, 2, 3, 20)) for table in called[:3]}
    bounding = "truncation" if random.random() < 0.1 else "weights"
    relation = random.choice(("add-remove", "add-remove", "replace"))
    return World(
        columns,
        rows,
        called[0],
        f"{called[0]}.{id_}",
        links,
        {called[0]: id_, called[1]: pid},
        number,
        ref,
        names,
        limits,
        bounding,
        relation,
    )


def quoted(name: str) -> str:
    return f'"{name}"'


@dataclass(slots=True)
class Asking:
    """A question in the making: its text so far, and the rows that it is about."""

    world: World
    random: Random
    rows: list[Owned] = field(default_factory=list)
    columns: dict[str, str] = field(
        default_factory=dict
    )  # alias.column → kind, of what is nobody's name
    units: list[str] = field(
        default_factory=list
    )  # alias.column of the unit, where it is sure to be there
    links: list[str] = field(default_factory=list)  # alias.column of what tests name
    same: set[str] = field(
        default_factory=set
    )  # alias.column of what an inner join made equal to the unit, and so no key
    text: str = ""
    where: list[str] = field(default_factory=list)
    limit: int = 0
    count: int = 0

    def alias(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def table(
        self, table: str, alias: str, *, plain: bool = False
    ) -> tuple[str, list[Owned], dict[str, str], list[str], list[str], int]:
        """A table under an alias, perhaps filtered in a sub-query or put together for each unit:
        text, rows, columns, unit, link, and its limit.
        """
        world, random = self.world, self.random
        held = [dict(row) for row in world.rows[table]]
        columns = dict(world.columns[table])
        private = table in world.private
        whose = world.whose(table) if private else [None] * len(held)
        unit = world.owner.get(table)
        if private and unit is None:
            unit, number = f"{world.home}_id", 2
            while unit.lower() in {name.lower() for name in columns}:
                unit, number = f"{world.home}_id_{number}", number + 1
            for row, person in zip(held, whose, strict=True):
                row[unit] = person
            columns[unit] = world.columns[world.home]["id"]
        owned = [
            (person, row)
            for person, row in zip(whose, held, strict=True)
            if not private or person is not None
        ]
        text, style = quoted(table), random.random()
        key = {world.names["visits"]: world.key, world.names["tests"]: world.through}.get(table)
        if private and style < 0.2 and not plain:
            assert unit is not None
            text = f"(SELECT {quoted(unit)}, COUNT(*) AS many FROM {text} GROUP BY {quoted(unit)})"
            people: dict[Any, int] = {}
            for person, _ in owned:
                people[person] = people.get(person, 0) + 1
            owned = [(person, {unit: person, "many": times}) for person, times in people.items()]
            columns, key = {unit: columns[unit], "many": "int"}, None
        elif style < 0.5:
            name = random.choice([name for name, kind in columns.items() if kind != "float"])
            value = random.choice(VALUES[columns[name]])
            text = f"(SELECT * FROM {text} WHERE {quoted(name)} <> {_written(value)})"
            owned = [
                (person, row)
                for person, row in owned
                if row[name] is not None and row[name] != value
            ]
        return (
            f"{text} AS {alias}",
            [
                (person, {f"{alias}.{name}": value for name, value in row.items()})
                for person, row in owned
            ],
            {f"{alias}.{name}": kind for name, kind in columns.items()},
            [f"{alias}.{unit}"] if unit is not None else [],
            [f"{alias}.{key}"] if key is not None else [],
            world.limits.get(table, 0),
        )

    def begin(self) -> None:
        table = self.random.choice(self.world.private)
        text, self.rows, self.columns, self.units, self.links, self.limit = self.table(
            table, self.alias()
        )
        self.text, self.same = f"FROM {text}", set(self.units)

    def join_public(self) -> None:
        random = self.random
        text, rows, columns, _, _, _ = self.table(self.world.public, self.alias())
        pairs = [
            (a, b)
            for a, kind in self.columns.items()
            for b, second in columns.items()
            if kind == second
        ]
        numbers = [
            (a, b)
            for a, kind in self.columns.items()
            for b, second in columns.items()
            if {kind, second} <= {"int", "float"}
        ]
        how = random.choice(("JOIN", "LEFT JOIN", "CROSS JOIN", "SEMI JOIN", "ANTI JOIN"))
        texts: list[str] = []
        tests: list[Callable[[Row], bool]] = []
        if how != "CROSS JOIN":
            if pairs and random.random() < 0.9:
                first = random.choice(pairs)
                texts.append(f"{_full(first[0])} = {_full(first[1])}")
                self.same |= {first[1]} if first[0] in self.same else set()
                tests.append(lambda row: _equal(row[first[0]], row[first[1]]))
            if numbers and random.random() < 0.4:
                two = random.choice(numbers)
                texts.append(f"{_full(two[0])} <= {_full(two[1])}")
                tests.append(lambda row: _below(row[two[0]], row[two[1]]))
            if not texts:
                texts.append("TRUE")
        self._joined(how, text, texts, rows, columns, tests, owned=False)

    def join_private(self) -> None:
        random, world = self.random, self.world
        if not self.units:
            return
        text, rows, columns, unit, links, limit = self.table(
            random.choice(world.private), self.alias()
        )
        how = random.choice(("JOIN", "JOIN", "LEFT JOIN", "SEMI JOIN", "ANTI JOIN"))
        if links and self.links and random.random() < 0.5:
            first, two = self.links[0], links[0]
        else:
            first, two = self.units[0], unit[0]
        texts = [f"{_full(first)} = {_full(two)}"]
        tests: list[Callable[[Row], bool]] = [lambda row: _equal(row[first], row[two])]
        pairs = [
            (a, b)
            for a, kind in self.columns.items()
            for b, second in columns.items()
            if kind == second
        ]
        if random.random() < 0.3:
            pair = random.choice(pairs)
            texts.append(f"{_full(pair[0])} = {_full(pair[1])}")
            self.same |= {pair[1]} if pair[0] in self.same else set()
            tests.append(lambda row: _equal(row[pair[0]], row[pair[1]]))
        self._joined(how, text, texts, rows, columns, tests, owned=True)
        if how in ("JOIN", "LEFT JOIN"):
            self.limit = max(self.limit, limit)
        if how == "JOIN":
            self.units += unit
            self.same |= set(unit)
            self.links += links

    def _joined(
        self,
        how: str,
        text: str,
        conditions: list[str],
        rows: list[Owned],
        columns: dict[str, str],
        tests: list[Callable[[Row], bool]],
        *,
        owned: bool,
    ) -> None:
        self.random.shuffle(conditions)
        self.text += f" {how} {text}" + (f" ON {' AND '.join(conditions)}" if conditions else "")
        result: list[Owned] = []
        for person, row in self.rows:
            fits = [
                {**row, **second}
                for whose, second in rows
                if (not owned or whose == person) and all(test({**row, **second}) for test in tests)
            ]
            if how in ("SEMI JOIN", "ANTI JOIN"):
                result += [(person, row)] if bool(fits) == (how == "SEMI JOIN") else []
            elif fits or how != "LEFT JOIN":
                result += [(person, fit) for fit in fits]
            else:
                result.append((person, {**row, **dict.fromkeys(columns)}))
        self.rows = result
        if how not in ("SEMI JOIN", "ANTI JOIN"):
            self.columns = {**self.columns, **columns}

    def condition(self) -> None:
        """A condition of WHERE: plain, or about a public table, or about other rows of the same
        unit.
        """
        random, world = self.random, self.world
        style = random.choice(
            ("plain", "in", "not in", "exists", "not exists", "person", "no person")
        )
        plain = [name for name, kind in self.columns.items() if kind != "float"]
        if style == "plain":
            name = random.choice(plain)
            value = random.choice(VALUES[self.columns[name]])
            self.where.append(f"{_full(name)} <> {_written(value)}")
            self.rows = [
                (person, row)
                for person, row in self.rows
                if row[name] is not None and row[name] != value
            ]
        elif style in ("in", "not in", "exists", "not exists"):
            text, rows, columns, _, _, _ = self.table(world.public, self.alias())
            pairs = [
                (a, b)
                for a, kind in self.columns.items()
                for b, second in columns.items()
                if kind == second
            ]
            if not pairs:
                return
            first, two = random.choice(pairs)
            listed = [row[two] for _, row in rows]
            if "in" in style:
                self.where.append(
                    f"{_full(first)} {style.upper()} (SELECT {_full(two)} FROM {text})"
                )
                expected = {"in": True, "not in": False}[style]
                self.rows = [
                    (person, row)
                    for person, row in self.rows
                    if _among(row[first], listed) is expected
                ]
            else:
                self.where.append(
                    f"{style.upper()} (SELECT 1 FROM {text} WHERE {_full(two)} = {_full(first)})"
                )
                self.rows = [
                    (person, row)
                    for person, row in self.rows
                    if any(_equal(row[first], value) for value in listed) == (style == "exists")
                ]
        elif self.units:
            text, rows, _, unit, _, _ = self.table(random.choice(world.private), self.alias())
            there = {person for person, _ in rows}
            no = "NOT " if style == "no person" else ""
            if random.random() < 0.5:
                self.where.append(
                    f"{no}EXISTS (SELECT * FROM {text} WHERE {_full(unit[0])} = "
                    f"{_full(self.units[0])})"
                )
            else:
                self.where.append(
                    f"{_full(self.units[0])} {no}IN (SELECT {_full(unit[0])} FROM {text})"
                )
            self.rows = [
                (person, row)
                for person, row in self.rows
                if (person in there) != (style == "no person")
            ]

    def union(self) -> None:
        """Beside these rows, those of another table: a column of each that have one kind."""
        text, rows, columns, unit, _, limit = self.table(
            self.random.choice(self.world.private), self.alias()
        )
        pairs = [
            (a, b)
            for a, kind in self.columns.items()
            for b, second in columns.items()
            if kind == second
        ]
        first, two = self.random.choice(
            [pair for pair in pairs if pair != (self.units[0], unit[0])] or pairs
        )
        alias = self.alias()
        mine = f"SELECT {_full(self.units[0])} AS who, {_full(first)} AS what {self.text}" + (
            f" WHERE {' AND '.join(self.where)}" if self.where else ""
        )
        self.text = (
            f"FROM ({mine} UNION ALL SELECT {_full(unit[0])} AS who, {_full(two)} AS what "
            f"FROM {text}) AS {alias}"
        )
        self.where = []
        sides = [(person, row, first) for person, row in self.rows] + [
            (person, row, two) for person, row in rows
        ]
        self.rows = [
            (person, {f"{alias}.who": person, f"{alias}.what": row[name]})
            for person, row, name in sides
        ]
        self.columns = {
            f"{alias}.who": self.columns[self.units[0]],
            f"{alias}.what": self.columns[first],
        }
        self.same = {
            f"{alias}.who",
            *([f"{alias}.what"] if first in self.same and two in unit else []),
        }
        self.units, self.links, self.limit = [f"{alias}.who"], [], self.limit + limit


@dataclass(frozen=True, slots=True)
class RandomQuestion:
    """A question: its text, and the rows that reach its aggregates; of each row the key and the
    number, if it asks for them.
    """

    text: str
    rows: list[Owned]
    key: str
    number: str
    limit: int


def question(world: World, random: Random) -> RandomQuestion:
    """Joins, conditions and unions, then a count, perhaps of groups, perhaps with a sum."""
    asking = Asking(world, random)
    asking.begin()
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        random.choice((asking.join_public, asking.join_private))()
    for _ in range(random.choice((0, 1, 1, 2))):
        asking.condition()
    if asking.units and random.random() < 0.2:
        asking.union()
        if random.random() < 0.4:
            asking.join_public()
    numbers = [name for name, kind in asking.columns.items() if kind in ("int", "float")]
    keys = [
        name for name, kind in asking.columns.items() if kind != "float" and name not in asking.same
    ]
    number = random.choice(numbers) if numbers and random.random() < 0.6 else ""
    key = random.choice(keys) if keys and random.random() < 0.5 else ""
    listed = [f"{_full(key)} AS g"] if key else []
    listed += [
        "COUNT(*) AS asked_n",
        *([f"SUM(CLAMP({_full(number)}, -1, 3)) AS asked_s"] if number else []),
    ]
    listed += (
        ["COUNT(DISTINCT " + _full(asking.units[0]) + ") AS asked_p"]
        if asking.units and random.random() < 0.3
        else []
    )
    where = f" WHERE {' AND '.join(asking.where)}" if asking.where else ""
    text = f"SELECT {', '.join(listed)} {asking.text}{where}{' GROUP BY g' if key else ''}"
    return RandomQuestion(text, asking.rows, key, number, asking.limit)


def _full(name: str) -> str:
    alias, column = name.split(".", 1)
    return f"{alias}.{quoted(column)}"


def _written(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)


def _nan(value: Any) -> bool:
    return value is None or value != value


def _equal(first: Any, second: Any) -> bool:
    return not _nan(first) and not _nan(second) and first == second


def _below(first: Any, second: Any) -> bool:
    return not _nan(first) and not _nan(second) and first <= second


def _among(value: Any, listed: list[Any]) -> bool | None:
    """As SQL's IN, with its nulls."""
    if any(_equal(value, item) for item in listed):
        return True
    return None if listed and (_nan(value) or any(map(_nan, listed))) else False
