"""From a promise to noise: shares that add up, sensitivities that are bounding's own, and a whole
that never costs more than was promised.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sfumato.guarantees import GDP, ZCDP, Approx, Guarantee, Pure, RandomDP
from sfumato.guarantees.guarantee import noise_notions
from sfumato.guarantees.stored_guarantee import record, restore
from sfumato.mechanisms import Gaussian, Laplace, WeightedQuantile
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.expressions import col
from sfumato.tables.expr.types import Type
from sfumato.tables.plan import choose_noise
from sfumato.tables.plan.bounding import Bounding
from sfumato.tables.plan.choose_noise import CARE, calibrate, split_promise
from sfumato.tables.plan.components import components_of
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.stages import Query, Rows

from ..refusing import refusal
from .worlds import Nobody

SCHEMA = {
    "user": Type.of("int64"),
    "city": Type.of("string"),
    "x": Type.of("float64"),
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
)


def query(
    question: str = "several", *, keys: str = "public", unit: bool = True, **about: Any
) -> Query:
    limits = {"unit": "user", "max_rows": 3, "max_groups": 2} if unit else {}
    declared = declare(name="visits", bounds={"x": (-1, 3)}, schema=SCHEMA, **{**limits, **about})
    rows = Rows.of(declared, Nobody())
    groups = {
        "none": rows.group_by(),
        "public": rows.group_by(city=["a", "b"]),
        "private": rows.group_by("city"),
    }[keys]
    return groups.aggregate(**ASKED[question])


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
        refusal(lambda: calibrate(built, components_of(built).components, promise), "plan.keys")
        return
    result = calibrate(built, components_of(built).components, promise)
    cost = (
        result.mechanism.to(type(promise))
        if not isinstance(promise, Approx)
        else result.mechanism.promise
    )
    if isinstance(promise, GDP):
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
    refusal(lambda: calibrate(built, components_of(built).components, elsewhere), code)


@pytest.mark.parametrize("promise", PROMISES, ids=str)
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_noise_is_fitted_to_the_sensitivities_of_bounding(
    promise: Guarantee, unit: bool, relation: str
) -> None:
    built = query("several", unit=unit, relation=relation)
    components = components_of(built).components
    result = calibrate(built, components, promise)
    for component, (mechanism,) in zip(components, result.noise, strict=True):
        if isinstance(mechanism, Laplace):
            assert result.bounding.norm == "L1"
            assert mechanism.sensitivity == result.bounding.l1(component)
        else:
            assert isinstance(mechanism, Gaussian)
            assert result.bounding.norm == "L2"
            assert mechanism.sensitivity**2 >= result.bounding.l2_squared(component)
            assert mechanism.sensitivity**2 <= result.bounding.l2_squared(component) * (
                1 + Fraction(1, 10**6)
            )
        assert (mechanism.relation, mechanism.unit) == (relation, "user" if unit else "row")


def test_quantiles_and_selection_take_what_a_unit_weighs() -> None:
    built = query("quantiles", keys="private")
    result = calibrate(built, components_of(built).components, Approx(1, "1e-6"))
    bounding = Bounding.of(built, "L1")
    assert result.selection is not None
    assert (result.selection.groups, result.selection.quanta) == (2, 1 << bounding.vote_bits)
    for mechanism in (
        m for noise in result.noise for m in noise if isinstance(m, WeightedQuantile)
    ):
        assert mechanism.weight == result.bounding.weight
        assert mechanism.groups
    assert [len(noise) for noise in result.noise] == [3, 1, 1]


def test_shares_add_up_and_what_tells_of_clipping_has_a_twentieth() -> None:
    for querys in ASKED:
        for keys in ("none", "public", "private"):
            built = query(querys, keys=keys)
            components = components_of(built).components
            parts, selection = split_promise(built, components)
            assert sum(parts) + selection == 1
            assert (selection > 0) == (keys == "private")
            care = sum(
                (
                    share
                    for component, share in zip(components, parts, strict=True)
                    if component.pooled
                ),
                Fraction(0),
            )
            assert care in (0, CARE)
            assert (
                len(
                    {
                        share
                        for component, share in zip(components, parts, strict=True)
                        if not component.pooled
                    }
                )
                == 1
            )


def test_the_law_with_the_smaller_error_is_taken() -> None:
    alone = query("count", keys="none")
    assert isinstance(
        calibrate(alone, components_of(alone).components, Approx(1, "1e-6")).noise[0][0], Laplace
    )
    many = query("several", max_rows=100, max_groups=100)
    components = tuple(component for _ in range(3) for component in components_of(many).components)
    assert isinstance(calibrate(many, components, Approx("1/10", "1e-6")).noise[0][0], Gaussian)


def test_what_cannot_be_kept_is_refused() -> None:
    built = query("count")
    refusal(
        lambda: calibrate(
            built, components_of(built).components, RandomDP(Pure(1), "1e-3", over="rows")
        ),
        "plan.promise",
    )
    wide = query("count", keys="private", max_rows=5000, max_groups=5000)
    refusal(
        lambda: calibrate(wide, components_of(wide).components, Approx(1, "1e-6")), "plan.groups"
    )
    unbounded = query("count", max_rows=None, max_groups=None)
    refusal(
        lambda: calibrate(unbounded, components_of(unbounded).components, Pure(1)), "table.max-rows"
    )


def test_noise_that_does_not_keep_its_promise_stops_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: makers that fit the noise to a promise twice as weak. The last check is not the
    same arithmetic as theirs.
    """
    built = query("several", keys="none")
    components = components_of(built).components
    draft = choose_noise._draft
    weaker: dict[Guarantee, Guarantee] = {
        Pure(1): Pure(2),
        ZCDP("1/8"): ZCDP("1/4"),
        GDP(1): GDP(2),
        Approx(1, "1e-6"): Approx(2, "1e-6"),
    }
    for promise, lesser in weaker.items():

        def draft_weaker(
            q: Any, c: Any, _: Guarantee, norm: Any, lesser: Guarantee = lesser
        ) -> Any:
            return draft(q, c, lesser, norm)

        monkeypatch.setattr(choose_noise, "_draft", draft_weaker)
        with pytest.raises(AssertionError, match="does not keep the promise"):
            calibrate(built, components, promise)
