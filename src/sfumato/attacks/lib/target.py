"""One person of a table, and what is not known of them: whom the differencing attacks are after.

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Refused
from ...guarantees import Pure
from ...session.protect import protect
from ...tables.expr.expressions import Expr, col
from ...tables.query.aggregates import count
from ...tables.query.aggregates import sum as sum_of
from .attack_result import whole
from .owner_table import Columns, columns
from .table_readers import nearest

Question = tuple[int, Expr | None]
"""The sign of an answer in what the attacker makes of all, and which rows it is about."""

_PERSON = 'person={"name": "Steven"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """What the attacker makes of the private answers of one session."""

    epsilon: Fraction  # for all of them together
    answers: tuple[float, ...]
    value: float  # the same sum and difference that gives the secret away where answers are exact
    sd: float  # of its noise


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A table, a row of it, and the column that the attacker wants to know."""

    table: Columns
    person: Mapping[str, Any]
    row: int
    secret: str
    value: Any  # that is asked about: who has it?

    @property
    def name(self) -> str:
        """How the person is called in sentences."""
        known = list(self.person.values())
        return (
            known[0]
            if len(known) == 1 and isinstance(known[0], str)
            else f"the one with {described(self.person)}"
        )

    @property
    def numeric(self) -> bool:
        return self.table.numeric(self.secret)

    @property
    def others(self) -> NDArray[np.bool_]:
        """Everybody else."""
        return np.asarray(np.arange(self.table.n) != self.row)

    @property
    def having(self) -> NDArray[np.bool_]:
        """Who has the value."""
        return matching(self.table, {self.secret: self.value})

    @property
    def about(self) -> Expr:
        """The same for a session."""
        return condition({self.secret: self.value})

    def guesses(
        self,
        questions: Sequence[Question],
        epsilons: Sequence[Fraction],
        bounds: tuple[float, float] | None = None,
    ) -> tuple[Guess, ...]:
        """Ask a session each question at each ε in all: for counts, or with `bounds` for sums of
        the secret.
        """
        declared = {self.secret: bounds} if bounds is not None else None
        budget = Pure(sum(epsilons, Fraction(0)))
        made = sum_of(self.secret) if bounds is not None else count()
        with protect(
            self.table.arrow, name="people", budget=budget, relation="replace", bounds=declared
        ) as people:
            queries = [
                (sign, (people if about is None else people.where(about)).aggregate(x=made))
                for sign, about in questions
            ]
            return tuple(_guess(people, queries, epsilon) for epsilon in epsilons)


def target(
    table: object, person: Mapping[str, Any] | int, secret: str | None = None, value: Any = None
) -> Target:
    """Find the person, or refuse. The value is by default the person's own."""
    found = columns(table)
    if isinstance(person, Mapping):
        known = {str(name): value for name, value in person.items()}
        named = _secret(found, known, secret)
        rows = np.flatnonzero(matching(found, known)) if known else np.array([], dtype=np.int64)
        if len(rows) != 1 or named in known:
            reason = (
                "what the attacker knows, of one column or more, has to fit exactly one row "
                "of the table, and the secret is not part of it"
            )
            raise Refused(
                "attacks.person",
                f"person with {', '.join(known) or 'nothing known'!s:.60}",
                reason,
                _PERSON,
            )
        row = int(rows[0])
        return Target(
            found,
            known,
            row,
            named,
            found.arrow.column(named)[row].as_py() if value is None else value,
        )
    number = whole(person)
    if number is None or not 0 <= number < found.n:
        raise Refused(
            "attacks.person",
            f"person={person!r:.40}",
            "a person is the number of a row, or values of columns that fit one row",
            _PERSON,
        )
    named = _secret(found, {}, secret)
    others = {name: found.arrow.column(name)[number].as_py() for name in found if name != named}
    return target(found, others, named, value)


def matching(table: Columns, values: Mapping[str, Any]) -> NDArray[np.bool_]:
    """The rows that have all of these values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    fits = np.ones(table.n, dtype=bool)
    for name, value in values.items():
        if name not in table:
            raise Refused(
                "attacks.columns",
                f"{name!r:.60}",
                "the table has no such column",
                f"{nearest(name, list(table))!r:.60}",
            )
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
            raise Refused(
                "attacks.values",
                f"{name}={value!r:.40}",
                "no value of the column can be equal to it",
                f"{name}=…, of the column's type",
            ) from None
        fits &= np.asarray(same.to_numpy())
    return fits


def described(values: Mapping[str, Any]) -> str:
    """age = 21, sex = m"""
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def condition(values: Mapping[str, Any]) -> Expr:
    """The same for a session."""
    return reduce(
        and_,
        (
            col(name).is_null() if value is None else col(name) == value
            for name, value in values.items()
        ),
    )


def opposite(values: Mapping[str, Any]) -> Expr:
    """All other rows, also those where something is missing."""
    return reduce(
        or_,
        (
            ~col(name).is_null() if value is None else (col(name) != value) | col(name).is_null()
            for name, value in values.items()
        ),
    )


def _secret(table: Columns, known: Mapping[str, Any], secret: str | None) -> str:
    left = [name for name in table if name not in known]
    if secret is None and left:
        return left[-1]
    if secret is None or secret not in table:
        raise Refused(
            "attacks.columns",
            f"secret={secret!r:.60}",
            "the secret is a column of the table that is not known of the person",
            'secret="disease"',
        )
    return secret


def _guess(people: Any, queries: Sequence[tuple[int, Any]], epsilon: Fraction) -> Guess:
    answers, variance = [], 0.0
    for _, query in queries:
        answer = people.release(query, epsilon=epsilon / len(queries), fresh=True)
        answers.append(float(answer["x"][0]))
        noise = answer.pieces[0]
        variance += noise.mechanism.variance * float(noise.step) ** 2
    value = sum(sign * x for (sign, _), x in zip(queries, answers, strict=True))
    return Guess(epsilon=epsilon, answers=tuple(answers), value=value, sd=math.sqrt(variance))
