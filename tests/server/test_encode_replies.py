"""An answer in its forms."""

from __future__ import annotations

import io
import json
import math
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.answers.answer import Answer
from sfumato.server.http.encode_replies import (
    ARROW,
    CSV,
    FORMS,
    JSON,
    dumped,
    from_reply,
    key,
    number,
    rendered,
    reply,
)


@pytest.fixture(scope="module")
def answer() -> Answer:
    rows = pa.table(
        {
            "who": range(50),
            "x": [float(i % 5) for i in range(50)],
            "k": ["=a" if i % 2 else "b" for i in range(50)],
        }
    )
    with sf.protect(
        rows,
        name="t",
        unit="who",
        budget=100,
        max_rows=1,
        bounds={"x": (0, 5)},
        keys={"k": ["=a", "b", "c"]},
    ) as table:
        released: Answer = table.sql(
            "SELECT k, COUNT(*) AS n, AVG(x) AS m FROM t GROUP BY k", epsilon=1
        )
        return released


def test_json_has_everything(answer: Answer) -> None:
    document = json.loads(reply(answer))
    assert Answer.from_json(json.dumps(document["answer"])) == answer
    assert document["table"]["columns"] == ["k", "n", "m"]
    low, high = answer.interval("m")
    assert [(row["k"], row["m_low"], row["m_high"]) for row in document["table"]["rows"]] == list(
        zip(answer["k"], low, high, strict=True)
    )
    assert document["cost"]["epsilon"] == "1"
    assert document["rules"] == list(answer.rules)


def test_csv_runs_no_formula(answer: Answer) -> None:
    assert rendered(answer, CSV).decode().splitlines()[1].startswith("'=a,")


def test_arrow_is_a_stream(answer: Answer) -> None:
    with pa.ipc.open_stream(io.BytesIO(rendered(answer, ARROW))) as stream:
        assert stream.read_all()["n_low"].to_pylist() == np.floor(answer.interval("n")[0]).tolist()


@pytest.mark.parametrize("form", FORMS)
def test_other_forms_follow_from_json(answer: Answer, form: str) -> None:
    assert from_reply(reply(answer), form) == rendered(answer, form) == rendered(answer, form)


def test_columns_that_would_share_a_name_go_without_intervals() -> None:
    with sf.protect(
        pa.table({"who": [1, 2]}), name="t", unit="who", budget=100, max_rows=1
    ) as table:
        released = table.sql("SELECT COUNT(*) AS n, COUNT(*) AS n_low FROM t", epsilon=1)
    assert set(json.loads(rendered(released, JSON))["table"]["rows"][0]) == {"n", "n_low"}
    assert rendered(released, CSV).startswith(b"n,n_low\r\n")
    assert rendered(released, ARROW)


def test_what_json_has_no_word_for() -> None:
    assert [number(value) for value in (math.nan, -math.inf, 1.5, 3)] == [None, None, 1.5, 3]
    assert [key(value) for value in (None, True, 5, "x", Decimal("1.50"), date(2026, 1, 2))] == [
        None,
        True,
        5,
        "x",
        "1.50",
        "2026-01-02",
    ]
    with pytest.raises(ValueError, match="JSON"):
        dumped([math.nan])
