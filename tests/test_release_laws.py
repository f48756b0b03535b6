"""From end to end, by arithmetic: the law of everything that a release says, on a table and on its
neighbours, against the promise that was charged.

Outcomes are groups that are named or not, integers with noise and points that are chosen, all
independent given the data. Every coordinate's law is the exact one of its mechanism; of the privacy
loss of all of them together the hockey-stick divergence is computed, tails counted as lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.signal import fftconvolve

import sfumato as sf
from sfumato import release as door
from sfumato.answers.answer_records import LinearNoise, Noisy
from sfumato.mechanisms import CountThreshold, WeightedQuantile
from sfumato.mechanisms.shared.additive import Additive
from sfumato.tables.declare.declaration import declare
from sfumato.tables.plan import choose_noise
from sfumato.tables.plan.bounding import Bounding
from sfumato.tables.plan.query_plan import Plan, plan
from sfumato.tables.query.stages import Query, Rows
from sfumato.testing.exact_checks import Rehearsal, Through
from sfumato.testing.seeded_bits import SeededBits

from .tables.worlds import Nobody, Swap

Floats = NDArray[np.float64]
CITIES = ["a", "b"]


ORDERS = (1.5, 2.0, 4.0)
STEP = 2.0**-13
"""Losses are rounded up to multiples of it, so what is computed is above the truth: by at most 1e-3
in ε for eight coordinates.
"""


@dataclass(frozen=True)
class Loss:
    """The law of the privacy loss on a lattice: chances of first·STEP, (first + 1)·STEP, …; what is
    lost for certain; the largest loss itself; and the Rényi divergences of the orders above, which
    add up.
    """

    first: int
    chances: Floats
    lost: float
    most: float
    renyi: Floats = field(default_factory=lambda: np.zeros(len(ORDERS)))

    def __add__(self, second: Loss) -> Loss:
        if self is NOTHING or second is NOTHING:
            return second if self is NOTHING else self
        chances = np.maximum(fftconvolve(self.chances, second.chances), 0.0)
        return Loss(
            self.first + second.first,
            chances,
            self.lost + second.lost,
            self.most + second.most,
            self.renyi + second.renyi,
        )

    def part(self, chance: float, shift: float) -> Loss:
        """Of an event of this chance, that has a loss of its own."""
        return Loss(
            self.first + math.ceil(shift / STEP),
            self.chances * chance,
            self.lost * chance,
            self.most + shift,
        )

    @property
    def values(self) -> Floats:
        return (self.first + np.arange(len(self.chances))) * STEP

    def delta(self, epsilon: float) -> float:
        above = self.values > epsilon
        return self.lost + float(
            (self.chances[above] * -np.expm1(epsilon - self.values[above])).sum()
        )


NOTHING = Loss(0, np.ones(1), 0.0, 0.0)


def of(p: Floats, q: Floats) -> Loss:
    """Of an outcome with these probabilities."""
    both = (p > 1e-30) & (q > 1e-30)
    values = np.log(p[both] / q[both])
    places = np.ceil(values / STEP - 1e-9).astype(np.int64)
    first = int(places.min())
    renyi = np.array(
        [np.log((p[both] * np.exp((order - 1) * values)).sum()) / (order - 1) for order in ORDERS]
    )
    return Loss(
        first,
        np.bincount(places - first, p[both]),
        max(0.0, float(p[~both].sum())),
        float(values.max()),
        renyi,
    )


def either(left: Loss, right: Loss) -> Loss:
    """Of two events that exclude each other."""
    first = min(left.first, right.first)
    chances = np.zeros(
        max(left.first + len(left.chances), right.first + len(right.chances)) - first
    )
    for each in (left, right):
        chances[each.first - first : each.first - first + len(each.chances)] += each.chances
    return Loss(first, chances, left.lost + right.lost, max(left.most, right.most))


@cache
def half(law: Any, far: int) -> Floats:
    """P(0), P(1), …, P(far)."""
    probabilities: Floats = law.pmf(np.arange(far + 1))
    return probabilities


def added(mechanism: Additive, left: int, right: int) -> Loss:
    """Of an integer with noise; what lies beyond the window is lost."""
    if left == right:
        return NOTHING
    far = mechanism.law.half_width(Fraction(10**25 - 1, 10**25))
    law = half(mechanism.law, far + 200)
    window = np.arange(min(left, right) - far, max(left, right) + far + 1)
    joint = of(law[abs(window - left)], law[abs(window - right)])
    return Loss(joint.first, joint.chances, joint.lost + 1e-12, joint.most, joint.renyi)


def chosen(
    mechanism: WeightedQuantile, left: list[tuple[int, int]], right: list[tuple[int, int]]
) -> Loss:
    """Of a point."""
    laws = []
    for rows in (left, right):
        law = np.zeros(int(mechanism.high - mechanism.low) + 1)
        points, weights = (np.array([row[i] for row in rows], dtype=np.int64) for i in (0, 1))
        for first, last, chance in mechanism.law(points, weights):
            law[first - int(mechanism.low) : last + 1 - int(mechanism.low)] += chance / (
                last - first + 1
            )
        laws.append(law)
    return of(laws[0], laws[1])


def loss(plan: Plan, truth: Through, neighbour: Through) -> Loss:
    """Of the whole release, when the truth is the first table."""
    places = [
        dict(zip(through.groups.rows, range(len(through.groups)), strict=True))
        for through in (truth, neighbour)
    ]
    keys = sorted({*places[0], *places[1]}, key=str)
    selection = plan.calibration.selection
    votes = [
        _votes(plan, through) if selection is not None else {} for through in (truth, neighbour)
    ]
    deciding = _deciding_block(plan)
    calls = [
        iter(through.calls[1 if selection is not None else 0 :]) for through in (truth, neighbour)
    ]
    by_group, total = dict.fromkeys(keys, NOTHING), NOTHING
    for number, (block, noise) in enumerate(
        zip(plan.calibration.blocks, plan.calibration.noise, strict=True)
    ):
        if number == deciding:
            continue
        piece = plan.components[block.places[0]]
        empty = [0] * (len(block.cells) or piece.cells)
        for mechanism in noise:
            pair = [next(each) for each in calls]
            for key in [()] if piece.pooled else keys:
                at = [0 if piece.pooled else place.get(key, -1) for place in places]
                if isinstance(mechanism, WeightedQuantile):
                    rows = [
                        [
                            (p, w)
                            for g, p, w in zip(*(v.tolist() for v in call.integers), strict=True)
                            if g == i
                        ]
                        for call, i in zip(pair, at, strict=True)
                    ]
                    piece_loss = chosen(mechanism, rows[0], rows[1])
                else:
                    if piece.form == "point":  # the weights of bins
                        empty = [0] * pair[0].integers[0].shape[1]
                    cells = [
                        call.integers[0][i].tolist() if i >= 0 else empty
                        for call, i in zip(pair, at, strict=True)
                    ]
                    piece_loss = NOTHING
                    for a, b in zip(*cells, strict=True):
                        piece_loss += added(mechanism, a, b)  # type: ignore[arg-type]  # additive
                if piece.pooled:
                    total = total + piece_loss
                else:
                    by_group[key] = by_group[key] + piece_loss
    for key, group_loss in by_group.items():
        if selection is None:
            total = total + group_loss
            continue
        if isinstance(selection.mechanism, CountThreshold) and deciding is not None:
            total = total + counted_and_shown(
                selection.mechanism, *(v.get(key, 0) for v in votes), group_loss
            )
            continue
        p, q = (selection.mechanism.keep_probability(v.get(key, 0)) for v in votes)
        silent = Loss(0, np.array([1 - p]), 0.0, 0.0).part(1.0, math.log((1 - p) / (1 - q)))
        total = total + (
            either(group_loss.part(p, math.log(p / q)), silent)
            if p and q
            else Loss(silent.first, silent.chances, p, silent.most)
        )
    return total


def _deciding_block(plan: Plan) -> int | None:
    """The number of the block whose count selects the groups."""
    selection = plan.calibration.selection
    if selection is None or selection.place is None:
        return None
    return plan.calibration.readings[selection.place].parts[0][0]


def counted_and_shown(mechanism: CountThreshold, left: int, right: int, columns: Loss) -> Loss:
    """Of a count that decides whether its group is shown, with what is shown beside it."""
    if left == right == 0:
        return NOTHING
    far = mechanism.law.half_width(Fraction(10**12 - 1, 10**12))
    window = np.arange(mechanism.threshold, max(mechanism.threshold, left, right) + far)
    laws = [
        min(c, mechanism.ramp) / mechanism.ramp * half(mechanism.law, 4 * far)[abs(window - c)]
        for c in (left, right)
    ]
    silent = of(*(np.array([1 - law.sum()]) for law in laws))
    if not laws[1].any():
        return Loss(silent.first, silent.chances, float(laws[0].sum()), silent.most)
    return silent if not laws[0].any() else either(of(laws[0], laws[1]) + columns, silent)


def _votes(plan: Plan, through: Through) -> dict[Any, int]:
    """What the selection received of each group: its votes, or its count."""
    place = plan.calibration.selection.place  # type: ignore[union-attr]  # keys are private
    at = next(i for i, s in enumerate(plan.statements) if place is None or place in s.components)
    names = [f"k{i}" for i in range(len(plan.query.keys))]
    groups = [tuple(line.values()) for line in through.tally[at].select(names).to_pylist()]
    return dict(zip(groups, through.calls[0].integers[0].tolist(), strict=True))


Data = list[tuple[int, str, float]]
SMALL: list[Data] = [
    [],
    [(1, "a", 1.0)],
    [(1, "a", 3.0), (2, "a", 0.0), (3, "b", 2.0)],
    [(u, "a", 1.0) for u in range(8)],
]
SPREAD: Data = [(9, "a", 3.0), (9, "a", 3.0), (9, "b", 1.0), (9, "a", 0.0)]
NEW: list[Data] = [
    [(9, "a", 3.0)],
    [(9, "b", 0.0)],
    SPREAD,
    [(9, "b", float("nan"))],
    [(9, "b", 3.0)] * 30,
]


def arrow(rows: Data) -> pa.Table:
    kinds = {"u": pa.int64(), "k": pa.string(), "x": pa.float64()}
    return pa.table(
        {
            name: pa.array([row[i] for row in rows], kind)
            for i, (name, kind) in enumerate(kinds.items())
        }
    )


def neighbours(relation: str) -> Iterator[tuple[Data, Data]]:
    for rest in SMALL:
        pairs: Iterable[tuple[Data, Data]] = (
            product(NEW, NEW) if relation == "replace" else ((new, []) for new in NEW)
        )
        yield from (([*rest, *left], [*rest, *right]) for left, right in pairs)


def worst(
    ask: Callable[[Any], Query],
    promise: sf.Guarantee,
    measure: Callable[[Loss], float],
    **about: Any,
) -> float:
    """The largest loss over all pairs, both ways round."""
    limits = {
        "unit": "u",
        "max_rows": 2,
        "max_groups": 2,
        "bounding": "truncation",
        "relation": "add-remove",
        **about,
    }
    swap, highest = Swap(arrow([]).schema), 0.0
    rows = Rows.of(declare(name="world", schema=swap.source.schema, **limits), Nobody())
    query_plan = plan(ask(rows), promise, swap.source)
    rehearsal, runs = Rehearsal(query_plan), dict[str, Through]()
    for left, right in neighbours(limits["relation"]):
        for data in (left, right):
            if str(data) not in runs:
                swap.hold(arrow(data))
                runs[str(data)] = rehearsal.run()
        for a, b in ((left, right), (right, left)):
            highest = max(highest, measure(loss(query_plan, runs[str(a)], runs[str(b)])))
    swap.close()
    return highest


WHOLE = sf.col("x").cast("int64")  # null where x is NaN


def counted(table: Any) -> Query:
    return table.group_by(k=CITIES).aggregate(n=sf.count(), s=sf.sum(WHOLE, low=0, high=3))


def shared(table: Any) -> Query:
    """Rows, a sum and a mean of a column with nulls: three cells."""
    return table.group_by(k=CITIES).aggregate(
        n=sf.count(), s=sf.sum(WHOLE, low=0, high=3), m=sf.mean(WHOLE, low=0, high=3)
    )


def spread(table: Any) -> Query:
    """Rows and a variance: three cells of squares, and one of rows without a value."""
    return table.group_by(k=CITIES).aggregate(n=sf.count(), v=sf.var(WHOLE, low=0, high=3))


def correlated(table: Any) -> Query:
    """The products of two columns' cells."""
    by = (sf.col("x") * sf.col("x")).clip(0, 9)
    return table.group_by(k=CITIES).aggregate(n=sf.count(), r=sf.corr("x", by, low=0, high=3))


def histogram(table: Any) -> Query:
    return table.aggregate(h=sf.histogram("x", edges=(0, 1, 2, 4)), u=sf.count_units())


def quantiles(table: Any) -> Query:
    return table.aggregate(q=sf.quantile(WHOLE, "1/2", low=0, high=3), n=sf.count("x"))


def named(table: Any) -> Query:
    return table.group_by("k").aggregate(n=sf.count())


def named_by_units(table: Any) -> Query:
    return table.group_by("k").aggregate(n=sf.count_units())


def named_by_votes(table: Any) -> Query:
    return table.group_by("k").aggregate(s=sf.sum(WHOLE, low=0, high=3))


def named_with_sums(table: Any) -> Query:
    return table.group_by("k").aggregate(n=sf.count(), s=sf.sum(WHOLE, low=0, high=3))


ASKED = {
    "counts and sums": counted,
    "counts, sums and means": shared,
    "variances": spread,
    "histogram": histogram,
    "quantiles": quantiles,
}


def largest(release_loss: Loss) -> float:
    """Of a pure promise: no outcome tells more. (Beyond the window the loss of these laws is that
    at its ends.)
    """
    return release_loss.most


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_pure_promise_is_kept_outcome_by_outcome(name: str, relation: str) -> None:
    assert worst(ASKED[name], sf.Pure(2), largest, relation=relation) <= 2 + 1e-6


@pytest.mark.parametrize(
    "name", ["counts and sums", "counts, sums and means", "variances", "histogram"]
)
def test_a_promise_with_a_delta_is_kept(name: str) -> None:
    assert (
        worst(ASKED[name], sf.Approx(2, "1e-3"), lambda release_loss: release_loss.delta(2.0))
        <= 1e-3
    )


def test_gaussian_noise_keeps_a_promise_with_a_delta() -> None:
    many = {f"n{i}": sf.count_if(sf.col("x") > i / 8) for i in range(12)}
    delta = worst(
        lambda t: t.aggregate(**many),
        sf.Approx(2, "1e-3"),
        lambda release_loss: release_loss.delta(2.0),
        max_rows=1,
    )
    assert 1e-4 < delta <= 1.02e-3  # rounded up; and nearly all of what is promised is used


@pytest.mark.parametrize("name", ["counts and sums", "counts, sums and means", "variances"])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_concentrated_promise_is_kept_at_every_order(name: str, relation: str) -> None:
    assert (
        0.2
        < worst(
            ASKED[name],
            sf.ZCDP("1/2"),
            lambda release_loss: float((release_loss.renyi / ORDERS).max()),
            relation=relation,
        )
        <= 0.5 + 1e-6
    )


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("ask", [named, named_by_units, named_by_votes, named_with_sums])
def test_naming_groups_keeps_its_promise_too(ask: Callable[[Any], Query], relation: str) -> None:
    """Groups that only the neighbour has are named with a small probability, which is what δ pays
    for.
    """
    delta = worst(ask, sf.Approx(1, "1e-3"), lambda loss_: loss_.delta(1.0), relation=relation)
    assert 1e-5 < delta <= 1.001e-3  # rounded up; and some of it is used


@pytest.mark.parametrize("ask", [named, named_by_units, named_with_sums])
def test_naming_groups_keeps_a_concentrated_promise(ask: Callable[[Any], Query]) -> None:
    """(ρ, δ) as the (ε, δ) that it implies."""
    promise = sf.ZCDP("1/8", "1e-3")
    for epsilon in (0.5, 1.0, 2.0):
        delta = worst(ask, promise, partial(Loss.delta, epsilon=epsilon))
        assert delta <= promise.delta(Fraction(epsilon)) * 1.001


def test_a_selection_that_leaks_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: a threshold fitted to a δ ten times as large."""
    honest = choose_noise._count_threshold
    monkeypatch.setattr(
        choose_noise,
        "_count_threshold",
        lambda *, delta, **about: honest(delta=min(delta * 10, Fraction(1, 2)), **about),
    )
    monkeypatch.setattr(choose_noise, "keeps_promise", lambda *_: True)
    delta = worst(named, sf.Approx(1, "1e-3"), lambda loss_: loss_.delta(1.0))
    assert delta > 2e-3


def test_noise_that_is_too_small_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: sensitivities taken for a row instead of for a unit."""
    for name, part in (("l1", 2), ("l2_squared", 4), ("shared_l1", 2), ("shared_l2_squared", 4)):
        honest = getattr(Bounding, name)

        def lower(self: Bounding, what: Any, honest: Any = honest, part: int = part) -> int:
            return max(1, honest(self, what) // part)

        monkeypatch.setattr(Bounding, name, lower)
    for ask in (counted, shared, spread):
        assert worst(ask, sf.Pure(2), largest) > 2.5
        assert (
            worst(
                ask, sf.ZCDP("1/2"), lambda release_loss: float((release_loss.renyi / ORDERS).max())
            )
            > 0.6
        )


@pytest.mark.parametrize("ask", [shared, spread, correlated])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("norm", ["L1", "L2"])
def test_weights_lose_no_more_than_whole_rows(
    norm: str, relation: str, ask: Callable[[Any], Query]
) -> None:
    """With weights in parts of 2^-20, and with products, the laws are too wide to enumerate, and
    need not be: of Laplace noise the loss is distance/scale, of Gaussian noise (distance/σ)²/2 at
    order 1, exactly. What is compared are the cells that the mechanisms receive.
    """
    promise: sf.Guarantee = sf.Pure(1) if norm == "L1" else sf.ZCDP("1/8")
    swap = Swap(arrow([]).schema)
    limits = {"unit": "u", "max_rows": 2, "relation": relation}
    rows = Rows.of(declare(name="world", schema=swap.source.schema, **limits), Nobody())
    query_plan = plan(ask(rows), promise, swap.source)
    assert any(block.cells for block in query_plan.calibration.blocks)
    rehearsal, runs, most = Rehearsal(query_plan), dict[str, Through](), 0.0
    for pair in neighbours(relation):
        for data in pair:
            if str(data) not in runs:
                swap.hold(arrow(data))
                runs[str(data)] = rehearsal.run()
        total = 0.0
        for a, b in zip(*(runs[str(data)].calls for data in pair), strict=True):
            values = [each.integers[0].ravel().tolist() for each in (a, b)]
            apart = [int(x) - int(y) for x, y in zip(*values, strict=True)]
            mechanism: Any = a.mechanism
            total += (
                sum(map(abs, apart)) / float(mechanism.scale)
                if norm == "L1"
                else sum(d * d for d in apart) / float(mechanism.sigma) ** 2 / 2
            )
        most = max(most, total)
    limit = 1 if norm == "L1" else 1 / 8
    assert 0.6 * limit < most <= limit + 1e-9
    swap.close()


# The noise of pieces that are read from cells

GROUPS = 10_000
FALSE_ALARM = 1e-8
DEVIATION = math.sqrt(math.log(2 / FALSE_ALARM) / 2 / GROUPS)
"""By Dvoretzky, Kiefer, Wolfowitz and Massart (1990): a sample's distribution function is farther
from that of its law with a probability of at most FALSE_ALARM.
"""
LEVELS = [Fraction(i, 20) for i in (5, 8, 10, 13, 15, 17, 18, 19)]


@cache
def sampled(ask: Callable[[Any], Query], norm: str) -> tuple[tuple[Noisy, ...], list[Floats]]:
    """The pieces of a release over many groups, and their noise, in the units of their columns."""
    data: Data = [(i, "a", float(i % 5)) for i in range(40)] + [(50, "b", float("nan"))]
    swap = Swap(arrow([]).schema)
    swap.hold(arrow(data))
    rows = Rows.of(declare(name="world", schema=swap.source.schema), Nobody())
    names = [*CITIES, *(str(i) for i in range(GROUPS - len(CITIES)))]
    question = ask(_Renamed(rows, names))
    query_plan = plan(question, sf.Pure("1/20") if norm == "L1" else sf.ZCDP("1/800"), swap.source)
    exact = Rehearsal(query_plan).run().pieces
    tally = door._tally(query_plan, query_plan.statements, None)
    _, pieces = door._perturb(query_plan, query_plan.groups, tally, SeededBits(7))
    swap.close()
    noise = [
        (noisy.values.astype(object) - silent.values.astype(object)).ravel() * float(noisy.step)
        for noisy, silent in zip(pieces, exact, strict=True)
    ]
    return pieces, [each.astype(np.float64) for each in noise]


@dataclass(frozen=True)
class _Renamed:
    """Rows whose groups are other public ones than the question has."""

    rows: Rows
    names: list[str]

    def group_by(self, **_: Any) -> Any:
        return self.rows.group_by(k=self.names)


def misfit(law: Any, step: Fraction, noise: Floats) -> float:
    """How far the part of a sample within the half-widths of a law is from their levels."""
    parts = [
        float((np.abs(noise) <= law.half_width(level) * float(step) * (1 + 1e-12)).mean())
        for level in LEVELS
    ]
    return max(abs(part - float(level)) for part, level in zip(parts, LEVELS, strict=True))


@pytest.mark.parametrize("norm", ["L1", "L2"])
@pytest.mark.parametrize("ask", [shared, spread, correlated])
def test_the_noise_of_a_piece_has_the_law_of_its_draws(
    ask: Callable[[Any], Query], norm: str
) -> None:
    """What the release adds to each piece, against the weighted sum of draws that it states; bounds
    of sums are at most one per cent above the exact ones. The twins forget a draw, or its weight.
    """
    pieces, noises = sampled(ask, norm)
    read_from_cells = 0
    for piece, noise in zip(pieces, noises, strict=True):
        if len(noise) < GROUPS:
            continue  # counts over all groups
        assert misfit(piece.law, piece.step, noise) <= DEVIATION + 0.015, piece.name
        if isinstance(piece.mechanism, LinearNoise):
            read_from_cells += 1
            draws = sorted(piece.mechanism.draws, key=lambda draw: -abs(draw.weight))
            lesser = LinearNoise(tuple(draws[1:])).law
            doubled = LinearNoise(tuple(draw._replace(weight=2 * draw.weight) for draw in draws))
            assert misfit(doubled.law, piece.step, noise) > 2 * DEVIATION
            if len(draws) <= 4:
                assert misfit(lesser, piece.step, noise) > DEVIATION + 0.015, piece.name
    assert read_from_cells >= 2


@pytest.mark.parametrize("norm", ["L1", "L2"])
@pytest.mark.parametrize("ask", [shared, spread, correlated])
def test_pieces_share_the_draws_that_they_name(ask: Callable[[Any], Query], norm: str) -> None:
    """The covariance of two pieces' noises is that of the draws of the same name. The twin takes
    all draws as different.
    """
    pieces, noises = sampled(ask, norm)
    dependent = 0
    flat = [i for i, noise in enumerate(noises) if len(noise) == GROUPS]
    for i, j in ((i, j) for i in flat for j in flat if i < j):
        weights = [
            {draw.name: draw.weight * pieces[k].step for draw in pieces[k].draws} for k in (i, j)
        ]
        laws = {draw.name: cast("Any", draw.mechanism).law for draw in pieces[i].draws}
        expected = sum(
            float(weights[0][name] * weights[1][name]) * laws[name].variance
            for name in weights[0].keys() & weights[1].keys()
        )
        products = noises[i] * noises[j]
        error = 7 * float(products.std()) / math.sqrt(GROUPS)
        assert abs(float(products.mean()) - expected) <= error, (pieces[i].name, pieces[j].name)
        dependent += abs(expected) > 2 * error
    assert dependent >= 1
