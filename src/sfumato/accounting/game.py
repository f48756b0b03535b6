"""The composition game: a simulation of what k-fold composition means.

*Steps*     The game tosses a secret bit b. In each round the adversary, who has seen all answers so
            far, names two neighbours x⁰ and x¹ and a release, and gets its answer about x^b. At the
            end the adversary guesses the bit.
*Bound*     The law of all answers given b = 0 is close to that given b = 1, as the budget says: for
            any adversary P(says 1 | b = 1) − P(says 1 | b = 0) ≤ δ(0), the total variation (Dwork,
            Rothblum & Vadhan 2010).
*Filter*    Costs may be chosen along the way, so the budget has to be in a currency with a filter.
            A play ends with the first move that the filter does not admit.

The game reads no real data: the adversary makes up both datasets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, Protocol, cast

from ..exact.numbers import Number, probability
from ..guarantees import Guarantee, Pure
from ..guarantees.finite.channel import Channel
from ..guarantees.neighbour_relations import Dataset, NeighbourRelation
from ..noise.bits import SYSTEM, Bits
from ..noise.uniform import integer_below
from . import accounting_refusals as refusals
from .composition import count_of
from .filters import Filter

Answer = Any  # whatever a release returns: adversaries compute with it
Answers = tuple[Answer, ...]
Release = Callable[[Any, Bits], Answer]


@dataclass(frozen=True, slots=True)
class Move:
    """Two neighbours x0 and x1, and a release about one of them: a finite channel, or any function
    of a dataset and a source of bits that keeps the promise `cost`.
    """

    x0: Hashable
    x1: Hashable
    release: Channel | Release
    cost: Guarantee

    def __init__(
        self, x0: Hashable, x1: Hashable, release: Channel | Release, cost: Guarantee | None = None
    ) -> None:
        if cost is None:
            cost = _cost(release, x0, x1)
        for name, value in (("x0", x0), ("x1", x1), ("release", release), ("cost", cost)):
            object.__setattr__(self, name, value)


class Adversary(Protocol):
    """A player of the game. Both methods get all answers of the play so far."""

    def choose(self, answers: Answers) -> Move:
        """Choose the next move."""

    def guess(self, answers: Answers) -> int:
        """Guess the secret bit, 0 or 1."""


@dataclass(frozen=True, slots=True)
class Play:
    """One play: the secret bit, the answers, the guess, and the spent budget."""

    secret: int
    answers: Answers
    guess: int
    spent: Guarantee


@dataclass(frozen=True, slots=True)
class Game:
    """Many plays, and the bound on the advantage of any adversary."""

    plays: tuple[Play, ...]
    bound: float

    @property
    def advantage(self) -> Fraction:
        """P(right) − P(wrong), as observed: on average P(says 1 | b = 1) − P(says 1 | b = 0)."""
        right = sum(play.secret == play.guess for play in self.plays)
        return Fraction(2 * right, len(self.plays)) - 1

    def advantage_lower(self, confidence: Number = 0.95) -> float:
        """Return a lower bound on the adversary's true advantage, wrong with probability at most
        1 − confidence (Hoeffding 1963).
        """
        missing = 1 - probability(confidence, "confidence", zero=False)
        return float(self.advantage) - math.sqrt(2 * math.log(1 / missing) / len(self.plays))


def composition_game(
    adversary: Adversary,
    *,
    budget: Guarantee,
    rounds: int,
    plays: int = 1,
    relation: NeighbourRelation[Dataset] | None = None,
    bits: Bits = SYSTEM,
) -> Game:
    """Play the game. Without a relation any two datasets are neighbours, as in the local model,
    where a dataset is one person's value.
    """
    count_of(rounds, "rounds")
    purse = Filter(budget)
    return Game(
        tuple(
            _play(adversary, purse, rounds, relation, bits) for _ in range(count_of(plays, "plays"))
        ),
        budget.delta(0),
    )


def _play(
    adversary: Adversary,
    purse: Filter,
    rounds: int,
    relation: NeighbourRelation[Dataset] | None,
    bits: Bits,
) -> Play:
    secret = bits.integer(1)
    answers: Answers = ()
    for _ in range(rounds):
        move = adversary.choose(answers)
        # with a relation, both inputs are datasets
        if relation is not None and not relation.are_neighbours(
            cast("Dataset", move.x0), cast("Dataset", move.x1)
        ):
            raise refusals.NOT_NEIGHBOURS(x0=move.x0, x1=move.x1, relation=relation)
        if not purse.admits(move.cost):
            break
        purse = purse.spend(move.cost)
        answers = (*answers, _answer(move, secret, bits))
    return Play(secret, answers, adversary.guess(answers), purse.spent)


def _answer(move: Move, secret: int, bits: Bits) -> Answer:
    chosen = move.x1 if secret else move.x0
    return (
        draw(move.release, chosen, bits)
        if isinstance(move.release, Channel)
        else move.release(chosen, bits)
    )


def draw(channel: Channel, x: Hashable, bits: Bits = SYSTEM) -> Hashable:
    """Draw an answer of a finite channel exactly, from a uniform integer below the common
    denominator of the row.
    """
    row = channel.row(x)
    denominator = math.lcm(*(p.denominator for p in row))
    u = integer_below(denominator, bits)
    return next(
        y for y, end in zip(channel.outputs, accumulate(row), strict=True) if u < end * denominator
    )


def _cost(release: Channel | Release, x0: Hashable, x1: Hashable) -> Guarantee:
    """Return the ε of a finite channel over this pair."""
    if not isinstance(release, Channel):
        raise refusals.MOVE_WITHOUT_COST()
    epsilon = release.epsilon(pairs=[(x0, x1)])
    if math.isinf(epsilon):
        raise refusals.MOVE_OF_INFINITE_COST()
    return Pure(Fraction(epsilon))
