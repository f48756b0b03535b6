"""Ten students and their grades: a table so small that every answer is about somebody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Student:
    """One row of the table: one person, one grade."""

    name: str
    gender: Literal["female", "male"]
    grade: Literal["pass", "fail"]


_GRADES = (
    Student("Angie", "female", "fail"),
    Student("Bob", "male", "pass"),
    Student("Chris", "male", "pass"),
    Student("David", "male", "fail"),
    Student("Eva", "female", "fail"),
    Student("Frank", "male", "pass"),
    Student("Gang", "male", "fail"),
    Student("Howard", "male", "pass"),
    Student("Irvine", "male", "pass"),
    Student("James", "male", "pass"),
)


def grades() -> tuple[Student, ...]:
    """Return the final grades of ten invented students, four of whom failed, both women among
    them.
    """
    return _GRADES
