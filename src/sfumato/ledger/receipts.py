"""Values that the ledger returns: receipts, the head of the chain, lines of the history, stored
answers, verification results.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from ..guarantees import Guarantee
from . import ledger_refusals as refusals

_HEAD = re.compile(r"([0-9a-f]{1,64}):([0-9]{1,18}):([0-9a-f]{64})")


class Head(NamedTuple):
    """The last entry of a book. A copy kept elsewhere reveals any edit, truncation or old copy."""

    book: str
    number: int
    digest: str

    def __str__(self) -> str:
        return f"{self.book}:{self.number}:{self.digest}"

    @classmethod
    def read(cls, line: str) -> Self:
        """Parse a printed head."""
        parts = _HEAD.fullmatch(line.strip())
        if parts is None:
            raise refusals.NOT_A_HEAD(line=line)
        return cls(parts[1], int(parts[2]), parts[3])


@dataclass(frozen=True, slots=True)
class Receipt:
    """The proof of a charge: the entry's number and digest.

    One that is `repeated` was given before, for the same key: if it was answered then, drawing a
    second answer would be a second release.
    """

    dataset: str
    number: int
    digest: str
    cost: Guarantee
    when: str
    memo: str
    share: str | None
    reserved: bool
    repeated: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Charge:
    """One line of the history."""

    number: int
    when: str
    kind: str
    dataset: str
    share: str | None
    memo: str
    cost: Guarantee | None
    mechanisms: tuple[dict[str, object], ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """A stored answer with its date: the same bytes again, at no cost to the dataset."""

    answer: bytes = field(repr=False)
    when: str
    number: int


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a check: the problems, and what the check cannot detect (`blind`)."""

    problems: tuple[str, ...]
    blind: tuple[str, ...]
    head: Head

    @property
    def ok(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        lines = [f"problem: {p}" for p in self.problems] or [
            f"whole: {self.head.number} entries, chain and totals agree"
        ]
        return "\n".join([*lines, *(f"cannot see: {b}" for b in self.blind)])
