"""The refusals of `noise`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

NOISE_BERNOULLI_1 = RefusalText(
    "noise.bernoulli",
    "Bernoulli(p=…, exponent=…)",
    "state the probability or the exponent γ of e^(−γ), not both",
    'Bernoulli(p="1/3")',
)
NOISE_CHOICE_1 = RefusalText(
    "noise.choice",
    "Choice of {scores_count}",
    "a choice needs a candidate, and a weight for each candidate",
    "Choice([3, 1, 0])",
)
NOISE_LAPLACE_1 = RefusalText(
    "noise.laplace",
    "Laplace(scale=…, rate=…)",
    "state the scale or its inverse, the rate, by name",
    "Laplace(scale=2)",
)
NOISE_NOT_AN_INTEGER_1 = RefusalText(
    "noise.not-an-integer",
    "z of type {dtype}",
    "the law is on the integers",
    "law.pmf(3) or law.pmf(np.arange(10))",
)
NOISE_SCALE_1 = RefusalText(
    "noise.scale",
    "sigma_squared={sigma_squared}",
    "noise above 2^56 grid units does not fit 64-bit integers",
    "a coarser grid, or a larger rho",
)
NOISE_SCALE_2 = RefusalText(
    "noise.scale",
    "{name}={value}",
    "noise above 2^56 grid units does not fit 64-bit integers",
    "a coarser grid, or a larger epsilon",
)
NOISE_STAIRCASE_1 = RefusalText(
    "noise.staircase",
    "width={width}, period={period}",
    "the middle step reaches at most one period",
    "width={max}",
)
