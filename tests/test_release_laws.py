"""From end to end, by arithmetic: the law of everything that a release says, on a table and on its neighbours, against the promise that was charged.

Outcomes are groups that are named or not, integers with noise and points that are chosen, all independent given the data. Every coordinate's law is the
exact one of its mechanism; of the privacy loss of all of them together the hockey-stick divergence is computed, tails counted as lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import sfumato as sf
from sfumato.mechanisms import WeightedQuantile
from sfumato.mechanisms.additive import Additive
from sfumato.tables.bounding import Bounding
from sfumato.tables.plan import Plan
from sfumato.tables.stages import Query
from sfumato.testing.exact import Through, through_the_door

Floats = NDArray[np.float64]
CITIES = ["a", "b"]


@dataclass(frozen=True)
class Loss:
    """The law of the privacy loss: values, their probabilities, and what is lost for certain."""

    values: Floats
    chances: Floats
    lost: float = 0.0

    def __add__(self, other: Loss) -> Loss:
        values = np.add.outer(self.values, other.values).ravel()
        chances = np.multiply.outer(self.chances, other.chances).ravel()
        kept = chances > 1e-18
        # equal losses are put together, rounded up by less than 1e-9
        rounded, place = np.unique(np.ceil(values[kept] * 1e9) / 1e9, return_inverse=True)
        return Loss(rounded, np.bincount(place, chances[kept], len(rounded)), self.lost + other.lost + float(chances[~kept].sum()))

    def delta(self, epsilon: float) -> float:
        return self.lost + float((self.chances * np.maximum(0.0, -np.expm1(epsilon - self.values))).sum())

    def renyi(self, order: float) -> float:
        return float(np.log((self.chances * np.exp((order - 1) * self.values)).sum()) / (order - 1))


NOTHING = Loss(np.zeros(1), np.ones(1))


def of(p: Floats, q: Floats) -> Loss:
    both = (p > 0) & (q > 0)
    return Loss(np.log(p[both] / q[both]), p[both], max(0.0, 1 - float(p[both].sum())))


def added(mechanism: Additive, one: int, other: int) -> Loss:
    """Of an integer with noise."""
    if one == other:
        return NOTHING
    far = mechanism.law.half_width(1 - 1e-13) + abs(one - other)
    window = np.arange(min(one, other) - far, max(one, other) + far + 1)
    return of(mechanism.law.pmf(window - one), mechanism.law.pmf(window - other))


def chosen(mechanism: WeightedQuantile, one: list[tuple[int, int]], other: list[tuple[int, int]]) -> Loss:
    """Of a point."""
    laws = []
    for rows in (one, other):
        law = np.zeros(int(mechanism.high - mechanism.low) + 1)
        points, weights = (np.array([row[i] for row in rows], dtype=np.int64) for i in (0, 1))
        for first, last, chance in mechanism.law(points, weights):
            law[first - int(mechanism.low) : last + 1 - int(mechanism.low)] += chance / (last - first + 1)
        laws.append(law)
    return of(laws[0], laws[1])


def loss(plan: Plan, one: Through, other: Through) -> Loss:
    """Of the whole release, when the truth is the first table."""
    places = [dict(zip(through.groups.rows, range(len(through.groups)), strict=True)) for through in (one, other)]
    keys = sorted({*places[0], *places[1]}, key=str)
    selection = plan.calibration.selection
    votes = [_votes(through) if selection is not None else {} for through in (one, other)]
    calls = [iter(through.calls[1 if selection is not None else 0 :]) for through in (one, other)]
    by_group, total = dict.fromkeys(keys, NOTHING), NOTHING
    for piece, noise in zip(plan.pieces, plan.calibration.noise, strict=True):
        for mechanism in noise:
            pair = [next(each) for each in calls]
            for key in [()] if piece.pooled else keys:
                at = [0 if piece.pooled else place.get(key, -1) for place in places]
                if isinstance(mechanism, WeightedQuantile):
                    rows = [[(p, w) for g, p, w in zip(*(v.tolist() for v in call.integers), strict=True) if g == i] for call, i in zip(pair, at, strict=True)]
                    found = chosen(mechanism, rows[0], rows[1])
                else:
                    cells = [call.integers[0][i].tolist() if i >= 0 else [0] * piece.cells for call, i in zip(pair, at, strict=True)]
                    found = NOTHING
                    for a, b in zip(*cells, strict=True):
                        found = found + added(mechanism, a, b)  # type: ignore[arg-type]
                if piece.pooled:
                    total = total + found
                else:
                    by_group[key] = by_group[key] + found
    for key, found in by_group.items():
        if selection is None:
            total = total + found
            continue
        p, q = (selection.keep_probability(v.get(key, 0)) for v in votes)
        lost = p if q == 0 else 0.0
        kept = Loss(found.values + math.log(p / q), found.chances * p, found.lost * p) if p and q else Loss(np.zeros(0), np.zeros(0), lost)
        silent = of(np.array([1 - p]), np.array([1 - q])) if p < 1 and q < 1 else Loss(np.zeros(0), np.zeros(0), 1 - p)
        missed = Loss(np.array([math.log((1 - p) / (1 - q))]), np.array([1 - p])) if p < 1 and q < 1 else silent
        total = total + Loss(np.concatenate([kept.values, missed.values]), np.concatenate([kept.chances, missed.chances]), kept.lost + missed.lost)
    return total


def _votes(through: Through) -> dict[Any, int]:
    ballot = through.tally[0]
    names = [name for name in ballot.column_names if name != "votes"]
    return {tuple(line[name] for name in names): int(line["votes"]) for line in ballot.to_pylist()}


Rows = list[tuple[int, str, float]]
SMALL: list[Rows] = [[], [(1, "a", 1.0)], [(1, "a", 3.0), (2, "a", 0.0), (3, "b", 2.0)], [(u, "a", 1.0) for u in range(8)]]
NEW: list[Rows] = [
    [(9, "a", 3.0)],
    [(9, "b", 0.0)],
    [(9, "a", 3.0), (9, "a", 3.0), (9, "b", 1.0), (9, "a", 0.0)],
    [(9, "b", float("nan"))],
    [(9, "b", 3.0)] * 30,
]


def neighbours(relation: str) -> Iterator[tuple[Rows, Rows]]:
    for rest in SMALL:
        pairs: Iterable[tuple[Rows, Rows]] = product(NEW, NEW) if relation == "replace" else ((new, []) for new in NEW)
        yield from (([*rest, *one], [*rest, *other]) for one, other in pairs)


def worst(ask: Callable[[Any], Query], promise: sf.Guarantee, measure: Callable[[Loss], float], **about: Any) -> float:
    """The largest loss over all pairs, both ways round."""
    found, limits = 0.0, {"unit": "u", "max_rows": 2, "max_groups": 2, "bounding": "truncation", "relation": "add-remove", **about}
    seen: dict[str, Through] = {}
    plan: Plan | None = None
    for one, other in neighbours(limits["relation"]):
        for rows in (one, other):
            if str(rows) not in seen:
                table = pa.table(
                    {
                        "u": pa.array([r[0] for r in rows], pa.int64()),
                        "k": pa.array([r[1] for r in rows], pa.string()),
                        "x": pa.array([r[2] for r in rows], pa.float64()),
                    }
                )
                with sf.protect(table, name="t", budget=1000, **limits) as protected:
                    plan = ask(protected).plan(promise=promise)
                    seen[str(rows)] = through_the_door(plan)
        assert plan is not None
        for a, b in ((one, other), (other, one)):
            found = max(found, measure(loss(plan, seen[str(a)], seen[str(b)])))
    return found


def counted(table: Any) -> Query:
    return table.group_by(k=CITIES).aggregate(n=sf.count(), s=sf.sum(sf.col("x").cast("int64"), low=0, high=3))


def histogram(table: Any) -> Query:
    return table.aggregate(h=sf.histogram("x", edges=(0, 1, 2, 4)), u=sf.count_units())


def quantiles(table: Any) -> Query:
    return table.aggregate(q=sf.quantile(sf.col("x").cast("int64"), "1/2", low=0, high=3), n=sf.count("x"))


def named(table: Any) -> Query:
    return table.group_by("k").aggregate(n=sf.count())


ASKED = {"counts and sums": counted, "histogram": histogram, "quantiles": quantiles}


def largest(found: Loss) -> float:
    """Of a pure promise: no outcome tells more."""
    assert found.lost < 1e-9
    return float(found.values[found.chances > 1e-12].max(initial=0.0))


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_pure_promise_is_kept_outcome_by_outcome(name: str, relation: str) -> None:
    assert worst(ASKED[name], sf.Pure(2), largest, relation=relation) <= 2 + 1e-6


@pytest.mark.parametrize("name", ["counts and sums", "histogram"])
def test_a_promise_with_a_delta_is_kept(name: str) -> None:
    promise = sf.Approx(2, "1e-3")
    assert worst(ASKED[name], promise, lambda found: found.delta(2.0)) <= 1e-3
    assert worst(lambda t: t.aggregate(**{f"n{i}": sf.count_if(sf.col("x") > i) for i in range(12)}), promise, lambda found: found.delta(2.0)) <= 1e-3


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_concentrated_promise_is_kept_at_every_order(relation: str) -> None:
    for order in (1.5, 2.0, 8.0, 30.0):
        assert worst(counted, sf.ZCDP("1/2"), lambda found, order=order: found.renyi(order) / order, relation=relation) <= 0.5 + 1e-6  # type: ignore[misc]


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_naming_groups_keeps_its_promise_too(relation: str) -> None:
    """Groups that only the neighbour has are named with a small probability, which is what δ pays for."""
    found = worst(named, sf.Approx(1, "1e-3"), lambda loss_: loss_.delta(1.0), relation=relation)
    assert found <= 1e-3
    assert found > 1e-5  # it does use some of it


def test_noise_that_is_too_small_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: sensitivities taken for a row instead of for a unit."""
    honest_l1, honest_l2 = Bounding.l1, Bounding.l2_squared
    monkeypatch.setattr(Bounding, "l1", lambda self, piece: max(1, honest_l1(self, piece) // 2))
    monkeypatch.setattr(Bounding, "l2_squared", lambda self, piece: max(1, honest_l2(self, piece) // 4))
    assert worst(counted, sf.Pure(2), largest) > 2.5
    assert worst(counted, sf.ZCDP("1/2"), lambda found: found.renyi(2.0) / 2) > 0.6


@pytest.mark.parametrize("norm", ["L1", "L2"])
def test_weights_lose_no_more_than_whole_rows(norm: str) -> None:
    """With weights in parts of 2^-20 the laws are too wide to enumerate, and need not be: of Laplace noise the loss is distance/scale, of Gaussian noise
    (distance/σ)²/2 at order 1, exactly."""
    promise: sf.Guarantee = sf.Pure(1) if norm == "L1" else sf.ZCDP("1/8")
    for one, other in neighbours("add-remove"):
        found = []
        for rows in (one, other):
            table = pa.table(
                {"u": pa.array([r[0] for r in rows], pa.int64()), "k": pa.array([r[1] for r in rows]), "x": pa.array([r[2] for r in rows], pa.float64())}
            )
            with sf.protect(
                table.cast(pa.schema([("u", pa.int64()), ("k", pa.string()), ("x", pa.float64())])), name="t", budget=10, unit="u", max_rows=2
            ) as made:
                found.append(through_the_door(made.group_by(k=CITIES).aggregate(n=sf.count(), m=sf.mean("x", low=0, high=3)).plan(promise=promise)))
        total = 0.0
        for a, b in zip(found[0].pieces, found[1].pieces, strict=True):
            apart = [int(x) - int(y) for x, y in zip(a.values.ravel().tolist(), b.values.ravel().tolist(), strict=True)]
            mechanism: Any = a.mechanism
            total += sum(map(abs, apart)) / float(mechanism.scale) if norm == "L1" else sum(d * d for d in apart) / float(mechanism.sigma) ** 2 / 2
        assert total <= (1 if norm == "L1" else 1 / 8) + 1e-9
