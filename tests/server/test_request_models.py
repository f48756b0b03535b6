"""A question is one JSON object with these names, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sfumato.guarantees import ZCDP, Pure
from sfumato.server.http.problems import ProblemError
from sfumato.server.http.request_models import MOST_DEPTH, Question, read

SQL = "SELECT COUNT(*) AS n FROM visits"


def body(**fields: Any) -> bytes:
    return json.dumps({"sql": SQL, **fields}).encode()


@pytest.mark.parametrize(
    "fields",
    [
        {"epsilon": 1},
        {"epsilon": 0.5, "delta": 0},
        {"epsilon": "1/3", "delta": "1e-9", "confidence": "0.99", "group_size": 100},
        {"within": 25},
        {"within": {"n": "25.5", "m": 3}},
        {"epsilon": 1, "parameters": [1, 2.5, "x", None, True]},
        {"epsilon": 1, "parameters": {"a": 1}},
        {"promise": {"notion": "ZCDP", "rho": "1/10"}},
    ],
    ids=str,
)
def test_what_is_asked_is_read(fields: dict[str, Any]) -> None:
    assert read(body(**fields)).as_sent() == {"sql": SQL, **fields}


def test_promises_are_made() -> None:
    assert read(body(promise={"notion": "Pure", "epsilon": "1/3"})).plan_arguments()[
        "promise"
    ] == Pure("1/3")
    assert read(
        body(promise={"sfumato": "guarantee", "version": 1, "notion": "ZCDP", "rho": "0.1"})
    ).plan_arguments()["promise"] == ZCDP("0.1")


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e400", "-1e400"])
@pytest.mark.parametrize(
    "template", ['"parameters": [{}]', '"parameters": {{"a": {}}}', '"parameters": [1, {}]']
)
def test_parameters_have_an_end(template: str, number: str) -> None:
    with pytest.raises(ProblemError) as caught:
        read(f'{{"sql": "{SQL}", "epsilon": 1, {template.format(number)}}}'.encode())
    assert caught.value.problem.status == 422
    assert caught.value.problem.place.startswith("parameters")


@pytest.mark.parametrize("number", [10**40, 1e308, -0.0, True, None, "Infinity"], ids=str)
def test_other_parameters_stay_what_they_are(number: Any) -> None:
    (parameter,) = read(body(epsilon=1, parameters=[number])).parameters or ()
    assert (parameter, type(parameter)) == (number, type(number))


def test_whole_numbers_may_have_a_point() -> None:
    assert read(body(epsilon=1, group_size=7.0)).group_size == 7


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"epsilon": 1, "within": 2},
        {"epsilon": None},
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": True},
        {"epsilon": "one"},
        {"epsilon": "1/0"},
        {"epsilon": [1]},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": None},
        {"epsilon": 1, "confidence": 1},
        {"epsilon": 1, "group_size": 0},
        {"epsilon": 1, "group_size": "7"},
        {"epsilon": 1, "group_size": 7.5},
        {"epsilon": 1, "parameters": [[1]]},
        {"epsilon": 1, "parameters": "x"},
        {"epsilon": 1, "fresh": True},
        {"epsilon": 1, "share": "bob"},
        {"epsilon": 1, "sql": ""},
        {"epsilon": 1, "sql": "x" * 10_001},
        {"epsilon": 1, "sql": 5},
        {"within": {}},
        {"within": {"n": -1}},
        {"promise": {"notion": "Loss"}},
        {"promise": {"notion": "Pure", "epsilon": "1", "more": 1}},
    ],
    ids=lambda fields: str(fields)[:60],
)
def test_what_is_something_else_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ProblemError) as caught:
        read(body(**fields))
    assert caught.value.problem.status == 422


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"null",
        b"1",
        b"{",
        b'{"sql": "\xff"}',
        b'{"sql": "\\ud800", "epsilon": 1}',
        b"\x00",
        b'{"epsilon": NaN}',
    ],
    ids=repr,
)
def test_what_is_no_object_is_refused(text: bytes) -> None:
    with pytest.raises(ProblemError) as caught:
        read(text)
    assert caught.value.problem.code == "server.body"


def test_depth_is_bounded() -> None:
    deep = b'{"sql": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"
    with pytest.raises(ProblemError) as caught:
        read(deep)
    assert str(MOST_DEPTH) in caught.value.problem.reason
    assert (
        read(body(epsilon=1, sql="SELECT '" + "[{" * 50 + "\\\"' AS x")).epsilon == 1
    )  # in a string it is text


def test_nothing_of_a_wrong_value_is_repeated() -> None:
    with pytest.raises(ProblemError) as caught:
        read(body(epsilon="Xenophon"))
    assert b"Xenophon" not in caught.value.problem.body()


def test_the_same_question_is_the_same_bytes() -> None:
    first, second = read(b'{"epsilon": "0.1", "sql": "S"}'), read(b'{ "sql":"S","epsilon":"0.1"}')
    assert first.canonical() == second.canonical()
    assert Question(sql="S", epsilon="0.10").canonical() != first.canonical()
