"""Learning: charged, kept, enforced; and what one person can change in it."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.session.choose_limits import Aim, count_noise, value_bounds
from sfumato.session.learning import missing_for, plan_lesson, run_lessons
from sfumato.session.protected_table import Table
from sfumato.session.table_state import LearnedLimit
from sfumato.tables.declare.declaration import Declaration
from sfumato.tables.plan.missing_limits import ROWS, MissingLimit
from sfumato.testing.exact_checks import through_the_door

pytestmark = pytest.mark.usefixtures("certain")

SPEND, GROUPS = MissingLimit("bounds", ("spend",)), MissingLimit("max_groups", ("city",))


def rows(units: int = 3000) -> pa.Table:
    """Every unit has three or four rows, in two cities; spend between 4 and 8, for one in twenty
    between 32 and 64, age between 20 and 60.
    """
    u = np.repeat(np.arange(units), 3 + np.arange(units) % 2)
    i = np.arange(len(u))
    spend = np.where(u % 20 == 0, 40.0, 4 + (i % 4))
    return pa.table(
        {"u": u, "city": np.where(i % 2 == 0, "Roma", "Bari"), "spend": spend, "age": 20 + i % 41}
    )


def table(budget: Any = 1000, source: pa.Table | None = None, **about: Any) -> Table:
    return sf.protect(
        rows() if source is None else source,
        **{"name": "visits", "unit": "u", "budget": budget, **about},
    )


@pytest.mark.parametrize(
    "promise", [{"epsilon": 60}, {"promise": sf.ZCDP(60)}, {"promise": sf.GDP(10)}], ids=str
)
def test_what_is_missing_is_found(promise: dict[str, Any]) -> None:
    """False alarms: 1e-12 for each of three lessons and the cells beside; and 150 people are missed
    in a cell with probability below e^-200.
    """
    budget = {"epsilon": sf.Pure(1000), "promise": None}[next(iter(promise))] or 1000 * promise[
        "promise"
    ]
    with table(budget) as visits:
        learned = visits.learn(**promise)
        declared = visits.declaration
        assert declared.max_rows == 4
        assert declared.ranges == {"spend": (0, 64), "age": (0, 64)}
        assert dict(declared.learned.limits)["max_rows"] == (
            0,
            dict(declared.learned.limits)["max_rows"][1],
            16,
            0,
            dict(declared.learned.limits)["max_rows"][4],
            0,
        )
        assert set(dict(declared.learned.bounds)) == {"spend", "age"}
        assert learned.declaration is declared
        assert "a u counts for at most 4 rows (learned" in str(learned)
        assert "spend clipped to [0, 64] (learned" in str(learned)
        assert "about " not in str(learned).replace("at most about", "at most")
        assert declared == Declaration.from_toml(declared.to_toml())
        before = visits.spent
        again = visits.learn(**promise)
        assert again.limits == ()
        assert again.cost is None
        assert visits.spent == before


def test_it_is_charged_before_it_is_read_and_for_what_was_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with table(sf.Pure(1)) as visits:
        visits.learn(epsilon="0.3", columns=["spend"])
        assert visits.spent.parameters["epsilon"] == Fraction(3, 10)
        assert len(visits.ledger.history()) >= 2
        with pytest.raises(sf.BudgetExceeded):
            visits.learn(epsilon=1, columns=["age"])
        assert "age" not in visits.declaration.ranges

        def broken(*_: Any, **__: Any) -> None:
            raise ValueError("987654")

        monkeypatch.setattr(type(visits._source.engine), "run", broken)
        with pytest.raises(sf.Failed) as failed:
            visits.learn(epsilon="0.1", columns="age")
        assert str(failed.value) == sf.Failed.TEXT
        assert visits.spent.parameters["epsilon"] == Fraction(4, 10)


def test_groups_are_learned_for_the_columns_they_are_by() -> None:
    with table() as visits:
        learned = visits.learn(epsilon=60, columns=[], groups="city")
        assert (visits.declaration.max_rows, visits.declaration.max_groups) == (4, 2)
        assert "at most 2 groups by city (learned)" in str(learned)


def test_another_process_has_it_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    with table(ledger=path) as visits:
        visits.learn(epsilon=1)
        first, spent = visits.declaration, visits.spent
    with table(ledger=path) as visits:
        assert visits.declaration.max_rows is None
        assert visits.learn(epsilon=50).cost is None  # whatever is offered
        assert visits.declaration == first
        assert visits.spent == spent
    with table(
        ledger=path, keys={"city": ["Roma"]}, version="later"
    ) as visits:  # whatever else is declared
        visits.aggregate(s=sf.sum("spend")).release(epsilon=1)
        assert visits.declaration.max_rows == first.max_rows
        assert visits.declaration.ranges["spend"] == first.ranges["spend"]
        assert visits.spent.parameters["epsilon"] == spent.parameters["epsilon"] + 1
        anew = visits.learn(epsilon=60, fresh=True)
        assert anew.cost is not None
        assert visits.declaration.max_rows == 4


def test_a_share_pays_for_what_it_sees(tmp_path: Path) -> None:
    with table(ledger=tmp_path / "visits.ledger") as visits:
        for name in ("ann", "bob"):
            visits.ledger.allow(name, sf.Approx(10, "1e-6"))
        query = visits.aggregate(n=sf.count())
        query.release(epsilon=3, share="ann")
        assert visits.ledger.account("ann").spent[0] == Fraction(7, 2)
        query.release(
            epsilon=3, share="bob"
        )  # the stored answer, and the limit that was learned for it
        assert visits.ledger.account("bob").spent[0] == Fraction(7, 2)
        assert visits.spent.parameters["epsilon"] == Fraction(7, 2)
        query.release(epsilon=3, share="bob", fresh=True)
        assert visits.ledger.account("bob").spent[0] == Fraction(13, 2)


def test_too_few_people_give_a_default_that_is_said_to_be_one() -> None:
    """The cut is where noise alone is seen in any cell with probability 1e-12: five units are not
    seen in noise of ten million, and nothing else is.
    """
    with table(source=rows(5)) as visits:
        learned = visits.learn(epsilon="0.0000001", columns=["spend"])
        assert (visits.declaration.max_rows, visits.declaration.ranges["spend"]) == (1, (0, 1))
        assert str(learned).count("a default: too few people to learn it from") == 2
        answer = visits.aggregate(s=sf.sum("spend")).release(epsilon=1)
        printed = " ".join(str(answer).split())  # whatever the width
        assert printed.count("a default: too few people to learn it from") == 2


@pytest.mark.parametrize("lack", [ROWS, SPEND, GROUPS], ids=lambda lack: lack.kind)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("bounding", ["weights", "truncation"])
def test_a_person_moves_a_lesson_by_no_more_than_its_noise_is_made_for(
    lack: MissingLimit, relation: str, bounding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neighbours of random tables, with someone who has up to a thousand rows and any values: the
    exact counts of all cells together.
    """
    monkeypatch.setattr(
        "sfumato.tables.plan.query_plan.secrets.token_hex", lambda _: "the same for both"
    )
    rng = np.random.default_rng(11)
    largest, declared = Fraction(0), 0
    for turn, m in enumerate((1, 2, 7, 1000)):
        n = int(rng.integers(1, 40))
        base = {
            "u": rng.integers(0, 12, n),
            "spend": rng.choice([0.0, -1.0, 1e300, np.nan, 3.5, 1e-40, np.inf], n),
            "city": rng.choice(["a", "b", "c"], n),
        }
        more = {
            "u": np.full(m, 99),
            "spend": rng.choice([0.0, -(2.0**50), 1e308, 5.0], m),
            "city": np.arange(m).astype(str),
        }
        replacement = (
            {"u": np.full(3, 99), "spend": np.array([-7.0] * 3), "city": np.array(["z"] * 3)}
            if relation == "replace"
            else None
        )
        tallies = []
        for extra in (more, replacement):
            columns = (
                base
                if extra is None
                else {
                    name: np.concatenate([base[name].astype(extra[name].dtype), extra[name]])
                    for name in base
                }
            )
            with table(source=pa.table(columns), relation=relation, bounding=bounding) as visits:
                plan = plan_lesson(visits.state, lack, sf.Pure(1))
                tallies.append(through_the_door(plan).pieces[0].values.astype(object))
                declared = plan.calibration.bounding.l1(plan.components[0])
        moved = Fraction(int(abs(tallies[0] - tallies[1]).sum()))
        assert moved <= declared, turn
        largest = max(largest, moved / declared)
    assert largest > Fraction(9, 10)  # the bound is reached: nothing is given away


def _multisets(most: int) -> list[tuple[tuple[float, str], ...]]:
    """Every unit with up to so many rows, of three different ones."""
    rows = [(0.0, "a"), (3.5, "b"), (-9.0, "a")]
    return [
        chosen for size in range(most + 1) for chosen in combinations_with_replacement(rows, size)
    ]


@pytest.mark.parametrize("lack", [ROWS, SPEND, GROUPS], ids=lambda lack: lack.kind)
@pytest.mark.parametrize("bounding", ["weights", "truncation"])
def test_no_unit_at_all_moves_a_lesson_by_more(
    lack: MissingLimit, bounding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every unit with up to three rows, beside two others: added or removed, and replaced by every
    other. The bound is that of the exact noise, and it is reached.
    """
    monkeypatch.setattr(
        "sfumato.tables.plan.query_plan.secrets.token_hex", lambda _: "the same for all"
    )
    others = [(1, 3.5, "a"), (1, 0.0, "b"), (2, -9.0, "b")]
    tallies, bounds = [], set()
    for unit in _multisets(3):
        u, spend, city = zip(*others, *((99, *row) for row in unit), strict=True)
        source = pa.table({"u": u, "spend": spend, "city": city})
        with table(source=source, bounding=bounding) as visits:
            plan = plan_lesson(visits.state, lack, sf.Pure(1))
            tallies.append(through_the_door(plan).pieces[0].values.astype(object))
            bounds.add(plan.calibration.bounding.l1(plan.components[0]))
    (bound,) = bounds
    added = [abs(tally - tallies[0]).sum() for tally in tallies]  # the first one is nobody
    replaced = [abs(first - second).sum() for first, second in combinations(tallies, 2)]
    assert max(added) == bound
    assert max(replaced) == 2 * bound


def test_a_lesson_reads_every_row_of_a_person_as_one() -> None:
    with table(
        source=pa.table(
            {"u": [1] * 6 + [2], "spend": [3.0, 3.0, 3.0, 40.0, 40.0, 40.0, 3.0], "city": ["a"] * 7}
        )
    ) as visits:
        plan = plan_lesson(visits.state, SPEND, sf.Pure(1))
        counts = through_the_door(plan).pieces[0].values[0] * float(
            plan.calibration.bounding.step(plan.components[0])
        )
        edges = [float(edge) for edge in plan.components[0].edges]
        assert counts[edges.index(2.0)] == pytest.approx(1.5, abs=1e-4)
        assert counts[edges.index(32.0)] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize(
    ("about", "code"),
    [
        ({"columns": ["nothing"]}, "table.column"),
        ({"columns": ["city"]}, "learn.column"),
        ({"columns": ["u"]}, "learn.column"),
        ({"columns": ["age"]}, "learn.column"),
        ({"groups": "u"}, "learn.groups"),
        ({"groups": []}, "learn.groups"),
        ({"groups": ["nothing"]}, "learn.groups"),
        ({"epsilon": None}, "plan.promise"),
        ({"epsilon": 0}, "number.not-positive"),
    ],
    ids=str,
)
def test_what_cannot_be_learned_is_refused(about: dict[str, Any], code: str) -> None:
    with table(bounds={"age": (0, 100)}) as visits:
        with pytest.raises(sf.Refused) as refused:
            visits.learn(**{"epsilon": 1, **about})
        assert refused.value.code == code
        assert visits.spent.parameters["epsilon"] == 0


def test_without_a_unit_there_is_no_limit_to_learn() -> None:
    with sf.protect(rows(), name="visits", budget=100) as visits:
        assert missing_for(visits.declaration, None, None, again=False) == tuple(
            MissingLimit("bounds", (c,)) for c in ("u", "spend", "age")
        )
        visits.learn(epsilon=60, columns="spend")
        assert visits.declaration.ranges["spend"] == (0, 64)


@pytest.mark.parametrize("lack", [ROWS, SPEND], ids=lambda lack: lack.kind)
@pytest.mark.parametrize("shares", [None, "some"])
def test_what_was_found_is_stored_exactly(lack: MissingLimit, shares: str | None) -> None:
    fractions = (
        None
        if shares is None
        else tuple(Fraction(i, 1000) for i in range(3 if lack.kind == "bounds" else 2))
    )
    value = (Fraction(0), Fraction(1, 2**32)) if lack.kind == "bounds" else (Fraction(8),)
    limit = LearnedLimit(lack, value, fractions)
    assert LearnedLimit.from_json(lack, limit.to_json()) == limit


SKEWED = pa.table(
    {
        "u": np.repeat(np.arange(2000), 1 + (np.arange(2000) % 20 == 0) * 99),
        "spend": np.ones(11900),
        "city": np.where(np.arange(11900) % 2 == 0, "Roma", "Bari"),
    }
)
"""One unit in twenty has a hundred rows, each other one row."""


BY_CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


def aims(monkeypatch: pytest.MonkeyPatch) -> list[Aim]:
    """Collect what limits are learned for."""
    collected: list[Aim] = []

    def run(state: Any, missing: Any, promise: Any, aim: Aim, **options: Any) -> Any:
        collected.append(aim)
        return run_lessons(state, missing, promise, aim, **options)

    monkeypatch.setattr("sfumato.session.request.run_lessons", run)
    monkeypatch.setattr("sfumato.session.protected_table.run_lessons", run)
    return collected


@pytest.mark.parametrize(
    ("text", "rows", "sums"),
    [
        ("SELECT COUNT(*) AS n FROM visits", 1, 1),
        ("SELECT SUM(spend) AS s FROM visits", 4, 1),
        ("SELECT AVG(spend) AS m FROM visits", 30, 1),
        ("SELECT COUNT(*) AS n, AVG(spend) AS m FROM visits", 1, 1),
        ("SELECT age, COUNT(*) AS n FROM visits GROUP BY age", 7, 7),
        ("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", 100, 4),
        ("SELECT age, AVG(spend) AS m FROM visits GROUP BY age", 100, 7),
    ],
)
def test_limits_are_learned_for_the_question(
    text: str, rows: int, sums: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the noise of its numbers, for its groups, and for what rows count for in its columns."""
    collected = aims(monkeypatch)
    with table(keys={"age": list(range(20, 27))}) as visits:
        visits.sql(text, epsilon=1)
    (aim,) = collected
    components = aim.noise / count_noise(sf.Pure(1), 1)
    assert components == pytest.approx(round(components)), "an equal part for each noisy number"
    assert (aim.row_groups, aim.sum_groups, aim.lean) == (rows, sums, True)


def test_a_batch_learns_for_the_widest_of_its_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    collected = aims(monkeypatch)
    with table(keys={"age": list(range(20, 27))}) as visits:
        visits.release_all(
            [
                "SELECT age, COUNT(*) AS n FROM visits GROUP BY age",
                "SELECT SUM(spend) AS s FROM visits",
            ],
            epsilon=1,
        )
    assert [(aim.row_groups, aim.sum_groups) for aim in collected] == [(4, 1)]


def test_the_rule_for_small_groups_gives_a_lower_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    collected = aims(monkeypatch)
    limits = {}
    for learn_for in ("question", "groups"):
        with table(source=SKEWED) as visits:
            visits.sql("SELECT COUNT(*) AS n FROM visits", epsilon=3, learn_for=learn_for)
            limits[learn_for] = visits.declaration.max_rows
        with table(source=SKEWED) as visits:
            visits.learn(epsilon=1, columns=[], learn_for=learn_for)
    assert collected[2] == Aim.for_groups(sf.Approx(3, "1e-9"))
    assert [aim.lean for aim in collected] == [True, True, False, False]
    assert limits["question"] is not None
    assert limits["groups"] is not None
    assert limits["groups"] < 128 <= limits["question"]


def test_bounds_follow_how_far_units_fill_the_limit_of_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """128 rows of which a unit has one, and one in twenty a hundred: about one in twenty."""
    fills = []

    def choose(edges: Any, histogram: Any, aim: Any, fill: float = 1.0) -> Any:
        fills.append(fill)
        return value_bounds(edges, histogram, aim, fill)

    monkeypatch.setattr("sfumato.session.learning.value_bounds", choose)
    with table(source=SKEWED) as visits:
        visits.learn(epsilon=60)
        assert visits.declaration.max_rows == 128
    with table(source=SKEWED, max_rows=8) as visits:
        visits.learn(epsilon=60)
    assert fills == [pytest.approx(1 / 128 * (0.95 + 0.05 * 96.5), rel=0.1), 1.0]


@pytest.mark.parametrize("learn_for", ["table", "", None, 3], ids=str)
def test_what_limits_cannot_be_learned_for_is_refused(learn_for: Any) -> None:
    with table() as visits:
        text = "SELECT COUNT(*) AS n FROM visits"
        for ask in (
            lambda: visits.learn(epsilon=1, learn_for=learn_for),
            lambda: visits.sql(text, epsilon=1, learn_for=learn_for),
            lambda: visits.plan(text, epsilon=1, learn_for=learn_for),
            lambda: visits.release_all([text], epsilon=1, learn_for=learn_for),
        ):
            with pytest.raises(sf.Refused) as refused:
                ask()
            assert refused.value.code == "learn.for"
        assert visits.spent.parameters["epsilon"] == 0


def test_a_lesson_serves_questions_of_every_kind() -> None:
    """One unit in twenty has a hundred rows. A count of the whole table needs them; means by group
    do not, and a limit of 128 would drown them. Each question gets its own limit, for one lesson.
    """
    count = "SELECT COUNT(*) AS n FROM visits"
    means = "SELECT city, AVG(spend) AS m FROM visits GROUP BY city"
    about: dict[str, Any] = {"bounds": {"spend": (0, 2)}, "keys": {"city": ["Roma", "Bari"]}}
    for order in ((count, means), (means, count)):
        with table(source=SKEWED, **about) as visits:
            visits.learn(epsilon=6, columns=[])
            for text in order:
                visits.sql(text, epsilon="0.1")
            assert visits.spent.parameters["epsilon"] == Fraction(31, 5)
            plans: list[Any] = [visits.plan(text, epsilon="0.1") for text in (count, means)]
            limits = [plan.query.rows.declaration.max_rows for plan in plans]
            assert limits[0] == 128
            assert limits[1] < 64
            assert all(visits.sql(text, epsilon="0.1").recalled for text in order)


def test_limits_for_small_groups_stay_if_they_were_asked_for() -> None:
    with table(source=SKEWED) as visits:
        visits.learn(epsilon=60, columns=[], learn_for="groups")
        plan: Any = visits.plan("SELECT COUNT(*) AS n FROM visits", epsilon=60)
        assert plan.query.rows.declaration.max_rows == visits.declaration.max_rows
        assert visits.lessons[("", "max_rows")].histogram is None


def test_choosing_again_draws_nothing_and_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with table(source=SKEWED, keys={"city": ["Roma", "Bari"]}) as visits:
        visits.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        monkeypatch.setattr(type(visits._source.engine), "run", None)
        monkeypatch.setattr("sfumato.noise.geometric.Geometric.sample", None)
        texts = [visits.explain_sql(BY_CITY, epsilon=1) for _ in range(2)]
        assert texts[0] == texts[1]
