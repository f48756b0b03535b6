"""The intervals of the certificate hold the true errors; much narrower ones do not."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

import sfumato as sf
from sfumato.ledger import Receipt
from sfumato.synth import SynthesisPlan
from sfumato.synth.stored_synthesis import Synthesis, pack_synthesis
from sfumato.testing import SeededBits

from .steps import Row, invent, protect, run

NAMES = ["city", "vip", "age"]


def true_error(plan: SynthesisPlan, synthesis: Synthesis, table: Sequence[int]) -> float:
    """The total variation between data and synthetic rows."""
    lines = plan.codes.read(plan.source.engine.tally(plan.statement))
    real = lines.count(tuple(table)) / lines.weights.sum()
    shape = [plan.codes.sizes[i] for i in table]
    cell = np.ravel_multi_index([synthesis.codes[:, i] for i in table], shape)
    shares = np.bincount(cell, minlength=math.prod(shape)) / len(cell)
    return float(np.abs(real.ravel() - shares).sum()) / 2


def misses(runs: int, rows: Sequence[Row], *, narrower: float = 1.0) -> tuple[int, int]:
    """Return how many intervals miss the true error, of how many."""
    missed = total = 0
    with protect(rows) as table:
        for number in range(runs):
            count = None if number % 2 else 150
            plan = sf.plan_synthesis(table, columns=NAMES, promise=sf.ZCDP("1/20"), rows=count)
            synthesis = run(plan, bits=SeededBits(number)).result
            assert synthesis is not None
            receipt = Receipt("visits", 0, "0", plan.cost, "", "", None, reserved=False)
            certificate = plan.finish(pack_synthesis(synthesis, receipt)).certificate()
            for columns, error in zip(plan.certified, certificate.errors(), strict=True):
                middle = certificate.distances[plan.certified.index(columns)]
                middle /= 2 * certificate.total
                truth = true_error(plan, synthesis, columns)
                low = max(0.0, middle - narrower * (middle - error.low)) if error.low else 0.0
                high = middle + narrower * (error.high - middle)
                missed += not low <= truth <= high
                total += 1
    return missed, total


def limit(total: int) -> float:
    """How many of so many 95 % intervals may miss, but for a chance below 1e-6: Bernstein."""
    mean, log = 0.05 * total, math.log(1e6)
    return mean + log / 3 + math.sqrt(log**2 / 9 + 2 * mean * 0.95 * log)


def test_intervals_hold_the_true_error() -> None:
    missed, total = misses(25, invent(400))
    assert missed <= limit(total)


def test_narrow_intervals_are_seen() -> None:
    missed, total = misses(25, invent(400), narrower=0.15)
    assert missed > limit(total), "a twin that states a seventh of its noise"


@pytest.mark.slow
def test_intervals_hold_in_many_runs() -> None:
    for rows in (invent(400), invent(60, seed=2)):
        missed, total = misses(250, rows)
        assert missed <= limit(total)
