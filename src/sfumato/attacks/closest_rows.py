"""Closest rows: do invented rows give away who was in the data that they were made of?

*Attack*   A fair coin puts each person into the data or not. Rows are made of those who are in. The
           attacker knows everybody's row and sees the invented rows: those whose closest invented
           row is near are guessed to be in.
*Distance* from a person to a row: over all columns, 0 for equal values and 1 for others; of numbers
           the difference in parts of their range.
*Copies*   Rows that are copies give everybody away: the closest one is at distance 0.
*Bound*    Each coin is guessed with a chance of at most (e^ε + δ)/(1 + e^ε), given all others. Then
           the right guesses of all coins together are no more, in law, than independent ones with
           that chance (Steinke, Nasr & Jagielski 2023, for δ = 0; for δ > 0 their bound is larger
           by a term that is small as long as the number of people times δ is).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..guarantees import Guarantee
from . import attack_refusals as refusals
from .lib.attack_result import GameResult, Success, guess_bound, plot_successes
from .lib.attack_text import per_cent
from .lib.owner_table import Columns, read_columns
from .lib.roc import Roc, roc

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

Real = NDArray[np.float64]

_FEWEST = 40  # so that all coins fall alike with a chance of 2^-39 only
_AT_ONCE = 1 << 22  # distances that are computed together


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClosestRows(GameResult):
    """Distances of people who were in the data, and of people who were not."""

    inside: Real
    outside: Real
    copied: float  # the share of those inside whose row is among the invented ones
    repeated: float  # the same for those outside

    @property
    def roc(self) -> Roc:
        """The ROC curve of the attack."""
        return roc(-self.inside, -self.outside)

    @property
    def numbers(self) -> dict[str, float | int]:
        return {
            "inside": len(self.inside),
            "outside": len(self.outside),
            "copied": self.copied,
            "repeated": self.repeated,
            "area": self.roc.area,
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        return (
            (
                f"The rows of {per_cent(self.copied)} of the people in the data are among the "
                f"invented ones, and those of {per_cent(self.repeated)} of the others."
            ),
            (
                "A person in the data is closer to an invented row than somebody else in "
                f"{per_cent(self.roc.area)} of all pairs; 50 % is guessing."
            ),
            *self.verdicts,
        )

    def plot(self) -> Figure:
        return plot_successes(self.played, title="Who was in the data?", up="right guesses")


def closest_rows(
    people: object,
    make: Callable[[pa.Table], object],
    *,
    promise: Guarantee | None = None,
    seed: int = 0,
) -> ClosestRows:
    """Draw who of the people is in the data, have rows made of them by `make`, and guess who was
    in. `promise` is what `make` promises. For owners, on their own data: the result is not private.
    """
    everybody = read_columns(people)
    if everybody.n < _FEWEST:
        raise refusals.TOO_FEW_PEOPLE(people=everybody.n, least=_FEWEST)
    random = np.random.default_rng(seed)
    is_in = random.random(everybody.n) < 0.5
    if is_in.all() or not is_in.any():
        is_in[0] = not is_in[0]
    invented = read_columns(make(everybody.arrow.filter(is_in)))
    names = [name for name in everybody if name in invented]
    if not names or not invented.n:
        raise refusals.NO_COMMON_COLUMNS()
    nearest = _nearest(everybody, invented, names)
    guess = nearest + 1e-9 * random.random(everybody.n) < np.median(nearest)
    is_tied = nearest == np.median(nearest)
    guess = np.where(is_tied, random.random(everybody.n) < 0.5, guess)
    success = Success(
        against="exact copies" if promise is None else str(promise),
        hits=int((guess == is_in).sum()),
        trials=everybody.n,
        chance=0.5,
        promise=promise,
        bound=None if promise is None else guess_bound(promise),
    )
    return ClosestRows(
        inside=nearest[is_in],
        outside=nearest[~is_in],
        copied=float((nearest[is_in] == 0).mean()),
        repeated=float((nearest[~is_in] == 0).mean()),
        played=(success,),
    )


def _nearest(people: Columns, invented: Columns, names: list[str]) -> Real:
    """Return the distance from each person to the closest invented row."""
    import pyarrow as pa

    pairs: list[tuple[Real, Real]] = []
    for name in names:
        column = people.arrow.column(name)
        drawn = invented.arrow.column(name).cast(column.type, safe=False)
        together = Columns(
            people.n + invented.n, pa.table({name: pa.chunked_array(column.chunks + drawn.chunks)})
        )
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            values = np.asarray(together.arrow.column(name).to_numpy(), dtype=np.float64)
            present = np.isfinite(values)
            least, most = values[present].min(initial=0.0), values[present].max(initial=0.0)
            # a missing value is as far from a number as two numbers can be
            scaled: Real = np.where(present, (values - least) / ((most - least) or 1.0), -1.0)
            pairs.append((scaled[: people.n], scaled[people.n :]))
        else:
            codes: Real = together.codes(name).astype(np.float64)
            pairs.append((codes[: people.n], codes[people.n :]))
    nearest = np.empty(people.n)
    step = max(1, _AT_ONCE // invented.n)
    for start in range(0, people.n, step):
        some = slice(start, start + step)
        distance = np.zeros((len(nearest[some]), invented.n))
        for first, second in pairs:
            distance += np.minimum(np.abs(first[some, None] - second[None, :]), 1.0)
        nearest[some] = distance.min(axis=1)
    return nearest
