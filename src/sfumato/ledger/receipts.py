"""Values that the ledger returns: receipts, the head of the chain, lines of the history, stored
answers, verification results.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, Self

from ..guarantees import Guarantee
from ..templates.summary import MOST_ROWS, Summarized, Summary
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


@dataclass(frozen=True, slots=True, repr=False)
class Receipt(Summarized):
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

    def _summary(self) -> Summary:
        kind = "reservation" if self.reserved else "receipt"
        share = f" · share {self.share}" if self.share else ""
        return Summary(
            title=f"{kind} {self.number} of {self.dataset} · {self.cost.numbers_text}{share} · "
            f"{self.when}",
            notes=[self.memo.replace("\n", " · "), f"digest {self.digest}"],
        )


@dataclass(frozen=True, slots=True, repr=False)
class Charge(Summarized):
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

    def _summary(self) -> Summary:
        return Summary(title=" · ".join(cell for cell in self.cells if cell))

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of the entry in a table of the history: see `History`."""
        return (
            str(self.number),
            self.when[:19].replace("T", " "),
            self.kind,
            "" if self.cost is None else self.cost.numbers_text,
            self.share or "",
            self.memo.replace("\n", " · "),
        )


class History(tuple[Charge, ...], Summarized):
    """The entries about a dataset, oldest first."""

    __slots__ = ()
    __repr__ = Summarized.__repr__

    def _summary(self) -> Summary:
        last = self[-MOST_ROWS:]
        count = "1 entry" if len(self) == 1 else f"{len(self)} entries"
        return Summary(
            title=f"history: {count}"
            + (f", the last {len(last)}" if len(last) < len(self) else ""),
            heads=("entry", "when (UTC)", "kind", "cost", "share", "memo"),
            rows=[charge.cells for charge in last],
            numbers=frozenset([0]),
        )


@dataclass(frozen=True, slots=True, repr=False)
class Balance(Summarized):
    """A budget and its spent total."""

    budget: Guarantee
    spent: Guarantee

    @property
    def remaining(self) -> Guarantee:
        left = self.budget.from_vector(
            max(Fraction(0), b - s)
            for b, s in zip(self.budget.vector, self.spent.vector, strict=True)
        )
        return Guarantee._bind(left, self.budget.relation, self.budget.unit)

    @property
    def part(self) -> Fraction:
        """The spent fraction of the budget, in the number that is nearest its limit."""
        return max(
            (s / b for s, b in zip(self.spent.vector, self.budget.vector, strict=True) if b),
            default=Fraction(0),
        )

    def _summary(self) -> Summary:
        return Summary(
            title=f"budget {self.budget.numbers_text} · spent {self.spent.numbers_text} · left "
            f"{self.remaining.numbers_text}"
        )


@dataclass(frozen=True, slots=True)
class Recalled:
    """A stored answer with its date: the same bytes again, at no cost to the dataset."""

    answer: bytes = field(repr=False)
    when: str
    number: int


@dataclass(frozen=True, slots=True, repr=False)
class Verification(Summarized):
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

    def _summary(self) -> Summary:
        first, *others = str(self).split("\n")
        return Summary(title=first, notes=others)
