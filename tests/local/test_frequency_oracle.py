"""What oracles for frequencies share: exact errors, the influence of lies, categories that
travel.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.local import Direct, Hadamard, Hashing, Rappor, Reports, Sketch, Subset, Unary

from .cases import PLAIN, SMALL


@pytest.mark.parametrize("name", PLAIN)
def test_total_error_is_the_sum(name: str) -> None:
    oracle = PLAIN[name]
    shares = [Fraction(1, oracle.k)] * oracle.k
    for target in ("population", "data"):
        assert oracle.mse(shares, 10, target=target) == pytest.approx(
            oracle.k * oracle.variance(10, Fraction(1, oracle.k), target=target), rel=1e-12
        )
    assert oracle.variance(1000) == pytest.approx(oracle.variance(1) / 1000, rel=1e-12)


@pytest.mark.parametrize("name", PLAIN)
def test_lies_move_an_estimate_by_no_more_than_said(name: str) -> None:
    """100 honest reports, of which 10 are replaced by every well-formed report there is: never
    farther than `influence`, and some lie attains it.
    """
    oracle = PLAIN[name]
    rows = np.zeros((256, oracle.width), dtype=np.uint8)
    rows[:, -1] = np.arange(256)
    lies = rows[oracle._well_formed(rows)]
    honest = oracle.perturb([oracle.categories[0]] * 90)
    without = oracle.aggregate(honest).counts
    low, high = oracle.influence(10, 100)
    up, down = [], []
    for lie in lies:
        shift = (
            oracle.aggregate(honest + Reports(oracle.mark, np.tile(lie, (10, 1)))).counts - without
        ) / 100
        moved = (shift - 0.1 * float(oracle.false_support)) / float(
            oracle.true_support - oracle.false_support
        )  # against reports that never came: each adds `other` on average
        up.append(moved.max())
        down.append(moved.min())
        assert (shift > 0).sum() <= oracle.most
    assert max(up) == pytest.approx(high, rel=1e-9)
    assert min(down) == pytest.approx(low, rel=1e-9)


def test_more_privacy_is_more_influence() -> None:
    assert (
        Direct(epsilon="1/10", categories="ab").influence(1, 100)[1]
        > 5 * Direct(epsilon=3, categories="ab").influence(1, 100)[1]
    )


def test_categories_travel_or_are_refused() -> None:
    assert Direct(epsilon=1, categories=[1, "1", True and 2, None]).question["categories"] == [
        1,
        "1",
        2,
        None,
    ]
    with pytest.raises(Refused) as refused:
        Unary(epsilon=1, categories=[(1, 2), (3, 4)]).perturb((1, 2))
    assert refused.value.code == "local.categories"


@pytest.mark.parametrize("n", [0, -1, True, 1.5, "3", 1 << 61])
def test_no_such_number_of_reports(n: int) -> None:
    for call in (
        SMALL["unary"].variance,
        lambda n: SMALL["unary"].influence(1, n),
        lambda n: SMALL["unary"].mse(["1/4"] * 4, n),
    ):
        with pytest.raises(Refused):
            call(n)


def test_long_lists_are_shown_short() -> None:
    assert (
        repr(Hashing(epsilon=1, categories=range(100)))
        == "Hashing(categories=[0, …, 99: 100], epsilon=1, buckets=4)"
    )
    assert repr(Direct(epsilon=1, categories="ab")) == "Direct(categories=['a', 'b'], epsilon=1)"


@pytest.mark.parametrize(
    "kind",
    [Direct, Unary, Hashing, Hadamard, Subset, Sketch, Rappor],
    ids=lambda kind: kind.__name__,
)
def test_what_no_coin_can_show_is_refused(kind: type) -> None:
    with pytest.raises(Refused) as refused:
        kind(epsilon="1e-21", categories="abc")
    assert refused.value.code == "local.epsilon"
