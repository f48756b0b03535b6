"""Figures 4.2 and 4.3."""

from __future__ import annotations

import pytest

from sfumato.studies import Verdict, curve_figures, curves, study


def test_figure_4_2_is_as_printed() -> None:
    result = study("figure-4.2").run(3, 1)
    assert {row.verdict for row in result.rows} == {Verdict.AGREES}
    assert "figure 4.2" in result.figures


def test_figure_4_3_has_six_panels_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    small = tuple(curves._run(100, 1, repetition) for repetition in range(3))
    monkeypatch.setattr(curve_figures, "runs", lambda *_: dict.fromkeys(curves.SIZES, small))
    result = study("figure-4.3").run(3, 1)
    assert [len(figure.axes) for figure in result.figures.values()] == [6, 6]
    assert {row.verdict for row in result.rows} == {Verdict.AGREES}
    assert "E-70" in result.sentence
