"""Posterior bounds against exact posteriors: by Bayes' rule over finite channels, in rational
numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations, product

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.guarantees.finite.channel import Channel, belief_shift
from sfumato.guarantees.meaning import bayes

PRIORS = [Fraction(p) for p in ("1e-6", "0.01", "0.3", "1/2", "0.9", "0.999")]
THREE = Channel(
    [["0.5", "0.2", "0.2", "0.1"], ["0.3", "0.3", "0.25", "0.15"], ["0.25", "0.4", "0.2", "0.15"]]
)


def noisy_count(people: int, odds: int = 3) -> Channel:
    """The two-sided geometric law with ratio 1/odds, cut to the range of the count: ε = ln odds for
    neighbouring counts, exactly.
    """
    q = Fraction(1, odds)

    def law(count: int) -> list[Fraction]:
        inside = [(1 - q) / (1 + q) * q ** abs(y - count) for y in range(1, people)]
        return [q**count / (1 + q), *inside, q ** (people - count) / (1 + q)]

    return Channel([law(count) for count in range(people + 1)])


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_randomized_response_attains_the_bounds(prior: Fraction) -> None:
    """No better bound is true: the posterior of randomized response is the bound."""
    response = Channel.randomized_response(epsilon=1)
    bounds = bayes.posterior_bounds(1, prior)
    for answer, bound in ((0, bounds.high), (1, bounds.low)):
        posterior = response.posterior([prior, 1 - prior], answer)[0]
        assert posterior in bounds
        assert float(posterior) == pytest.approx(bound, rel=1e-14)


@pytest.mark.parametrize(
    "prior",
    [("0.2", "0.3", "0.5"), ("0.98", "0.01", "0.01"), ("1e-9", "0.5", "0.499999999")],
    ids=str,
)
def test_any_statement_about_one_person(prior: tuple[str, ...]) -> None:
    """S-013, S-122, S-126: for every set of inputs and every answer the odds move by e^ε at most,
    and the belief by e^ε at most, up or down.
    """
    epsilon, statements = Fraction(THREE.epsilon()), 0
    for inputs in chain.from_iterable(combinations(range(3), size) for size in (1, 2)):
        before = sum(Fraction(prior[x]) for x in inputs)
        for y in THREE.outputs:
            after = sum(THREE.posterior(prior, y)[x] for x in inputs)
            assert after in bayes.posterior_bounds(epsilon, before)
            assert after in bayes.semantic_bounds(epsilon, before)
            assert after / (1 - after) / (before / (1 - before)) in bayes.odds_factor(epsilon)
            assert belief_shift(before, after, rounding="down") <= epsilon
            statements += 1
    assert statements == 24


def test_the_bounds_on_the_odds_are_inside_the_semantic_ones() -> None:
    for prior, epsilon in product(PRIORS, ("0.01", 1, 5, 50)):
        narrow, wide = bayes.posterior_bounds(epsilon, prior), bayes.semantic_bounds(epsilon, prior)
        assert wide.low <= narrow.low <= prior <= narrow.high <= wide.high <= 1


def test_E_29_the_prior_odds_belong_to_the_bound() -> None:
    """Odds of 99 become 297 by one toss of a coin: more than the printed bound e^ε = 3, and exactly
    e^ε times 99.
    """
    after = Channel.coin_toss().posterior({"yes": Fraction(99, 100), "no": Fraction(1, 100)}, "yes")
    assert after["yes"] / after["no"] == 297 == 3 * 99 > 3


def test_E_48_both_sides_count() -> None:
    """From 0.1 to certainty the printed one-sided ratio prior/posterior is 0.1 ≤ e⁰; the two-sided
    shift is ln 10.
    """
    assert Fraction(1, 10) / 1 <= 1
    assert belief_shift("0.1", 1) == pytest.approx(math.log(10))
    assert Fraction(1) not in bayes.semantic_bounds(2, "0.1")


def posterior_of_first(
    prior: dict[tuple[int, ...], Fraction], people: int, y: int
) -> tuple[Fraction, Fraction]:
    """The belief that the first person's bit is 1, before and after the noisy count of ones."""
    count = noisy_count(people)
    joint = {rows: weight * count.row(sum(rows))[y] for rows, weight in prior.items()}
    before = sum((weight for rows, weight in prior.items() if rows[0]), Fraction(0))
    return before, sum((mass for rows, mass in joint.items() if rows[0]), Fraction(0)) / sum(
        joint.values()
    )


def test_independent_rows_keep_the_bound_and_copies_break_it() -> None:
    """S-121, S-121b: the bound is for beliefs that hold the person for independent of the
    others.
    """
    people, bits = 4, [Fraction(b) for b in ("0.1", "0.5", "0.3", "0.9")]
    epsilon = Fraction(noisy_count(people).epsilon(pairs=[(c, c + 1) for c in range(people)]))
    assert float(epsilon) == pytest.approx(math.log(3))
    independent = {
        rows: Fraction(math.prod(b if bit else 1 - b for b, bit in zip(bits, rows, strict=True)))
        for rows in product((0, 1), repeat=people)
    }
    for y in range(people + 1):
        before, after = posterior_of_first(independent, people, y)
        assert after in bayes.posterior_bounds(epsilon, before)
    copies = {(1,) * people: Fraction(1, 10), (0,) * people: Fraction(9, 10)}
    before, after = posterior_of_first(copies, people, people)
    assert after > bayes.posterior_bounds(epsilon, before).high
    assert after in bayes.posterior_bounds(people * epsilon, before), (
        "and the promise about the group holds"
    )


def test_correlated_posterior_is_the_group_bound_attained() -> None:
    posterior = bayes.correlated_posterior(1, 10, "0.1")
    assert posterior == pytest.approx(0.9995915675173918, abs=1e-15)
    assert posterior > bayes.semantic_bounds(1, "0.1").high == pytest.approx(0.2718281828459045)
    assert sf.Pure(1).group(10).meaning(prior=0.1).posterior.high == pytest.approx(posterior)
    assert (
        bayes.correlated_posterior(1, 1, "0.1", rounding="up")
        == bayes.posterior_bounds(1, "0.1").high
    )
    with pytest.raises(Refused):
        bayes.correlated_posterior(1, 0, "0.1")


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_no_guess_is_better(prior: Fraction) -> None:
    """Against the best guess over a channel, and attained by randomized response."""
    for channel in (THREE, Channel.randomized_response(epsilon=1)):
        guarantee = sf.Pure(Fraction(channel.epsilon()))
        best = sum(
            max(prior * p, (1 - prior) * q)
            for p, q in zip(channel.row(0), channel.row(1), strict=True)
        )
        assert max(prior, 1 - prior) <= best <= Fraction(bayes.right_guess(guarantee, prior))
    assert float(best) == pytest.approx(bayes.right_guess(guarantee, prior), rel=1e-12)


def test_a_guess_by_a_curve_alone() -> None:
    """For μ-GDP the best guess between two normals: Φ(μ/2) at even odds."""
    assert bayes.right_guess(sf.GDP(1), "1/2") == pytest.approx(0.6914624612740131)
    assert Fraction(7, 10) <= bayes.right_guess(sf.Pure(0), "0.3") == pytest.approx(0.7)
    assert bayes.right_guess(sf.Approx(0, "0.1"), "1/2") == pytest.approx(0.55)


def test_the_moment_of_the_bayes_factor() -> None:
    """S-123, by the sum over answers; where no Rényi bound follows there is none."""
    response = Channel.randomized_response(epsilon=1)
    for order in (2, 3, 7):
        mean = sum(
            p * (p / q) ** (order - 1)
            for p, q in zip(response.row(0), response.row(1), strict=True)
        )
        assert float(mean) == pytest.approx(bayes.bayes_factor_moment(sf.Pure(1), order), rel=1e-12)
    assert bayes.bayes_factor_moment(sf.GDP("1/2"), 3) == pytest.approx(2.117000016612675)
    assert bayes.bayes_factor_moment(sf.Approx(1, "1e-6"), 3) == math.inf


def test_epsilon_of_posterior_inverts_the_bound() -> None:
    for prior, posterior in (("0.5", "0.75"), ("0.01", "0.2"), ("0.9", "0.95")):
        epsilon = Fraction(bayes.epsilon_of_posterior(prior, posterior))
        assert bayes.posterior_bounds(epsilon, prior).high == pytest.approx(
            float(posterior), rel=1e-12
        )
    assert bayes.epsilon_of_posterior("0.5", "0.75") == pytest.approx(math.log(3))


@pytest.mark.parametrize("prior", [0, 1, -1, 2])
def test_a_certainty_is_no_prior(prior: int) -> None:
    with pytest.raises(Refused) as caught:
        bayes.posterior_bounds(1, prior)
    assert caught.value.code == "number.not-a-probability"


def test_extremes() -> None:
    assert (
        bayes.posterior_bounds(0, "1/3").low
        <= Fraction(1, 3)
        <= bayes.posterior_bounds(0, "1/3").high
    )
    assert bayes.posterior_bounds(10**6, "1/2") == (0.0, 1.0)
    assert bayes.odds_factor(10**6) == (0.0, math.inf)
    assert "x" not in bayes.posterior_bounds(1, "1/2")
