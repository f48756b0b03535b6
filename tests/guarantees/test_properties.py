"""The properties that lectures promise of differential privacy (S-190), one test each, as exact
statements about finite channels.

A channel is a matrix of rationals, so its ε is attained and every inequality is checked with the
numbers themselves: nothing is drawn.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.guarantees.finite.channel import Channel
from sfumato.guarantees.finite.divergences import hockey_stick
from sfumato.guarantees.finite.finite_laws import exceeds
from sfumato.guarantees.neighbour_relations import REPLACE

F = Fraction
SLACK = 1 + 1e-13  # numbers are rounded up, each by less


def rows(n: int, least: int = 1) -> st.SearchStrategy[list[Fraction]]:
    return (
        st.lists(st.integers(least, 9), min_size=n, max_size=n)
        .filter(any)
        .map(lambda w: [F(x, sum(w)) for x in w])
    )


@st.composite
def channels(draw: st.DrawFn, inputs: int = 3, outputs: int = 3, least: int = 1) -> Channel:
    return Channel([draw(rows(outputs, least)) for _ in range(inputs)])


def within(p: Fraction, q: Fraction, epsilon: Fraction) -> bool:
    """p ≤ e^ε·q, decided for certain."""
    return p == 0 or (q > 0 and not exceeds(p / q, epsilon))


def odds(channel: Channel) -> Fraction:
    """e^ε of a channel, exactly."""
    return max(p / q for a, b in product(channel.rows, repeat=2) for p, q in zip(a, b, strict=True))


@settings(max_examples=50)
@given(channels(), rows(3))
def test_linkage_is_neutralised(channel: Channel, prior: list[Fraction]) -> None:
    """Whatever else someone knows about a person (any prior, from any other source), an answer
    moves the odds between two values by e^ε at most.
    """
    bound = odds(channel)
    for y in channel.outputs:
        posterior = channel.posterior(dict(zip(channel.inputs, prior, strict=True)), y)
        for (x, before), (alternative, against) in product(
            zip(channel.inputs, prior, strict=True), repeat=2
        ):
            assert posterior[x] * against <= bound * posterior[alternative] * before


@settings(max_examples=50)
@given(channels())
def test_loss_is_quantified(channel: Channel) -> None:
    """ε is a number: the largest log-ratio of any event, attained, and no smaller one will do."""
    epsilon = F(channel.epsilon())
    for a, b in product(channel.rows, repeat=2):
        for event in product((False, True), repeat=len(channel.outputs)):
            assert within(
                sum((p for p, e in zip(a, event, strict=True) if e), F(0)),
                sum((q for q, e in zip(b, event, strict=True) if e), F(0)),
                epsilon,
            )
    if epsilon:
        assert not channel.density_ratio_holds(epsilon * (1 - F(1, 10**12)))


@settings(max_examples=50)
@given(channels(outputs=2), st.lists(channels(outputs=2), min_size=2, max_size=2))
def test_composition(first: Channel, second: list[Channel]) -> None:
    """Two answers, the second question chosen after the first answer: the losses add up."""
    rows_of_both = [
        [p * q for p, after in zip(first.row(x), second, strict=True) for q in after.row(x)]
        for x in first.inputs
    ]
    both = Channel(rows_of_both)
    promised = sf.Pure(F(first.epsilon())) + sf.Pure(F(max(after.epsilon() for after in second)))
    assert both.epsilon() <= promised.epsilon() * SLACK
    for at in ("0", "0.5", "2"):
        assert both.delta(at) <= promised.delta(at) * SLACK


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("leak", ["0", "1/64"])
def test_group_privacy(size: int, leak: str) -> None:
    """Three people, each answering for themselves; `size` of them change at once. With a δ, that
    grows too: by (e^(kε) − 1)/(e^ε − 1) at most.
    """
    response = Channel.randomized_response(odds=2)
    d = F(leak)
    single = Channel(
        [[*(((1 - d) * p) for p in response.row(x)), d * (1 - x), d * x] for x in (0, 1)]
    )
    datasets = list(product((0, 1), repeat=3))
    joint = Channel(
        [[p * q * r for p, q, r in product(*(single.row(bit) for bit in x))] for x in datasets],
        inputs=datasets,
    )
    apart = [(x, y) for x in datasets for y in datasets if REPLACE.distance(x, y) == size]
    assert apart
    epsilon = F(response.epsilon())
    promised = (sf.Approx(epsilon, d) if d else sf.Pure(epsilon)).group(size)
    assert joint.delta(promised.parameters["epsilon"], pairs=apart) <= promised.parameters.get(
        "delta", 0
    )
    if not d:
        assert joint.epsilon(pairs=apart) == pytest.approx(
            size * float(epsilon), rel=1e-12
        )  # attained
    elif size > 1:
        assert joint.delta(size * epsilon, pairs=apart) > d  # that δ stays as it is would be false


@settings(max_examples=50)
@given(channels(least=0), channels(least=0))
def test_post_processing(channel: Channel, after: Channel) -> None:
    """Nothing that is done to an answer, by whomever, loses more: at no ε, and at no order."""
    processed = channel.compose(after)
    for at in ("0", "0.1", "1", "3"):
        assert processed.delta(at) <= channel.delta(at) * SLACK
    for order in (1, 2, 10):
        assert processed.renyi(order) <= channel.renyi(order) * SLACK


@settings(max_examples=50)
@given(channels(), st.lists(st.integers(0, 100), min_size=3, max_size=3))
def test_a_participant_is_not_affected(channel: Channel, harm: list[int]) -> None:
    """Whatever may be done with the answer, and whatever that is worth to a person: with and
    without their data its expectation is within e^ε.
    """
    bound = odds(channel)
    for a, b in product(channel.rows, repeat=2):
        with_me, without = (
            sum((p * h for p, h in zip(row, harm, strict=True)), F(0)) for row in (a, b)
        )
        assert without / bound <= with_me <= bound * without


def test_properties_are_not_empty() -> None:
    """The twin: a channel that tells the truth has none of them."""
    truth = Channel([[1, 0], [0, 1]])
    assert truth.epsilon() == float("inf")
    assert hockey_stick(*truth.rows, 10) == 1
    assert not truth.density_ratio_holds(100)
