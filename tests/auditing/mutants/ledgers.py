"""Ledgers: what they let through when two come at once, when the machine stops, when a disk is
full, when an old copy is put back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator
from fractions import Fraction
from typing import Any

from .books import BUDGET, Book, Desk, Request
from .case import Case, case

Steps = Generator[None, None, Any]

REQUESTS = (
    Request("a", "how many"),
    Request("b", "how much"),
    Request("c", "how old"),
    Request("d", "how tall", Fraction(1, 4)),
    Request("e", "how many", bounds=20),
)
TINY = (
    Request("a", "how many", Fraction(1)),
    *(Request(f"t{i}", f"question {i}", Fraction(1, 10**17)) for i in range(4)),
)
VIEWS = (
    Request("a", "how many"),
    Request("b", "how much"),
    Request("c", "how old", view="copy"),
    Request("d", "how tall", view="third"),
)


def _head(entries: list[Any]) -> str:
    return hashlib.sha256(json.dumps(entries).encode()).hexdigest()


def entries(desk: Desk, name: str = "book") -> list[tuple[str, str]]:
    return list(desk.read(name, []))


def spent(desk: Desk) -> Fraction:
    return sum((Fraction(price) for _, price in entries(desk)), Fraction(0))


def careful(desk: Desk, request: Request) -> Steps:
    """Lock, compare the head that is stored elsewhere, book, sync, keep the head, draw, store the
    answer under key and question.
    """
    while desk.locked:
        yield
    desk.locked = True
    yield
    stored = desk.read(f"answer {request.key}")
    if stored is not None and tuple(stored[0]) == request.terms:
        desk.locked = False
        return stored
    book = entries(desk)
    stored_head = desk.elsewhere.get("head")
    if (stored_head is not None and stored_head != _head(book)) or spent(desk) + Fraction(
        request.price
    ) > BUDGET:
        desk.locked = False
        return None
    yield
    desk.elsewhere["head"] = _head(
        [*book, [request.key, str(request.price)]]
    )  # before the book: a stop in between closes it, which loses budget and no privacy
    desk.write("book", [*book, [request.key, str(request.price)]])
    yield
    desk.sync()
    yield
    answer = desk.draw(request)
    desk.write(f"answer {request.key}", answer)
    desk.locked = False
    return answer


def check_then_insert(desk: Desk, request: Request) -> Steps:
    if spent(desk) + Fraction(request.price) > BUDGET:
        return None
    yield
    desk.write("book", [*entries(desk), [request.key, str(request.price)]])
    desk.sync()
    yield
    return desk.draw(request)


def snapshot(desk: Desk, request: Request) -> Steps:
    """Each transaction sees the book as it was when it began; both commit."""
    book = entries(desk)
    yield
    if sum((Fraction(price) for _, price in book), Fraction(0)) + Fraction(request.price) > BUDGET:
        return None
    yield
    now = entries(desk)
    desk.write("book", [*now, [request.key, str(request.price)]])
    desk.sync()
    return desk.draw(request)


def answer_first(desk: Desk, request: Request) -> Steps:
    while desk.locked:
        yield
    desk.locked = True
    if spent(desk) + Fraction(request.price) > BUDGET:
        desk.locked = False
        return None
    answer = desk.draw(request)
    yield
    desk.write("book", [*entries(desk), [request.key, str(request.price)]])
    desk.sync()
    desk.locked = False
    return answer


def never_synced(desk: Desk, request: Request) -> Steps:
    while desk.locked:
        yield
    desk.locked = True
    if spent(desk) + Fraction(request.price) > BUDGET:
        desk.locked = False
        return None
    desk.write("book", [*entries(desk), [request.key, str(request.price)]])
    yield
    answer = desk.draw(request)
    yield
    desk.sync()
    desk.locked = False
    return answer


def no_head(desk: Desk, request: Request) -> Steps:
    """Work as `careful` does, but store no head elsewhere."""
    while desk.locked:
        yield
    desk.locked = True
    if spent(desk) + Fraction(request.price) > BUDGET:
        desk.locked = False
        return None
    desk.write("book", [*entries(desk), [request.key, str(request.price)]])
    desk.sync()
    yield
    answer = desk.draw(request)
    desk.locked = False
    return answer


def booked_once(desk: Desk, request: Request) -> Steps:
    """A request that was booked before is answered again, with fresh noise."""
    while desk.locked:
        yield
    desk.locked = True
    book = entries(desk)
    if request.key not in {key for key, _ in book}:
        if spent(desk) + Fraction(request.price) > BUDGET:
            desk.locked = False
            return None
        desk.write("book", [*book, [request.key, str(request.price)]])
        desk.sync()
    yield
    answer = desk.draw(request)
    desk.locked = False
    return answer


def cached_by_text(desk: Desk, request: Request) -> Steps:
    """Store an answer under the text of its question alone."""
    while desk.locked:
        yield
    desk.locked = True
    stored = desk.read(f"answer {request.question}")
    if stored is not None:
        desk.locked = False
        return tuple(stored[0]), stored[1]
    if spent(desk) + Fraction(request.price) > BUDGET:
        desk.locked = False
        return None
    desk.write("book", [*entries(desk), [request.key, str(request.price)]])
    desk.sync()
    yield
    answer = desk.draw(request)
    desk.write(f"answer {request.question}", answer)
    desk.locked = False
    return answer


def in_doubles(desk: Desk, request: Request) -> Steps:
    while desk.locked:
        yield
    desk.locked = True
    total = float(desk.read("spent", 0.0)) + float(request.price)
    if total > 1.0:
        desk.locked = False
        return None
    desk.write("spent", total)
    desk.sync()
    yield
    answer = desk.draw(request)
    desk.locked = False
    return answer


def swallowed(desk: Desk, request: Request) -> Steps:
    """A write that fails is logged."""
    while desk.locked:
        yield
    desk.locked = True
    if spent(desk) + Fraction(request.price) > BUDGET:
        desk.locked = False
        return None
    try:
        desk.write("book", [*entries(desk), [request.key, str(request.price)]])
        desk.sync()
    except OSError:
        pass  # somebody will see it in the log
    yield
    answer = desk.draw(request)
    desk.locked = False
    return answer


def by_view(desk: Desk, request: Request) -> Steps:
    """A budget for each name under which the data are asked."""
    while desk.locked:
        yield
    desk.locked = True
    book = [*entries(desk, request.view)]
    if sum((Fraction(price) for _, price in book), Fraction(0)) + Fraction(request.price) > BUDGET:
        desk.locked = False
        return None
    desk.write(request.view, [*book, [request.key, str(request.price)]])
    desk.sync()
    yield
    answer = desk.draw(request)
    desk.locked = False
    return answer


def spent_in_views(desk: Desk) -> Fraction:
    return sum(
        (
            Fraction(price)
            for view in ("table", "copy", "third")
            for _, price in entries(desk, view)
        ),
        Fraction(0),
    )


def _case(
    wrong: str,
    right: str,
    known_from: str,
    clerk: Any,
    requests: tuple[Request, ...] = REQUESTS,
    read: Any = spent,
) -> Case:
    broken, correct = (
        Book(clerk=clerk, spent=read, requests=requests),
        Book(clerk=careful, spent=spent, requests=requests),
    )
    return case(wrong, right, known_from, broken, correct)


CASES: dict[str, Case] = {
    "check-then-insert": _case(
        "looks, then books: two may look before either books",
        "looks and books under a lock",
        "F1",
        check_then_insert,
    ),
    "snapshot": _case(
        "books in transactions that do not see each other", "one at a time", "F9", snapshot
    ),
    "answer-first": _case(
        "answers, then books: a stop in between", "books, then answers", "F2", answer_first
    ),
    "not-synced": _case(
        "answers before the book is on disk", "syncs before it answers", "F3", never_synced
    ),
    "old-copy": _case(
        "believes whatever book lies there",
        "compares its head with one kept elsewhere",
        "F4",
        no_head,
    ),
    "sent-again": _case(
        "fresh noise for a request that is sent again",
        "the stored answer",
        "F5, D10, Snowflake",
        booked_once,
    ),
    "cached-by-text": _case(
        "gives a stored answer to a question with other bounds",
        "to the same question",
        "F6",
        cached_by_text,
    ),
    "budget-in-doubles": _case(
        "adds up in doubles: 1 + 10⁻¹⁷ is 1",
        "in rationals",
        "F7",
        in_doubles,
        TINY,
        lambda desk: Fraction(desk.read("spent", 0.0)),
    ),
    "write-failed": _case(
        "answers although the book could not be written", "does not", "F10", swallowed
    ),
    "budget-by-view": _case(
        "a budget for every name of the data",
        "one for the data",
        "BigQuery",
        by_view,
        VIEWS,
        spent_in_views,
    ),
}
