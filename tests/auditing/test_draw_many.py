"""Draws in one call: independent, of the right shape, and only of kinds that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato import local
from sfumato import mechanisms as mech
from sfumato.auditing.canonical_outputs import Error
from sfumato.auditing.runners import draw_many


@pytest.mark.parametrize(
    ("m", "x", "shape"),
    [
        (mech.Laplace(sensitivity=1, epsilon=1), 3, (50,)),
        (mech.Laplace(sensitivity=1, epsilon=1), [1, 2, 3], (50, 3)),
        (mech.RandomizedResponse(epsilon=1), "yes", (50,)),
        (mech.Exponential(sensitivity=1, epsilon=1), [1, 2, 3], (50,)),
        (mech.OptimalSelection(epsilon=1, delta="1e-3"), 3, (50,)),
        (mech.OptimalSelection(epsilon=1, delta="1e-3"), [3, 4], (50, 2)),
        (mech.Histogram(edges=[0, 1, 2], epsilon=1, relation="add-remove"), [0.5], (50, 2)),
        (
            mech.Hierarchy(edges=[0, 1, 2, 3, 4], epsilon=1, branching=2, relation="add-remove"),
            [0.5],
            (50, 7),
        ),
        (mech.RandomizedResponse(epsilon=1), ["yes", "no", "no"], (50, 3)),
        (mech.Quantile(low=0, high=4, epsilon=1, relation="add-remove", grid=1), [1, 2], (50,)),
        (mech.Quantile(low=0, high=1, grid=0.25, epsilon=1, relation="add-remove"), [0.5], (50,)),
        (
            mech.WeightedQuantile(low=0, high=10, weight=1, epsilon=1, relation="add-remove"),
            ([3, 4], [1, 1]),
            (50,),
        ),
        (mech.InverseSensitivity("median", epsilon=1, low=0, high=10, grid=1), [1, 2, 3], (50,)),
        (
            mech.Gibbs(epsilon=1, delta="1e-6", lipschitz=1, convexity=1, low=0, high=1, cells=2),
            [[0, 0, 0]],
            (50,),
        ),
        (mech.Mean(low=0, high=1, epsilon=1, relation="add-remove"), [0.5], (50, 2)),
        (mech.Mean(low=0, high=1, epsilon=1, relation="replace", rows=1), [0.5], (50, 1)),
    ],
    ids=str,
)
def test_shapes(m: Any, x: Any, shape: tuple[int, ...]) -> None:
    drawn = draw_many(m, x, 50)
    assert isinstance(drawn, np.ndarray)
    assert drawn.shape == shape


@pytest.mark.parametrize(
    ("kind", "x", "about"),
    [
        (mech.Laplace, 0, {"sensitivity": 1}),
        (mech.RandomizedResponse, "yes", {}),
        (mech.OptimalSelection, 3, {"delta": "1e-3"}),
        (local.Unary, "a", {"categories": "abc"}),
        (
            local.Questionnaire,
            {"one": "a", "two": "b"},
            {
                "questions": {
                    name: local.Direct(epsilon=1, categories="abc") for name in ("one", "two")
                }
            },
        ),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_any_derived_kind_is_run_call_by_call(kind: Any, x: Any, about: dict[str, Any]) -> None:
    derived = type("Derived", (kind,), {"__slots__": ()})
    m = derived(about["questions"]) if "questions" in about else derived(epsilon=1, **about)
    drawn = draw_many(m, x, 5)
    assert isinstance(drawn, list)
    assert len(drawn) == 5
    assert not any(isinstance(output, Error) for output in drawn)


def test_what_is_no_category_is_not_cut_to_one() -> None:
    m = mech.RandomizedResponse(epsilon=1, categories=["a", "b"])
    assert draw_many(m, "abc", 3) == [Error("Refused")] * 3
    assert isinstance(draw_many(m, "a", 3), np.ndarray)


@pytest.mark.parametrize("kind", [mech.Exponential, mech.Histogram, mech.Hierarchy, mech.Mean])
def test_a_kind_that_derives_from_a_known_one_is_run_call_by_call(kind: Any) -> None:
    derived = type("Derived", (kind,), {"__slots__": ()})
    about: dict[Any, dict[str, Any]] = {
        mech.Exponential: {"sensitivity": 1},
        mech.Histogram: {"edges": [0, 1], "relation": "add-remove"},
        mech.Hierarchy: {"edges": [0, 1, 2], "relation": "add-remove"},
        mech.Mean: {"low": 0, "high": 1, "relation": "add-remove"},
    }
    m = derived(epsilon=1, **about[kind])
    assert isinstance(draw_many(m, [1, 0], 5), list)


@pytest.mark.parametrize(
    ("kind", "x", "about"),
    [
        (mech.Quantile, [1, 2], {"low": 0, "high": 4, "relation": "add-remove"}),
        (
            mech.WeightedQuantile,
            ([1], [1]),
            {"low": 0, "high": 4, "weight": 1, "relation": "add-remove"},
        ),
        (
            mech.Gibbs,
            [[0, 0, 0]],
            {"delta": "1e-6", "lipschitz": 1, "convexity": 1, "low": 0, "high": 1, "cells": 2},
        ),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_so_is_one_that_derives_from_a_quantile(kind: Any, x: Any, about: dict[str, Any]) -> None:
    assert isinstance(
        draw_many(type("Derived", (kind,), {"__slots__": ()})(epsilon=1, **about), x, 5), list
    )


def test_records_for_one_number_are_drawn_call_by_call() -> None:
    assert isinstance(draw_many(mech.Laplace(sensitivity=1, epsilon=1, grid=0.5), 0.5, 4), list)
    assert isinstance(draw_many(mech.Laplace(sensitivity=1, epsilon=1), True, 4), list)
