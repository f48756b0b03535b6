"""What an average says of somebody who is not in it, and what it does not say of somebody who
is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks.side_information import side_information
from sfumato.errors import Refused
from sfumato.testing.seeded_bits import SeededBits

HEIGHTS = 64.9 + 2.5 * np.sin(np.arange(1000))


def test_S_157_her_height_is_told_without_her() -> None:
    """The private average is right to a few hundredths at ε = 5: so is her height. Nothing is
    promised about it.
    """
    result = sf.attacks.side_information(HEIGHTS, trials=500, bits=SeededBits(1))
    assert result.height == pytest.approx(HEIGHTS.mean() - 2, abs=0.01)
    assert result.height_games[0].rate == 1
    assert result.height_games[-1].rate > 0.99  # exact law: 1 inch is 50 scales away
    assert all(success.bound is None for success in result.height_games)


def test_S_157_whether_she_took_part_is_not() -> None:
    result = side_information(HEIGHTS, trials=4000, bits=SeededBits(2))
    assert result.holds
    assert result.successes[0].rate == 1
    assert result.successes[0].lower() > result.successes[3].bound
    assert result.successes[1].promise == sf.Pure("0.1", relation="add-remove")


@pytest.mark.parametrize(
    "heights",
    [[], [-1.0], [101.0], [[60.0]], "abc", [float("nan")], None],
    ids=["none", "below", "above", "matrix", "text", "nan", "None"],
)
def test_refusals(heights: Any) -> None:
    with pytest.raises(Refused) as refused:
        side_information(heights)
    assert refused.value.code == "attacks.values"


@pytest.mark.parametrize(
    ("offset", "fits"), [(-66, False), (36, False), (10**6, False), (-64, True), (35, True)]
)
def test_she_is_no_taller_than_the_noise_is_made_for(offset: int, fits: bool) -> None:
    """With an offset of 10⁶ the noise of `most` = 100 would hide nothing, and the bound would be
    called broken.
    """
    if fits:
        assert side_information(
            HEIGHTS, offset, epsilons=(1,), trials=500, bits=SeededBits(3)
        ).holds
        return
    with pytest.raises(Refused) as refused:
        side_information(HEIGHTS, offset, epsilons=(1,), trials=500)
    assert refused.value.code == "attacks.values"


def test_words_and_picture() -> None:
    result = side_information(HEIGHTS, epsilons=(1,), trials=50)
    assert "Her height comes out to 1, though she is in no survey" in str(result)
    assert "taking part found, ε = 1" in result.numbers
    assert len(result.plot().axes) == 1
