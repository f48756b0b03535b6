"""C3, a null that should not exist: a cast or a division makes one, a planner believes that there
are none, and releases an exact count.
"""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.mechanisms import Laplace

from .tables import table, tally

SURE = {"x": "float64 not null", "s": "string not null"}
ROWS = {"x": [1.0, 2.0, 0.0], "s": ["1", "two", "3"], "u": [1, 2, 3]}
MAKERS = {
    "cast": lambda: sf.col("s").cast("int64"),
    "quotient": lambda: 1 / sf.col("x"),
    "root": lambda: (-sf.col("x")).sqrt(),
    "nullif": lambda: sf.col("x").nullif(1),
    "logarithm": lambda: sf.col("x").ln(),
    "remainder": lambda: sf.col("x") % 0,
}


@pytest.mark.parametrize("name", MAKERS)
def test_attack_C3_what_may_make_a_null_may_be_null(name: str) -> None:
    with table(ROWS, types=SURE, unit="u", max_rows=1) as protected:
        rows = protected.mutate(y=MAKERS[name]())
        assert not rows.schema["x"].nullable
        assert rows.schema["y"].nullable
        plan = rows.aggregate(c=sf.count("y"), n=sf.count()).plan(epsilon=1)
    assert [piece.name for piece in plan.components] == ["count y", "count"]


def test_attack_C3_no_count_is_free() -> None:
    """Every count has noise of its own, also of a column that is never null, also of all rows."""
    with table(ROWS, types=SURE, unit="u", max_rows=1) as protected:
        for aggregate in (
            sf.count(),
            sf.count("x"),
            sf.count_units(),
            sf.count_if(sf.col("x") > 0),
        ):
            plan = protected.aggregate(n=aggregate).plan(epsilon=1)
            (noise,) = plan.calibration.noise[0]
            assert isinstance(noise, Laplace)
            assert noise.law.variance > 0
            assert plan.cost.parameters["epsilon"] == 1


def test_attack_C3_a_broken_promise_changes_no_status_and_stays_bounded() -> None:
    """Nulls in a column that was declared to have none: taken for the lower end, as its rule
    says.
    """
    result = tally(
        {"x": [1.0, None, float("nan")], "u": [1, 2, 3]},
        lambda t: t.aggregate(s=sf.sum("x"), c=sf.count("x")),
        types={"x": "float64 not null"},
        bounds={"x": (-4, 4)},
    )
    assert int(result.pieces[0].values[0, 0]) * result.pieces[0].step == 1 - 4 - 4
    assert int(result.pieces[1].values[0, 0]) * result.pieces[1].step == 3
