"""The largest groups: what is shown, what is said of it, and that the rest is as it was."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.answers.answer import Answer
from sfumato.answers.answer_records import Column, Noisy
from sfumato.answers.proportions import TOTAL
from sfumato.errors import Refused
from sfumato.guarantees import Pure
from sfumato.mechanisms import Laplace

NOISE = Laplace(sensitivity=1, scale=2)
CITIES = ("Bari", "Pisa", "Roma", "Siena")


def answer(*counts: int, **more: Any) -> Answer:
    pieces = (
        Noisy("count", [[n] for n in counts], 1, NOISE),
        Noisy(TOTAL, [[sum(counts) + 5]], 1, NOISE),
    )
    columns = (Column("n", "count", (0,)), Column("again", "count", (0,)))
    return Answer(
        keys=("city",),
        rows=tuple((city,) for city in CITIES),
        pieces=pieces,
        columns=columns,
        cost=Pure(1),
        **more,
    )


def test_the_largest_come_first() -> None:
    shown = answer(10, 400, 30, 400).top(3, "n")
    assert [row[0] for row in shown.rows] == ["Pisa", "Siena", "Roma"]
    assert shown["n"].tolist() == [400.0, 400.0, 30.0]
    assert shown["again"].tolist() == [400.0, 400.0, 30.0]
    assert shown.processing[0] == "shown are the 3 groups with the largest n"


def test_what_is_sure_is_said() -> None:
    """Intervals that hold for all groups at once decide."""
    assert (
        "with 95 % confidence, the 2 largest include at least 2 of them"
        in answer(10, 400, 30, 390).top(2, "n").processing
    )
    assert (
        "with 95 % confidence, the 2 largest include at least 1 of them"
        in answer(30, 400, 30, 31).top(2, "n").processing
    )
    assert "with 95 % confidence, it is the largest" in answer(1, 400, 3, 4).top(1, "n").processing
    assert "another group may be larger" in answer(1, 400, 3, 399).top(1, "n").processing


def test_groups_that_are_not_named_may_be_larger() -> None:
    """Where groups were withheld or left out, what is sure is so among those that were named."""
    some = answer(10, 400, 30, 390, complete=False)
    assert (
        "with 95 % confidence, the 2 largest of the groups that were named include at least 2 "
        "of them" in some.top(2, "n").processing
    )
    assert (
        "with 95 % confidence, it is the largest of the groups that were named"
        in answer(1, 400, 3, 4, complete=False).top(1, "n").processing
    )


def test_all_of_them_are_only_sorted() -> None:
    total = answer(10, 400, 30, 5).top(9, "n")
    assert len(total) == 4
    assert not total.processing
    assert any(piece.name == TOTAL for piece in total.pieces)
    assert not any(piece.name == TOTAL for piece in answer(10, 400, 30, 5).top(1, "n").pieces)


def test_after_a_helper() -> None:
    shown = answer(-10, 400, 30, 5).non_negative().top(4, "n")
    assert shown["n"].tolist() == [400.0, 30.0, 5.0, 0.0]
    assert Answer.from_json(shown.to_json()) == shown


@pytest.mark.parametrize("about", [(0, "n"), (True, "n"), (1.5, "n"), (1,)], ids=str)
def test_refused(about: tuple[Any, ...]) -> None:
    with pytest.raises(Refused) as refusal:
        answer(1, 2, 3, 4).top(*about)
    assert refusal.value.code == "answer.top"
