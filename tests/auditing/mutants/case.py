"""A mutant and its correct counterpart, both put before the same tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

How = Literal["arithmetic", "replay", "audit"]


class Subject(Protocol):
    """Something that makes a promise, as one of the tools takes it."""

    @property
    def how(self) -> How: ...

    def alarm(self) -> str:
        """What the tool has found against the promise; empty where it found nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One way to break a promise."""

    wrong: str  # what the mutant does, in a line of the table
    right: str  # what its counterpart does
    known_from: tuple[str, ...]  # recipes (A1 …), errata (E-01 …), bugs that were shipped
    broken: Subject
    correct: Subject

    @property
    def how(self) -> How:
        return self.broken.how


def case(wrong: str, right: str, known_from: str, broken: Subject, correct: Subject) -> Case:
    return Case(
        wrong=wrong,
        right=right,
        known_from=tuple(known_from.split(", ")),
        broken=broken,
        correct=correct,
    )
