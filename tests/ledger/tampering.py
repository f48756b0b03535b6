"""A book with every kind of entry, and a hundred ways of changing a copy of it behind its back."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import apsw

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.ledger import stored_answers
from sfumato.ledger.entries import genesis, seal_entry

from .books import loosen, open_book, sql, tighten

TABLES = ("book", "entry", "balance", "reservation", "answer", "shown")


def rich_book(folder: Path, monkeypatch: Any) -> tuple[Path, list[Path], str]:
    """A closed book, a copy of it after every step, and its head."""
    path = folder / "rich.ledger"
    copies: list[Path] = []

    def keep() -> None:
        copies.append(Path(shutil.copyfile(path, folder / f"copy{len(copies)}")))

    return path, copies, rich_life(path, keep, monkeypatch)


def rich_life(path: Path | str, keep: Callable[[], None], monkeypatch: Any) -> str:
    """A book with every kind of entry, which may be kept, closed, before every step; its head."""
    ledger, bills = open_book(path, 10), open_book(path, 10, dataset="bills")
    noisy = mech.Laplace(sensitivity=1, epsilon="0.25", relation="add-remove", unit="patient")
    held: dict[str, sf.ledger.Receipt] = {}
    steps: list[Callable[[], object]] = [
        lambda: ledger.allow("alice", sf.Pure(3)),
        lambda: ledger.allow("bob", sf.Pure(1)),
        lambda: held.update(
            first=ledger.charge([noisy, noisy], "two means", key="q1", share="alice")
        ),
        lambda: bills.charge(sf.Pure("0.5"), "another dataset"),
        lambda: ledger.remember(held["first"], "how many?", b"about 12"),
        lambda: ledger.recall("how many?", share="bob"),
        lambda: held.update(
            used=ledger.reserve(noisy, key="r1"),
            free=ledger.reserve(noisy, share="bob"),
            open=ledger.reserve(noisy),
        ),
        lambda: ledger.use(held["used"]),
        lambda: ledger.release(held["free"]),
        lambda: ledger.amend(sf.Pure(12), "a new year"),
        lambda: ledger.amend(sf.Pure(2), "a new task", share="bob"),
        lambda: ledger.charge(noisy, "one more"),
        lambda: ledger.reprice("a better theorem"),
        lambda: ledger.remember(ledger.charge(noisy, "again"), "how many?", b"about 13"),
    ]
    with monkeypatch.context() as patched:
        patched.setattr(stored_answers, "price_stored", lambda *_: (Fraction(1, 8),))
        for step in steps:
            for open_ledger in (ledger, bills):
                open_ledger.close()
            keep()
            step()
        head = str(ledger.head)
        ledger.close()
        bills.close()
    return head


def dump(path: Path) -> object:
    """Everything that a reader of the book can see."""
    return {
        table: sorted(map(repr, sql(path, f"SELECT * FROM {table}")))
        for table in (*TABLES, "sqlite_schema")
    }


def other_value(value: Any, chance: random.Random) -> Any:
    match value:
        case None:
            return "x"
        case int():
            return value + chance.choice([-1, 1, 7])
        case bytes():
            return bytes([value[0] ^ 1]) + value[1:]
    at = chance.randrange(len(value)) if value else 0
    return chance.choice(
        [
            value[:at] + chr(ord(value[at]) ^ 1) + value[at + 1 :] if value else "x",
            value + " ",
            value[:at],
            "",
        ]
    )


def edit(path: Path, chance: random.Random, head: str) -> None:
    """One column of one row."""
    table, row, columns = some_row(path, chance)
    column = chance.randrange(len(columns))
    change(
        path,
        f"UPDATE {table} SET {columns[column]} = ? WHERE {_same(columns)}",
        (other_value(row[column], chance), *row),
    )


def delete(path: Path, chance: random.Random, head: str) -> None:
    table, row, columns = some_row(path, chance)
    change(path, f"DELETE FROM {table} WHERE {_same(columns)}", row)


def insert(path: Path, chance: random.Random, head: str) -> None:
    """A row like another one."""
    table, row, columns = some_row(path, chance)
    column = chance.randrange(len(columns))
    new = tuple(other_value(value, chance) if n == column else value for n, value in enumerate(row))
    change(path, f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", new)


def swap(path: Path, chance: random.Random, head: str) -> None:
    """Two neighbouring entries change places."""
    number = chance.randrange(1, int(head.split(":")[1]))
    for before, after in ((number, -1), (number + 1, number), (-1, number + 1)):
        change(path, "UPDATE entry SET number = ? WHERE number = ?", (after, before))


def structure(path: Path, chance: random.Random, head: str) -> None:
    statement = [
        "DROP TRIGGER entry_stays",
        "DROP INDEX entry_key",
        "DROP INDEX entry_open",
        "ALTER TABLE balance ADD COLUMN note",
        "CREATE TABLE more (a)",
    ]
    sql(path, chance.choice(statement))


def flip(path: Path, chance: random.Random, head: str) -> None:
    """Some bits of the file."""
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 1, 8])):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def wipe(path: Path, chance: random.Random, head: str) -> None:
    """A page of zeros."""
    content = bytearray(path.read_bytes())
    at = 4096 * chance.randrange(len(content) // 4096)
    content[at : at + 4096] = bytes(4096)
    path.write_bytes(content)


def truncate(path: Path, chance: random.Random, head: str) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: chance.randrange(len(content))])


SEEN: tuple[Callable[[Path, random.Random, str], None], ...] = (
    edit,
    edit,
    edit,
    delete,
    insert,
    swap,
    structure,
    flip,
    wipe,
    truncate,
)
"""Ways that the book itself shows, head or not; those that edit rows come three times."""


def rewrite(path: Path, chance: random.Random) -> None:
    """Change what an entry says and compute the chain anew: only a head kept elsewhere shows it."""
    ((book,),) = sql(path, "SELECT id FROM book")
    rows = sql(path, "SELECT number, body, dataset, spent, state FROM entry ORDER BY number")
    changed = chance.randrange(len(rows))
    previous = genesis(book)
    loosen(path)
    for at, (number, body, *carried) in enumerate(rows):
        text = body.replace('"when":"20', '"when":"19') if at == changed else body
        previous = seal_entry(previous, text, *carried)
        sql(
            path, "UPDATE entry SET body = ?, digest = ? WHERE number = ?", (text, previous, number)
        )
    tighten(path)


def some_row(path: Path, chance: random.Random) -> tuple[str, tuple[Any, ...], list[str]]:
    table = chance.choice(TABLES)
    columns = [row[1] for row in sql(path, f"PRAGMA table_info({table})")]
    return table, chance.choice(sorted(sql(path, f"SELECT * FROM {table}"), key=repr)), columns


def change(path: Path, statement: str, bindings: tuple[Any, ...]) -> None:
    """What the table's own constraints stop is not a change."""
    loosen(path)
    try:
        sql(path, statement, bindings)
    except (apsw.ConstraintError, apsw.MismatchError):
        pass
    finally:
        tighten(path)


def _same(columns: list[str]) -> str:
    return " AND ".join(f"{column} IS ?" for column in columns)
