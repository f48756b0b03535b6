"""Release values many times, as an attacker sees them, and play games on the releases.

*Release*   Each entry of an array is released on its own, with the exact integer noise that a
            session adds to a count or a sum: all of them through one call of `privatize`, whose
            promise is the sum over the entries.
*Game*      Truths are drawn by fair coins, so that mere guessing is right with a chance that is
            known. What a promise allows is `attack_result.guess_bound`.
*Many*      Where each of n units has a coin of its own, each guess is right with a chance of at
            most e^ε/(1 + e^ε) *given all other coins and the answers*: the two datasets left are
            neighbours. So the number of right guesses is at most binomial, and the limit of Clopper
            and Pearson holds for the n units of one release as it does for n releases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import Number, positive
from ...functions.privatize import privatize
from ...guarantees import Pure
from ...noise.bits import SYSTEM, Bits
from ...sensitivity.kinds import Global
from .attack_result import Success, guess_success

Integers = NDArray[np.int64]

Game = Callable[[Fraction | None], NDArray[np.bool_]]
"""At an ε, or against exact answers (None): for each trial, whether the guess was right."""

TRIALS = 2_000
"""Default number of trials against each kind of answers."""


def add_noise(
    values: NDArray[np.generic], *, epsilon: Number, moves: int = 1, bits: Bits = SYSTEM
) -> Integers:
    """Add independent noise to every entry: each is a release at ε of an integer that one unit
    moves by at most `moves`.
    """
    exact = np.asarray(values, dtype=np.int64)
    together = Global(l1=moves * exact.size, integer_valued=True)
    released = privatize(
        np.ravel,
        exact,
        sensitivity=together,
        epsilon=exact.size * positive(epsilon, "epsilon"),
        size=exact.size,
        bits=bits,
    )
    return np.asarray(released.value, dtype=np.int64).reshape(exact.shape)


def release_each(
    values: NDArray[np.generic], *, epsilon: Number | None, moves: int = 1, bits: Bits = SYSTEM
) -> Integers:
    """Publish the entries: with noise, or exactly where there is no ε."""
    return (
        np.asarray(values, dtype=np.int64)
        if epsilon is None
        else add_noise(values, epsilon=epsilon, moves=moves, bits=bits)
    )


def play_game(
    game: Game, epsilons: Sequence[Fraction], *, choices: int = 2, relation: str = "replace"
) -> tuple[Success, ...]:
    """Play a game against exact answers, then at each total ε. A guess is one of `choices` equally
    likely values.
    """
    successes = []
    for epsilon in (None, *epsilons):
        right = game(epsilon)
        promise = None if epsilon is None else Pure(epsilon, relation=relation)
        successes.append(guess_success(epsilon, int(right.sum()), right.size, promise, choices))
    return tuple(successes)


def draw_coins(count: int, bits: Bits = SYSTEM) -> Integers:
    """Toss fair coins, 0 or 1: the truths of a game in which half of the people have the secret."""
    return (bits.words(count) >> np.uint64(63)).astype(np.int64)


def draw_uniform(count: int, choices: int, bits: Bits = SYSTEM) -> Integers:
    """Draw integers from 0 to choices − 1, equally likely up to choices·2⁻³²."""
    return (((bits.words(count) >> np.uint64(32)) * np.uint64(choices)) >> np.uint64(32)).astype(
        np.int64
    )
