"""Subjects that record and replay decide. A false alarm has probability 0.

A program takes data and a door, and returns what it publishes. It is run on a dataset, and the door
writes down what meets the noise and what comes out of it; then it is run on each neighbour, and the
door hands out the *same* noisy numbers again. So all that lies behind the noise has to come out the
same:

*Status*    both answer, or both fail with the same words;
*Calls*     the same noise in the same order on the same shapes, each with a scale that is a
            positive number;
*Distance*  what meets the noise moves by no more than the noise was made for;
*Publish*   the same things in the same order, since the noisy numbers are the same: what differs
            came around the noise;
*Cost*      the same charges, and noise in all for no more than was charged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from .case import How


@dataclass(frozen=True)
class Noise:
    """What a program says of its noise: made for this sensitivity, in this norm, at this ε."""

    sensitivity: Any
    epsilon: Any
    norm: int | str = 1

    @property
    def drowns(self) -> bool:
        """Whether there is noise at all."""
        try:
            return (
                math.isfinite(self.sensitivity) and 0 < self.sensitivity / self.epsilon < math.inf
            )
        except (TypeError, ValueError, ZeroDivisionError):
            return False


@dataclass
class Door:
    """In the place of the noise: adds nothing, and remembers. With a script, it hands out what was
    handed out before.
    """

    script: list[Any] | None = None
    calls: list[tuple[Any, Noise]] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    charged: list[Fraction] = field(default_factory=list)

    def charge(self, epsilon: Any) -> None:
        self.charged.append(Fraction(epsilon))

    def perturb(self, value: Any, noise: Noise) -> Any:
        """A number, a list of numbers, or a mapping from groups to numbers, with noise."""
        return self._pass(value, noise, value)

    def choose(self, scores: Sequence[Any], noise: Noise) -> int:
        """The exponential mechanism: the index of a good score."""
        return int(
            self._pass(list(scores), noise, max(range(len(scores)), key=lambda i: scores[i]))
        )

    def select(self, votes: Mapping[Hashable, Any], noise: Noise, threshold: float) -> list[Any]:
        """The groups whose noisy votes pass a threshold, sorted."""
        return list(
            self._pass(
                dict(votes),
                noise,
                sorted(group for group, count in votes.items() if count > threshold),
            )
        )

    def _pass(self, value: Any, noise: Noise, out: Any) -> Any:
        self.calls.append((value, noise))
        if self.script is not None:
            out = self.script[len(self.outputs)] if len(self.outputs) < len(self.script) else None
        self.outputs.append(out)
        return out


Run = Callable[[Any, Door], Any]


@dataclass(frozen=True, kw_only=True)
class Program:
    """A whole release: data in, publication out."""

    run: Run
    pairs: Sequence[tuple[Any, Any]]
    claim: Any = None  # ε in all, where nothing is charged on the way
    how: ClassVar[How] = "replay"

    def alarm(self) -> str:
        for data, neighbour in self.pairs:
            for first, second in ((data, neighbour), (neighbour, data)):
                if result := self._compare(first, second):
                    return result
        return ""

    def _compare(self, data: Any, neighbour: Any) -> str:
        first = Door()
        published = _outcome(self.run, data, first)
        second = Door(script=first.outputs)
        again = _outcome(self.run, neighbour, second)
        if first.charged != second.charged:
            return "charged another amount"
        for (a, noise), (b, same) in zip(first.calls, second.calls, strict=False):
            if result := "the noise is another one" if noise != same else _moved(a, b, noise):
                return result
        if published[0] != again[0]:
            return f"{published[0]} on one, {again[0]} on its neighbour"
        if len(first.calls) != len(second.calls):
            return "noise is drawn more often"
        if published != again:
            return "the same noisy numbers, another publication"
        if sum((Fraction(noise.epsilon) for _, noise in first.calls), Fraction(0)) > (
            sum(first.charged) if self.claim is None else Fraction(self.claim)
        ):
            return "more noise calls than are paid for"
        return ""


def _outcome(run: Run, data: Any, door: Door) -> tuple[str, str]:
    """Status and publication. An error is a publication, too: its name and its words."""
    try:
        return "answered", repr(run(data, door))
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"


def _moved(a: Any, b: Any, noise: Noise) -> str:
    if not noise.drowns:
        return "there is no noise"
    first, second = (_numbers(value) for value in (a, b))
    if not isinstance(a, Mapping) and list(first) != list(second):
        return "shapes differ"
    values = [(first.get(at, 0), second.get(at, 0)) for at in {**first, **second}]
    if not all(math.isfinite(v) for pair in values for v in pair):
        return "what meets the noise is no number"
    moves = [abs(Fraction(p) - Fraction(q)) for p, q in values]
    distance = {
        1: sum(moves),
        2: Fraction(math.sqrt(sum(m * m for m in moves))),
        "inf": max(moves, default=Fraction(0)),
    }[noise.norm]
    return (
        f"moved by {float(distance):.4g}, noise made for {float(noise.sensitivity):.4g}"
        if distance > Fraction(noise.sensitivity)
        else ""
    )


def _numbers(value: Any) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    return dict(enumerate(value)) if isinstance(value, list | tuple) else {None: value}


# Neighbours.

Row = tuple[Any, ...]


def added(bases: Iterable[list[Any]], values: Iterable[Any]) -> list[tuple[list[Any], list[Any]]]:
    """Each base, and the same with one value more."""
    result = list(values)
    return [(base, [*base, value]) for base in bases for value in result]


def changed(bases: Iterable[list[Any]], values: Iterable[Any]) -> list[tuple[list[Any], list[Any]]]:
    """Each base, and the same with its first value exchanged."""
    result = list(values)
    return [(base, [value, *base[1:]]) for base in bases if base for value in result]


def without_each(bases: Iterable[list[Row]]) -> list[tuple[list[Row], list[Row]]]:
    """Each table of rows whose first field is the unit, and the same without one of its units."""
    return [
        (rows, [row for row in rows if row[0] != unit])
        for rows in bases
        for unit in dict.fromkeys(row[0] for row in rows)
    ]
