"""Export a dataset's account: CSV for spreadsheets, JSON for other programs.

Users type memos. A spreadsheet runs a cell that begins with = + - @ as a formula, so the CSV puts
an apostrophe before such a cell. JSON keeps texts as they are, and every number exact.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable

from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import record as guarantee_record
from .account_view import AccountView
from .receipts import Balance, Charge
from .statement import Statement, statement

VERSION = 1
COLUMNS = ("number", "when", "dataset", "share", "kind", "memo", "cost", "mechanisms", "digest")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def to_csv(ledger: AccountView) -> str:
    """Return CSV with one line per entry, oldest first, below the column names."""
    return csv_of(ledger.history())


def csv_of(history: Iterable[Charge], plain: Callable[[str], str] = str) -> str:
    """Return the entries as CSV. `plain` is applied to memos, for callers that show the text on a
    screen.
    """
    out = io.StringIO()
    writer = csv.writer(out)  # line ends and quotes as in RFC 4180
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


def to_json(ledger: AccountView) -> str:
    """Return JSON with budget, spent and remaining, for the dataset and every share, and all
    entries.
    """
    return json.dumps(record(statement(ledger, history=True)), ensure_ascii=False, indent=2)


def record(account: Statement) -> dict[str, object]:
    """Return the statement as plain values, for JSON."""
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
        **_numbers(account.total),
        "shares": shares,
        "head": str(account.head),
        "history": history,
    }


def safe(value: object) -> str:
    """Return the text of a cell that no spreadsheet runs as a formula."""
    text = "" if value is None else bare(value) if isinstance(value, Guarantee) else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def bare(guarantee: Guarantee) -> str:
    """Return the text of a guarantee without relation and unit, which the dataset has."""
    return str(Guarantee._bind(1 * guarantee, None, None))


def kinds(entry: Charge) -> str:
    """Return the kinds of the mechanisms; for a charged guarantee, its notion."""
    return " + ".join(str(m.get("kind") or m.get("notion")) for m in entry.mechanisms)


def _numbers(balance: Balance) -> dict[str, object]:
    return {
        name: guarantee_record(getattr(balance, name)) for name in ("budget", "spent", "remaining")
    }


def _entry(entry: Charge) -> dict[str, object]:
    cost = None if entry.cost is None else guarantee_record(entry.cost)
    fields = {name: getattr(entry, name) for name in ("number", "when", "kind", "share", "memo")}
    return {**fields, "cost": cost, "mechanisms": list(entry.mechanisms), "digest": entry.digest}
