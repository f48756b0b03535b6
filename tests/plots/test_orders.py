"""Rényi curves are drawn as given, with the limits that a pure promise sets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sfumato import plots
from sfumato.guarantees.loss_closed_forms import renyi_curves

ALPHAS = np.array([1.5, 2, 4, 8, 16, 32])


def test_figure_3_1() -> None:
    """S-036, E-24: randomized response and Laplace stay below their ε, the Gaussian passes 1 at α =
    8: "always below 1" is false.
    """
    result = {
        name: np.array(curve)
        for name, curve in renyi_curves(
            [float(a) for a in ALPHAS], truth=0.6, scale=2, sigma=2
        ).items()
    }
    figure = plots.orders(
        ALPHAS,
        result,
        title="the title",
        limits={"randomized response": math.log(1.5), "Laplace": 0.5},
    )
    (axes,) = figure.axes
    curves = [line for line in axes.lines if len(line.get_xdata()) == len(ALPHAS)]
    for line, values in zip(curves, result.values(), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert result["Gaussian"][-1] == 4 > 1
    assert result["Gaussian"][3] == pytest.approx(1)
    assert [text.get_text() for text in axes.texts] == ["0.405 at α = ∞", "0.5 at α = ∞"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(result)
    assert figure.get_suptitle() == "the title"


def test_without_limits() -> None:
    (axes,) = plots.orders(ALPHAS, {"a": ALPHAS / 8}, title="").axes
    assert len(axes.texts) == 0
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0.2", "0.5", "1", "2"]
