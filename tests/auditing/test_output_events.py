"""Events are chosen on draws that do not count: what counts cannot touch the choice, and the chance
of error holds.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

import sfumato as sf
from sfumato.auditing import output_events
from sfumato.auditing.audit import count_events
from sfumato.auditing.bounds import epsilon_bound
from sfumato.auditing.canonical_outputs import read_outputs
from sfumato.auditing.clopper_pearson import expected_limits
from sfumato.auditing.output_events import DIRECTIONS, Event, count_event, learn_event


def drawn(seed: int, n: int = 400, k: int = 12) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, k, n)


def test_the_choice_does_not_see_the_half_that_counts() -> None:
    claim = sf.Pure(1)
    outputs_x, outputs_y = drawn(1), drawn(2)
    changed = outputs_x.copy()
    changed[200:] = 99  # what counts is all different
    first = count_events(claim, 0.0, None, read_outputs(outputs_x), read_outputs(outputs_y), 0.01)[
        0
    ].event
    second = count_events(claim, 0.0, None, read_outputs(changed), read_outputs(outputs_y), 0.01)[
        0
    ].event
    assert (first.words, first.direction) == (second.words, second.direction)


def test_the_share_of_false_bounds_is_below_alpha_where_laws_are_equal() -> None:
    """600 audits of equal laws at α = 0.05: more than 66 bounds above 0 have a chance below 10⁻⁶
    (binomial tail).
    """
    trials, alpha = 600, 0.05
    most = int(binom.isf(1e-6, trials, alpha))
    proven, peeked = 0, 0
    for trial in range(trials):
        first, second = read_outputs(drawn(2 * trial)), read_outputs(drawn(2 * trial + 1))
        result = count_events(sf.Pure(1), 0.0, None, first, second, alpha)[0]
        proven += epsilon_bound(result.low, result.high, 0.0) > 0
        if trial < 100:  # the twin: an event that was chosen on the draws that count
            ahead = np.flatnonzero(
                np.bincount(first.symbols, minlength=12) > np.bincount(second.symbols, minlength=12)
            )
            cheat = count_event(
                Event(
                    "seen more often",
                    DIRECTIONS[0],
                    lambda d, ahead=ahead: np.isin(d.symbols, ahead),
                ),
                first,
                second,
                alpha,
            )
            peeked += epsilon_bound(cheat.low, cheat.high, 0.0) > 0
    assert proven <= most
    assert peeked > int(binom.isf(1e-6, 100, alpha))


def test_both_directions_are_tried() -> None:
    g = np.random.default_rng(3)
    rare, common = g.random(4000) < 0.001, g.random(4000) < 0.2
    for pair, direction in (((common, rare), DIRECTIONS[0]), ((rare, common), DIRECTIONS[1])):
        first, second = (read_outputs(values.astype(np.int64)) for values in pair)
        event = learn_event(first, second, sf.Pure(1), 0.0, counting=4000, alpha=1e-6)
        result = count_event(event, first, second, 1e-6)
        assert epsilon_bound(result.low, result.high, 0.0) > 3
        assert event.direction == direction


def test_counted_takes_the_likelier_input_first() -> None:
    first, second = (
        read_outputs(np.array([1] * 30 + [0] * 10)),
        read_outputs(np.array([1] * 5 + [0] * 35)),
    )
    event = Event("ones", DIRECTIONS[0], lambda d: d.symbols == 1)
    result = count_event(event, first, second, 0.1)
    assert result.hits == (30, 5)
    assert result.low < 30 / 40 < 1
    assert result.high > 5 / 40
    turned = count_event(
        Event("zeros", DIRECTIONS[1], lambda d: d.symbols == 0), first, second, 0.1
    )
    assert turned.hits == (35, 10)


@pytest.mark.parametrize("n", [40, 41, 43])
def test_few_draws_are_enough_to_run(n: int) -> None:
    result = count_events(
        sf.Pure(1), 0.0, None, read_outputs(drawn(1, n)), read_outputs(drawn(2, n)), 1e-6
    )
    assert epsilon_bound(result[0].low, result[0].high, 0.0) == 0
    assert math.isfinite(result[0].low)


SIZES = ((0, 200_000), (1, 200_000), (0, 500_000), (1, 500_000))


@pytest.mark.parametrize(("caution", "chosen_well"), [(output_events._CAUTION, True), (0.0, False)])
def test_luck_on_the_draws_that_do_not_count_is_not_chosen(
    caution: float, chosen_well: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise for ε = 1/0.95: the best event proves 1.043 on 1.8 million draws. What looks best by
    luck, a rare one, would prove less than the claim of 1.
    """
    monkeypatch.setattr(output_events, "_CAUTION", caution)
    good = 0
    for seed in range(6):
        g = np.random.default_rng(seed)
        p = -math.expm1(-1 / 0.95)
        x, y, fresh_x, fresh_y = (
            np.int64(more) + g.geometric(p, n) - g.geometric(p, n)
            for more, n in ((0, 200_000), (1, 200_000), (0, 500_000), (1, 500_000))
        )
        event = learn_event(
            read_outputs(x), read_outputs(y), sf.Pure(1), 0.0, counting=1_800_000, alpha=1e-8
        )
        observed = [float(event.holds(read_outputs(drawn)).mean()) for drawn in (fresh_x, fresh_y)]
        low, high = expected_limits(
            *(observed if event.direction == DIRECTIONS[0] else observed[::-1]), 1_800_000, 5e-9
        )
        good += epsilon_bound(float(low), float(high), 0.0) > 1.01
    assert (good == 6) is chosen_well
