"""Tables 4.5–4.7: every cell has its verdict, and every verdict its reason."""

from __future__ import annotations

import pytest

from sfumato import mechanisms as mech
from sfumato.errors import Refused
from sfumato.studies import Verdict, study
from sfumato.studies import gaussian_tables as tables
from sfumato.studies.repairs import Repair

from .verdicts import settled_verdict

R = 12


def cells(name: str) -> dict[str, tuple[Verdict, tuple[str, ...]]]:
    return {
        row.cell.replace("\u202f", ""): (settled_verdict(row), row.errata)
        for row in study(name).run(R, 1).rows
    }


@pytest.mark.parametrize("name", ["table-4.5", "table-4.6"])
def test_every_cell_of_tables_4_5_and_4_6(name: str) -> None:
    """False alarms at most 10⁻⁶ per cell."""
    kinds = {
        "promise to a row": (Verdict.UNSAFE, ("E-04",)),
        "size of δ": (Verdict.UNSAFE, ("E-68",)),
    }
    result = cells(name)
    assert len(result) == 12
    for cell, verdict in result.items():
        assert verdict == kinds.get(cell.partition(", ")[2], (Verdict.AGREES, ())), cell


def test_every_cell_of_table_4_7() -> None:
    result = cells("table-4.7")
    assert result.pop("n = 5000, ε = 3") == (Verdict.MISPRINT, ("E-32",))
    assert set(result.values()) == {(Verdict.AGREES, ())}
    assert len(result) == 5


def test_E_32_the_difference_is_that_of_table_4_6() -> None:
    result = tables.judgements()[5000]
    assert isinstance(result, Repair)
    low, high = result.cells["error ε = 3"]
    assert low <= 0.00019042 <= high < 0.0003073
    assert [set(rival) for rival in result.rivals] == [{"private ε = 3"}]  # which the sentence says


@pytest.mark.parametrize(
    ("n", "sigma"),
    [
        ((5000, 1), 0.0008687224608),
        ((5000, 3), 0.0002895741536),
        ((500, 1), 0.008687224608),
        ((100, 3), 0.01447870768),
    ],
)
def test_S_173_the_classical_sigma_is_handed_over(n: tuple[int, int], sigma: float) -> None:
    assert tables.classical(*n) == pytest.approx(sigma, abs=1e-9)
    with pytest.raises(Refused):
        mech.classical_sigma(sensitivity=1, epsilon=n[1], delta=tables.DELTA)


def test_E_04_and_E_68_in_numbers() -> None:
    row = tables._promise(tables.SHAPES[0], 1)
    assert row.value == pytest.approx(0.9999999858147764, abs=1e-9)
    assert [tables._failures(shape).value for shape in tables.SHAPES] == [0.5, 0.05, 0.01]


def test_a_small_delta_and_enough_noise_would_be_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin of the two tests above."""
    monkeypatch.setattr(tables, "DELTA", tables.DELTA / 10**8)
    assert {tables._failures(shape).verdict for shape in tables.SHAPES} == {Verdict.AGREES}
    monkeypatch.undo()
    monkeypatch.setattr(tables, "classical", lambda n, epsilon: 4.4 / (n * epsilon) * 50)
    assert tables._promise(tables.SHAPES[0], 1).verdict is Verdict.AGREES


def test_E_69_and_E_75_stand_beside_the_tables() -> None:
    result = study("table-4.7").run(R, 1)
    assert "E-69" in result.sentence
    assert "3.466 times" in result.sentence
    assert "E-75" in study("table-4.5").run(R, 1).sentence
    assert [b.saved for b in result.comparisons] == [
        pytest.approx(s, abs=5e-4) for s in (0.2666, 0.7115, 0.1552, 0.7115)
    ]
