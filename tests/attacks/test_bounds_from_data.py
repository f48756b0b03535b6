"""C7, bounds from the data: a library that takes the least and the largest value where none are
given, with a warning, has released them.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import sfumato as sf

from .tables import table

SECRET = 987654.25


@pytest.mark.parametrize("name", ["sum", "mean", "var", "std", "median"])
def test_attack_C7_is_refused_without_a_warning_and_without_a_number(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with table({"x": [1.0, SECRET]}) as protected, warnings.catch_warnings():
        warnings.simplefilter("error")

        def touched(*_: Any, **__: Any) -> None:
            raise AssertionError("data was read")

        monkeypatch.setattr(type(protected._source.engine), "run", touched)
        with pytest.raises(sf.Refused) as refused:
            protected.aggregate(a=getattr(sf, name)("x")).release(epsilon=1, learn=False)
    assert refused.value.code == "aggregate.bounds"
    assert "98765" not in str(refused.value)


def test_attack_C7_nothing_printed_knows_the_largest_value() -> None:
    """Repr, plan, explanation, statements, declaration: none of them changes with the data."""

    def printed_text(largest: float) -> list[str]:
        with table({"x": [1.0, largest], "k": ["a", str(largest)]}) as protected:
            plan = (
                protected.group_by("k")
                .aggregate(s=sf.sum("x", low=0, high=10), h=sf.histogram("x", edges=(0, 5, 10)))
                .plan(epsilon=1)
            )
            return [
                repr(protected),
                str(plan),
                *plan.sql,
                protected.declaration.to_toml(),
                repr(plan.mechanism),
                plan.query.text,
            ]

    assert printed_text(SECRET) == printed_text(2.0)
