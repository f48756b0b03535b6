"""Contradicting numbers: found, and repaired by the smallest correction that the law admits."""

from __future__ import annotations

import math

import pytest

from sfumato.studies.repairs import PrintedCell, differences, repair, triangles

ANYTHING = (-math.inf, math.inf)


def exactly(
    value: float, *, band: tuple[float, float] = ANYTHING, derived: bool = False
) -> PrintedCell:
    return PrintedCell(printed=(value - 0.01, value + 0.01), band=band, derived=derived)


def table(
    *, private: float = 3.0, error: float = 1.0, second_f: float = 2.0, small: bool = False
) -> dict[str, PrintedCell]:
    """f = 2 at two levels, private answers 3 and 2.5."""
    size = (0.0, 1.5 if small else math.inf)
    return {
        "f a": exactly(2.0),
        "private a": exactly(private),
        "error a": exactly(error, band=size, derived=True),
        "f b": exactly(second_f),
        "private b": exactly(2.5),
        "error b": exactly(0.5, band=size, derived=True),
    }


def test_numbers_that_fit_need_no_repair() -> None:
    result = repair(table(), differences(("a", "b")))
    assert result is not None
    assert result.cells == {}


def test_a_wrong_difference_is_corrected_before_the_numbers_it_is_of() -> None:
    result = repair(table(error=0.3), differences(("a", "b")))
    assert result is not None
    assert set(result.cells) == {"error a"}
    assert result.cells["error a"] == (pytest.approx(0.98), pytest.approx(1.02))
    assert [set(r) for r in result.rivals] == [{"private a"}]


def test_the_law_decides_where_print_does_not() -> None:
    """A difference of 6 would explain the private answer 8, but noise is never above 1.5."""
    result = repair(table(private=8.0, small=True), differences(("a", "b")))
    assert result is not None
    assert set(result.cells) == {"private a"}
    assert result.excluded == (("error a",),)
    assert result.cells["private a"][0] == pytest.approx(0.98)
    assert result.cells["private a"][1] == pytest.approx(3.02)


def test_one_value_printed_twice_must_be_one() -> None:
    result = repair(table(second_f=2.3), differences(("a", "b")))
    assert result is not None
    assert set(result.cells) == {"f b"}


def test_too_much_is_not_repaired() -> None:
    """Every number lies outside its band: no correction of three cells helps."""
    cells = {
        name: PrintedCell(printed=cell.printed, band=(90.0, 91.0)) for name, cell in table().items()
    }
    assert repair(cells, differences(("a", "b"))) is None


def sides(target: float, approximation: float, bias: tuple[float, float]) -> dict[str, PrintedCell]:
    near = (bias[0] * 0.5, bias[1] * 2)
    return {
        "bias": PrintedCell(printed=ANYTHING, band=bias),
        "target a": PrintedCell(printed=(0.0235, 0.0236), band=near),
        "approximation a": PrintedCell(printed=(6.8e-4, 6.81e-4), band=(1e-5, 1e-2)),
        "target b": PrintedCell(printed=(target * 0.999, target * 1.001), band=near),
        "approximation b": PrintedCell(printed=(approximation, approximation), band=(1e-6, 1e-2)),
    }


def test_squares_obey_the_triangle_inequality() -> None:
    good = repair(sides(0.0236, 4e-5, (0.02, 0.03)), triangles(("a", "b")))
    bad = repair(sides(2.36e-4, 4e-5, (0.02, 0.03)), triangles(("a", "b")))
    assert good is not None
    assert good.cells == {}
    assert bad is not None
    assert set(bad.cells) == {"target b"}
    low, high = bad.cells["target b"]
    assert low < 0.0236 < high
