"""Streams end to end: the exact sums, the promise over whole histories with late rows, crashes at
every step, and what is never paid twice.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Failed
from sfumato.ledger import Ledger
from sfumato.mechanisms import RunningSums
from sfumato.noise.rounded_normal import RoundedNormal

from ..refusing import refusal
from .histories import (
    CITIES,
    QUERY,
    START,
    Visit,
    close,
    open_stream,
    publish,
    squared_distance,
    table_at,
)

ALWAYS = range(1, 100)


@pytest.fixture
def without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        RoundedNormal, "sample", lambda self, shape, bits=None: np.zeros(shape, dtype=np.int64)
    )


def some_visits(seed: int, count: int = 60, days: int = 9) -> list[Visit]:
    chance = random.Random(seed)
    visits = []
    for _ in range(count):
        day = chance.randint(1, days)
        visits.append(
            Visit(
                chance.randint(1, 8),
                chance.choice([*CITIES, "Pisa"]),
                chance.randint(-20, 120),
                day,
                range(day + chance.choice((0, 0, 0, 1, 4)), 100),
            )
        )
    return visits


PROTECTIONS: dict[str, dict[str, Any]] = {
    "rows": {"unit": None},
    "rows, windows": {"unit": None, "window": 3},
    "first days": {"first_periods": 2, "append_only": True, "unit_rows": 2},
    "first day": {"first_periods": 1, "append_only": True, "unit_rows": 1},
    "any days": {"any_periods": 2, "unit_rows": 2},
    "each day": {"any_periods": 1, "unit_rows": 3, "window": 1},
}


@pytest.mark.usefixtures("without_noise")
@pytest.mark.parametrize("name", PROTECTIONS)
def test_sums_are_those_of_the_bounded_rows(name: str) -> None:
    """Against Python, for rows that all are there from the beginning."""
    options = PROTECTIONS[name]
    visits = [v._replace(visible=ALWAYS) for v in some_visits(3)]
    stream = open_stream(table_at(visits, 9), None, **dict(options))
    stream.advance(until="2026-01-10")
    exact = {(day, city): np.zeros(2) for day in range(1, 10) for city in CITIES}
    for visit in visits:
        theirs = [v for v in visits if v.user == visit.user]
        days = sorted({v.day for v in theirs})[: options.get("first_periods", 99)]
        today = [v for v in theirs if v.day == visit.day and v.city in CITIES]
        if visit.city not in CITIES or ("unit" not in options and visit.day not in days):
            continue
        weight = 1.0
        if "unit" not in options:
            k = options["unit_rows"]
            counts = [sum(v.city == city for v in today) for city in CITIES]
            room = (k << 10) ** 2 // sum(n * n for n in counts)
            weight = min(int(room**0.5), 1 << 10) / (1 << 10)
        exact[visit.day, visit.city] += weight * np.array([1, min(100, max(-10, visit.spend))])
    by_day = stream.periods()
    assert by_day.rows == [(START + timedelta(d - 1), city) for d, city in exact]
    assert by_day["n"] == pytest.approx([sums[0] for sums in exact.values()], abs=1e-9)
    assert by_day["spend"] == pytest.approx([sums[1] for sums in exact.values()], abs=1e-9)
    if "window" not in options:
        totals = np.cumsum(by_day["n"].reshape(9, 2), axis=0)
        assert stream.totals()["n"] == pytest.approx(totals.ravel())
        week = stream.window(7)
        assert week["n"][-2:] == pytest.approx(by_day["n"].reshape(9, 2)[2:].sum(axis=0))
        part = stream.between("2026-01-03", date(2026, 1, 5))
        assert part["spend"] == pytest.approx(by_day["spend"].reshape(9, 2)[2:5].sum(axis=0))


def squared_move(
    theirs: list[Visit], days: int, folder: Path, **options: Any
) -> tuple[float, float]:
    """The squared distance that somebody's rows make in all that the door ever measures, over the
    variance; with μ².
    """
    others = [visit._replace(visible=ALWAYS) for visit in some_visits(days, 20, days)]
    with_them = publish(others + theirs, days, folder / "with", **dict(options))
    without = open_stream(table_at(others, 1), folder / "without", **dict(options))
    without.advance(until=START + timedelta(days))
    mu_squared = sum(float(measure.noise.mu_squared) for measure in without._measures)
    return squared_distance(with_them, without), mu_squared


@pytest.mark.usefixtures("without_noise")
@pytest.mark.parametrize(
    ("name", "relation"),
    [*((name, "add-remove") for name in PROTECTIONS), ("first days", "replace")],
)
def test_histories_that_differ_in_what_is_protected_are_within_the_promise(
    name: str, relation: str, tmp_path: Path
) -> None:
    """With rows that come late, and more of them than count."""
    options = PROTECTIONS[name] | {"relation": relation}
    span = options.get("first_periods") or options.get("any_periods") or 1
    days = [1 + day for day in range(span) for _ in range(options.get("unit_rows", 1))]
    theirs = [Visit(77, "Roma", 100, day, ALWAYS) for day in days]
    theirs += [
        Visit(77, city, spend, day, range(day + wait, 100))
        for city, spend, day, wait in (("Bari", 100, 2, 1), ("Roma", 100, 1, 2), ("Bari", 9, 2, 0))
        if "any_periods" not in options or day <= span
    ]
    if "unit" in options:
        theirs = [Visit(77, "Roma", 100, 1, range(2, 100))]
    squared, mu_squared = squared_move(theirs, 3, tmp_path, **options)
    assert mu_squared == pytest.approx(2.0), "ρ = 1"
    assert 0 < squared <= mu_squared * (1 + 1e-9) / (4 if relation == "replace" else 1)


@pytest.mark.usefixtures("without_noise")
@pytest.mark.parametrize("name", ["rows, windows", "each day"])
def test_the_noise_is_no_larger_than_it_has_to_be(name: str, tmp_path: Path) -> None:
    options = PROTECTIONS[name]
    streams = []
    for n, rows in enumerate(
        ([Visit(7, "Roma", 100, 1, ALWAYS)] * options.get("unit_rows", 1), [])
    ):
        streams.append(open_stream(table_at(rows, 1), tmp_path / str(n), **dict(options)))
        streams[-1].advance(until="2026-01-05")
    assert squared_distance(*streams) == pytest.approx(2.0)


@pytest.mark.usefixtures("without_noise")
def test_rows_that_are_removed_break_what_append_only_promises(tmp_path: Path) -> None:
    """The condition is needed: a user whose row moves on every day counts every day."""
    moving = [Visit(77, "Roma", 100, day, range(day, day + 1)) for day in range(1, 5)]
    squared, mu_squared = squared_move(moving, 4, tmp_path, **PROTECTIONS["first day"])
    assert squared > 1.1 * mu_squared


@pytest.mark.usefixtures("without_noise")
def test_late_rows_count_in_part_and_wait_counts_them(tmp_path: Path) -> None:
    """As docs/proofs/streams.md says: one day late, half at once, and 82 % ten days after."""
    late = [Visit(1, "Roma", 0, 1, range(2, 100))] * 1000
    publish(late, 2, tmp_path / "late", unit=None)
    stream = open_stream(table_at(late, 2), tmp_path / "late", unit=None)
    stream.advance(until="2026-01-12")
    assert stream.totals()["n"].reshape(11, 2)[[0, 1, 10], 1].tolist() == [0, 499, 822]
    stream = publish(late, 2, tmp_path / "wait", unit=None, wait=1)
    assert stream.totals()["n"].reshape(1, 2)[:, 1].tolist() == [1000]


def test_a_user_counts_once_for_ever(tmp_path: Path) -> None:
    """COUNT(DISTINCT user): the total of users so far, and the new ones of each day."""
    visits = some_visits(5, 3000, 9)
    visits = [v._replace(user=n % 700, visible=ALWAYS) for n, v in enumerate(visits)]
    stream = open_stream(
        table_at(visits, 9),
        tmp_path / "users",
        query="SELECT COUNT(DISTINCT user) AS users FROM visits",
        first_periods=1,
        append_only=True,
        unit_rows=1,
    )
    stream.advance(until="2026-01-10")
    low, high = stream.totals().interval("users", "0.999999999")
    exact = [len({v.user for v in visits if v.day <= day}) for day in range(1, 10)]
    assert all(a <= n <= b for a, n, b in zip(low, exact, high, strict=True))
    assert (high - low).max() < 60
    first = {user: min(v.day for v in visits if v.user == user) for user in range(700)}
    low, high = stream.periods().interval("users", "0.999999999")
    new = [sum(day == d for d in first.values()) for day in range(1, 10)]
    assert all(a <= n <= b for a, n, b in zip(low, new, high, strict=True))


class Killed(BaseException):
    """The process ends here."""


STEPS: dict[str, tuple[object, str, bool]] = {
    "before the charge": (Ledger, "charge", False),
    "after the charge": (Ledger, "charge", True),
    "before the noise": (RunningSums, "perturb", False),
    "after the noise": (RunningSums, "perturb", True),
    "before it is stored": (Ledger, "remember_first", False),
    "after it is stored": (Ledger, "remember_first", True),
}


def test_killed_at_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process after the other ends at a step. The stream is paid once, and what was stored
    before an end is what everybody sees.
    """
    visits, path, shown = some_visits(1), tmp_path / "book", 0
    published: list[float] = []
    steps = [*STEPS.items(), ("before the charge again", STEPS["before the charge"])]
    for day, (name, (holder, method, late)) in enumerate(steps, 1):
        stream = open_stream(table_at(visits, 9), path, unit=None)
        assert stream.released >= shown
        if stream.released:
            counts = stream.periods()["n"].tolist()
            assert counts[: len(published)] == published, name
            published, shown = counts, stream.released
        inner: Callable[..., Any] = getattr(holder, method)

        def end(*arguments: Any, _run: Any = inner, _late: bool = late, **keywords: Any) -> Any:
            if _late:
                _run(*arguments, **keywords)
            raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(holder, method, end)
            with pytest.raises(Killed):
                stream.advance(until=START + timedelta(day))
        close(stream)
    again = open_stream(table_at(visits, 9), path, unit=None)
    again.advance(until=START + timedelta(20))
    assert again.periods()["n"].tolist()[: len(published)] == published
    assert again.ledger.spent == again.cost
    assert [entry.kind for entry in again.ledger.history()].count("charge") == 1
    assert again.ledger.verify().ok


@pytest.mark.slow
def test_processes_that_are_killed_show_nothing_twice(tmp_path: Path) -> None:
    """Attack: a process dies at each step; the next one shows what was stored, for one charge."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.streams.kills", str(tmp_path / "book")],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["killed", str(3 * len(STEPS)), "charges", "1", "changed", "0"]


def test_two_processes_publish_the_same_numbers(tmp_path: Path) -> None:
    """Both measure the same days; whoever stores second shows what the first one stored."""
    visits, path = some_visits(2), tmp_path / "book"
    first, second = (open_stream(table_at(visits, 9), path, unit=None) for _ in range(2))
    receipts = []
    inner = first._charge.ledger.remember_first

    def store(*arguments: Any) -> bytes:
        receipts.append(second.advance(until="2026-01-06"))
        return inner(*arguments)

    first._charge.ledger.remember_first = store  # type: ignore[method-assign]  # once
    assert first.advance(until="2026-01-06")["n"].tolist() == receipts[0]["n"].tolist()
    assert first.released == second.released == 5
    assert second.ledger.spent == first.cost
    assert second.ledger.verify().ok


def test_paid_once_for_ever(tmp_path: Path) -> None:
    visits, path = some_visits(1), tmp_path / "book"
    stream = open_stream(table_at(visits, 9), path, unit=None)
    assert stream.ledger.spent == sf.ZCDP(0, relation="add-remove", unit="row")
    assert len(stream.advance(until=START)) == 0
    assert stream.ledger.spent == sf.ZCDP(0, relation="add-remove", unit="row"), "nothing measured"
    for day in (3, 3, 5):
        stream.advance(until=START + timedelta(day))
        assert stream.ledger.spent == stream.cost == sf.ZCDP(1, relation="add-remove", unit="row")
    kinds = [entry.kind for entry in stream.ledger.history()]
    assert kinds == ["open", "charge", "answer", "answer"]
    separate = open_stream(table_at(visits, 9), path, unit=None, window=1)
    separate.advance(until="2026-01-02")
    assert separate.ledger.spent == sf.ZCDP(2, relation="add-remove", unit="row")
    with pytest.raises(sf.BudgetExceeded):
        open_stream(table_at(visits, 9), path, unit=None, promise=sf.ZCDP(9)).advance("2026-01-02")


def test_periods_of_a_unit_have_an_account_of_their_own(tmp_path: Path) -> None:
    visits, path = some_visits(1), tmp_path / "book"
    plans = [
        open_stream(table_at(visits, 9), path, any_periods=7, unit_rows=2, promise=sf.ZCDP(rho))
        for rho in (3, 1)
    ]
    assert [entry.kind for entry in sf.Ledger.open(path).history()] == ["open"], "plans open none"
    stream = plans[-1]
    stream.advance(until="2026-01-04")
    assert stream.ledger.dataset == "visits: user in any 7 days"
    assert stream.cost.unit == stream.ledger.header["unit"] == "user in any 7 days"
    table = sf.Ledger.open(path, dataset="visits")
    assert table.spent == sf.ZCDP(0, relation="add-remove", unit="user")
    assert table.verify().ok
    with pytest.raises(sf.BudgetExceeded):
        open_stream(
            table_at(visits, 9), path, any_periods=7, unit_rows=1, promise=sf.ZCDP(1)
        ).advance("2026-01-02")


def test_stored_measurements_of_version_1_are_read() -> None:
    """A stream reads what it stored; what is no such record is refused."""
    stream = open_stream(table_at([], 1), None, unit=None)
    receipt = stream.ledger.charge(stream._charge.mechanism, key=stream._charge.key)
    stored = b'{"measurements":1,"first":1,"last":2,"columns":[[[5,6],[7,8]],[[1,2],[3,-4]]]}'
    stream.ledger.remember(receipt, stream._question(0), stored)
    assert len(stream.advance(until=START)) == 0
    assert stream.released == 2
    assert stream._measured[1].tolist() == [[1, 2], [3, -4]]
    for damaged in (b"{}", b"[", stored.replace(b"[7,8]", b"[7]"), stored):
        stream.ledger.remember(receipt, stream._question(2), damaged)
        refusal(lambda: stream.advance(until=START), "stream.stored")


def test_what_breaks_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = open_stream(table_at(some_visits(1), 9), None, unit=None)
    engine = type(stream._by_period.between([START], START).source.engine)

    def broken(*_: Any, **__: Any) -> Any:
        raise ValueError("secret 918273645")

    monkeypatch.setattr(engine, "tally", broken)
    with pytest.raises(Failed) as caught:
        stream.advance(until="2026-01-03")
    assert "918273645" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert stream.ledger.spent == stream.cost, "the charge stays"


def test_what_is_not_published_is_refused(tmp_path: Path) -> None:
    stream = open_stream(table_at(some_visits(1), 9), None, unit=None)
    refusal(stream.totals, "stream.empty")
    refusal(stream.periods, "stream.empty")
    refusal(lambda: stream.advance(until="soon"), "stream.date")
    stream.advance(until="2026-01-04")
    for call in (
        lambda: stream.window(4),
        lambda: stream.window(0),
        lambda: stream.between("2025-12-31", "2026-01-02"),
        lambda: stream.between("2026-01-02", "2026-01-04"),
        lambda: stream.between("2026-01-03", "2026-01-02"),
    ):
        refusal(call, "stream.periods")
    refusal(lambda: stream.totals()["spent"], "stream.column")
    week = open_stream(table_at(some_visits(1), 9), None, unit=None, window=2)
    week.advance(until="2026-01-05")
    refusal(week.totals, "stream.window")
    refusal(lambda: week.window(3), "stream.window")
    refusal(lambda: week.between("2026-01-01", "2026-01-03"), "stream.window")
    ended = open_stream(table_at(some_visits(1), 9), None, unit=None, length=4)
    ended.advance(until="2026-01-09")
    assert ended.released == 4
    assert QUERY.startswith("SELECT city")


@pytest.mark.usefixtures("without_noise")
def test_places_of_a_hierarchy_have_a_column_each() -> None:
    """Only the combinations of keys that exist are published, each under its own name."""
    places = {"Lazio": ["Roma"], "Puglia": ["Bari", "Lecce"]}
    visited = [("Lazio", "Roma"), ("Puglia", "Bari"), ("Puglia", "Bari"), ("Puglia", "Roma")]
    rows = pa.table(
        {
            "region": [region for region, _ in visited],
            "city": [city for _, city in visited],
            "day": [date(2026, 1, 1)] * 3 + [date(2026, 1, 2)],
        }
    )
    table = sf.protect(
        rows,
        name="visits",
        each_row_a_person=True,
        keys=sf.hierarchy("region", "city", places=places),
        budget=sf.ZCDP(10),
    )
    text = "SELECT city, region, COUNT(*) AS n FROM visits GROUP BY city, region"
    stream = sf.stream(table, text, time="day", start="2026-01-01", promise=sf.ZCDP(1))
    stream.advance(until="2026-01-03")
    days = stream.periods()
    assert [row[1:] for row in days.rows[:3]] == [
        ("Bari", "Puglia"),
        ("Lecce", "Puglia"),
        ("Roma", "Lazio"),
    ]
    assert days["n"].tolist() == [2, 0, 1, 0, 0, 0]
    close(stream)
