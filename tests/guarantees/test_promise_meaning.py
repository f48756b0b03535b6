"""The record of what a promise means: complete, outward, and honest about what does not follow."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.guarantees.finite.channel import Channel
from sfumato.guarantees.meaning.attacker import Attacker
from sfumato.guarantees.meaning.promise_meaning import ETAS, Meaning, conditional_error, meaning

NOTIONS: tuple[sf.Guarantee, ...] = (
    sf.Pure(0),
    sf.Pure("1e-6"),
    sf.Pure(1),
    sf.Pure(50),
    sf.Approx(1, 0),
    sf.Approx(1, "1e-6"),
    sf.Approx("0.1", "0.05"),
    sf.ZCDP("0.5"),
    sf.ZCDP("0.5", "1e-9"),
    sf.GDP(1),
    sf.GDP(0),
    sf.Renyi({2: "0.1"}),
    sf.Renyi({2: "0.1", 8: "0.5"}, "1e-6"),
    sf.Pure("0.1") + sf.GDP("0.5"),
    sf.Pure("0.1") + sf.Approx("0.2", "1e-6"),
)
RANDOM = sf.RandomDP(sf.Pure(1), "0.05", over="uniform records")
EMPTY: tuple[object, ...] = (None, ())


def each(values: object) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("guarantee", values, ids=lambda g: repr(g)[:50])


@each((*NOTIONS, RANDOM))
def test_what_is_missing_has_a_reason(guarantee: sf.Guarantee) -> None:
    m = guarantee.meaning(prior="0.3")
    empty = {f.name for f in fields(Meaning) if getattr(m, f.name) in EMPTY}
    if m.posterior is not None:
        empty.discard("outside")  # where it holds for every answer there are no exceptions to state
    assert empty <= set(m.missing)
    assert all(m.missing.values())
    for name in set(m.missing) - {"outside"}:
        assert getattr(m, name) in EMPTY


@each(NOTIONS)
def test_the_numbers_fit_together(guarantee: sf.Guarantee) -> None:
    prior = Fraction(9, 10)
    m = guarantee.meaning(prior=prior)
    assert 0 <= m.advantage <= 1
    assert m.total_error == pytest.approx(1 - m.advantage, abs=1e-15)
    assert max(prior, 1 - prior) <= Fraction(m.right_guess) <= 1
    caught = [d.true_positive for d in m.detection]
    assert caught == sorted(caught)
    assert all(
        d.false_positive
        <= Fraction(d.true_positive)
        <= d.false_positive + Fraction(m.advantage) + Fraction(1, 10**12)
        for d in m.detection
    )
    if m.posterior is not None:
        assert m.semantic.low <= m.posterior.low <= prior <= m.posterior.high <= m.semantic.high
        assert m.conditional_error <= m.total_error
    epsilons = [case.epsilon for case in m.outside]
    assert epsilons == sorted(epsilons)
    assert [case.eta for case in m.outside] == list(ETAS[: len(epsilons)])
    assert all(prior in case.posterior for case in m.outside)


def test_randomized_response_attains_all_of_a_pure_meaning() -> None:
    channel, prior = Channel.randomized_response(epsilon=1), Fraction(3, 10)
    m = sf.Pure(1).meaning(prior=prior)
    attacker = channel.attacker(0, 1)
    after = [channel.posterior([prior, 1 - prior], y)[0] for y in (1, 0)]
    assert [float(a) for a in after] == pytest.approx(list(m.posterior))
    assert float(after[1] / (1 - after[1]) / (prior / (1 - prior))) == pytest.approx(m.odds.high)
    assert float(attacker.advantage) == pytest.approx(m.advantage)
    assert (
        float(attacker.total_error)
        == pytest.approx(m.total_error)
        == pytest.approx(m.conditional_error)
    )
    assert [float(1 - attacker.tradeoff(d.false_positive)) for d in m.detection] == pytest.approx(
        [d.true_positive for d in m.detection]
    )
    assert channel.renyi(1) == pytest.approx(m.log_bayes_factor)
    assert m.bayes_factor_moment(2) == pytest.approx(math.exp(channel.renyi(2)))
    assert m.outcome(channel.row(1)[0]).high == pytest.approx(float(channel.row(0)[0]))


def test_a_betraying_channel_attains_an_approximate_meaning() -> None:
    """The worst (ln 3, 1/100)-DP pair: betray with probability δ, else toss coins."""
    undisclosed, delta = Fraction(99, 100), Fraction(1, 100)
    channel = Channel(
        [
            [delta, undisclosed * 3 / 4, undisclosed / 4, 0],
            [0, undisclosed / 4, undisclosed * 3 / 4, delta],
        ]
    )
    m = sf.Approx(Fraction(channel.epsilon(delta)), delta).meaning()
    attacker = channel.attacker(0, 1)
    assert float(attacker.advantage) == pytest.approx(m.advantage)
    assert [float(1 - attacker.tradeoff(d.false_positive)) for d in m.detection] == pytest.approx(
        [d.true_positive for d in m.detection]
    )
    assert channel.renyi(1) == math.inf
    assert m.log_bayes_factor is None
    assert m.outside == ()
    assert m.outside_event("0.02").epsilon > math.log(3)
    with pytest.raises(Refused):
        m.outside_event(delta)


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "3"])
def test_conditional_testing(epsilon: str) -> None:
    """S-131, E-30: 2/(1 + e^ε), well above the printed e^(−2ε); attained at even conditionals, and
    by no conditional of any channel undercut.
    """
    bound = conditional_error(epsilon)
    e = float(epsilon)
    assert bound == pytest.approx(2 / (1 + math.exp(e)))
    assert bound > math.exp(-2 * e)
    q = Fraction(1, 3)
    laws = (
        Channel([[q, 1 - q], [1 - q, q]]),
        Channel([["0.5", "0.2", "0.2", "0.1"], ["0.3", "0.3", "0.25", "0.15"]]),
    )
    for channel in laws:
        least = conditional_error(Fraction(channel.epsilon()))
        for event in ((0, 1), (0, 2), (0, 3), (1, 3), (0, 1, 3)):
            if max(event) < len(channel.outputs):
                arguments = [
                    [channel.row(x)[y] / sum(channel.row(x)[z] for z in event) for y in event]
                    for x in (0, 1)
                ]
                attacker = Attacker(event, tuple(arguments[0]), tuple(arguments[1]))
                assert Fraction(least) <= attacker.total_error
    assert float(laws[0].attacker(0, 1).total_error) == pytest.approx(
        conditional_error(Fraction(laws[0].epsilon()))
    ), "attained"


def test_the_normal_loss_is_bounded_in_expectation_only() -> None:
    """E-51: μ = 1 has E[L] = ½ and D₂ = 1; yet P(L > 1) = 0.31, so "ln R_post − ln R_prior ≤ ε" is
    false of single answers.
    """
    m = sf.GDP(1).meaning()
    assert m.log_bayes_factor == 0.5
    assert m.posterior is None
    assert "every answer" in m.missing["posterior"]
    assert sf.GDP(1).renyi(2) == 1


def test_a_random_promise_means_nothing_to_a_person() -> None:
    m = meaning(RANDOM, "0.5")
    assert set(m.missing) == {f.name for f in fields(Meaning)} - {"guarantee", "prior", "missing"}
    with pytest.raises(Refused):
        m.outcome("0.01")
    with pytest.raises(Refused):
        m.tradeoff("0.01")


def test_the_record_is_frozen_and_of_one_value() -> None:
    m = sf.Pure(1).meaning()
    assert m == sf.Pure(1).meaning(prior="1/2")
    assert hash(m) == hash(sf.Pure(1).meaning())
    with pytest.raises(FrozenInstanceError):
        m.prior = Fraction(1)  # type: ignore[misc]  # wrong on purpose
    with pytest.raises(TypeError):
        m.missing["odds"] = "no"  # type: ignore[index]  # wrong on purpose
    assert m.tradeoff("0.05") == sf.Pure(1).tradeoff("0.05")


@pytest.mark.parametrize("prior", [0, 1, "2", True])
def test_a_prior_lies_between_certainties(prior: object) -> None:
    with pytest.raises(Refused):
        sf.Pure(1).meaning(prior=prior)  # type: ignore[arg-type]  # wrong on purpose


def test_so_small_that_nobody_can_ask_often_enough() -> None:
    m = sf.Pure(Fraction(1, 10**200)).meaning()
    assert m.averaged_after is None
    assert m.missing["averaged_after"]
