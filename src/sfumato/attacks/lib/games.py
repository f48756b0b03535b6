"""Games that an adversary plays against exact and private answers, through the same door as every
analyst.

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

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import Number
from ...guarantees import Guarantee, Pure
from .attack_result import Success, guess_success

if TYPE_CHECKING:
    from ...tables.query.aggregate import Aggregate

Integers = NDArray[np.int64]
Real = NDArray[np.float64]

MOST_OTHERS, MOST_VALUES = 20, 20
"""Most other people in a person's group, and most values to guess among, in a game. The adversary
knows and subtracts the others, so more of them would only make the tables longer.
"""


def play_in_groups(
    others: Integers, values: int, epsilons: Sequence[Fraction], *, trials: int, seed: int = 0
) -> tuple[Success, ...]:
    """Attack people with so many others in their groups, one after another: guess the person's
    value; with fewer than two values, guess whether the person is in the table.
    """
    group_mates = np.resize(np.minimum(others, MOST_OTHERS), trials)
    if values < 2:
        return play_presence(group_mates, epsilons, seed=seed)
    counts = np.zeros((trials, min(values, MOST_VALUES)), dtype=np.int64)
    counts[:, 0] = group_mates
    return play_value(counts, epsilons, seed=seed)


def play_presence(
    others: Integers, epsilons: Sequence[Fraction], *, seed: int = 0
) -> tuple[Success, ...]:
    """Guess whether a person is in the table: from exact counts, then at each ε. `others[i]` people
    share the group of person i.
    """
    generator = np.random.default_rng(seed)
    trials = len(others)

    def play(epsilon: Fraction | None) -> tuple[int, Guarantee | None]:
        there = generator.integers(0, 2, trials)
        rows = np.repeat(np.arange(trials), others + there)
        counts, promise = _release_counts({"trial": rows}, {"trial": trials}, epsilon, "add-remove")
        return int(((counts - others >= 1) == (there == 1)).sum()), promise

    return _play_all(play, epsilons, trials, 2)


def play_value(
    others: Integers, epsilons: Sequence[Fraction], *, seed: int = 0
) -> tuple[Success, ...]:
    """Guess a person's value: from exact counts, then at each ε. `others[i, v]` other people in the
    group of person i have value v.
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
        answers, promise = _release_counts(
            table, {"trial": trials, "value": choices}, epsilon, "replace"
        )
        return int(
            (np.argmax(answers.reshape(trials, choices) - others, axis=1) == secret).sum()
        ), promise

    return _play_all(play, epsilons, trials, choices)


def play_sum(
    rest: Real,
    candidates: Real,
    rest_guess: float,
    most: float,
    epsilons: Sequence[Fraction],
    *,
    trials: int,
    seed: int = 0,
) -> tuple[Success, ...]:
    """Guess which of the `candidates` a sum contains besides `rest`: from the exact sum, then at
    each ε. The adversary takes the rest to be `rest_guess`.
    """
    generator = np.random.default_rng(seed)

    def play(epsilon: Fraction | None) -> tuple[int, Guarantee | None]:
        secret = generator.integers(0, len(candidates), trials)
        rows = np.repeat(np.arange(trials), len(rest) + 1)
        values = np.column_stack([np.tile(rest, (trials, 1)), candidates[secret]]).ravel()
        sums, promise = _release_sums(rows, values, trials, most, epsilon)
        return int(
            (
                np.argmin(np.abs(sums[:, None] - rest_guess - candidates[None, :]), axis=1)
                == secret
            ).sum()
        ), promise

    return _play_all(play, epsilons, trials, len(candidates))


def _play_all(
    play: Callable[[Fraction | None], tuple[int, Guarantee | None]],
    epsilons: Sequence[Fraction],
    trials: int,
    choices: int,
) -> tuple[Success, ...]:
    """Play against exact answers first, which shows what the attack can do, then at each ε."""
    successes = []
    for epsilon in (None, *epsilons):
        hits, promise = play(epsilon)
        successes.append(guess_success(epsilon, hits, trials, promise, choices))
    return tuple(successes)


def _release_counts(
    table: dict[str, Integers], sizes: dict[str, int], epsilon: Fraction | None, relation: str
) -> tuple[Real, Guarantee | None]:
    """Count the rows of each cell: exactly, or by a private release."""
    if epsilon is None:
        cells = np.ravel_multi_index(tuple(table.values()), tuple(sizes.values()))
        return np.bincount(cells, minlength=int(np.prod(list(sizes.values())))).astype(
            np.float64
        ), None
    from ...tables.aggregates import count

    return _release(table, sizes, count(), epsilon, relation, {})


def _release_sums(
    rows: Integers, values: Real, trials: int, most: float, epsilon: Fraction | None
) -> tuple[Real, Guarantee | None]:
    if epsilon is None:
        return np.bincount(rows, weights=values, minlength=trials).astype(np.float64), None
    from ...tables.aggregates import sum as total

    return _release(
        {"trial": rows, "x": values},
        {"trial": trials},
        total("x"),
        epsilon,
        "replace",
        {"x": (0, most)},
    )


def _release(
    table: Mapping[str, Integers | Real],
    sizes: dict[str, int],
    aggregate: Aggregate,
    epsilon: Fraction,
    relation: str,
    bounds: dict[str, tuple[Number, Number]],
) -> tuple[Real, Guarantee]:
    """Release one answer of a protected table with its own budget, in the order of the cells."""
    import pyarrow as pa

    from ...session import protect

    rows = pa.table({name: pa.array(column) for name, column in table.items()})
    keys = {name: range(size) for name, size in sizes.items()}
    protected = protect(
        rows,
        name="game",
        budget=Pure(epsilon),
        keys=keys,
        bounds=bounds,
        relation=relation,
        each_row_a_person=True,
    )
    answer = (
        protected.group_by(*sizes)
        .aggregate(answer=aggregate)
        .release(promise=Pure(epsilon))
        .to_arrow()
    )
    cells = np.ravel_multi_index(
        tuple(answer.column(name).to_numpy() for name in sizes), tuple(sizes.values())
    )
    answers = np.zeros(int(np.prod(list(sizes.values()))))
    answers[cells] = answer.column("answer").to_numpy()
    return answers, protected.spent
