"""Published numbers as data, and how they are compared.

`<theme>.json` is a list of {id, what, inputs, expected, tolerance, source}: a number, list or table
that somebody printed or that follows exactly from what they printed, with the works in short in
`sources.json`. `test_<theme>.py` has a table EVALUATE, id (or, for one-call rows, the name that
`what` begins with) to a function of the inputs that computes the same with sfumato; one
parametrised test, `test_number`, compares. `index.json` says for every id of the specification
which tests or pages answer for it, `calls.json` by which public call; `test_index.py` follows each.

To add a number: a row in a theme, a line in its EVALUATE unless there is one for its name, and its
id in the index.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Oracle:
    id: str
    what: str
    inputs: dict[str, Any]
    expected: Any
    tolerance: dict[str, float]
    source: str

    @property
    def name(self) -> str:
        """The function that a one-call row is about."""
        return re.split(r"[^a-z_0-9]", self.what, maxsplit=1)[0]


Evaluators = Mapping[str, Callable[[dict[str, Any]], Any]]


def load(theme: str) -> list[Oracle]:
    rows = json.loads((HERE / f"{theme}.json").read_text(encoding="utf-8"))
    return [Oracle(**row) for row in rows]


def themes() -> list[str]:
    return sorted(
        path.stem for path in HERE.glob("*.json") if path.stem not in ("calls", "index", "sources")
    )


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, float]]:
    """The numbers of a number, list or table, each with its place."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from leaves(part, f"{place}[{key}]")
    elif isinstance(value, list | tuple):
        for key, part in enumerate(value):
            yield from leaves(part, f"{place}[{key}]")
    else:
        yield place, float(value)


def differences(computed: Any, expected: Any, tolerance: Mapping[str, float]) -> list[str]:
    """Where two values of one shape differ by more than the tolerance, or have different shapes."""
    got, reference = dict(leaves(computed)), dict(leaves(expected))
    if got.keys() != reference.keys():
        return [f"shape: {sorted(got)} instead of {sorted(reference)}"]
    (kind, size), *_ = tolerance.items()
    allowed = {
        place: size * (abs(number) if kind == "rel" else 1.0) for place, number in reference.items()
    }
    return [
        f"{place}: {got[place]!r} instead of {reference[place]!r}"
        for place in reference
        if not abs(got[place] - reference[place]) <= allowed[place]
    ]


def evaluate(oracle: Oracle, evaluators: Evaluators) -> Any:
    return evaluators[oracle.id if oracle.id in evaluators else oracle.name](oracle.inputs)


def shifted(oracle: Oracle) -> Any:
    """The expected value, each number off by three tolerances (or by one unit in the last place
    where none is allowed).
    """
    (kind, size), *_ = oracle.tolerance.items()

    def off(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: off(part) for key, part in value.items()}
        if isinstance(value, list):
            return [off(part) for part in value]
        allowed = size * (abs(value) if kind == "rel" else 1.0)
        return value + 3 * allowed if allowed else math.nextafter(value, math.inf)

    return off(oracle.expected)
