"""The composition game: what k-fold composition means, played out.

*Steps*     A secret bit b is tossed. In each round the adversary, who has seen all answers so far,
            names two neighbours x⁰ and x¹ and a release, and is shown its answer about x^b. At the
            end the adversary says which bit it was.
*Bound*     The law of all answers given b = 0 is close to that given b = 1, as the budget says: for
            any adversary P(says 1 | b = 1) − P(says 1 | b = 0) ≤ δ(0), the total variation (Dwork,
            Rothblum & Vadhan 2010).
*Filter*    Costs may be chosen along the way, so the budget has to be in a currency with a filter.
            A play ends with the first move that the filter does not admit.

Nothing here reads anyone's data: both datasets are the adversary's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, Protocol

from ..errors import Refused
from ..exact.numbers import Number, probability
from ..guarantees import Guarantee, Pure
from ..guarantees.finite.channel import Channel
from ..guarantees.neighbour_relations import NeighbourRelation
from ..noise.bits import SYSTEM, Bits
from ..noise.uniform import integer_below
from .composition import count_of
from .filters import Filter

Release = Callable[[Any, Bits], Any]
Seen = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """Two neighbours, and a release about one of them: a finite channel, or any function of a
    dataset and a source of bits that keeps the promise `cost`.
    """

    zero: Hashable
    one: Hashable
    release: Channel | Release
    cost: Guarantee

    def __init__(
        self,
        zero: Hashable,
        one: Hashable,
        release: Channel | Release,
        cost: Guarantee | None = None,
    ) -> None:
        if cost is None:
            cost = _cost(release, zero, one)
        for name, value in (("zero", zero), ("one", one), ("release", release), ("cost", cost)):
            object.__setattr__(self, name, value)


class Adversary(Protocol):
    """Whoever plays. Both methods get all answers of the play so far."""

    def choose(self, seen: Seen) -> Move:
        """The next move."""

    def guess(self, seen: Seen) -> int:
        """The secret bit, 0 or 1."""


@dataclass(frozen=True, slots=True)
class Play:
    """One play: the secret bit, the answers that were seen, the guess, and what was spent."""

    secret: int
    seen: Seen
    guess: int
    spent: Guarantee


@dataclass(frozen=True, slots=True)
class Game:
    """Many plays, and the bound on what any adversary can do."""

    plays: tuple[Play, ...]
    bound: float

    @property
    def advantage(self) -> Fraction:
        """P(right) − P(wrong), as observed: on average P(says 1 | b = 1) − P(says 1 | b = 0)."""
        right = sum(play.secret == play.guess for play in self.plays)
        return Fraction(2 * right, len(self.plays)) - 1

    def advantage_lower(self, confidence: Number = 0.95) -> float:
        """A lower bound on the adversary's true advantage, missed with probability 1 − confidence
        at most (Hoeffding 1963).
        """
        missing = 1 - probability(confidence, "confidence", zero=False)
        return float(self.advantage) - math.sqrt(2 * math.log(1 / missing) / len(self.plays))


def composition_game(
    adversary: Adversary,
    *,
    budget: Guarantee,
    rounds: int,
    plays: int = 1,
    relation: NeighbourRelation | None = None,
    bits: Bits = SYSTEM,
) -> Game:
    """Play the game. Without a relation any two datasets are neighbours, as in the local model,
    where a dataset is one person's own value.
    """
    count_of(rounds, "rounds")
    whole = Filter(budget)
    return Game(
        tuple(
            _play(adversary, whole, rounds, relation, bits) for _ in range(count_of(plays, "plays"))
        ),
        budget.delta(0),
    )


def _play(
    adversary: Adversary, purse: Filter, rounds: int, relation: NeighbourRelation | None, bits: Bits
) -> Play:
    secret = bits.integer(1)
    seen: Seen = ()
    for _ in range(rounds):
        move = adversary.choose(seen)
        if relation is not None and not relation.are_neighbours(move.zero, move.one):
            raise Refused(
                "game.neighbours",
                f"{move.zero!r} and {move.one!r}",
                f"they are more than one step of {relation} apart",
                "two neighbours",
            )
        if not purse.admits(move.cost):
            break
        purse = purse.spend(move.cost)
        seen = (*seen, _answer(move, secret, bits))
    return Play(secret, seen, adversary.guess(seen), purse.spent)


def _answer(move: Move, secret: int, bits: Bits) -> Any:
    chosen = move.one if secret else move.zero
    return (
        draw(move.release, chosen, bits)
        if isinstance(move.release, Channel)
        else move.release(chosen, bits)
    )


def draw(channel: Channel, x: Hashable, bits: Bits = SYSTEM) -> Hashable:
    """An answer of a finite channel, drawn exactly: a uniform integer below the common denominator
    of the row.
    """
    row = channel.row(x)
    whole = math.lcm(*(p.denominator for p in row))
    u = integer_below(whole, bits)
    return next(
        y for y, end in zip(channel.outputs, accumulate(row), strict=True) if u < end * whole
    )


def _cost(release: Channel | Release, zero: Hashable, one: Hashable) -> Guarantee:
    """The ε of a finite channel, over this pair."""
    if not isinstance(release, Channel):
        raise Refused(
            "game.cost",
            "Move(…)",
            "what a function promises cannot be seen from outside",
            "Move(x0, x1, release, cost=sf.Pure(0.1))",
        )
    epsilon = release.epsilon(pairs=[(zero, one)])
    if math.isinf(epsilon):
        raise Refused(
            "game.cost",
            "Move(…)",
            "the channel has no finite ε over this pair",
            "Move(x0, x1, channel, cost=sf.Approx(ε, δ))",
        )
    return Pure(Fraction(epsilon))
