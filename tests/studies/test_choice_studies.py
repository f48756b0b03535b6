"""The auction and the letters."""

from __future__ import annotations

import pytest

from sfumato.studies import Verdict, choice_studies, study


def test_S_061_the_auction() -> None:
    """Shares by the binomial law, false alarms at most 10⁻⁶ each."""
    result = study("auction").run(50, 1)
    assert {row.verdict for row in result.rows} == {Verdict.AGREES}
    chances = [row.printed_value for row in result.rows if row.cell.startswith("chance")]
    assert chances == [
        pytest.approx(p, abs=1e-9)
        for p in (0.30034502828, 0.21603959680, 0.30084270013, 0.18277267478)
    ]
    assert result.comparisons[0].saved > 0


def test_S_180_the_letters() -> None:
    rows = {row.cell: row for row in study("letters").run(50, 1).rows}
    assert rows["f(D), the maximizer"].ours == "b, c, e, j, t"
    assert {row.verdict for cell, row in rows.items() if not cell.startswith("promise")} == {
        Verdict.AGREES
    }
    assert (
        rows["promise of the package's mechanism"].verdict,
        rows["promise of the package's mechanism"].errata,
    ) == (Verdict.UNSAFE, ("E-20",))
    assert (
        rows["promise of the sampled sensitivity"].verdict,
        rows["promise of the sampled sensitivity"].errata,
    ) == (Verdict.UNSAFE, ("E-38",))


def test_names_are_seeded() -> None:
    assert choice_studies.names(1)(3) == choice_studies.names(1)(3) != choice_studies.names(2)(3)
