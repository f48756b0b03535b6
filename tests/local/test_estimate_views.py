"""Every estimate shows, exports and plots the same rows; labels cannot run anywhere."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

import sfumato as sf
from sfumato.local.estimate_views import EstimateViews

from ..answers.test_render_html import ALLOWED, EVIL, Reader
from ..refusing import refusal

local = sf.local
ESTIMATES: dict[str, tuple[Any, list[Any]]] = {
    "frequencies": (local.Unary(epsilon=2, categories=["no", "yes", "🎈"]), ["no"] * 400),
    "bloom": (local.Rappor(epsilon=2, categories=["no", "yes"], size=8, hashes=2), ["no"] * 400),
    "mean": (local.Piecewise(epsilon=2, low=0, high=10), [3.0] * 400),
    "distribution": (local.Ordinal(epsilon=2, edges=[0, 10, 20, 30]), [5] * 400),
    "texts": (local.PrefixTree(epsilon=4, length=2, alphabet="ab"), ["ab"] * 4000),
}


@pytest.fixture(params=ESTIMATES)
def estimate(request: pytest.FixtureRequest) -> EstimateViews:
    oracle, values = ESTIMATES[request.param]
    result = oracle.estimate(oracle.perturb(values))
    assert isinstance(result, EstimateViews)
    return result


def test_exports_have_the_rows(estimate: EstimateViews) -> None:
    rows = estimate.rows()
    assert rows
    assert estimate.to_pandas().to_dict("records") == rows
    assert estimate.to_polars().to_dicts() == rows
    read = list(csv.DictReader(io.StringIO(estimate.to_csv())))
    assert [list(row.values()) for row in read] == [
        [str(cell) for cell in row.values()] for row in rows
    ]
    assert json.loads(estimate.to_json()) == json.loads(json.dumps(estimate.record()))


def test_the_text_and_the_html_have_the_rows(estimate: EstimateViews) -> None:
    rows, (first, head, *lines) = estimate.rows(), repr(estimate).splitlines()
    name = type(estimate).__name__
    assert first.startswith(f"{name} from {estimate.reports} reports by ")
    assert head.endswith("95 % interval")
    assert not any("[" in note for note in lines[len(rows) :])
    for row, line in zip(rows, lines[: len(rows)], strict=True):
        low, high = map(float, line.partition("[")[2].strip("]").split(", "))
        assert low <= float(str(row["low"])) <= float(str(row["high"])) <= high
    page = Reader(estimate._repr_html_())
    assert page.tags <= ALLOWED
    assert page.attributes <= {"class"}


def test_a_plot_draws_a_bar_for_each_row(estimate: EstimateViews) -> None:
    (axes,) = estimate.plot().axes
    rows = estimate.rows()
    assert [bar.get_width() for bar in axes.patches] == [row[estimate.value_name] for row in rows]


def test_a_file_is_what_is_returned(estimate: EstimateViews, tmp_path: Any) -> None:
    text = estimate.to_csv(tmp_path / "estimate.csv")
    assert (tmp_path / "estimate.csv").read_bytes().decode() == text


@pytest.mark.parametrize("evil", [*EVIL, "=1+1"])
def test_labels_are_only_text(evil: str) -> None:
    oracle = local.Direct(epsilon=1, categories=[evil, "b"])
    result = oracle.estimate(oracle.perturb([evil] * 100))
    page = Reader(result._repr_html_())
    assert page.tags <= ALLOWED
    assert page.attributes <= {"class"}
    assert all(line.isprintable() for line in repr(result).splitlines())
    assert not result.to_csv().splitlines()[1].startswith("=")
    result.plot().canvas.draw()


def test_nothing_found_is_said_and_not_drawn() -> None:
    oracle = local.PrefixTree(epsilon="1/10", length=2, alphabet="ab")
    result = oracle.estimate(oracle.perturb(["ab"] * 20))
    assert repr(result).endswith("nothing stands out of the noise")
    assert result.to_csv() == "\r\n"
    refusal(result.plot, "local.plot")
