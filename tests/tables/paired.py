"""Helpers for aggregates of pairs and for sample versions: exact boxes, answers without noise, and
how far neighbours move.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction as F
from random import Random
from typing import Any

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato.guarantees import Pure
from sfumato.session import Table
from sfumato.tables.aggregates.column_kind import AggregateKind, Box, Side
from sfumato.tables.declare.declaration import declare
from sfumato.tables.plan.query_plan import plan
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.stages import Rows
from sfumato.testing.exact_checks import Rehearsal, exact_answer

from .replay import Moved, moved
from .worlds import Bench, Nobody, row

BOUNDS = {"c": (0, 10), "v0": (-5, 5), "u1": (0, 10)}
Span = tuple[int, int]
"""The least integer of a box, and its width."""


def box(span: Span, step: F) -> Box:
    low, width = span
    return Box(np.array([low], dtype=object), np.array([low + width], dtype=object), step)


def end(
    kind: AggregateKind, spans: list[Span], steps: list[F], side: Side, **numbers: F
) -> F | None:
    """An end of a column over a box; None if nothing is known."""
    boxes = [box(span, step) for span, step in zip(spans, steps, strict=True)]
    ratios, valid = kind.finish(numbers, boxes, side)
    assert valid is not None
    bottom: Any = ratios.bottom
    return F(int(ratios.top[0]), int(bottom[0])) if valid[0] else None


def covariance(pairs: list[tuple[F, F]], ddof: int = 0) -> F:
    """The mean product of deviations from the means, in two passes."""
    n = len(pairs)
    x, y = sum((a for a, _ in pairs), F(0)) / n, sum((b for _, b in pairs), F(0)) / n
    return sum(((a - x) * (b - y) for a, b in pairs), F(0)) / (n - ddof)


def correlation(pairs: list[tuple[F, F]]) -> float:
    x, y = ([(value[i], value[i]) for value in pairs] for i in (0, 1))
    return float(covariance(pairs)) / math.sqrt(covariance(x) * covariance(y))


def protected(table: Any, **about: Any) -> Table:
    bounds = {"x": (0, 20), "y": (-4, 8)}
    options = {"name": "t", "bounds": bounds, "budget": sf.Pure(10**6), **about}
    result: Table = sf.protect(table, **options)
    return result


def data(size: int = 60) -> pd.DataFrame:
    """Whole numbers, some outside of their bounds, some missing."""
    draw = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"x": draw.integers(-2, 23, size), "y": draw.integers(-6, 11, size), "z": range(size)}
    ).astype("Int64")
    frame.loc[::7, "x"] = None
    frame.loc[::5, "y"] = None
    return frame


def pairs_of(frame: pd.DataFrame) -> list[tuple[F, F]]:
    """The clipped values of rows that have both."""
    both = frame.dropna(subset=["x", "y"])
    return [
        (F(min(max(int(x), 0), 20)), F(min(max(int(y), -4), 8)))
        for x, y in zip(both["x"], both["y"], strict=True)
    ]


def without_noise(table: Table, text: str) -> Any:
    """The answer to a text if no noise were added."""
    release_plan: Any = table.plan(text, epsilon=1)
    return release_plan.finish(exact_answer(release_plan, table))


def movement(
    bench: Bench, aggregate: Aggregate, cells: list[dict[str, Any]], **about: Any
) -> Moved:
    """How far one more unit with these rows moves the integers of an aggregate."""
    declared = declare(
        name="world",
        schema=bench.schema,
        **{"unit": "user", "max_rows": 2, "bounds": BOUNDS, **about},
    )
    release_plan = plan(Rows.of(declared, Nobody()).aggregate(a=aggregate), Pure(1), bench.source)
    rehearsal = Rehearsal(release_plan)
    plain = {**row(Random(0)), "user": 1, "c": 5, "v0": 1.0, "u1": 2}
    runs = []
    for more in ([], cells):
        bench.put([plain, *({**plain, "user": 9, **cell} for cell in more)])
        runs.append(rehearsal.run())
    return moved(release_plan, *runs)


def wrong_finish(kind: AggregateKind, drop: Callable[[list[Box]], list[Box]]) -> Any:
    """The finishing of a kind on other boxes: a twin that must fail."""
    finish = kind.finish
    return lambda numbers, boxes, side: finish(numbers, drop(list(boxes)), side)
