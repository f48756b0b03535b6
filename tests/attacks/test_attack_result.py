"""Success beside what a guarantee allows: limits that are limits, bounds that are consequences, and
a verdict that can be both.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from scipy.stats import binom

import sfumato as sf
from sfumato.attacks.lib.attack_result import (
    ALPHA,
    Result,
    Success,
    as_integer,
    check_count,
    check_epsilons,
    event_bound,
    guess_bound,
    guess_success,
    plot_successes,
)
from sfumato.attacks.lib.attack_text import at_least, at_most
from sfumato.errors import Refused


def success(hits: int, trials: int = 1000, **changes: Any) -> Success:
    return Success(
        **(
            {
                "against": "ε = 1",
                "hits": hits,
                "trials": trials,
                "chance": 0.5,
                "promise": sf.Pure(1),
                "bound": guess_bound(sf.Pure(1)),
            }
            | changes
        )
    )


@pytest.mark.parametrize(("hits", "trials"), [(1, 10), (50, 100), (731, 1000), (1000, 1000)])
def test_the_limits_are_those_of_clopper_and_pearson(hits: int, trials: int) -> None:
    first = success(hits, trials)
    assert binom.sf(hits - 1, trials, first.lower()) <= float(ALPHA) * (1 + 1e-9)
    assert binom.sf(hits - 1, trials, first.lower() * 1.001) > float(ALPHA) * 0.99
    if hits < trials:
        assert binom.cdf(hits, trials, first.upper()) <= float(ALPHA) * (1 + 1e-9)
    assert first.lower() <= first.rate <= first.upper()
    assert first.lower(0.01) > first.lower()


def test_the_ends() -> None:
    assert success(0).lower() == 0
    assert success(1000).upper() == 1


def test_it_holds_until_the_lower_limit_is_above_the_bound() -> None:
    """At the bound of 0.731 and 1000 trials the verdict changes where P(at least so many | 0.731)
    falls below 10⁻⁶.
    """
    most = max(hits for hits in range(700, 1000) if success(hits).holds)
    assert (
        binom.sf(most - 1, 1000, guess_bound(sf.Pure(1)))
        > 1e-6
        >= binom.sf(most, 1000, guess_bound(sf.Pure(1))) * (1 - 1e-9)
    )
    assert not success(most + 1).holds
    assert "is kept" in success(most).sentence
    assert "is BROKEN" in success(most + 1).sentence


def test_exact_answers_promise_nothing() -> None:
    exact = success(1000, promise=None, bound=None)
    assert exact.holds is None
    assert exact.sentence.endswith("Nothing is promised.")


@pytest.mark.parametrize(("hits", "trials"), [(-1, 10), (11, 10), (0, 0)])
def test_impossible_counts_are_refused(hits: int, trials: int) -> None:
    with pytest.raises(Refused, match=r"attacks\.trials"):
        success(hits, trials)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
@pytest.mark.parametrize("choices", [2, 3, 10])
def test_the_guess_bound_is_attained_by_randomized_response(epsilon: str, choices: int) -> None:
    """k-ary randomized response tells the truth with e^ε/(e^ε + k − 1): who believes it is right as
    often as is allowed.
    """
    result = sf.mechanisms.RandomizedResponse(
        epsilon=epsilon, categories=[str(i) for i in range(choices)]
    )
    e = math.exp(float(epsilon))
    assert guess_bound(result.promise, choices) == pytest.approx(e / (e + choices - 1), rel=1e-12)
    assert guess_bound(result.promise, choices) >= Fraction(e / (e + choices - 1)) * (
        1 - Fraction(1, 10**15)
    )


def test_the_guess_bound_with_delta_is_attained() -> None:
    """With probability δ the mechanism reveals the truth, else it is randomized response. A guess
    is right with δ + (1 − δ)·e^ε/(e^ε + 1), for two values exactly (e^ε + δ)/(1 + e^ε).
    """
    e, delta = math.e, 0.01
    assert guess_bound(sf.Approx(1, delta)) == pytest.approx((e + delta) / (1 + e), rel=1e-12)
    assert delta + (1 - delta) * e / (1 + e) == pytest.approx((e + delta) / (1 + e), rel=1e-12)
    assert guess_bound(sf.Approx(1, delta), 3) == pytest.approx(
        (e + 2 * delta) / (e + 2), rel=1e-12
    )


def test_other_notions_have_a_bound_too() -> None:
    assert guess_bound(sf.GDP(1)) == pytest.approx(
        0.5 * (1 + math.erf(0.5 / math.sqrt(2))), abs=1e-9
    )  # Φ(μ/2)
    assert guess_bound(sf.ZCDP("0.1"), 4) < guess_bound(sf.ZCDP(1), 4) < 1


def test_the_event_bound() -> None:
    assert event_bound(sf.Pure(1), "0.1") == pytest.approx(0.1 * math.e, rel=1e-12)
    assert event_bound(sf.Pure(1), "0.9") == pytest.approx(1 - 0.1 / math.e, rel=1e-12)


@pytest.mark.parametrize("choices", [1, 0, True, "2"])
def test_a_guess_needs_two_values(choices: Any) -> None:
    with pytest.raises(Refused, match=r"attacks\.choices"):
        guess_bound(sf.Pure(1), choices)


class ExampleResult(Result):
    __slots__ = ()
    numbers = {"a": 1}  # noqa: RUF012  # overrides a property
    sentences = ("One <b>.", "Two.")
    successes = (success(700), success(1000, against="exact", bound=None, promise=None))

    def plot(self) -> Any:
        return plot_successes(self.successes, title="t", up="u")


def test_a_result_tells_itself() -> None:
    result = ExampleResult()
    assert str(result) == "One <b>.\nTwo."
    assert result.holds
    assert "<li>One &lt;b&gt;.</li>" in result._repr_html_()
    assert "<td>70 %</td>" in result._repr_html_()
    assert len(result.plot().axes[0].patches) == 2


def test_without_success_rates_there_is_no_table() -> None:
    class Unplayed(ExampleResult):
        __slots__ = ()
        successes = ()

    assert "<table>" not in Unplayed()._repr_html_()


def test_a_broken_promise_is_told() -> None:
    class Broken(ExampleResult):
        __slots__ = ()
        successes = (success(999),)

    assert not Broken().holds


def test_what_is_attacked() -> None:
    assert check_epsilons(["0.1", 1]) == (Fraction(1, 10), 1)
    assert check_count(5, "trials") == 5


@pytest.mark.parametrize("epsilons", ["0.1", 1, None])
def test_epsilons_are_a_list(epsilons: Any) -> None:
    with pytest.raises(Refused, match=r"attacks\.epsilons"):
        check_epsilons(epsilons)


@pytest.mark.parametrize("count", [0, -1, 1.5, "3", True])
def test_counts_are_whole(count: Any) -> None:
    with pytest.raises(Refused, match=r"attacks\.trials"):
        check_count(count, "trials")


def test_bounds_are_shown_rounded_up_and_limits_rounded_down() -> None:
    """Of 0.731058… the nearest three digits are 73.1 %, which is not allowed at most: 73.2 % is."""
    assert [at_most(guess_bound(sf.Pure(e))) for e in ("0.1", "0.5", 1, 2, 5)] == [
        "52.5 %",
        "62.3 %",
        "73.2 %",
        "88.1 %",
        "99.4 %",
    ]
    first = success(700)
    assert "allows 73.2 % at most" in first.sentence
    page = ExampleResult()._repr_html_()
    assert "<td>73.2 %</td>" in page
    assert f"<td>{at_least(first.lower())}</td>" in page
    assert f"above {at_least(success(999).lower())}" in success(999).sentence


@pytest.mark.parametrize("choices", [2, 10])
def test_guesses(choices: int) -> None:
    exact, private = (
        guess_success(epsilon, 3, 4, promise, choices)
        for epsilon, promise in ((None, None), (Fraction(1), sf.Pure(1)))
    )
    assert (exact.against, exact.chance, exact.bound) == ("exact answers", 1 / choices, None)
    assert (private.against, private.hits, private.trials, private.bound) == (
        "ε = 1",
        3,
        4,
        guess_bound(sf.Pure(1), choices),
    )


def test_a_promise_without_a_limit_says_so() -> None:
    """A secret that was not drawn with known odds: neither is nothing promised, nor is there a
    limit.
    """
    first = success(1000, bound=None)
    assert first.holds is None
    assert "No limit follows from the guarantee" in first.sentence
    assert "Nothing is promised" not in first.sentence


def test_whole_numbers() -> None:
    import numpy as np

    assert [as_integer(value) for value in (3, np.int64(3), True, 3.0, "3", None)] == [
        3,
        3,
        None,
        None,
        None,
        None,
    ]
