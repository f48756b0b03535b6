"""A dataset's account as text for other programs: CSV for a spreadsheet, JSON for everything else.

A memo is whatever somebody typed. A spreadsheet takes a cell that begins with = + - @ for a
formula, and would run it, so such a cell gets an apostrophe in front. JSON keeps the text as it is,
and every number exact.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from typing import Any

from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import record as guarantee_record
from .account_view import Readings
from .receipts import Charge
from .statement import Balance, Statement, statement

VERSION = 1
COLUMNS = ("number", "when", "dataset", "share", "kind", "memo", "cost", "mechanisms", "digest")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def to_csv(ledger: Readings) -> str:
    """One line for each entry, oldest first, below a line of names."""
    return csv_of(ledger.history())


def csv_of(history: Iterable[Charge], plain: Callable[[str], str] = str) -> str:
    """The same for entries that were read already; `plain` is done to what somebody typed, for
    whoever shows the text on a screen.
    """
    out = io.StringIO()
    writer = csv.writer(
        out
    )  # lines end as RFC 4180 has it, and a cell with a line break in it is quoted
    writer.writerow(COLUMNS)
    for e in history:
        writer.writerow(
            map(
                safe,
                (
                    e.number,
                    e.when,
                    e.dataset,
                    e.share,
                    e.kind,
                    plain(e.memo),
                    e.cost,
                    kinds(e),
                    e.digest,
                ),
            )
        )
    return out.getvalue()


def to_json(ledger: Readings) -> str:
    """What is promised, what was spent, what is left, for the whole and for every share, and every
    entry.
    """
    return json.dumps(record(statement(ledger, history=True)), ensure_ascii=False, indent=2)


def record(account: Statement) -> dict[str, Any]:
    """The same as plain values."""
    about = {
        name: getattr(account, name)
        for name in ("dataset", "unit", "relation", "theorem", "schema")
    }
    shares = {name: _numbers(balance) for name, balance in account.shares.items()}
    history = [_entry(entry) for entry in account.history]
    return {
        "sfumato": "ledger",
        "version": VERSION,
        **about,
        **_numbers(account.whole),
        "shares": shares,
        "head": str(account.head),
        "history": history,
    }


def safe(value: object) -> str:
    """A cell that no spreadsheet takes for a formula."""
    text = "" if value is None else bare(value) if isinstance(value, Guarantee) else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def bare(guarantee: Guarantee) -> str:
    """Without the relation and the unit, which are the dataset's."""
    return str(Guarantee._bind(1 * guarantee, None, None))


def kinds(entry: Charge) -> str:
    """The mechanisms by name; a cost that was charged as a guarantee by its notion."""
    return " + ".join(str(m.get("kind") or m.get("notion")) for m in entry.mechanisms)


def _numbers(balance: Balance) -> dict[str, Any]:
    return {
        name: guarantee_record(getattr(balance, name)) for name in ("budget", "spent", "remaining")
    }


def _entry(entry: Charge) -> dict[str, Any]:
    cost = None if entry.cost is None else guarantee_record(entry.cost)
    said = {name: getattr(entry, name) for name in ("number", "when", "kind", "share", "memo")}
    return {**said, "cost": cost, "mechanisms": list(entry.mechanisms), "digest": entry.digest}
