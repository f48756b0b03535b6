"""Figure 4.1: heights by their formula, and what √d/n is the sensitivity of."""

from __future__ import annotations

import pytest

from sfumato.studies import Verdict, study

RESULT = study("figure-4.1").run(12, 1)


def test_every_height_agrees() -> None:
    """False alarms at most 10⁻⁶ per cell, by the concentration of Lipschitz functions."""
    heights = {row.cell.replace("\u202f", ""): row for row in RESULT.rows if row.band is not None}
    assert {row.verdict for row in heights.values()} == {Verdict.AGREES}
    result = [heights[f"n = 100, ε = 1, d = {d}"].printed_value for d in (1, 10, 50)]
    assert result == [
        pytest.approx(x, abs=1e-9)
        for x in (0.03465701195394193, 0.10959509467013903, 0.2450620816829558)
    ]


def test_E_05_changed_entries_move_the_mean_by_d_over_n() -> None:
    rows = [row for row in RESULT.rows if "entries changed" in row.cell]
    assert [row.value for row in rows] == [50 / 5000, 50 / 500, 50 / 100]
    assert {(row.verdict, row.errata) for row in rows} == {(Verdict.UNSAFE, ("E-05",))}
    assert "E-05" in RESULT.sentence
