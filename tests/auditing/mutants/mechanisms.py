"""Mechanisms with a law that can be written down: noise, randomized responses, and what is claimed
of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

from sfumato import GDP, Approx, Pure, Renyi

from .arithmetic import both, geometric, laws, mixed, replaced, rounded_normal, shifted, tuples
from .case import Case, case

LN2, LN3, LN4 = Pure("0.69314718055994531"), Pure("1.0986122886681098"), Pure("1.3862943611198907")
"""Logarithms, rounded up."""


def additive(cdf: Callable[[int], float], reach: int = 60) -> Callable[[int], Any]:
    return lambda value: shifted(cdf, value, -reach, reach)


def no_mass(z: int) -> float:
    return float(z >= 0)


# Noise.


def both_zeros(scale: float) -> Callable[[int], float]:
    """A magnitude and a sign; minus zero is not drawn again, so zero comes up too often."""
    q = math.exp(-1 / scale)
    return lambda z: q**-z / 2 if z < 0 else 1 - q ** (z + 1) / 2


def local_noise(data: tuple[int, ...]) -> Any:
    """The median, with noise for how far it can move from here."""
    median, ends = sorted(data)[1], range(4)
    reach = max(
        abs(sorted([*data[:i], second, *data[i + 1 :]])[1] - median)
        for i in range(3)
        for second in ends
    )
    return shifted(geometric(reach) if reach else no_mass, median)


def global_noise(data: tuple[int, ...]) -> Any:
    return shifted(geometric(3), sorted(data)[1])


def classical_sigma(epsilon: float, delta: float) -> float:
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


# Responses.


def response(keep: Fraction) -> Callable[[int], Any]:
    return lambda bit: {bit: keep, 1 - bit: 1 - keep}


def kept_twice(p: Fraction) -> Callable[[int], Any]:
    """Keeps the answer with p; else draws, and draws the answer again with p."""
    return response(p + (1 - p) * p)


def one_sample(present: int) -> Any:
    """Two answers about the same secret sample of half of the people."""
    first, none = (
        both(response(Fraction(3, 4))(bit), response(Fraction(3, 4))(bit)) for bit in (1, 0)
    )
    return mixed((Fraction(1, 2), first), (Fraction(1, 2), none)) if present else none


def two_samples(present: int) -> Any:
    once = (
        mixed(
            (Fraction(1, 2), response(Fraction(3, 4))(1)),
            (Fraction(1, 2), response(Fraction(3, 4))(0)),
        )
        if present
        else response(Fraction(3, 4))(0)
    )
    return both(once, once)


# Claims.


def pointwise(P: dict[Hashable, Fraction], Q: dict[Hashable, Fraction]) -> Fraction:
    """δ at ε = 0 by a check of every single answer."""
    return max(p - Q.get(o, 0) for o, p in P.items())


def summed(P: dict[Hashable, Fraction], Q: dict[Hashable, Fraction]) -> Fraction:
    return sum((max(p - Q.get(o, 0), Fraction(0)) for o, p in P.items()), Fraction(0))


def uniforms(x: int) -> dict[Hashable, Fraction]:
    return dict.fromkeys(range(50 * x, 50 * x + 100), Fraction(1, 100))


_MEDIAN = [
    (a, b) for a in tuples(range(4), 3) if list(a) == sorted(a) for b in replaced(range(4))(a)
]


CASES: dict[str, Case] = {
    "laplace-5-per-cent": case(
        "Laplace noise 5 % too small",
        "the scale that ε asks for",
        "noise 5 %",
        laws(additive(geometric(0.95)), Pure(1)),
        laws(additive(geometric(1)), Pure(1)),
    ),
    "laplace-5-per-cent-half": case(
        "Laplace noise 5 % too small at ε = ½",
        "the scale that ε asks for",
        "noise 5 %",
        laws(additive(geometric(1.9)), Pure("1/2")),
        laws(additive(geometric(2)), Pure("1/2")),
    ),
    "gaussian-5-per-cent": case(
        "Gaussian noise 5 % too small",
        "the σ that μ asks for",
        "noise 5 %",
        laws(additive(rounded_normal(1.9)), GDP("1/2")),
        laws(additive(rounded_normal(2)), GDP("1/2")),
    ),
    "minus-zero": case(
        "a sign and a magnitude, with two zeros",
        "minus zero is drawn again",
        "opendp#2638",
        laws(additive(both_zeros(1)), Pure(1)),
        laws(additive(geometric(1)), Pure(1)),
    ),
    "divided-by-sensitivity": case(
        "a noise multiplier that is divided by the sensitivity, not multiplied",
        "multiplied",
        "Qrlew 0.9.23",
        laws(additive(geometric(1 / 3)), Pure(1), [(0, 3)]),
        laws(additive(geometric(3)), Pure(1), [(0, 3)]),
    ),
    "sigma-without-epsilon": case(
        "σ = √(2 ln(1.25/δ)), whatever ε is",
        "the same divided by ε",
        "E-01",
        laws(additive(rounded_normal(classical_sigma(1, 1e-5))), Approx("0.1", "1e-5")),
        laws(additive(rounded_normal(classical_sigma(0.1, 1e-5)), 400), Approx("0.1", "1e-5")),
    ),
    "noise-for-here": case(
        "noise for how far this dataset's neighbours move",
        "for how far any neighbours move",
        "E-44",
        laws(local_noise, Pure(1), _MEDIAN),
        laws(global_noise, Pure(1), _MEDIAN),
    ),
    "kept-twice": case(
        "randomized response that keeps the truth with p + (1 − p)p",
        "with p",
        "A7, opendp#480",
        laws(kept_twice(Fraction(3, 4)), LN3),
        laws(response(Fraction(3, 4)), LN3),
    ),
    "one-sample-for-two": case(
        "amplified by sampling, twice on one sample",
        "a sample for each",
        "D15",
        laws(one_sample, LN4),
        laws(two_samples, LN4),
    ),
    "disjoint-cells": case(
        "counts of disjoint cells at ε each, where a record may move from one to another",
        "at ε/2 each",
        "E-28",
        laws(
            lambda n: both(
                shifted(geometric(1), n, -12, 12), shifted(geometric(1), 1 - n, -12, 12)
            ),
            Pure(1),
        ),
        laws(
            lambda n: both(
                shifted(geometric(2), n, -12, 12), shifted(geometric(2), 1 - n, -12, 12)
            ),
            Pure(1),
        ),
    ),
    "group-order": case(
        "Rényi privacy of eight people at order α/2",
        "at order α/8",
        "E-06",
        laws(additive(rounded_normal(16), 200), Renyi({8: Fraction(27 * 16, 512)}), [(0, 8)]),
        laws(additive(rounded_normal(16), 200), Renyi({2: Fraction(27 * 16, 512)}), [(0, 8)]),
    ),
    "group-delta": case(
        "(kε, kδ) for k people",
        "(kε, δ·(e^(kε) − 1)/(e^ε − 1))",
        "group privacy",
        laws(
            lambda k: {"a": Fraction((0, 1, 3)[k], 10**4), "b": 1 - Fraction((0, 1, 3)[k], 10**4)},
            Approx(2 * LN2.parameters["epsilon"], Fraction(2, 10**4)),
            [(0, 2)],
        ),
        laws(
            lambda k: {"a": Fraction((0, 1, 3)[k], 10**4), "b": 1 - Fraction((0, 1, 3)[k], 10**4)},
            Approx(2 * LN2.parameters["epsilon"], Fraction(3, 10**4)),
            [(0, 2)],
        ),
    ),
    "pointwise-delta": case(
        "δ by a check of every single answer",
        "δ summed over the answers",
        "E-10",
        laws(uniforms, Approx(0, pointwise(uniforms(0), uniforms(1)))),
        laws(uniforms, Approx(0, summed(uniforms(0), uniforms(1)))),
    ),
}
