"""Open the account of a dataset: collect what the caller declares, and compare it with the book."""

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
from . import ledger_refusals as refusals
from .storage import location
from .storage.location import Url
from .storage.sqlite_schema import NEW
from .typed_text import is_encodable


def find_place(
    path: str | Path | None, budget: Guarantee | None, dataset: str | None
) -> Path | Url | None:
    """Return the location of the book; None is memory. Refuse a file that cannot hold one."""
    place = location.parse_location(path)
    if isinstance(place, Url):
        return place
    if place is not None and (
        not place.parent.is_dir() or (place.exists() and not place.is_file())
    ):
        raise refusals.LEDGER_PATH_1(name=place.name)
    if budget is None and (place is None or not place.exists() or not place.stat().st_size):
        raise refusals.LEDGER_BUDGET_2(
            str=str(dataset or "a new ledger"), format=NEW.format("path")
        )
    return place


def collect_declared(
    budget: Guarantee | None, unit: str | None, relation: str | None, schema: dict[str, str] | None
) -> dict[str, Any]:
    """Return what the caller declares, checked. Values left out are not compared."""
    if budget is not None and type(budget) not in FILTERS:
        Filter(budget)  # refuses, with the reason
    if schema is not None and not all(
        isinstance(word, str) for pair in schema.items() for word in pair
    ):
        raise refusals.LEDGER_SCHEMA_1()
    bound = relation_of(relation) or (budget.relation if budget else None)
    name = unit_of(unit) or (budget.unit if budget else None)
    for what, stated, of_budget in (
        ("relation", bound, budget and budget.relation),
        ("unit", name, budget and budget.unit),
    ):
        if of_budget is not None and of_budget != stated:
            raise Refused(
                f"ledger.{what}",
                f"{what}={stated!r}",
                f"the budget is about {what} {of_budget!r}",
                f"{what}={of_budget!r}",
            )
    for what, word in (
        ("unit", name),
        *(("schema", word) for pair in (schema or {}).items() for word in pair),
    ):
        if word is not None and not is_encodable(word):
            raise refusals.LEDGER_NAME_1(what=what, word=word)
    declared = {
        "unit": name,
        "relation": bound,
        "schema": schema,
        "budget": budget,
        "currency": budget and type(budget).__name__,
    }
    return {key: value for key, value in declared.items() if value is not None}


def open_dataset(tx: Any, dataset: str | None, declared: dict[str, Any], when: str) -> str:
    """Return the name of the dataset: compare it with the book, or write its opening entry."""
    names = book_queries.datasets(tx)
    name = dataset or (names[0] if len(names) == 1 else "data" if not names else None)
    if name is None:
        raise refusals.LEDGER_DATASET_2(names_count=len(names), names=names[0])
    if name in names:
        check_same_header(book_queries.header(tx, name), declared)
    elif not {"budget", "unit", "relation"} <= declared.keys():
        raise refusals.LEDGER_DATASET_3(name=name, format=NEW.format("path"))
    else:
        book_queries.append(
            tx, {"kind": "open", "dataset": name, "header": _header_of(declared), "when": when}
        )
    return name


def _header_of(declared: dict[str, Any]) -> dict[str, Any]:
    """Return the header of the opening entry of a new dataset."""
    budget = declared["budget"]
    bound = Guarantee._bind(1 * budget, declared["relation"], declared["unit"])
    return {**declared, "budget": guarantee_record(bound), "theorem": FILTERS[type(budget)]}


def check_same_header(header: dict[str, Any], declared: dict[str, Any]) -> None:
    """Refuse if the declaration differs from the book. A budget without a unit or relation takes
    those of the book.
    """
    for what in ("unit", "relation", "schema", "currency"):
        if what in declared and declared[what] != header.get(what):
            _refuse(what, declared[what], header.get(what))
    if "budget" in declared:
        stored_budget = restore_guarantee(header["budget"])
        declared_budget = Guarantee._bind(
            1 * declared["budget"], stored_budget.relation, stored_budget.unit
        )
        if declared_budget != stored_budget:
            _refuse("budget", declared_budget, stored_budget)


def _refuse(what: str, declared: object, stored: object) -> None:
    raise Refused(
        f"ledger.{what}",
        f"{what}={declared!r:.80}",
        f"the book says {stored!r:.80}",
        "open it as it is; amend() changes a budget",
    )
