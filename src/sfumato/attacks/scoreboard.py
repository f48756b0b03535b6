"""The scoreboard of Narayanan & Shmatikov (2008): find a person among many by a few ratings that
somebody remembers (S-147).

*Score*     Of every record, over the remembered ratings of films that are in it: (e^(−|Δstars|/1.5)
            + e^(−|Δdays|/30))/ln(how many rated the film).
*Found*     The record with the largest score, if it stands out: (largest − second)/(standard
            deviation of all scores) above 1.5, the eccentricity.
*Known*     So many ratings of the person, each off by one star at most, its date by `days` at most,
            and `wrong` of them of other films.
*Printed*   8 ratings, 2 of them wrong, with dates within 14 days find 99 % of the people of the
            Netflix Prize data of 2006; 2 ratings with dates within 3 days find 68 %. The source
            leaves out the two wrong ones and speaks of streamed films (E-64). Here: the same attack
            on generated data.
*Against*   Has the person rated a film that they kept to themselves? From the record that was
            found; and from private counts of ratings by film (`games`, *Presence*), which allow
            e^ε/(1 + e^ε).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number
from . import attack_refusals as refusals
from .data.ratings import Ratings
from .lib import games
from .lib.attack_result import EPSILONS, Result, Success, check_count, check_epsilons
from .lib.attack_text import per_cent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STARS, DATES, ECCENTRICITY = 1.5, 30.0, 1.5
Real = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scoreboard(Result):
    """How many people the attack finds, by the number of known ratings."""

    data: Ratings
    known_ratings: tuple[int, ...]  # ratings that are remembered
    days: int
    wrong: int
    trials: int
    right: tuple[int, ...]  # people found, of so many trials
    mistaken: tuple[int, ...]  # somebody else found
    seed: int

    @property
    def identified(self) -> tuple[float, ...]:
        """The share of people found, for each number of known ratings."""
        return tuple(right / self.trials for right in self.right)

    @property
    def numbers(self) -> dict[str, float | int]:
        return {
            f"identified by {count}": share
            for count, share in zip(self.known_ratings, self.identified, strict=True)
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        wrong = (
            f", a quarter of the ratings and no more than {self.wrong} being wrong"
            if self.wrong
            else ""
        )
        sentences = [
            (
                f"Among {self.data.people} people and {self.data.items} films, dates being "
                f"known to within {self.days} days{wrong}:"
            )
        ]
        for count, share, others in zip(
            self.known_ratings, self.identified, self.mistaken, strict=True
        ):
            mistaken = (
                f"; {per_cent(others / self.trials)} are taken for somebody else" if others else ""
            )
            sentences.append(
                f"{count} known {'rating finds' if count == 1 else 'ratings find'} "
                f"{per_cent(share)} of the people{mistaken}."
            )
        return tuple(sentences)

    def plot(self) -> Figure:
        """Plot the share of people found, by the number of known ratings."""
        from ..plots import Graph, graphs

        curves = {
            "found": np.array(self.identified),
            "taken for somebody else": np.array(self.mistaken) / self.trials,
        }
        title = f"found within {self.days} days"
        graph = Graph(
            title=title,
            x=np.array(self.known_ratings, dtype=float),
            curves=curves,
            across="ratings known",
            up="share of people",
        )
        return graphs([graph], title=f"A few ratings find one of {self.data.people}")

    def against(
        self, epsilons: Sequence[Number] = EPSILONS, *, trials: int = 500, seed: int | None = None
    ) -> tuple[Success, ...]:
        """Play: did the person rate one more film? The attacker uses the largest number of known
        ratings, and either the ratings themselves or private counts by film.
        """
        losses, many = check_epsilons(epsilons), check_count(trials, "trials")
        generator = np.random.default_rng(self.seed if seed is None else seed)
        board = Board(self.data)
        hits = 0
        for _ in range(many):
            target, secret = int(generator.integers(self.data.people)), bool(generator.integers(2))
            match = board.find(
                *board.remembered(target, self.known_ratings[-1], self.days, self.wrong, generator)
            )
            # another record, or none, says nothing about this person
            read = secret if match == target else bool(generator.integers(2))
            hits += read == secret
        exact = Success(against="the ratings themselves", hits=hits, trials=many, chance=0.5)
        others = np.resize(np.minimum(np.sort(board.raters), games.MOST_OTHERS), many)
        return exact, *games.play_presence(others, losses, seed=self.seed)[1:]


class Board:
    """The records, film by film: who rated it, when, with how many stars."""

    def __init__(self, data: Ratings) -> None:
        self.data = data
        self.order = np.argsort(data.item, kind="stable")
        self.starts = np.searchsorted(data.item[self.order], np.arange(data.items + 1))
        self.raters = np.diff(self.starts)
        self.weights = 1 / np.log(np.maximum(self.raters, 2))

    def remembered(
        self, person: int, count: int, days: int, wrong: int, generator: np.random.Generator
    ) -> tuple[NDArray[np.int64], Real, Real]:
        """Draw films, stars and days that somebody remembers about a person: of `count` ratings
        `wrong` are of other films, never more than a quarter.
        """
        rows = self.data.of(person)
        rows = generator.choice(rows, min(count, len(rows)), replace=False)
        films = self.data.item[rows].copy()
        stars = self.data.stars[rows] + generator.integers(-1, 2, len(rows))
        films[: min(wrong, len(rows) // 4)] = generator.integers(
            0, self.data.items, min(wrong, len(rows) // 4)
        )
        return films, stars, self.data.day[rows] + generator.integers(-days, days + 1, len(rows))

    def scores(self, films: NDArray[np.int64], stars: Real, days: Real) -> Real:
        """Compute the score of every record."""
        total = np.zeros(self.data.people)
        for film, rating, day in zip(films, stars, days, strict=True):
            rows = self.order[self.starts[film] : self.starts[film + 1]]
            near = np.exp(-np.abs(self.data.stars[rows] - rating) / STARS) + np.exp(
                -np.abs(self.data.day[rows] - day) / DATES
            )
            total[self.data.person[rows]] += self.weights[film] * near
        return total

    def find(self, films: NDArray[np.int64], stars: Real, days: Real) -> int | None:
        """Find the person whose record stands out, or None."""
        total = self.scores(films, stars, days)
        second, first = np.partition(total, -2)[-2:]
        spread = float(total.std())
        return (
            int(np.argmax(total))
            if spread > 0 and (first - second) / spread > ECCENTRICITY
            else None
        )


def scoreboard(
    data: Ratings,
    *,
    known_ratings: Sequence[int] = (1, 2, 3, 4, 5, 6, 8),
    days: int = 14,
    wrong: int = 0,
    trials: int = 200,
    seed: int = 0,
) -> Scoreboard:
    """Measure the share of people found in the data by so many known ratings, with dates off by at
    most `days` and `wrong` of the ratings wrong.
    """
    if not isinstance(data, Ratings):
        raise refusals.NOT_RATINGS(type=type(data).__name__)
    if not data.person.size or data.people < 2:
        raise refusals.TOO_FEW_RATERS()
    if not isinstance(known_ratings, tuple | list | range) or not known_ratings:
        raise refusals.NOT_A_LIST_OF_NUMBERS(
            name="known_ratings", value=known_ratings, example=(1, 2, 4, 8)
        )
    counts = tuple(check_count(count, "known_ratings") for count in known_ratings)
    days = check_count(days, "days", 0)
    wrong = check_count(wrong, "wrong", 0)
    trials = check_count(trials, "trials")
    generator, board = np.random.default_rng(seed), Board(data)
    right, mistaken = [], []
    for count in counts:
        targets = generator.integers(0, data.people, trials)
        matches = [
            board.find(*board.remembered(int(target), count, days, wrong, generator))
            for target in targets
        ]
        right.append(
            sum(match == int(target) for match, target in zip(matches, targets, strict=True))
        )
        mistaken.append(sum(match is not None for match in matches) - right[-1])
    return Scoreboard(
        data=data,
        known_ratings=counts,
        days=days,
        wrong=wrong,
        trials=trials,
        right=tuple(right),
        mistaken=tuple(mistaken),
        seed=seed,
    )
