"""Batches: one promise, one charge, and noise that is planned together."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.guarantees import GDP, ZCDP, Approx, Guarantee, Pure
from sfumato.ledger import BudgetExceeded
from sfumato.mechanisms import Gaussian, Laplace
from sfumato.session import Table
from sfumato.session.pending_plan import PendingBatch
from sfumato.session.request import PlanAttempt, Request

from .test_learning import rows
from .test_learning import table as unlimited


@pytest.fixture
def table() -> Iterator[Table]:
    about: dict[str, Any] = {
        "unit": "user_id",
        "max_rows": 3,
        "max_groups": 2,
        "bounds": {"spend": (0, 50), "age": (0, 120)},
    }
    with sf.protect(
        sf.samples.visits(), name="visits", **about, budget=sf.Approx(100, "1e-3")
    ) as visits:
        yield visits


def mixed(table: Table) -> list[Any]:
    return [
        "SELECT COUNT(*) AS n FROM visits",
        table.group_by(vip=[True, False]).aggregate(m=sf.mean("spend")),
        "SELECT MEDIAN(age) AS q FROM visits",
    ]


def test_shares_follow_the_noisy_numbers(table: Table) -> None:
    batch = table.plan_all(
        [*mixed(table), table.group_by("city").aggregate(n=sf.count())], epsilon=1
    )
    assert batch.shares == tuple(
        Fraction(k, 5) for k in (1, 1, 1, 2)
    )  # a count, the cells of a mean, a quantile, a count and the selection
    assert sum(batch.shares) == 1
    assert "1/5 of" in batch.explain()


@pytest.mark.parametrize(
    "promise", [Pure(1), Approx(1, "1e-6"), ZCDP("1/8"), GDP(1)], ids=lambda p: type(p).__name__
)
def test_the_whole_keeps_the_promise(promise: Guarantee, table: Table) -> None:
    batch = table.plan_all(mixed(table), promise=promise)
    if isinstance(promise, Approx):
        assert batch.cost.epsilon(promise.parameters["delta"]) <= 1
    else:
        assert batch.mechanism.to(type(promise)) <= promise


def test_equal_numbers_have_equal_noise(table: Table) -> None:
    """As if they were columns of one question that share no cells; those that share some are
    better.
    """
    texts = ["SELECT COUNT(*) AS n FROM visits", "SELECT COUNT(*) AS n FROM visits WHERE vip"]
    apart = [error["n"] for error in table.plan_all(texts, promise=Pure(1)).error()]
    alone = table.plan(texts[0], promise=Pure("1/2")).error()["n"]
    assert apart == [alone, alone]
    together = table.aggregate(n=sf.count(), v=sf.count_if(sf.col("vip"))).plan(promise=Pure(1))
    assert all(error < alone for error in together.error().values())
    bins = {
        name: sf.histogram("age", edges=range(0, 100, 10 * i)) for i, name in ((1, "h"), (2, "j"))
    }
    each = table.plan_all([table.aggregate(h=h) for h in bins.values()], promise=Pure(1))
    both = table.aggregate(**bins).plan(promise=Pure(1))
    assert [error["h"] for error in each.error()] == list(both.error().values())


def test_many_are_better_with_gaussian_noise_stated_once(table: Table) -> None:
    many = [f"SELECT COUNT(*) AS n FROM visits WHERE age > {age}" for age in range(60)]
    batch = table.plan_all(many, epsilon=1, delta=1e-6)
    assert all(isinstance(plan.calibration.noise[0][0], Gaussian) for plan in batch.plans)
    assert batch.cost.parameters == {"epsilon": 1, "delta": Fraction(1, 10**6)}
    alone = table.plan(many[0], epsilon=Fraction(1, 60), delta=Fraction(1, 60 * 10**6)).error()["n"]
    assert batch.error()[0]["n"] < alone / 2
    few = table.plan_all(many[:2], epsilon=1, delta=1e-6)
    assert all(isinstance(plan.calibration.noise[0][0], Laplace) for plan in few.plans)


def test_one_charge_and_the_same_batch_again_is_free(table: Table) -> None:
    first = table.release_all(mixed(table), epsilon=1)
    assert [entry.kind for entry in table.ledger.history()].count("charge") == 1
    assert table.spent.parameters["epsilon"] == 1
    assert {answer.receipt for answer in first} == {first[0].receipt}
    assert all(
        "released together with 2 other questions: the cost is that of all" in answer.rules
        for answer in first
    )
    again = table.release_all(mixed(table), epsilon=1)
    assert [answer.value() for answer in (again[0], again[2])] == [
        answer.value() for answer in (first[0], first[2])
    ]
    assert all(answer.recalled for answer in again)
    assert table.spent.parameters["epsilon"] == 1
    table.release_all(mixed(table), epsilon=1, fresh=True)
    assert table.spent.parameters["epsilon"] == 2


def test_what_a_text_does_after_release_is_done(table: Table) -> None:
    (shown,) = table.release_all(
        ["SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n DESC LIMIT 2"], epsilon=1
    )
    assert len(shown) == 2
    assert shown["n"][0] >= shown["n"][1]


def test_what_does_not_fit_is_refused_as_a_whole(table: Table) -> None:
    with pytest.raises(sf.BudgetExceeded):
        table.release_all(mixed(table), epsilon=101)
    assert table.spent.parameters["epsilon"] == 0


@pytest.mark.parametrize(
    ("queries", "more"),
    [
        ([], {}),
        ("SELECT COUNT(*) AS n FROM visits", {}),
        (["SELECT COUNT(*) AS n FROM visits"] * 2, {}),
        (["EXPLAIN PRIVACY SELECT COUNT(*) AS n FROM visits"], {}),
        (["SELECT COUNT(*) AS n FROM visits"], {"parameters": [None, None]}),
    ],
    ids=["none", "text", "twice", "explain", "parameters"],
)
def test_refused(queries: Any, more: dict[str, Any], table: Table) -> None:
    with pytest.raises(Refused) as refusal:
        table.plan_all(queries, epsilon=1, **more)
    assert refusal.value.code == "plan.batch"


SUM, COUNT, BEYOND = (
    "SELECT SUM(spend) AS s FROM visits",
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT SUM(spend * 1e270) AS s FROM visits",
)


@pytest.mark.usefixtures("certain")
def test_what_any_of_them_lacks_is_learned_once_for_all() -> None:
    """Rows and two columns, a third of ε = 10 for each; the sum of ages needs what the others do
    not.
    """
    with unlimited() as visits:
        queries = [
            SUM,
            visits.aggregate(n=sf.count(), s=sf.sum("spend")),
            "SELECT SUM(age) AS s FROM visits",
        ]
        plan = visits.plan_all(queries, epsilon=60)
        assert isinstance(plan, PendingBatch)
        assert plan.error() == (
            {"s": "after learning"},
            {"n": "after learning", "s": "after learning"},
            {"s": "after learning"},
        )
        assert plan.cost.parameters["epsilon"] == 70
        assert "batch   3 questions, together ε = 70" in str(plan)
        assert str(plan).count("learn   bounds of") == 2
        assert str(plan).count("share   1/3 of ε = 60") == 3
        assert visits.spent.parameters["epsilon"] == 0
        answers = visits.release_all(queries, epsilon=60)
        assert visits.spent.parameters["epsilon"] == 70
        assert (visits.declaration.max_rows, visits.declaration.ranges) == (
            4,
            {"spend": (0, 64), "age": (0, 64)},
        )
        assert all(
            "ε = 10 more was spent to find limits:" in answer.rules[-1] for answer in answers
        )
        assert "max_rows = 4" in answers[0].facts["declaration"]
        assert all(answer.recalled for answer in visits.release_all(queries, epsilon=60))
        assert visits.spent.parameters["epsilon"] == 70
        assert visits.plan_all(queries, epsilon=60).cost.parameters["epsilon"] == 60


def test_both_fit_or_neither_is_paid_for_also_together() -> None:
    with unlimited(1) as visits:
        with pytest.raises(sf.BudgetExceeded) as refused:
            visits.release_all([SUM, COUNT], epsilon="0.9")
        assert "do not fit together" in refused.value.reason
        assert visits.spent.parameters["epsilon"] == 0
        visits.release_all([SUM, COUNT], epsilon=Fraction(6, 7))
        assert visits.spent.parameters["epsilon"] == 1


@pytest.mark.parametrize(
    ("queries", "more", "code"),
    [
        ([SUM, SUM], {}, "plan.batch"),
        ([COUNT, "SELECT SUM(spend / age) AS s FROM visits"], {}, "sql.bounds"),
        ([COUNT, SUM], {"learn": False}, "table.max-rows"),
    ],
    ids=["twice", "no bounds", "without learning"],
)
def test_what_is_refused_is_refused_before_anything_is_learned(
    queries: list[str], more: dict[str, Any], code: str
) -> None:
    with unlimited() as visits:
        for ask in (visits.plan_all, visits.release_all):
            with pytest.raises(Refused) as refused:
                ask(queries, epsilon=1, **more)  # type: ignore[operator]  # plan_all or release_all
            assert refused.value.code == code
        assert visits.spent.parameters["epsilon"] == 0


def collect_outcomes(folder: Path, queries: list[str]) -> set[str]:
    """Collect the answers and refusals of an analyst who cannot pay for someone else's lessons.

    The datasets differ in the lessons alone. One table has learned them, the other reads them from
    the ledger.
    """
    outcomes = set()
    for place, wide in enumerate((1.0, 1e12)):
        path, source = (
            folder / f"{place}.ledger",
            rows().set_column(2, "spend", pa.array([wide] * len(rows()))),
        )
        with unlimited(ledger=path, source=source) as elsewhere:
            elsewhere.ledger.allow("bob", sf.Approx(1, "1e-6"))
            elsewhere.learn(epsilon=60)
            assert elsewhere.declaration.ranges["spend"][1] > wide
            for visits in (elsewhere, unlimited(ledger=path, source=source)):
                for _ in range(2):
                    try:
                        outcomes.add(str(visits.release_all(queries, epsilon=1, share="bob")))
                    except Refused as refusal:
                        outcomes.add(str(refusal))
                visits.close()
            with unlimited(ledger=path, source=source) as after:
                assert after.ledger.account("bob").spent[0] == 0
    return outcomes


MANY = [f"SELECT SUM(spend) AS s FROM visits WHERE age > {age}" for age in range(12)]
TOGETHER = {
    "one": [SUM],
    "beyond the integers": [COUNT, BEYOND],
    "with others": [SUM, COUNT, "SELECT MEDIAN(spend) AS q FROM visits"],
    "many": MANY,
}


@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.usefixtures("certain")
def test_nothing_of_what_others_learned_is_heard_for_nothing(name: str, tmp_path: Path) -> None:
    (outcome,) = collect_outcomes(tmp_path, TOGETHER[name])
    assert "do not fit together" in outcome


@pytest.mark.usefixtures("certain")
def test_a_batch_that_is_planned_before_it_is_paid_for_would_be_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin plans with the limits that the tables know, for any analyst. Where sums would leave
    the integers of the engine, the refusal reveals the lessons.
    """

    def at_once(self: Request) -> PlanAttempt:
        assert self.settings.learn
        declared = self.state.declared
        return PlanAttempt(self._plan(declared), (), (), declared, True)

    monkeypatch.setattr(Request, "attempt", at_once)
    assert len(collect_outcomes(tmp_path, TOGETHER["beyond the integers"])) > 1


@pytest.mark.usefixtures("certain")
def test_a_refusal_that_follows_from_lessons_is_heard_when_they_are_paid_for() -> None:
    with unlimited(source=rows().set_column(2, "spend", pa.array([1e12] * len(rows())))) as visits:
        visits.ledger.allow("bob", sf.Approx(100, "1e-6"))
        visits.learn(epsilon=60)
        with pytest.raises(Refused):
            visits.release_all([COUNT, BEYOND], epsilon=1, share="bob")
        assert visits.ledger.account("bob").spent[0] == 60


@pytest.mark.usefixtures("certain")
def test_a_share_pays_for_lessons_of_others_and_learns_the_rest() -> None:
    with unlimited() as visits:
        for name in ("ann", "bob"):
            visits.ledger.allow(name, sf.Approx(100, "1e-6"))
        visits.learn(epsilon=60, columns=[], share="ann")
        visits.release_all([SUM, COUNT], epsilon=6, share="bob")
        assert visits.ledger.account("bob").spent[0] == 60 + 6 + 1
        visits.release_all(
            [COUNT, "SELECT SUM(age) AS s FROM visits"], epsilon=6, share="ann"
        )  # and what bob learned
        assert visits.ledger.account("ann").spent[0] == 60 + 1 + 6 + 1
        assert visits.spent.parameters["epsilon"] == 74


def test_a_stored_batch_is_paid_for_as_one_or_not_at_all(table: Table) -> None:
    """An analyst who sees all its answers pays what they cost together. One who cannot pay sees
    none and pays nothing.
    """
    book, queries = table.ledger, mixed(table)
    for name, room in (("ann", "9"), ("bob", "1.5"), ("cas", "0.5")):
        book.allow(name, Approx(room, "1e-4"))
    first = table.release_all(queries, epsilon=1, share="ann")
    again = table.release_all(queries, epsilon=1, share="bob")
    assert [answer.to_json() for answer in again] == [answer.to_json() for answer in first]
    assert book.account("bob").spent[0] == 1
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        table.release_all(queries, epsilon=1, share="cas")
    assert book.account("cas").spent[0] == 0
    assert table.spent.parameters["epsilon"] == 1


def test_the_plan_says_what_a_report_would_gain(table: Table) -> None:
    """Tables of the same rows and columns; by arithmetic the same ratio as the plan of a report."""
    with sf.protect(
        sf.samples.visits(),
        name="visits",
        each_row_a_person=True,
        keys={"city": ["Roma", "Bari", "Milano"]},
        budget=sf.ZCDP(10),
    ) as visits:
        questions = [
            visits.group_by("city").count(),
            visits.group_by("vip").count(),
            visits.count(),
        ]
        batch = visits.plan_all(questions, promise=sf.ZCDP("1/2"))
        workload = sf.report(visits, questions).plan(promise=sf.ZCDP("1/2")).workload
        ratio = workload.shares.rms(workload.domain) / workload.shares.apart
        assert (
            f"sf.report measures these tables together, so that they agree: noise {ratio:.2f}"
            in (batch.explain())
        )
        for apart in (
            [visits.where("vip").count(), visits.group_by("city").count()],
            [visits.count(), visits.group_by("city").aggregate(n=sf.count_distinct("age"))],
            [visits.group_by(city=["Roma"]).count(), visits.group_by("city").count()],
        ):
            assert "sf.report" not in visits.plan_all(apart, promise=sf.ZCDP("1/2")).explain()
