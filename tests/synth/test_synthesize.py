"""Synthetic tables on the engine: cost, what a neighbour moves, rows from noisy counts alone,
types, refusals, the stored table.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.ledger import BudgetExceeded
from sfumato.synth import SynthesisPlan
from sfumato.synth.possible_rows import PossibleCells, repair_rows
from sfumato.synth.scatter import Scatter
from sfumato.synth.stored_synthesis import unpack_synthesis

from ..refusing import refusal
from .steps import CITIES, Row, Run, invent, protect, run

ROWS = invent(2_000)


def moved(first: Run, second: Run) -> list[float]:
    """Return (what a neighbour moves / σ)², summed over the arrays of each step."""
    return [
        float(
            sum(
                Fraction(int(((a - b) ** 2).sum())) / sigma**2
                for a, b, sigma in zip(before, after, sigmas, strict=True)
            )
        )
        for before, after, sigmas in zip(first.exact, second.exact, first.sigmas, strict=True)
    ]


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("unit", [None, "id"])
def test_neighbours_move_the_steps_by_what_is_charged(relation: str, unit: str | None) -> None:
    """Every step stays within its charge for every pair of neighbours, whatever earlier steps
    published, and the steps that count tables reach it.
    """
    about: dict[str, Any] = {"relation": relation}
    if unit:
        about |= {"unit": unit, "max_rows": 2, "each_row_a_person": False}
    base = [(i, *row[1:]) for i, row in enumerate(invent(60), 10)]
    worlds: list[list[Row]] = [
        [],
        [(1, "Bari", False, 3)],
        [(1, "Roma", True, 4)],
        [(1, "Roma", False, 9)],
        [(1, None, None, None)],
        [(1, "elsewhere", True, 99)],
    ]
    if unit:
        worlds += [
            [(1, "Roma", True, 4), (1, "Roma", True, 4)],
            [(1, "Bari", False, 3), (1, "Roma", True, 4), (1, "Pisa", None, 0)],
            [(1, "Bari", False, 3)] * 3,
        ]
    runs = []
    for world in worlds:
        with protect(base + world, **about) as table:
            plan = sf.plan_synthesis(table, columns=["city", "vip", "age"], promise=sf.ZCDP(40))
            runs.append(run(plan, runs[0].sent if runs else None))
    charged = [
        float(part.to(sf.GDP).mu_squared)
        for part in (plan.noise.columns, plan.noise.scores, plan.noise.tables)
        if part is not None
    ] + [float(plan.noise.certificate.to(sf.GDP).mu_squared)]
    assert len(runs[0].exact) == 4, "pairs were chosen"
    largest = [0.0] * 4
    for (i, before), (j, after) in product(enumerate(runs), enumerate(runs)):
        if i != j and bool(worlds[i] and worlds[j]) is (relation == "replace"):
            largest = list(map(max, largest, moved(before, after)))
    assert all(most <= cost * (1 + 1e-12) for most, cost in zip(largest, charged, strict=True))
    assert largest[0] > 0.99 * charged[0]
    assert largest[2] > 0.99 * charged[2]
    if relation == "add-remove":
        assert largest[1] > charged[1] / 4
        assert largest[3] > charged[3] / 4
    total = plan.mechanism.to(sf.GDP).mu_squared
    assert sum(charged) <= total * (1 + Fraction(1, 10**9))
    assert total <= 80


def test_a_score_against_exact_columns_would_break_the_promise() -> None:
    """The twin: compared with independent columns of the data itself, one row moves a score by more
    than its weight.
    """

    def score(rows: list[Row], goal: Any = None) -> float:
        counts = np.zeros((3, 2))
        for _, city, vip, _ in rows:
            counts[CITIES.index(city), int(vip)] += 1
        model = (
            np.rint(np.outer(counts.sum(1), counts.sum(0)) / counts.sum()) if goal is None else goal
        )
        return float(np.abs(counts - model).sum())

    rows: list[Row] = [(i, "Bari", False, 0) for i in range(12)]
    more: list[Row] = [*rows, (20, "Roma", True, 0)]
    assert abs(score(more) - score(rows)) == 4
    public = np.array([[9, 2], [0, 0], [1, 0]])
    assert abs(score(more, public) - score(rows, public)) == 1
    crowded: list[Row] = [*rows[1:], (20, "Pisa", True, 0)]
    public[0, 0] = 20
    assert abs(score(crowded, public) - score(rows, public)) == 2, "a replaced row moves it by two"


def test_rows_follow_from_noisy_numbers_alone() -> None:
    """What the steps are sent decides their result, on other data, too; a twin that counts the rows
    exactly is seen.
    """

    class ExactTotal(SynthesisPlan):
        def _total(self, one_way: Any) -> float:
            tally = self.source.engine.tally(self.statement)
            return float(self.codes.read(tally).weights.sum())

    with protect(ROWS) as table, protect(ROWS[1:]) as neighbour:
        options: dict[str, Any] = {"columns": ["city", "vip", "age"], "promise": sf.ZCDP(1)}
        plan, second = (sf.plan_synthesis(each, **options) for each in (table, neighbour))
        first = run(plan)
        again = run(second, first.sent)
        assert first.result is not None
        assert again.result is not None
        assert np.array_equal(first.result.codes, again.result.codes)
        assert first.result.total == again.result.total
        assert np.array_equal(first.result.distances, again.result.distances)
        twins = [
            ExactTotal(**{name: getattr(each, name) for name in each.__dataclass_fields__})
            for each in (plan, second)
        ]
        results = [run(each, first.sent[:1] + first.sent[1:]).result for each in twins]
        assert results[0] is not None
        assert results[1] is not None
        assert len(results[0].codes) != len(results[1].codes)


def test_one_charge_and_the_same_table_again_for_nothing(tmp_path: Path) -> None:
    path, options = tmp_path / "visits.ledger", {"columns": ["city", "vip", "age"]}
    about: dict[str, Any] = {"budget": sf.Approx(1.5, "1e-6"), "ledger": path}
    with protect(ROWS, **about) as table:
        first = sf.synthesize(table, epsilon=1, delta="1e-9", **options)
        assert table.spent == first.cost
        assert first.cost <= sf.Approx(1, "1e-9")
        assert sum(line.kind == "charge" for line in table.ledger.history()) == 1
        assert first.to_arrow().column_names == ["city", "vip", "age"]
    with protect(ROWS, **about) as table:
        again = sf.synthesize(table, epsilon=1, delta="1e-9", **options)
        assert table.spent == first.cost
        assert again.receipt == first.receipt
        assert again.to_arrow() == first.to_arrow()
        assert again.certificate().errors() == first.certificate().errors()
        with pytest.raises(BudgetExceeded):
            sf.synthesize(table, epsilon=1, delta="1e-9", rows=10, **options)
        assert table.spent == first.cost
        assert table.plan(table.count(), epsilon=1) is not None


def test_synthetic_counts_are_near_the_data() -> None:
    """With 2,000 rows and ρ = 10 the noise is a few rows: a cell is wrong by 60 rows with a chance
    below 1e-6, and independent columns stay so.
    """
    with protect(ROWS) as table:
        synthetic = sf.synthesize(table, columns=["city", "vip", "age"], promise=sf.ZCDP(10))
        assert abs(len(synthetic) - len(ROWS)) < 60
        rows = synthetic.to_arrow().to_pylist()
        for city, vip in product(CITIES, [False, True]):
            real = sum(row[1] == city and row[2] == vip for row in ROWS)
            assert abs(sum(r["city"] == city and r["vip"] == vip for r in rows) - real) < 60
        assert None not in {row["city"] for row in rows}, "no value is missing in the data"
        assert all(0 <= row["age"] <= 9 for row in rows)


def test_independent_columns_stay_independent() -> None:
    """Two columns that depend on a third, and not on each other, are not tied together: a rounding
    that sorts rows by their parents makes the correlation 0.99.
    """
    random = np.random.default_rng(8)
    size = 20_000
    first = random.random(size)
    table = pa.table(
        {
            "a": np.where(first < 0.5, 0, 1),
            "b": (random.random(size) < 0.3).astype(int),
            "c": (random.random(size) < 0.6).astype(int),
        }
    )
    with sf.protect(
        table,
        name="pairs",
        each_row_a_person=True,
        budget=sf.ZCDP(100),
        keys={name: [0, 1] for name in "abc"},
    ) as protected:
        for rho in ("1/50", 5):
            rows = sf.synthesize(protected, promise=sf.ZCDP(rho)).to_pandas()
            # 20,000 independent rows deviate by 1/√20,000 each: 0.05 is seven of it
            assert abs(rows.corr().to_numpy() - np.eye(3)).max() < 0.05


KINDS = pa.table(
    {
        "who": [1, 2, 3, 4],
        "flag": [True, False, None, True],
        "whole": pa.array([0, 5, None, 99], pa.int32()),
        "real": [0.5, float("nan"), None, 1e300],
        "money": pa.array([Decimal("1.50"), None, Decimal("99.99"), Decimal("-3.00")]),
        "day": pa.array([date(2024, 1, 1), None, date(2024, 2, 29), date(2031, 1, 1)]),
        "word": ["x", "y", None, "z"],
    }
)


def test_columns_of_every_type_come_back_in_their_type() -> None:
    with sf.protect(
        KINDS,
        name="kinds",
        unit="who",
        max_rows=1,
        budget=sf.ZCDP(10**6),
        bounds={"whole": (0, 10), "real": (0, 1), "money": (0, 100)},
        keys={"word": ["x", "y"]},
    ) as table:
        synthetic = sf.synthesize(
            table,
            promise=sf.ZCDP(10**5),
            rows=400,
            bins={"day": [date(2024, 1, 1), date(2024, 2, 1), date(2024, 3, 1)], "money": 4},
        )
        rows = synthetic.to_arrow()
        assert rows.num_rows == 400
        expected = KINDS.drop_columns("who").schema
        assert rows.schema.names == expected.names
        for name in ("flag", "whole", "real", "money", "day", "word"):
            assert rows.schema.field(name).type == expected.field(name).type
            missing = 100 * {"real": 2, "word": 2}.get(name, 1)
            assert abs(rows.column(name).null_count - missing) < 10, "noise of a few hundredths"
        values = rows.to_pydict()
        usual = sum(value in (None, 0, 5, 10) for value in values["whole"])
        assert usual > 390, "99 is clipped to its bound"
        assert {None, "x", "y"} == set(values["word"]), "z is no public key"
        assert all(x is None or 0 <= x <= 1 for x in values["real"])
        assert all(x is None or 0 <= x <= 100 for x in values["money"])
        assert all(x is None or date(2024, 1, 1) <= x < date(2024, 3, 1) for x in values["day"])


def test_conditions_bound_dates_and_choose_rows() -> None:
    with sf.protect(KINDS, name="kinds", unit="who", max_rows=1, budget=sf.ZCDP(10**6)) as table:
        rows = table.where("day BETWEEN DATE '2024-01-01' AND DATE '2024-03-31'")
        plan = sf.plan_synthesis(rows, columns=["day"], promise=sf.ZCDP(10**5))
        synthetic = plan.release()
        assert len(synthetic) == 2
        assert set(synthetic.to_arrow().column("day").to_pylist()) == {
            date(2024, 1, 1),
            date(2024, 2, 29),
        }
        assert "day" in plan.text
        assert "receipt" in repr(synthetic)


def test_what_cannot_occur_does_not() -> None:
    """With so much noise impossible cells would be full; hierarchies have the same effect."""
    places = sf.hierarchy("state", "town", places={"A": ["x", "y"], "B": ["z"]})
    random = np.random.default_rng(1)
    paths = random.choice(3, 300)
    towns = pa.table(
        {
            "state": [places.paths[i][0] for i in paths],
            "town": [places.paths[i][1] for i in paths],
            "vip": random.random(300) < 0.5,
        }
    )
    with sf.protect(
        towns,
        name="towns",
        each_row_a_person=True,
        budget=sf.ZCDP(9),
        keys={("state", "town"): places},
    ) as table:
        options: dict[str, Any] = {"rows": 2_000, "promise": sf.ZCDP("1/1000")}
        rows = (
            sf.synthesize(
                table,
                impossible=[{"town": "x", "vip": True}, {"vip": None, "state": "A"}],
                **options,
            )
            .to_arrow()
            .to_pylist()
        )
        assert {(row["state"], row["town"]) for row in rows} <= {*places.paths, (None, None)}
        assert not [row for row in rows if row["town"] == "x" and row["vip"]]
        assert not [row for row in rows if row["state"] == "A" and row["vip"] is None]
        assert len(rows) == 2_000
        plan, free = (
            sf.plan_synthesis(table, impossible=cells, **options)
            for cells in ([{"town": "x", "vip": True}], ())
        )
        assert plan.question_key != free.question_key
        for cells in ("x", {"town": "x"}, [{"town": "x"}], [{"town": "q", "vip": True}], [3]):
            assert refusal(
                lambda cells=cells: sf.plan_synthesis(table, impossible=cells, **options),
                "synth.impossible",
            )


def test_repairs_end_where_rules_leave_little() -> None:
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.uint16).repeat(5, axis=0)
    diagonal = PossibleCells((0, 1), np.eye(2, dtype=bool))
    repaired = repair_rows(rows, [diagonal], Scatter(0))
    assert (repaired[:, 0] == repaired[:, 1]).all()
    assert np.array_equal(repaired[:5], rows[:5])
    corner = PossibleCells((0, 1), np.array([[False, False], [False, True]]))
    assert (repair_rows(rows[:5], [corner], Scatter(0)) == 1).all(), "no row was possible"
    nothing = PossibleCells((0, 1), np.zeros((2, 2), dtype=bool))
    assert np.array_equal(repair_rows(rows, [nothing], Scatter(0)), rows)


def test_one_column_has_no_pairs() -> None:
    with protect(ROWS) as table:
        plan = sf.plan_synthesis(table, columns=["city"], promise=sf.ZCDP(1))
        assert len(plan.mechanism.parts) == 2
        assert [each.columns for each in plan.release().certificate().errors()] == [("city",)]


def test_refusals_come_before_any_charge() -> None:
    with protect(ROWS) as table:
        cheap: dict[str, Any] = {"promise": sf.ZCDP(1), "columns": ["city", "age"]}

        def ask(**options: Any) -> Any:
            return lambda: sf.synthesize(table, **cheap | options)

        assert refusal(ask(columns=["town"]), "synth.columns")
        assert refusal(ask(columns=["city", "city"]), "synth.columns")
        assert refusal(ask(columns="city"), "synth.columns")
        assert refusal(ask(columns=["id"]), "synth.cells")
        assert refusal(ask(bins={"age": 0}), "synth.bins")
        assert refusal(ask(bins={"age": [3, 2]}), "synth.bins")
        assert refusal(ask(bins={"age": [date(2024, 1, 1), date(2025, 1, 1)]}), "synth.bins")
        assert refusal(ask(bins={"vip": 3}), "synth.bins")
        assert refusal(ask(rows=0), "synth.rows")
        assert refusal(ask(rows=2.5), "synth.rows")
        assert refusal(ask(promise=sf.Pure(1)), "synth.cost")
        assert refusal(lambda: sf.synthesize(cast("Any", ROWS), epsilon=1), "synth.table")
        assert all(line.kind == "open" for line in table.ledger.history())
    with protect(ROWS, budget=sf.Pure(3)) as table:
        assert refusal(
            lambda: sf.synthesize(table, columns=["city"], epsilon=1, delta="1e-9"), "synth.cost"
        )


def test_a_damaged_record_is_refused() -> None:
    with protect(ROWS) as table:
        plan = sf.plan_synthesis(table, columns=["city", "vip"], promise=sf.ZCDP(1))
        plan.release()
        recalled = table.ledger.recall(plan.question_key)
        assert recalled is not None
        assert len(unpack_synthesis(recalled.answer, plan.codes.sizes, 3)[0].codes) > 0
        assert refusal(lambda: plan.finish(recalled.answer[:-9]), "synth.stored")
        assert refusal(lambda: plan.finish(b"{}"), "synth.stored")


def test_the_card_says_what_was_measured() -> None:
    with protect(ROWS) as table:
        synthetic = sf.synthesize(table, columns=["city", "vip"], promise=sf.ZCDP(1))
        card: dict[str, Any] = synthetic.card()
        assert card["rows"] == len(synthetic)
        assert card["measured"].keys() == {"city × vip"}
        assert len(card["certificate"]) == 3
        assert "city" in str(synthetic.certificate())
        assert refusal(lambda: synthetic.certificate().of("city", "city"), "synth.pair")
        assert refusal(lambda: synthetic.certificate().of("town"), "synth.pair")
        pair = synthetic.certificate().of("vip", "city")
        assert pair.columns == ("city", "vip")
        assert synthetic.plot().get_suptitle() == "Error of each pair of columns"
