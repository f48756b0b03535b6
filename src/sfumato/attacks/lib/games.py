"""Games that an adversary plays against exact answers and against private ones, through the same
door as every analyst.

*Presence*   A person may be in the table or not, by a fair coin; everybody else is known. The
             adversary sees how many are in the person's group. Allowed: e^ε/(1 + e^ε), neighbours
             being the two tables (add-remove).
*Value*      A person is in the table; one of k values was drawn for them, all equally likely;
             everybody else is known. The adversary sees how many in the person's group have each
             value. Allowed: e^ε/(e^ε + k − 1), neighbours being any two of the k tables (replace).
*Sum*        As above, with the sum of a bounded column instead of the counts.
*Trials*     Each trial is a group of its own in one table that is released once: every row lies in
             one group, so the release costs its ε once, and the trials are independent, coin by
             coin and noise by noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import Number
from ...guarantees import Guarantee, Pure
from .attack_result import Success, guessed

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

KNOWN, VALUES = 20, 20
"""Others in a person's group who take part in a game, and values to guess among: those others are
known and subtracted, so that more of them, or of the values, would make the tables of a game longer
and nothing else.
"""


def of_groups(
    others: Whole, values: int, epsilons: Sequence[Fraction], *, trials: int, seed: int = 0
) -> tuple[Success, ...]:
    """By people with so many others in their groups, one after the other: which of the values does
    the person have; where there are not two of them, is the person in the table.
    """
    beside = np.resize(np.minimum(others, KNOWN), trials)
    if values < 2:
        return presence(beside, epsilons, seed=seed)
    known = np.zeros((trials, min(values, VALUES)), dtype=np.int64)
    known[:, 0] = beside
    return value(known, epsilons, seed=seed)


def presence(others: Whole, epsilons: Sequence[Fraction], *, seed: int = 0) -> tuple[Success, ...]:
    """Against exact counts, then at each ε; `others[i]` people share the group of person i."""
    generator = np.random.default_rng(seed)
    trials = len(others)

    def play(epsilon: Fraction | None) -> tuple[int, Guarantee | None]:
        there = generator.integers(0, 2, trials)
        rows = np.repeat(np.arange(trials), others + there)
        seen, promise = _counted({"trial": rows}, {"trial": trials}, epsilon, "add-remove")
        return int(((seen - others >= 1) == (there == 1)).sum()), promise

    return _played(play, epsilons, trials, 2)


def value(others: Whole, epsilons: Sequence[Fraction], *, seed: int = 0) -> tuple[Success, ...]:
    """Against exact counts, then at each ε; `others[i, v]` other people in the group of person i
    have value v.
    """
    generator = np.random.default_rng(seed)
    trials, choices = others.shape
    cells = np.arange(trials * choices)

    def play(epsilon: Fraction | None) -> tuple[int, Guarantee | None]:
        secret = generator.integers(0, choices, trials)
        counts = others.copy()
        counts[np.arange(trials), secret] += 1
        rows = np.repeat(cells, counts.ravel())
        table = {"trial": rows // choices, "value": rows % choices}
        seen, promise = _counted(table, {"trial": trials, "value": choices}, epsilon, "replace")
        return int(
            (np.argmax(seen.reshape(trials, choices) - others, axis=1) == secret).sum()
        ), promise

    return _played(play, epsilons, trials, choices)


def added(
    rest: Real,
    candidates: Real,
    known: float,
    most: float,
    epsilons: Sequence[Fraction],
    *,
    trials: int,
    seed: int = 0,
) -> tuple[Success, ...]:
    """Against the exact sum, then at each ε: which of the `candidates` is in it, beside `rest`, of
    which the adversary knows that it is about `known`.
    """
    generator = np.random.default_rng(seed)

    def play(epsilon: Fraction | None) -> tuple[int, Guarantee | None]:
        secret = generator.integers(0, len(candidates), trials)
        rows = np.repeat(np.arange(trials), len(rest) + 1)
        values = np.column_stack([np.tile(rest, (trials, 1)), candidates[secret]]).ravel()
        seen, promise = _summed(rows, values, trials, most, epsilon)
        return int(
            (np.argmin(np.abs(seen[:, None] - known - candidates[None, :]), axis=1) == secret).sum()
        ), promise

    return _played(play, epsilons, trials, len(candidates))


def _played(
    play: Callable[[Fraction | None], tuple[int, Guarantee | None]],
    epsilons: Sequence[Fraction],
    trials: int,
    choices: int,
) -> tuple[Success, ...]:
    """Exact answers first: the twin that shows what the attack can do."""
    found = []
    for epsilon in (None, *epsilons):
        hits, promise = play(epsilon)
        found.append(guessed(epsilon, hits, trials, promise, choices))
    return tuple(found)


def _counted(
    table: dict[str, Whole], sizes: dict[str, int], epsilon: Fraction | None, relation: str
) -> tuple[Real, Guarantee | None]:
    """How many rows are in each cell: exactly, or as the door lets it out."""
    if epsilon is None:
        cells = np.ravel_multi_index(tuple(table.values()), tuple(sizes.values()))
        return np.bincount(cells, minlength=int(np.prod(list(sizes.values())))).astype(
            np.float64
        ), None
    from ...tables.query.aggregates import count

    return _released(table, sizes, count(), epsilon, relation, {})


def _summed(
    rows: Whole, values: Real, trials: int, most: float, epsilon: Fraction | None
) -> tuple[Real, Guarantee | None]:
    if epsilon is None:
        return np.bincount(rows, weights=values, minlength=trials).astype(np.float64), None
    from ...tables.query.aggregates import sum as total

    return _released(
        {"trial": rows, "x": values},
        {"trial": trials},
        total("x"),
        epsilon,
        "replace",
        {"x": (0, most)},
    )


def _released(
    table: dict[str, Any],
    sizes: dict[str, int],
    asked: Any,
    epsilon: Fraction,
    relation: str,
    bounds: dict[str, tuple[Number, Number]],
) -> tuple[Real, Guarantee]:
    """One answer of a protected table with a budget of its own, in the order of the cells."""
    import pyarrow as pa

    from ...session import protect

    whole = pa.table({name: pa.array(column) for name, column in table.items()})
    keys = {name: range(size) for name, size in sizes.items()}
    protected = protect(
        whole, name="game", budget=Pure(epsilon), keys=keys, bounds=bounds, relation=relation
    )
    answer = (
        protected.group_by(*sizes).aggregate(answer=asked).release(promise=Pure(epsilon)).to_arrow()
    )
    cells = np.ravel_multi_index(
        tuple(answer.column(name).to_numpy() for name in sizes), tuple(sizes.values())
    )
    seen = np.zeros(int(np.prod(list(sizes.values()))))
    seen[cells] = answer.column("answer").to_numpy()
    return seen, protected.spent
