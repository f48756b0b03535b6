"""Verdicts follow from numbers, and change with them."""

from __future__ import annotations

import pytest

from sfumato.studies import Comparison, StudyResult, StudyRow, Verdict
from sfumato.studies.printed import Printed


def test_a_drawn_number_agrees_in_its_band_and_differs_outside() -> None:
    draws = [1.0, 2.0, 3.0]
    assert StudyRow.drawn("x", Printed("4.0"), draws, (0.5, 4.0)).verdict is Verdict.AGREES
    assert StudyRow.drawn("x", Printed("5.0"), draws, (0.5, 4.0)).verdict is Verdict.DIFFERS
    assert StudyRow.averaged("x", "2", 2.0, draws, (1.9, 2.1)).verdict is Verdict.AGREES
    assert StudyRow.averaged("x", "2", 2.0, draws, (2.05, 2.1)).verdict is Verdict.DIFFERS
    assert StudyRow.frequency("x", 0.5, 5_100, 10_000).verdict is Verdict.AGREES
    assert StudyRow.frequency("x", 0.5, 5_400, 10_000).verdict is Verdict.DIFFERS


def test_an_exact_number_is_right_or_a_misprint() -> None:
    right, wrong = (
        StudyRow.exact("x", Printed(text), 0.42424, errata=("E-36",), if_wrong="because")
        for text in ("0.42", "0.43")
    )
    assert (right.verdict, right.errata, right.sentence) == (Verdict.AGREES, (), "")
    assert (wrong.verdict, wrong.errata, wrong.sentence) == (Verdict.MISPRINT, ("E-36",), "because")


def test_claims_and_promises() -> None:
    assert [
        StudyRow.claim("x", "", "", holds=holds, errata=("E-07",)).verdict
        for holds in (True, False)
    ] == [Verdict.AGREES, Verdict.MISPRINT]
    promises = [
        StudyRow.promise("x", "", "", is_kept=is_kept, value=1.0, errata=("E-04",), sentence="")
        for is_kept in (True, False)
    ]
    assert [(p.verdict, p.errata) for p in promises] == [
        (Verdict.AGREES, ()),
        (Verdict.UNSAFE, ("E-04",)),
    ]


def test_counts_and_savings() -> None:
    rows = tuple(StudyRow.claim("x", "", "", holds=holds) for holds in (True, True, False))
    result = StudyResult(rows=rows, sentence="")
    assert [result.count(v) for v in Verdict] == [2, 0, 1, 0, 0]
    assert Comparison(what="", measure="", faithful=4.0, right=1.0).saved == pytest.approx(0.75)


def test_beyond_99_per_cent_a_number_is_unlikely() -> None:
    """In the band of 1 − 10⁻⁶, but where one run of two hundred lies; the neighbour is not."""
    draws = [1.0, 1.1, 0.9, 1.05, 0.95]

    def judged(below: float | None) -> Verdict:
        row = StudyRow.drawn("a cell", Printed("1.00"), draws, (0.1, 9.0), below)
        assert row.is_printed
        assert row.percentile is not None
        return row.verdict

    assert judged(0.9951) == judged(0.0049) == Verdict.UNLIKELY
    assert judged(0.9949) == judged(0.0051) == judged(None) == Verdict.AGREES
    outside = StudyRow.drawn("a cell", Printed("1.00"), draws, (2.0, 9.0), 0.999)
    assert outside.verdict == Verdict.DIFFERS


def test_what_the_sources_do_not_print_is_marked() -> None:
    exact = StudyRow.exact("a cell", Printed("0.5"), 0.5)
    assert exact.is_printed
    assert not exact.computed().is_printed
    assert not StudyRow.frequency("a cell", 0.5, 50, 100).is_printed
    assert not StudyRow.averaged("a cell", "b", 1.0, [1.0, 1.1], (0.5, 1.5)).is_printed
    assert StudyResult(rows=(exact, exact.computed()), sentence="").printed == 1
