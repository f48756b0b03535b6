"""Channels: matrices of exact rationals, and what an adversary can make of them."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.guarantees.finite.channel import Channel, belief_shift
from sfumato.guarantees.neighbour_relations import ADD_REMOVE, REPLACE

from ..refusing import refusing

COIN = Channel.coin_toss()
ORDERS = (F(1, 2), F(1), F(3, 2), F(2), F(10), math.inf)


def row(n: int, least: int = 0) -> st.SearchStrategy[list[F]]:
    return (
        st.lists(st.integers(least, 6), min_size=n, max_size=n)
        .filter(any)
        .map(lambda w: [F(x, sum(w)) for x in w])
    )


@st.composite
def channels(draw: st.DrawFn, inputs: int = 3, outputs: int = 3, least: int = 0) -> Channel:
    return Channel([draw(row(outputs, least)) for _ in range(inputs)])


def local(channel: Channel, n: int) -> Channel:
    """Every row of a dataset answers through the channel, on its own."""
    data = list(product(channel.inputs, repeat=n))
    rows = [
        [math.prod(w, start=F(1)) for w in product(*(channel.row(x) for x in rows))]
        for rows in data
    ]
    return Channel(rows, inputs=data, outputs=product(channel.outputs, repeat=n))


def test_a_channel_is_read_exactly() -> None:
    assert (
        Channel([[0.75, 0.25], [0.25, 0.75]]).rows
        == COIN.rows
        == ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))
    )
    assert Channel({"yes": {"yes": 0.75, "no": 0.25}, "no": {"no": "3/4", "yes": "1/4"}}) == COIN
    assert (
        Channel(np.array([[0.75, 0.25], [0.25, 0.75]]), inputs=("yes", "no"), outputs=("yes", "no"))
        == COIN
    )
    assert Channel([[1 / 3] * 3]).rows == ((F(1, 3),) * 3,)
    assert Channel(iter([iter([1, 0])])).outputs == (0, 1)
    assert hash(Channel.coin_toss()) == hash(COIN)


@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", 1, 5, 50])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_randomized_response_promises_its_epsilon_and_no_less(epsilon: str | int, k: int) -> None:
    channel = Channel.randomized_response(epsilon, k)
    assert channel.epsilon() == pytest.approx(float(epsilon), rel=1e-15)
    assert channel.density_ratio_holds(epsilon)
    assert not channel.density_ratio_holds(F(epsilon) - F(1, 10**28))
    assert all(sum(r) == 1 for r in channel.rows)


def test_randomized_response_at_the_ends() -> None:
    assert Channel.randomized_response(1).epsilon() == 1.0
    assert Channel.randomized_response(0, k=3).rows == ((F(1, 3),) * 3,) * 3
    assert Channel.randomized_response(odds=3).rows == COIN.rows
    assert COIN.epsilon() >= math.log(3)


@settings(max_examples=30)
@given(channels(), channels(), st.fractions(0, 2, max_denominator=12))
def test_processing_never_hurts(first: Channel, second: Channel, epsilon: F) -> None:
    processed = first.compose(second)
    assert processed.epsilon() <= first.epsilon()
    assert processed.delta(epsilon) <= math.nextafter(first.delta(epsilon), 2)
    assert all(processed.renyi(order) <= first.renyi(order) * (1 + 1e-15) for order in ORDERS)


def test_processing_is_written_after_not_before() -> None:
    """Printed once as M∘G. Feeding the input through G first is another channel, and its ε may be
    larger than M's over the pairs at hand.
    """
    M = Channel([[F(3, 4), F(1, 4)], [F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)]])
    near = [(0, 1)]
    relabel = Channel([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    assert relabel.compose(M).epsilon(pairs=near) > M.epsilon(pairs=near)


@settings(max_examples=30)
@given(channels(), channels(), st.fractions(0, 2, max_denominator=12))
def test_two_answers_add_up(first: Channel, second: Channel, epsilon: F) -> None:
    both = first.product(second)
    for x, y in ((0, 1), (2, 0)):
        assert both.epsilon(pairs=[(x, y)]) <= (
            first.epsilon(pairs=[(x, y)]) + second.epsilon(pairs=[(x, y)])
        ) * (1 + 1e-15)
    assert all(
        both.renyi(order) <= (first.renyi(order) + second.renyi(order)) * (1 + 1e-15)
        for order in ORDERS
    )
    assert both.delta(2 * epsilon) <= first.delta(epsilon) + second.delta(epsilon) + 1e-12


@settings(max_examples=30)
@given(channels(least=1))
def test_the_same_answer_twice_costs_twice(channel: Channel) -> None:
    twice = channel.product(channel)
    assert twice.epsilon() == pytest.approx(2 * channel.epsilon(), rel=1e-12)
    assert all(
        twice.renyi(order) == pytest.approx(2 * channel.renyi(order), rel=1e-12) for order in ORDERS
    )


@given(channels(), st.fractions(0, 2, max_denominator=12))
def test_delta_is_the_expectation_of_the_loss(channel: Channel, epsilon: F) -> None:
    for x, y in ((0, 1), (1, 0)):
        losses = channel.losses(x, y)
        assert sum(loss.mass for loss in losses) == 1
        expectation = sum(
            float(loss.mass) * max(0.0, -math.expm1(float(epsilon) - loss.value)) for loss in losses
        )
        assert expectation <= channel.delta(epsilon, pairs=[(x, y)]) + 1e-12
    both = [
        sum(
            float(a.mass) * max(0.0, -math.expm1(float(epsilon) - a.value))
            for a in channel.losses(x, y)
        )
        for x, y in ((0, 1), (1, 0))
    ]
    assert max(both) == pytest.approx(channel.delta(epsilon, pairs=[(0, 1)]), abs=1e-12)


@given(channels(), st.sampled_from([F(0), F(1, 20), F(1, 3)]))
def test_epsilon_and_delta_are_inverse(channel: Channel, delta: F) -> None:
    epsilon = channel.epsilon(delta)
    if math.isinf(epsilon):
        assert channel.delta(700) > delta
    else:
        assert channel.delta(F(epsilon)) <= delta + F(1, 10**12)
        assert epsilon == 0 or channel.delta(max(F(0), F(epsilon) - F(1, 10**9))) > delta


@given(channels(), st.fractions(0, 3, max_denominator=12))
def test_the_density_ratio_is_pure_privacy(channel: Channel, epsilon: F) -> None:
    assert channel.density_ratio_holds(epsilon) == (channel.delta(epsilon) == 0)


def test_the_density_ratio_takes_no_delta() -> None:
    with refusing("channel.pointwise"):
        COIN.density_ratio_holds(1, 0.1)
    n, zero = 50, [F(0)] * 50
    leak = Channel([[F(1, n)] * n + zero, zero + [F(1, n)] * n])
    delta = F(1, n)
    pointwise = all(p <= q + delta for p, q in zip(*leak.rows, strict=True))
    assert pointwise, "what the refused check would have said"
    assert leak.delta(0) == 1.0
    assert leak.attacker(0, 1).total_error == 0


@given(channels())
def test_the_cdf_ratio_is_necessary(channel: Channel) -> None:
    assert channel.cdf_ratio() <= channel.epsilon()


def test_the_cdf_ratio_is_not_sufficient() -> None:
    channel = Channel([["0.5", "0.1", "0.4"], ["0.5", "0.2", "0.3"]])
    assert channel.cdf_ratio() < 0.155
    assert channel.epsilon() > 0.693
    assert not channel.density_ratio_holds(F(channel.cdf_ratio()))
    assert Channel([[1, 0], [0, 1]]).cdf_ratio() == math.inf


@given(channels(), row(3, 1))
def test_beliefs_move_by_epsilon_at_most(channel: Channel, prior: list[F]) -> None:
    """The two-sided semantic bound, for every answer and every single input: the odds on several
    inputs are averages of these.
    """
    bound = channel.epsilon()
    marginal = channel.marginal(prior)
    assert sum(marginal.values()) == 1
    for y in channel.outputs:
        if marginal[y]:
            posterior = channel.posterior(prior, y)
            assert sum(posterior.values()) == 1
            assert all(
                belief_shift(before, posterior[x], rounding="down") <= bound
                for x, before in zip(channel.inputs, prior, strict=True)
            )


def test_the_one_sided_semantic_bound_bounds_nothing() -> None:
    """Printed as |prior/posterior| ≤ e^ε, one side only: a channel that tells everything passes it
    at ε = 0.
    """
    tell = Channel([[1, 0], [0, 1]], inputs=("sick", "well"), outputs=("yes", "no"))
    prior = {"sick": F(1, 10), "well": F(9, 10)}
    after = tell.posterior(prior, "yes")["sick"]
    assert after == 1
    assert prior["sick"] / after <= math.exp(0)
    assert belief_shift(prior["sick"], after) == pytest.approx(math.log(10))
    assert tell.epsilon() == math.inf
    assert belief_shift(0.5, 0) == math.inf
    assert belief_shift(0, 0) == 0.0


def test_what_cannot_be_answered_otherwise_is_an_infinite_loss() -> None:
    """Printed as undefined; it is +∞, and its mass is the δ that no ε removes."""
    leak = Channel([[F(99, 100), F(1, 100)], [1, 0]])
    betrayed, hidden = leak.losses(0, 1)
    assert (betrayed.value, betrayed.mass, betrayed.odds) == (math.inf, F(1, 100), None)
    assert hidden.odds == F(99, 100)
    assert leak.epsilon() == math.inf
    assert leak.delta(700) == pytest.approx(0.01)
    assert leak.epsilon(F(1, 101)) == math.inf
    assert leak.epsilon(F(1, 100)) == 0.0  # all that tells them apart


def test_the_local_model_is_private_by_row() -> None:
    data = local(COIN, 2)
    near = list(REPLACE.pairs(("yes", "no"), 2))
    assert near
    assert all(x != y for x, y in near)
    assert data.epsilon(pairs=near) == COIN.epsilon()
    assert data.epsilon() == pytest.approx(
        2 * COIN.epsilon()
    )  # two rows apart: group privacy, attained
    assert data.renyi(2, pairs=near) == COIN.renyi(2)


def test_a_replacement_is_no_neighbour_of_add_remove() -> None:
    """ln 3 is the coin toss's ε under replace; a single yes and a single no are two steps of
    add-remove apart.
    """
    data = Channel({("yes",): COIN.row("yes"), ("no",): COIN.row("no")})
    replaced = [
        pair
        for pair in product(data.inputs, repeat=2)
        if pair[0] != pair[1] and REPLACE.are_neighbours(*pair)
    ]
    assert replaced
    assert data.epsilon(pairs=replaced) == COIN.epsilon()
    moved = [
        pair
        for pair in product(data.inputs, repeat=2)
        if pair[0] != pair[1] and ADD_REMOVE.are_neighbours(*pair)
    ]
    with refusing("channel.pairs"):
        data.epsilon(pairs=moved)


def test_pairs_are_taken_both_ways() -> None:
    leak = Channel([[1, 0], [F(1, 2), F(1, 2)]])
    assert leak.epsilon(pairs=[(0, 1)]) == leak.epsilon(pairs=[(1, 0)]) == math.inf
    assert leak.delta(1, pairs=[(0, 1)]) == leak.delta(1) == 0.5


def test_statements_about_nothing_are_refused() -> None:
    for ask in (
        lambda c, p: c.epsilon(pairs=p),
        lambda c, p: c.delta(1, pairs=p),
        lambda c, p: c.renyi(2, pairs=p),
        lambda c, p: c.cdf_ratio(pairs=p),
    ):
        for pairs in ([], [("yes", "yes")]):
            with refusing("channel.pairs"):
                ask(COIN, pairs)
    with refusing("channel.pairs"):
        Channel([[1]]).epsilon()


def test_a_small_world() -> None:
    """Two students may have failed, the one independently of the other; the noisy number of those
    who passed comes out as 1.
    """
    passed = Channel({True: {0: 0.4, 1: 0.6, 2: 0}, False: {0: 0, 1: 0.4, 2: 0.6}})
    noise = {-1: F(15, 100), 0: F(1, 4), 1: F(15, 100)}
    answers = [-1, 0, 1, 2, 3]
    noisy = Channel(
        [[*(noise.get(a - count, F(0)) for a in answers), F(45, 100)] for count in range(3)],
        outputs=[*answers, "beyond"],
    )
    query = passed.compose(noisy)
    prior = {True: 0.4, False: 0.6}
    assert query.row(True)[query.outputs.index(1)] == F(21, 100)
    assert query.marginal(prior)[1] == F(198, 1000)
    assert query.posterior(prior, 1)[True] == F(14, 33)


def test_labels_join_channels() -> None:
    turn = Channel([[0, 1], [1, 0]], inputs=("no", "yes"), outputs=("n", "y"))
    assert COIN.compose(turn).row("yes") == (
        F(3, 4),
        F(1, 4),
    )  # "yes" comes out as "n" in turn's second row
    assert COIN.product(turn).outputs[0] == ("yes", "n")
    assert COIN.attacker("no", "yes").test == {"yes": True, "no": False}


def test_refusals() -> None:
    with refusing("channel.compose"):
        COIN.compose(Channel([[1, 0], [0, 1]]))
    with refusing("channel.compose"):
        COIN.product(Channel([[1, 0], [0, 1]]))
    for rows, labels in (
        ([], {}),
        ([[1], [1]], {"inputs": "a"}),
        ([[1], [1]], {"inputs": "aa"}),
        ([[1, 0]], {"outputs": "abc"}),
    ):
        with refusing("channel.labels"):
            Channel(rows, **labels)  # type: ignore[arg-type]  # cases are objects
    with refusing("law.outcomes"):
        Channel([[1, 0], [1]])
    with refusing("law.outcomes"):
        Channel({"a": {"x": 1}, "b": {"y": 1}})
    with refusing("law.sum"):
        Channel([[0.5, 0.6]])
    with refusing("channel.labels"):
        COIN.row("maybe")
    with refusing("channel.labels"):
        COIN.posterior([0.5, 0.5], "maybe")
    with refusing("channel.impossible"):
        Channel([[1, 0], [0, 1]]).posterior([1, 0], 1)
    for arguments in ({}, {"epsilon": 1, "odds": 3}, {"epsilon": 1, "k": 1}):
        with refusing("channel.response"):
            Channel.randomized_response(**arguments)  # type: ignore[arg-type]  # cases are objects
    with refusing("number.negative"):
        COIN.delta(-1)
    with refusing("number.not-a-probability"):
        COIN.epsilon(1)
