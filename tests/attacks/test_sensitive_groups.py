"""Counts of groups and values, and what is left of them when values are ruled out."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.attacks.data.ward import patients
from sfumato.attacks.lib import sensitive_groups
from sfumato.attacks.lib.sensitive_groups import (
    certain_share,
    count_values,
    disclosure_by_group,
    play_value_game,
)
from sfumato.errors import Refused

COUNTS = np.array([[5, 0, 0], [3, 2, 0], [1, 1, 2]])


def test_counts() -> None:
    _, coded, counts = count_values(patients(), ["age", "area"], "disease")
    assert counts.sum() == 20
    assert counts.sum(axis=1).tolist() == [5, 5, 5, 5]
    assert coded.n == 20


@pytest.mark.parametrize(
    ("ruled_out", "shares"), [(0, [1, 0.6, 0.5]), (1, [1, 1, 2 / 3]), (2, [1, 1, 1])]
)
def test_disclosure(ruled_out: int, shares: list[float]) -> None:
    np.testing.assert_allclose(disclosure_by_group(COUNTS, ruled_out), shares)


@pytest.mark.parametrize(("ruled_out", "share"), [(0, 5 / 14), (1, 10 / 14), (2, 1)])
def test_certainty(ruled_out: int, share: float) -> None:
    assert certain_share(COUNTS, ruled_out) == pytest.approx(share)


def test_a_game_with_all_others_known() -> None:
    before = COUNTS.copy()
    exact, private = play_value_game(COUNTS, (1,), 300, 0)
    assert exact.rate == 1
    assert private.holds
    np.testing.assert_array_equal(COUNTS, before)


def test_one_value_is_no_game() -> None:
    with pytest.raises(Refused, match=r"attacks\.sensitive"):
        play_value_game(np.array([[3], [2]]), (1,), 10, 0)


def test_too_many_groups_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sensitive_groups, "_MOST", 3)
    with pytest.raises(Refused, match=r"attacks\.groups"):
        count_values(patients(), ["age", "area"], "disease")
