"""Tables 3.1 and 3.2 and figure 3.1: what is printed is tried, line by line."""

from __future__ import annotations

import pytest

from sfumato.studies import Verdict, study
from sfumato.studies import renyi_tables as tables


def test_table_3_1_line_by_line() -> None:
    rows = {
        row.cell.partition(":")[0] + (" DP" if "ε-DP" in row.cell else ""): row
        for row in study("table-3.1").run(3, 1).rows
    }
    wrong = {name for name, row in rows.items() if row.verdict is Verdict.MISPRINT}
    assert wrong == {"row 1, left", "row 2", "row 5 DP"}
    assert {row.errata for row in rows.values()} == {(), ("E-07",)}
    assert rows["row 1, left"].printed == "4.966 · 10⁻⁴ ≤ 3.167 · 10⁻⁵"


def test_table_3_2_is_right_and_a_wrong_formula_would_be_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert {row.verdict for row in study("table-3.2").run(3, 1).rows} == {Verdict.AGREES}
    monkeypatch.setitem(tables.FORMULAS, "Gaussian", lambda a: a / tables.SIGMA**2)
    assert [
        row.cell for row in study("table-3.2").run(3, 1).rows if row.verdict is Verdict.MISPRINT
    ] == [f"Gaussian, α = {a}" for a in tables.ORDERS]


def test_E_24_the_curves_do_not_stay_below_one() -> None:
    result = study("figure-3.1").run(3, 1)
    verdicts = {row.cell.partition(":")[0]: row.verdict for row in result.rows}
    assert verdicts["Laplace, λ = 2"] is Verdict.AGREES
    assert {verdicts[name] for name in verdicts if name.startswith("Gaussian")} == {
        Verdict.MISPRINT
    }
    assert "E-24" in result.sentence
