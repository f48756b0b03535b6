"""From a promise to noise: shares that add up, sensitivities that are bounding's own, and a whole
that never costs more than was promised.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sfumato.guarantees import GDP, ZCDP, Approx, Guarantee, Pure, RandomDP, Renyi
from sfumato.guarantees.guarantee import noise_notions
from sfumato.guarantees.stored_guarantee import record, restore
from sfumato.ledger.pricing import price
from sfumato.mechanisms import Gaussian, Laplace, OptimalSelection, WeightedQuantile
from sfumato.mechanisms.shared.better_law import Norm
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.expressions import col
from sfumato.tables.expr.types import Type
from sfumato.tables.plan import choose_noise
from sfumato.tables.plan.bounding import Bounding
from sfumato.tables.plan.choose_noise import CARE, Calibration
from sfumato.tables.plan.components import components_of
from sfumato.tables.plan.split_promise import choose_split
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.stages import Query, Rows

from ..refusing import refusal
from .worlds import Nobody

SCHEMA = {
    "user": Type.of("int64"),
    "city": Type.of("string"),
    "x": Type.of("float64"),
    "y": Type.of("int64"),
    "m": Type.of("bool"),
}
ASKED: dict[str, dict[str, Aggregate]] = {
    "count": {"n": ag.count()},
    "several": {"n": ag.count(), "s": ag.sum("x"), "v": ag.var("x"), "u": ag.count_units()},
    "quantile": {"q": ag.median("x")},
    "quantiles": {
        "q": ag.median("x"),
        "p": ag.quantile("x", "0.9", interval=False),
        "n": ag.count(),
    },
    "pair": {"n": ag.count(), "c": ag.corr("x", "y"), "s": ag.sum("y")},
    "histogram": {"h": ag.histogram("x", edges=range(6)), "m": ag.mean("x").filter(col("m"))},
}
PROMISES: tuple[Guarantee, ...] = (
    Pure(1),
    Pure("1/10"),
    Approx(1, "1e-6"),
    Approx("1/10", "1e-9"),
    ZCDP("1/8"),
    ZCDP("1/100", "1e-6"),
    GDP(1),
    GDP("1/10"),
    Renyi({8: 1}),
    Renyi({2: "1/10", "8.5": 1, 4096: 20}, "1e-6"),
)


def query(
    question: str = "several", *, keys: str = "public", unit: bool = True, **about: Any
) -> Query:
    limits = {"unit": "user", "max_rows": 3, "max_groups": 2} if unit else {}
    declared = declare(
        name="visits", bounds={"x": (-1, 3), "y": (0, 10)}, schema=SCHEMA, **{**limits, **about}
    )
    rows = Rows.of(declared, Nobody())
    groups = {
        "none": rows.group_by(),
        "public": rows.group_by(city=["a", "b"]),
        "private": rows.group_by("city"),
    }[keys]
    return groups.aggregate(**ASKED[question])


def calibrate(built: Query, promise: Guarantee) -> Calibration:
    needed = components_of(built)
    return choose_noise.calibrate(built, needed.components, needed.columns, promise)


def test_every_notion_of_a_promise_is_tested() -> None:
    assert {type(promise) for promise in PROMISES} == set(noise_notions())


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("promise", PROMISES, ids=str)
@pytest.mark.parametrize("keys", ["none", "public", "private"])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_promise_is_kept(question: str, promise: Guarantee, keys: str, relation: str) -> None:
    """What the ledger will be charged is at most what was promised; what is named needs a δ."""
    built = query(question, keys=keys, relation=relation)
    if keys == "private" and not promise.parameters.get("delta"):
        refusal(lambda: calibrate(built, promise), "plan.keys")
        return
    result = calibrate(built, promise)
    cost = (
        result.mechanism.to(type(promise))
        if not isinstance(promise, Approx)
        else result.mechanism.promise
    )
    if isinstance(promise, Renyi):
        paid = price(promise, (result.mechanism,))
        assert all(spent <= limit for spent, limit in zip(paid, promise.vector, strict=True))
    elif isinstance(promise, GDP):
        assert cost.mu_squared <= promise.mu_squared
    else:
        assert all(
            cost.parameters.get(name, 0) <= value for name, value in promise.parameters.items()
        )
    assert (cost.relation, cost.unit) == (relation, "user")
    if isinstance(promise, Pure):
        assert cost.parameters["epsilon"] == promise.parameters["epsilon"]  # nothing is left unused


@pytest.mark.parametrize("promise", PROMISES, ids=str)
@pytest.mark.parametrize("keys", ["public", "private"])
@pytest.mark.parametrize(
    ("about", "code"),
    [({"relation": "replace"}, "guarantee.relation"), ({"unit": "city"}, "guarantee.unit")],
)
def test_a_promise_about_other_neighbours_is_refused(
    promise: Guarantee, keys: str, about: dict[str, Any], code: str
) -> None:
    """The table is about adding or removing a user: that promises less about other neighbours."""
    built = query(keys=keys)
    if keys == "private" and not promise.parameters.get("delta"):
        code = "plan.keys"
    elsewhere = restore({**record(promise), **about})
    refusal(lambda: calibrate(built, elsewhere), code)


@pytest.mark.parametrize("question", ["several", "pair", "histogram"])
@pytest.mark.parametrize("promise", PROMISES, ids=str)
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_noise_is_fitted_to_the_sensitivities_of_bounding(
    question: str, promise: Guarantee, unit: bool, relation: str
) -> None:
    """A block of cells moves as a whole; a component without cells by itself."""
    result = calibrate(query(question, unit=unit, relation=relation), promise)
    bounding = result.bounding
    assert question == "histogram" or any(block.cells for block in result.blocks)
    for block, (mechanism,) in zip(result.blocks, result.noise, strict=True):
        component = result.components[block.places[0]]
        if isinstance(mechanism, Laplace):
            assert bounding.norm == "L1"
            assert mechanism.sensitivity == (
                bounding.shared_l1(block.row) if block.cells else bounding.l1(component)
            )
        else:
            assert isinstance(mechanism, Gaussian)
            assert bounding.norm == "L2"
            square = (
                bounding.shared_l2_squared(block.row)
                if block.cells
                else bounding.l2_squared(component)
            )
            assert square <= mechanism.sensitivity**2 <= square * (1 + Fraction(1, 10**6))
        assert (mechanism.relation, mechanism.unit) == (relation, "user" if unit else "row")


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("promise", [Pure(1), ZCDP("1/8")], ids=str)
def test_every_component_that_a_column_needs_is_read_from_noise(
    question: str, promise: Guarantee
) -> None:
    """Every block has noise, and no reading takes an integer that has none. Sums that only cells
    need have no reading.
    """
    built = query(question)
    result, needed = calibrate(built, promise), components_of(built)
    assert len(result.blocks) == len(result.noise)
    assert len(result.readings) == len(needed.components)
    assert [c.key for c in result.components[: len(needed.components)]] == [
        c.key for c in needed.components
    ]
    for reading in result.readings:
        for number, weights in reading.parts:
            assert len(weights) == max(len(result.blocks[number].cells), 1)
    alone = [block.places for block in result.blocks if not block.cells]
    assert len(set(alone)) == len(alone)  # no component gets noise twice by itself
    used = {number for reading in result.readings for number, _ in reading.parts}
    assert used == set(range(len(result.blocks)))  # nothing is paid for and not read


def test_quantiles_and_selection_take_what_a_unit_weighs() -> None:
    built = query("quantile", keys="private")
    result = calibrate(built, Approx(1, "1e-6"))
    bounding = Bounding.of(built, "L1")
    assert result.selection is not None
    rule = result.selection.mechanism
    assert isinstance(rule, OptimalSelection)
    assert (rule.groups, rule.quanta) == (2, 1 << bounding.vote_bits)
    for mechanism in (
        m for noise in result.noise for m in noise if isinstance(m, WeightedQuantile)
    ):
        assert mechanism.weight == result.bounding.weight
        assert mechanism.groups
    assert [len(noise) for noise in result.noise] == [3]


@pytest.mark.parametrize("norm", ["L1", "L2"])
@pytest.mark.parametrize("keys", ["none", "public", "private"])
@pytest.mark.parametrize("question", ASKED)
def test_shares_add_up_and_what_tells_of_clipping_has_a_fortieth(
    question: str, keys: str, norm: Norm
) -> None:
    built = query(question, keys=keys)
    needed = components_of(built)
    splits = choose_split(
        needed.components,
        needed.columns,
        Bounding.of(built, norm),
        care=CARE,
    )
    for split in splits:
        blocks, components = split.measurement.blocks, split.measurement.components
        assert len(split.shares) == len(blocks)
        assert min(split.shares) > 0
        assert sum(split.shares) == 1
        care = sum(
            (
                share
                for block, share in zip(blocks, split.shares, strict=True)
                if components[block.places[0]].pooled
            ),
            Fraction(0),
        )
        assert care == (CARE if any(component.pooled for component in components) else 0)


def test_a_block_of_cells_has_components_of_one_kind() -> None:
    """Counts over all groups have the small share, so no cell may contain one."""
    for question in ASKED:
        result = calibrate(query(question), Pure(1))
        for block in result.blocks:
            if block.cells:
                assert not any(result.components[place].pooled for place in block.places)


@pytest.mark.parametrize("keys", ["none", "public", "private"])
@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("promise", [Pure(1), Approx(1, "1e-6"), ZCDP("1/8")], ids=str)
def test_no_column_has_a_larger_error_than_with_components_apart(
    question: str, keys: str, promise: Guarantee
) -> None:
    if keys == "private" and not promise.parameters.get("delta"):
        return
    gains = calibrate(query(question, keys=keys), promise).gains
    assert len(gains) == len(ASKED[question])
    assert max(gains) <= 1 + 1e-9


def test_the_law_with_the_smaller_error_is_taken() -> None:
    alone = query("count", keys="none")
    assert isinstance(calibrate(alone, Approx(1, "1e-6")).noise[0][0], Laplace)
    declared = declare(
        name="visits",
        bounds={"x": (-1, 3)},
        schema=SCHEMA,
        unit="user",
        max_rows=100,
        max_groups=100,
    )
    edges = [ag.histogram("x", edges=range(4 + i)) for i in range(12)]
    many = (
        Rows.of(declared, Nobody())
        .group_by(city=["a", "b"])
        .aggregate(**{f"h{i}": each for i, each in enumerate(edges)})
    )
    assert len(components_of(many).components) == 12  # no two histograms share a component
    assert isinstance(calibrate(many, Approx("1/10", "1e-6")).noise[0][0], Gaussian)


def test_what_cannot_be_kept_is_refused() -> None:
    built = query("count")
    refusal(
        lambda: calibrate(built, RandomDP(Pure(1), "1e-3", over="rows")),
        "plan.promise",
    )
    wide = query("count", keys="private", max_rows=5000, max_groups=5000)
    refusal(lambda: calibrate(wide, Approx(1, "1e-6")), "plan.groups")
    unbounded = query("count", max_rows=None, max_groups=None)
    refusal(lambda: calibrate(unbounded, Pure(1)), "table.max-rows")


def test_noise_that_does_not_keep_its_promise_stops_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: makers that fit the noise to a promise twice as weak. The last check is not the
    same arithmetic as theirs.
    """
    built = query("several", keys="none")
    draft = choose_noise._draft

    def draft_weaker(candidate: Any, fitted: Guarantee) -> Any:
        return draft(candidate, fitted.scaled(2))

    for promise in (Pure(1), ZCDP("1/8"), GDP(1), Approx(1, "1e-6"), Renyi({8: 1})):
        monkeypatch.setattr(choose_noise, "_draft", draft_weaker)
        with pytest.raises(AssertionError, match="does not keep the promise"):
            calibrate(built, promise)
