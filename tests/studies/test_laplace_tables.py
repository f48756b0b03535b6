"""Tables 4.1–4.4: every cell has its verdict, and every verdict its reason."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from sfumato.studies import Verdict, study
from sfumato.studies import laplace_tables as tables
from sfumato.studies.means import correct_row
from sfumato.studies.repairs import Repair

from .verdicts import settled_verdict

R = 12


def cells(name: str) -> dict[str, tuple[Verdict, tuple[str, ...]]]:
    return {
        row.cell.replace("\u202f", ""): (settled_verdict(row), row.errata)
        for row in study(name).run(R, 1).rows
    }


@pytest.mark.parametrize("epsilon", [1, 2, 5])
def test_every_cell_of_tables_4_1_to_4_3(epsilon: int) -> None:
    """False alarms at most 10⁻⁶ per cell."""
    result = cells(tables.TABLES[epsilon].replace(" ", "-"))
    misprints = {"n = 10000, private answer", "n = 100, f(D)"} if epsilon == 2 else set()
    for cell, (verdict, errata) in result.items():
        if cell.endswith("promise to a row"):
            assert (verdict, errata) == (Verdict.UNSAFE, ("E-04",)), cell
        elif cell in misprints:
            assert (verdict, errata) == (Verdict.MISPRINT, ("E-33",)), cell
        else:
            assert (verdict, errata) == (Verdict.AGREES, ()), cell
    assert len(result) == 9


def test_every_cell_of_table_4_4_agrees() -> None:
    assert cells("table-4.4") == {
        f"n = {n}, ε = {e}": (Verdict.AGREES, ())
        for n in (1_000_000, 10_000, 100)
        for e in (1, 2, 5)
    }


@pytest.mark.parametrize("epsilon", [1, 2, 5])
def test_E_04_the_promise_to_a_row_is_as_many_times_worse_as_there_are_columns(
    epsilon: int,
) -> None:
    rows = [tables._promise(shape, epsilon) for shape in tables.SHAPES]
    assert [row.value for row in rows] == [
        pytest.approx(epsilon * columns, abs=1e-9) for columns in (1000, 100, 10)
    ]


def test_E_33_the_right_values_and_why() -> None:
    ten_thousand, hundred = tables.judgements()[10_000], tables.judgements()[100]
    assert isinstance(ten_thousand, Repair)
    assert isinstance(hundred, Repair)
    low, high = ten_thousand.cells["private ε = 2"]
    assert 0.50135 < low < high < 0.50155
    assert ten_thousand.excluded == (("error ε = 2",),)  # noise of 9.1e-3 at a scale of 5e-5
    assert math.exp(-0.0091 / 5e-5) < 1e-79
    low, high = hundred.cells["f ε = 2"]
    assert 0.52335 <= low < high < 0.5235
    assert tables.judgements()[1_000_000] == Repair(cells={})


def test_no_verdict_is_written_down() -> None:
    """With 5.016 for 5.106 and 5.234 for 5.237 nothing is wrong; with another slip, another cell
    is.
    """
    repaired = tables.ANSWERS | {
        (10_000, 2): ("5.015e-1", "5.015e-1"),
        (100, 2): ("5.254e-1", "5.234e-1"),
    }
    assert all(
        result == Repair(cells={})
        for result in replace(tables.PRINTED, answers=repaired).judgements().values()
    )
    result = replace(
        tables.PRINTED, answers=repaired | {(100, 5): ("5.843e-1", "5.234e-1")}
    ).judgements()[100]
    assert result is not None
    assert set(result.cells) == {"private ε = 5"}


def test_the_right_way_saves_what_the_staircase_saves() -> None:
    """e^(ε/2)/(e^ε − 1) to 1/ε (Geng & Viswanath 2014)."""
    for epsilon in (1, 2, 5):
        entry, row = tables._right(epsilon)[:2]
        assert entry.right / entry.faithful == pytest.approx(
            epsilon * math.exp(epsilon / 2) / math.expm1(epsilon), rel=1e-3
        )
        assert row.right / row.faithful == pytest.approx(
            1000 * epsilon * math.exp(epsilon / 2) / math.expm1(epsilon), rel=1e-3
        )


def test_a_row_without_a_misprint_is_left_alone() -> None:
    row = study("table-4.4").run(R, 1).rows[0]
    assert correct_row(row, "error ε = 1", None, ("E-33",), {}) is row


def test_E_75_stands_beside_the_tables() -> None:
    assert "E-75" in study("table-4.1").run(R, 1).sentence
