"""Probes: three attacks on implementations, each with its own readable result.

*Precision*  Which outputs one input can give and the other cannot, by how finely outputs are
             divided: noise in floating point betrays what it was added to (Mironov 2012; Haney,
             Desfontaines, Hartman, Shrestha & Hay 2022). Sound code publishes multiples of one
             public grid. The grain is chosen on one half of the draws and counted on the other,
             with limits as in an audit: where little noise is claimed, rare grains are seen at one
             input only, too.
*Errors*     Which inputs raise, and what: an error that depends on data is an answer nobody paid
             for.
*Latency*    Whether the time that a call takes tells inputs apart. Calls alternate, so that what
             the machine does meanwhile falls on both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..guarantees import Guarantee
from .bounds import breaks
from .canonical_outputs import Error, Input, Output, Outputs, read_both_outputs
from .clopper_pearson import lower_limit, upper_limit
from .output_features import grain
from .runners import draw_both, runner_of

X = TypeVar("X")


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """The finest grain of the numbers at each input (2^… of which all are multiples); how often an
    output was finer than the coarser grain, on draws not used to find it; and limits of that
    chance: at least `low` at one input, at most `high` at the other.
    """

    grains: tuple[int, int]
    finer: float
    low: float
    high: float
    samples: int
    claim: Guarantee | None = None

    @property
    def tells(self) -> bool:
        """Whether grains tell the inputs apart: by more than the claim allows, or at all where
        there is no claim; wrong with probability 1 − confidence.
        """
        return (
            self.low > self.high if self.claim is None else breaks(self.claim, self.low, self.high)
        )

    def __str__(self) -> str:
        if self.grains[0] == self.grains[1]:
            return (
                f"all outputs are multiples of 2^{self.grains[0]}, whichever input they come from"
            )
        finer = (
            f"{self.finer:.1%} of the outputs at one input are finer than all drawn at the other"
        )
        grains = (
            f"outputs are multiples of 2^{self.grains[0]} at x and of 2^{self.grains[1]} at y: "
            f"{finer}"
        )
        return grains if self.tells else f"{grains}, which chance or the claim explains"


def precision(
    what: object,
    x: Input,
    y: Input,
    *,
    samples: int = 10_000,
    confidence: float = 0.999999,
    claim: Guarantee | None = None,
) -> Precision:
    """Compare the grains of the published numbers at two inputs. They may differ by as much as the
    mechanism's promise, or `claim`, allows.
    """
    runner = runner_of(what)
    each = [_finest(outputs) for outputs in read_both_outputs(*draw_both(runner, x, y, samples))]
    half, alpha = samples // 2, (1 - confidence) / 2
    a, b = (_least(g[:half]) for g in each)
    finer, coarser = (each[0], each[1]) if a < b else (each[1], each[0])
    hits, misses = (int((g[half:] < max(a, b)).sum()) if a != b else 0 for g in (finer, coarser))
    low, high = lower_limit(hits, samples - half, alpha), upper_limit(misses, samples - half, alpha)
    return Precision(
        grains=(a, b),
        finer=hits / (samples - half),
        low=low,
        high=high,
        samples=samples,
        claim=claim if claim is not None else runner.claim,
    )


_NONE = 2000  # zero is a multiple of everything, and what is no number of nothing


def _finest(drawn: Outputs) -> NDArray[np.int64]:
    """Find the finest grain of each output."""
    columns = [grain(values) for values in drawn.numbers.values()]
    return np.minimum(np.min(columns, axis=0), _NONE) if columns else np.full(len(drawn), _NONE)


def _least(grains: NDArray[np.int64]) -> int:
    finite = grains[grains < _NONE]
    return int(finite.min()) if finite.size else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """The exception that each input raised, in order; None where it gave an output. `mixed` are the
    inputs that gave different results in different calls.
    """

    raised: tuple[str | None, ...]
    mixed: tuple[int, ...]

    @property
    def tells(self) -> bool:
        """Whether inputs can be told apart by what they raise."""
        return len(set(self.raised)) > 1 or bool(self.mixed)

    def __str__(self) -> str:
        kinds = {kind: self.raised.count(kind) for kind in dict.fromkeys(self.raised)}
        counts = ", ".join(
            f"{count} gave an output" if kind is None else f"{count} raised {kind}"
            for kind, count in kinds.items()
        )
        return f"of {len(self.raised)} inputs {counts}" + (
            f"; {len(self.mixed)} gave different results in different calls" if self.mixed else ""
        )


def errors(what: object, inputs: Iterable[Input], *, times: int = 3) -> Errors:
    """Call `what` at each input a few times and record the exceptions."""
    draw = runner_of(what).draw
    raised: list[str | None] = []
    mixed: list[int] = []
    for place, value in enumerate(inputs):
        names = [
            output.name if isinstance(output, Error) else None for output in draw(value, times)
        ]
        raised.append(next((name for name in names if name is not None), None))
        if len(set(names)) > 1:
            mixed.append(place)
    return Errors(raised=tuple(raised), mixed=tuple(mixed))


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Median times in seconds at two inputs, and limits of the chance that a call at x takes longer
    than a call at y: ½ means that time reveals nothing.
    """

    medians: tuple[float, float]
    low: float
    high: float
    samples: int

    @property
    def tells(self) -> bool:
        """Whether time tells the inputs apart; wrong with probability 1 − confidence."""
        return self.low > 0.5 or self.high < 0.5

    def __str__(self) -> str:
        first, second = (f"{m * 1e6:.3g} µs" for m in self.medians)
        return (
            f"{first} and {second}; the first takes longer with a chance of {self.low:.2f} to "
            f"{self.high:.2f}{'' if self.tells else ', which tells nothing'}"
        )


def latency(
    what: Callable[[X], Output], x: X, y: X, *, samples: int = 500, confidence: float = 0.999999
) -> Latency:
    """Time calls at x and y in pairs, in alternating order, and count the pairs in which x took
    longer (the sign test).
    """
    times: list[tuple[float, float]] = []
    for i in range(samples + 5):
        pair = [_time_call(what, value) for value in ((x, y) if i % 2 else (y, x))]
        times.append((pair[0], pair[1]) if i % 2 else (pair[1], pair[0]))
    measured = np.array(times[5:])  # the first calls load what later calls find loaded
    longer = int((measured[:, 0] > measured[:, 1]).sum())
    shorter = int((measured[:, 0] < measured[:, 1]).sum())
    alpha, ties = (1 - confidence) / 2, samples - longer - shorter
    low = lower_limit(longer + ties // 2, samples, alpha)
    high = upper_limit(longer + ties - ties // 2, samples, alpha)
    return Latency(
        medians=(float(np.median(measured[:, 0])), float(np.median(measured[:, 1]))),
        low=low,
        high=high,
        samples=samples,
    )


def _time_call(what: Callable[[X], Output], value: X) -> float:
    start = time.perf_counter()
    with suppress(Exception):  # an error takes its time as well
        what(value)
    return time.perf_counter() - start
