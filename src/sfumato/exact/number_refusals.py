"""The refusals of `exact`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

# What is no number
NOT_A_NUMBER = RefusalText(
    "number.type",
    "{name}={type}",
    "{name} must be a number: an int, a float, a Fraction, a Decimal or a text",
    "{name}=0.5",
)
TRUTH_VALUE = RefusalText(
    "number.type",
    "{name}={value!s}",
    "a truth value is not a number",
    "{name}=1",
)
TEXT_WITHOUT_A_NUMBER = RefusalText(
    "number.text",
    "{name}={text!r:.60}",
    "this text is not a number",
    '{name}="1/2"',
)

# Numbers out of range
NOT_FINITE = RefusalText(
    "number.not-finite",
    "{name}={text:.60}",
    "{name} must be finite",
    "{name}=1",
)
NOT_POSITIVE = RefusalText(
    "number.not-positive",
    "{name}={value}",
    "{name} must be above zero",
    "{name}=1",
)
NOT_A_PROBABILITY = RefusalText(
    "number.not-a-probability",
    "{name}={value}",
    "{name} must lie in {interval}",
    "{name}={example}",
)
NOT_A_POWER_OF_TWO = RefusalText(
    "number.not-a-power-of-two",
    "{name}={value}",
    "{name} must be a power of two: only these divide floats exactly",
    "{name}=2**{exponent}",
)
SUBNORMAL = RefusalText(
    "number.subnormal",
    "{name}={value}",
    "{name} is so small that much software treats it as zero",
    "{name}=1e-6",
)
OUTSIDE_DECIMALS = RefusalText(
    "number.range",
    "{name}={text:.60}",
    "{name} must lie between 1e-400 and 1e400",
    "{name}=1",
)
ABOVE_DOUBLES = RefusalText(
    "number.range",
    "{name}={value}",
    "{name} is too large for a 64-bit float",
    "{name}=1",
)

# Numbers that follow from the parameters
TOO_EXTREME_TO_COMPARE = RefusalText(
    "number.range",
    "a comparison",
    "the parameters are so extreme that two numbers cannot be compared",
    "choose less extreme parameters",
)
RESULT_ABOVE_DOUBLES = RefusalText(
    "number.range",
    "a derived number",
    "the parameters are so extreme that a number is too large for a 64-bit float",
    "choose less extreme parameters",
)

# Planning
PLANNING_TOO_LONG = RefusalText(
    "plan.effort",
    "the question",
    (
        "planning it takes more than {seconds:g} seconds of processor time, which is the limit "
        "here; nothing was charged"
    ),
    "ask for fewer columns, quantiles, CASE branches, listed values or sub-queries",
)
