"""What is said of a dataset when its account is opened, and whether it is what the book says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..accounting.filters import FILTERS, Filter
from ..errors import Refused
from ..guarantees import Guarantee
from ..guarantees.guarantee import relation_of, unit_of
from ..guarantees.stored_guarantee import record as guarantee_record
from ..guarantees.stored_guarantee import restore as restore_guarantee
from . import book_queries
from .storage import location
from .storage.location import Url
from .storage.sqlite_schema import NEW
from .typed_text import encodable


def place_of(
    path: str | Path | None, budget: Guarantee | None, dataset: str | None
) -> Path | Url | None:
    """Where the book is, or is to be; None is memory. What a server has, only it can say."""
    place = location.place(path)
    if isinstance(place, Url):
        return place
    if place is not None and (
        not place.parent.is_dir() or (place.exists() and not place.is_file())
    ):
        raise Refused(
            "ledger.path", place.name, "a ledger is a file in a folder that exists", "visits.ledger"
        )
    if budget is None and (place is None or not place.exists() or not place.stat().st_size):
        raise Refused(
            "ledger.budget",
            str(dataset or "a new ledger"),
            "a new account needs a budget",
            NEW.format("path"),
        )
    return place


def said_of(
    budget: Guarantee | None, unit: str | None, relation: str | None, schema: dict[str, str] | None
) -> dict[str, Any]:
    """What the caller says; what is left out is not compared."""
    if budget is not None and type(budget) not in FILTERS:
        Filter(budget)  # refuses, with the reason
    if schema is not None and not all(
        isinstance(word, str) for pair in schema.items() for word in pair
    ):
        raise Refused(
            "ledger.schema",
            "schema=…",
            "a schema says the type of each column, in words",
            "schema={'age': 'integer'}",
        )
    bound = relation_of(relation) or (budget.relation if budget else None)
    name = unit_of(unit) or (budget.unit if budget else None)
    for what, given, of_budget in (
        ("relation", bound, budget and budget.relation),
        ("unit", name, budget and budget.unit),
    ):
        if of_budget is not None and of_budget != given:
            raise Refused(
                f"ledger.{what}",
                f"{what}={given!r}",
                f"the budget is about {what} {of_budget!r}",
                "say the same of both",
            )
    for what, word in (
        ("unit", name),
        *(("schema", word) for pair in (schema or {}).items() for word in pair),
    ):
        if word is not None and not encodable(word):
            raise Refused(
                "ledger.name",
                f"{what}={word!a:.60}",
                "it cannot be written down: half of a character",
                f"a {what} that can be printed",
            )
    said = {
        "unit": name,
        "relation": bound,
        "schema": schema,
        "budget": budget,
        "currency": budget and type(budget).__name__,
    }
    return {key: value for key, value in said.items() if value is not None}


def opened(tx: Any, dataset: str | None, said: dict[str, Any], when: str) -> str:
    """The name of the dataset, after it was compared with what the book says, or written down."""
    known = book_queries.datasets(tx)
    name = dataset or (known[0] if len(known) == 1 else "data" if not known else None)
    if name is None:
        raise Refused(
            "ledger.dataset",
            f"{len(known)} datasets",
            "the book holds several: say which",
            f"dataset={known[0]!r}",
        )
    if name in known:
        same(book_queries.header(tx, name), said)
    elif not {"budget", "unit", "relation"} <= said.keys():
        raise Refused(
            "ledger.dataset",
            f"dataset={name!r}",
            "the book does not know it; a new one needs a budget, a unit and a relation",
            NEW.format("path"),
        )
    else:
        book_queries.append(
            tx, {"kind": "open", "dataset": name, "header": _header_of(said), "when": when}
        )
    return name


def _header_of(said: dict[str, Any]) -> dict[str, Any]:
    """What the opening entry of a new dataset says."""
    budget = said["budget"]
    bound = Guarantee._bind(1 * budget, said["relation"], said["unit"])
    return {**said, "budget": guarantee_record(bound), "theorem": FILTERS[type(budget)]}


def same(header: dict[str, Any], said: dict[str, Any]) -> None:
    """Refuse what the book says otherwise. A budget that names no unit or relation means those of
    the book.
    """
    for what in ("unit", "relation", "schema", "currency"):
        if what in said and said[what] != header.get(what):
            _refuse(what, said[what], header.get(what))
    if "budget" in said:
        kept = restore_guarantee(header["budget"])
        given = Guarantee._bind(1 * said["budget"], kept.relation, kept.unit)
        if given != kept:
            _refuse("budget", given, kept)


def _refuse(what: str, given: object, kept: object) -> None:
    raise Refused(
        f"ledger.{what}",
        f"{what}={given!r:.80}",
        f"the book says {kept!r:.80}",
        "open it as it is; amend(…) changes a budget",
    )
