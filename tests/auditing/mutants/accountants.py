"""Accountants: what many releases come to; and statements of accuracy, which are promises too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial, reduce
from operator import add
from typing import Any

from flint import arb

from sfumato import GDP, Approx, Pure, compose
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball, precision
from sfumato.guarantees.finite.finite_laws import rational
from sfumato.noise.geometric import Geometric

from .arithmetic import Misses, Total
from .case import Case, case

Schedule = list[Any]

# Schedules: mechanisms one after another, and the δ at which they are asked.

TENTH, HALF, ONE, TWO = (mech.Laplace(sensitivity=1, epsilon=e) for e in ("1/10", "1/2", 1, 2))
WIDE = mech.Laplace(sensitivity=5, epsilon="1/2")
GAUSS, FAINT = mech.Gaussian(sensitivity=1, sigma=2), mech.Gaussian(sensitivity=1, sigma=50)
PLAIN: list[tuple[Schedule, float]] = [
    ([ONE], 0),
    ([TWO], 0),
    ([TENTH] * 10, 0),
    ([ONE, HALF, TENTH], 0),
    ([WIDE, TENTH, TENTH], 0),
]
MANY: list[tuple[Schedule, float]] = [([TENTH] * 100, 1e-6), ([TENTH] * 400, 1e-6)]
NORMAL: list[tuple[Schedule, float]] = [
    ([GAUSS], 1e-6),
    ([GAUSS] * 4, 1e-6),
    ([GAUSS], 1e-20),
    ([FAINT], 1e-6),
    ([FAINT], 0.4),
    ([GAUSS, FAINT], 1e-6),
]
SAMPLED: list[tuple[Schedule, float]] = [
    ([ONE.subsample("1/10")], 0),
    ([ONE.subsample("1/100")] * 3, 0),
]


def epsilon_of(m: Any) -> Fraction:
    pure: Pure = m.to(Pure)
    return pure.parameters["epsilon"]


def mu_of(m: Any) -> float:
    return float(m.sensitivity / m.sigma)


# Without δ.


def exact_sum(schedule: Schedule, delta: float) -> Any:
    return sum((epsilon_of(m) for m in schedule), Fraction(0))


def sum_of_doubles(schedule: Schedule, delta: float) -> float:
    total = 0.0
    for m in schedule:
        total += float(epsilon_of(m))
    return total


def largest_only(schedule: Schedule, delta: float) -> Any:
    return max(epsilon_of(m) for m in schedule)


def scale_over_sensitivity(schedule: Schedule, delta: float) -> Any:
    return sum((m.scale / m.sensitivity for m in schedule), Fraction(0))


def last_sensitivity(schedule: Schedule, delta: float) -> Any:
    """The sensitivity of whatever came last stays in the formula for all that came before it."""
    return sum((schedule[-1].sensitivity / m.scale for m in schedule), Fraction(0))


def half_life(schedule: Schedule, delta: float) -> Any:
    """Later releases weigh less."""
    return sum((epsilon_of(m) / 2**i for i, m in enumerate(schedule)), Fraction(0))


def rate_times_epsilon(schedule: Schedule, delta: float) -> Any:
    return sum((m.rate * epsilon_of(m.base) for m in schedule), Fraction(0))


# With δ.


def without_logarithm(schedule: Schedule, delta: float) -> float:
    k, e = len(schedule), float(epsilon_of(schedule[0]))
    return e * math.sqrt(2 * k) + k * e * math.expm1(e)


def advanced(schedule: Schedule, delta: float) -> float:
    k, e = len(schedule), float(epsilon_of(schedule[0]))
    return e * math.sqrt(2 * k * math.log(1 / delta)) + k * e * math.expm1(e)


def zcdp(schedule: Schedule, delta: float) -> float:
    """ρ = Σ μ²/2, and ε = ρ + 2√(ρ ln(1/δ))."""
    rho = sum(mu_of(m) ** 2 for m in schedule) / 2
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def rho_alone(schedule: Schedule, delta: float) -> float:
    return sum(mu_of(m) ** 2 for m in schedule) / 2


def rho_in_quadrature(schedule: Schedule, delta: float) -> float:
    rho = math.sqrt(sum((mu_of(m) ** 2 / 2) ** 2 for m in schedule))
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def delta_counted_once(schedule: Schedule, delta: float) -> float:
    """Every release is given up to δ; the ε are added, the δ are not."""
    return math.sqrt(
        sum(GDP(Fraction(mu_of(m))).epsilon(Fraction(str(delta))) ** 2 for m in schedule)
    )


def renyi_conversion(least: float) -> Callable[[Schedule, float], float]:
    """The best over orders of ρα + ln(1 − 1/α) − ln(αδ)/(α − 1), which is negative where δ is
    large.
    """

    def total(schedule: Schedule, delta: float) -> float:
        rho = sum(mu_of(m) ** 2 for m in schedule) / 2
        orders = [1 + 2 ** (i / 4) for i in range(-24, 40)]
        return max(
            least, min(rho * a + math.log1p(-1 / a) - math.log(a * delta) / (a - 1) for a in orders)
        )

    return total


def bisected(phi: Callable[[float], float]) -> Callable[[Schedule, float], float]:
    """The exact curve of Gaussian noise, with a normal distribution function of one's own."""

    def total(schedule: Schedule, delta: float) -> float:
        mu = math.sqrt(sum(mu_of(m) ** 2 for m in schedule))
        low, high = 0.0, 200.0
        for _ in range(100):
            middle = (low + high) / 2
            result = phi(-middle / mu + mu / 2) - math.exp(middle) * phi(-middle / mu - mu / 2)
            low, high = (low, middle) if result <= delta else (middle, high)
        return high * (1 + 1e-9)

    return total


def without_a_tail(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


def with_a_tail(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def certified(schedule: Schedule, delta: float) -> float:
    return compose(schedule).epsilon(Fraction(str(delta)))


def added_up(schedule: Schedule, delta: float) -> float:
    """Guarantees added as values, a share of δ for each."""
    return float(
        reduce(
            add, (m.to(Approx, delta=Fraction(str(delta)) / len(schedule)) for m in schedule)
        ).parameters["epsilon"]
    )


# Statements.

Statements = Iterable[tuple[str, Any, Any]]


def lower(formula: Callable[[], arb]) -> Fraction:
    """A rational just below a number, to 200 bits."""
    with precision(200):
        return rational(formula().lower())


def _tail(k: int) -> arb:
    """P(Z ≥ k) for the two-sided geometric law of scale 1."""
    return (-ball(Fraction(k))).exp() / (1 + (-ball(Fraction(1))).exp())


def deltas(state: Callable[[int], float]) -> Callable[[], Statements]:
    """The δ of a threshold of k, as it is stated."""
    return lambda: (
        (f"threshold {k}", lower(partial(_tail, k)), Fraction(state(k))) for k in range(1, 41)
    )


def nearest(k: int) -> float:
    return math.exp(-k) / (1 + math.exp(-1))


def upward(k: int) -> float:
    return float(Geometric(scale=1).tail(k, "up"))


def radii(radius: Callable[[int, float], float]) -> Callable[[], Statements]:
    """Ten bins with Laplace noise of scale 2: how often one of them is farther off than the
    radius.
    """

    def statements() -> Iterator[tuple[str, float, float]]:
        for bins, beta in ((10, 0.05), (100, 0.01)):
            yield (
                f"{bins} bins",
                -math.expm1(bins * math.log1p(-math.exp(-radius(bins, beta) / 2))),
                beta,
            )

    return statements


def binomial_misses(shift: float, radius: float) -> Callable[[], Statements]:
    """Randomized response with e : 1 of n = 10⁶, half of them yes: how often 2.164·(rate − shift)
    is farther than the radius from ½.

    The rate is normal to within 10⁻³, Berry and Esseen say, which is less than what is looked
    for.
    """
    p, n = math.e / (1 + math.e), 10**6
    slope, sd = 1 / (2 * p - 1), 0.5 / math.sqrt(n)
    off = slope * (0.5 - shift) - 0.5
    chance = sum(
        math.erfc((radius + sign * off) / slope / sd / math.sqrt(2)) / 2 for sign in (-1, 1)
    )
    return lambda: [("the share of yes", max(0.0, chance - 1e-3), 0.05)]


def published(delta: Callable[[int], Fraction]) -> Callable[[], Statements]:
    """A mechanism that publishes each record with probability δ: how often it publishes any of
    n.
    """
    return lambda: ((f"{n} people", 1 - float(1 - delta(n)) ** n, 0.01) for n in (100, 500, 5000))


def _total(total: Any, schedules: Any) -> Total:
    return Total(total=total, schedules=schedules)


CASES: dict[str, Case] = {
    "float-budget-sum": case(
        "adds ε in doubles, to nearest",
        "adds rationals",
        "B12, F7",
        _total(sum_of_doubles, PLAIN),
        _total(exact_sum, PLAIN),
    ),
    "largest-only": case(
        "the largest ε of releases about the same people",
        "their sum",
        "parallel composition",
        _total(largest_only, PLAIN),
        _total(exact_sum, PLAIN),
    ),
    "less-noise-costs-less": case(
        "scale over sensitivity for ε",
        "sensitivity over scale",
        "PySyft#6914",
        _total(scale_over_sensitivity, PLAIN),
        _total(exact_sum, PLAIN),
    ),
    "last-sensitivity": case(
        "one sensitivity, the last one, for all",
        "each its own",
        "PySyft#6916, PySyft#6917",
        _total(last_sensitivity, PLAIN),
        _total(exact_sum, PLAIN),
    ),
    "fading-costs": case(
        "later releases cost half of the one before",
        "all cost what they cost",
        "opendp#2789",
        _total(half_life, PLAIN),
        _total(exact_sum, PLAIN),
    ),
    "rate-times-epsilon": case(
        "q·ε for a sampled release",
        "ln(1 + q(e^ε − 1))",
        "amplification",
        _total(rate_times_epsilon, SAMPLED),
        _total(exact_sum, SAMPLED),
    ),
    "no-logarithm": case(
        "advanced composition without ln(1/δ)",
        "with it",
        "F12, smartnoise-sdk#621",
        _total(without_logarithm, MANY),
        _total(advanced, MANY),
    ),
    "rho-in-quadrature": case(
        "√Σρ² for Σρ", "Σρ", "zCDP", _total(rho_in_quadrature, NORMAL), _total(zcdp, NORMAL)
    ),
    "epsilons-in-quadrature": case(
        "√Σε² of releases that each use all of δ",
        "Σε with a share of δ each",
        "composition",
        _total(delta_counted_once, NORMAL),
        _total(added_up, NORMAL),
    ),
    "negative-epsilon": case(
        "a conversion that goes below 0",
        "0 at least",
        "Opacus#585",
        _total(renyi_conversion(-math.inf), NORMAL),
        _total(renyi_conversion(0.0), NORMAL),
    ),
    "lost-tail": case(
        "Φ as (1 + erf)/2, which is 0 in the tail: a small ε at δ = 10⁻²⁰",
        "Φ as erfc/2",
        "prv_accountant#17, prv_accountant#36",
        _total(bisected(without_a_tail), NORMAL),
        _total(bisected(with_a_tail), NORMAL),
    ),
    "rho-for-epsilon": case(
        "ρ, read as ε",
        "the certified total",
        "zCDP",
        _total(rho_alone, NORMAL),
        _total(certified, NORMAL),
    ),
    "delta-to-nearest": case(
        "the δ of a threshold, to nearest",
        "rounded up",
        "B12, opendp#2820",
        Misses(statements=deltas(nearest)),
        Misses(statements=deltas(upward)),
    ),
    "printed-radius": case(
        "ln(k/β·L/ε) for the largest of k errors",
        "L/ε·ln(k/β)",
        "E-14",
        Misses(statements=radii(lambda k, beta: math.log(k / beta * 2))),
        Misses(statements=radii(lambda k, beta: 2 * math.log(k / beta))),
    ),
    "printed-interval": case(
        "1/(1 + e) as 0.26, and √(ln 40/2) with a logarithm to base 10",
        "0.268941, and the natural one",
        "E-15",
        Misses(statements=binomial_misses(0.26, 2.16 * 0.89 / 1000)),
        Misses(
            statements=binomial_misses(
                1 / (1 + math.e), math.sqrt(math.log(40) / 2) / 1000 / math.tanh(0.5)
            )
        ),
    ),
    "delta-1e-4": case(
        "δ = 10⁻⁴, whatever n is",
        "δ = 0.01/n: in all at most one chance in a hundred",
        "E-68",
        Misses(statements=published(lambda n: Fraction(1, 10**4))),
        Misses(statements=published(lambda n: Fraction(1, 100 * n))),
    ),
}
