"""The table of all scalar functions. What is not in it cannot be asked: expressions, SQL text and
the documentation are made from this table alone.

Every function is total: whatever the rows hold, the engine gives a value or a null and never an
error. Tests run each of them on special values of every type and every pair of types.
"""

from __future__ import annotations

from . import (
    functions_arithmetic,
    functions_cast,
    functions_choice,
    functions_logic,
    functions_mathematics,
    functions_rounding,
    functions_text,
    functions_time,
)
from .scalar_function import Function

_MODULES = (
    functions_arithmetic,
    functions_rounding,
    functions_mathematics,
    functions_logic,
    functions_choice,
    functions_text,
    functions_time,
    functions_cast,
)

FUNCTIONS: dict[str, Function] = {
    function.name: function for module in _MODULES for function in module.FUNCTIONS
}


def named(name: str) -> Function:
    return FUNCTIONS[name]
