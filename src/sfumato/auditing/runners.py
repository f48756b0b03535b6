"""How a thing is run: many independent outputs at one input, whatever the thing is.

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import Refused
from ..guarantees import Guarantee
from ..guarantees.finite.channel import Channel
from ..local.oracle import Oracle
from ..mechanisms.above_threshold import AboveThreshold
from ..mechanisms.combined import Several
from ..mechanisms.key_selection import KeySelection, Threshold
from ..mechanisms.randomized_response import RandomizedResponse
from ..mechanisms.shared.mechanism import Mechanism
from ..mechanisms.subsampled import Subsampled
from ..mechanisms.weighted_quantile import WeightedQuantile
from ..noise.bernoulli import Bernoulli
from ..noise.choice import Choice
from .batch_draws import AT_ONCE
from .canonical_outputs import Error
from .law_pair import Known, finite
from .local_reports import reports_at
from .mechanism_laws import law_at, of_the_library


@dataclass(frozen=True, slots=True)
class Runner:
    """What is audited, as functions: what it claims, draws at an input, and the two laws at a pair
    where they are known.
    """

    of: Any
    claim: Guarantee | None
    draw: Callable[[Any, int], Any]
    law: Callable[[Any, Any], Known | None]
    once: Callable[[Any], Any] | None = None  # one output; None where only many are made


@dataclass(frozen=True, slots=True)
class Many:
    """A function (input, n) → n independent outputs at once, as an array whose first axis counts
    them or as a list.
    """

    function: Callable[[Any, int], Any]
    claim: Guarantee | None = None


def many(function: Callable[[Any, int], Any], claim: Guarantee | None = None) -> Many:
    """A function that makes many outputs in one call: `sf.audit(many(f), x, y, claim=…)`. That they
    are independent is the caller's word.
    """
    return Many(function, claim)


def runner_of(what: Any) -> Runner:
    """How to run it."""
    if isinstance(what, Runner):
        return what
    if isinstance(what, Mechanism):
        return Runner(
            what,
            what.promise,
            lambda x, n: draws(what, x, n),
            lambda x, y: law_at(what, x, y),
            lambda x: run(what, x),
        )
    if isinstance(what, Channel):
        return Runner(
            what,
            None,
            lambda x, n: _from_law(dict(zip(what.outputs, what.row(x), strict=True)), n),
            lambda x, y: law_at(what, x, y),
        )
    if isinstance(what, Many):
        return Runner(
            what, what.claim, lambda x, n: _all_at_once(what.function, x, n), lambda *_: None
        )
    if hasattr(what, "outputs_at"):  # a question to protected tables
        return Runner(what, what.claim, what.outputs_at, lambda *_: None)
    if callable(what):
        return Runner(
            what,
            getattr(what, "claim", None),
            lambda x, n: _one_by_one(what, x, n),
            lambda x, y: _laws_given(what, x, y),
            what,
        )
    reason = (
        "a mechanism, a local oracle, a channel, a question to tables, or a function of one "
        "input is audited"
    )
    raise Refused(
        "audit.what", type(what).__name__, reason, "sf.audit(function, x, y, claim=sf.Pure(1))"
    )


def known_law(runner: Runner, pair: tuple[Any, Any], *, exact: bool = False) -> Known | None:
    """The two laws, of a mechanism or a channel, and for an exact audit of a function that gives
    laws. Inputs without a law, such as NaN, have none.
    """
    if not exact and not isinstance(runner.of, Mechanism | Channel):
        return None
    try:
        return runner.law(*pair)
    except (Refused, ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


def draws(m: Mechanism, x: Any, n: int) -> Any:
    """n independent outputs of a mechanism at an input."""
    for kind, at_once in AT_ONCE.items():
        if isinstance(m, kind) and of_the_library(type(m)):
            try:
                found = at_once(m, x, n)
            except Exception:  # what it raises for all it raises for one: that is an output
                found = None
            if found is not None:
                return found
    return _one_by_one(lambda value: run(m, value), x, n)


def draw_both(runner: Runner, x: Any, y: Any, n: int) -> tuple[Any, Any]:
    """n outputs at each of two inputs, made in the same way."""
    if runner.once is not None and not isinstance(runner.of, Mechanism):
        return _in_turn(runner.once, x, y, n)
    one, other = runner.draw(x, n), runner.draw(y, n)
    if runner.once is not None and isinstance(one, np.ndarray) is not isinstance(other, np.ndarray):
        return _in_turn(runner.once, x, y, n)
    return one, other


def run(m: Any, x: Any) -> Any:
    """One output of a mechanism at an input."""
    for kind, once in ONCE.items():
        if isinstance(m, kind):
            return once(m, x)
    if hasattr(m, "perturb"):
        return _plain(m.perturb(x))
    return _plain(m.choose(x))


def _plain(output: Any) -> Any:
    """What was published, without the record of what published it."""
    for name in ("counts", "payload"):
        if hasattr(output, name):
            return getattr(output, name)
    return (
        (output.total, output.rows)
        if hasattr(output, "total") and hasattr(output, "rows")
        else output
    )


def _all_at_once(function: Callable[[Any, int], Any], x: Any, n: int) -> Any:
    """What a function of the caller gives for n draws: as many outputs, or one error for all."""
    try:
        found = function(x, n)
    except Exception as error:  # an error is an output
        return [Error(type(error).__name__)] * n
    if hasattr(found, "__array__") and not isinstance(found, np.ndarray):
        found = np.asarray(found)
    listed = (isinstance(found, np.ndarray) and found.ndim > 0) or (
        isinstance(found, Sequence) and not isinstance(found, str | bytes | bytearray)
    )
    if not listed or len(found) != n:
        raise Refused(
            "audit.many",
            "many(function)",
            f"function(x, {n}) gives {n} outputs, as an array or a list",
            "lambda x, n: [f(x) for _ in range(n)]",
        )
    return found


def _one_by_one(function: Callable[[Any], Any], x: Any, n: int) -> list[Any]:
    return [_output(function, x) for _ in range(n)]


def _in_turn(function: Callable[[Any], Any], x: Any, y: Any, n: int) -> tuple[list[Any], list[Any]]:
    """n outputs at each input, the one that comes first changing."""
    one: list[Any] = []
    other: list[Any] = []
    for i in range(n):
        for value, found in ((x, one), (y, other)) if i % 2 else ((y, other), (x, one)):
            found.append(_output(function, value))
    return one, other


def _output(function: Callable[[Any], Any], x: Any) -> Any:
    try:
        return function(x)
    except Exception as error:  # an error is an output
        return Error(type(error).__name__)


def _threshold(m: AboveThreshold, x: Any) -> tuple[bool, ...]:
    session, answers = m.start(0), []
    for value in x:
        if not session.left:
            break
        answers.append(session.ask(int(value)))
    return tuple(answers)


def _reported(m: RandomizedResponse, x: Any) -> Any:
    """The report by its place among the categories, as draws at once give it; what is no category
    as it is. Of several people, their places.
    """
    report = m.perturb(x)
    if not m.labels.is_one(x):
        return m.labels.codes(report, drop=True)
    return m.categories.index(report) if report in m.categories else report


def _keys(m: Any, x: Any) -> Any:
    if not isinstance(m, Threshold):  # rules that only name groups
        kept = np.asarray(m.keep(np.atleast_1d(x))).astype(np.int64)
        return kept if np.ndim(x) else int(kept[0])
    return m.perturb(x) if np.ndim(x) == 0 else tuple(m.perturb(int(v)) for v in x)


def _sampled(m: Subsampled, x: Any) -> Any:
    """The sum of a fresh sample of the rows, by the base mechanism."""
    rows = list(x)
    if m.how == "poisson":
        kept = Bernoulli(p=m.rate).sample(len(rows))
        return run(m.base, sum(row for row, keep in zip(rows, kept.tolist(), strict=True) if keep))
    size, left, total = round(m.rate * len(rows)), list(rows), 0
    for _ in range(size):
        total += left.pop(Choice([0] * len(left)).draw())
    return run(m.base, total)


ONCE: dict[type, Callable[[Any, Any], Any]] = {
    AboveThreshold: _threshold,
    KeySelection: _keys,
    Oracle: lambda m, x: reports_at(m, x, 1)[0],
    RandomizedResponse: _reported,
    Several: lambda m, x: tuple(run(part, x) for part in m.parts),
    Subsampled: _sampled,
    WeightedQuantile: lambda m, x: m.perturb(*x),
}
"""Kinds that are run otherwise than by `perturb(x)` or `choose(x)`."""


def _from_law(law: Mapping[Any, Fraction | float], n: int) -> list[Any]:
    outcomes = [outcome for outcome, mass in law.items() if mass > 0]
    return [
        outcomes[i]
        for i in Choice([0] * len(outcomes), prior=[Fraction(law[o]) for o in outcomes])
        .sample(n)
        .tolist()
    ]


def _laws_given(function: Callable[[Any], Any], x: Any, y: Any) -> Known | None:
    """A function that gives laws, outcome → probability, instead of outputs. Asked for only by an
    exact audit.
    """
    one, other = function(x), function(y)
    return finite((one, other)) if isinstance(one, Mapping) and isinstance(other, Mapping) else None
