"""Keywords that several signatures share, written once.

A function takes `**options: Unpack[Options]`, where `Options` is a TypedDict: type checkers know
every keyword. `spell_out` shows the same keywords to `help()` and `inspect.signature`; `takes` also
explains them in the docstring, and raises a TypeError for any other keyword.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import TypeVar, cast

F = TypeVar("F", bound=Callable[..., object])


def spell_out(options: type, /, **defaults: object) -> Callable[[F], F]:
    """Show the keys of a TypedDict in a signature, in place of `**options`.

    A key without a default here is shown with None.
    """

    def spell(function: F) -> F:
        signature = inspect.signature(function)
        stated = [
            parameter
            for parameter in signature.parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        shared = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name),
                annotation=getattr(annotation, "__forward_arg__", annotation),
            )
            for name, annotation in options.__annotations__.items()
        ]
        function.__signature__ = signature.replace(  # type: ignore[attr-defined]  # read by inspect
            parameters=[*stated, *shared]
        )
        return function

    return spell


def takes(
    options: type, defaults: Mapping[str, object], explained: Mapping[str, str]
) -> Callable[[F], F]:
    """Let a function take the keys of a TypedDict as `**options`.

    Its signature lists them with their defaults, its docstring ends with a line about each keyword
    in `explained`, and a call with an unknown keyword is a TypeError that names the function.
    """

    def decorate(function: F) -> F:
        spelled = spell_out(options, **defaults)(function)
        names = inspect.signature(spelled).parameters

        @functools.wraps(spelled)
        def checked(*arguments: object, **keywords: object) -> object:
            for name in keywords:
                if name not in names:
                    raise TypeError(
                        f"{function.__qualname__}() got an unexpected keyword argument {name!r}"
                    )
            return function(*arguments, **keywords)

        lines = [f"{name:<14}{explained[name]}" for name in names if name in explained]
        checked.__doc__ = "\n".join([inspect.cleandoc(function.__doc__ or ""), "", *lines])
        return cast("F", checked)

    return decorate
