"""Laws of reports: of the one person who changed, and of a value and itself."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.auditing.mechanism_laws import law_pair_at


def test_of_several_people_only_the_one_who_changed_is_looked_at() -> None:
    m = mech.RandomizedResponse(epsilon=1, categories=["a", "b", "c"])
    x, y = ["a", "b", "c"], ["a", "c", "c"]
    laws, alone = law_pair_at(m, x, y), law_pair_at(m, "b", "c")
    assert laws is not None
    assert alone is not None
    assert (laws.p, laws.q) == (alone.p, alone.q)
    assert laws.names[1] == "b at [1]"
    everything = [
        {
            reports: math.prod(m.probability(r, v) for r, v in zip(reports, value, strict=True))
            for reports in product("abc", repeat=3)
        }
        for value in (x, y)
    ]
    assert sf.audit(
        everything.__getitem__, 0, 1, claim=m.promise, exact=True
    ).epsilon_lower == pytest.approx(laws.epsilon(0)[0], abs=1e-12)
    assert law_pair_at(m, ["a", "a"], ["b", "b"]) is None
    assert law_pair_at(m, ["a"], ["a", "b"]) is None


@pytest.mark.parametrize(
    "m",
    [
        sf.local.Unary(epsilon=1, categories="abc"),
        sf.local.Direct(epsilon=1, categories="abc"),
        mech.RandomizedResponse(epsilon=1),
    ],
    ids=str,
)
def test_an_input_and_itself_are_not_told_apart(m: Any) -> None:
    value = m.categories[0]
    assert sf.audit(m, value, value, exact=True).epsilon_lower == 0
