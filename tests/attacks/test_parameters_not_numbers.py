"""C4, parameters that are no numbers: bounds, ε, δ and scales that are infinite, NaN, zero or
subnormal are refused when planning, with no data read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import sfumato as sf
from sfumato.session.protected_table import Table

from .tables import table

INF, NAN = float("inf"), float("nan")


@pytest.fixture
def sealed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """A table whose engine must not be asked."""
    with table({"x": [1.0, NAN], "u": [1, 2]}, unit="u", max_rows=1) as protected:

        def touched(*_: Any, **__: Any) -> None:
            raise AssertionError("data was read")

        monkeypatch.setattr(type(protected._source.engine), "run", touched)
        yield protected
        assert protected.spent.parameters["epsilon"] == 0


@pytest.mark.parametrize(
    "ends",
    [
        (0, INF),
        (-INF, 0),
        (NAN, NAN),
        (0, NAN),
        (1, 0),
        (1, 1),
        (0, "1e400"),
        ("x", 1),
        (None, 1),
        (0, 1e308),
        (0, True),
    ],
)
def test_attack_C4_bounds(ends: tuple[Any, Any], sealed: Table) -> None:
    with pytest.raises(sf.Refused):
        sealed.aggregate(s=sf.sum("x", low=ends[0], high=ends[1])).release(epsilon=1)
    with pytest.raises(sf.Refused):
        table({"x": [1.0]}, bounds={"x": ends})


@pytest.mark.parametrize(
    "epsilon", [0, -1, NAN, INF, -INF, 1e-320, "", "one", None, True, 1j, [1], "1e-400", "1e400"]
)
def test_attack_C4_epsilon(epsilon: Any, sealed: Table) -> None:
    with pytest.raises(sf.Refused):
        sealed.aggregate(n=sf.count()).release(epsilon=epsilon)


@pytest.mark.parametrize("delta", [-1, 1, 2, NAN, INF, "x", True, 1e-320])
def test_attack_C4_delta(delta: Any, sealed: Table) -> None:
    with pytest.raises(sf.Refused):
        sealed.aggregate(n=sf.count()).release(epsilon=1, delta=delta)


@pytest.mark.parametrize(
    "about",
    [
        {"budget": 0},
        {"budget": -1},
        {"budget": NAN},
        {"budget": INF},
        {"max_rows": 0},
        {"max_rows": NAN},
        {"max_rows": 2**21},
        {"table_rows": 0},
        {"table_rows": 2**49},
        {"max_rows": True},
    ],
)
def test_attack_C4_declarations(about: dict[str, Any]) -> None:
    with pytest.raises(sf.Refused):
        table({"x": [1.0], "u": [1]}, **{"unit": "u", "max_rows": 1, **about})


def test_attack_C4_text_and_huge_numbers_are_exact_or_refused(sealed: Table) -> None:
    assert (
        sealed.aggregate(n=sf.count()).plan(epsilon="1").cost
        == sealed.aggregate(n=sf.count()).plan(epsilon=1).cost
    )
    for epsilon in (1e308, "1e300"):
        with pytest.raises(sf.Refused):
            sealed.aggregate(n=sf.count()).release(epsilon=epsilon)  # more than the budget
