"""The bench on which attacks are played: its noise is that of a session, its games are fair, and
what a promise allows is not exceeded.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.lib.repeated_releases import (
    add_noise,
    draw_coins,
    draw_uniform,
    play_game,
    release_each,
)
from sfumato.mechanisms import Laplace
from sfumato.testing.seeded_bits import SeededBits


def test_the_noise_is_that_of_a_session() -> None:
    """The same record: integer Laplace noise of scale Δ/ε, so the law is the same and not only
    alike.
    """
    with sf.protect(
        pa.table({"a": [1, 2]}), name="t", budget=sf.Pure(1), relation="replace"
    ) as table:
        (part,) = table.plan(table.aggregate(n=sf.count()), epsilon="1/2").mechanism.parts
    assert part.law == Laplace(sensitivity=1, epsilon="1/2").law
    together = Laplace(
        sensitivity=1000, epsilon=500, size=1000
    )  # what `noisy` asks for a thousand of them
    assert together.law == part.law


def test_each_entry_gets_noise_of_its_scale() -> None:
    """Variance of 100 000 draws: seeded; five standard errors are 3.5 %. Half the ε is seen."""
    observed = add_noise(np.zeros(100_000), epsilon="0.5", moves=3, bits=SeededBits(1))
    assert abs(observed.var() / Laplace(sensitivity=3, epsilon="0.5").variance - 1) < 0.05
    assert abs(observed.var() / Laplace(sensitivity=3, epsilon="0.25").variance - 1) > 0.5


def test_shapes_are_kept_and_exact_is_exact() -> None:
    values = np.arange(6).reshape(2, 3)
    assert add_noise(values, epsilon=1).shape == (2, 3)
    assert (release_each(values, epsilon=None) == values).all()


def test_coins_and_choices_are_fair() -> None:
    """Each share of 40 000 draws is off by 0.02 with probability below 2·e^(−32) (Hoeffding)."""
    assert abs(draw_coins(40_000, SeededBits(1)).mean() - 0.5) < 0.02
    shares = np.bincount(draw_uniform(40_000, 5, SeededBits(2)), minlength=5) / 40_000
    assert len(shares) == 5
    assert np.abs(shares - 0.2).max() < 0.02


@pytest.mark.parametrize("choices", [2, 10])
def test_what_is_allowed_is_the_posterior(choices: int) -> None:
    _, first = play_game(lambda _: np.array([True]), [Fraction(1)], choices=choices)
    assert first.bound == pytest.approx(np.e / (np.e + choices - 1), abs=1e-12)
    assert first.promise == sf.Pure(1, relation="replace")


def test_a_release_without_noise_breaks_the_promise() -> None:
    """The twin: an attacker who is right 1000 times of 1000 is caught; one who is right as often as
    allowed is not.
    """
    _, broken = play_game(lambda _: np.ones(1000, dtype=bool), [Fraction(1)])
    assert not broken.holds
    _, remaining = play_game(lambda _: np.arange(1000) < 731, [Fraction(1)])
    assert remaining.holds
