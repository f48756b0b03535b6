"""`sf.audit`: true bounds on sound things, refutation of broken ones, for outputs and claims of
every kind.

*False alarms*  Each audit of something sound alarms with a chance of at most 10⁻⁸; there are fewer
                than fifty.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.auditing import Audit, many
from sfumato.auditing.bounds import epsilon_bound, mu_bound
from sfumato.auditing.canonical_outputs import Error
from sfumato.auditing.runners import draw_both, runner_of
from sfumato.errors import Refused
from sfumato.local import client

SURE = 1 - 1e-8


def generator() -> np.random.Generator:
    return np.random.default_rng(20)


def geometric(scale: float, shape: Any, g: np.random.Generator) -> Any:
    p = -math.expm1(-1 / scale)
    return g.geometric(p, shape) - g.geometric(p, shape)


def test_the_interface() -> None:
    m = mech.Laplace(sensitivity=1, epsilon="1/2")
    r = sf.audit(m, 0, 1, samples=100_000, confidence=0.999999)
    assert isinstance(r, Audit)
    assert 0.35 < r.epsilon_lower <= 0.5
    assert r.claim == sf.Pure("1/2")
    assert r.verdict == "holds"
    assert sf.audit(m.perturb, 0, 1, claim=sf.Pure(1), samples=2000).verdict == "holds"
    assert "holds" in str(r)
    assert r.event in str(r)
    assert r.tried == 2
    assert r.samples == 100_000


SOUND: dict[str, tuple[Any, Any, Any, Any]] = {
    "laplace": (mech.Laplace(sensitivity=1, epsilon=1), 0, 1, None),
    "gaussian in mu": (mech.Gaussian(sensitivity=1, mu=1), 0, 1, None),
    "gaussian in epsilon and delta": (
        mech.Gaussian(sensitivity=1, epsilon=1, delta="1e-3"),
        0,
        1,
        sf.Approx(1, "1e-3"),
    ),
    "gaussian in rho": (mech.Gaussian(sensitivity=1, rho="1/2"), 0, 1, sf.ZCDP("1/2")),
    "vector": (mech.Laplace(sensitivity=3, epsilon=1), [0, 0, 0], [1, 1, 1], None),
    "response": (mech.RandomizedResponse(epsilon=1, categories=["a", "b", "c"]), "a", "c", None),
    "local": (sf.local.Unary(epsilon=1, categories="abc"), "a", "b", None),
    "text": (lambda x: mech.RandomizedResponse(epsilon=1).perturb(x), "yes", "no", sf.Pure(1)),
    "structure": (
        lambda x: {"n": [mech.Laplace(sensitivity=1, epsilon=1).perturb(x)], "kind": "count"},
        0,
        1,
        sf.Pure(1),
    ),
    "threshold": (mech.LaplaceThreshold(epsilon=1, delta="1e-2"), 0, 1, None),
}
BROKEN: dict[str, tuple[Any, Any, Any, Any]] = {
    "laplace": (mech.Laplace(sensitivity=1, epsilon=1), 0, 2, sf.Pure(1)),  # twice the sensitivity
    "gaussian in mu": (mech.Gaussian(sensitivity=1, mu="1.3"), 0, 1, sf.GDP(1)),
    "gaussian in epsilon and delta": (
        mech.Gaussian(sensitivity=1, epsilon=3, delta="1e-3"),
        0,
        1,
        sf.Approx(1, "1e-3"),
    ),
    "gaussian in rho": (mech.Gaussian(sensitivity=1, rho=2), 0, 1, sf.ZCDP("1/8")),
    "vector": (mech.Laplace(sensitivity=1, epsilon=1), [0, 0, 0], [1, 1, 1], sf.Pure(1)),
    "response": (
        mech.RandomizedResponse(epsilon="3/2", categories=["a", "b", "c"]),
        "a",
        "c",
        sf.Pure(1),
    ),
    "local": (sf.local.Unary(epsilon=2, categories="abc"), "a", "b", sf.Pure(1)),
    "text": (lambda x: mech.RandomizedResponse(epsilon=2).perturb(x), "yes", "no", sf.Pure(1)),
    "structure": (
        lambda x: {"n": [mech.Laplace(sensitivity=1, epsilon=1).perturb(2 * x)], "kind": "count"},
        0,
        1,
        sf.Pure(1),
    ),
    "threshold": (mech.LaplaceThreshold(epsilon=1, delta="1e-1"), 0, 1, sf.Approx("1/10", "1e-2")),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_things_are_not_accused(name: str) -> None:
    what, x, y, claim = SOUND[name]
    r = sf.audit(
        what, x, y, claim=claim, samples=20_000 if not callable(what) else 3000, confidence=SURE
    )
    assert r.verdict == "holds"
    assert r.epsilon_lower <= r.claimed_epsilon
    assert 0 <= r.share <= 1


@pytest.mark.parametrize("name", BROKEN)
def test_broken_things_are(name: str) -> None:
    what, x, y, claim = BROKEN[name]
    r = sf.audit(
        what, x, y, claim=claim, samples=20_000 if not callable(what) else 3000, confidence=SURE
    )
    assert r.verdict == "violated"
    assert r.limits[0] > r.limits[1]


@pytest.mark.parametrize(
    "oracle",
    [
        sf.local.Direct(epsilon=1, categories="abc"),
        sf.local.Unary(epsilon=1, categories="abc"),
        sf.local.OneBit(epsilon=1, low=0, high=1),
    ],
    ids=str,
)
def test_the_client_alone(oracle: sf.local.Oracle) -> None:
    question = oracle.question
    x, y = ("a", "b") if "categories" in question else (0.0, 1.0)

    def report(value: Any) -> bytes:
        return client.perturb(question, value)

    assert (
        sf.audit(report, x, y, claim=oracle.promise, samples=2000, confidence=SURE).verdict
        == "holds"
    )
    assert (
        sf.audit(report, x, y, claim=sf.Pure("1/4"), samples=15_000, confidence=SURE).verdict
        == "violated"
    )


def test_noise_in_doubles_is_told_by_its_last_bits() -> None:
    g = generator()
    r = sf.audit(
        many(lambda x, n: x + g.laplace(size=n)),
        0.0,
        1.0,
        claim=sf.Pure(1),
        samples=4000,
        confidence=SURE,
    )
    assert r.verdict == "violated"
    assert "grain" in r.event
    sound = mech.Laplace(sensitivity=1, epsilon=1, grid=2**-30)
    assert sf.audit(sound, 0.0, 1.0, samples=4000, confidence=SURE).verdict == "holds"


def test_an_error_tells() -> None:
    noise = mech.Laplace(sensitivity=1, epsilon=1)

    def careless(data: list[int]) -> Any:
        return noise.perturb(sum(1 // (v - 42) for v in data))

    r = sf.audit(careless, [1, 2], [1, 2, 42], claim=sf.Pure(1), samples=400, confidence=SURE)
    assert r.verdict == "violated"
    assert r.event.startswith("structure in")
    assert (
        "error ZeroDivisionError"
        in sf.audit(careless, [1, 2, 42], [1, 2], claim=sf.Pure(1), samples=400).event
    )


class Lazy(mech.Laplace):
    """Draws otherwise than its law says, and for an array otherwise than for a number."""

    __slots__ = ()

    def perturb(self, value: Any, **_: Any) -> Any:
        return value + (
            geometric(0.5, (), SHARED)
            if np.ndim(value) == 0
            else geometric(1.0, np.shape(value), SHARED)
        )


SHARED = generator()


def test_a_sampler_that_is_not_its_law_is_seen() -> None:
    lazy = Lazy(sensitivity=1, epsilon=1)
    with pytest.raises(
        Refused, match=r"audit\.exact"
    ):  # the law it states is not that of its draws
        sf.audit(lazy, 0, 1, exact=True)
    assert (
        sf.audit(lazy, 0, 1, samples=20_000, confidence=SURE).verdict == "violated"
    )  # call by call, as it is used
    arrays = many(lambda x, n: lazy.perturb(np.full(n, x)), lazy.promise)
    assert sf.audit(arrays, 0, 1, samples=20_000, confidence=SURE).verdict == "holds"


def test_bounds_are_true_at_their_confidence() -> None:
    """The true ε is ½. 300 audits at a confidence of 0.9: more than 60 bounds above it have a
    chance below 10⁻⁶ (P(Bin(300, 0.1) > 60) = 4·10⁻⁸).
    """
    g = generator()
    above = 0
    for _ in range(300):
        r = sf.audit(
            many(lambda x, n: x + geometric(2.0, n, g)),
            0,
            1,
            claim=sf.Pure(1),
            samples=200,
            confidence=0.9,
        )
        above += r.epsilon_lower > 0.5
    assert above <= 60


def test_delta_is_given_up() -> None:
    def leak(x: int, n: int) -> Any:
        """ε = 1, and with a chance of 0.05 the truth."""
        g = generator()
        noisy = x + geometric(1.0, n, g)
        return np.where(g.random(n) < 0.05, 1000 + x, noisy)

    assert (
        sf.audit(many(leak), 0, 1, claim=sf.Pure(1), samples=20_000, confidence=SURE).verdict
        == "violated"
    )
    assert (
        sf.audit(
            many(leak), 0, 1, claim=sf.Approx(1, "0.06"), samples=20_000, confidence=SURE
        ).verdict
        == "holds"
    )
    assert (
        sf.audit(
            many(leak), 0, 1, claim=sf.Approx(1, "0.02"), samples=20_000, confidence=SURE
        ).verdict
        == "violated"
    )


def test_the_parts_of_a_result() -> None:
    r = sf.audit(mech.Gaussian(sensitivity=1, mu=1), 0, 1, samples=2000)
    assert r.mu_lower is not None
    assert r.delta == 1e-6
    assert "μ ≥" in str(r)
    assert len(r.plot().axes) == 1
    exact = sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, exact=True)
    assert exact.samples == 0
    assert "computed from the stated law" in str(exact)
    assert len(exact.plot().axes) == 1
    pure = sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, samples=2000)
    assert pure.mu_lower is None
    assert pure.direction in ("x over y", "y over x")


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("audit.claim", lambda: sf.audit(len, [], [1])),
        (
            "audit.confidence",
            lambda: sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, confidence=1.0),
        ),
        (
            "audit.samples",
            lambda: sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, samples=3),
        ),
        (
            "audit.samples",
            lambda: sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, samples=True),
        ),
        (
            "audit.samples",
            lambda: sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, samples=1e3),
        ),
        (
            "audit.confidence",
            lambda: sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, confidence="0.9"),
        ),
        ("audit.claim", lambda: sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, claim=1)),
        ("audit.delta", lambda: sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, delta="x")),
        ("audit.pair", lambda: sf.audit(mech.Laplace(sensitivity=1, epsilon=1), y=5)),
        ("audit.pair", lambda: sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 5)),
        ("audit.pair", lambda: sf.audit(mech.Laplace(sensitivity=1, epsilon=1), [0, 0], [1, 1])),
        (
            "audit.exact",
            lambda: sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0.5, 1.5, exact=True),
        ),
        ("audit.delta", lambda: sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, delta=-1)),
        ("audit.exact", lambda: sf.audit(len, [], [1], claim=sf.Pure(1), exact=True)),
        ("audit.what", lambda: sf.audit(7, 0, 1, claim=sf.Pure(1))),
    ],
)
def test_refused(code: str, call: Any) -> None:
    with pytest.raises(Refused) as caught:
        call()
    assert caught.value.code == code


class Raising(mech.Laplace):
    """Raises at one input alone."""

    __slots__ = ()

    def perturb(self, value: Any, **about: Any) -> Any:
        if np.any(np.equal(value, 1)):
            raise KeyError("a secret")
        return super().perturb(value, **about)


APART: dict[str, tuple[Any, Any, Any]] = {
    "a kind that raises at one input": (Raising(sensitivity=1, epsilon=1), 0, 1),
    "integers and a float that is refused": (mech.Laplace(sensitivity=1, epsilon=1), 0, 0.5),
    "integers and NaN": (mech.Laplace(sensitivity=1, epsilon=1), 0, math.nan),
    "a category and none": (mech.RandomizedResponse(epsilon=1, categories=["a", "b"]), "a", "z"),
    "a text that begins like a category": (
        mech.RandomizedResponse(epsilon=1, categories=["a", "b"]),
        "b",
        "abc",
    ),
    "numbers and rows": (
        many(lambda x, n: np.zeros((n, 2)) if x else np.zeros(n), sf.Pure(1)),
        0,
        1,
    ),
    "whole numbers and doubles": (many(lambda x, n: [0] * n if x else [0.0] * n, sf.Pure(1)), 0, 1),
    "an error for all": (many(lambda x, n: [1 // x] * n, sf.Pure(1)), 0, 1),
}


@pytest.mark.parametrize("name", APART)
def test_outputs_of_another_kind_at_one_input_tell(name: str) -> None:
    """400 of 400 against none: certain."""
    what, x, y = APART[name]
    for pair in ((x, y), (y, x)):
        assert sf.audit(what, *pair, samples=400, confidence=SURE).verdict == "violated"


def test_an_array_and_a_list_of_the_same_numbers_tell_nothing() -> None:
    g = generator()

    def mixed(x: int, n: int) -> Any:
        drawn = g.integers(0, 3, n)
        return drawn.tolist() if x else drawn

    r = sf.audit(many(mixed), 0, 1, claim=sf.Pure(1), samples=2000, confidence=SURE)
    assert r.verdict == "holds"
    assert r.epsilon_lower < 0.5


def test_the_type_of_an_array_is_no_output() -> None:
    """It is one for all draws: a single double among whole numbers makes doubles of all of them, at
    one input and not at the other, by chance alone.
    """
    g = generator()

    def rarely_half(x: int, n: int) -> Any:
        return np.array([3.5 if x and i == 0 else 3 for i in range(n)]) + geometric(1.0, n, g)

    assert (
        sf.audit(many(rarely_half), 0, 1, claim=sf.Pure(1), samples=2000, confidence=SURE).verdict
        == "holds"
    )
    assert (
        sf.audit(
            many(lambda x, n: rarely_half(x, n).tolist()),
            0,
            1,
            claim=sf.Pure(1),
            samples=2000,
            confidence=SURE,
        ).verdict
        == "violated"
    )  # the twin


def test_a_budget_that_runs_out_falls_on_both_inputs() -> None:
    left = iter(range(5000))

    def limited(x: int) -> Any:
        next(left)  # StopIteration from the five-thousandth call on
        return mech.Laplace(sensitivity=1, epsilon=1).perturb(x)

    r = sf.audit(limited, 0, 1, claim=sf.Pure(1), samples=4000, confidence=SURE)
    assert r.verdict == "holds"
    assert next(left, None) is None
    one_after_the_other = (
        [1] * 4000,
        [1] * 1000 + [Error("StopIteration")] * 3000,
    )  # the twin: first all of one input
    assert (
        sf.audit(
            many(lambda x, _: one_after_the_other[x]),
            0,
            1,
            claim=sf.Pure(1),
            samples=4000,
            confidence=SURE,
        ).verdict
        == "violated"
    )


def test_a_pair_of_which_one_input_is_drawn_at_once_is_drawn_in_one_way() -> None:
    m = mech.Laplace(sensitivity=1, epsilon=1)
    both = draw_both(runner_of(m), [0, 0], [Fraction(0), 1], 20)
    assert {type(drawn) for drawn in both} == {list}
    assert {type(drawn) for drawn in draw_both(runner_of(m), [0, 0], [0, 1], 20)} == {np.ndarray}


def test_the_verdict_is_at_the_claim_s_own_delta_whatever_delta_is_asked_for() -> None:
    warner = {
        "yes": {"yes": 0.75, "no": 0.25},
        "no": {"yes": 0.25, "no": 0.75},
    }  # ε = ln 3; 0.9555 at δ = 0.1
    assert (
        sf.audit(warner.get, "yes", "no", claim=sf.Pure(1), exact=True, delta=0.1).verdict
        == "violated"
    )
    assert (
        sf.audit(
            warner.get, "yes", "no", claim=sf.Approx("0.96", "0.1"), exact=True, delta=0
        ).verdict
        == "holds"
    )
    assert (
        sf.audit(
            warner.get, "yes", "no", claim=sf.Approx("0.95", "0.1"), exact=True, delta=0.4
        ).verdict
        == "violated"
    )
    g = generator()
    drawn = many(lambda x, n: g.random(n) < (0.75 if x == "yes" else 0.25))
    r = sf.audit(
        drawn, "yes", "no", claim=sf.Pure("1/2"), delta=0.45, samples=4000, confidence=SURE
    )
    assert (
        r.verdict == "violated"
    )  # the event is chosen for the claim, though it says little at this δ
    assert r.delta == 0.45


@pytest.mark.parametrize(
    ("m", "y"),
    [
        (mech.Laplace(sensitivity=1, epsilon=1), 1000),
        (mech.Laplace(sensitivity=1, epsilon=1), 2**63),
    ],
    ids=["1000", "2^63"],
)
def test_inputs_that_are_far_apart(m: Any, y: int) -> None:
    assert sf.audit(m, 0, y, claim=sf.Pure(1), samples=400).verdict == "violated"


@pytest.mark.parametrize("epsilon", [300, 1000])
def test_little_noise(epsilon: int) -> None:
    m = mech.Laplace(sensitivity=1, epsilon=epsilon)
    assert sf.audit(m, 0, 1, samples=100).verdict == "holds"
    assert sf.audit(m, samples=100).verdict == "holds"


@pytest.mark.parametrize("k", [100, 2000])
def test_reports_of_many_categories(k: int) -> None:
    """The event of the law: the chance that it proves nothing, at z above 10, is below 10⁻²⁰."""
    names = [str(i) for i in range(k)]
    r = sf.audit(sf.local.Unary(epsilon=4, categories=names), names[0], names[-1], samples=1000)
    assert r.verdict == "holds"
    assert r.epsilon_lower > 0.5


def test_huge_whole_numbers_are_outputs() -> None:
    assert (
        sf.audit(lambda v: 10**400 + v, 0, 1, claim=sf.Pure(1), samples=100).verdict == "violated"
    )
    assert (
        sf.audit(lambda v: -(10**5000) * (1 + v), 0, 1, claim=sf.Pure(1), samples=100).verdict
        == "violated"
    )


def test_numbers_of_numpy_are_numbers() -> None:
    assert (
        sf.audit(
            mech.Laplace(sensitivity=1, epsilon=1),
            0,
            1,
            samples=np.int64(100),
            confidence=np.float64(0.99),
        ).samples
        == 100
    )


def test_bounds_are_those_of_the_event_that_is_shown() -> None:
    r = sf.audit(mech.Gaussian(sensitivity=1, mu=1), 0, 1, samples=2000)
    assert r.epsilon_lower == epsilon_bound(*r.limits, r.delta)
    assert r.mu_lower == mu_bound(*r.limits)
