"""The table of all scalar functions. Expressions, SQL text and the documentation come from this
table; a query can call nothing else.

Every function is total: for any row the engine returns a value or null, never an error. Tests run
each function on special values of every type and every pair of types.
"""

from __future__ import annotations

from . import (
    functions_arithmetic,
    functions_cast,
    functions_choice,
    functions_format,
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
    functions_format,
    functions_cast,
)

FUNCTIONS: dict[str, Function] = {
    function.name: function for module in _MODULES for function in module.FUNCTIONS
}


def function_named(name: str) -> Function:
    return FUNCTIONS[name]
