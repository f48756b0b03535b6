"""Run anything that can be audited: draw many independent outputs at one input.

*Mechanisms*  One call for all draws where the kind is the library's and `perturb` takes arrays: its
              sensitivity is that of the whole array, but the noise of every cell is drawn by
              itself, so the cells are independent outputs of the mechanism for one number.
              Histograms, hierarchies and means are tallied once, and their noise drawn for all
              draws together, by the same records. Else one call for each draw.
*Errors*      What is raised is an output, by the name of its type.
*In turn*     A function is called at both inputs in turn: what changes with time, such as a budget
              that runs out, falls on both. Where all draws of one input come from one call and
              those of the other do not, both are made call by call: only so are outputs written in
              one way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from ..errors import Refused
from ..guarantees import Guarantee
from ..guarantees.finite.channel import Channel
from ..local.oracle import Oracle
from ..mechanisms.above_threshold import AboveThreshold
from ..mechanisms.combined import Combined
from ..mechanisms.key_selection import KeySelection, NoisyThreshold
from ..mechanisms.randomized_response import RandomizedResponse
from ..mechanisms.shared.mechanism import Mechanism
from ..mechanisms.subsampled import Subsampled
from ..mechanisms.weighted_quantile import WeightedQuantile
from ..noise.bernoulli import Bernoulli
from ..noise.choice import Choice
from . import audit_refusals as refusals
from .batch_draws import AT_ONCE
from .canonical_outputs import Draws, Error, Input, Output, Pair
from .law_pair import LawPair, finite_law_pair
from .local_reports import reports_at
from .mechanism_laws import is_library_kind, law_pair_at

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
            lambda x: run_once(what, x),
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
    """Draw n independent outputs of a mechanism at an input."""
    for kind, at_once in AT_ONCE.items():
        if isinstance(m, kind) and is_library_kind(type(m)):
            try:
                outputs = at_once(m, x, n)
            except Exception:  # it raises the same for a single draw: that is an output
                outputs = None
            if outputs is not None:
                return outputs
    return _one_by_one(lambda value: run_once(m, value), x, n)


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


def run_once(m: Mechanism, x: Input) -> Output:
    """Draw one output of a mechanism at an input."""
    for kind, once in ONCE.items():
        if isinstance(m, kind):
            return once(m, x)
    if hasattr(m, "perturb"):
        return _published_part(m.perturb(x))
    assert hasattr(m, "choose")
    return _published_part(m.choose(x))


def _published_part(output: Output) -> Output:
    """Return the published numbers without the record around them."""
    for name in ("counts", "payload"):
        if hasattr(output, name):
            return getattr(output, name)
    return (
        (output.total, output.rows)
        if hasattr(output, "total") and hasattr(output, "rows")
        else output
    )


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


def _run_threshold(m: AboveThreshold, x: Iterable[int]) -> tuple[bool, ...]:
    session, answers = m.start(0), []
    for value in x:
        if not session.left:
            break
        answers.append(session.ask(int(value)))
    return tuple(answers)


def _report_code(m: RandomizedResponse, x: Input) -> Output:
    """Return the report's place among the categories, as batch draws do; a report that is no
    category stays as it is. For several people, return their places.
    """
    report = m.perturb(x)
    if not m.labels.is_single_value(x):
        return m.labels.codes(report, drop=True)
    return m.categories.index(report) if report in m.categories else report


def _run_key_selection(m: KeySelection, x: Any) -> Output:
    if not isinstance(m, NoisyThreshold):  # rules that only name groups
        assert hasattr(m, "keep")
        named = np.asarray(m.keep(np.atleast_1d(x))).astype(np.int64)
        return named if np.ndim(x) else int(named[0])
    return m.perturb(x) if np.ndim(x) == 0 else tuple(m.perturb(int(v)) for v in x)


def _run_subsampled(m: Subsampled, x: Iterable[int]) -> Output:
    """Run the base mechanism on the sum of a fresh sample of the rows."""
    rows = list(x)
    if m.how == "poisson":
        coins = Bernoulli(p=m.rate).sample(len(rows))
        return run_once(
            m.base, sum(row for row, keep in zip(rows, coins.tolist(), strict=True) if keep)
        )
    size, left, total = round(m.rate * len(rows)), list(rows), 0
    for _ in range(size):
        total += left.pop(Choice([0] * len(left)).draw())
    return run_once(m.base, total)


ONCE: dict[type, Callable[[Any, Any], Output]] = {
    AboveThreshold: _run_threshold,
    KeySelection: _run_key_selection,
    Oracle: lambda m, x: reports_at(m, x, 1)[0],
    RandomizedResponse: _report_code,
    Combined: lambda m, x: tuple(run_once(part, x) for part in m.parts),
    Subsampled: _run_subsampled,
    WeightedQuantile: lambda m, x: m.perturb(*x),
}
"""Types that need more than `perturb(x)` or `choose(x)`."""


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
