"""Stored answers: read back equal, byte for byte; what is damaged is refused; an old file is still
read.
"""

from __future__ import annotations

import datetime
import json
import math
import uuid
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.answers import Answer, Column, Noisy, merge
from sfumato.answers.answer_records import Draw, LinearNoise, share_draws
from sfumato.answers.stored_answer import KEYS, Recorded, canonical, read_key, write_key

from ..refusing import refusal
from .examples import BOUNDS, WEIGHED, counted, laplace, visits

OLD, NEW = (
    Path(__file__).parents[1] / "vectors" / "stored" / f"answer-v{version}.json"
    for version in (1, 2)
)
INTERVALS = json.loads((Path(__file__).parent / "stored_intervals.json").read_text())
"""The ends of the intervals of these two, as the version before cells computed them."""

VALUES = [
    None,
    True,
    False,
    0,
    -7,
    2**80,
    1.5,
    -0.0,
    math.inf,
    "Roma",
    "<b>",
    "",
    "a\nb",
    "😀",
    Decimal("1.20"),
    datetime.date(2026, 2, 28),
    datetime.datetime(2026, 2, 28, 12, 30, 0, 5),
    datetime.datetime(2026, 2, 28, 12, tzinfo=datetime.UTC),
    uuid.UUID(int=77),
]


@pytest.mark.parametrize("key", VALUES, ids=repr)
def test_keys_keep_their_types(key: Any) -> None:
    again = read_key(json.loads(json.dumps(write_key(key))))
    assert again == key
    assert type(again) is type(key)
    assert str(again) == str(key)


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        (("k",), [(i,) for i in (3, -1, 2**70)]),
        (("k",), [("a",), ('"',), ("é\n\u2028",)]),
        (("k",), [(1,), (True,), (None,)]),
        (("k", "l"), [("x", 1), ("y", 2)]),
        (("k", "l"), [(value, i) for i, value in enumerate(VALUES)]),
        (("k",), []),
        ((), [()]),
    ],
    ids=["integers", "texts", "mixed", "two", "all", "none", "no key"],
)
def test_long_lists_are_written_as_json_would_write_them(
    keys: tuple[str, ...], rows: list[Any]
) -> None:
    """Column by column, and the same bytes."""
    answer = counted(list(range(len(rows))), keys=keys, rows=tuple(rows))
    stored = answer.to_json()
    result = json.loads(stored)
    assert canonical(result) == stored
    assert result["rows"] == json.loads(
        json.dumps([[write_key(key) for key in row] for row in rows])
    )
    assert result["pieces"][0]["values"] == [[str(i)] for i in range(len(rows))]
    assert visits().to_json() == canonical(json.loads(visits().to_json()))


def test_a_row_of_another_length_is_damage() -> None:
    result = json.loads(visits().to_json())
    result["pieces"][6]["values"][0].append("1")
    refusal(lambda: Answer.from_json(json.dumps(result)), "answer.stored")


def test_nan_is_nan() -> None:
    restored: Any = read_key(write_key(math.nan))
    assert math.isnan(restored)
    answer = counted([1], rows=((math.nan,),))
    assert Answer.from_json(answer.to_json()) == answer


def test_every_type_is_met() -> None:
    assert {kind for kind, *_ in KEYS.values()} <= {type(key) for key in VALUES}


def test_other_keys_are_refused_by_their_type_alone() -> None:
    key: Any = b"secret"
    assert refusal(lambda: write_key(key), "answer.key").place == "bytes"


def same(answer: Answer) -> Answer:
    stored = answer.to_json()
    again = Answer.from_json(stored)
    assert isinstance(stored, bytes)
    assert again == answer
    assert again.to_json() == stored
    return again


def test_everything_comes_back() -> None:
    answer = visits()
    again = same(answer)
    for column in answer.columns:
        level = 0.9
        assert again[column.name].tolist() == answer[column.name].tolist()
        assert [a.tolist() for a in again.interval(column.name, level)] == [
            a.tolist() for a in answer.interval(column.name, level)
        ]
    assert (again.cost, again.promise, again.budget, again.left) == (
        answer.cost,
        answer.promise,
        answer.budget,
        answer.left,
    )
    assert (again.receipts, again.rules, again.facts) == (
        answer.receipts,
        answer.rules,
        answer.facts,
    )
    assert str(again) == str(answer)
    assert again.card().to_dict() == answer.card().to_dict()


def test_processed_ones_too() -> None:
    again = same(visits().non_negative().rounded())
    assert again["n"].dtype == visits().rounded()["n"].dtype
    same(counted([1, 2]).agreeing(total=F(10, 3)))


@given(
    values=st.lists(st.integers(-(2**90), 2**90), min_size=1, max_size=4),
    step=st.fractions(F(1, 10**9), 10**9),
    cost=st.sampled_from(
        [
            sf.Pure("1/3"),
            sf.Approx(1, "1e-9"),
            sf.ZCDP("0.1", "1e-9"),
            sf.GDP("0.3"),
            sf.Renyi({2: 1, 8: 3}),
            sf.Pure(1) + sf.GDP(1),
        ]
    ),
    mechanism=st.sampled_from(
        [
            laplace(3),
            mech.Gaussian(sensitivity=1, sigma="1.5"),
            mech.Gaussian(sensitivity=1, epsilon=1, delta=1e-6),
        ]
    ),
)
def test_any_numbers(values: list[int], step: F, cost: Any, mechanism: Any) -> None:
    pieces = (Noisy("x", [[v] for v in values], step, mechanism),)
    again = same(
        Answer(
            keys=("g",),
            rows=tuple((i,) for i in range(len(values))),
            pieces=pieces,
            columns=(Column("x", "sum", (0,)),),
            cost=cost,
        )
    )
    assert again.pieces[0].values.tolist() == [[v] for v in values]
    assert again.pieces[0].mechanism == mechanism


def test_no_group() -> None:
    same(counted([], rows=()))


def test_a_mechanism_that_is_not_known_here_is_kept_as_a_record() -> None:
    written = json.loads(counted([5]).to_json())
    written["pieces"][0]["mechanism"]["kind"] = "Sorcery"
    answer = Answer.from_json(json.dumps(written))
    assert isinstance(answer.pieces[0].mechanism, Recorded)
    assert answer["n"].tolist() == [5]
    assert answer.pieces[0].mechanism.relation == "add-remove"
    assert answer.pieces[0].mechanism.unit == "user_id"
    assert "released without an interval" in str(answer)
    refusal(lambda: answer.interval("n"), "answer.law")
    same(answer)


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b'{"sfumato":"guarantee","version":1}',
        b'{"sfumato":"answer","version":2}',
        b'{"sfumato":"answer","version":1}',
        b"\xff",
        "[" * 10**5,
    ],
    ids=range(9),
)
def test_what_is_no_answer(stored: Any) -> None:
    refusal(lambda: Answer.from_json(stored), "answer.stored")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("pieces", 0, "values"), [["x"]]),
        (("pieces", 0, "values"), [["9" * 5000]]),
        (("pieces", 0, "step"), "1/0"),
        (("pieces", 0, "mechanism"), 5),
        (("rows",), [[{"integer": "x"}]]),
        (("rows",), [[{"secret": "x"}]]),
        (("columns", 0, "numbers"), []),
        (("cost",), None),
    ],
    ids=str,
)
def test_what_is_damaged(place: tuple[Any, ...], value: Any) -> None:
    written = json.loads(counted([5]).to_json())
    inner = written
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    with pytest.raises(sf.Refused):
        Answer.from_json(json.dumps(written))


def test_a_file_of_version_1_is_read() -> None:
    stored = OLD.read_bytes()
    answer = Answer.from_json(stored)
    assert answer == replace(visits(), weighing=None, complete=False)
    assert json.loads(answer.to_json()) == {**json.loads(stored), "version": 2, "complete": False}
    assert [a.tolist() for a in answer.interval("n")] == [
        a.tolist() for a in visits().interval("n")
    ]


@pytest.mark.parametrize("name", INTERVALS)
def test_intervals_of_older_answers_are_those_of_the_version_that_wrote_them(name: str) -> None:
    """Each piece of an older answer has noise of its own. A mean has the exact set of its quotient
    now, which is narrower.
    """
    answer = Answer.from_json((OLD.parent / f"{name}.json").read_bytes())
    for column, levels in INTERVALS[name].items():
        for level, ends in levels.items():
            simultaneous = level == "all at once"
            low, high = answer.interval(column, simultaneous=simultaneous)
            if answer.column(column).kind == "mean":
                assert (low > ends[0]).all()
                assert (high < ends[1]).all()
                assert (low < answer[column]).all()
                assert (high > answer[column]).all()
            else:
                assert [low.tolist(), high.tolist()] == ends, (column, level)


def test_draws_that_pieces_share_are_stored() -> None:
    """Names of draws remain, so what shared noise shares it when it is read again."""
    draws = [Draw(laplace(20), F(weight), f"0.{i}") for i, weight in enumerate((1, -3))]
    pieces = (
        Noisy("count", [[70], [50]], F(1), LinearNoise(tuple(draws))),
        Noisy("sum", [[700], [500]], F(1, 2), LinearNoise(tuple(draws[:1]))),
    )
    columns = (Column("n", "count", (0,)), Column("m", "mean", (1, 0), "", BOUNDS))
    answer = replace(counted([70, 50]), pieces=pieces, columns=columns)
    again = Answer.from_json(answer.to_json())
    assert again == answer
    assert again.to_json() == answer.to_json()
    assert share_draws(again.pieces)
    assert again.pieces[0].draws == answer.pieces[0].draws
    assert [piece.among for piece in again.top(1, "n").pieces] == [2, 2]
    for name in ("n", "m"):
        ends = [end.tolist() for end in answer.interval(name)]
        assert [end.tolist() for end in again.interval(name)] == ends


def test_how_an_answer_of_version_1_bounded_its_units_is_not_known() -> None:
    """The library reads and shows the answer, but neither averages it with another nor moves it to
    a total, and states no share that rests on equal weights.
    """
    old = Answer.from_json(OLD.read_bytes())
    stored = replace(
        old, columns=tuple(column for column in old.columns if column.kind != "quantile")
    )
    error = refusal(lambda: merge([stored, replace(stored, receipts=())]), "answer.merge")
    assert "not recorded" in error.reason
    refusal(lambda: stored.agreeing(total=18_000, name="n"), "answer.agreeing")
    assert old.withheld() is None
    assert "± covers the noise, not what the limits left out (95 %, each cell" in old.text(
        width=1000
    )


def test_of_an_answer_of_version_1_from_which_groups_were_left_out_no_interval_follows() -> None:
    """It did not record from how many groups the shown ones were chosen."""
    old = json.loads(OLD.read_bytes())
    for label in (
        "shown are groups with n > 5",
        "shown are at most 3 groups",
        "shown are the 3 groups with the largest n",
        "shown is the group with the largest n",
    ):
        answer = Answer.from_json(json.dumps({**old, "processing": [label]}))
        error = refusal(lambda answer=answer: answer.interval("n"), "answer.interval")
        assert "did not record" in error.reason
        assert "n has no interval, because it chose the groups" in answer.text(width=1000)
        assert "n_low" not in answer.to_csv(intervals=True).splitlines()[0]
        assert Answer.from_json(answer.to_json()) == answer


def test_a_file_of_version_2_is_read() -> None:
    stored = NEW.read_bytes()
    answer = Answer.from_json(stored)
    now = visits().top(2, "n")
    assert replace(answer, processing=now.processing) == now  # the wording of labels may change
    assert answer.processing[0] == now.processing[0]
    assert answer.to_json() == stored.rstrip(b"\n")
    assert answer.pieces[0].among == 3
    assert answer.weighing == WEIGHED
    assert not answer.complete


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("weighing", "rule"), "by eye"),
        (("weighing", "rows"), "4"),
        (("weighing", "bits"), -1),
        (("weighing",), {"rule": "part"}),
        (("pieces", 0, "among"), -3),
        (("pieces", 0, "among"), 2),
        (("pieces", 0, "among"), True),
        (("version",), True),
        (("version",), 3),
    ],
    ids=str,
)
def test_damaged_records_of_version_2(place: tuple[Any, ...], value: Any) -> None:
    written = json.loads(counted([5, 6, 7]).to_json())
    inner = written
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    with pytest.raises(sf.Refused):
        Answer.from_json(json.dumps(written))
