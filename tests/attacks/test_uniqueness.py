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

from .kept import kept


def found(*names: str, **more: Any) -> Uniqueness:
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
    assert found(*names).alone == alone
    assert found(*names).share == alone / 24


def test_the_interface() -> None:
    frame = pd.DataFrame(survey())
    assert sf.attacks.uniqueness(frame, ["sex", "age", "start"]).share == 0.625


def test_a_profile() -> None:
    told = found("sex", "age")
    assert told.k == 1
    assert told.sizes.tolist() == [1] * 7 + [2] * 4 + [4, 5]
    assert told.profile == {2: 7 / 24, 3: 15 / 24, 5: 19 / 24, 10: 1.0}
    assert told.by_columns == (("sex", 0), ("age", 7))
    assert found("sex").k == 11
    assert found("sex").profile == {2: 0.0, 3: 0.0, 5: 0.0, 10: 0.0, 20: 1.0}


def test_the_smallest_identifying_columns() -> None:
    told = found("sex", "age", "start", "siblings", "worst")
    assert all(len(names) == 2 and found(*names).share >= 0.5 for names in told.smallest)
    assert found("sex", "age").smallest == ()
    assert found("sex", "age", wanted="7/24").smallest == (("sex", "age"),)
    assert found("sex", "id").smallest == (("id",),)
    assert "id is enough" in str(found("sex", "id"))
    assert "do not single out 50 %" in str(found("sex", "age"))


def test_diversity_comes_with_a_sensitive_column() -> None:
    told = found("sex", "start", sensitive="drugs")
    assert told.l == 1
    assert told.t is not None
    assert set(told.numbers) >= {"share", "k", "l", "t", "certain"}
    assert told.diversity is not None
    assert told.diversity.fewer[2] == told.numbers["certain"]
    assert list(told.diversity.further.values()) == sorted(
        told.diversity.further.values(), reverse=True
    )
    assert found("sex").l is None
    assert found("sex").t is None


def test_sentences_are_for_people() -> None:
    told = str(found("sex", "age", "start"))
    assert told.startswith(
        "By sex, age and start, 15 of 24 people (62.5 %) are the only one of their kind"
    )
    assert "the table is 1-anonymous" in told


def test_the_picture() -> None:
    (axes,) = found("sex", "age", "start").plot().axes
    assert [bar.get_height() for bar in axes.patches] == [0, 7 / 24, 15 / 24]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["sex", "+ age", "+ start"]


@pytest.mark.parametrize("sensitive", [None, "drugs", "best"])
def test_private_counts_keep_their_promise(sensitive: str | None) -> None:
    """Wrong with probability 10⁻⁶; exact counts, the twin, are far above what is allowed."""
    exact, *private = found("sex", "age", "start", sensitive=sensitive).against(
        ("0.1", 1), trials=2000
    )
    assert exact.lower() > 0.99
    assert kept(private)
    assert all(one.bound < 0.74 for one in private)


def test_nobody_alone_is_attacked_in_the_smallest_cell() -> None:
    exact, private = found("sex").against((1,), trials=500)
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
    told = uniqueness(frame, ["a", "b", "c"], wanted=0.9)
    sizes = frame.groupby(["a", "b", "c"]).size()
    assert told.alone == int((sizes == 1).sum())
    assert told.k == sizes.min()
    assert len(told.sizes) == len(sizes)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"columns": "age"}, "attacks.columns"),
        ({"columns": ["weight"]}, "attacks.columns"),
        ({"columns": ["age", "age"]}, "attacks.columns"),
        ({"columns": [f"c{i}" for i in range(17)]}, "attacks.columns"),
        ({"columns": ["age"], "sensitive": "age"}, "attacks.sensitive"),
        ({"columns": ["age"], "wanted": 0}, "number.not-a-probability"),
    ],
    ids=["text", "unknown", "twice", "many", "sensitive", "wanted"],
)
def test_refusals(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as refusal:
        uniqueness(survey(), **arguments)
    assert refusal.value.code == code
