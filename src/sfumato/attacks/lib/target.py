"""The target of a differencing attack: one person of a table, and the secret to learn about them.

*Person*   What the attacker knows: values of some columns that fit one row and no other; or the
           number of a row, of which he knows every column but the secret.
*Secret*   A column: by default the last one that is not part of what he knows. Of numbers a sum is
           asked for; of all else how many have one certain value.
*Asked*    The private answers are those of a real session: the table is protected with each row as
           a person, neighbours by replacing one of them, and the questions share ε evenly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...guarantees import Pure
from ...mechanisms.shared.additive import Additive
from ...session.protect import protect
from ...tables.aggregates import count
from ...tables.aggregates import sum as sum_of
from ...tables.expr.expressions import Expr, col
from .. import attack_refusals as refusals
from .attack_result import as_integer
from .owner_table import Columns, read_columns
from .table_readers import unknown_column

if TYPE_CHECKING:
    from ...session.protected_table import Table
    from ...tables.query.stages import Query

Question = tuple[int, Expr | None]
"""The sign of an answer in the attacker's sum, and the rows that the answer is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """What the attacker computes from the private answers of one session."""

    epsilon: Fraction  # for all of them together
    answers: tuple[float, ...]
    value: float  # the same sum and difference that gives the secret away where answers are exact
    sd: float  # of its noise


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A table, a row of it, and the column that the attacker wants to know."""

    table: Columns
    person: Mapping[str, object]
    row: int
    secret: str
    value: object  # that is asked about: who has it?

    @property
    def name(self) -> str:
        """The name of the person in sentences."""
        values = list(self.person.values())
        return (
            values[0]
            if len(values) == 1 and isinstance(values[0], str)
            else f"the one with {describe_values(self.person)}"
        )

    @property
    def numeric(self) -> bool:
        return self.table.numeric(self.secret)

    @property
    def others(self) -> NDArray[np.bool_]:
        """The rows of everybody else, as a mask."""
        return np.asarray(np.arange(self.table.n) != self.row)

    @property
    def having(self) -> NDArray[np.bool_]:
        """The rows of the people who have the value, as a mask."""
        return rows_matching(self.table, {self.secret: self.value})

    @property
    def about(self) -> Expr:
        """The condition that selects the people who have the value, for a session."""
        return condition({self.secret: self.value})

    def guesses(
        self,
        questions: Sequence[Question],
        epsilons: Sequence[Fraction],
        bounds: tuple[float, float] | None = None,
    ) -> tuple[Guess, ...]:
        """Ask a session each question, at each total ε: for counts, or with `bounds` for sums of
        the secret.
        """
        declared = {self.secret: bounds} if bounds is not None else None
        budget = Pure(sum(epsilons, Fraction(0)))
        aggregate = sum_of(self.secret) if bounds is not None else count()
        with protect(
            self.table.arrow,
            name="people",
            budget=budget,
            relation="replace",
            bounds=declared,
            each_row_a_person=True,
        ) as people:
            queries = [
                (sign, (people if about is None else people.where(about)).aggregate(x=aggregate))
                for sign, about in questions
            ]
            return tuple(_guess(people, queries, epsilon) for epsilon in epsilons)


def find_target(
    table: object,
    person: Mapping[str, object] | int,
    secret: str | None = None,
    value: object = None,
) -> Target:
    """Find the person, or refuse. The value defaults to the person's own."""
    rows = read_columns(table)
    if isinstance(person, Mapping):
        values = {str(name): value for name, value in person.items()}
        named = _choose_secret(rows, values, secret)
        fits = (
            np.flatnonzero(rows_matching(rows, values)) if values else np.array([], dtype=np.int64)
        )
        columns = ", ".join(values) or "nothing known"
        if named in values:
            raise refusals.PERSON_INCLUDES_SECRET(columns=columns, secret=named)
        if len(fits) != 1:
            raise refusals.PERSON_NOT_ONE_ROW(columns=columns)
        row = int(fits[0])
        return Target(
            rows,
            values,
            row,
            named,
            rows.arrow.column(named)[row].as_py() if value is None else value,
        )
    number = as_integer(person)
    if number is None or not 0 <= number < rows.n:
        raise refusals.PERSON_NOT_A_ROW(person=person)
    named = _choose_secret(rows, {}, secret)
    others = {name: rows.arrow.column(name)[number].as_py() for name in rows if name != named}
    return find_target(rows, others, named, value)


def rows_matching(table: Columns, values: Mapping[str, object]) -> NDArray[np.bool_]:
    """Find the rows that have all of these values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    fits = np.ones(table.n, dtype=bool)
    for name, value in values.items():
        if name not in table:
            raise unknown_column(name, list(table))
        column = table.arrow.column(name)
        column = (
            column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        )
        try:
            same = (
                pc.is_null(column)
                if value is None
                else pc.fill_null(pc.equal(column, pa.scalar(value)), False)
            )
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            raise refusals.VALUE_OF_OTHER_TYPE(column=name, value=value, type=column.type) from None
        fits &= np.asarray(same.to_numpy())
    return fits


def describe_values(values: Mapping[str, object]) -> str:
    """Describe values in a sentence: age = 21, sex = m."""
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def condition(values: Mapping[str, object]) -> Expr:
    """Build the condition that all of these values hold, for a session."""
    return reduce(
        and_,
        (
            col(name).is_null() if value is None else col(name) == value
            for name, value in values.items()
        ),
    )


def negation(values: Mapping[str, object]) -> Expr:
    """Build the condition for all other rows, also those with missing values."""
    return reduce(
        or_,
        (
            ~col(name).is_null() if value is None else (col(name) != value) | col(name).is_null()
            for name, value in values.items()
        ),
    )


def _choose_secret(table: Columns, values: Mapping[str, object], secret: str | None) -> str:
    left = [name for name in table if name not in values]
    if secret is None and left:
        return left[-1]
    if secret is None or secret not in table:
        raise refusals.SECRET_NOT_A_COLUMN(secret=secret)
    return secret


def _guess(people: Table, queries: Sequence[tuple[int, Query]], epsilon: Fraction) -> Guess:
    answers, variance = [], 0.0
    for _, query in queries:
        answer = people.release(query, epsilon=epsilon / len(queries), fresh=True)
        answers.append(float(answer["x"][0]))
        noise = answer.pieces[0]
        assert isinstance(noise.mechanism, Additive)
        variance += noise.mechanism.variance * float(noise.step) ** 2
    value = sum(sign * x for (sign, _), x in zip(queries, answers, strict=True))
    return Guess(epsilon=epsilon, answers=tuple(answers), value=value, sd=math.sqrt(variance))
