"""The refusals of `exact`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

NUMBER_NOT_A_POWER_OF_TWO_1 = RefusalText(
    "number.not-a-power-of-two",
    "{name}={value}",
    "only powers of two divide doubles exactly",
    "{name}=2**{exponent}",
)
NUMBER_NOT_A_PROBABILITY_1 = RefusalText(
    "number.not-a-probability",
    "{name}={value}",
    "{name} must lie in {interval}",
    "{name}={value_2}",
)
NUMBER_NOT_FINITE_1 = RefusalText(
    "number.not-finite",
    "{name}={text:.60}",
    "a finite number is needed",
    "{name}=1",
)
NUMBER_NOT_POSITIVE_1 = RefusalText(
    "number.not-positive",
    "{name}={value}",
    "{name} must be above zero",
    "{name}=1",
)
NUMBER_RANGE_1 = RefusalText(
    "number.range",
    "a comparison",
    "the numbers are too extreme to compare",
    "less extreme parameters",
)
NUMBER_RANGE_2 = RefusalText(
    "number.range",
    "a derived number",
    "the number is too large for a double",
    "less extreme parameters",
)
NUMBER_RANGE_3 = RefusalText(
    "number.range",
    "a search",
    "no double is large enough",
    "less extreme parameters",
)
NUMBER_RANGE_4 = RefusalText(
    "number.range",
    "{name}={text:.60}",
    "numbers lie between 1e-400 and 1e400",
    "{name}=1",
)
NUMBER_RANGE_5 = RefusalText(
    "number.range",
    "{name}={value}",
    "{name} is too large for a double",
    "{name}=1",
)
NUMBER_SUBNORMAL_1 = RefusalText(
    "number.subnormal",
    "{name}={value}",
    "{name} is so small that much software treats it as zero",
    "{name}=1e-6",
)
NUMBER_TEXT_1 = RefusalText(
    "number.text",
    "{name}={text!r:.60}",
    "this text is not a number",
    '{name}="0.5" or {name}="1/2"',
)
NUMBER_TYPE_1 = RefusalText(
    "number.type",
    "{name}={type}",
    "this is not a number",
    '{name}=0.5, {name}="1/2" or {name}=Fraction(1, 2)',
)
NUMBER_TYPE_2 = RefusalText(
    "number.type",
    "{name}={value!s}",
    "a truth value is not a number",
    "{name}=1",
)
PLAN_EFFORT_1 = RefusalText(
    "plan.effort",
    "the question",
    (
        "planning it takes more than {seconds:g} seconds of processor time, which is the limit "
        "here; nothing was charged"
    ),
    "fewer columns, quantiles, CASE branches, listed values or sub-queries",
)
