"""Run the steps of a plan outside the door: on exact tallies, with noise that a test chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.mechanisms import Gaussian
from sfumato.noise.law import Integers
from sfumato.session.protected_table import Table
from sfumato.synth import SynthesisPlan
from sfumato.synth.stored_synthesis import Synthesis
from sfumato.testing import SeededBits

CITIES = ["Bari", "Pisa", "Roma"]
Row = tuple[Any, ...]
"""id, city, vip, age"""
SCHEMA = pa.schema(
    [("id", pa.int64()), ("city", pa.string()), ("vip", pa.bool_()), ("age", pa.int64())]
)


def protect(rows: Sequence[Row], **options: Any) -> Table:
    columns = [pa.array([row[i] for row in rows], each.type) for i, each in enumerate(SCHEMA)]
    stated: dict[str, Any] = {
        "budget": sf.ZCDP(1000),
        "each_row_a_person": True,
        "keys": {"city": CITIES},
        "bounds": {"age": (0, 9)},
    }
    table: Table = sf.protect(pa.table(columns, schema=SCHEMA), name="visits", **stated | options)
    return table


def invent(count: int, seed: int = 5) -> list[Row]:
    """Rows in which vip follows the city, and age is independent of both."""
    random = np.random.default_rng(seed)
    city = random.choice(3, count, p=[0.5, 0.3, 0.2])
    vip = random.random(count) < np.array([0.1, 0.5, 0.9])[city]
    age = random.binomial(9, 0.4, count)
    return [
        (i, CITIES[c], bool(v), int(a))
        for i, (c, v, a) in enumerate(zip(city, vip, age, strict=True))
    ]


@dataclass
class Run:
    """What the steps counted, what they were sent, the noise, and what they returned."""

    exact: list[list[Integers]] = field(default_factory=list)
    sent: list[list[Integers]] = field(default_factory=list)
    sigmas: list[list[Fraction]] = field(default_factory=list)
    result: Synthesis | None = None


def run(
    plan: SynthesisPlan,
    replayed: Sequence[Sequence[Integers]] | None = None,
    *,
    bits: Any = None,
    perturb: Callable[[Any, Integers], Integers] | None = None,
) -> Run:
    """Measure with noise from seeded bits; or send what an earlier run was sent."""
    bits = bits or SeededBits(3)
    record, tallies, steps = Run(), [], plan.steps()
    step = next(steps)
    while True:
        tallies.append(tuple(plan.source.engine.tally(each) for each in step.statements))
        exact = list(step.count(tallies))
        record.exact.append(exact)
        record.sigmas.append([cast("Gaussian", noise).sigma for noise in step.noise])
        record.sent.append(
            list(replayed[len(record.sent)])
            if replayed is not None
            else [
                perturb(noise, each) if perturb else noise.perturb(each, bits=bits)
                for noise, each in zip(step.noise, exact, strict=True)
            ]
        )
        try:
            step = steps.send(record.sent[-1])
        except StopIteration as end:
            record.result = end.value
            return record
