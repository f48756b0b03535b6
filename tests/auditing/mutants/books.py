"""Subjects that record and replay decides: ledgers. A false alarm has probability 0.

A clerk answers requests: it is a generator that stops wherever another process may come in between,
or the machine may stop. What it writes is durable once it has been synced. Every history is played:
requests one after another, each of them twice, two of them in every order of their steps, with a
stop of the machine after each step, with a disk that is full from some moment on, with an old copy
put back. In each of them

*Paid*      what was released (every fresh draw at its exact price) is no more than what the book
            holds as spent, and no more than the budget;
*Asked*     an answer answers what was asked.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

from .case import How

BUDGET = Fraction(1)


@dataclass(frozen=True)
class Request:
    """A question, at a price; `key` is the same if it is sent again."""

    key: str
    question: str
    price: Any = Fraction(1, 2)
    view: str = "table"
    bounds: int = 10

    @property
    def terms(self) -> tuple[str, int]:
        return self.question, self.bounds


@dataclass
class Desk:
    """What a clerk can touch: files that are durable once synced, a second place, and the noise."""

    disk: dict[str, Any] = field(default_factory=dict)
    written: dict[str, Any] = field(default_factory=dict)
    elsewhere: dict[str, Any] = field(default_factory=dict)
    released: Fraction = Fraction(0)
    draws: int = 0
    fails: bool = False  # a full disk: what is written is not there
    locked: bool = False
    broken: list[str] = field(default_factory=list)

    def read(self, name: str, default: Any = None) -> Any:
        return copy.deepcopy({**self.disk, **self.written}.get(name, default))

    def write(self, name: str, value: Any) -> None:
        if self.fails:
            raise OSError("no space left")
        self.written[name] = copy.deepcopy(value)

    def sync(self) -> None:
        self.disk.update(self.written)
        self.written.clear()

    def draw(self, request: Request) -> tuple[Any, int]:
        """A fresh noisy answer."""
        self.released += Fraction(request.price)
        self.draws += 1
        return request.terms, self.draws

    def stop(self) -> None:
        """The machine stops: what was not synced is gone, and so is every lock."""
        self.written.clear()
        self.locked = False


Clerk = Callable[[Desk, Request], Generator[None, None, Any]]
Spent = Callable[[Desk], Fraction]


@dataclass(frozen=True, kw_only=True)
class Book:
    """A clerk, and how its book is read."""

    clerk: Clerk
    spent: Spent
    requests: tuple[Request, ...]
    how: ClassVar[How] = "replay"

    def alarm(self) -> str:
        for history in (
            self._one_by_one,
            self._again,
            self._interleaved,
            self._stopped,
            self._failing,
            self._put_back,
        ):
            for desk in history():
                if desk.broken:
                    return desk.broken[0]
                spent = self.spent(desk)
                if desk.released > spent:
                    return (
                        f"{history.__name__.strip('_').replace('_', ' ')}: released for "
                        f"{_short(desk.released)}, booked {_short(spent)}"
                    )
                if desk.released > BUDGET:
                    return (
                        f"{history.__name__.strip('_').replace('_', ' ')}: released for "
                        f"{_short(desk.released)} of a budget of {BUDGET}"
                    )
        return ""

    def _serve(self, desk: Desk, request: Request) -> None:
        """To the end, or to an error."""
        steps = self.clerk(desk, request)
        while self._step(desk, request, steps):
            pass

    def _step(self, desk: Desk, request: Request, steps: Generator[None, None, Any]) -> bool:
        """One step; whether there are more."""
        try:
            next(steps)
        except StopIteration as end:
            if end.value is not None and end.value[0] != request.terms:
                desk.broken.append("an answer to another question")
            return False
        except OSError:
            desk.locked = False
            return False
        return True

    def _one_by_one(self) -> Iterator[Desk]:
        desk = Desk()
        for request in self.requests:
            self._serve(desk, request)
        yield desk

    def _again(self) -> Iterator[Desk]:
        """Every request twice."""
        desk = Desk()
        for request in self.requests:
            self._serve(desk, request)
            self._serve(desk, request)
        yield desk

    def _interleaved(self) -> Iterator[Desk]:
        """Any two of the first three, in every order of five steps of each, after one that was
        served alone.
        """
        for left, right in combinations(self.requests[:3], 2):
            for first in combinations(range(10), 5):
                desk = Desk()
                self._serve(desk, self.requests[-1])
                running = [(r, self.clerk(desk, r)) for r in (left, right)]
                for at in range(10):
                    request, steps = running[0 if at in first else 1]
                    self._step(desk, request, steps)
                for request, steps in running:
                    for _ in range(20):
                        if not self._step(desk, request, steps):
                            break
                yield desk

    def _stopped(self) -> Iterator[Desk]:
        """The machine stops after so many steps of some request; then all go on."""
        for at in range(len(self.requests)):
            for steps in range(8):
                desk = Desk()
                for request in self.requests[:at]:
                    self._serve(desk, request)
                running = self.clerk(desk, self.requests[at])
                for _ in range(steps):
                    if not self._step(desk, self.requests[at], running):
                        break
                running.close()
                desk.stop()
                for request in self.requests[at:]:
                    self._serve(desk, request)
                yield desk

    def _failing(self) -> Iterator[Desk]:
        for at in range(len(self.requests)):
            desk = Desk()
            for i, request in enumerate(self.requests):
                desk.fails = i >= at
                self._serve(desk, request)
            desk.fails = False
            yield desk

    def _put_back(self) -> Iterator[Desk]:
        """An old copy of the disk is put back, and all is asked again; what the book says in the
        end is compared with all that was ever released.
        """
        for at in range(len(self.requests)):
            desk = Desk()
            old: dict[str, Any] = {}
            for i, request in enumerate(self.requests):
                if i == at:
                    old = copy.deepcopy(desk.disk)
                self._serve(desk, request)
            spent = self.spent(desk)
            before, desk.disk, desk.written = desk.released, old, {}
            for i, request in enumerate(self.requests):
                self._serve(
                    desk,
                    Request(
                        f"later {i}",
                        f"later {request.question}",
                        request.price,
                        request.view,
                        request.bounds,
                    ),
                )
            if desk.released > max(spent, before):
                desk.broken.append(f"an old copy put back: released for {_short(desk.released)}")
            if not desk.broken:
                desk.released = Fraction(
                    0
                    # what was spent before is not in the old book, and need not be, as nothing more
                    # is
                    # answered
                )
            yield desk


def _short(value: Fraction) -> str:
    return f"{float(value):.4g}"
