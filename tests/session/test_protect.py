"""`protect`: from a source to a table; what is wrong is refused, and leaves nothing behind."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.tables.declare.declaration import Declaration
from sfumato.testing.exact_checks import through_the_door

ROWS = {"u": ["a", "b", "b", "c", None], "x": [1.0, 2.0, 3.0, None, 5.0], "n": [1, 2, 3, 4, 5]}


def read_tally(table: Any) -> list[Any]:
    groups = table.mutate(big=sf.col("u").upper()).group_by(big=["A", "B", "C"])
    query = groups.aggregate(
        n=sf.count(),
        s=sf.sum("x", low=0, high=4),
        q=sf.median("n", low=0, high=10),
        k=sf.count_units(),
    )
    return [piece.values.tolist() for piece in through_the_door(query.plan(epsilon=1)).pieces]


def test_every_kind_of_source_gives_the_same_integers(tmp_path: Path) -> None:
    arrow = pa.table(ROWS)
    pq.write_table(arrow, tmp_path / "visits.parquet")
    pd.DataFrame(ROWS).to_csv(tmp_path / "visits.csv", index=False)
    types = {"x": "float64", "n": "int64"}
    sources: dict[str, tuple[Any, dict[str, Any]]] = {
        "arrow": (arrow, {}),
        "pandas": (pd.DataFrame(ROWS), {}),
        "polars": (pl.DataFrame(ROWS), {}),
        "parquet": (tmp_path / "visits.parquet", {}),
        "glob": (str(tmp_path / "*.parquet"), {}),
        "csv": (tmp_path / "visits.csv", {"types": types}),
    }
    tallies = []
    for source, about in sources.values():
        with sf.protect(source, name="visits", unit="u", max_rows=1, budget=1, **about) as table:
            tallies.append(read_tally(table))
    assert all(tally == tallies[0] for tally in tallies)


def test_a_file_gives_its_name(tmp_path: Path) -> None:
    pq.write_table(pa.table(ROWS), tmp_path / "visits.parquet")
    with sf.protect(tmp_path / "visits.parquet", budget=1) as table:
        assert table.name == "visits"


def test_declaring_reads_no_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.tables.engine import frame_sources

    def touched(*_: Any, **__: Any) -> None:
        raise AssertionError("rows were read")

    monkeypatch.setattr(frame_sources.FrameSource, "load", touched)
    with sf.protect(
        pa.table(ROWS), name="visits", unit="u", max_rows=1, budget=1, bounds={"x": (0, 1)}
    ) as table:
        assert str(table.aggregate(s=sf.sum("x")).plan(epsilon=1))


def test_without_a_unit_it_is_said(tmp_path: Path) -> None:
    with sf.protect(pa.table(ROWS), name="visits", budget=1, ledger=tmp_path / "a.ledger") as table:
        assert "each row is taken as a different person" in repr(table)
        plan = table.aggregate(n=sf.count()).plan(epsilon=1)
        assert "each row is taken as a different person" in str(plan)
        answer = table.aggregate(n=sf.count()).release(epsilon=1)
        assert "each row is taken as a different person" in answer.explain()
        assert str(answer).endswith("answer.explain() tells the rule")


def test_a_declaration_goes_through_a_file(tmp_path: Path) -> None:
    limits: dict[str, Any] = {
        "unit": "u",
        "max_rows": 3,
        "max_groups": 2,
        "bounds": {"x": (0, "1/3")},
        "keys": {"n": [1, 2]},
        "relation": "replace",
    }
    with sf.protect(pa.table(ROWS), name="visits", budget=1, **limits) as table:
        text = table.declaration.to_toml()
        assert Declaration.from_toml(text) == table.declaration
    with sf.protect(pa.table(ROWS), budget=1, **Declaration.from_toml(text).arguments) as again:
        assert again.declaration == table.declaration


def test_a_ledger_may_be_given(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    with sf.protect(
        pa.table(ROWS), name="visits", unit="u", max_rows=1, budget=1, ledger=path
    ) as table:
        table.aggregate(n=sf.count()).release(epsilon="1/2")
    book = sf.Ledger.open(path, dataset="visits")
    with sf.protect(
        pa.table(ROWS), name="visits", unit="u", max_rows=1, budget=1, ledger=book
    ) as table:
        assert table.spent.parameters["epsilon"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    "changes",
    [{"unit": None, "max_rows": None}, {"relation": "replace"}, {"budget": 2}, {"unit": "n"}],
)
def test_a_book_is_for_one_budget_one_unit_and_one_relation(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "visits.ledger"
    about: dict[str, Any] = {
        "name": "visits",
        "unit": "u",
        "max_rows": 1,
        "budget": 1,
        "ledger": path,
    }
    sf.protect(pa.table(ROWS), **about).close()
    with pytest.raises(sf.Refused) as refused:
        sf.protect(pa.table(ROWS), **{**about, **changes})
    assert refused.value.code.startswith("ledger.")


def test_a_ledger_of_somebody_else_pays_for_nothing() -> None:
    """A book that was opened for another unit or relation cannot be charged for this table."""
    book = sf.Ledger.open(None, budget=sf.Pure(1), dataset="visits", unit="row", relation="replace")
    with pytest.raises(sf.Refused) as refused:
        sf.protect(pa.table(ROWS), name="visits", unit="u", max_rows=1, budget=1, ledger=book)
    assert refused.value.code == "ledger.unit"
    assert book.spent.parameters["epsilon"] == 0


@pytest.mark.parametrize(
    "about",
    [
        {"budget": 0},
        {"unit": "nobody"},
        {"unit": "x"},
        {"bounds": {"x": (1, 0)}},
        {"keys": {"n": ["Roma"]}},
        {"types": {"x": "float128"}},
        {"max_rows": 0},
        {"relation": "neighbour"},
        {"bounding": "sampling"},
        {"name": ""},
    ],
    ids=str,
)
def test_what_is_wrong_is_refused_and_nothing_stays(
    about: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(sf.Refused):
        sf.protect(
            pa.table(ROWS), **{"name": "visits", "unit": "u", "max_rows": 1, "budget": 1, **about}
        )
    assert list(tmp_path.iterdir()) == []


def test_an_engine_leaves_nothing_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with sf.protect(pa.table(ROWS), name="visits", budget=1) as table:
        table.aggregate(n=sf.count()).release(epsilon=1)
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == []


def test_a_missing_unit_is_warned_of_once() -> None:
    frame = pa.table({"order_id": [1, 2], "user_id": [1, 1], "price": [1.0, 2.0]})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            sf.protect(frame, name="warned", budget=1).close()
    (warned,) = [item for item in caught if item.category is sf.UnitWarning]
    assert warned.filename == __file__
    assert "unit='user_id'" in str(warned.message)
    assert "each_row_a_person=True" in str(warned.message)


def test_no_warning_where_it_is_said_or_nothing_looks_like_one() -> None:
    frame = pa.table({"user_id": [1, 1], "price": [1.0, 2.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("error", sf.UnitWarning)
        sf.protect(frame, name="silent", unit="user_id", budget=1).close()
        sf.protect(frame, name="silent", budget=1, each_row_a_person=True).close()
        sf.protect(frame.drop(["user_id"]), name="silent", budget=1).close()
    with pytest.raises(sf.Refused) as caught:
        sf.protect(frame, name="silent", unit="user_id", budget=1, each_row_a_person=True)
    assert caught.value.code == "table.unit"
