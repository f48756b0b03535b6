"""Computed columns, HAVING, ORDER BY and LIMIT on answers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

import sfumato as sf
from sfumato.answers import Answer, Noisy
from sfumato.answers.proportions import TOTAL
from sfumato.session import Table
from sfumato.sql import read
from sfumato.testing.exact_checks import exact_answer

from .people import protected


@pytest.fixture(scope="module")
def people() -> Any:
    with protected(max_rows=100, keys={}) as result:
        yield result


@pytest.fixture(scope="module")
def cities() -> Any:
    """The same people, where the keys of a city are public."""
    with protected(max_rows=100) as result:
        yield result


def exactly(table: Table, text: str, *, times: int = 1) -> Answer:
    """The answer without noise, as if the table had so many times as many rows as are shown."""
    result = read(text, table.rows)
    answer = exact_answer(table.plan(result.query, epsilon=1, delta="1e-6"), table)
    pieces = tuple(
        Noisy(piece.name, piece.values * times, piece.step, piece.mechanism)
        if piece.name == TOTAL
        else piece
        for piece in answer.pieces
    )
    return result.finish(answer if times == 1 else replace(answer, pieces=pieces))


GROUPED = "SELECT city, COUNT(*) AS n, AVG(age) AS m FROM visits GROUP BY city "


def test_nothing_to_do_is_nothing_done(people: Table) -> None:
    result = read(GROUPED, people.rows)
    answer = exact_answer(people.plan(result.query, epsilon=1, delta="1e-6"), people)
    assert result.finish(answer) is answer


def test_rows_are_chosen_and_sorted(people: Table) -> None:
    all_of = exactly(people, GROUPED)
    assert len(all_of) == 4
    some = exactly(
        people,
        GROUPED + "HAVING city <> 'Bari' AND n >= 10 ORDER BY m DESC LIMIT 2 OFFSET 1",
        times=10**6,
    )
    expected = sorted((row for row in all_of if row["city"] != "Bari"), key=lambda row: -row["m"])[
        1:3
    ]
    assert [row["city"] for row in some] == [row["city"] for row in expected]
    assert list(some["n"]) == [row["n"] for row in expected]
    assert some.processing[:2] == (
        "shown are groups with city <> 'Bari' AND n >= 10",
        "shown are at most 2 groups after the first 1",
    )
    assert "too small to be named" in some.processing[2]
    assert some.withheld() is None


SHARED = "SELECT city, COUNT(*) AS n, SUM(age) AS s, COUNT(DISTINCT user_id) AS u"
"""A count and a sum, which are read from the same cells where keys are public, and a count with
noise of its own.
"""


@pytest.mark.parametrize(
    ("text", "chose"),
    [
        ("", {}),
        ("ORDER BY n DESC", {}),
        ("LIMIT 2", {}),
        ("ORDER BY city LIMIT 2", {}),
        ("HAVING city <> 'Bari'", {}),
        ("ORDER BY n DESC LIMIT 9", {}),
        ("ORDER BY u DESC LIMIT 2", {"u": 4}),
        ("ORDER BY u DESC OFFSET 1", {"u": 4}),
        ("ORDER BY city, u DESC LIMIT 2", {"u": 4}),
        ("ORDER BY n DESC LIMIT 2", {"n": 4}),
        ("ORDER BY n + u LIMIT 2", {"n": 4, "u": 4}),
        ("HAVING u > 1", {"u": 4}),
        ("HAVING u > -1000000", {"u": 4}),
        ("HAVING city <> 'Bari' ORDER BY u LIMIT 1", {"u": 3}),
        ("HAVING city <> 'Bari' ORDER BY s LIMIT 1", {"s": 3}),
        ("HAVING n > -1000000 AND city <> 'Bari' ORDER BY u LIMIT 1", {"n": 4, "u": 3}),
        ("HAVING n > -1000000 AND city <> 'Bari' ORDER BY s LIMIT 1", {"n": 4, "s": 3}),
        ("HAVING n > -1000000 ORDER BY n, u LIMIT 1", {"n": 4, "u": 4}),
        ("HAVING SUM(age) / COUNT(*) > -1000000 ORDER BY city", {"n": 4, "s": 4}),
    ],
)
def test_pieces_that_chose_the_groups_remember_from_how_many(
    people: Table, text: str, chose: dict[str, int]
) -> None:
    """Intervals of what HAVING or ORDER BY … LIMIT looked at were those of groups that nothing had
    chosen. Keys and their order choose by no noise. With private keys each column has noise of its
    own.
    """
    check_what_chose(people, text, chose)


@pytest.mark.parametrize(
    ("text", "chose"),
    [
        ("", {}),
        ("ORDER BY n DESC", {}),
        ("LIMIT 2", {}),
        ("ORDER BY city LIMIT 2", {}),
        ("HAVING city <> 'Bari'", {}),
        ("ORDER BY n DESC LIMIT 9", {}),
        ("ORDER BY u DESC LIMIT 2", {"u": 3}),
        ("ORDER BY u DESC OFFSET 1", {"u": 3}),
        ("ORDER BY city, u DESC LIMIT 2", {"u": 3}),
        ("ORDER BY n DESC LIMIT 2", {"n": 3, "s": 3}),
        ("ORDER BY n + u LIMIT 2", {"n": 3, "s": 3, "u": 3}),
        ("HAVING u > 1", {"u": 3}),
        ("HAVING u > -1000000", {"u": 3}),
        ("HAVING city <> 'Bari' ORDER BY u LIMIT 1", {"u": 2}),
        ("HAVING city <> 'Bari' ORDER BY s LIMIT 1", {"n": 2, "s": 2}),
        (
            "HAVING n > -1000000 AND city <> 'Bari' ORDER BY u LIMIT 1",
            {"n": 3, "s": 3, "u": 2},
        ),
        ("HAVING n > -1000000 AND city <> 'Bari' ORDER BY s LIMIT 1", {"n": 3, "s": 3}),
        ("HAVING n > -1000000 ORDER BY n, u LIMIT 1", {"n": 3, "s": 3, "u": 3}),
        ("HAVING SUM(age) / COUNT(*) > -1000000 ORDER BY city", {"n": 3, "s": 3}),
    ],
)
def test_what_shares_noise_with_what_chose_was_chosen_by_it(
    cities: Table, text: str, chose: dict[str, int]
) -> None:
    """With public keys the count and the sum are read from the same cells."""
    check_what_chose(cities, text, chose)


def check_what_chose(table: Table, text: str, chose: dict[str, int]) -> None:
    """Check from how many groups each column chose, and what the answer says of it."""
    answer = exactly(table, f"{SHARED} FROM visits GROUP BY city {text}")
    result = {column.name: answer.pieces[column.pieces[0]].among for column in answer.columns}
    assert result == {"n": 0, "s": 0, "u": 0, **chose}
    texts = answer.text(width=1000)
    assert ("each cell" in texts) == (len(chose) < 3)
    assert ("at once (95 %), because the same noisy values chose them" in texts) == bool(chose)
    again = Answer.from_json(answer.to_json())
    assert [end.tolist() for end in again.interval("n")] == [
        end.tolist() for end in answer.interval("n")
    ]


def test_what_is_computed_from_what_chose_was_chosen_by_it(cities: Table) -> None:
    answer = exactly(
        cities,
        (
            "SELECT city, COUNT(DISTINCT user_id) + COUNT(*) AS r, SUM(age) AS s, "
            "COUNT(DISTINCT user_id) AS u FROM visits GROUP BY city ORDER BY COUNT(*) DESC LIMIT 1"
        ),
    )
    assert "each cell); for r, s it holds for all shown groups at once" in answer.text(width=1000)
    all_of = exactly(
        cities,
        (
            "SELECT city, COUNT(DISTINCT user_id) + COUNT(*) AS r, SUM(age) AS s, "
            "COUNT(DISTINCT user_id) AS u FROM visits GROUP BY city"
        ),
    )
    at = all_of.rows.index(answer.rows[0])
    wide, cut, each = (
        all_of.interval("r", simultaneous=True),
        answer.interval("r"),
        all_of.interval("r"),
    )
    assert wide[0][at] <= cut[0][0] < each[0][at]
    assert each[1][at] < cut[1][0] <= wide[1][at]


def test_a_share_that_cannot_be_told_of_what_is_shown_is_told_as_it_was(people: Table) -> None:
    """The count that the total of all rows is compared with decided the order and is not shown."""
    text = "SELECT city, SUM(age) AS s FROM visits GROUP BY city ORDER BY COUNT(*)"
    assert exactly(people, text).processing == (), "0 is not excluded"
    answer = exactly(people, text, times=10**6)
    assert any("in groups too small to be named" in text for text in answer.processing)
    assert answer.withheld() is None
    assert not any(piece.name == "total" for piece in answer.pieces)


def test_all_groups_may_go(people: Table) -> None:
    none = exactly(people, GROUPED + "HAVING n > 1000000")
    assert len(none) == 0
    assert Answer.from_json(none.to_json()) == none
    assert "no group is shown" in str(none)


def test_a_computed_column_and_its_interval(people: Table) -> None:
    answer = exactly(
        people,
        (
            "SELECT city, SUM(age) AS s, COUNT(*) AS n, SUM(age) / COUNT(*) AS r, ROUND(2 * "
            "COUNT(*)) - 1 AS t FROM visits GROUP BY city"
        ),
    )
    assert list(answer["r"]) == [s / n for s, n in zip(answer["s"], answer["n"], strict=True)]
    assert list(answer["t"]) == [2 * round(n) - 1 for n in answer["n"]]
    low, high = answer.interval("r")
    assert all(a <= r <= b for a, r, b in zip(low, answer["r"], high, strict=True))
    wide = answer.interval("r", 0.999)
    assert all(a <= b for a, b in zip(wide[0], low, strict=True))
    assert Answer.from_json(answer.to_json()) == answer
    assert "r" in str(answer)
    assert "r_low" in answer.to_csv(intervals=True)
    assert answer.column("r").text == "SUM(age) / COUNT(*)"


def test_division_by_zero_has_no_value(people: Table) -> None:
    answer = exactly(
        people,
        (
            "SELECT COUNT(*) / (COUNT(*) - COUNT(*)) AS x, COALESCE(1 / NULLIF(COUNT_IF(age "
            "> 200), 0), 7) AS y FROM visits"
        ),
    )
    assert math.isnan(answer.value("x"))
    assert answer.value("y") == 7
    low, high = answer.interval("x")
    assert (low[0], high[0]) == (-math.inf, math.inf)


def test_quantiles_keep_the_interval_that_was_released(people: Table) -> None:
    answer = people.sql(
        "SELECT MEDIAN(age) AS a, 2 * MEDIAN(age) AS b, MEDIAN(age) + COUNT(*) AS c FROM visits",
        epsilon=50,
    )
    low, high = answer.interval("b")
    first, second = answer.interval("a")
    assert abs(low[0] - 2 * first[0]) < 1e-9
    assert abs(high[0] - 2 * second[0]) < 1e-9
    for name, level in (("b", 0.99), ("c", 0.95)):
        with pytest.raises(sf.Refused):
            answer.interval(name, level)
    assert "c was released without an interval" in answer.text(width=1000)
    assert "b at 95 %" in answer.text(confidence=0.9)


def test_unknown_values_come_last_and_pass_no_condition(people: Table) -> None:
    ratio = "COUNT(*) / NULLIF(COUNT_IF(city = 'Roma'), 0)"
    answer = exactly(
        people, f"SELECT city, {ratio} AS r FROM visits GROUP BY city ORDER BY r DESC, city"
    )
    assert answer.rows[0] == ("Roma",)
    assert len(answer) == 4
    assert (
        len(
            exactly(
                people,
                f"SELECT city, {ratio} AS r FROM visits GROUP BY city HAVING r > 0 OR r <= 0",
            )
        )
        == 1
    )
    assert (
        len(
            exactly(people, f"SELECT city, {ratio} AS r FROM visits GROUP BY city HAVING r IS NULL")
        )
        == 3
    )
    first = exactly(
        people, f"SELECT city, {ratio} AS r FROM visits GROUP BY city ORDER BY r NULLS FIRST"
    )
    assert first.rows[3] == ("Roma",)


@pytest.mark.parametrize(
    ("key", "condition", "count"),
    [
        ("day", "day < '2026-01-04'", 3),
        ("day", "day BETWEEN DATE '2026-01-02' AND DATE '2026-01-03'", 2),
        ("at", "at >= TIMESTAMP '2026-01-01 22:00:00'", 2),
        ("vip", "vip = TRUE", 1),
        ("amount", "amount <= 0.5", 3),
        ("age", "age IN (20, 21, 300)", 2),
        ("spend", "spend IS NULL", 1),
        ("note", "note < 'seen'", 1),
    ],
)
def test_keys_of_every_type_are_compared(
    people: Table, key: str, condition: str, count: int
) -> None:
    assert (
        len(
            exactly(
                people, f"SELECT {key}, COUNT(*) AS n FROM visits GROUP BY {key} HAVING {condition}"
            )
        )
        == count
    )
    assert (
        len(
            exactly(
                people,
                (
                    f"SELECT {key}, COUNT(*) AS n FROM visits GROUP BY {key} ORDER BY {key} "
                    f"DESC LIMIT 1"
                ),
            )
        )
        == 1
    )


def test_the_intervals_hold() -> None:
    """A ratio of released numbers lies in its 90 % interval in at least 90 of 100 releases, but for
    10⁻⁶: by interval arithmetic it holds far more often.
    """
    text = "SELECT SUM(age) / COUNT(*) AS r FROM visits"
    with protected(max_rows=100, budget=sf.Pure(1_000_000)) as table:
        truth = exactly(table, text).value("r")
        held = 0
        for _ in range(100):
            low, high = table.sql(text, epsilon=2000, fresh=True).interval("r", 0.9)
            held += low[0] <= truth <= high[0]
        assert held >= 72  # P(Binomial(100, 0.9) < 72) < 10⁻⁶
        narrow = 0
        for _ in range(100):
            answer = table.sql(text, epsilon=2000, fresh=True)
            low, high = answer.interval("r", 0.9)
            middle = (low[0] + high[0]) / 2
            narrow += abs(truth - middle) <= (high[0] - low[0]) / 200
        assert narrow < 72  # the twin: intervals a hundred times too narrow do not


def test_constants_beside_keys_are_read_before_anything_is_paid() -> None:
    """A text beside a moment or a uuid is read as one when the text is, also where it is a
    parameter: what cannot be read is refused, and nothing is spent.
    """
    with protected() as table:
        for text, parameters in (
            ("day > 'soon'", None),
            ("day IN ('2026-01-01', 'later')", None),
            ("day > ?", ["2026-02-31"]),
            ("'x' < day", None),
        ):
            with pytest.raises(sf.Refused) as refused:
                table.sql(
                    f"SELECT day, COUNT(*) AS n FROM {table.name} GROUP BY day HAVING {text}",
                    epsilon=1,
                    parameters=parameters,
                )
            assert refused.value.code == "expression.literal"
        assert {entry.kind for entry in table.ledger.history()} == {"open"}
