"""The demo's story is true: its numbers follow from the table and the exact law, whatever was drawn."""

from __future__ import annotations

import math
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from sfumato import mechanisms as mech
from sfumato.cli import demo
from sfumato.errors import Refused
from sfumato.samples import grades


def told(*asked: tuple[str, int]) -> demo.Story:
    """The story with these answers in place of drawn ones."""
    return demo.Story(
        students=grades(),
        asked=tuple(demo.Asked(epsilon=e, mechanism=mech.Laplace(sensitivity=1, epsilon=e), answer=answer) for e, answer in asked),
    )


def text(story: demo.Story) -> str:
    console = Console(file=StringIO(), width=1000, highlight=False)  # no line is broken
    demo.narrate(story, console)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_the_exact_answer_gives_angie_away() -> None:
    story = told()
    assert (story.exact, story.others) == (4, 3)


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "2"])
@pytest.mark.parametrize("answer", [-5, 3, 4, 12])
def test_belief_is_bayes_with_the_geometric_law(epsilon: str, answer: int) -> None:
    story = told((epsilon, answer))
    odds = math.exp(-float(epsilon) * (abs(answer - 4) - abs(answer - 3)))
    assert story.belief(*story.asked) == pytest.approx(0.4 * odds / (0.4 * odds + 0.6), rel=1e-12)


def test_belief_after_several_answers_multiplies_their_odds() -> None:
    story = told(("0.5", 9), ("1", -9), ("1/4", 9))  # odds e^0.5 · e^-1 · e^0.25
    odds = math.exp(-0.25)
    assert story.belief(*story.asked) == pytest.approx(0.4 * odds / (0.4 * odds + 0.6), rel=1e-12)


def test_no_answer_raises_belief_above_the_printed_bound() -> None:
    for epsilon in ("0.1", "0.5", "2"):
        bound = float(demo._ceiling(float(epsilon)))
        stories = [told((epsilon, answer)) for answer in range(-60, 70)]
        assert 0 <= bound - max(story.belief(*story.asked) for story in stories) <= 0.001


def test_intervals_keep_their_confidence() -> None:
    for (asked,) in (told((e, 4)).asked for e in demo.EPSILONS):
        inside = sum(float(asked.mechanism.probability(z)) for z in range(-asked.half_width, asked.half_width + 1))
        assert inside >= demo.CONFIDENCE
        assert inside - 2 * float(asked.mechanism.probability(asked.half_width)) < demo.CONFIDENCE


def test_the_text_holds_the_numbers() -> None:
    story = told(("0.1", -9), ("0.5", 7), ("2", 4))
    words = text(story)
    for number in ("4 of 10", "4 − 3 = 1", "-39 … 21", "1 … 13", "3 … 5", "ε = 2.6", *(f"{story.belief(a):.3f}" for a in story.asked)):
        assert number in words


def test_one_answer_has_no_sum_of_costs() -> None:
    assert "What it costs" not in text(told(("1", 4)))


def test_tell_writes_the_picture_it_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo.tell(epsilons=demo.EPSILONS, out=tmp_path / "deep" / "[out]")
    file = tmp_path / "deep" / "[out]" / demo.FILE
    assert file.read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.splitlines()[-1] == f"Written to {file}"


def test_extreme_loss_is_drawn_too() -> None:
    story = told(("2000", 4))
    assert story.belief(*story.asked) == 1
    demo.picture(story)
    assert "> 0.999" in text(story)


def test_too_many_answers_are_refused() -> None:
    with pytest.raises(Refused) as caught:
        demo.ask(["1"] * 5)
    assert caught.value.code == "demo.many"


def test_an_answer_of_pure_noise_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        demo.ask(["0.0001"])
    assert caught.value.code == "demo.epsilon"


def test_an_impossible_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Refused) as caught:
        demo.tell(epsilons=["1"], out=tmp_path / "file")
    assert caught.value.code == "demo.out"
