"""Open the account of a dataset: collect what the caller declares, and compare it with the book."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from ..accounting.filters import Filter
from ..guarantees import Guarantee
from ..guarantees.guarantee import Relation, relation_of, unit_of
from ..guarantees.stored_guarantee import python_text
from ..guarantees.stored_guarantee import record as guarantee_record
from ..guarantees.stored_guarantee import restore as restore_guarantee
from ..storage.database_url import Url
from . import book_queries
from . import ledger_refusals as refusals
from .entries import Header
from .storage import location
from .typed_text import is_encodable

if TYPE_CHECKING:
    from .storage.book_store import BookTransaction

PART = " / "
"""Between the name of a table's account and what says which part of it another account is of."""


class Declared(TypedDict, total=False):
    """What a caller declares about a dataset. Values left out are not compared with the book."""

    unit: str
    relation: Relation
    schema: dict[str, str]
    budget: Guarantee
    currency: str


def find_place(
    path: str | Path | None, budget: Guarantee | None, dataset: str | None
) -> Path | Url | None:
    """Return the location of the book; None is memory. Refuse a file that cannot hold one."""
    place = location.parse_location(path)
    if isinstance(place, Url):
        return place
    if place is not None and not place.parent.is_dir():
        raise refusals.FOLDER_MISSING(name=place.name)
    if place is not None and place.exists() and not place.is_file():
        raise refusals.PATH_IS_FOLDER(name=place.name)
    if budget is None and (place is None or not place.exists() or not place.stat().st_size):
        raise refusals.NEW_ACCOUNT_WITHOUT_BUDGET(
            account=dataset or "a new ledger", location="path"
        )
    return place


def check_no_part(tx: BookTransaction, dataset: str) -> None:
    """Refuse the account of a part of a table of the same book."""
    for table in book_queries.datasets(tx):
        if dataset.startswith(f"{table}{PART}"):
            raise refusals.BUDGET_OF_PART(dataset=dataset, table=table)


def collect_declared(
    budget: Guarantee | None, unit: str | None, relation: str | None, schema: dict[str, str] | None
) -> Declared:
    """Return what the caller declares, checked. Values left out are not compared."""
    if budget is not None:
        Filter(budget)  # refuses a notion that is no currency
    if schema is not None and not all(
        isinstance(word, str) for pair in schema.items() for word in pair
    ):
        raise refusals.SCHEMA_NOT_TEXT()
    bound = relation_of(relation) or (budget.relation if budget else None)
    name = unit_of(unit) or (budget.unit if budget else None)
    if budget is not None and budget.relation not in (None, bound):
        raise refusals.BUDGET_OF_OTHER_RELATION(relation=bound, of_budget=budget.relation)
    if budget is not None and budget.unit not in (None, name):
        raise refusals.BUDGET_OF_OTHER_UNIT(unit=name, of_budget=budget.unit)
    if name is not None and not is_encodable(name):
        raise refusals.UNIT_NOT_ENCODABLE(unit=name)
    for word in (word for pair in (schema or {}).items() for word in pair):
        if not is_encodable(word):
            raise refusals.SCHEMA_NOT_ENCODABLE(word=word)
    declared: Declared = {}
    if name is not None:
        declared["unit"] = name
    if bound is not None:
        declared["relation"] = bound
    if schema is not None:
        declared["schema"] = schema
    if budget is not None:
        declared["budget"], declared["currency"] = budget, type(budget).__name__
    return declared


def open_dataset(tx: BookTransaction, dataset: str | None, declared: Declared, when: str) -> str:
    """Return the name of the dataset: compare it with the book, or write its opening entry."""
    names = book_queries.datasets(tx)
    name = dataset or (names[0] if len(names) == 1 else "data" if not names else None)
    if name is None:
        raise refusals.DATASET_NOT_NAMED(count=len(names), first=names[0])
    if name in names:
        check_same_header(book_queries.header(tx, name), declared)
    elif (header := _header_of(declared)) is None:
        raise refusals.UNKNOWN_DATASET(dataset=name)
    else:
        body = {"kind": "open", "dataset": name, "header": header, "when": when}
        book_queries.append(tx, body)
    return name


def _header_of(declared: Declared) -> Header | None:
    """Return the header of the opening entry of a new dataset; None if the budget, the unit or the
    relation is missing.
    """
    budget = declared.get("budget")
    unit = declared.get("unit")
    relation = declared.get("relation")
    if budget is None or unit is None or relation is None:
        return None
    header: Header = {
        "unit": unit,
        "relation": relation,
        "currency": type(budget).__name__,
        "budget": guarantee_record(Guarantee._bind(1 * budget, relation, unit)),
        "theorem": Filter(budget).theorem,
    }
    if "schema" in declared:
        header["schema"] = declared["schema"]
    return header


def check_same_header(header: Header, declared: Declared) -> None:
    """Refuse if the declaration differs from the book. A budget without a unit or relation takes
    those of the book.
    """
    stored_budget = restore_guarantee(header["budget"])
    if "unit" in declared and declared["unit"] != header["unit"]:
        raise refusals.OTHER_UNIT(declared=declared["unit"], stored=header["unit"])
    if "relation" in declared and declared["relation"] != header["relation"]:
        raise refusals.OTHER_RELATION(declared=declared["relation"], stored=header["relation"])
    if "schema" in declared and declared["schema"] != header.get("schema"):
        raise refusals.OTHER_SCHEMA(declared=declared["schema"], stored=header.get("schema"))
    if "budget" not in declared:
        return
    budget = Guarantee._bind(1 * declared["budget"], stored_budget.relation, stored_budget.unit)
    if declared["currency"] != header["currency"]:
        raise refusals.OTHER_CURRENCY(
            declared=budget, currency=header["currency"], python=python_text(stored_budget)
        )
    if budget != stored_budget:
        raise refusals.OTHER_BUDGET(
            declared=budget, stored=stored_budget, python=python_text(stored_budget)
        )
