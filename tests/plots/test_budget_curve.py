"""A budget is drawn in steps, each number below what is promised of it."""

from __future__ import annotations

import datetime

import numpy as np

from sfumato import plots

TIMES = [datetime.datetime(2026, 1, day, tzinfo=datetime.UTC) for day in (1, 2, 5)]
EPSILON = plots.Purse(
    "ε",
    np.array([1.0, 1.0, 2.0]),
    np.array([0.0, 0.25, 0.5]),
    {"alice": np.array([0.0, 0.0, 0.25])},
)
DELTA = plots.Purse("δ", np.array([1e-6] * 3), np.array([0.0, 0.0, 1e-7]), {"alice": np.zeros(3)})


def test_steps_are_drawn_as_given_and_held_to_the_end() -> None:
    (axes,) = plots.budget(TIMES, [EPSILON], title="").axes
    spent, alice, promised = axes.lines
    for line, values in (
        (spent, EPSILON.spent),
        (alice, EPSILON.shares["alice"]),
        (promised, EPSILON.budget),
    ):
        assert line.get_drawstyle() == "steps-post"
        np.testing.assert_array_equal(line.get_ydata(), [*values, values[-1]])
        x = np.asarray(line.get_xdata(), dtype=float)
        assert (np.diff(x) > 0).all()
        assert x[2] - x[1] == 3
    assert axes.get_ylim()[1] > 2
    assert [text.get_text() for text in axes.texts] == ["25 %"]


def test_each_number_has_its_own_axis() -> None:
    figure = plots.budget(TIMES, [EPSILON, DELTA], title="the title")
    assert [axes.get_ylabel() for axes in figure.axes] == ["ε", "δ"]
    assert figure.get_suptitle() == "the title"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "spent, all together",
        "alice",
        "promised: the budget",
    ]
    assert "2026-01-01 to 2026-01-05" in figure.axes[-1].get_xlabel()


def test_a_single_moment_and_an_empty_budget_can_be_drawn(tmp_path) -> None:
    nothing = plots.Purse("ε", np.zeros(1), np.zeros(1), {})
    plots.budget(TIMES[:1], [nothing], title="").savefig(tmp_path / "one.png")


def test_more_shares_than_colours_are_drawn() -> None:
    shares = {f"analyst {n}": np.full(3, 0.01 * n) for n in range(20)}
    (axes,) = plots.budget(TIMES, [plots.Purse("ε", np.ones(3), np.ones(3), shares)], title="").axes
    assert len(axes.lines) == 22
