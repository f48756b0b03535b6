"""A plan in words: every rule that changes an answer is said, and none that does not."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from sfumato.guarantees import ZCDP, Approx, Guarantee, Pure
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import declare
from sfumato.tables.declare.learned_limits import LearnedLimits
from sfumato.tables.expr.expressions import Expr, col
from sfumato.tables.plan.explain import (
    cost_text,
    explain,
    explain_left_out,
    explain_rules,
    explain_unmeasured,
)
from sfumato.tables.plan.query_plan import Plan, plan
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.per_unit import Total
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
    assert weights[0] == "a user with more than 2 rows counts as 2 rows"
    assert weights[1] == "rows without a user are skipped"
    assert explain_rules(planned(bench, about={"max_rows": 1}, n=ag.count()))[0] == (
        "a user with more than 1 row counts as 1 row"
    )
    assert (
        explain_rules(planned(bench, about={"bounding": "truncation"}, n=ag.count()))[0]
        == "2 rows of a user with more count, drawn at random"
    )
    euclidean = explain_rules(planned(bench, ["a"], ZCDP("1/8"), n=ag.count()))[0]
    assert euclidean == (
        "a user with more than 2 rows counts as 2 rows in one group; spread over groups, as fewer "
        "in each"
    )
    assert "hospital" not in str(
        explain_rules(planned(bench, about={"unit": ["user", "n"]}, n=ag.count()))
    )
    assert (
        "a user, n with more than 2 rows counts"
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
    assert text.count("missing values of v0 (null, NaN) are skipped") == 1
    sure = explain_rules(planned(bench, s=ag.sum("sure")))
    assert "missing values of sure count as its lower bound" in sure
    assert not any("clipped" in rule for rule in explain_rules(planned(bench, n=ag.count())))


REST = tuple(map(Fraction, ("0.3", "0.1", "16", "0.25", "0.4", "0.091")))
TAILS = tuple(map(Fraction, ("0", "0.2", "0.1", "0", "20")))
LEARNED = LearnedLimits((("max_rows", REST),), (("v0", TAILS),))
BEYOND = "at least 9.1 % of rows, beyond the limit of 2 per user, are not counted"
ABOVE = "about 20 % ± 10 % of rows between 0 and 20 lie above the bounds of v0 [0, 10]"


def test_what_learned_limits_leave_out_is_said_of_all_rows(bench: Bench) -> None:
    about = {"learned": LEARNED}
    both = planned(bench, about=about, n=ag.count(), s=ag.sum("v0"))
    assert explain_left_out(both) == (BEYOND, ABOVE)
    assert explain_unmeasured(both) == ()
    private = planned(bench, "private", Approx(1, "1e-6"), about=about, n=ag.count())
    assert explain_left_out(private) == (BEYOND,)
    root = planned(
        bench, "private", Approx("0.1", "1e-3"), about={**about, "max_rows": 16}, n=ag.count()
    )
    assert root.calibration.bounding.rule == "root"
    spread = BEYOND.replace("are not counted", "count only as far as they spread over groups")
    assert explain_left_out(root) == (spread.replace("limit of 2", "limit of 16"),)
    # learning looked at all rows: neither at those of some keys nor at those that meet a condition
    assert explain_left_out(planned(bench, ["a"], about=about, n=ag.count())) == ()
    limits = {"unit": "user", "max_rows": 2, "bounds": {"v0": (0, 10)}, **about}
    rows = Rows.of(declare(name="world", schema=bench.schema, **limits), Nobody())
    some = rows.where(col("v0") > 1).group_by().aggregate(n=ag.count())
    assert explain_left_out(plan(some, Pure(1), bench.source)) == ()


def test_of_units_groups_are_said_and_not_rows(bench: Bench) -> None:
    """A count of units in groups does not depend on how many rows they have."""
    approx, both = Approx(1, "1e-6"), (("max_rows", REST), ("max_groups", REST))
    rows_only = {"learned": LEARNED}
    units = {"n": ag.count_units()}
    assert explain_left_out(planned(bench, "private", approx, about=rows_only, **units)) == ()
    groups = {"max_groups": 2, "learned": LearnedLimits(both, keys=("k0",))}
    pairs = "at least 9.1 % of pairs of user and group lie beyond the limit of 2 groups per user: "
    counted = planned(bench, "private", approx, about=groups, **units)
    assert explain_left_out(counted) == (pairs + "counts are spread over them",)
    voted = planned(bench, "private", approx, about=groups, n=ag.count())
    assert explain_left_out(voted)[1:] == ()  # votes change no number
    # a limit for groups by another column, or read from a file, says nothing of these groups
    for keys in (("k1",), ()):
        learned = {"max_groups": 2, "learned": LearnedLimits(both, keys=keys)}
        assert explain_left_out(planned(bench, "private", approx, about=learned, **units)) == ()


def test_what_was_not_measured_is_said(bench: Bench) -> None:
    declared = planned(bench, n=ag.count())
    assert explain_left_out(declared) == ()
    assert explain_unmeasured(declared) == (
        "rows beyond the limit of 2 per user were not measured: check_limits does",
    )
    assert (
        explain_unmeasured(planned(bench, about={"unit": None, "max_rows": None}, n=ag.count()))
        == ()
    )


def test_groups_are_said(bench: Bench) -> None:
    assert (
        explain_rules(planned(bench, ["a"], n=ag.count()))[-1]
        == "rows with other keys than the public ones are left out"
    )
    assert (
        explain_rules(planned(bench, "private", Approx(1, "1e-6"), n=ag.count()))[-1]
        == "a group is shown from about 29 rows on"
    )
    assert "a user in more than 2 groups counts as 2, split over them" in explain_rules(
        planned(bench, ["a", "b", "c"], u=ag.count_units())
    )
    assert "a user is counted in at most 1 group: k0 has 1 public key" in explain_rules(
        planned(bench, ["a"], u=ag.count_units())
    )
    assert not any("groups" in rule for rule in explain_rules(planned(bench, u=ag.count_units())))


def per_user(bench: Bench, of: Expr, about: Any = None) -> tuple[str, ...]:
    """The rules of a sum of sums: of each user, over the rows with a value above 1."""
    limits = {"unit": "user", "max_rows": 2, "bounds": {"v0": (0, 10)}, **(about or {})}
    rows = Rows.of(declare(name="world", schema=bench.schema, **limits), Nobody())
    step = rows.where(col("v0") > 1).per_unit({}, {"t": Total("sum", of)})
    query = step.group_by().aggregate(s=ag.sum("t", low=0, high=7))
    return explain_rules(plan(query, Pure(1), bench.source))


def test_every_clip_of_a_sub_query_is_said(bench: Bench) -> None:
    rules = per_user(bench, col("v0"))
    assert rules[0] == "each user has one row here, and counts once"
    assert "v0 clipped to [0, 10] in the sub-query" in rules
    assert "t clipped to [0, 7]" in rules
    # what lies within its bounds by its expression is not clipped, and integers are added as such
    clamped = per_user(bench, col("v0").clip(2, 5))
    assert not any("sub-query" in rule for rule in clamped)
    assert not any("sub-query" in rule for rule in per_user(bench, col("user")))


def test_a_learned_bound_of_a_sub_query_is_marked(bench: Bench) -> None:
    learned = LearnedLimits(bounds=(("v0", None),))
    rules = per_user(bench, col("v0"), {"learned": learned})
    note = learned.bounds_note("v0")
    assert note
    assert f"v0 clipped to [0, 10] in the sub-query{note}" in rules


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
        "groups  of ",
        "select  votes, by the best rule of selection",
        "noise   cells of v0, other rows of count: Laplace; one user moves them together by",
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
