"""What the attacker gets to see, many times over.

*Release*   Each entry of an array is released on its own, with the exact integer noise that a
            session adds to a count or a sum: all of them through one call of `privatize`, whose
            promise is the sum over the entries.
*Game*      Truths are drawn by fair coins, so that mere guessing is right with a chance that is
            known. What a promise allows is `results.guess_bound`.
*Many*      Where each of n units has a coin of its own, each guess is right with a chance of at
            most e^ε/(1 + e^ε) *given all other coins and the answers*: the two datasets left are
            neighbours. So the number of right guesses is at most binomial, and the limit of Clopper
            and Pearson holds for the n units of one release as it does for n releases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import Number, positive
from ...functions.privatize import privatize
from ...guarantees import Pure
from ...noise.bits import SYSTEM, Bits
from ...sensitivity.kinds import Global
from .attack_result import Success, guessed

Integers = NDArray[np.int64]

Game = Callable[[Fraction | None], NDArray[np.bool_]]
"""At an ε, or against exact answers, of each trial whether the guess was right."""

TRIALS = 2_000
"""How often a game is played against each kind of answers, unless said otherwise."""


def noisy(
    values: NDArray[Any], *, epsilon: Number, moves: int = 1, bits: Bits = SYSTEM
) -> Integers:
    """Every entry with noise of its own: a release at ε of an integer that one unit moves by at
    most `moves`.
    """
    exact = np.asarray(values, dtype=np.int64)
    together = Global(l1=moves * exact.size, whole=True)
    released = privatize(
        np.ravel,
        exact,
        sensitivity=together,
        epsilon=exact.size * positive(epsilon, "epsilon"),
        size=exact.size,
        bits=bits,
    )
    return np.asarray(released.value, dtype=np.int64).reshape(exact.shape)


def answered(
    values: NDArray[Any], *, epsilon: Number | None, moves: int = 1, bits: Bits = SYSTEM
) -> Integers:
    """The entries as they are published: exact where there is no ε."""
    return (
        np.asarray(values, dtype=np.int64)
        if epsilon is None
        else noisy(values, epsilon=epsilon, moves=moves, bits=bits)
    )


def played(
    game: Game, epsilons: Sequence[Fraction], *, choices: int = 2, relation: str = "replace"
) -> tuple[Success, ...]:
    """Play a game against exact answers, and at each ε in all. A guess is one of so many, all
    equally likely.
    """
    found = []
    for epsilon in (None, *epsilons):
        right = game(epsilon)
        promise = None if epsilon is None else Pure(epsilon, relation=relation)
        found.append(guessed(epsilon, int(right.sum()), right.size, promise, choices))
    return tuple(found)


def coins(count: int, bits: Bits = SYSTEM) -> Integers:
    """Fair coins, 0 or 1: the truths of a game in which half of the people have the secret."""
    return (bits.words(count) >> np.uint64(63)).astype(np.int64)


def uniform(count: int, choices: int, bits: Bits = SYSTEM) -> Integers:
    """Integers from 0 to choices − 1, as likely as each other but for choices·2⁻³²."""
    return (((bits.words(count) >> np.uint64(32)) * np.uint64(choices)) >> np.uint64(32)).astype(
        np.int64
    )
