"""Releases of which only outputs are seen: noise that is not fresh, wrong variants of known
algorithms, and channels beside the answer.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np

from sfumato import Approx, Pure

from .audited import Array, Raising, Release, Timed, audited, generator, geometric, plain
from .case import Case, case

# Noise that is not fresh.


def two_workers(x: int, n: int) -> Array:
    """Two answers, to the question and to an empty one, from workers that each have a copy of one
    generator, as after a fork.
    """
    parent = generator()
    answers = []
    for value in (x, 0):
        drawn = copy.deepcopy(parent).geometric(-np.expm1(-1), (2, n))
        answers.append(value + drawn[0] - drawn[1])
    return np.stack(answers, axis=1)


def two_fresh(x: int, n: int) -> Array:
    return np.stack([x + geometric(1, n), geometric(1, n)], axis=1)


def seeded(x: int, n: int) -> Array:
    """Every release begins with the same seed."""
    return np.array([x + int(np.random.default_rng(0).geometric(0.5)) for _ in range(n)])


def resumed(x: int, n: int) -> Array:
    """A generator that was stored, and resumed for each of two answers."""
    result = np.empty((n, 2), dtype=np.int64)
    for i in range(0, n, 500):
        stored = pickle.dumps(generator())
        size = min(500, n - i)
        for answer, value in enumerate((x, 2 * x)):
            drawn = pickle.loads(stored).geometric(0.3, (2, size))
            result[i : i + size, answer] = value + drawn[0] - drawn[1]
    return result


def drawn_twice(x: int, n: int) -> Array:
    return np.stack([x + geometric(1, n), 2 * x + geometric(2, n)], axis=1)


def failing_source(x: int, n: int) -> Array:
    """Now and then there is no entropy; then nothing is added."""
    return x + np.where(generator().random(n) < 0.2, 0, geometric(1, n))


def one_noise_for_all(x: tuple[int, int], n: int) -> Array:
    return np.array(x) + geometric(1, n)[:, None]


def noise_for_each(x: tuple[int, int], n: int) -> Array:
    return np.array(x) + geometric(1, (n, 2))


# Wrong variants.


def cut_noise(x: int, n: int) -> Array:
    return x + np.clip(geometric(1, n), -3, 3)


def cut_answers(x: int, n: int) -> Array:
    answers: Array = np.clip(x + geometric(1, n), -3, 3)
    return answers


def redrawn_if_negative(x: int, n: int) -> Array:
    """A count is not negative, so the noise is drawn until it is not."""
    noise = geometric(2, n)
    while (again := x + noise < 0).any():
        noise[again] = geometric(2, int(again.sum()))
    return x + noise


def above(threshold: float, query: float | None, *, stop: bool) -> Release:
    """Which of some queries lie above 0: with noise of these scales, ending at the first or not."""

    def release(x: Any, n: int) -> Array:
        over = np.array(x) + (geometric(query, (n, len(x))) if query else 0) >= geometric(
            threshold, (n, 1)
        )
        if stop:
            over &= np.cumsum(over, axis=1) == 1
        return over.astype(np.int64)

    return release


def noisy_max(scale: float) -> Release:
    return lambda x, n: (
        np.array(x) + geometric(scale, (n, len(x))) + generator().random((n, len(x))) * 0.5
    ).argmax(axis=1)


def some_published(rate: float) -> Release:
    """Publishes a record now and then, and else nothing."""
    return lambda x, n: np.where(generator().random(n) < rate, x, -1)


# Beside the numbers.


def never_names_nobody(x: tuple[int, int], n: int) -> Any:
    """The name of the fullest city, or, half of the time, of any city; but never of an empty
    one.
    """
    there = np.array([name for name, count in zip(("Bari", "Roma"), x, strict=True) if count])
    return list(
        np.where(
            generator().random(n) < 0.5,
            ("Bari", "Roma")[int(np.argmax(x))],
            generator().choice(there, n),
        )
    )


def names_any(x: tuple[int, int], n: int) -> Any:
    return list(
        np.where(
            generator().random(n) < 0.4,
            ("Bari", "Roma")[int(np.argmax(x))],
            generator().choice(["Bari", "Roma"], n),
        )
    )


def only_groups_there(x: dict[str, int], n: int) -> Any:
    """A structure that shows which groups there are."""
    return [
        {city: int(count + z) for (city, count), z in zip(x.items(), row, strict=True)}
        for row in geometric(1, (n, len(x)))
    ]


def all_groups(x: dict[str, int], n: int) -> Any:
    return only_groups_there({"Bari": x.get("Bari", 0), "Roma": x.get("Roma", 0)}, n)


def mean_or_error(data: list[float]) -> float:
    return sum(data) / len(data) + float(geometric(1, 1)[0])


def mean_anyway(data: list[float]) -> float:
    return sum(data) / max(len(data), 1) + float(geometric(1, 1)[0])


def long_for_one(x: int) -> int:
    """More work for a person with many rows."""
    return sum(range(20_000 if x == 42 else 20))


def as_long_for_all(x: int) -> int:
    return sum(range(2000)) + 0 * x


_MANY = ((0,) * 20 + (1,) * 20, (1,) * 20 + (0,) * 20)


CASES: dict[str, Case] = {
    "forked": case(
        "two workers with one generator",
        "fresh noise for each",
        "E1",
        audited(two_workers, (0, 1), Pure(2)),
        audited(two_fresh, (0, 1), Pure(2)),
    ),
    "seeded": case(
        "the same seed for every release",
        "fresh noise",
        "E2",
        audited(seeded, (0, 1), Pure(1), samples=2000),
        audited(plain(1), (0, 1), Pure(1), samples=2000),
    ),
    "resumed": case(
        "a stored generator, resumed twice",
        "fresh noise",
        "E3",
        audited(resumed, (0, 1), Pure(2)),
        audited(drawn_twice, (0, 1), Pure(2)),
    ),
    "no-entropy": case(
        "no noise where there is no entropy",
        "noise always",
        "E4",
        audited(failing_source, (0, 1), Pure(1)),
        audited(plain(1), (0, 1), Pure(1)),
    ),
    "one-noise-for-all": case(
        "one draw for a whole array",
        "one for each of its numbers",
        "D10",
        audited(one_noise_for_all, ((0, 0), (1, 0)), Pure(1)),
        audited(noise_for_each, ((0, 0), (1, 0)), Pure(1)),
    ),
    "cut-noise": case(
        "noise that is cut at ±3",
        "only the answer is cut",
        "bounded noise",
        audited(cut_noise, (0, 1), Pure(1)),
        audited(cut_answers, (0, 1), Pure(1)),
    ),
    "redrawn": case(
        "noise that is drawn again while the answer is negative",
        "negative answers are left",
        "rejection",
        audited(redrawn_if_negative, (0, 1), Pure("1/2"), samples=100_000),
        audited(plain(2), (0, 1), Pure("1/2"), samples=100_000),
    ),
    "sampled-5-per-cent": case(
        "noise 5 % too small, of a million draws",
        "the scale that ε asks for",
        "noise 5 %",
        audited(plain(0.95), (0, 1), Pure(1), samples=10**6),
        audited(plain(1), (0, 1), Pure(1), samples=10**6),
    ),
    "no-noise-on-queries": case(
        "above threshold without noise on the queries",
        "with noise on both, and an end",
        "sparse vector",
        audited(above(2, None, stop=False), ((0, 1), (1, 0)), Pure(1)),
        audited(above(2, 4, stop=True), ((0, 1), (1, 0)), Pure(1)),
    ),
    "never-ending": case(
        "above threshold that goes on after the first yes, at the price of one",
        "ends",
        "sparse vector",
        audited(above(2, 4, stop=False), _MANY, Pure(1), samples=100_000),
        audited(above(2, 4, stop=True), _MANY, Pure(1), samples=100_000),
    ),
    "noisy-max-half": case(
        "noisy max with noise of scale 1/ε for scores that move both ways",
        "2/ε",
        "noisy max",
        audited(noisy_max(1), ((3, 0), (2, 1)), Pure(1), samples=40_000),
        audited(noisy_max(2), ((3, 0), (2, 1)), Pure(1), samples=40_000),
    ),
    "name-and-shame": case(
        "publishes a record once in a hundred times, claiming δ = 10⁻⁶",
        "once in a million",
        "S-017",
        audited(some_published(0.01), (1, 2), Approx(1, "1e-6"), samples=100_000),
        audited(some_published(1e-6), (1, 2), Approx(1, "1e-6"), samples=100_000),
    ),
    "never-names-nobody": case(
        "a name is never that of an empty group",
        "any name may come up",
        "D5",
        audited(never_names_nobody, ((5, 0), (5, 1)), Pure(1)),
        audited(names_any, ((5, 0), (5, 1)), Pure(1)),
    ),
    "groups-in-structure": case(
        "the structure of the answer shows which groups there are",
        "all groups of a public list",
        "D5",
        audited(only_groups_there, ({"Bari": 3}, {"Bari": 3, "Roma": 1}), Pure(1), samples=4000),
        audited(all_groups, ({"Bari": 3}, {"Bari": 3, "Roma": 1}), Pure(1), samples=4000),
    ),
    "raises-on-nothing": case(
        "raises for an empty list",
        "answers",
        "C6, D1",
        Raising(function=mean_or_error, inputs=([], [1.0], [0.0, 1.0])),
        Raising(function=mean_anyway, inputs=([], [1.0], [0.0, 1.0])),
    ),
    "slow-for-one": case(
        "takes longer for a person with many rows",
        "takes as long for all",
        "D3, libprio-rs#645",
        Timed(function=long_for_one, pair=(42, 7)),
        Timed(function=as_long_for_all, pair=(42, 7)),
    ),
}
