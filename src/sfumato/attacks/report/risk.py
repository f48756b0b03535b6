"""A report for a committee: how exposed the people of a table are, and what noise would buy them.

*Shows*        Who is alone, by which columns; an attack by two questions, and one by many, against
               exact answers and against private ones; what an ε means. *Names nobody* No row is
               shown. But every number is exact and about the raw data: the report is not private,
               and says so on top.
*Measured*     Everything is run on the table itself, or on coins in place of its secrets where a
               promise is put to the test (`results.Success`).
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
from ..differencing import Differencing, differencing
from ..lib.attack_result import EPSILONS, Result, Success, known_epsilons
from ..lib.attack_text import per_cent
from ..lib.look_alikes import Coded
from ..lib.owner_table import Columns
from ..lib.owner_table import columns as read
from ..lib.table_readers import known_columns
from ..threshold import Threshold, threshold
from ..uniqueness import Uniqueness, uniqueness
from .risk_column import Column, solved, varied

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Game = Literal["sum", "count", "value", "presence"]
UNNAMED = "the table"
MANY = 10  # people, of whom nobody would say that a question is about one of them
_TRIED = 20  # of the people alone: some have a value that equals nothing, such as NaN


@dataclass(frozen=True, slots=True, kw_only=True)
class Bought:
    """What one answer at an ε gives, and what it keeps."""

    epsilon: Fraction
    error: int  # of a count, at 95 %
    odds: float  # by which they move at most
    belief: float  # that a belief of one half can become


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RiskReport(Result):
    """All findings. `html` is the page; `write` puts it into a file."""

    name: str
    sensitive: str | None
    uniqueness: Uniqueness
    difference: Differencing | None  # where a sensitive column is given and somebody is alone
    asked_once: tuple[
        Success, ...
        # one question, where there is no such attack: about the person's value, or about being in
        # the
        # table
    ]
    column: Column | None  # where a sensitive column is given
    threshold: Threshold
    bought: tuple[Bought, ...]
    spelled: bool = False  # whether the secret is text that spells numbers

    @property
    def successes(self) -> tuple[Success, ...]:
        return self.asked_once if self.difference is None else self.difference.successes

    @property
    def game(self) -> Game:
        """Which one was played."""
        if self.difference is not None:
            return "sum" if self.difference.summed else "count"
        return "presence" if self.uniqueness.choices is None else "value"

    @property
    def numbers(self) -> dict[str, float | int]:
        found = dict(self.uniqueness.numbers) | {
            f"attack succeeds, {one.against}": one.rate for one in self.successes
        }
        return (
            found
            if self.column is None
            else found | {"reconstructed": self.column.exact, "of": self.column.people}
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        exact, *private = self.successes
        told = f"{self._found_out} in {per_cent(exact.rate)} of all games where answers are exact"
        rest = (
            f", and in {', '.join(f'{per_cent(one.rate)} at {one.against}' for one in private)}"
            if private
            else ""
        )
        return (
            *self.uniqueness.sentences,
            *self.notes,
            f"{told}{rest}.",
            "This is about the raw data and not private: it is for their owner.",
        )

    @property
    def _found_out(self) -> str:
        words: Mapping[Game, str] = {
            "sum": f"Two questions tell in which tenth of its range a person's {self.sensitive} lies",
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
        """What an owner may not have meant."""
        text = (
            f"{self.sensitive} is text that spells numbers, as in every CSV file: its values "
            f"are counted, not added up. A Parquet file or a frame has numbers."
        )
        return (text,) if self.spelled else ()

    @property
    def html(self) -> str:
        """One page that needs nothing beside it: no script, nothing fetched."""
        from .risk_page import page

        return page(self)

    def write(self, path: str | Path) -> Path:
        """Write the page."""
        file = Path(path)
        try:
            file.write_text(self.html, encoding="utf-8")
        except OSError:
            raise Refused(
                "attacks.out",
                f"{file.name!s:.60}",
                "the report cannot be written there",
                "risk.html",
            ) from None
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
    """How exposed people are by these columns, as a page for a committee; with `sensitive`, what
    can be learned about them.

    For owners, on their own data: the report names nobody, but it is about the raw data and not
    private.
    """
    losses, known = known_epsilons(epsilons), known_columns(columns)
    wanted = [*known, sensitive] if sensitive is not None else known
    found = read(table, list(dict.fromkeys(wanted)), partly=True)
    alone = uniqueness(found, known, sensitive=sensitive)
    difference = (
        None
        if sensitive is None or not alone.alone
        else _difference(found, known, sensitive, losses, trials, bits)
    )
    return RiskReport(
        name=name or (Path(table).stem if isinstance(table, str | Path) else UNNAMED),
        sensitive=sensitive,
        uniqueness=alone,
        difference=difference,
        asked_once=()
        if difference is not None
        else alone.against(losses, trials=trials, seed=seed),
        column=None if sensitive is None else solved(found, sensitive, losses, seed, bits),
        threshold=threshold((32, 64), epsilons=(), runs=8, people=2, seed=seed, bits=bits),
        bought=tuple(_bought(epsilon) for epsilon in losses),
        spelled=sensitive is not None and _spells_numbers(found, sensitive),
    )


def _difference(
    found: Columns,
    known: Sequence[str],
    sensitive: str,
    losses: Sequence[Fraction],
    trials: int,
    bits: Bits,
) -> Differencing | None:
    """The attack on somebody who is alone and has a secret; nobody learns on whom. None where there
    is nobody, or a session cannot be asked so.
    """
    cells = Coded(found, known).cells(known)
    single = np.flatnonzero(
        (np.bincount(cells) == 1)[cells] & found.arrow.column(sensitive).is_valid().to_numpy()
    )
    having = np.bincount(found.codes(sensitive))[found.codes(sensitive)]
    # Rather one whose secret is not what most have, but what several have: then both questions are
    # about several.
    single = single[np.lexsort((having[single] == having.max(), having[single] < MANY))]
    for row in single[:_TRIED] if varied(found, sensitive) else ():
        person = {name: found.arrow.column(name)[int(row)].as_py() for name in known}
        with suppress(Refused):
            return replace(
                differencing(found, person, sensitive, epsilons=losses, trials=trials, bits=bits),
                person="this person",
            )
    return None


def _spells_numbers(found: Columns, name: str) -> bool:
    import pyarrow as pa

    kind = found.arrow.column(name).type
    if (
        not (pa.types.is_string(kind) or pa.types.is_large_string(kind))
        or not found.arrow.column(name).is_valid().to_numpy().any()
    ):
        return False
    try:
        found.arrow.column(name).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _bought(epsilon: Fraction) -> Bought:
    error = Laplace(sensitivity=1, epsilon=epsilon).error(Fraction(19, 20))
    return Bought(
        epsilon=epsilon,
        error=int(error),
        odds=odds_factor(epsilon).high,
        belief=posterior_bounds(epsilon, Fraction(1, 2)).high,
    )
