"""A δ that is too large is said: by `protect`, by the plan, below the answer and on its card."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import sfumato as sf

QUESTION = "SELECT COUNT(*) AS n FROM visits"


@contextmanager
def delta_warning(words: str) -> Iterator[None]:
    """Expect exactly one warning of a δ, with these words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    (only,) = [each for each in caught if each.category is sf.DeltaWarning]
    assert re.search(words, str(only.message))
    assert only.filename == __file__


def protect(budget: sf.Guarantee, **about: Any) -> Any:
    return sf.protect(
        sf.samples.visits(), name="visits", unit="user_id", max_rows=4, budget=budget, **about
    )


@pytest.mark.parametrize(
    ("delta", "rows", "words"),
    [
        ("5e-7", 20_000, "0.01 of them may be expected"),
        ("1e-5", 20_000, "0.2 of them may be expected.*Choose a smaller δ"),
        ("0.2", 20_000, "4000 of them may be expected.*protects nobody in particular"),
        ("0.2", None, "n·δ of n units may be expected to be published in full"),
        ("0.002", None, "declare table_rows= to have n·δ computed"),
    ],
)
def test_protect_warns(delta: str, rows: int | None, words: str) -> None:
    """From n·δ = 0.01 on, with other words from 0.1 and from 1; without a number of rows the rule
    in words.
    """
    with delta_warning(words):
        protect(sf.Approx(1, delta), **({} if rows is None else {"table_rows": rows}))


@pytest.mark.parametrize(("delta", "rows"), [("4e-7", 20_000), ("1e-3", None), ("0", 10**9)])
def test_a_small_delta_passes_without_a_word(delta: str, rows: int | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", sf.DeltaWarning)
        table = protect(sf.Approx(1, delta), **({} if rows is None else {"table_rows": rows}))
    plan = table.plan(QUESTION, promise=sf.Approx("0.5", delta))
    assert "With δ" not in repr(plan) + plan.explain()


def test_plan_answer_and_card_say_it() -> None:
    with delta_warning("4000 of them"):
        table = protect(sf.Approx(1, "0.2"), table_rows=20_000)
    promise = sf.Approx("0.5", "0.1")
    words = "With δ = 0.1 for 20.000 units, 2000 of them may be expected to be published in full"
    plan = table.plan(QUESTION, promise=promise)
    assert re.search(words, repr(plan))
    assert re.search(words, " ".join(plan.explain().split()))
    answer = table.sql(QUESTION, promise=promise)
    assert re.search(words, " ".join(repr(answer).split()))
    assert re.search(words, " ".join(answer.rules))
    small = table.sql(QUESTION, promise=sf.Approx("0.1", "1e-9"))
    assert "With δ" not in repr(small)


def test_databases_warn_as_tables_do() -> None:
    visits = sf.samples.visits()
    with delta_warning("n·δ of n units"):
        sf.protect({"visits": visits}, unit="visits.user_id", budget=sf.Approx(1, "0.2"))
    with delta_warning("0.2 of them"):
        sf.protect(
            {"visits": visits},
            unit="visits.user_id",
            budget=sf.Approx(1, "1e-5"),
            table_rows={"visits": 20_000},
        )
