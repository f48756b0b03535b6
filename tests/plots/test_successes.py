"""The picture of rates holds what it was given, and only what was given."""

from __future__ import annotations

from typing import Any

from sfumato import plots

EXACT = plots.SuccessRate(name="exact answers", rate=1.0, low=0.97, high=1.0, chance=0.5)
PRIVATE = plots.SuccessRate(name="ε = 1", rate=0.7, low=0.6, high=0.8, bound=0.731, chance=0.5)


def legend(figure: Any) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_rates_limits_and_what_is_allowed() -> None:
    figure = plots.successes([EXACT, PRIVATE], title="the title", up="success")
    (axes,) = figure.axes
    assert figure.get_suptitle() == "the title"
    assert axes.get_ylabel() == "success"
    assert [bar.get_height() for bar in axes.patches] == [1.0, 0.7]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["exact answers", "ε = 1"]
    lines = [line.get_ydata().tolist() for line in axes.lines]
    assert lines == [[0.97, 1.0], [0.5], [0.6, 0.8], [0.731, 0.731], [0.5]]
    assert legend(figure) == [
        "succeeds, nothing promised",
        "limits of the true rate",
        "guessing alone",
        "succeeds",
        "the most that is allowed",
    ]


def test_bars_alone_need_no_legend() -> None:
    figure = plots.successes(
        [plots.SuccessRate(name="age", rate=0.25), plots.SuccessRate(name="+ sex", rate=0.5)],
        title="",
        up="",
    )
    assert legend(figure) == []
    assert [text.get_text() for text in figure.axes[0].texts] == ["25 %", "50 %"]
    assert not figure.axes[0].lines


def test_words_of_its_own() -> None:
    figure = plots.successes(
        [plots.SuccessRate(name="a", rate=0.5, chance=0.2)],
        title="",
        up="",
        rate="in the group",
        chance="among all",
    )
    assert legend(figure) == ["in the group", "among all"]
