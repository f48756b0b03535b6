"""The refusals of `noise`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

PROBABILITY_AND_EXPONENT = RefusalText(
    "noise.bernoulli",
    "Bernoulli(p=…, exponent=…)",
    "give either the probability p or the exponent γ of p = e^(−γ)",
    'Bernoulli(p="1/3")',
)
SCALE_AND_RATE = RefusalText(
    "noise.laplace",
    "Laplace(scale=…, rate=…)",
    "give either the scale or its inverse, the rate",
    "Laplace(scale=2)",
)
SCALE_TOO_LARGE = RefusalText(
    "noise.scale",
    "{name}={value}",
    "noise above 2^56 grid steps does not fit 64-bit integers",
    "choose a coarser grid, or a larger epsilon or rho",
)
WIDTH_ABOVE_PERIOD = RefusalText(
    "noise.staircase",
    "width={width}, period={period}",
    "the middle step is from 1 to {period} wide: at most one period",
    "width={widest}",
)
PARTS_OUT_OF_RANGE = RefusalText(
    "noise.parts",
    "parts={parts}",
    "noise is shared out among a whole number of parts from 1 to {most:,}",
    "parts=5",
)
NO_CANDIDATES = RefusalText(
    "noise.choice",
    "Choice([])",
    "a choice needs a candidate",
    "Choice([3, 1, 0])",
)
UNFIT_PRIOR = RefusalText(
    "noise.choice",
    "Choice of {candidates} candidates",
    "the prior needs one weight for each candidate: none below zero, and not all of them zero",
    "prior=[1] * {candidates}",
)
NOT_AN_INTEGER = RefusalText(
    "noise.not-an-integer",
    "z of type {type}",
    "the law is on the integers",
    "law.pmf(3)",
)
