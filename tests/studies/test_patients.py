"""A million patients: printed constants, and whether the intervals hold."""

from __future__ import annotations

import pytest

from sfumato.studies import Verdict, patients, study

R = 3


def test_S_044_and_E_15() -> None:
    """The right interval holds in nearly all of three runs: missing all three has a chance of
    1.25·10⁻⁴, which the band allows.
    """
    rows = {row.cell: row for row in study("patients-response").run(R, 1).rows}
    wrong = {cell for cell, row in rows.items() if row.verdict is Verdict.MISPRINT}
    assert {"√(ln(2/β)/2), over 1000", "lower end: 2.16·r − …", "upper end: 2.16·r − …"} <= wrong
    assert {rows[cell].errata for cell in wrong} == {("E-15",)}
    assert rows["lower end: 2.16·r − …"].value == pytest.approx(0.5849155753)
    assert rows["upper end: 2.16·r − …"].value == pytest.approx(0.5790378385)
    assert rows["the right interval holds the truth"].verdict is Verdict.AGREES


def test_S_049_and_E_16() -> None:
    rows = {row.cell: row for row in study("patients-laplace").run(R, 1).rows}
    assert (rows["radius"].verdict, rows["radius"].errata) == (Verdict.MISPRINT, ("E-16",))
    assert rows["radius"].value == pytest.approx(2.995732274e-06)
    assert rows["ln(1/β)"].verdict is Verdict.AGREES


def test_an_interval_that_never_holds_is_seen_in_twenty_runs() -> None:
    assert patients._coverage("x", [False] * 20, ("E-15",)).verdict is Verdict.MISPRINT
    assert patients._coverage("x", [True] * 19 + [False], ()).verdict is Verdict.AGREES
