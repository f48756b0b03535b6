"""C1, NaN through the clamp: whether one NaN row is there decides whether a sum is a number at
all.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.testing.exact_checks import through_the_door

from .tables import distances, moved, tally

PLAIN = [0.25, 0.5, 1.0]
NAN = float("nan")


def test_attack_C1_passes_every_usual_clamp() -> None:
    assert np.isnan(np.clip([NAN], 0, 1)).all()
    assert math.isnan(max(min(NAN, 1), 0))
    assert max(0, min(1, NAN)) == 1  # and the other way round it is a number
    assert np.isnan(np.clip([*PLAIN, NAN], 0, 1).sum())


def ask(t: object) -> object:
    names = {"s": sf.sum, "m": sf.mean, "v": sf.var, "d": sf.std, "q": sf.median}
    aggregates = {name: aggregate("x", low=0, high=1) for name, aggregate in names.items()}
    return t.aggregate(
        **aggregates, n=sf.count(), c=sf.count("x"), h=sf.histogram("x", edges=(0, "1/2", 1))
    )


@pytest.mark.parametrize(
    "about",
    [{}, {"unit": "u", "max_rows": 1}, {"table_rows": 2**20}],
    ids=["rows", "units", "doubles"],
)
def test_attack_C1_a_NaN_is_no_value_in_ours(about: dict[str, object]) -> None:
    first, second = (
        tally({"x": values, "u": list(range(len(values)))}, ask, **about)
        for values in ([*PLAIN, NAN], PLAIN)
    )
    for place, (a, b) in enumerate(zip(first.pieces, second.pieces, strict=True)):
        if a.name == "count":
            assert moved(first, second, place) == 1
        elif not a.name.startswith("quantile"):
            assert a.values.tolist() == b.values.tolist()
    assert all(together <= declared for together, declared in distances(first, second))


@pytest.mark.parametrize(
    "about",
    [{}, {"unit": "u", "max_rows": 1}, {"table_rows": 2**20}],
    ids=["rows", "units", "doubles"],
)
def test_attack_C1_nor_where_a_file_states_that_all_values_are_small(
    about: dict[str, object], tmp_path: Path
) -> None:
    """What a Parquet file says of its least and largest value leaves NaN out; an engine that
    believes it may skip the clip.
    """
    result = []
    for name, values in (("with", [*PLAIN, NAN] * 300), ("without", PLAIN * 300)):
        path = tmp_path / f"{name}.parquet"
        pq.write_table(
            pa.table({"x": pa.array(values, pa.float64()), "u": range(len(values))}), path
        )
        with sf.protect(path, name="t", budget=10, **about) as protected:
            result.append(
                {
                    piece.name: piece.values.tolist()
                    for piece in through_the_door(ask(protected).plan(promise=sf.Pure(1))).pieces
                }
            )
    assert pq.read_metadata(tmp_path / "with.parquet").row_group(0).column(0).statistics.max == 1.0
    assert all(
        result[0][name] == result[1][name]
        for name in result[0]
        if name != "count" and not name.startswith("quantile")
    )


def test_attack_C1_the_answer_is_a_number() -> None:
    with sf.protect(pa.table({"x": [NAN] * 5}), name="t", budget=10) as protected:
        answer = ask(protected).release(epsilon=1)
    assert all(np.isfinite(answer[name]).all() for name in answer.names)
    assert all(np.isfinite(end).all() for name in answer.names for end in answer.interval(name))
