"""Run anything that can be audited: draw many independent outputs at one input.

*Mechanisms*  One call for all draws where the mechanism has one (`draw_many`), else a call for each
              draw (`draw_once`).
*Errors*      What is raised is an output, by the name of its type.
*In turn*     A function is called at both inputs in turn: what changes with time, such as a budget
              that runs out, falls on both. Where all draws of one input come from one call and
              those of the other do not, both are made call by call: only so are outputs written in
              one way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from ..errors import Refused
from ..guarantees import Guarantee
from ..guarantees.finite.channel import Channel
from ..mechanisms.shared.mechanism import Mechanism, is_library_kind, states
from ..noise.choice import Choice
from . import audit_refusals as refusals
from .canonical_outputs import Draws, Error, Input, Output, Pair
from .law_pair import LawPair, finite_law_pair
from .mechanism_laws import law_pair_at

X = TypeVar("X")


@dataclass(frozen=True, slots=True)
class Runner:
    """The subject of an audit, its claim, and functions that draw outputs at an input and return
    the two laws at a pair where they are known.
    """

    of: object
    claim: Guarantee | None
    draw: Callable[[Input, int], Draws]
    law: Callable[[Input, Input], LawPair | None]
    # draws one output; None where the subject makes many only
    once: Callable[[Input], Output] | None = None


@runtime_checkable
class DrawsMany(Protocol):
    """A subject with a claim that draws many outputs itself: a query to protected tables."""

    @property
    def claim(self) -> Guarantee | None: ...

    def outputs_at(self, x: Input, n: int) -> Draws: ...


@dataclass(frozen=True, slots=True)
class Many(Generic[X]):
    """A function (input, n) → n independent outputs in one call, as a list or as an array whose
    first axis counts them.
    """

    function: Callable[[X, int], Output]
    claim: Guarantee | None = None


def many(function: Callable[[X, int], Output], claim: Guarantee | None = None) -> Many[X]:
    """Wrap a function that makes many outputs in one call: `sf.audit(many(f), x, y, claim=…)`. The
    caller vouches that the outputs are independent.
    """
    return Many(function, claim)


def runner_of(what: object) -> Runner:
    """Build the runner of a mechanism, channel, query or function."""
    if isinstance(what, Runner):
        return what
    if isinstance(what, Mechanism):
        return Runner(
            what,
            what.promise,
            lambda x, n: draw_many(what, x, n),
            lambda x, y: law_pair_at(what, x, y),
            what.draw_once,
        )
    if isinstance(what, Channel):
        return Runner(
            what,
            None,
            lambda x, n: _from_law(dict(zip(what.outputs, what.row(x), strict=True)), n),
            lambda x, y: law_pair_at(what, x, y),
        )
    if isinstance(what, Many):
        return Runner(
            what, what.claim, lambda x, n: _all_at_once(what.function, x, n), lambda *_: None
        )
    if isinstance(what, DrawsMany):
        return Runner(what, what.claim, what.outputs_at, lambda *_: None)
    if callable(what):
        return Runner(
            what,
            getattr(what, "claim", None),
            lambda x, n: _one_by_one(what, x, n),
            lambda x, y: _law_pair_from_function(what, x, y),
            what,
        )
    raise refusals.NOT_AUDITABLE(type=type(what).__name__)


def law_pair_of(runner: Runner, pair: Pair, *, exact: bool = False) -> LawPair | None:
    """Return the two laws of a mechanism or a channel, and for an exact audit those of a function
    that returns laws. None for inputs without a law, such as NaN.
    """
    if not exact and not isinstance(runner.of, Mechanism | Channel):
        return None
    try:
        return runner.law(*pair)
    except (Refused, ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


def draw_many(m: Mechanism, x: Input, n: int) -> Draws:
    """Draw n independent outputs of a mechanism at an input, in one call where the mechanism can. A
    class of a caller may draw otherwise for an array than for a number, so it is run call by call
    unless it states `draw_many` itself.
    """
    outputs = None
    if is_library_kind(type(m)) or states(m, "draw_many"):
        # what raises in one call raises the same for a single draw: that is an output
        with suppress(Exception):
            outputs = m.draw_many(x, n)
    return outputs if outputs is not None else _one_by_one(m.draw_once, x, n)


def draw_both(runner: Runner, x: Input, y: Input, n: int) -> tuple[Draws, Draws]:
    """Draw n outputs at each of two inputs, in the same way."""
    if runner.once is not None and not isinstance(runner.of, Mechanism):
        return _in_turn(runner.once, x, y, n)
    outputs_x, outputs_y = runner.draw(x, n), runner.draw(y, n)
    if runner.once is not None and isinstance(outputs_x, np.ndarray) is not isinstance(
        outputs_y, np.ndarray
    ):
        return _in_turn(runner.once, x, y, n)
    return outputs_x, outputs_y


def _all_at_once(function: Callable[[X, int], Output], x: X, n: int) -> Draws:
    """Call the caller's function for n draws: n outputs, or one error for all of them."""
    try:
        outputs = function(x, n)
    except Exception as error:  # an error is an output
        return [Error(type(error).__name__)] * n
    if hasattr(outputs, "__array__") and not isinstance(outputs, np.ndarray):
        outputs = np.asarray(outputs)
    if isinstance(outputs, np.ndarray) and outputs.ndim > 0 and len(outputs) == n:
        return outputs
    is_text = isinstance(outputs, str | bytes | bytearray)
    if isinstance(outputs, Sequence) and not is_text and len(outputs) == n:
        return outputs
    raise refusals.OUTPUTS_OF_WRONG_NUMBER(count=n)


def _one_by_one(function: Callable[[Input], Output], x: Input, n: int) -> list[Output]:
    return [_output(function, x) for _ in range(n)]


def _in_turn(
    function: Callable[[Input], Output], x: Input, y: Input, n: int
) -> tuple[list[Output], list[Output]]:
    """Draw n outputs at each input in turn, in alternating order."""
    outputs_x: list[Output] = []
    outputs_y: list[Output] = []
    for i in range(n):
        for value, outputs in (
            ((x, outputs_x), (y, outputs_y)) if i % 2 else ((y, outputs_y), (x, outputs_x))
        ):
            outputs.append(_output(function, value))
    return outputs_x, outputs_y


def _output(function: Callable[[Input], Output], x: Input) -> Output:
    try:
        return function(x)
    except Exception as error:  # an error is an output
        return Error(type(error).__name__)


def _from_law(law: Mapping[Hashable, Fraction | float], n: int) -> list[Output]:
    outcomes = [outcome for outcome, mass in law.items() if mass > 0]
    return [
        outcomes[i]
        for i in Choice([0] * len(outcomes), prior=[Fraction(law[o]) for o in outcomes])
        .sample(n)
        .tolist()
    ]


def _law_pair_from_function(
    function: Callable[[Input], Output], x: Input, y: Input
) -> LawPair | None:
    """Call a function that returns laws, outcome → probability, instead of outputs. Only an exact
    audit does this.
    """
    law_x, law_y = function(x), function(y)
    return (
        finite_law_pair((law_x, law_y))
        if isinstance(law_x, Mapping) and isinstance(law_y, Mapping)
        else None
    )
