"""Secure sums: totals are right, a coalition's view depends on nothing but the noisy sum of the
others, and that keeps ε; one noise fewer does not.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import nbinom

import sfumato as sf
from sfumato.curators import SecureSum, secret_shares, secure_sum
from sfumato.curators.secret_shares import add, split
from sfumato.errors import Refused
from sfumato.testing import SeededBits


@pytest.fixture
def ledger(tmp_path: Path) -> sf.Ledger:
    return sf.Ledger.open(
        tmp_path / "mine.ledger",
        budget=sf.Pure(5000),
        dataset="patients",
        unit="patient",
        relation="add-remove",
    )


def run(secure: SecureSum, counts: list[list[int]], seed: int, ledger: sf.Ledger) -> list[int]:
    bits = SeededBits(seed)
    packets = [secure.contribute(mine, ledger, bits=bits) for mine in counts]
    return secure.total([secure.add(column) for column in zip(*packets, strict=True)])


def test_totals_are_right_up_to_the_noise(ledger: sf.Ledger) -> None:
    """Four standard deviations and more: a chance below 10⁻⁹ for geometric tails at 25."""
    secure = SecureSum(epsilon=1, curators=5, honest=3, size=2)
    totals = run(secure, [[100, -7], [20, 0], [3, 0], [0, 10**9], [0, 0]], 1, ledger)
    assert abs(totals[0] - 123) < 60
    assert abs(totals[1] - (10**9 - 7)) < 60
    huge = SecureSum(epsilon=1000, curators=2, honest=2)
    assert run(huge, [[5], [-12]], 2, ledger) == [-7]  # noise 0 but for a chance of e⁻¹⁰⁰⁰


def test_a_coalition_sees_the_sum_of_the_others_and_coins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Modulo 4, three curators of whom one colludes: every coin of all is followed. What the
    coalition sees (its packets, all published sums) has the same law for all masked counts of the
    others that have the same sum, and another law where the sum differs.
    """

    def view(others: tuple[int, int]) -> Counter[tuple[int, ...]]:
        views_seen: Counter[tuple[int, ...]] = Counter()
        for draws in product(range(4), repeat=4):
            coins = iter(draws)
            monkeypatch.setattr(
                secret_shares, "integer_below", lambda limit, bits, coins=coins: next(coins)
            )
            first, second = (split(number, 3, SeededBits(0), 4) for number in others)
            sums = [add(pair, 4) for pair in zip(first, second, strict=True)]
            views_seen[(first[0], second[0], *sums)] += 1
        return views_seen

    for total in range(4):
        views = [view((a, (total - a) % 4)) for a in range(4)]
        assert all(same == views[0] for same in views)
        assert views[0] != view((0, (total + 1) % 4))


def law(scale: Fraction, parts: int, present: int, far: int = 400) -> np.ndarray:
    """The law of the noise of so many curators, by convolution in double precision."""
    q = exp(-1 / scale)
    half = nbinom.pmf(np.arange(far), present / parts, 1 - q)
    return np.convolve(half, half[::-1])


@pytest.mark.parametrize(("epsilon", "sensitivity"), [("1", 1), ("1/2", 1), ("1", 3)])
def test_the_noise_of_enough_honest_curators_keeps_epsilon(epsilon: str, sensitivity: int) -> None:
    """The largest ratio of the noise and its shifts up to the sensitivity, for as many honest
    curators as promised and for more: at most e^ε. With one fewer it is above.
    """
    secure = SecureSum(epsilon=epsilon, curators=8, honest=4, sensitivity=sensitivity)
    scale = secure.noise.scale
    worst = {}
    for present in (3, 4, 5, 8):
        masses = law(scale, secure.noise.parts, present)
        middle = masses[300:-300]
        worst[present] = max(
            float((middle / masses[300 + shift : len(masses) - 300 + shift]).max())
            for shift in range(-sensitivity, sensitivity + 1)
        )
    bound = exp(float(Fraction(epsilon)))
    assert all(worst[present] <= bound * (1 + 1e-9) for present in (4, 5, 8))
    assert worst[3] > bound * 1.01


@pytest.mark.parametrize("colluding", [0, 1, 2])
def test_who_drops_out_takes_a_place_in_the_coalition(colluding: int) -> None:
    """Five curators, three honest: two may collude if all take part, and nobody if two drop out.
    The noise that a coalition does not know is that of the others who take part.
    """
    secure = SecureSum(epsilon=1, curators=5, honest=3)

    def worst(present: int) -> float:
        masses = law(secure.noise.scale, secure.noise.parts, present - colluding)
        return float((masses[300:-300] / masses[301:-299]).max())

    assert worst(5) <= exp(1) * (1 + 1e-9)
    assert (worst(3) <= exp(1) * (1 + 1e-9)) == (colluding == 0)
    if colluding == 2:
        assert 2.08 < log(worst(3)) < 2.09
    assert "no more than present − honest of them may collude" in " ".join(
        str(secure_sum.__doc__).split()
    )


def test_the_charge_is_that_of_the_whole_noise(tmp_path: Path) -> None:
    mine = sf.Ledger.open(
        None, budget=sf.Pure(2), dataset="patients", unit="patient", relation="add-remove"
    )
    secure = SecureSum(epsilon=1, curators=3, honest=2)
    for _ in range(2):
        secure.contribute([1], mine)
    with pytest.raises(sf.BudgetExceeded):
        secure.contribute([1], mine)
    assert secure.promise.epsilon() == 1


def test_curators_who_drop_out(ledger: sf.Ledger) -> None:
    """Two of five send nothing: the others add what they have, all five publish or nobody sees."""
    secure = SecureSum(epsilon=100, curators=5, honest=3)
    packets = [secure.contribute([10], ledger, bits=SeededBits(i)) for i in range(3)]
    sums = [secure.add(column) for column in zip(*packets, strict=True)]
    assert secure.total(sums, present=3) == [30]
    for few in (sums[:4], sums[:2]):
        with pytest.raises(Refused) as refused:
            secure.total(few, present=3)
        assert refused.value.code == "curators.packets"
    with pytest.raises(Refused):
        secure.total(sums, present=2)
    with pytest.raises(Refused):
        secure.add([packets[0][0], packets[1][0]])


def test_more_curators_more_noise() -> None:
    secure = SecureSum(epsilon=1, curators=6, honest=3)
    assert secure.variance() == pytest.approx(2 * secure.variance(3))
    assert secure.variance(3) == pytest.approx(sf.noise.geometric.Geometric(scale=1).variance)


@pytest.mark.parametrize(
    "arguments",
    [{"curators": 1}, {"honest": 6}, {"honest": 0}, {"size": 0}, {"sensitivity": 0}],
    ids=str,
)
def test_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        SecureSum(**{"epsilon": 1, "curators": 5, "honest": 3, **arguments})
    assert refused.value.code == "curators.number"


def test_what_is_no_count_charges_nothing(ledger: sf.Ledger) -> None:
    mine, secure = ledger, SecureSum(epsilon=1, curators=2, honest=2, size=2)
    for counts in ([1], [1, 2, 3], [1, 2.5], [True, 1]):
        with pytest.raises(Refused) as refused:
            secure.contribute(counts, mine)  # type: ignore[arg-type]  # on purpose
        assert refused.value.code == "curators.counts"
    assert mine.spent == sf.Pure(0, unit="patient", relation=mine.spent.relation)
    packets = secure.contribute([np.int64(3), 4], mine)
    with pytest.raises(Refused):
        secure.add([packets[0], packets[1][:-1]])
