"""Sums in pairs of integers against `Fraction`."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.ledger import exact_totals
from sfumato.ledger.exact_totals import (
    ALL,
    fractions,
    minus,
    parse_ratios,
    parts,
    plus,
    ratios,
    read_totals,
    spend,
    within,
    write_totals,
)

long = st.fractions(0, 2, max_denominator=10**200)
limits = st.fractions(0, 2, max_denominator=1000)


@given(st.lists(st.tuples(long, long, limits), min_size=1, max_size=3))
def test_as_fractions_have_it(triples: list[tuple[Fraction, Fraction, Fraction]]) -> None:
    spent, cost, budget = zip(*triples, strict=True)
    for done, true in (
        (plus, [s + c for s, c in zip(spent, cost, strict=True)]),
        (minus, [max(Fraction(0), s - c) for s, c in zip(spent, cost, strict=True)]),
    ):
        totals = fractions(done(ratios(spent), ratios(cost)))
        assert all(
            0 <= f - t < Fraction(1, 2**256) and f.denominator.bit_length() <= 512
            for f, t in zip(totals, true, strict=True)
        )
        assert all(
            f == t for f, t in zip(totals, true, strict=True) if t.denominator.bit_length() <= 512
        )
    after = plus(ratios(spent), ratios(cost))
    over = any(a > b for a, b in zip(fractions(after), budget, strict=True))
    assert within(after, ratios(budget)) is not over
    most = max(a / b if b else Fraction(0) for a, b in zip(fractions(after), budget, strict=True))
    assert parts(after, ratios(budget)) == (ALL + 1 if over else most * ALL // 1)
    assert spend(ratios(spent), ratios(cost), ratios(budget)) == (
        after,
        write_totals(after),
        parts(after, ratios(budget)),
    )


@given(st.lists(long, min_size=1, max_size=3))
def test_what_is_written_is_read(numbers: list[Fraction]) -> None:
    """Whether it was written lately or not; and as the JSON encoder writes it, which old books were
    written with.
    """
    text = write_totals(ratios(numbers))
    assert text == json.dumps([str(number) for number in numbers])
    assert read_totals(text) == ratios(numbers)
    exact_totals._WRITTEN.clear()
    assert read_totals(text) == ratios(numbers) == parse_ratios(json.loads(text))


def test_what_was_written_lately_is_not_kept_for_ever() -> None:
    for n in range(3 * exact_totals._LATELY):
        write_totals(((n, 1),))
    assert len(exact_totals._WRITTEN) <= exact_totals._LATELY


def test_just_beyond_is_beyond() -> None:
    """A total above its limit by less than a part is above it."""
    assert parts(((10**60 + 1, 10**60),), ((1, 1),)) == ALL + 1
    assert parts(((1, 10**300),), ((0, 1),)) == ALL + 1
    assert parts(((0, 1),), ((0, 1),)) == 0


def test_sums_of_different_lengths_are_no_sums() -> None:
    single, pair = ((1, 2),), ((1, 2), (1, 3))
    for several in (
        (single, pair, pair),
        (single, single, pair),
        (pair, single, pair),
        (single, pair, single),
    ):
        with pytest.raises(ValueError, match="argument"):
            spend(*several)
