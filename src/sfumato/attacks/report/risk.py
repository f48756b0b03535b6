"""A risk report for a committee: how exposed the people of a table are, and how noise would protect
them.

*Shows*        Who is alone, by which columns; an attack by two questions, and one by many, against
               exact answers and against private ones; what an ε means. *Names nobody* No row is
               shown. But every number is exact and about the raw data: the report is not private,
               and says so on top.
*Measured*     Everything is run on the table itself, or on coins in place of its secrets where a
               promise is put to the test (`attack_result.Success`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from ...errors import Refused
from ...exact.numbers import Number
from ...guarantees.meaning.bayes import odds_factor, posterior_bounds
from ...mechanisms.laplace import Laplace
from ...noise.bits import SYSTEM, Bits
from .. import attack_refusals as refusals
from ..differencing import Differencing, differencing
from ..lib.attack_result import EPSILONS, Result, Success, check_epsilons
from ..lib.attack_text import per_cent
from ..lib.look_alikes import CodedColumns
from ..lib.owner_table import Columns
from ..lib.owner_table import read_columns as read
from ..lib.table_readers import check_columns
from ..threshold import NoiseThreshold, threshold
from ..uniqueness import Uniqueness, uniqueness
from .risk_column import ReconstructedColumn, has_two_values, reconstruct_column

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Game = Literal["sum", "count", "value", "presence"]
UNNAMED = "the table"
MANY = 10  # people, of whom nobody would say that a question is about one of them
_TRIED = 20  # of the people alone: some have a value that equals nothing, such as NaN


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonEffect:
    """What one ε means: the error of a count, and the limits on odds and belief."""

    epsilon: Fraction
    error: int  # of a count, at 95 %
    odds: float  # the largest factor by which odds change
    belief: float  # the largest posterior of a prior of one half


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RiskReport(Result):
    """All findings of a risk report. `html` is the page; `write` saves it to a file."""

    name: str
    sensitive: str | None
    uniqueness: Uniqueness
    difference: Differencing | None  # where a sensitive column is given and somebody is alone
    # one question, where there is no such attack: about the person's value, or about being in the
    # table
    single_question: tuple[Success, ...]
    column: ReconstructedColumn | None  # where a sensitive column is given
    threshold: NoiseThreshold
    epsilon_effects: tuple[EpsilonEffect, ...]
    spelled: bool = False  # whether the secret is text that spells numbers

    @property
    def successes(self) -> tuple[Success, ...]:
        return self.single_question if self.difference is None else self.difference.successes

    @property
    def game(self) -> Game:
        """Which game was played."""
        if self.difference is not None:
            return "sum" if self.difference.summed else "count"
        return "presence" if self.uniqueness.choices is None else "value"

    @property
    def numbers(self) -> dict[str, float | int]:
        numbers = dict(self.uniqueness.numbers) | {
            f"attack succeeds, {success.against}": success.rate for success in self.successes
        }
        return (
            numbers
            if self.column is None
            else numbers | {"reconstructed": self.column.exact, "of": self.column.people}
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        exact, *private = self.successes
        exact_games = (
            f"{self._found_out} in {per_cent(exact.rate)} of all games where answers are exact"
        )
        rates = ", ".join(f"{per_cent(success.rate)} at {success.against}" for success in private)
        private_games = f", and in {rates}" if private else ""
        return (
            *self.uniqueness.sentences,
            *self.notes,
            f"{exact_games}{private_games}.",
            "This is about the raw data and not private: it is for their owner.",
        )

    @property
    def _found_out(self) -> str:
        words: Mapping[Game, str] = {
            "sum": (
                f"Two questions tell in which tenth of its range a person's {self.sensitive} lies"
            ),
            "count": f"Two questions tell what a person's {self.sensitive} is",
            "value": (
                f"One question tells which of {self.uniqueness.choices} values of "
                f"{self.sensitive} a person has"
            ),
            "presence": "One question tells whether a person is in the table",
        }
        return words[self.game]

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings about what the owner may not have intended."""
        text = (
            f"{self.sensitive} is text that spells numbers, as in every CSV file: the attack "
            f"counts its values and does not sum them. Use a Parquet file or a frame for numbers."
        )
        return (text,) if self.spelled else ()

    @property
    def html(self) -> str:
        """The report as one self-contained page: no script, nothing to fetch."""
        from .risk_page import page

        return page(self)

    def write(self, path: str | Path) -> Path:
        """Write the page to a file."""
        file = Path(path)
        try:
            file.write_text(self.html, encoding="utf-8")
        except OSError:
            raise refusals.REPORT_NOT_WRITABLE(file=file.name) from None
        return file

    def plot(self) -> Figure:
        return self.uniqueness.plot()


def risk_report(
    table: object,
    columns: Sequence[str],
    *,
    sensitive: str | None = None,
    name: str | None = None,
    epsilons: Sequence[Number] = EPSILONS,
    trials: int = 1000,
    seed: int = 0,
    bits: Bits = SYSTEM,
) -> RiskReport:
    """Report how exposed people are by these columns, as a page for a committee; with `sensitive`,
    also what an attacker can learn about them.

    For owners, on their own data: the report names nobody, but it is about the raw data and not
    private.
    """
    losses, names = check_epsilons(epsilons), check_columns(columns)
    needed = [*names, sensitive] if sensitive is not None else names
    rows = read(table, list(dict.fromkeys(needed)), partly=True)
    alone = uniqueness(rows, names, sensitive=sensitive)
    difference = (
        None
        if sensitive is None or not alone.alone
        else _difference(rows, names, sensitive, losses, trials, bits)
    )
    return RiskReport(
        name=name or (Path(table).stem if isinstance(table, str | Path) else UNNAMED),
        sensitive=sensitive,
        uniqueness=alone,
        difference=difference,
        single_question=()
        if difference is not None
        else alone.against(losses, trials=trials, seed=seed),
        column=None
        if sensitive is None
        else reconstruct_column(rows, sensitive, losses, seed, bits),
        threshold=threshold((32, 64), epsilons=(), runs=8, people=2, seed=seed, bits=bits),
        epsilon_effects=tuple(_effect_of(epsilon) for epsilon in losses),
        spelled=sensitive is not None and _spells_numbers(rows, sensitive),
    )


def _difference(
    rows: Columns,
    names: Sequence[str],
    sensitive: str,
    losses: Sequence[Fraction],
    trials: int,
    bits: Bits,
) -> Differencing | None:
    """Attack a person who is alone and has a secret, without naming them. None where there is no
    such person, or no session can answer the questions.
    """
    cells = CodedColumns(rows, names).cells(names)
    single = np.flatnonzero(
        (np.bincount(cells) == 1)[cells] & rows.arrow.column(sensitive).is_valid().to_numpy()
    )
    having = np.bincount(rows.codes(sensitive))[rows.codes(sensitive)]
    # Prefer a person whose secret is not the most common, but shared by several: then both
    # questions are about several people.
    single = single[np.lexsort((having[single] == having.max(), having[single] < MANY))]
    for row in single[:_TRIED] if has_two_values(rows, sensitive) else ():
        person = {name: rows.arrow.column(name)[int(row)].as_py() for name in names}
        with suppress(Refused):
            return replace(
                differencing(rows, person, sensitive, epsilons=losses, trials=trials, bits=bits),
                person="this person",
            )
    return None


def _spells_numbers(rows: Columns, name: str) -> bool:
    import pyarrow as pa

    kind = rows.arrow.column(name).type
    if (
        not (pa.types.is_string(kind) or pa.types.is_large_string(kind))
        or not rows.arrow.column(name).is_valid().to_numpy().any()
    ):
        return False
    try:
        rows.arrow.column(name).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _effect_of(epsilon: Fraction) -> EpsilonEffect:
    error = Laplace(sensitivity=1, epsilon=epsilon).error(Fraction(19, 20))
    return EpsilonEffect(
        epsilon=epsilon,
        error=int(error),
        odds=odds_factor(epsilon).high,
        belief=posterior_bounds(epsilon, Fraction(1, 2)).high,
    )
