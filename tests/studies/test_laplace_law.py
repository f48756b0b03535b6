"""Figure 2.1, and the Laplace mechanism that is not one."""

from __future__ import annotations

import pytest

from sfumato.studies import Verdict, study


def test_figure_2_1_is_as_printed() -> None:
    """Means of |W| by the gamma law, false alarms at most 10⁻⁶ each."""
    result = study("figure-2.1").run(30, 1)
    assert {row.verdict for row in result.rows} == {Verdict.AGREES}
    assert [row.value for row in result.rows if "density" in row.cell] == [0.5, 0.25, 0.125, 0.125]
    assert [b.saved for b in result.comparisons] == [
        pytest.approx(s, abs=1e-3) for s in (0.0793, 0.0206, 0.0052)
    ]


def test_E_40_the_printed_density_keeps_half_of_epsilon() -> None:
    result = study("laplace-as-exponential").run(30, 1)
    claim, mean = result.rows
    assert (claim.verdict, claim.errata) == (Verdict.MISPRINT, ("E-40",))
    assert "ε = 0.5" in claim.ours
    assert mean.verdict is Verdict.AGREES
    assert "E-40" in result.sentence
    assert result.comparisons[0].saved == pytest.approx(0.5)
