"""Profiles are drawn as given on a logarithmic axis; the mark is met on the safe side."""

from __future__ import annotations

import numpy as np

from sfumato import plots

EPSILONS = np.linspace(0, 4, 41)
CURVES = {"a": np.exp(-EPSILONS), "b": np.where(EPSILONS < 2, 0.1, 0.0)}


def test_curves_are_drawn_as_given() -> None:
    (axes,) = plots.profiles(EPSILONS, CURVES, title="the title", least=1e-3).axes
    item, two = axes.lines
    np.testing.assert_array_equal(item.get_xydata().T, [EPSILONS, CURVES["a"]])
    assert np.isnan(two.get_ydata()[-1]), "zero has no place on a logarithmic axis"
    assert (axes.get_yscale(), axes.get_ylim(), axes.get_xlim()) == ("log", (1e-3, 1), (0, 4))


def test_the_mark_names_an_epsilon_at_which_delta_is_reached() -> None:
    figure = plots.profiles(
        EPSILONS, CURVES | {"never": np.full(41, 0.5)}, title="the title", mark=0.05
    )
    (axes,) = figure.axes
    output = [text.get_text() for text in axes.get_legend().get_texts()]
    assert output == ["a: ε = 3.00 at δ = 0.05", "b: ε = 2.00 at δ = 0.05", "never"]
    assert CURVES["a"][30] <= 0.05 < CURVES["a"][29]
    assert figure.get_suptitle() == "the title"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("ε", "δ")
