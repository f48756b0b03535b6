"""Which column says whose a row is: from links, or refused."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.tables.declare.ownership import (
    Owner,
    find_owners,
    join_columns,
    split_column,
    unit_columns,
)
from sfumato.tables.expr.types import Type

SCHEMAS = {
    "people": {"id": Type.of("int64"), "no": Type.of("string"), "x": Type.of("float64")},
    "visits": {
        "number": Type.of("int32"),
        "person": Type.of("int32"),
        "doctor": Type.of("int64"),
        "no": Type.of("string"),
    },
    "tests": {"visit": Type.of("int64"), "people_id": Type.of("int64"), "person": Type.of("int64")},
}
UNIT = (("people", "id"),)


def owned(**links: str) -> dict[str, Owner]:
    pairs: Any = {
        tuple(column.split("__")): tuple(target.split(".")) for column, target in links.items()
    }
    return find_owners(UNIT, pairs, SCHEMAS)


def test_a_column_of_the_unit_or_one_that_leads_to_it() -> None:
    assert owned(visits__person="people.id", tests__visit="visits.number") == {
        "people": Owner(("id",)),
        "visits": Owner(("person",)),
        "tests": Owner(("people_id_2",), "visit", "visits", "number"),
    }
    assert owned(visits__person="people.id", tests__person="visits.person")["tests"] == Owner(
        ("person",)
    )
    assert owned(visits__no="people.no", tests__person="people.id")["visits"] == Owner(
        ("people_id",), "no", "people", "no"
    )


def test_what_names_the_unit_itself_goes_before_what_leads_to_it() -> None:
    assert owned(
        visits__person="people.id", tests__person="people.id", tests__visit="visits.number"
    )["tests"] == Owner(("person",))


def test_columns_that_name_the_same_may_be_joined_on() -> None:
    links = {("visits", "person"): ("people", "id"), ("tests", "visit"): ("visits", "number")}
    owners = find_owners(UNIT, links, SCHEMAS)
    assert join_columns(owners, links, "tests") == {"visit": "visits.number"}
    assert join_columns(owners, links, "visits") == {"number": "visits.number"}
    assert join_columns(owners, links, "people") == {}


@pytest.mark.parametrize(
    ("links", "code"),
    [
        ({"visits__person": "people.id"}, "table.links"),  # whose are the tests?
        (
            {
                "visits__person": "people.id",
                "visits__doctor": "people.id",
                "tests__visit": "visits.number",
            },
            "table.links",
        ),
        (
            {
                "visits__person": "people.id",
                "tests__person": "people.id",
                "tests__visit": "visits.person",
            },
            "table.links",
        ),
        (
            {
                "visits__person": "people.id",
                "tests__visit": "visits.number",
                "tests__person": "visits.doctor",
            },
            "table.links",
        ),
        ({"visits__number": "tests.visit", "tests__visit": "visits.number"}, "table.links"),
        ({"visits__person": "people.x", "tests__visit": "visits.number"}, "table.links"),
        ({"visits__no": "people.id", "tests__visit": "visits.number"}, "table.links"),
        ({"visits__person": "visits.number", "tests__visit": "visits.number"}, "table.links"),
        ({"visits__nothing": "people.id", "tests__visit": "visits.number"}, "table.column"),
    ],
    ids=[
        "none",
        "two",
        "two, by another way",
        "two ways",
        "in a circle",
        "another kind",
        "text",
        "itself",
        "no column",
    ],
)
def test_refused(links: dict[str, str], code: str) -> None:
    with pytest.raises(Refused) as caught:
        owned(**links)
    assert caught.value.code == code


def test_a_unit_of_several_columns() -> None:
    schemas = {
        "people": {"house": Type.of("string"), "name": Type.of("string")},
        "visits": {"h": Type.of("string"), "n": Type.of("string")},
    }
    unit = unit_columns(["people.house", "people.name"], schemas)
    links = {("visits", "n"): ("people", "name"), ("visits", "h"): ("people", "house")}
    assert find_owners(unit, links, schemas)["visits"] == Owner(("h", "n"))
    with pytest.raises(Refused):
        find_owners(unit, {("visits", "n"): ("people", "name")}, schemas)


@pytest.mark.parametrize(
    "unit",
    [
        None,
        3,
        "id",
        "people.",
        [],
        ["people.id", "visits.person"],
        ["people.id", "people.id"],
        "people.nothing",
    ],
    ids=repr,
)
def test_no_unit(unit: Any) -> None:
    with pytest.raises(Refused):
        unit_columns(unit, SCHEMAS)


def test_names_with_dots() -> None:
    assert split_column("a.b.c", ["a", "b"], "links") == ("a", "b.c")
    with pytest.raises(Refused, match=r"table\.links"):
        split_column("c.b", ["a"], "links")


@pytest.mark.parametrize(
    "tables", [["a", "a.b"], ["a.b", "a"]], ids=["the short first", "the long first"]
)
def test_names_that_two_tables_fit(tables: list[str]) -> None:
    """Whichever came first would be taken for it, and the bounds of one be those of the other."""
    with pytest.raises(Refused) as caught:
        split_column("a.b.c", tables, "bounds")
    assert caught.value.code == "table.links"
    assert "'a'" in caught.value.reason
    assert "'a.b'" in caught.value.reason
    assert split_column("a.c", tables, "bounds") == ("a", "c")
    assert split_column("a.b", tables, "bounds") == ("a", "b")
