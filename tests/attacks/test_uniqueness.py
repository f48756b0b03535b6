"""Who is alone: the source's numbers, brute force, and what the same knowledge is worth against
private counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.attacks.data.student_survey import survey
from sfumato.attacks.uniqueness import Uniqueness, uniqueness
from sfumato.errors import Refused

from .promises import promises_hold


def uniqueness_by(*names: str, **more: Any) -> Uniqueness:
    return uniqueness(survey(), names, **more)


@pytest.mark.parametrize(
    ("names", "alone"),
    [
        (("age",), 4),
        (("sex", "age"), 7),
        (("sex", "age", "start"), 15),
        (("sex", "age", "start", "worst"), 16),
        (("sex", "age", "start", "siblings", "worst"), 18),
    ],
    ids=str,
)
def test_S_141_shares_are_as_printed(names: tuple[str, ...], alone: int) -> None:
    assert uniqueness_by(*names).alone == alone
    assert uniqueness_by(*names).share == alone / 24


def test_the_interface() -> None:
    frame = pd.DataFrame(survey())
    assert sf.attacks.uniqueness(frame, ["sex", "age", "start"]).share == 0.625


def test_a_profile() -> None:
    result = uniqueness_by("sex", "age")
    assert result.k == 1
    assert result.sizes.tolist() == [1] * 7 + [2] * 4 + [4, 5]
    assert result.profile == {2: 7 / 24, 3: 15 / 24, 5: 19 / 24, 10: 1.0}
    assert result.by_columns == (("sex", 0), ("age", 7))
    assert uniqueness_by("sex").k == 11
    assert uniqueness_by("sex").profile == {2: 0.0, 3: 0.0, 5: 0.0, 10: 0.0, 20: 1.0}


def test_the_smallest_identifying_columns() -> None:
    result = uniqueness_by("sex", "age", "start", "siblings", "worst")
    assert all(len(names) == 2 and uniqueness_by(*names).share >= 0.5 for names in result.smallest)
    assert uniqueness_by("sex", "age").smallest == ()
    assert uniqueness_by("sex", "age", target_share="7/24").smallest == (("sex", "age"),)
    assert uniqueness_by("sex", "id").smallest == (("id",),)
    assert "id is enough" in str(uniqueness_by("sex", "id"))
    assert "do not single out 50 %" in str(uniqueness_by("sex", "age"))


def test_diversity_comes_with_a_sensitive_column() -> None:
    result = uniqueness_by("sex", "start", sensitive="drugs")
    assert result.l == 1
    assert result.t is not None
    assert set(result.numbers) >= {"share", "k", "l", "t", "certain"}
    assert result.diversity is not None
    assert result.diversity.fewer[2] == result.numbers["certain"]
    assert list(result.diversity.further.values()) == sorted(
        result.diversity.further.values(), reverse=True
    )
    assert uniqueness_by("sex").l is None
    assert uniqueness_by("sex").t is None


def test_sentences_are_for_people() -> None:
    result = str(uniqueness_by("sex", "age", "start"))
    assert result.startswith(
        "By sex, age and start, 15 of 24 people (62.5 %) are the only one of their kind"
    )
    assert "the table is 1-anonymous" in result


def test_the_picture() -> None:
    (axes,) = uniqueness_by("sex", "age", "start").plot().axes
    assert [bar.get_height() for bar in axes.patches] == [0, 7 / 24, 15 / 24]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["sex", "+ age", "+ start"]


@pytest.mark.parametrize("sensitive", [None, "drugs", "best"])
def test_private_counts_keep_their_promise(sensitive: str | None) -> None:
    """Wrong with probability 10⁻⁶; exact counts, the twin, are far above what is allowed."""
    exact, *private = uniqueness_by("sex", "age", "start", sensitive=sensitive).against(
        ("0.1", 1), trials=2000
    )
    assert exact.lower() > 0.99
    assert promises_hold(private)
    assert all(success.bound < 0.74 for success in private)


def test_nobody_alone_is_attacked_in_the_smallest_cell() -> None:
    exact, private = uniqueness_by("sex").against((1,), trials=500)
    assert exact.rate == 1
    assert private.holds


def test_many_rows() -> None:
    """By hash and by table, the same as pandas."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            name: generator.integers(0, width, 50_000)
            for name, width in (("a", 300), ("b", 40), ("c", 7))
        }
    )
    result = uniqueness(frame, ["a", "b", "c"], target_share=0.9)
    sizes = frame.groupby(["a", "b", "c"]).size()
    assert result.alone == int((sizes == 1).sum())
    assert result.k == sizes.min()
    assert len(result.sizes) == len(sizes)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"columns": "age"}, "attacks.columns"),
        ({"columns": ["weight"]}, "attacks.columns"),
        ({"columns": ["age", "age"]}, "attacks.columns"),
        ({"columns": [f"c{i}" for i in range(17)]}, "attacks.columns"),
        ({"columns": ["age"], "sensitive": "age"}, "attacks.sensitive"),
        ({"columns": ["age"], "target_share": 0}, "number.not-a-probability"),
    ],
    ids=["text", "unknown", "twice", "many", "sensitive", "target_share"],
)
def test_refusals(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as refusal:
        uniqueness(survey(), **arguments)
    assert refusal.value.code == code
