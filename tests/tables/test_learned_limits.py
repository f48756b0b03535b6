"""Marks of what was learned: said, stored, and only beside limits that are there."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.tables.declare.declaration import Declaration, declare
from sfumato.tables.declare.learned_limits import (
    DEFAULT,
    FAR,
    NOT_LEARNED,
    REST,
    LearnedLimits,
    check_learned,
    read_shares,
    round_share,
    round_share_down,
    round_share_up,
    shares_text,
)

F = Fraction
WIDER = "; bounds twice as wide would likely add more noise than they save)"
MARKS = LearnedLimits(
    (("max_rows", (F("0.03"), F("0.01"), F(16), F("0.02"), F("0.05"))), ("max_groups", None)),
    (("age", None), ("spend", (F(0), F("0.012"), F("0.04"), F(0), F(256)))),
)


def declared(learned: LearnedLimits | None = MARKS) -> Declaration:
    types = {"u": "int64", "spend": "float", "age": "int32"}
    return declare(
        name="t",
        unit="u",
        types=types,
        bounds={"spend": (0, 64), "age": (0, 1)},
        max_rows=4,
        max_groups=2,
        learned=learned,
    )


def test_a_file_keeps_the_marks() -> None:
    text = declared().to_toml()
    assert (
        'learned = { max_rows = ["0.03", "0.01", "16.0", "0.02", "0.05"], max_groups = [] }' in text
    )
    assert 'learned = ["0.0", "0.012", "0.04", "0.0", "256.0"]' in text
    assert Declaration.from_toml(text) == declared()
    assert declare(**declared().arguments) == declared()
    assert "learned" not in declared(None).to_toml()
    assert Declaration.from_toml(declared(None).to_toml()).learned == NOT_LEARNED


def test_what_is_said() -> None:
    assert MARKS.limit_note("max_rows") == (
        " (learned; about 3 % ± 1 % of those with up to 16 rows have more, with at most 5 % of "
        "their rows beyond the limit; twice the limit would likely add more noise than it saves)"
    )
    assert MARKS.limit_note("max_groups") == f" ({DEFAULT})"
    assert (
        MARKS.bounds_note("spend")
        == " (learned; at most about 5.2 % of rows between 0 and 256 are outside, on each side"
        + WIDER
    )
    assert MARKS.bounds_note("age") == f" ({DEFAULT})"
    assert (
        NOT_LEARNED.limit_note("max_rows"),
        NOT_LEARNED.bounds_note("spend"),
        MARKS.bounds_note(""),
    ) == (
        "",
        "",
        "",
    )
    far = F(2) ** 62
    small = NOT_LEARNED.with_bounds("x", (F("0.004"), F("0.6"), F("0.002"), -far, far)).with_limit(
        "max_groups", (F(0), F("0.1"), F(8))
    )
    assert small.bounds_note("x") == " (learned; about 60 % ± 0.2 % of all rows are above" + WIDER
    assert (
        small.limit_note("max_groups")
        == " (learned; at most about 10 % of those with up to 8 groups have more)"
    )
    both = NOT_LEARNED.with_bounds("x", (F("0.1"), F("0.2"), F("0.05"), F(-4), far)).with_limit(
        "max_rows", (F("0.2"), F("0.003"), far)
    )
    assert both.bounds_note("x") == (
        " (learned; about 10 % ± 5 % of rows from -4 on are below; about 20 % ± 5 % of "
        "rows from -4 on are above" + WIDER
    )
    assert both.limit_note("max_rows") == " (learned; about 20 % ± 0.3 % of them have more)"
    up_to = NOT_LEARNED.with_bounds("x", (F(0), F("0.2"), F("0.05"), -far, F(4))).with_limit(
        "max_rows", (F(0), F("0.003"), F(8))
    )
    assert up_to.bounds_note("x") == " (learned; about 20 % ± 5 % of rows up to 4 are above" + WIDER
    assert up_to.limit_note("max_rows") == " (learned)", "too little to be worth a word"
    assert not NOT_LEARNED
    assert small


def test_records_of_older_versions_tell_no_shares() -> None:
    """Theirs were shares of a few cells, with an error that was too small. They are read, and
    written again as they were.
    """
    text = (
        declared()
        .to_toml()
        .replace('["0.03", "0.01", "16.0", "0.02", "0.05"]', '["0.03", "0.01"]')
        .replace('["0.0", "0.012", "0.04", "0.0", "256.0"]', '["0.0", "0.012", "0.04"]')
    )
    old = Declaration.from_toml(text)
    assert old.to_toml() == text
    assert old.learned.limit_note("max_rows") == old.learned.bounds_note("spend") == " (learned)"


def test_what_is_printed_is_what_is_known() -> None:
    """1.4 % ± 0.4 % was printed as 1 % ± 0.4 %, which leaves out a true share of 1.5 %."""

    def describe_limit(share: str, off: str) -> str:
        return NOT_LEARNED.with_limit("max_rows", (F(share), F(off), F(16))).limit_note("max_rows")

    assert (
        describe_limit("0.014", "0.004")
        == " (learned; about 1.4 % ± 0.4 % of those with up to 16 rows have more)"
    )
    assert (
        describe_limit("0.014", "0.015")
        == " (learned; at most about 2.9 % of those with up to 16 rows have more)"
    )
    assert (
        describe_limit("0.2", "0.29")
        == " (learned; at most about 49 % of those with up to 16 rows have more)"
    )
    assert describe_limit("0.2", "0.3") == " (learned)", "half of them says nothing"
    for share in (0.0, 0.00001, 0.4567, 1.0, 2.0):
        assert min(share, 1.0) <= round_share_up(share) <= min(share + 0.001, 1.0)


def test_marks_are_kept_in_order_and_written_anew() -> None:
    learned = (
        NOT_LEARNED.with_limit("max_groups", None)
        .with_limit("max_rows", None)
        .with_bounds("b", None)
        .with_bounds("a", None)
    )
    assert learned == LearnedLimits(
        (("max_rows", None), ("max_groups", None)), (("a", None), ("b", None))
    )
    assert dict(learned.with_limit("max_rows", (F(1), F(0))).limits)["max_rows"] == (1, 0)


@pytest.mark.parametrize(
    "learned",
    [
        NOT_LEARNED.with_limit("max_groups", None),
        NOT_LEARNED.with_bounds("u", None),
        "learned",
        {"max_rows": 3},
    ],
    ids=str,
)
def test_a_mark_stands_beside_a_limit(learned: Any) -> None:
    with pytest.raises(sf.Refused) as refused:
        check_learned(learned, {"spend": (0, 1)}, {"max_rows": 3, "max_groups": None})
    assert refused.value.code == "table.learned"


@pytest.mark.parametrize(
    "stored", ["0.1", ["0.1"], [0.1, 0.1], ["2", "0"], ["-1", "0"], None, {"a": 1}], ids=str
)
def test_what_is_no_share_is_refused(stored: Any) -> None:
    with pytest.raises(sf.Refused) as refused:
        read_shares(stored, REST)
    assert refused.value.code == "table.stored"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("learned = { max_rows", "learned = { rows"),
        ('["0.03", "0.01", "16.0"', '["3", "1", "16.0"'),
        ('"0.02", "0.05"]', '"0.02", "5"]'),
        ('"0.02", "0.05"]', '"0.02"]'),
        ('["0.0", ', "["),
    ],
    ids=str,
)
def test_a_changed_file_is_refused(old: str, new: str) -> None:
    text = declared().to_toml()
    assert old in text
    with pytest.raises(sf.Refused) as refused:
        Declaration.from_toml(text.replace(old, new))
    assert refused.value.code == "table.stored"


def test_shares_round_to_a_thousandth() -> None:
    assert [round_share(x) for x in (-0.2, 0.0004, 0.0126, 1.7)] == [0, 0, F("0.013"), 1]
    assert read_shares(shares_text((F("0.013"), F(1))), REST) == (F("0.013"), F(1))
    assert read_shares(shares_text(None), REST) is None


def test_of_joined_rows_a_mark_tells_no_shares() -> None:
    """Of the limit that counts: a default stays one, and what was declared has no mark."""
    learned, default = (
        NOT_LEARNED.with_limit("max_rows", (F("0.3"), F("0.01"), F(16))).with_bounds("x", None),
        NOT_LEARNED.with_limit("max_rows", None),
    )
    assert "30 %" in learned.limit_note("max_rows")
    both = learned.after_join(("max_rows", learned), ("max_rows", NOT_LEARNED))
    assert both.limit_note("max_rows") == " (learned)"
    assert both.bounds == learned.bounds
    assert learned.after_join(("max_rows", learned), ("max_rows", default)).limit_note(
        "max_rows"
    ) == default.limit_note("max_rows")
    assert learned.after_join(("max_rows", NOT_LEARNED)).limit_note("max_rows") == ""
    assert NOT_LEARNED.after_join() == NOT_LEARNED


def test_the_limit_of_joined_rows_has_the_mark_of_the_table_that_it_is_of() -> None:
    tables = {"people": pa.table({"id": [1]}), "visits": pa.table({"who": [1]})}
    about: dict[str, Any] = {
        "unit": "people.id",
        "links": {"visits.who": "people.id"},
        "max_rows": {"people": 2},
        "budget": 100,
    }
    with sf.protect(tables, **about) as db:
        db["visits"].learn(epsilon="0.0000001")  # too little to see anyone: 1 row, a default
        p, v = db["people"].rows, db["visits"].rows
        assert "a default" in v.declaration.learned.limit_note("max_rows")
        marks = {
            name: rows.declaration
            for name, rows in {
                "join": v.join(p, on={"who": "id"}),
                "union": v.union(p),
                "itself": v.join(v, on="who"),
            }.items()
        }
        assert {name: declaration.max_rows for name, declaration in marks.items()} == {
            "join": 2,
            "union": 3,
            "itself": 1,
        }
        assert {
            name: "a default" in declaration.learned.limit_note("max_rows")
            for name, declaration in marks.items()
        } == {"join": False, "union": True, "itself": True}


def test_what_lies_beyond_is_said_by_its_proved_bound() -> None:
    def learned(name: str, *rest: str) -> LearnedLimits:
        return LearnedLimits(((name, tuple(map(Fraction, rest))),))

    def beyond(*rest: str) -> str:
        return learned("max_rows", *rest).least_beyond("max_rows")

    assert beyond("0.25", "0.08", "16", "0.265", "0.48", "0.091") == "at least 9.1 %"
    assert beyond("0.25", "0.08", "16", "0.265", "0.48", "0") == ""
    assert beyond("0.25", "0.08", "16", "0.265", "0.48", "0.004") == "", "not worth a word"
    assert beyond("0.25", "0.08", "16", "0.265", "0.48") == "", "an older record"
    assert beyond("0.25", "0.08") == "", "an older record"
    assert LearnedLimits((("max_rows", None),)).least_beyond("max_rows") == ""
    assert LearnedLimits().least_beyond("max_rows") == ""
    numbers = ("0.25", "0.08", "16", "0.265", "0.48", "0.091")
    assert learned("max_groups", *numbers).least_beyond("max_groups") == "at least 9.1 %"
    assert learned("max_groups", *numbers).limit_note("max_groups") == (
        " (learned; about 25 % ± 8 % of those with up to 16 groups have more, with between 9.1 % "
        "and 48 % of their groups beyond the limit; with twice the limit, groups would likely need "
        "more people to be shown)"
    )
    assert "with at most 48 % of their rows" in learned("max_rows", *numbers[:5]).limit_note(
        "max_rows"
    )


def test_a_proved_share_is_rounded_down() -> None:
    for share in (0.0, 0.00001, 0.4567, 1.0):
        assert share - 0.001 <= round_share_down(share) <= share
    assert round_share_down(-0.1) == 0


def test_the_shares_of_rows_outside_are_said_where_zero_is_excluded() -> None:
    def outside(*tails: str) -> dict[str, str]:
        return LearnedLimits(bounds=(("x", tuple(map(Fraction, tails))),)).rows_outside("x")

    far = str(2 * FAR)
    assert outside("0.1", "0.2", "0.05", "-" + far, "256") == {
        "below": "about 10 % ± 5 % of rows up to 256",
        "above": "about 20 % ± 5 % of rows up to 256",
    }
    assert outside("0.05", "0.2", "0.05", "0", far) == {
        "above": "about 20 % ± 5 % of rows from 0 on"
    }
    assert outside("0.1", "0.2", "0.05") == {}, "an older record"
    assert LearnedLimits().rows_outside("x") == {}
