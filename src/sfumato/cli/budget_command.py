"""`sfumato budget`: print a ledger. The command only reads it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import printable
from ..exact.numbers import Side, rounded
from ..guarantees.guarantee import Numbers
from ..ledger import Ledger, Statement, Verification, export, reading, statement
from ..ledger.storage.location import public_name
from . import cli_refusals as refusals

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MOST_USES = 12
MOST_PROBLEMS = 20
BAR = 16
HEADINGS = ("entry", "when, UTC", "kind", "share", "cost", "by", "memo")
NUMBERS = ("entry", "cost")
DIGITS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRequest:
    """Which dataset to print, with which parts, in which format."""

    dataset: str | None = None
    history: bool = False
    form: str = "text"
    verify: bool = False
    head: str | None = None


def print_budget(path: str | Path, request: BudgetRequest) -> None:
    """Print the ledger. A ledger that does not verify is refused before anything is printed."""
    from rich.console import Console

    with reading(path) as book:
        checked = book.verify(request.head) if request.verify else None
        if checked is not None and not checked.ok:
            raise refusals.LEDGER_ALTERED(name=public_name(path), problems=_problems(checked))
        chosen = _chosen(book, request.dataset)
        if request.form != "text" and len(chosen) != 1:
            first = next((ledger.dataset for ledger in chosen), "visits")
            raise refusals.SEVERAL_DATASETS(count=len(chosen), first=first)
        accounts = [
            statement(ledger, history=request.history or request.form != "text")
            for ledger in chosen
        ]
    if request.form == "csv":
        sys.stdout.write(export.csv_of(accounts[0].history, _escaped))
    elif request.form == "json":
        sys.stdout.write(_json(accounts[0], checked) + "\n")
    else:
        console = Console(highlight=False)
        for account in accounts:
            narrate(account, console, history=request.history)
        _end(accounts, checked, console)


def narrate(account: Statement, console: Console, *, history: bool) -> None:
    """Print the account of one dataset."""
    about = f"{printable(account.unit)} · {account.relation}"
    console.print(
        f"\n[bold]{_quoted(account.dataset)}[/]  [dim]what is protected: {_quoted(about)}[/]\n"
    )
    console.print(_balances(account))
    console.print(
        f"[dim]The budget is the promise, whatever anybody asks: "
        f"{_quoted(account.theorem)}. The spent part is bookkeeping.[/]"
    )
    if account.shares:
        console.print(
            "[dim]A share is a promise about an analyst who talks to nobody. If analysts "
            "compare answers, only the whole budget is a promise.[/]"
        )
    if history:
        console.print("\n[bold]Every entry[/]\n")
        console.file.writelines(f"{line}\n" for line in _entries(account))
        return
    table = _uses(account)
    if table.row_count:
        console.print("\n[bold]Spent on[/]")
        console.print(table)


def _end(accounts: Sequence[Statement], checked: Verification | None, console: Console) -> None:
    if not accounts:
        console.print("\nThe ledger is empty: it has no dataset.")
        return
    console.print(
        "\n[bold]Head[/]  [dim]store this line elsewhere: with it, --verify --head LINE "
        "detects a changed, truncated or older ledger[/]"
    )
    console.print(_quoted(str(accounts[0].head)), soft_wrap=True)
    if checked is not None:
        console.print("\n[bold]Verified[/]")
        for line in str(checked).splitlines():
            console.print(_quoted(line))


def _problems(checked: Verification) -> str:
    more = len(checked.problems) - MOST_PROBLEMS
    return "\n      ".join(
        [*checked.problems[:MOST_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
    )


def _json(account: Statement, checked: Verification | None) -> str:
    verification = (
        None
        if checked is None
        else {
            "ok": checked.ok,
            "problems": list(checked.problems),
            "cannot_see": list(checked.blind),
        }
    )
    text = json.dumps(
        {**export.record(account), "verification": verification}, ensure_ascii=False, indent=2
    )
    # the same JSON: marks and codes can only stand in strings
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def _chosen(book: dict[str, Ledger], dataset: str | None) -> list[Ledger]:
    if dataset is None:
        return list(book.values())
    if dataset not in book:
        names = ", ".join(list(book)[:5]) or "none"
        raise refusals.UNKNOWN_DATASET(
            dataset=dataset, datasets=names, first=next(iter(book), "visits")
        )
    return [book[dataset]]


def _balances(account: Statement) -> Table:
    shown = _shown(account)
    unit = " · ".join(account.total.budget.vector_names[i] for i in shown)
    table = _table(
        (unit, "text"),
        ("budget", "right"),
        ("spent", "right"),
        ("left", "right"),
        ("", "right"),
        ("", "left"),
    )
    for name, balance in [
        ("[bold]the whole[/]", account.total),
        *((_quoted(name), balance) for name, balance in account.shares.items()),
    ]:
        budget, spent, left = (g.vector for g in (balance.budget, balance.spent, balance.remaining))
        numbers = (_numbers(budget, shown), _numbers(spent, shown), _numbers(left, shown, "down"))
        table.add_row(name, *numbers, _per_cent(balance.part), _bar(balance.part))
    return table


def _uses(account: Statement) -> Table:
    uses, shown = account.uses, _shown(account)
    table = _table(
        ("", "text"), ("times", "right"), ("cost, as charged", "right"), ("last, UTC", "left")
    )
    for use in uses[:MOST_USES]:
        table.add_row(
            _quoted(use.memo) or "[dim]no memo[/]",
            str(use.times),
            _numbers(use.cost, shown),
            _quoted(_moment(use.last)),
        )
    if len(uses) > MOST_USES:
        table.add_row(f"[dim]and {len(uses) - MOST_USES} more: --history shows all[/]")
    return table


def _entries(account: Statement) -> Iterator[str]:
    """Yield a heading and a line for each entry. A table of `rich` would take half a millisecond
    for every row, and there may be a million.
    """
    rows = [HEADINGS, *_rows(account)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(width) if heading in NUMBERS else cell.ljust(width)
            for cell, width, heading in zip(row, widths, HEADINGS, strict=True)
        )
        yield "  ".join(cells).rstrip()


def _rows(account: Statement) -> Iterator[tuple[str, ...]]:
    shown = _shown(account)
    costs: dict[Numbers, str] = {}  # many entries cost the same
    for entry in account.history:
        cost = () if entry.cost is None else entry.cost.vector
        if cost not in costs:
            costs[cost] = _numbers(cost, shown) if cost else ""
        by = (entry.kind, entry.share or "", costs[cost], export.kinds(entry), entry.memo)
        yield str(entry.number), _moment(entry.when), *map(_plain, by)


def _shown(account: Statement) -> list[int]:
    return account.total.budget.worth_showing(account.total.spent.vector)


def _numbers(numbers: Numbers, shown: Sequence[int], side: Side = "up") -> str:
    """Format numbers, rounded to the honest side: the remaining budget down, everything else up."""
    return " · ".join(f"{float(rounded(numbers[i], side, DIGITS)):g}" for i in shown)


def _table(*columns: tuple[str, str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading, side in columns:
        table.add_column(
            heading,
            justify="right" if side == "right" else "left",
            overflow="fold",
            no_wrap=side != "text",
        )
    return table


def _quoted(text: str) -> str:
    """Escape text that somebody typed, for `rich`: no markup, nothing that moves the cursor."""
    from rich.markup import escape

    return escape(_plain(text))


def _plain(text: str) -> str:
    """Escape text that somebody typed, for plain output: nothing that moves the cursor."""
    return text if text.isprintable() else printable(text).replace("\n", " ")


def _escaped(text: str) -> str:
    """Escape text for programs and screens: nothing that moves the cursor, recolours the screen or
    reverses the line.
    """
    return printable(text).replace("\n", "\\n")


def _moment(when: str) -> str:
    return _plain(when[:16].replace("T", " "))


def _per_cent(part: Fraction) -> str:
    """Format a fraction as per cent: 0 % and 100 % only if exact."""
    if part in (0, 1):
        return f"{int(100 * part)} %"
    shown = float(100 * part)
    return "< 0.1 %" if shown < 0.1 else "> 99.9 %" if shown > 99.9 else f"{shown:.1f} %"


def _bar(part: Fraction) -> str:
    filled = min(BAR, round(BAR * part))
    return f"[blue]{'█' * filled}[/][dim]{'░' * (BAR - filled)}[/]"
