"""Sampled sensitivities: what is drawn, what is taken, what is promised, and to whom it is not."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray

import sfumato as sf
from sfumato.errors import Refused
from sfumato.sensitivity.sampled import Sampled, SampledFunction, sample_sensitivity


class Draws:
    """Uniform records from a public seed, and how often they were asked for."""

    def __init__(self, seed: int = 1) -> None:
        self.rng, self.calls = np.random.default_rng(seed), 0

    def __call__(self, n: int) -> NDArray[np.float64]:
        self.calls += 1
        return self.rng.random(n)


def moves(seed: int, n: int, m: int) -> list[float]:
    """|x_n − x'_n|/n, which is what the mean of n records moves by, with the draws of `Draws(seed)`
    after the one that tells what the fit returns.
    """
    rng = np.random.default_rng(seed)
    return sorted(abs(x[n - 1] - x[n]) / n for x in [rng.random(n + 1) for _ in range(m + 1)][1:])


def test_the_kth_move_of_a_mean() -> None:
    s = sample_sensitivity(np.mean, oracle=Draws(3), n=50, m=40, gamma=0.2, over="uniform records")
    assert isinstance(s, Sampled)
    assert (s.m, s.k, s.gamma, s.n, s.shape, s.size) == (40, 33, Fraction(1, 5), 50, (), 1)
    expected = moves(3, 50, 40)[s.k - 1]
    assert float(s.value) == pytest.approx(expected, rel=1e-12)
    assert s.l1 >= s.value
    assert float(s.squared()) == pytest.approx(expected**2, rel=1e-12)
    assert s.random(sf.Pure(1)) == sf.RandomDP(sf.Pure(1), gamma="0.2", over="uniform records")
    assert "uniform records" in repr(s)


def test_the_interface_as_written() -> None:
    s = sf.sample_sensitivity(np.mean, oracle=np.random.default_rng(5).random, n=500, gamma=0.2)
    assert s.gamma == Fraction(1, 5)
    assert s.over == "500 records of Generator.random"


def test_the_share_that_moves_further_is_gamma() -> None:
    """Of 4000 fresh pairs after each of 60 samples at γ = 0.2. The share has mean γ and, the
    sampled rank being Beta, standard deviation below 0.07 per sample: for the mean of 60 samples
    the false-alarm rate of ± 0.06 is below 10⁻⁹ (and the seed is fixed).
    """
    rng = np.random.default_rng(11)
    shares = []
    for _ in range(60):
        s = sample_sensitivity(np.mean, oracle=rng.random, n=5, m=29, gamma=0.2)
        fresh = np.abs(rng.random(4000) - rng.random(4000)) / 5
        shares.append(np.mean(fresh > float(s.value)))
    assert 0.14 < np.mean(shares) < 0.26
    wrong = [
        np.mean(np.abs(rng.random(4000) - rng.random(4000)) / 5 > sorted(moves(i, 5, 29))[14])
        for i in range(60)
    ]
    assert not 0.14 < np.mean(wrong) < 0.26  # the twin: the median of the moves


def test_arrays_in_three_norms() -> None:
    def corners(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([[3 * x[-1], 0], [4 * x[-1], 0]])

    s = sample_sensitivity(corners, oracle=Draws(7), n=4, m=9)
    assert isinstance(s, Sampled)
    assert s.shape == (2, 2)
    step = float(s.sup) / 4
    assert float(s.l1) == pytest.approx(7 * step)
    assert float(s.l2_squared) == pytest.approx(25 * step**2)
    assert s.moves(1, 4) == s.l1
    assert s.moves(2, 4) >= Fraction(math.sqrt(s.l2_squared)) * (1 - Fraction(1, 2**50))


def test_no_norm_follows_from_two_others() -> None:
    """The k-th smallest L1 times the k-th smallest of the largest may lie below the k-th smallest
    L2²; and γ would have to cover two events.
    """
    some = np.array([[1.0, *[0.0] * 99], [0.05] * 100, [0.9, *[0.0] * 99]])
    turn = iter(range(10**6))

    def fit(x: NDArray[np.float64]) -> NDArray[np.float64]:
        i = next(turn)
        return (
            some[(i - 1) // 2 % 3] if i % 2 else np.zeros(100)
        )  # the first call only tells what the fit returns

    s = sample_sensitivity(fit, oracle=Draws(), n=3, m=3, k=2)
    assert isinstance(s, Sampled)
    squares = sorted((some**2).sum(axis=1))
    assert float(s.squared(100)) == pytest.approx(squares[1])
    assert s.moves(2, 100) ** 2 >= s.l2_squared
    assert s.moves(1, 100) == s.l1
    assert s.moves("inf", 100) == s.sup


def test_batches_give_the_same() -> None:
    single, many = Draws(2), Draws(2)
    many(21)  # the draw that tells what the fit returns
    a = sample_sensitivity(np.mean, oracle=single, n=20, m=50)
    b = sample_sensitivity(lambda x: x.mean(axis=1), oracle=many, n=20, m=50, batched=True)
    assert isinstance(a, Sampled)
    assert isinstance(b, Sampled)
    assert float(a.value) == pytest.approx(float(b.value), rel=1e-12)
    c = sample_sensitivity(
        lambda x: np.stack([x.min(axis=1), x.max(axis=1)], axis=1),
        oracle=Draws(2),
        n=20,
        m=50,
        batched=True,
    )
    assert isinstance(c, Sampled)
    assert c.shape == (2,)


def test_batches_stay_within_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.sensitivity.sampled.NUMBERS", 64)
    sizes: list[int] = []

    def fit(x: NDArray[np.float64]) -> Any:
        sizes.append(len(x))
        return x.mean(axis=1)

    sample_sensitivity(fit, oracle=Draws(), n=20, m=10, batched=True)
    assert sizes == [3, 3] * 3 + [1, 1]


def test_a_fit_that_returns_functions_is_sampled_where_it_is_used() -> None:
    def fit(x: NDArray[np.float64]) -> Any:
        return lambda points: x[-1] * points

    s = sample_sensitivity(fit, oracle=Draws(4), n=10, m=20, gamma=0.2)
    assert isinstance(s, SampledFunction)
    assert (s.m, s.k, s.gamma) == (20, 17, Fraction(1, 5))
    assert "gamma=0.2" in repr(s)
    on = s.on(np.array([0.0, 0.5, 1.0]))
    assert on.shape == (3,)
    assert float(on.l1) == pytest.approx(1.5 * float(on.sup))
    assert on.over == s.over


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize(
    ("make", "fit"),
    [
        (lambda x: [f"name {v:.3f}" for v in x], lambda d: len("".join(d)) + float(d[-1][-3:])),
        (lambda x: pd.DataFrame({"x": x, "s": "a"}), lambda d: float(d["x"].sum())),
        (lambda x: pl.DataFrame({"x": x, "s": "a"}), lambda d: float(d["x"].sum())),
        (lambda x: {"x": x, "y": -x}, lambda d: [d["x"].sum(), d["y"].sum()]),
    ],
    ids=["strings", "pandas", "polars", "columns"],
)
def test_data_of_any_kind(make: Any, fit: Any, relation: str) -> None:
    """S-160, S-167: any callable oracle, any records. The value is the k-th smallest of the m
    largest moves between what the fit returned for a pair.
    """
    rng, returned = np.random.default_rng(9), []

    def noted(records: Any) -> Any:
        values = fit(records)
        returned.append(np.atleast_1d(np.array(values, dtype=np.float64)))
        return values

    s = sample_sensitivity(
        noted,
        oracle=lambda n: make(rng.random(n)),
        n=8,
        m=15,
        gamma=0.5,
        relation=relation,
        apart=True,
    )
    assert s.relation == relation
    assert isinstance(s, Sampled)
    pairs = returned[len(returned) - 2 * s.m :]
    moves = sorted(float(np.abs(a - b).max()) for a, b in zip(pairs[::2], pairs[1::2], strict=True))
    assert 1 < s.k < s.m
    assert moves[s.k - 1] <= s.value <= moves[s.k - 1] * (1 + 1e-9)
    assert moves[s.k - 2] < moves[s.k - 1] < moves[s.k], "another k would be seen"


def test_the_sources_plan() -> None:
    s = sample_sensitivity(np.mean, oracle=Draws(), n=10, m=500, gamma=0.2, plan="diffpriv")
    assert (s.m, s.k) == (500, 439)


@pytest.mark.parametrize(
    ("fit", "more", "code"),
    [
        (lambda x: math.nan, {}, "sensitivity.fit"),
        (lambda x: "text", {}, "sensitivity.fit"),
        (lambda x: [], {}, "sensitivity.fit"),
        (lambda x: list(range(int(1000 * x[0]))), {}, "sensitivity.fit"),
        (lambda x: 1.0, {}, "sensitivity.zero"),
        (lambda x: [0.0], {"batched": True}, "sensitivity.fit"),
        (np.mean, {"n": 0}, "sensitivity.oracle"),
        (np.mean, {"relation": "near"}, "guarantee.relation"),
        (np.mean, {"m": 3, "gamma": 0.1}, "sensitivity.plan"),
    ],
    ids=["nan", "text", "nothing", "shapes", "constant", "not batched", "n", "relation", "plan"],
)
def test_refusals(fit: Any, more: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as caught:
        sample_sensitivity(fit, **{"oracle": Draws(), "n": 6, "m": 10, **more})
    assert caught.value.code == code


def test_no_ledger_takes_it(tmp_path: Path) -> None:
    s = sample_sensitivity(np.mean, oracle=Draws(), n=10, m=10)
    assert isinstance(s, Sampled)
    book = sf.Ledger.open(
        tmp_path / "book", budget=sf.Pure(1), dataset="d", unit="row", relation="replace"
    )
    with pytest.raises(Refused) as caught:
        book.charge([s.random(sf.Pure("1/10"))])
    assert caught.value.code == "guarantee.does-not-follow"
