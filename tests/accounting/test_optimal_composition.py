"""The optimum: attained by products of randomized responses, never exceeded by anything else, exact
or above where exact is too long.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.accounting import optimal_composition as module
from sfumato.accounting import optimal_losses
from sfumato.accounting.optimal_composition import Composition, optimal, optimal_curve
from sfumato.exact.balls import ball, precision
from sfumato.guarantees.finite.divergences import hockey_stick

from ..refusing import refusing
from .trees import SLACK, Pair, delta_of_responses, laws, product, response

tenths = st.integers(1, 20).map(lambda n: Fraction(n, 10))
leaks = st.sampled_from([Fraction(0), Fraction(1, 1000), Fraction(1, 20)])


def curve(*epsilons: str | Fraction) -> Composition:
    return optimal_curve([sf.Pure(e) for e in epsilons])


@pytest.mark.parametrize("e", ["1e-6", "0.1", "1", "50"])
@pytest.mark.parametrize("k", [1, 2, 7, 100])
@pytest.mark.parametrize("leak", ["0", "1e-9", "0.001"])
def test_equal_steps_are_exact(e: str, k: int, leak: str) -> None:
    total = optimal_curve([(sf.Approx(e, leak), k)])
    assert total.exact
    for share in ("0", "0.1", "0.5", "0.99", "1", "1.5"):
        at = Fraction(share) * k * Fraction(e)
        true = delta_of_responses(Fraction(e), k, Fraction(leak), at)
        assert true <= total.delta(at) <= true * SLACK + 1e-320


@settings(max_examples=60)
@given(st.lists(st.tuples(tenths, leaks), min_size=1, max_size=4), st.integers(0, 40))
def test_products_of_different_channels_attain_it(
    steps: list[tuple[Fraction, Fraction]], at: int
) -> None:
    total = optimal_curve([sf.Approx(e, d) for e, d in steps])
    true = product([response(e, d) for e, d in steps]).delta(Fraction(at, 10))
    assert total.exact
    assert true <= total.delta(Fraction(at, 10)) * SLACK
    assert (
        total.delta(Fraction(at, 10)) <= true * SLACK + 1e-25
    )  # the channels' odds are those of e^ε to 100 bits


weights = st.lists(st.integers(1, 9), min_size=3, max_size=3).map(
    lambda w: tuple(Fraction(x, sum(w)) for x in w)
)
pairs = st.tuples(weights, weights)


def loss(pair: Pair) -> Fraction:
    """The ε of two laws, both ways, rounded up."""
    ratio = max(max(p / q, q / p) for p, q in zip(*pair, strict=True))
    return Fraction(math.nextafter(math.log(ratio), math.inf)) if ratio > 1 else Fraction(0)


@settings(max_examples=60)
@given(pairs, st.lists(pairs, min_size=3, max_size=3), st.integers(0, 20))
def test_steps_chosen_by_earlier_answers_do_not_exceed_it(
    first: Pair, after: list[Pair], at: int
) -> None:
    """The second law may depend on the first answer, as long as its ε does not exceed the one fixed
    beforehand.
    """
    p, q = laws(
        lambda answers: first if not answers else after[answers[0]] if len(answers) == 1 else None
    )
    total = curve(loss(first), max(map(loss, after)))
    assert max(
        hockey_stick(p, q, Fraction(at, 10)), hockey_stick(q, p, Fraction(at, 10))
    ) <= total.delta(Fraction(at, 10))


@pytest.mark.parametrize(
    "steps", [[("0.1", 30)], [("0.1", 10), ("0.25", 4)], [("1e-6", 1000)], [("50", 3), ("1", 2)]]
)
@pytest.mark.parametrize("leak", ["0", "1e-7"])
@pytest.mark.parametrize("delta", ["1e-300", "1e-12", "1e-6", "0.01", "0.4"])
def test_epsilon_is_the_inverse(steps: list[tuple[str, int]], leak: str, delta: str) -> None:
    total = optimal_curve([(sf.Approx(e, leak), n) for e, n in steps])
    inverse = total.epsilon(delta)
    if math.isinf(inverse):
        assert total.delta(total.total) > Fraction(delta)
        return
    assert total.delta(Fraction(inverse)) <= Fraction(delta) * Fraction(SLACK)
    if inverse > 0:
        assert Fraction(total.delta(Fraction(inverse) * (1 - Fraction(1, 10**9)))) >= Fraction(
            delta
        ) * (1 - Fraction(1, 10**5))


def test_what_needs_no_search() -> None:
    assert curve("0.1", "0.2").epsilon() == math.nextafter(
        0.3, 1
    )  # basic composition, and the double above it
    assert curve("0.1", "0.2").delta("0.3") == 0
    assert optimal_curve([sf.Pure(0)]).epsilon() == 0
    assert optimal_curve([sf.Pure(0)]).delta(0) == 0
    assert optimal_curve([(sf.Approx(0, "0.5"), 2)]).delta(0) == 0.75
    assert optimal_curve([sf.Approx(1, "0.01")]).epsilon("0.01") == 1
    assert math.isinf(optimal_curve([sf.Approx(1, "0.01")]).epsilon("0.009"))
    assert optimal("0.1", 3, delta=0) == sf.Approx("0.3", 0)
    assert optimal(1, 1, delta="0.3") == sf.Approx(Fraction(sf.Pure(1).epsilon("0.3")), "0.3")
    assert optimal_curve([sf.Approx(1, "0.01")]).delta("0.5") == pytest.approx(
        sf.Approx(1, "0.01").delta("0.5"), rel=1e-15
    )


def test_a_tie_of_deltas_is_decided_exactly() -> None:
    tie = 1 - (1 - Fraction(1, 1000)) ** 20
    total = optimal_curve([(sf.Approx("0.1", "0.001"), 20)])
    assert total.epsilon(tie) == 2
    assert math.isinf(total.epsilon(tie - Fraction(1, 10**400)))
    assert total.epsilon(tie + Fraction(1, 10**390)) <= 2


def test_relation_and_unit_are_carried() -> None:
    total = optimal_curve([sf.Pure(1, relation="replace"), sf.Approx(1, 0, unit="patient")]).approx(
        "0.1"
    )
    assert (total.relation, total.unit) == ("replace", "patient")
    with refusing("guarantee.relation"):
        optimal_curve([sf.Pure(1, relation="replace"), sf.Pure(1, relation="add-remove")])


def test_refusals() -> None:
    with refusing("composition.empty"):
        optimal_curve([])
    with refusing("guarantee.does-not-follow"):
        optimal("0.1", 10, delta="1e-9", step_delta="1e-9")
    with refusing(
        "guarantee.does-not-follow"
    ):  # no (ε, δ) of its own: give it one by .to(sf.Approx, delta=…)
        optimal_curve([sf.GDP(1)])
    with refusing("guarantee.count"):
        optimal_curve([(sf.Pure(1), 0)])


def odd(k: int) -> list[Fraction]:
    """Numbers without a common unit."""
    return [Fraction(3000 + 7919 * i * i % 10007, 100_003) for i in range(1, k + 1)]


@pytest.fixture
def few_points(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Coarse grids, so that the bound can be compared with what is exact."""
    module._spectrum.cache_clear()
    module._tails.cache_clear()
    yield monkeypatch
    module._spectrum.cache_clear()
    module._tails.cache_clear()


@pytest.mark.parametrize("points", [16, 64, 256, 1024])
def test_the_split_is_above_the_optimum_and_below_rounding_up(
    few_points: pytest.MonkeyPatch, points: int
) -> None:
    steps = odd(11)
    exact = curve(*steps)
    exact_deltas = {at: exact.delta(at) for at in ("0", "0.2", "0.5", "0.9")}
    assert exact.exact
    few_points.setattr(optimal_losses, "POINTS", points)
    module._spectrum.cache_clear()
    module._tails.cache_clear()
    assert not exact.exact
    unit = optimal_losses.losses(exact.epsilons).unit
    rounded = curve(*(math.ceil(e / unit) * unit for e in steps))
    for at, true in exact_deltas.items():
        assert true <= exact.delta(at) <= rounded.delta(at)
        if points >= 256:
            assert exact.delta(at) <= true * (1 + 20 / points)


def test_the_split_converges_in_second_order(few_points: pytest.MonkeyPatch) -> None:
    total = curve(*odd(11))
    true, excess = total.delta("0.2"), []
    for points in (128, 512, 2048 - 1):
        few_points.setattr(optimal_losses, "POINTS", points)
        module._spectrum.cache_clear()
        module._tails.cache_clear()
        excess.append(total.delta("0.2") / true - 1)
    assert 0 < excess[2] < excess[1] / 4 < excess[0] / 16


def test_many_different_steps() -> None:
    """200 steps without a common unit: an upper bound, between the optimum at the least and at the
    largest of them, and far below basic composition.
    """
    total = curve(*odd(200))
    assert not total.exact
    epsilon = Fraction(total.epsilon("1e-6"))
    low, high = optimal(min(odd(200)), 200, delta="1e-6"), optimal(max(odd(200)), 200, delta="1e-6")
    assert low.parameters["epsilon"] <= epsilon <= high.parameters["epsilon"]
    assert epsilon < total.total / 2
    assert total.epsilon("1e-300") <= math.nextafter(float(total.total), math.inf)


def test_speed() -> None:
    """10⁴ equal steps, at the ends of what is sensible: well under a second each. (Some fifty
    milliseconds; the limit leaves room for a busy machine.)
    """
    begin = time.process_time()
    for e in ("1e-6", "0.1", "50"):
        for d in ("1e-300", "1e-9"):
            epsilon = optimal(e, 10_000, delta=d, step_delta="1e-310").parameters["epsilon"]
            assert 0 < epsilon <= 10_000 * Fraction(e) * Fraction(SLACK)
    assert time.process_time() - begin < 6


def test_a_delta_on_a_corner_of_the_curve_is_left_to_more_precision() -> None:
    """Balls cannot decide on which side it lies."""
    tails = module._tails(((Fraction(1), 5),), 128)
    with precision(128):
        corner = tails.p[0] - ball(tails.loss[1]).exp() * tails.q[0]
        step = arb(2) ** -40
        assert module._locate(tails, corner) is None
        assert module._locate(tails, corner - step) == (tails.p[0], tails.q[0])
        assert module._locate(tails, corner + step) == (tails.p[1], tails.q[1])
