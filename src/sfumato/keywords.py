"""Keywords that several signatures share, written once.

A function takes `**options: Unpack[Options]`, where `Options` is a TypedDict: type checkers know
every keyword. `spell_out` shows the same keywords to `help()` and `inspect.signature`, and refuses
all others; `takes` also explains them in the docstring. Refusals leave such a function without its
inner frames.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import cast

from .errors import F, trim_frames


def spell_out(options: type, /, **defaults: object) -> Callable[[F], F]:
    """Show the keys of a TypedDict in a signature, in place of `**options`.

    The keys with a default here come first, in this order; all others have None. A keyword that the
    signature does not show is a TypeError, as it is for any function.
    """

    def spell(function: F) -> F:
        signature = inspect.signature(function)
        stated = [
            parameter
            for parameter in signature.parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        annotations = options.__annotations__
        shared = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name),
                annotation=getattr(annotations[name], "__forward_arg__", annotations[name]),
            )
            for name in dict.fromkeys((*defaults, *annotations))
        ]
        names = {parameter.name for parameter in (*stated, *shared)}

        @trim_frames
        @wraps(function)
        def call(*arguments: object, **keywords: object) -> object:
            if not names.issuperset(keywords):
                name = next(name for name in keywords if name not in names)
                raise TypeError(
                    f"{function.__qualname__}() got an unexpected keyword argument {name!r}"
                )
            return function(*arguments, **keywords)

        call.__signature__ = signature.replace(  # type: ignore[attr-defined]  # read by inspect
            parameters=[*stated, *shared]
        )
        return cast(F, call)

    return spell


def takes(
    options: type, defaults: Mapping[str, object], explained: Mapping[str, str]
) -> Callable[[F], F]:
    """Let a function take the keys of a TypedDict as `**options`.

    Its signature lists them with their defaults, and its docstring ends with a line about each
    keyword in `explained`.
    """

    def decorate(function: F) -> F:
        shown = {name: defaults[name] for name in options.__annotations__ if name in defaults}
        spelled = spell_out(options, **shown)(function)
        names = inspect.signature(spelled).parameters
        lines = [f"{name:<13} {explained[name]}" for name in names if name in explained]
        spelled.__doc__ = "\n".join([inspect.cleandoc(function.__doc__ or ""), "", *lines])
        return spelled

    return decorate
