"""The door: charged before anything is read, one text for whatever breaks, nothing of the data in
it, and the same answer again for nothing.
"""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import release as door
from sfumato.answers import Weighing
from sfumato.errors import Failed, Refused
from sfumato.session.protected_table import Table
from sfumato.tables.plan import read_results
from sfumato.tables.query.stages import Query

CANARY = "canary-5f2c81e7"
NUMBER = 918273645
ROWS = pa.table(
    {
        "u": [CANARY, CANARY, "b", "c", None] * 4,
        "city": [CANARY, "Roma", "Roma", "Bari", "Roma"] * 4,
        "x": [float(NUMBER), 1.0, 2.0, 3.0, 4.0] * 4,
        "n": [NUMBER, 1, 2, 3, 4] * 4,
    }
)


@pytest.fixture
def visits(tmp_path: Path) -> Iterator[Table]:
    table = sf.protect(
        ROWS,
        name="visits",
        unit="u",
        max_rows=3,
        bounds={"x": (0, 10)},
        budget=sf.Approx(10, "1e-5"),
        ledger=tmp_path / "visits.ledger",
    )
    with table:
        yield table


def counted(table: Table) -> Query:
    return table.group_by(city=["Roma", "Bari"]).aggregate(n=sf.count(), m=sf.mean("x"))


def spent(table: Table) -> Fraction:
    return Fraction(table.spent.parameters["epsilon"])


def test_charge_then_answer(visits: Table) -> None:
    answer = counted(visits).release(epsilon=1)
    assert spent(visits) == 1
    assert answer.rows == (("Bari",), ("Roma",))
    assert answer.names == ("n", "m")
    assert answer.receipt is not None
    assert answer.receipt.number == visits.ledger.head.number - (
        1 if visits.ledger.head.number > answer.receipt.number else 0
    )
    assert answer.cost.parameters["epsilon"] == 1
    assert answer.left == visits.remaining


@pytest.mark.parametrize(
    ("promise", "about", "rule", "bits"),
    [
        (sf.Approx(1, "1e-9"), {}, "part", 20),
        (sf.ZCDP("0.1"), {}, "root", 20),
        (sf.Approx(1, "1e-9"), {"bounding": "truncation"}, "drawn", 0),
        (sf.ZCDP("0.1"), {"unit": None, "max_rows": None}, "row", 0),
    ],
    ids=str,
)
def test_an_answer_records_how_its_units_were_bounded(
    promise: sf.Guarantee, about: dict[str, Any], rule: str, bits: int
) -> None:
    limits: dict[str, Any] = {"unit": "u", "max_rows": 3, **about}
    with sf.protect(
        ROWS, name="visits", bounds={"x": (0, 10)}, budget=sf.ZCDP(10, "1e-3"), **limits
    ) as table:
        answer = counted(table).release(promise=promise)
        alone = table.aggregate(n=sf.count()).release(promise=promise)
    rows, groups = (3, 2) if rule != "row" else (1, 1)  # no unit is in more groups than are listed
    assert answer.weighing == Weighing(rule, rows, groups, bits)  # type: ignore[arg-type]  # a rule
    assert alone.weighing is not None
    assert alone.weighing.rule == ("part" if rule == "root" else rule), (
        "without groups there is one norm"
    )
    assert answer.complete
    assert answer.facts["rows"] == "from visits"
    assert sf.answers.Answer.from_json(answer.to_json()).weighing == answer.weighing


def test_private_keys_may_hide_groups(visits: Table) -> None:
    assert (
        not visits.group_by("city")
        .aggregate(n=sf.count())
        .release(epsilon=1, delta="1e-6")
        .complete
    )


def test_the_charge_is_durable_before_the_engine_is_asked(
    visits: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    charged = []
    tally = type(visits._source.engine).tally

    def watched(self: Any, *arguments: Any, **named: Any) -> Any:
        ledger = sf.Ledger.open(tmp_path / "visits.ledger", dataset="visits")
        charged.append(Fraction(ledger.spent.parameters["epsilon"]))
        ledger.close()
        return tally(self, *arguments, **named)

    monkeypatch.setattr(type(visits._source.engine), "tally", watched)
    counted(visits).release(epsilon=1)
    assert charged
    assert set(charged) == {Fraction(1)}


# Again


def test_the_same_question_again_costs_nothing_and_is_the_same(
    visits: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = counted(visits).release(epsilon=1)

    def touched(*_: Any, **__: Any) -> None:
        raise AssertionError("data was read")

    monkeypatch.setattr(type(visits._source.engine), "tally", touched)
    again = counted(visits).release(epsilon=1)
    assert spent(visits) == 1
    assert again.recalled
    assert not first.recalled
    for before, after in zip(first.pieces, again.pieces, strict=True):
        assert before.values.tolist() == after.values.tolist()
    assert str(first["n"]) == str(again["n"])
    third = counted(visits).release(epsilon=1)
    assert third.to_json() == again.to_json()


@pytest.mark.parametrize("changed", ["epsilon", "question", "fresh", "version", "bounds"])
def test_another_question_is_charged(changed: str, tmp_path: Path) -> None:
    def ask(**about: Any) -> Table:
        limits = {"unit": "u", "max_rows": 3, "bounds": {"x": (0, 10)}, **about}
        return sf.protect(
            ROWS,
            name="visits",
            budget=sf.Approx(10, "1e-5"),
            ledger=tmp_path / "visits.ledger",
            **limits,
        )

    with ask() as table:
        counted(table).release(epsilon=1)
    about = {"version": {"version": "2"}, "bounds": {"bounds": {"x": (0, 11)}}}.get(changed, {})
    with ask(**about) as table:
        query = table.aggregate(n=sf.count()) if changed == "question" else counted(table)
        query.release(epsilon="1.5" if changed == "epsilon" else 1, fresh=changed == "fresh")
        assert spent(table) == (Fraction(5, 2) if changed == "epsilon" else 2)


def test_a_stored_answer_outlives_the_process_and_the_table(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    about: dict[str, Any] = {
        "name": "visits",
        "unit": "u",
        "max_rows": 3,
        "bounds": {"x": (0, 10)},
        "budget": sf.Approx(10, "1e-5"),
        "ledger": path,
    }
    with sf.protect(ROWS, **about) as table:
        first = counted(table).release(epsilon=1)
    with sf.protect(ROWS, **about) as table:
        again = counted(table).release(epsilon=1)
        assert spent(table) == 1
    assert first.pieces[0].values.tolist() == again.pieces[0].values.tolist()


def test_shares(visits: Table) -> None:
    visits.ledger.allow("ada", sf.Approx(1, "1e-6"))
    visits.ledger.allow("bob", sf.Approx("1/2", "1e-6"))
    counted(visits).release(epsilon="1/2", share="ada")
    with pytest.raises(sf.Refused):
        counted(visits).release(epsilon=1, share="bob")  # more than bob has
    counted(visits).release(epsilon="1/2", share="bob")  # what ada was given, free for the dataset
    assert spent(visits) == Fraction(1, 2)
    with pytest.raises(sf.Refused):
        counted(visits).release(epsilon="1/4", share="nobody")
    with pytest.raises(sf.Refused):
        counted(visits).release(epsilon="3/4", share="ada", fresh=True)  # more than ada has left
    assert spent(visits) == Fraction(1, 2)


# Refused: nothing is read, nothing is spent


@pytest.mark.parametrize("timeout", [-1, 0, "soon", float("nan"), True])
def test_a_refusal_spends_nothing(timeout: Any, visits: Table) -> None:
    with pytest.raises(sf.Refused) as refused:
        counted(visits).release(epsilon=1, timeout=timeout)
    assert refused.value.code == "engine.timeout"
    assert spent(visits) == 0


def test_more_than_the_budget_reads_nothing(visits: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def touched(*_: Any, **__: Any) -> None:
        raise AssertionError("data was read")

    monkeypatch.setattr(type(visits._source.engine), "tally", touched)
    with pytest.raises(sf.BudgetExceeded):
        counted(visits).release(epsilon=11)
    assert spent(visits) == 0


# Failed: one text, no cause


def broken(what: str) -> BaseException:
    """An error that knows too much."""
    try:
        raise ValueError(f"cell {CANARY} of {NUMBER}")
    except ValueError as error:
        failure: BaseException = {
            "exception": RuntimeError,
            "memory": MemoryError,
            "assertion": AssertionError,
        }[what](f"row {CANARY}")
        failure.__cause__ = error
        return failure


@pytest.mark.parametrize("what", ["exception", "memory", "assertion"])
@pytest.mark.parametrize("where", ["run", "read", "votes_of", "keep", "counts", "perturb_all"])
def test_whatever_breaks_says_one_text(
    what: str,
    where: str,
    visits: Table,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def breaks(*_: Any, **__: Any) -> None:
        raise broken(what)

    from sfumato.mechanisms import CountThreshold, OptimalSelection

    target = {
        "run": (type(visits._source.engine), "run"),
        "read": (door, "read_component"),
        "votes_of": (door, "votes_of"),
        "keep": (OptimalSelection, "keep"),
        "counts": (door, "counts_of_lines"),
        "perturb_all": (CountThreshold, "perturb_all"),
    }[where]
    # counts select their own groups, votes those of a sum
    aggregate = sf.count() if where in ("counts", "perturb_all", "run") else sf.sum("x")
    monkeypatch.setattr(*target, breaks)
    caplog.set_level(logging.DEBUG)
    with pytest.raises(Failed) as failed:
        visits.group_by("city").aggregate(n=aggregate).release(epsilon=1)
    error = failed.value
    assert str(error) == Failed.TEXT
    assert (error.__cause__, error.__context__) == (None, None)
    shown = "".join(traceback.format_exception(error)) + caplog.text
    assert CANARY not in shown
    assert str(NUMBER) not in shown
    assert spent(visits) == 1  # what was charged stays charged
    monkeypatch.undo()
    visits.group_by("city").aggregate(n=aggregate).release(epsilon=1)
    assert spent(visits) == 2  # nothing was stored that could be given again


@pytest.mark.parametrize("together", [False, True])
def test_an_answer_that_cannot_be_stored_has_failed(
    together: bool, visits: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refusal would say that nothing was read and nothing spent."""

    def full(*_: Any) -> None:
        raise Refused("ledger.full", "the book", "the disk is full", "make room")

    monkeypatch.setattr(type(visits.ledger), "remember", full)
    with pytest.raises(Failed) as failed:
        visits.release_all([counted(visits)], epsilon=1) if together else counted(visits).release(
            epsilon=1
        )
    assert (failed.value.__cause__, failed.value.__context__) == (None, None)
    assert spent(visits) == 1


@pytest.mark.parametrize("where", ["finish", "sql", "batch"])
def test_what_breaks_in_post_processing_has_failed(
    where: str, visits: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception inside `finish` left as it was: an error after the charge that quoted released
    numbers and looked like a mistake of the caller's.
    """
    from sfumato.sql.postprocess import PostProcessing

    def breaks(*_: Any, **__: Any) -> None:
        raise broken("exception")

    monkeypatch.setattr(
        *((door, "explain_rules") if where == "finish" else (PostProcessing, "__call__")), breaks
    )
    text = "SELECT COUNT(*) AS n FROM visits"
    with pytest.raises(Failed) as failed:
        {
            "finish": lambda: counted(visits).release(epsilon=1),
            "sql": lambda: visits.sql(text, epsilon=1),
            "batch": lambda: visits.release_all([text], epsilon=1),
        }[where]()
    assert str(failed.value) == Failed.TEXT
    assert (failed.value.__cause__, failed.value.__context__) == (None, None)
    assert spent(visits) == 1


def test_an_answer_has_the_moment_of_its_charge(
    visits: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither when the work ended is in it, nor what others have spent meanwhile."""
    true = door._tally

    def slow(*arguments: Any) -> Any:
        visits.ledger.charge(sf.Pure(1))
        time.sleep(1.1)
        return true(*arguments)

    monkeypatch.setattr(door, "_tally", slow)
    answer = counted(visits).release(epsilon=1)
    assert answer.facts["released"] == answer.receipts[0].when[:19] + "+00:00"
    assert answer.left is not None
    assert (answer.left.parameters["epsilon"], visits.remaining.parameters["epsilon"]) == (9, 8)


def test_no_frame_of_a_failure_holds_data(visits: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A debugger that looks at the frames of the traceback finds plans and statements, and no
    table.
    """

    def breaks(*arguments: Any, **__: Any) -> None:
        secret = pa.table({"x": [CANARY]})
        raise RuntimeError(secret)

    monkeypatch.setattr(door, "read_component", breaks)
    with pytest.raises(Failed) as failed:
        counted(visits).release(epsilon=1)
    frame = failed.value.__traceback__
    while frame is not None:
        held = frame.tb_frame.f_locals
        if (
            "sfumato" in frame.tb_frame.f_code.co_filename
            and "tests" not in frame.tb_frame.f_code.co_filename
        ):
            assert not any(
                isinstance(value, pa.Table | pa.RecordBatch | np.ndarray | BaseException)
                for value in held.values()
            )
        frame = frame.tb_next


def test_an_interrupted_engine_fails_like_any_other(
    visits: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test replaces the statement by an endless one, so that the time-out strikes."""
    engine = visits._source.engine
    endless = (
        f"SELECT sum(t0.n * t9.n) FROM {', '.join(f'visits t{i}' for i in range(12))}"  # 20^12 rows
    )
    monkeypatch.setattr(engine, "sql", lambda _: endless)
    with pytest.raises(Failed) as failed:
        counted(visits).release(epsilon=1, timeout=0.05)
    assert str(failed.value) == Failed.TEXT
    assert failed.value.__context__ is None
    assert spent(visits) == 1
    monkeypatch.undo()
    assert visits.aggregate(n=sf.count()).release(epsilon=1)  # the engine is still there


# Canaries


def test_no_canary_gets_out(
    visits: Table,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Unique texts and numbers in private cells: none of them in answers, plans, messages, logs,
    the book, or what is printed.
    """
    caplog.set_level(logging.DEBUG)
    texts = [repr(visits), visits.declaration.to_toml()]
    queries = [
        counted(visits),
        visits.group_by("city").aggregate(n=sf.count(), s=sf.sum("x")),
        visits.where(sf.col("n") > 5)
        .mutate(y=sf.col("n") * 2)
        .aggregate(
            s=sf.sum("y", low=0, high=5), h=sf.histogram("n", edges=(0, 9)), q=sf.median("x")
        ),
        visits.group_by("n").aggregate(u=sf.count_units()),
    ]
    for query in queries:
        plan = query.plan(epsilon="1/10")
        answer = query.release(epsilon="1/10")
        texts += [
            str(plan),
            *plan.sql,
            repr(plan),
            str(answer),
            answer.to_json().decode(),
            answer._repr_html_(),
            answer.to_csv(),
            str(answer.card()),
        ]
    for code in (
        lambda: visits.aggregate(s=sf.sum("n")),
        lambda: visits.where(sf.col("nothing") > 1),
    ):
        with pytest.raises(sf.Refused) as refused:
            code().release(epsilon=1, learn=False)
        texts.append(str(refused.value))
    learned = visits.aggregate(s=sf.sum("n")).release(
        epsilon="1/10"
    )  # bounds of n, which are powers of two whatever is there
    texts += [str(learned), str(learned.card()), visits.declaration.to_toml()]
    texts += [visits.ledger.to_csv(), visits.ledger.to_json()]
    captured = capfd.readouterr()
    book = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    text = "\n".join(map(str, texts)) + caplog.text + captured.out + captured.err
    for secret in (CANARY, str(NUMBER)):
        assert secret not in text
        assert secret.encode() not in book


# Side by side


def test_many_threads_may_ask_at_once(visits: Table) -> None:
    outcomes: list[Any] = []

    def ask(i: int) -> None:
        try:
            outcomes.append(
                visits.aggregate(n=sf.count_if(sf.col("x") > i)).release(epsilon="1/10")
            )
        except Exception as error:
            outcomes.append(error)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(isinstance(answer, sf.answers.Answer) for answer in outcomes), outcomes
    assert spent(visits) == Fraction(8, 10)


def test_the_question_has_all_that_matters(visits: Table) -> None:
    plan = counted(visits).plan(epsilon=1)
    assert door.question_key(plan) == door.question_key(counted(visits).plan(epsilon=1))
    for changed in (
        counted(visits).plan(epsilon=2),
        counted(visits).plan(promise=sf.ZCDP("1/8")),
        visits.aggregate(n=sf.count()).plan(epsilon=1),
    ):
        assert door.question_key(changed) != door.question_key(plan)


def test_groups_that_nobody_selected_are_not_read(
    visits: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With private keys, pieces are read for the named groups alone."""
    shapes = []
    original = read_results.read_component

    def watched(*arguments: Any, **named: Any) -> Any:
        component = original(*arguments, **named)
        shapes.append(component.shape)
        return component

    monkeypatch.setattr(door, "read_component", watched)
    answer = (
        visits.group_by("city")
        .aggregate(n=sf.count(), h=sf.histogram("x", edges=(0, 5, 10)))
        .release(epsilon=1)
    )
    assert {shape[0] for shape in shapes} <= {len(answer), 1}


def test_no_group_is_shown_of_many_columns() -> None:
    """A count that is read from many blocks has weights of more than 64 bits."""
    ranges = [9973, 10007, 7919, 8111, 6007, 5003, 4001, 3001, 9001, 8803, 7001, 6101]
    rows = pa.table({"u": [1], "k": ["a"], **{f"x{high}": [0] for high in ranges}})
    with sf.protect(
        rows,
        name="t",
        unit="u",
        max_rows=1,
        bounds={f"x{high}": (0, high) for high in ranges},
        budget=sf.Approx(1, "1e-9"),
    ) as table:
        means = {f"m{high}": sf.mean(f"x{high}") for high in ranges}
        question = table.group_by("k").aggregate(n=sf.count(), **means)
        plan = question.plan(epsilon=1, delta="1e-9")
        count = plan.calibration.readings[plan.columns[0].components[0]]
        assert max(weight for _, weights in count.parts for weight in weights) >= 2**64
        answer = question.release(epsilon=1, delta="1e-9")
    assert (len(answer), list(answer["n"])) == (0, [])
