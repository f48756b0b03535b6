"""Bins: which value is in which, at the edges, outside of them, and where there is none."""

from __future__ import annotations

import numpy as np

from sfumato import mechanisms as mech
from sfumato.mechanisms import Edges, Labels

from ..refusing import refusal
from .histograms import histogram


def test_bins_are_half_open_and_the_last_is_closed() -> None:
    h = histogram()
    assert h.tally([0, 0.999, 1, 2, 2.5, 3]).tolist() == [2, 1, 3]
    assert h.tally(np.array([0, 1, 2, 3])).tolist() == [1, 1, 2]


def test_what_is_outside_and_what_is_no_number() -> None:
    values = [-5, 0.5, 3.0001, float("inf"), -float("inf"), float("nan"), None]
    assert histogram().tally(values).tolist() == [3, 0, 2]
    assert histogram(outside="drop").tally(values).tolist() == [1, 0, 0]
    names = mech.Histogram(categories=["a", "b"], epsilon=1, relation="replace")
    assert names.tally(["a", "c", None, "b", "a"]).tolist() == [2, 1]
    assert names.tally(np.array(["a", "c", "b", "a"])).tolist() == [2, 1]


def test_edges_are_met_by_equal_doubles() -> None:
    h = histogram(edges=["0", "0.1", "0.2", "0.3", "0.4"])
    assert h.tally([0.1, 0.2, 0.3]).tolist() == [0, 1, 1, 1]


def test_edges_are_numbers_or_lists_of_numbers() -> None:
    several = mech.Histogram(edges=np.array([[0, 1], [2, 3]]), epsilon=1, relation="replace")
    assert several.shape == (1, 1)
    refusal(lambda: histogram(edges=[[0, 1], 5]), "histogram.axes")


def test_many_edges_and_names_are_not_all_written() -> None:
    assert repr(Edges([0, 1, 2])) == "Edges(ends=(0.0, 1.0, 2.0))"
    assert repr(Edges(range(101))) == "Edges(0, 1, …, 100: 100 bins)"
    assert repr(Labels(range(99))) == "Labels(0, …, 98: 99 names)"
    assert [Edges([0, 10, 25]).cell_name(i) for i in (0, 1)] == ["[0, 10)", "[10, 25]"]
