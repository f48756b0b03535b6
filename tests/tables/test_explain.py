"""A plan in words: every rule that changes an answer is said, and none that does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sfumato.guarantees import ZCDP, Approx, Guarantee, Pure
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import declare
from sfumato.tables.plan.explain import cost_text, explain, explain_rules
from sfumato.tables.plan.query_plan import Plan, plan
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.stages import Rows

from .worlds import Bench, Nobody


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    new_bench = Bench()
    yield new_bench
    new_bench.close()


def planned(
    bench: Bench,
    keys: Any = None,
    promise: Guarantee | None = None,
    about: Any = None,
    **aggregates: Aggregate,
) -> Plan:
    limits = {
        "unit": "user",
        "max_rows": 2,
        "bounds": {"v0": (0, 10), "sure": (0, 1)},
        **(about or {}),
    }
    rows = Rows.of(declare(name="world", schema=bench.schema, **limits), Nobody())
    groups = (
        rows.group_by()
        if keys is None
        else rows.group_by("k0")
        if keys == "private"
        else rows.group_by(k0=keys)
    )
    return plan(groups.aggregate(**aggregates), promise or Pure(1), bench.source)


def test_who_is_protected_is_said_first(bench: Bench) -> None:
    alone = planned(bench, about={"unit": None, "max_rows": None}, n=ag.count())
    assert explain_rules(alone) == ("each row is taken as a different person",)
    weights = explain_rules(planned(bench, n=ag.count()))
    assert weights[0] == (
        "a user counts for at most 2 rows; one with more rows is down-weighted to 2 rows in total"
    )
    assert weights[1] == "rows without a user are left out"
    assert explain_rules(planned(bench, about={"max_rows": 1}, n=ag.count()))[0].startswith(
        "a user counts for at most 1 row;"
    )
    assert (
        explain_rules(planned(bench, about={"bounding": "truncation"}, n=ag.count()))[0]
        == "at most 2 rows of each user count"
    )
    euclidean = explain_rules(planned(bench, ["a"], ZCDP("1/8"), n=ag.count()))[0]
    assert euclidean == (
        "a user counts for at most 2 rows in one group; one with rows in many groups is "
        "down-weighted in each"
    )
    assert "hospital" not in str(
        explain_rules(planned(bench, about={"unit": ["user", "n"]}, n=ag.count()))
    )
    assert (
        "a user, n counts"
        in explain_rules(planned(bench, about={"unit": ["user", "n"]}, n=ag.count()))[0]
    )


def test_clipping_and_missing_values_are_said_once(bench: Bench) -> None:
    text = explain_rules(
        planned(
            bench,
            n=ag.count(),
            m=ag.mean("v0"),
            s=ag.sum("v0"),
            q=ag.median("v0"),
            c=ag.count("v0"),
        )
    )
    assert text.count("v0 clipped to [0, 10]") == 1
    assert text.count("rows where v0 is null or NaN are left out of its aggregates") == 1
    sure = explain_rules(planned(bench, s=ag.sum("sure")))
    assert "a missing sure counts as its lower bound" in sure
    assert not any("clipped" in rule for rule in explain_rules(planned(bench, n=ag.count())))


def test_groups_are_said(bench: Bench) -> None:
    assert (
        explain_rules(planned(bench, ["a"], n=ag.count()))[-1]
        == "groups are the public keys; rows with other keys are left out"
    )
    assert (
        explain_rules(planned(bench, "private", Approx(1, "1e-6"), n=ag.count()))[-1]
        == "small groups may be withheld"
    )
    assert "a user is counted in at most 2 groups" in explain_rules(
        planned(bench, ["a"], u=ag.count_units())
    )
    assert not any("groups" in rule for rule in explain_rules(planned(bench, u=ag.count_units())))


def test_an_explanation_has_question_cost_noise_and_error(bench: Bench) -> None:
    release_plan = planned(
        bench, "private", Approx(1, "1e-6"), n=ag.count(), m=ag.mean("v0"), q=ag.median("v0")
    )
    text = explain(release_plan)
    assert str(release_plan) == text
    assert text.startswith("what    from world\n        group by k0\n        n = count()")
    for line in (
        "cost    ε = 1, δ = 1e-06",
        "unit    user, neighbours by add-remove",
        "groups  OptimalSelection(",
        "noise   cells of v0, others of count: Laplace; one user moves them together by at most 2",
    ):
        assert line in text.replace("1e-6", "1e-06")
    assert text.count("\nnoise   ") == len(release_plan.calibration.blocks)
    assert "noise   total: Laplace; one user moves it by at most 2 (L1)" in text
    assert text.count("\nerror   ") == 3
    assert "in a group of 1000 rows" in text
    assert "rows away" in text
    assert "chosen by the exponential mechanism" in text
    assert "Gaussian" in explain(planned(bench, ["a"], ZCDP("1/8"), n=ag.count()))


def test_what_cells_gain_is_said(bench: Bench) -> None:
    """The errors of the plan itself are the stated part of those with noise on each component."""
    together = planned(bench, n=ag.count(), m=ag.mean("v0"))
    gains = together.calibration.gains
    least, most = (f"{each(gains):.2f}" for each in (min, max))
    assert (
        f"\nshared  cells serve n, m: errors are {least} to {most} of those with noise on each "
        f"component"
    ) in explain(together)
    assert "one user moves them together by at most 2 rows (L1)" in explain(together)
    gaussian = explain(planned(bench, promise=ZCDP("1/8"), n=ag.count(), v=ag.var("v0")))
    assert "one user moves them together by at most 2 rows (L2)" in gaussian
    replaced = {"relation": "replace"}
    twice = explain(planned(bench, ["a"], about=replaced, n=ag.count(), m=ag.mean("v0")))
    assert "one user moves them together by at most 4 rows (L1)" in twice
    assert "shared" not in explain(planned(bench, n=ag.count()))


def test_costs_are_written_in_greek() -> None:
    assert cost_text(Pure("1/2")) == "ε = 0.5"
    assert cost_text(ZCDP("1/8")) == "ρ = 0.125"
