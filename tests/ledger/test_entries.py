"""The chain, and the one rule of what an entry does."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.guarantees.stored_guarantee import record as guarantee_record
from sfumato.ledger.entries import (
    Account,
    DatasetState,
    apply,
    canonical,
    digest,
    genesis,
    new_account,
    numbers,
)
from sfumato.ledger.exact_totals import fractions, parse_ratios, ratios

OPEN: dict[str, Any] = {
    "kind": "open",
    "dataset": "visits",
    "header": {"budget": guarantee_record(sf.Pure(1))},
}


def state(*bodies: dict[str, Any]) -> DatasetState:
    datasets: dict[str, DatasetState] = {}
    for number, body in enumerate((OPEN, *bodies), 1):
        apply(datasets, number, {"dataset": "visits", **body})
    return datasets["visits"]


def test_one_text_for_one_body() -> None:
    assert canonical({"b": 1, "a": "ü"}) == canonical({"a": "ü", "b": 1}) == '{"a":"ü","b":1}'


def test_the_chain_is_sha_256() -> None:
    """As `printf 'previous\\ntext' | sha256sum` says."""
    assert (
        genesis("b") == "a89204b0a3d21175b5755ce3f483836c57c831959d90acf82e35d6c3b26bdc5b"
    )  # of "sfumato ledger", a line feed, "b"
    assert (
        digest("", "") == "01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b"
    )  # of a line feed


def test_what_entries_do() -> None:
    after = state(
        {"kind": "share", "share": "alice", "budget": guarantee_record(sf.Pure(1))},
        {"kind": "charge", "share": None, "cost": ["1/4"]},
        {"kind": "reserve", "share": "alice", "cost": ["1/8"]},
        {"kind": "reserve", "share": "alice", "cost": ["1/8"]},
        {"kind": "use", "share": "alice", "entry": 4},
        {"kind": "release", "share": "alice", "entry": 5, "cost": ["1/8"]},
        {"kind": "answer", "share": None, "entry": 3, "question": "q", "answer": "f"},
        {"kind": "recall", "share": "alice", "entry": 3, "question": "q", "cost": ["1/4"]},
        {"kind": "amend", "share": None, "budget": guarantee_record(sf.Pure(2))},
        {"kind": "reprice", "share": None, "spent": {"": ["1/5"]}},
    )
    assert after.accounts[""] == Account.of(sf.Pure(2), (Fraction(1, 5),))
    assert after.accounts["alice"].spent == (Fraction(3, 8),)
    assert [r.state for r in after.reservations.values()] == ["use", "release"]
    assert after.shown == {"q": ("", "alice")}
    assert after.answers == {"q": (3, "f")}


@pytest.mark.parametrize(
    "bodies",
    [
        [OPEN],
        [{"kind": "share", "share": "a", "budget": guarantee_record(sf.Pure(1))}] * 2,
        [{"kind": "charge", "share": "nobody", "cost": ["1"]}],
        [{"kind": "charge", "share": None, "cost": ["1", "1"]}],
        [{"kind": "release", "share": None, "entry": 1, "cost": ["1"]}],
        [
            {"kind": "reserve", "share": None, "cost": ["1"]},
            {"kind": "release", "share": None, "entry": 2, "cost": ["2"]},
        ],
        [
            {"kind": "reserve", "share": None, "cost": ["1"]},
            *[{"kind": "use", "share": None, "entry": 2}] * 2,
        ],
        [
            {"kind": "reserve", "share": None, "cost": ["1"]},
            {"kind": "use", "share": None, "entry": 2},
            {"kind": "release", "share": None, "entry": 2},
        ],
        [{"kind": "reprice", "share": None, "spent": {"": ["1"]}}],
        [{"kind": "refund", "share": None}],
        [{"kind": "amend", "share": None, "budget": guarantee_record(sf.Pure(1)) | {"version": 9}}],
        [{"dataset": "bills", "kind": "charge", "share": None, "cost": ["1"]}],
    ],
)
def test_what_the_book_never_writes(bodies: list[dict[str, Any]]) -> None:
    with pytest.raises((KeyError, ValueError)):
        state(*bodies)


@given(st.lists(st.fractions(0, 1, max_denominator=10**80), max_size=20))
def test_sums_are_exact_or_rounded_up(costs: list[Fraction]) -> None:
    account, true = new_account(sf.Pure(100)), Fraction(0)
    for cost in costs:
        account, true = account.plus(ratios((cost,))), true + cost
        (spent,) = account.spent
        assert 0 <= spent - true < Fraction(21, 2**256)
        assert spent == true or true.denominator.bit_length() > 512
        assert spent.denominator.bit_length() <= 512


@given(st.fractions(0, 1), st.fractions(0, 1, max_denominator=10**200))
def test_giving_back_never_gives_more(charged: Fraction, lent: Fraction) -> None:
    account = (
        new_account(sf.Pure(100))
        .plus(ratios((charged,)))
        .plus(ratios((lent,)))
        .minus(ratios((lent,)))
    )
    assert charged <= account.spent[0] < charged + Fraction(3, 2**256)


def test_fits_is_compared_number_by_number() -> None:
    budget = sf.Approx(1, "1e-6")
    assert Account.of(budget, fractions(parse_ratios(["1", "1/1000000"]))).fits
    assert not Account.of(budget, fractions(parse_ratios(["1/2", "1/999999"]))).fits
    assert numbers(fractions(parse_ratios(["1/3", "0"]))) == ["1/3", "0"]


def test_an_account_needs_a_filter() -> None:
    with pytest.raises(ValueError, match="no filter"):
        new_account(sf.RandomDP(sf.Pure(1), gamma="0.1", over="the data"))
