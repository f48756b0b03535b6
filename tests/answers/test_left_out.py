"""What limits left out: said where 0 is excluded, and bounded elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sfumato.answers import Answer
from sfumato.answers.left_out import left_out, left_out_notes
from sfumato.answers.proportions import withheld_labels
from sfumato.answers.render.footnote_texts import TOGETHER

from .examples import counted, laplace, noisy, visits


def clipped(below: int, above: int, name: str = "spend [0, 64]") -> Answer:
    piece = noisy(f"clipped:{name}", [[below, 10**6, above]], mechanism=laplace(30))
    return counted([1], extra=(piece,))


def test_a_share_is_said_where_zero_is_excluded() -> None:
    below, above = left_out(clipped(0, 90_000))
    assert not below.is_said
    assert above.is_said
    assert left_out_notes(clipped(0, 90_000)) == [above.text]
    assert above.text.startswith("about 8.26 % ± 0.02 % of rows lie above the bounds of spend")
    assert below.text == "at most 0.1 % of rows lie below the bounds of spend [0, 64]"


def test_a_share_within_the_noise_is_not_said() -> None:
    """30 rows of noise: 100 rows may be none, and so may all be in groups that are shown."""
    assert left_out_notes(clipped(100, -40)) == []
    assert left_out_notes(clipped(150, 100)) == []
    few: Any = noisy("total", [[3]], mechanism=laplace(30))
    assert left_out_notes(counted([1], extra=(few,))) == []


def test_where_no_group_is_shown_all_rows_are_left_out() -> None:
    total: Any = noisy("total", [[5000]], mechanism=laplace(30))
    answer = counted([], extra=(total,))
    assert left_out_notes(answer) == ["all rows are in groups too small to be shown"]
    assert withheld_labels(answer) == ("all counted rows are in groups too small to be named",)


def test_a_tiny_share_is_not_worth_a_word() -> None:
    below, _ = left_out(clipped(900, 0))
    assert below.share.low > 0
    assert left_out_notes(clipped(900, 0)) == []


def test_statements_hold_together() -> None:
    """Three statements: each at a higher level than one by itself."""
    statements = left_out(visits())
    assert len(statements) == 3
    (alone,) = visits().clipped().values()
    for statement, share in zip(statements, alone, strict=False):
        assert statement.share.low <= share.low
        assert share.high < statement.share.high
    assert TOGETHER.format(level="95 %") in visits().explain(width=200)


def test_any_name_is_text() -> None:
    text = left_out(clipped(0, 90_000, "{x} \x1b [0, 1]"))[1].text
    assert "{x} \\x1b [0, 1]" in text


def test_what_learning_estimated_is_printed_first() -> None:
    beyond = "at least 26 % of rows, beyond the limit of 4 per user_id, are not counted"
    unmeasured = "rows beyond the limit of 4 per user_id were not measured: check_limits does"
    answer = replace(clipped(0, 90_000), facts={"left_out": (beyond,), "unmeasured": (unmeasured,)})
    assert left_out_notes(answer)[0] == beyond
    assert unmeasured not in str(answer)
    for note in (beyond, unmeasured):
        assert f"limit   {note}" in answer.explain(width=200)
    stored = Answer.from_json(answer.to_json())
    assert left_out_notes(stored) == left_out_notes(answer)
